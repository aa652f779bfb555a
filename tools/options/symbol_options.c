/* symbol_options.c - the options about names */
#include "tools/options/options.h"

#include "tools/cli/terminal.h"

#include <errno.h>
#include <sys/stat.h>

static int take_dir(const char *value, struct symbol_options *options, struct err *err)
{
	struct stat st;

	int code = stat(value, &st) < 0 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;

	if (code) {
		(void)err_set(err, code, "'%s'", value);
		err_hint(err, "a directory with debug files, such as /usr/lib/debug");
		return -err->code;
	}
	if (options->n_dirs == SYMBOL_OPTIONS_MAX_DIRS)
		return err_set(err, 0, "more than %d times", SYMBOL_OPTIONS_MAX_DIRS);
	options->dirs[options->n_dirs++] = value;
	return 1;
}

int symbol_options_take(int id, const char *value, struct symbol_options *options, struct err *err)
{
	switch (id) {
	case OPT_NO_INLINE:
		options->no_inline = true;
		return 1;
	case OPT_SRCLINE:
		options->srcline = true;
		return 1;
	case OPT_FULL_NAMES:
		options->full_names = true;
		return 1;
	case OPT_SYMBOL_DIR:
		return take_dir(value, options, err);
	case OPT_DEBUGINFOD:
		options->debuginfod = true;
		return 1;
	case OPT_NO_CACHE:
		options->no_cache = true;
		return 1;
	case OPT_NO_SYMBOLS:
		options->no_symbols = true;
		return 1;
	default:
		return 0;
	}
}

void symbol_options_pass(const struct symbol_options *options, struct symbolize_options *to)
{
	to->no_inline = options->no_inline;
	to->full_names = options->full_names;
	to->debuginfod = options->debuginfod;
	to->no_cache = options->no_cache;
	to->no_symbols = options->no_symbols;
	to->symbol_dirs = options->dirs;
	to->n_symbol_dirs = options->n_dirs;
}

int symbol_options_start(const struct symbolize_options *options,
			 struct symbolizer **ret_symbolizer, struct err *err)
{
	int r = symbolizer_new(options, ret_symbolizer, err);
	const char *why = r < 0 ? NULL : symbolizer_cache_why(*ret_symbolizer);

	if (why)
		say_note("the symbol cache is not used: %s", why);
	return r;
}

void symbol_options_tell_mangled(void)
{
	uint64_t n = symbolize_mangled_names();

	if (n)
		say_note("%llu name%s took too much time or memory to demangle: shown mangled",
			 (unsigned long long)n, n == 1 ? "" : "s");
}
