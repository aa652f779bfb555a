/* internal.h - a symbolizer's state, for the files of this room */
#ifndef SYMBOLIZE_INTERNAL_H
#define SYMBOLIZE_INTERNAL_H

#include "symbolize/address_cache.h"
#include "symbolize/bounds/loader.h"
#include "symbolize/cache/cache.h"
#include "symbolize/debugfile/debug_search.h"
#include "symbolize/function/function_table.h"
#include "symbolize/kernel/kernel.h"
#include "symbolize/modules.h"
#include "symbolize/names/names.h"
#include "symbolize/spans.h"
#include "symbolize/symbolize.h"

struct process {
	pid_t pid;
	struct spans spans;
	struct module *jit; /* NULL until code of no file is asked for */
};

struct symbolizer {
	struct symbolize_options options;
	char *debug_root;
	struct debug_search_options search_options;
	struct debug_search *search;
	struct cache *cache;  /* NULL: none is kept */
	struct err cache_err; /* why */
	struct loader *loader;
	struct modules modules;
	struct map processes;
	struct names names;
	struct kernel_symbols *kernel; /* NULL until code of the kernel is asked for */
	bool kernel_hidden;            /* its names may not be read */
	struct module
		*asking; /* modules with addresses on their lists, or batches, or open files */
	bool stopped;    /* symbolizer_stop() */
	bool hurried;    /* symbolizer_wait(): nothing else is waited for any more */
	uint64_t due_ns; /* when a map may be read again; 0: none waits for that */
	struct symbolize_module *summary;
	struct frame *frames; /* of the sample resolved last: SAMPLE_MAX_NAMED */
	struct answer *loose; /* the last answer that was not kept */
	struct debug_servers servers;
	struct function_chain chain; /* scratch */
};

/**
 * symbolizer_is_loaded - has the loader read a module's symbols?
 *
 * Context: main thread.
 */
bool symbolizer_is_loaded(const struct module *module);

#endif
