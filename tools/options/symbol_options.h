/* symbol_options.h - what commands that name frames are told about names */
#ifndef OPTIONS_SYMBOL_OPTIONS_H
#define OPTIONS_SYMBOL_OPTIONS_H

#include "base/err.h"
#include "symbolize/symbolize.h"

#include <stdbool.h>
#include <stddef.h>

/* Ids of the options, beside each command's own. */
enum {
	OPT_NO_INLINE = 1024,
	OPT_SRCLINE,
	OPT_FULL_NAMES,
	OPT_SYMBOL_DIR,
	OPT_DEBUGINFOD,
	OPT_NO_CACHE,
	OPT_NO_SYMBOLS,
};

enum { SYMBOL_OPTIONS_MAX_DIRS = 64 };

/* Rows of an option table, for every command that names what runs. */
#define SYMBOL_OPTION_SPECS                                                                        \
	{OPT_NO_INLINE, "no-inline", NULL, "leave inlined calls out of the stacks"},               \
		{OPT_FULL_NAMES, "full-names", NULL,                                               \
		 "show C++ and Rust names with their parameters"},                                 \
		{OPT_SYMBOL_DIR, "symbol-dir", "DIR",                                              \
		 "look for debug files in DIR, by build-id or name; may be repeated"},             \
		{OPT_DEBUGINFOD, "debuginfod", NULL,                                               \
		 "download debug files from the servers in $DEBUGINFOD_URLS, for at most 5s"},     \
	{                                                                                          \
		OPT_NO_CACHE, "no-cache", NULL, "do not use the symbol cache on disk"              \
	}

struct symbol_options {
	bool no_inline;
	bool srcline; /* write files and lines */
	bool full_names;
	bool debuginfod;
	bool no_cache;
	bool no_symbols;
	const char *dirs[SYMBOL_OPTIONS_MAX_DIRS];
	size_t n_dirs;
};

/**
 * symbol_options_take - take in one of the options above
 *
 * Return:  1; 0: it is none of them; -EINVAL and the reason.
 * Owns:    VALUE outlives the options.
 * Context: main thread.
 */
int symbol_options_take(int id, const char *value, struct symbol_options *options, struct err *err);

/**
 * symbol_options_pass - the same for the symbolizer
 *
 * Owns:    OPTIONS outlives the symbolizer.
 * Context: main thread.
 */
void symbol_options_pass(const struct symbol_options *options, struct symbolize_options *to);

/**
 * symbol_options_start - symbolizer_new(), and a word to the user when no names will be kept
 *
 * Return:  0; -errno.
 * Owns:    the caller, to symbolizer_free().
 * Context: main thread.
 */
int symbol_options_start(const struct symbolize_options *options,
			 struct symbolizer **ret_symbolizer, struct err *err);

/**
 * symbol_options_tell_mangled - a word to the user when names could not be demangled
 *
 * Context: main thread.
 */
void symbol_options_tell_mangled(void);

#endif
