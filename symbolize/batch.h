/*
 * batch.h - looks up many addresses of a module: in the cache, then with two threads in DWARF
 *
 * A module has one batch at a time.  The main thread starts it and reads its result; in between
 * the loader's threads own it.
 *
 * Context: main thread, unless a function says otherwise.
 */
#ifndef SYMBOLIZE_BATCH_H
#define SYMBOLIZE_BATCH_H

#include "symbolize/bounds/loader.h"
#include "symbolize/cache/cache.h"
#include "symbolize/function/function_table.h"
#include "symbolize/module.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch;

/**
 * batch_start - start to look up addresses of a module
 * @cache: NULL: there is none
 * @addrs: taken, also on failure
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller; batch_free() once it is done, or once the loader has ended.
 */
int batch_start(struct loader *loader, struct cache *cache, struct module *module, uint64_t *addrs,
		size_t n_addrs, struct batch **ret_batch);

/** batch_is_done - have all been looked up? */
bool batch_is_done(const struct batch *batch);

/**
 * batch_table - the NTH address and the table of its function
 * @nth: in no particular order; each address once
 *
 * Return:  false when there are no more; RET_TABLE->bytes is NULL when the address has no table.
 * Owns:    the batch.
 * Context: main thread.  It is done.
 */
bool batch_table(const struct batch *batch, size_t nth, uint64_t *ret_vaddr,
		 struct function_table *ret_table);

/**
 * batch_time_ns - how long it took
 *
 * Context: main thread.  It is done.
 */
uint64_t batch_time_ns(const struct batch *batch);

/** batch_free - free the batch and its tables; NULL is fine */
void batch_free(struct batch *batch);

/**
 * batch_close_files - close the files that batches of a module have opened: a job of the loader
 *
 * CONTEXT is the struct module; ends with module->dwarf.closed set.
 *
 * Context: any thread.  No batch of the module is under way.
 */
void batch_close_files(void *context);

#endif
