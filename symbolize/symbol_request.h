/* symbol_request.h - from an address without an answer to its answer: lists, batches, taking in */
#ifndef SYMBOLIZE_SYMBOL_REQUEST_H
#define SYMBOLIZE_SYMBOL_REQUEST_H

#include "symbolize/internal.h"

/**
 * asking_find - the answer for an address of a module
 * @force: DWARF is not waited for: what the symbol tables say will do
 * @ret_pending: the answer has to be waited for
 *
 * Return:  NULL when it has to be waited for, or memory ran out.
 * Owns:    the symbolizer; with FORCE good until the next call.
 * Context: main thread.
 */
const struct answer *asking_find(struct symbolizer *symbolizer, struct module *module,
				 uint64_t vaddr, bool force, bool *ret_pending);

/**
 * asking_advance - take in batches that are done, start the next, close what is not needed
 * @hurry: do not gather addresses: start what can be started
 *
 * Context: main thread.
 */
void asking_advance(struct symbolizer *symbolizer, bool hurry);

/**
 * asking_due_ns - when asking_advance() next has something to do
 *
 * Return:  ns; 0: as soon as the loader is done with what it does; UINT64_MAX: never, as it looks.
 * Context: main thread.
 */
uint64_t asking_due_ns(const struct symbolizer *symbolizer);

/**
 * asking_is_busy - is anything wanted, or being looked up?
 *
 * Context: main thread.
 */
bool asking_is_busy(const struct symbolizer *symbolizer);

#endif
