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

static const char otel_name[] = "otel_thread_ctx_v1";
static const char wick_name[] = "wick_thread_1";

struct candidates {
	struct found_variable at[CANDIDATES];
	size_t n;
	/* The program exports the variable: what later modules define of that name is not used. */
	bool otel_is_the_programs;
	bool wick_is_the_programs;
};

static void add(struct candidates *to, enum context_format format, const struct loader_tls *tls,
		uint64_t offset, const struct found_variable *module)
{
	struct found_variable *at = &to->at[to->n];

	if (to->n == CANDIDATES || offset > INT32_MAX)
		return;
	*at = *module;
	at->how = (struct context_variable){
		.place = tls->place,
		.format = (uint16_t)format,
		/* wick.h never unmaps a table. */
		.flags = format == CONTEXT_OTEL && module->wick ? CONTEXT_STAYS : 0,
		.module = tls->module,
		.offset = tls->offset + (int64_t)offset,
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
	const struct found_variable none = {0};
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
	if (module == loader->at || may_have_labels(name))
		add(to, CONTEXT_LABELS, tls, offset, &none);
}

static void add_module(struct candidates *to, const struct loader *loader,
		       const struct loader_module *module)
{
	bool program = module == loader->at;
	struct found_variable found = {0};
	struct module_symbols symbols;
	struct tables_note note;
	struct loader_tls tls;
	bool has_symbols;
	uint64_t offset;
	uint64_t at;

	if (!loader_tls(loader, module, &tls))
		return;
	has_symbols = module_symbols_read(&symbols, loader->mem_fd, module->bias, module->dynamic);
	if (loader_note(loader, module, TABLES_NOTE, &note, sizeof(note), &at)) {
		found.wick = true;
		found.anchor = at + (uint64_t)note.anchor;
	}
	if (has_symbols && module_symbols_find(&symbols, otel_name, STT_TLS, &offset)) {
		if (!to->otel_is_the_programs)
			add(to, CONTEXT_OTEL, &tls, offset, &found);
		to->otel_is_the_programs |= program;
	} else if (found.wick) {
		add(to, CONTEXT_OTEL, &tls, note.otel, &found);
	}
	if (has_symbols)
		add_labels(to, loader, module, &symbols, &tls);
	if (!found.wick)
		return;
	if (!has_symbols || !module_symbols_find(&symbols, wick_name, STT_TLS, &offset)) {
		add(to, CONTEXT_WICK, &tls, note.thread, &found);
		return;
	}
	if (!to->wick_is_the_programs)
		add(to, CONTEXT_WICK, &tls, offset, &found);
	to->wick_is_the_programs |= program;
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
