/* variables.c - thread-local variables that tell whose work a thread does */
#include "sampler/collector/context/variables.h"

#include "sampler/collector/context/symbols.h"
#include "sampler/wire/tables.h"

#include <elf.h>
#include <string.h>

enum {
	CANDIDATES = 64, /* of all formats */
	LABELS_ABI = 1,
};

struct candidates {
	struct found_variable at[CANDIDATES];
	size_t n;
	/* The program exports the variable: what later modules define of that name is not used. */
	bool is_the_programs[2]; /* otel_thread_ctx_v1, wick_thread_1 */
};

/* A module, and its note if it has wick.h's. */
struct noted {
	struct found_variable module;
	struct tables_note note;
};

/* OFFSET: in the module's block.  lld, when it links a program, makes the offset in a note one from
 * the thread pointer: it is below 0. */
static void add(struct candidates *to, enum context_format format, const struct loader_tls *tls,
		int64_t offset, const struct found_variable *module)
{
	struct found_variable *at = &to->at[to->n];
	static const struct loader_tls from_pointer = {.place = CONTEXT_TP};

	if (to->n == CANDIDATES || offset > INT32_MAX || offset < INT32_MIN)
		return;
	if (offset < 0)
		tls = &from_pointer;
	*at = *module;
	at->how = (struct context_variable){
		.place = tls->place,
		.format = (uint16_t)format,
		/* wick.h never unmaps a table. */
		.flags = format == CONTEXT_OTEL && module->wick ? CONTEXT_STAYS : 0,
		.module = tls->module,
		.offset = tls->offset + offset,
	};
	to->n++;
}

/* The file names that the ABI of custom-labels v1 lets a library have. */
static bool may_have_labels(const char *name)
{
	static const char prefix[] = "libcustomlabels";
	size_t len = strlen(name);

	if (name[0] == '\0' || strcmp(name, "customlabels.node") == 0)
		return true;
	return strncmp(name, prefix, sizeof(prefix) - 1) == 0 && len > 3 &&
	       strcmp(name + len - 3, ".so") == 0;
}

static void add_labels(struct candidates *to, const struct loader *loader,
		       const struct loader_module *module, const struct module_symbols *symbols,
		       const struct loader_tls *tls)
{
	const struct found_variable none = {.module = (size_t)(module - loader->at)};
	char name[LOADER_NAME_BYTES];
	uint64_t offset;
	uint64_t at;
	uint32_t abi;

	if (!module_symbols_find(symbols, "custom_labels_current_set", STT_TLS, &offset) ||
	    !module_symbols_find(symbols, "custom_labels_abi_version", STT_OBJECT, &at) ||
	    !module_memory(loader->mem_fd, symbols->bias + at, &abi, sizeof(abi)) ||
	    abi != LABELS_ABI)
		return;
	loader_name(loader, module, name);
	if (offset <= INT32_MAX && (module == loader->at || may_have_labels(name)))
		add(to, CONTEXT_LABELS, tls, (int64_t)offset, &none);
}

/* A variable that a module has by name in its dynamic symbols, or else by wick.h's note. */
static void add_named(struct candidates *to, enum context_format format,
		      const struct module_symbols *symbols, const struct loader_tls *tls,
		      const struct noted *noted)
{
	bool *is_the_programs = &to->is_the_programs[format == CONTEXT_WICK];
	const char *name = format == CONTEXT_WICK ? "wick_thread_1" : "otel_thread_ctx_v1";
	uint64_t offset;

	if (module_symbols_find(symbols, name, STT_TLS, &offset)) {
		if (!*is_the_programs)
			add(to, format, tls, (int64_t)offset, &noted->module);
		*is_the_programs |= noted->module.module == 0;
	} else if (noted->module.wick) {
		add(to, format, tls,
		    (int64_t)(format == CONTEXT_WICK ? noted->note.thread : noted->note.otel),
		    &noted->module);
	}
}

static void add_module(struct candidates *to, const struct loader *loader,
		       const struct loader_module *module)
{
	const size_t number = (size_t)(module - loader->at);
	struct noted noted = {.module.module = number};
	struct module_symbols symbols;
	struct loader_tls tls;
	uint64_t at;

	if (!loader_tls(loader, module, &tls))
		return;
	if (!module_symbols_read(&symbols, loader->mem_fd, module->bias, module->dynamic))
		symbols = (struct module_symbols){.mem_fd = -1};
	if (loader_note(loader, module, TABLES_NOTE, &noted.note, sizeof(noted.note), &at)) {
		noted.module.wick = true;
		noted.module.anchor = at + (uint64_t)noted.note.anchor;
	}
	add_named(to, CONTEXT_OTEL, &symbols, &tls, &noted);
	add_labels(to, loader, module, &symbols, &tls);
	if (noted.module.wick)
		add_named(to, CONTEXT_WICK, &symbols, &tls, &noted);
}

static size_t pick(const struct candidates *from, enum context_format format,
		   struct found_variable *ret_variables, size_t n)
{
	for (size_t i = 0; i < from->n && n < CONTEXT_VARIABLES; i++)
		if (from->at[i].how.format == format)
			ret_variables[n++] = from->at[i];
	return n;
}

size_t variables_find(const struct loader *loader,
		      struct found_variable ret_variables[CONTEXT_VARIABLES])
{
	struct candidates found = {0};
	size_t n;

	for (size_t i = 0; i < loader->n; i++)
		add_module(&found, loader, &loader->at[i]);
	n = pick(&found, CONTEXT_OTEL, ret_variables, 0);
	n = pick(&found, CONTEXT_LABELS, ret_variables, n);
	return pick(&found, CONTEXT_WICK, ret_variables, n);
}
