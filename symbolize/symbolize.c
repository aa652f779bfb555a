/* symbolize.c - (process, address, time) to named frames */
#include "symbolize/symbolize.h"

#include "base/io.h"
#include "symbolize/internal.h"
#include "symbolize/jit/jit.h"
#include "symbolize/kernel/kernel.h"
#include "symbolize/spans.h"

#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

/* What is looked up is looked for first. */
static int start_search(struct symbolizer *symbolizer)
{
	const struct symbolize_options *options = &symbolizer->options;

	symbolizer->search_options = (struct debug_search_options){
		.debug_root = symbolizer->debug_root,
		.symbol_dirs = options->symbol_dirs,
		.n_symbol_dirs = options->n_symbol_dirs,
		.debuginfod = options->debuginfod,
		.progress = options->progress,
	};
	return debug_search_new(&symbolizer->search_options, &symbolizer->search);
}

/* Without a cache everything works, only slower. */
static void open_cache(struct symbolizer *symbolizer)
{
	const struct cache_options options = {.folder = symbolizer->options.cache_folder};

	if (!symbolizer->options.no_cache && !symbolizer->options.no_symbols &&
	    cache_open(&options, &symbolizer->cache, &symbolizer->cache_err) < 0)
		symbolizer->cache = NULL;
}

const char *symbolizer_cache_why(const struct symbolizer *symbolizer)
{
	return symbolizer->cache_err.text[0] ? symbolizer->cache_err.text : NULL;
}

int symbolizer_new(const struct symbolize_options *options, struct symbolizer **ret_symbolizer,
		   struct err *err)
{
	const char *root = options->debug_root ? options->debug_root : "/usr/lib/debug";
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
	int r = 0;

	(void)elf_version(EV_CURRENT);
	if (!symbolizer)
		return err_set(err, ENOMEM, "start the symbolizer");
	symbolizer->options = *options;
	memory_set_limit(options->mem_limit);
	symbolizer->names.full = options->full_names;
	symbolizer->debug_root = strdup(root);
	modules_init(&symbolizer->modules, symbolizer->debug_root);
	symbolizer->frames = calloc(SAMPLE_MAX_NAMED, sizeof(*symbolizer->frames));
	if (!symbolizer->debug_root || !symbolizer->frames)
		r = -ENOMEM;
	if (r == 0)
		r = start_search(symbolizer);
	if (r == 0)
		r = loader_new(options->wait, &symbolizer->loader);
	if (r < 0) {
		symbolizer_free(symbolizer);
		return err_set(err, -r, "start the symbolizer");
	}
	symbolizer->modules.search = symbolizer->search;
	open_cache(symbolizer);
	*ret_symbolizer = symbolizer;
	return 0;
}

static void free_process(void *context, uint64_t key, void *value)
{
	struct process *process = (struct process *)value;

	(void)context;
	(void)key;
	spans_release(&process->spans);
	free(process);
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	/* What a thread uses that does not end stays until the process ends. */
	if (!symbolizer || !loader_free(symbolizer->loader))
		return;
	map_each(&symbolizer->processes, free_process, NULL);
	map_release(&symbolizer->processes);
	modules_release(&symbolizer->modules);
	cache_close(symbolizer->cache);
	debug_search_free(symbolizer->search);
	names_release(&symbolizer->names);
	kernel_symbols_free(symbolizer->kernel);
	free(symbolizer->summary);
	free(symbolizer->frames);
	free(symbolizer->uncached);
	free(symbolizer->debug_root);
	free(symbolizer);
}

static struct process *get_process(struct symbolizer *symbolizer, const struct mapping *mapping)
{
	struct process *process = map_get(&symbolizer->processes, mapping->process);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = mapping->pid;
	if (map_put(&symbolizer->processes, mapping->process, process) < 0) {
		free(process);
		return NULL;
	}
	return process;
}

/* Memory that no file's functions are in, by its name in maps. */
static const char *bare_name(const struct mapping *mapping)
{
	const char *path = mapping->path ? mapping->path : "";

	if (strncmp(path, "[anon", 5) == 0 || path[0] == '\0' || strncmp(path, "//anon", 6) == 0 ||
	    strncmp(path, "/anon_hugepage", 14) == 0 || strncmp(path, "/dev/zero", 9) == 0 ||
	    strncmp(path, "/SYSV", 5) == 0)
		return "[anon]";
	if (path[0] == '[' && strcmp(path, "[vdso]") != 0)
		return path;
	return NULL;
}

