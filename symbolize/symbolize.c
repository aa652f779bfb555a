/* symbolize.c - (process, address, time) to named frames */
#include "symbolize/symbolize.h"

#include "base/intern.h"
#include "base/io.h"
#include "base/map.h"
#include "symbolize/jit.h"
#include "symbolize/loader.h"
#include "symbolize/modules.h"
#include "symbolize/spans.h"

#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

/* Addresses whose answer is remembered, of all modules; a power of two.  2.5 MiB. */
enum { N_REMEMBERED = 64 * 1024 };

/* The answer for one address of a module.  Of two that meet in one place the later stays. */
struct remembered {
	const struct module *module;
	uint64_t vaddr;
	const char *symbol; /* NULL: it has none */
	uint64_t start;
};

struct process {
	pid_t pid;
	struct spans spans;
	struct module *jit; /* NULL until code of no file is asked for */
};

struct symbolizer {
	bool wait;
	char *debug_root;
	struct loader *loader;
	struct modules modules;
	struct map processes;
	struct intern names; /* mangled and readable */
	struct map readable; /* interned name -> interned readable name */
	uint64_t due_ns;     /* when a map may be read again; 0: none waits for that */
	struct symbolize_module *summary;
	struct remembered *remembered;
};

int symbolizer_new(const struct symbolize_options *options, struct symbolizer **ret_symbolizer,
		   struct err *err)
{
	const char *root = options->debug_root ? options->debug_root : "/usr/lib/debug";
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
	int r = 0;

	(void)elf_version(EV_CURRENT);
	if (!symbolizer)
		return err_set(err, ENOMEM, "start the symbolizer");
	symbolizer->wait = options->wait;
	symbolizer->debug_root = strdup(root);
	modules_init(&symbolizer->modules, symbolizer->debug_root);
	symbolizer->remembered = calloc(N_REMEMBERED, sizeof(*symbolizer->remembered));
	if (!symbolizer->debug_root || !symbolizer->remembered)
		r = -ENOMEM;
	if (r == 0)
		r = loader_new(options->wait, &symbolizer->loader);
	if (r < 0) {
		symbolizer_free(symbolizer);
		return err_set(err, -r, "start the symbolizer");
	}
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
	if (!symbolizer)
		return;
	loader_free(symbolizer->loader);
	map_each(&symbolizer->processes, free_process, NULL);
	map_release(&symbolizer->processes);
	modules_release(&symbolizer->modules);
	map_release(&symbolizer->readable);
	intern_release(&symbolizer->names);
	free(symbolizer->summary);
	free(symbolizer->remembered);
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
		(void)jit_find(process->jit->jit, symbolizer->loader, 0, 0, symbolizer->wait);
}

static bool is_jit_place(const struct module *module)
{
	return module->not_elf ||
	       (module->kind == MODULE_BARE && strcmp(module->path, "[vsyscall]") != 0);
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
		if (loader_push(symbolizer->loader, module_load, module) < 0)
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
		(void)spans_cut(&process->spans, mapping->start, mapping->end, mapping->time_ns);
		return;
	}
	module = get_module(symbolizer, mapping);
	if (!module)
		return;
	span.module = module;
	span.path = intern_string(&symbolizer->names, bare ? bare : mapping->path);
	if (is_jit_place(module))
		start_jit(symbolizer, process);
	(void)spans_add(&process->spans, &span);
}

void symbolizer_exit(struct symbolizer *symbolizer, uint32_t number)
{
	struct process *process = map_remove(&symbolizer->processes, number);

	if (process)
		free_process(NULL, number, process);
}

/* The readable name of a symbol; each is demangled once. */
static const char *readable_name(struct symbolizer *symbolizer, const char *symbol)
{
	const char *name = intern_string(&symbolizer->names, symbol);
	const char *readable;
	char *demangled;

	if (!name)
		return NULL;
	readable = map_get(&symbolizer->readable, (uint64_t)(uintptr_t)name);
	if (readable)
		return readable;
	demangled = symbolize_demangle(name);
	readable = demangled ? intern_string(&symbolizer->names, demangled) : name;
	free(demangled);
	if (readable)
		(void)map_put(&symbolizer->readable, (uint64_t)(uintptr_t)name, (void *)readable);
	return readable;
}

