/*
 * internal.h - a symbolizer's state, for the files of this folder
 *
 * Context: main thread.
 */
#ifndef SYMBOLIZE_INTERNAL_H
#define SYMBOLIZE_INTERNAL_H

#include "symbolize/address_cache.h"
#include "symbolize/bounds/loader.h"
#include "symbolize/cache/cache.h"
#include "symbolize/debugfile/debug_search.h"
#include "symbolize/function/function_table.h"
#include "symbolize/module.h"
#include "symbolize/names/names.h"
#include "symbolize/spans.h"
#include "symbolize/symbolize.h"

struct process {
	pid_t pid;
	struct spans spans;
	struct module *jit; /* NULL until code of no file is looked up */
};

struct symbolizer {
	struct symbolize_options options;
	char *debug_root;
	struct debug_search_options search_options;
	struct debug_search *search;
	struct cache *cache;  /* NULL: none is used */
	struct err cache_err; /* why it could not be opened */
	struct loader *loader;
	struct modules modules;
	struct map processes;
	struct names names;
	struct kernel_symbols *kernel; /* NULL until code of the kernel is looked up */
	bool kernel_hidden;            /* its names may not be read */
	struct module *requests; /* modules with requested addresses, batches, or open files */
	bool stopped;            /* symbolizer_stop() */
	bool waiting;            /* symbolizer_wait(): lookups start without delay */
	uint64_t due_ns;         /* when a map may be read again; 0: no lookup waits for that */
	struct symbolize_module *summary;
	struct frame *frames;           /* of the sample resolved last: SAMPLE_MAX_NAMED */
	struct address_entry *uncached; /* the last entry that was not stored */
	struct debug_servers servers;
	struct function_chain chain; /* scratch */
};

/** symbolizer_is_loaded - has the loader loaded a module? */
bool symbolizer_is_loaded(const struct module *module);

/**
 * symbol_request_find - the entry of an address of a module; requests it when there is none
 * @force: do not wait for DWARF: make an entry from the symbol tables
 * @ret_pending: the lookup has not ended
 *
 * Return:  NULL when it is pending, or memory ran out.
 * Owns:    the symbolizer; with FORCE valid until the next call.
 */
const struct address_entry *symbol_request_find(struct symbolizer *symbolizer,
						struct module *module, uint64_t vaddr, bool force,
						bool *ret_pending);

/**
 * symbol_request_advance - store what ended batches found, start new ones, close unused files
 * @now: start batches at once instead of gathering more addresses
 */
void symbol_request_advance(struct symbolizer *symbolizer, bool now);

/**
 * symbol_request_due_ns - when symbol_request_advance() next has something to do
 *
 * Return:  ns; 0: as soon as a job of the loader ends; UINT64_MAX: nothing is planned.
 */
uint64_t symbol_request_due_ns(const struct symbolizer *symbolizer);

/** symbol_request_is_busy - is an address requested, or being looked up? */
bool symbol_request_is_busy(const struct symbolizer *symbolizer);

#endif
