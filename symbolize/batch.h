/*
 * batch.h - addresses of a module, looked up together: in the cache, then by two threads in DWARF
 *
 * One batch at a time for a module.  It is made and taken in by the main thread; in between it
 * belongs to the loader's threads.
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
 * batch_start - have addresses of a module looked up
 * @cache: NULL: none is kept
 * @addrs: taken, also on failure
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller; batch_free() once it is done, or once the loader has ended.
 * Context: main thread.
 */
int batch_start(struct loader *loader, struct cache *cache, struct module *module, uint64_t *addrs,
		size_t n_addrs, struct batch **ret_batch);

/**
 * batch_is_done - have all been looked up?
 *
 * Context: main thread.
 */
bool batch_is_done(const struct batch *batch);

/**
 * batch_table - the table of the function that an address is in
 * @nth: in an order of its own; each address once
 *
 * Return:  false when there are no more; RET_TABLE->bytes NULL: nothing is known of it.
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

/**
 * batch_free - give back the tables; NULL is fine
 *
 * Context: main thread.
 */
void batch_free(struct batch *batch);

/**
 * batch_let_go - close what batches of a module have opened: a loader's job
 *
 * CONTEXT is the struct module; ends with module->dwarf.idle set.
 *
 * Context: any thread.  No batch of the module is under way.
 */
void batch_let_go(void *context);

#endif