/* One frame being named. */
struct lookup {
	uint64_t addr; /* where to look: the frame's address, or inside the call before it */
	uint64_t vaddr;
	const struct span *span;
	struct module *module; /* who was asked */
	const char *symbol;
	uint64_t start; /* of the symbol, in the terms of vaddr, or of addr in a map */
	bool pending;
};

static bool is_loaded(const struct module_names *names)
{
	/* Pairs with the release store at the end of the loader's job. */
	return atomic_load_explicit(&names->state, memory_order_acquire) == MODULE_LOADED;
}

/* Names from DWARF are loaded when code turns up that is in no symbol. */
static const struct symbol *find_dwarf(struct symbolizer *symbolizer, struct lookup *lookup)
{
	struct module *module = lookup->module;

	if (!module->has_dwarf)
		return NULL;
	if (atomic_load_explicit(&module->dwarf.state, memory_order_relaxed) == MODULE_NEW) {
		atomic_store_explicit(&module->dwarf.state, MODULE_LOADING, memory_order_relaxed);
		if (loader_push(symbolizer->loader, module_load_dwarf, module) < 0)
			module->has_dwarf = false;
	}
	lookup->pending = !is_loaded(&module->dwarf);
	return lookup->pending ? NULL : symbol_table_find(&module->dwarf.symbols, lookup->vaddr);
}

/* The name to show for a symbol of a module. */
static const char *shown_name(struct symbolizer *symbolizer, struct module_names *names,
			      const struct symbol *symbol)
{
	size_t index = (size_t)(symbol - names->symbols.symbols);
	const char *name;

	if (!names->readable)
		names->readable = calloc(names->symbols.n_symbols, sizeof(*names->readable));
	if (names->readable && names->readable[index])
		return names->readable[index];
	name = readable_name(symbolizer, symbol_table_name(&names->symbols, symbol));
	if (names->readable)
		names->readable[index] = name;
	return name;
}

static void find_symbol(struct symbolizer *symbolizer, struct lookup *lookup)
{
	struct module_names *names = &lookup->module->elf;
	const struct symbol *symbol = symbol_table_find(&names->symbols, lookup->vaddr);

	if (!symbol) {
		names = &lookup->module->dwarf;
		symbol = find_dwarf(symbolizer, lookup);
	}
	if (!symbol)
		return;
	lookup->symbol = shown_name(symbolizer, names, symbol);
	lookup->start = symbol->addr;
}

static struct remembered *place_of(struct symbolizer *symbolizer, const struct lookup *lookup)
{
	uint64_t hash = (lookup->vaddr ^ (uint64_t)(uintptr_t)lookup->module) *
			UINT64_C(0x9e3779b97f4a7c15);

	return &symbolizer->remembered[(hash >> 32) % N_REMEMBERED];
}

static void look_in_file(struct symbolizer *symbolizer, struct lookup *lookup)
{
	struct remembered *remembered = place_of(symbolizer, lookup);

	if (remembered->module == lookup->module && remembered->vaddr == lookup->vaddr) {
		lookup->symbol = remembered->symbol;
		lookup->start = remembered->start;
		return;
	}
	if (!is_loaded(&lookup->module->elf)) {
		lookup->pending = true;
		return;
	}
	find_symbol(symbolizer, lookup);
	if (!lookup->pending)
		*remembered = (struct remembered){.module = lookup->module,
						  .vaddr = lookup->vaddr,
						  .symbol = lookup->symbol,
						  .start = lookup->start};
}

static void look_in_map(struct symbolizer *symbolizer, struct process *process,
			struct lookup *lookup, uint64_t time_ns)
{
	struct jit_name name;

	if (!process->jit)
		return;
	name = jit_find(process->jit->jit, symbolizer->loader, lookup->addr, time_ns,
			symbolizer->wait);
	lookup->pending = name.pending;
	if (name.pending && name.due_ns)
		symbolizer->due_ns = name.due_ns;
	if (name.symbol) {
		lookup->symbol = readable_name(symbolizer, name.symbol);
		lookup->start = name.start;
	}
	if (jit_has_map(process->jit->jit))
		lookup->module = process->jit;
}

