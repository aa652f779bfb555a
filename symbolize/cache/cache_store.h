/* cache_store.h - all functions of a file into the cache, before a recording asks for them */
#ifndef CACHE_CACHE_STORE_H
#define CACHE_CACHE_STORE_H

#include "base/err.h"
#include "symbolize/symbolize.h"

#include <stddef.h>

/**
 * symbolizer_keep - read a whole file's functions into the cache
 * @path: of the module, or of its debug file; outlives the symbolizer
 * @progress: called now and then; NULL is fine
 *
 * Functions are looked up where .eh_frame and symbols say that code begins.
 *
 * Return:  0; -ENODATA: there is no debugging information; -ENOTSUP: the symbolizer keeps no
 *          cache; -errno and the reason.
 * Context: main thread.
 */
int symbolizer_keep(struct symbolizer *symbolizer, const char *path,
		    void (*progress)(size_t n_done, size_t n_all), struct err *err);

#endif
