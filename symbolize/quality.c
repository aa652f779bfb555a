/* quality.c - the summary of modules: where names came from, and what would name more */
#include "symbolize/internal.h"
#include "symbolize/jit/jit.h"

#include <stdlib.h>
#include <string.h>

static const char *const sources[] = {
	[SYMBOLS_NONE] = "none",           [SYMBOLS_DYNSYM] = "dynsym", [SYMBOLS_JIT] = "jit",
	[SYMBOLS_MINIDEBUG] = "minidebug", [SYMBOLS_SYMTAB] = "symtab", [SYMBOLS_DEBUG] = "debug",
};

/* Libraries of the C library's own debug package. */
static bool is_libc(const char *base)
{
	static const char *const names[] = {
		"libc.so.6", "libc-",        "libm.so.6",   "libm-",       "libpthread",
		"ld-linux",  "ld-2.",        "librt.so.1",  "libdl.so.2",  "libresolv",
		"libnss_",   "libmvec.so.1", "libanl.so.1", "libutil.so.1"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(base, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Files of a distribution have packages of debug files; other files are built here. */
static bool is_packaged(const char *path)
{
	static const char *const roots[] = {"/usr/lib", "/usr/bin/", "/usr/sbin/", "/usr/games/",
					    "/lib",     "/bin/",     "/sbin/"};

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (strncmp(path, roots[i], strlen(roots[i])) == 0)
			return true;
	return false;
}

static const char *advice(const struct module *module)
{
	const char *slash = strrchr(module->path, '/');
	const char *base = slash ? slash + 1 : module->path;

	if (is_libc(base))
		return "libc6-dbg";
	return is_packaged(module->path) ? "its -dbgsym package, or --debuginfod"
					 : "building it with -g";
}

/* Code without a file: a compiler wrote it, and only its program knows the names. */
static bool is_made_at_run_time(const struct module *module)
{
	return module_is_jit_place(module) &&
	       (strcmp(module->path, "[anon]") == 0 || strncmp(module->path, "/memfd:", 7) == 0);
}

static struct symbolize_module quality_of(const struct module *module, bool loaded)
{
	enum symbol_quality quality = loaded ? module->quality : SYMBOLS_NONE;
	struct symbolize_module summary = {
		.path = module->path,
		.build_id = module->build_id,
		.quality = quality,
		.source = sources[quality],
		.why = loaded ? module->why : "names not read: the recording had ended",
		.partial = !loaded ||
			   atomic_load_explicit(&module->partial, memory_order_relaxed) ||
			   (module->jit && jit_is_partial(module->jit)),
		.missing = "",
		.try = "",
		.lookups = module->lookups,
		.unnamed = module->unnamed,
	};

	if (module->unread) {
		summary.why = "names were not asked for";
		return summary;
	}
	if (is_made_at_run_time(module))
		summary.why = "code made at run time; try: node --perf-basic-prof, "
			      "jcmd PID Compiler.perfmap, erl +JPperf true";
	if (module->kind != MODULE_ELF || module->not_elf || module->path[0] == '[' || !loaded ||
	    module->has_dwarf || !module->head.n_loads) /* of a file that we cannot read: nothing */
		return summary;
	summary.missing = quality == SYMBOLS_NONE     ? "names, lines and inlined calls"
			  : quality == SYMBOLS_DYNSYM ? "local names, lines and inlined calls"
						      : "lines and inlined calls";
	summary.try = advice(module);
	return summary;
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
		if (module->lookups || (module->jit && jit_is_partial(module->jit)))
			summary[n++] = quality_of(module, symbolizer_is_loaded(module));
	}
	return n;
}