static void name_frame(struct symbolizer *symbolizer, struct process *process,
		       const struct sample *sample, struct frame *frame, struct lookup *lookup)
{
	const struct span *span;
	uint64_t step = frame->exact ? 0 : 1;

	*lookup = (struct lookup){.addr = frame->addr - step};
	frame->symbol = NULL;
	frame->offset = 0;
	frame->module = NULL;
	frame->module_offset = 0;
	span = process ? spans_find(&process->spans, lookup->addr, sample->time_ns) : NULL;
	if (!span)
		return;
	lookup->module = span->module;
	frame->module = span->path;
	if (is_jit_place(span->module)) {
		look_in_map(symbolizer, process, lookup, sample->time_ns);
		frame->module = lookup->module == process->jit ? lookup->module->path : span->path;
		frame->offset = lookup->symbol ? frame->addr - lookup->start : 0;
	} else {
		uint64_t offset = lookup->addr - span->base;

		/* Without headers the offset in the file is the best there is. */
		lookup->vaddr = offset + span->pgoff;
		if (elf_head_vaddr(&span->module->head, offset, span->pgoff, span->bytes,
				   &lookup->vaddr))
			look_in_file(symbolizer, lookup);
		frame->module_offset = lookup->vaddr + step;
		frame->offset = lookup->symbol ? frame->module_offset - lookup->start : 0;
	}
	frame->symbol = lookup->symbol;
}

int symbolizer_resolve(struct symbolizer *symbolizer, struct sample *sample, bool force)
{
	struct process *process = map_get(&symbolizer->processes, sample->process);
	struct module *asked[SAMPLE_MAX_FRAMES];
	int n_pending = 0;
	size_t n;

	if (sample->n_frames > SAMPLE_MAX_FRAMES)
		sample->n_frames = SAMPLE_MAX_FRAMES;
	if (sample->n_waker > SAMPLE_MAX_FRAMES - sample->n_frames)
		sample->n_waker = SAMPLE_MAX_FRAMES - sample->n_frames;
	n = sample->n_frames + sample->n_waker;
	for (size_t i = 0; i < n; i++) {
		struct lookup lookup;

		name_frame(symbolizer, process, sample, &sample->frames[i], &lookup);
		if (lookup.pending && !force)
			return -EAGAIN;
		n_pending += lookup.pending;
		asked[i] = lookup.module;
	}
	for (size_t i = 0; i < n; i++) {
		if (!asked[i])
			continue;
		asked[i]->lookups++;
		asked[i]->unnamed += !sample->frames[i].symbol;
	}
	return n_pending;
}

void symbolizer_wait(struct symbolizer *symbolizer, uint64_t timeout_ns)
{
	uint64_t now_ns = io_now_ns();
	bool idle = symbolizer->due_ns > now_ns;

	if (idle && symbolizer->due_ns - now_ns < timeout_ns)
		timeout_ns = symbolizer->due_ns - now_ns;
	symbolizer->due_ns = 0;
	loader_wait(symbolizer->loader, timeout_ns, idle);
}

size_t symbolizer_modules(struct symbolizer *symbolizer,
			  const struct symbolize_module **ret_modules)
{
	struct symbolize_module *summary =
		calloc(symbolizer->modules.n_modules + 1, sizeof(*summary));
	size_t n = 0;

	free(symbolizer->summary);
	symbolizer->summary = summary;
	*ret_modules = summary;
	if (!summary)
		return 0;
	for (const struct module *module = symbolizer->modules.first; module;
	     module = module->next) {
		bool loaded = is_loaded(&module->elf);

		if (!module->lookups)
			continue;
		summary[n++] = (struct symbolize_module){
			.path = module->path,
			.build_id = module->build_id,
			.quality = loaded ? module->quality : SYMBOLS_NONE,
			.why = loaded ? module->why : "it was still being read",
			.lookups = module->lookups,
			.unnamed = module->unnamed,
		};
	}
	return n;
}