/* Code outside of files is named by a map: open it while the process is there. */
static void start_jit(struct symbolizer *symbolizer, struct process *process)
{
	if (process->jit)
		return;
	process->jit = modules_jit(&symbolizer->modules, process->pid);
	if (process->jit)
		(void)jit_find(process->jit->jit, symbolizer->loader, 0, 0,
			       symbolizer->options.wait ? JIT_REREAD_NOW : JIT_REREAD_LATER);
}

static struct module *get_module(struct symbolizer *symbolizer, const struct mapping *mapping)
{
	const char *bare = bare_name(mapping);
	struct module *module;

	if (bare)
		return modules_bare(&symbolizer->modules, bare);
	module = modules_get(&symbolizer->modules, mapping);
	if (module &&
	    atomic_load_explicit(&module->elf.state, memory_order_relaxed) == MODULE_NEW) {
		atomic_store_explicit(&module->elf.state, MODULE_LOADING, memory_order_relaxed);
		module->unread = symbolizer->options.no_symbols;
		if (module->unread || loader_push(symbolizer->loader, module_load, module) < 0)
			atomic_store_explicit(&module->elf.state, MODULE_LOADED,
					      memory_order_relaxed);
	}
	return module;
}

void symbolizer_add(struct symbolizer *symbolizer, const struct mapping *mapping)
{
	struct process *process = get_process(symbolizer, mapping);
	const char *bare = bare_name(mapping);
	struct module *module;
	struct span span = {
		.start = mapping->start,
		.end = mapping->end,
		.base = mapping->start,
		.bytes = mapping->end - mapping->start,
		.pgoff = mapping->pgoff,
		.from_ns = mapping->time_ns,
		.until_ns = SPAN_FOREVER,
	};

	if (!process || mapping->end <= mapping->start)
		return;
	if (mapping->gone) {
		(void)spans_unmap(&process->spans, mapping->start, mapping->end, mapping->time_ns);
		return;
	}
	module = get_module(symbolizer, mapping);
	if (!module)
		return;
	span.module = module;
	span.path = names_intern(&symbolizer->names, bare ? bare : mapping->path);
	if (module_is_jit_place(module) && !symbolizer->options.no_symbols)
		start_jit(symbolizer, process);
	(void)spans_add(&process->spans, &span);
}

void symbolizer_exit(struct symbolizer *symbolizer, uint32_t number)
{
	struct process *process = map_remove(&symbolizer->processes, number);

	if (process)
		free_process(NULL, number, process);
}

bool symbolizer_is_loaded(const struct module *module)
{
	/* Pairs with the release store at the end of the loader's job. */
	return atomic_load_explicit(&module->elf.state, memory_order_acquire) == MODULE_LOADED;
}

bool symbolizer_is_busy(const struct symbolizer *symbolizer)
{
	for (const struct module *module = symbolizer->modules.first; module; module = module->next)
		if (!symbolizer_is_loaded(module))
			return true;
	return symbol_request_is_busy(symbolizer);
}

void symbolizer_servers(struct symbolizer *symbolizer, struct symbolize_servers *ret_servers)
{
	debug_search_servers(symbolizer->search, &symbolizer->servers);
	*ret_servers = (struct symbolize_servers){
		.n_asked = symbolizer->servers.n_asked,
		.n_found = symbolizer->servers.n_found,
		.n_late = symbolizer->servers.n_late,
		.spent_ns = symbolizer->servers.spent_ns,
		.why = symbolizer->servers.why,
	};
}

void symbolizer_stop_reading(struct symbolizer *symbolizer)
{
	symbolizer->options.no_symbols = true;
}

void symbolizer_stop(struct symbolizer *symbolizer)
{
	symbolizer_stop_reading(symbolizer);
	symbolizer->stopped = true;
	loader_stop(symbolizer->loader);
}

uint64_t symbolizer_due_ns(const struct symbolizer *symbolizer)
{
	return symbol_request_due_ns(symbolizer);
}

void symbolizer_tick(struct symbolizer *symbolizer)
{
	symbol_request_advance(symbolizer, false);
}

void symbolizer_wait(struct symbolizer *symbolizer, uint64_t timeout_ns)
{
	uint64_t now_ns = io_now_ns();
	/* The first time what is due may be sooner than it was. */
	bool idle = symbolizer->waiting && symbolizer->due_ns > now_ns;

	symbolizer->waiting = true;
	symbol_request_advance(symbolizer, true);
	if (idle && symbolizer->due_ns - now_ns < timeout_ns)
		timeout_ns = symbolizer->due_ns - now_ns;
	symbolizer->due_ns = 0;
	loader_wait(symbolizer->loader, timeout_ns, idle);
	symbol_request_advance(symbolizer, true);
}

uint64_t symbolize_mangled_names(void)
{
	return names_mangled();
}
