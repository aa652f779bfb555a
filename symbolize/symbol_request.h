/* symbol_request.h - requested addresses: lists by module, batches, and what they found */
#ifndef SYMBOLIZE_SYMBOL_REQUEST_H
#define SYMBOLIZE_SYMBOL_REQUEST_H

#include "symbolize/internal.h"

/**
 * symbol_request_find - the entry of an address of a module; requests it when there is none
 * @force: do not wait for DWARF: make an entry from the symbol tables
 * @ret_pending: the lookup has not ended
 *
 * Return:  NULL when it is pending, or memory ran out.
 * Owns:    the symbolizer; with FORCE valid until the next call.
 * Context: main thread.
 */
const struct address_entry *symbol_request_find(struct symbolizer *symbolizer,
						struct module *module, uint64_t vaddr, bool force,
						bool *ret_pending);

/**
 * symbol_request_advance - store what ended batches found, start new ones, close unused files
 * @now: start batches at once instead of gathering more addresses
 *
 * Context: main thread.
 */
void symbol_request_advance(struct symbolizer *symbolizer, bool now);

/**
 * symbol_request_due_ns - when symbol_request_advance() next has something to do
 *
 * Return:  ns; 0: as soon as a job of the loader ends; UINT64_MAX: nothing is planned.
 * Context: main thread.
 */
uint64_t symbol_request_due_ns(const struct symbolizer *symbolizer);

/**
 * symbol_request_is_busy - is an address requested, or being looked up?
 *
 * Context: main thread.
 */
bool symbol_request_is_busy(const struct symbolizer *symbolizer);

#endif
