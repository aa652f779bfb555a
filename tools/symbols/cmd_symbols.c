/* cmd_symbols.c - `wick symbols`: the names that are kept on disk */
#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "base/words.h"
#include "symbolize/cache/cache.h"
#include "tools/cli/cmd.h"
#include "tools/cli/terminal.h"
#include "tools/cli/value.h"
#include "tools/options/options.h"
#include "tools/view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_JSON = OPTION_LONG_ONLY,
	RESULT_BYTES = 64 * 1024 * 1024,
	ID_SHOWN = 16, /* digits of a build-id: more than enough to remove it by */
};

#define NS_PER_S UINT64_C(1000000000)

const struct option_spec symbols_option_specs[] = {
	{OPT_JSON, "json", NULL, "list: print one JSON object instead of text"},
	{OPT_SYMBOL_DIR, "symbol-dir", "DIR",
	 "add: look for debug files in DIR, by build-id or name; may be repeated"},
	{OPT_DEBUGINFOD, "debuginfod", NULL,
	 "add: download debug files from the servers in $DEBUGINFOD_URLS, for at most 5s"},
	{'q', "quiet", NULL, "print only errors and the list"},
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

/* The command line. */
struct asked {
	struct symbol_options symbols;
	bool json;
	bool help;
	const char *action;
	char **args;
	int n_args;
};

static int fail(const struct err *err, int error)
{
	say_error("%s", err->text);
	return cmd_exit_of(error);
}

/* "3 min ago", for people. */
static void add_ago(struct buf *buf, int64_t used_ns)
{
	const uint64_t now = io_realtime_ns();
	const uint64_t then = used_ns > 0 ? (uint64_t)used_ns : 0;
	const uint64_t seconds = now > then ? (now - then) / NS_PER_S : 0;

	if (seconds < 120)
		buf_add(buf, "just now");
	else if (seconds < 7200)
		buf_printf(buf, "%llu min ago", (unsigned long long)(seconds / 60));
	else if (seconds < 172800)
		buf_printf(buf, "%llu h ago", (unsigned long long)(seconds / 3600));
	else
		buf_printf(buf, "%llu days ago", (unsigned long long)(seconds / 86400));
}

/* Right-aligned to WIDTH. */
static void add_cell(struct buf *buf, struct buf *cell, size_t width)
{
	for (size_t len = cell->len; len < width; len++)
		buf_add_char(buf, ' ');
	buf_add(buf, buf_text(cell));
	buf_clear(cell);
}

static void print_entry(const struct cache_entry *entry, struct buf *buf)
{
	struct buf cell;

	buf_init(&cell, 64);
	buf_printf(buf, "%-*.*s", ID_SHOWN, ID_SHOWN, *entry->build_id ? entry->build_id : "-");
	words_count(&cell, entry->n_functions);
	add_cell(buf, &cell, 11);
	words_bytes(&cell, entry->bytes);
	add_cell(buf, &cell, 12);
	add_ago(&cell, entry->used_ns);
	add_cell(buf, &cell, 14);
	buf_add(buf, "  ");
	words_plain(buf, *entry->name ? entry->name : "(cannot be read)");
	if (entry->level == CACHE_DEBUG)
		buf_add(buf, " (no .symtab)");
	buf_add_char(buf, '\n');
	buf_release(&cell);
}

static void print_text(const struct cache *cache, const struct cache_entry *entries, int n,
		       struct buf *buf)
{
	uint64_t functions = 0;
	uint64_t bytes = 0;

	if (n)
		buf_printf(buf, "%-*s%11s%12s%14s  %s\n", ID_SHOWN, "BUILD-ID", "FUNCTIONS", "SIZE",
			   "USED", "MODULE");
	for (int i = 0; i < n; i++) {
		print_entry(&entries[i], buf);
		functions += entries[i].n_functions;
		bytes += entries[i].bytes;
	}
	text_of(buf, (uint64_t)n, "build");
	buf_add(buf, ", ");
	text_of(buf, functions, "function");
	buf_add(buf, ", ");
	words_bytes(buf, bytes);
	buf_add(buf, " (at most ");
	words_bytes(buf, cache_max_bytes(cache));
	buf_add(buf, ") in ");
	words_plain(buf, cache_folder(cache));
	buf_add_char(buf, '\n');
}

static void print_json(const struct cache *cache, const struct cache_entry *entries, int n,
		       struct buf *buf)
{
	buf_add_char(buf, '{');
	json_add_text(buf, "folder", cache_folder(cache));
	json_add_number(buf, "max_bytes", cache_max_bytes(cache));
	buf_add(buf, ",\"builds\":[");
	for (int i = 0; i < n; i++) {
		buf_add(buf, i ? ",{" : "{");
		json_add_text(buf, "build_id", entries[i].build_id);
		json_add_text(buf, "module", entries[i].name);
		json_add_text(buf, "source", entries[i].level == CACHE_SYMTAB ? "debug" : "dwarf");
		json_add_number(buf, "functions", entries[i].n_functions);
		json_add_number(buf, "bytes", entries[i].bytes);
		json_add_number(buf, "used_ns", (uint64_t)entries[i].used_ns);
		json_add_text(buf, "file", entries[i].path);
		buf_add_char(buf, '}');
	}
	buf_add(buf, "]}\n");
}

static int list(struct cache *cache, const struct asked *asked)
{
	const struct cache_entry *entries = NULL;
	struct err err = {0};
	struct buf text;
	int n;

	if (asked->n_args) {
		say_error("unexpected argument '%s', try: wick symbols list", asked->args[0]);
		return WICK_USAGE;
	}
	n = cache_list(cache, &entries, &err);
	if (n < 0)
		return fail(&err, n);
	buf_init(&text, RESULT_BYTES);
	if (asked->json)
		print_json(cache, entries, n, &text);
	else
		print_text(cache, entries, n, &text);
	return cmd_print(&text);
}

/* The sum of all builds; their number in *RET_BUILDS. */
static uint64_t sum(struct cache *cache, uint64_t *ret_functions, int *ret_builds)
{
	const struct cache_entry *entries = NULL;
	uint64_t bytes = 0;
	int n = cache_list(cache, &entries, NULL);

	*ret_functions = 0;
	*ret_builds = n < 0 ? 0 : n;
	for (int i = 0; i < n; i++) {
		bytes += entries[i].bytes;
		*ret_functions += entries[i].n_functions;
	}
	return bytes;
}

static void say_removed(struct cache *cache, int n_removed)
{
	struct buf text;
	uint64_t functions;
	uint64_t bytes;
	int n;

	bytes = sum(cache, &functions, &n);
	buf_init(&text, 512);
	buf_add(&text, "removed ");
	text_of(&text, (uint64_t)n_removed, "build");
	buf_add(&text, ", left ");
	text_of(&text, (uint64_t)n, "build");
	buf_add(&text, ", ");
	words_bytes(&text, bytes);
	say_note("%s", buf_text(&text));
	buf_release(&text);
}

static int strip(struct cache *cache, const struct asked *asked)
{
	struct err err = {0};
	uint64_t bytes = 0;
	int r;

	if (asked->n_args != 1) {
		say_error("%s, try: wick symbols strip 100M",
			  asked->n_args ? "one size at a time" : "no size given");
		return WICK_USAGE;
	}
	/* No size elsewhere is 0. */
	if (strcmp(asked->args[0], "0") != 0 && value_size(asked->args[0], &bytes, &err) < 0) {
		say_error("%s", err.text);
		return WICK_USAGE;
	}
	r = cache_shrink(cache, bytes, &err);
	if (r < 0)
		return fail(&err, r);
	say_removed(cache, r);
	return WICK_OK;
}

static int clear(struct cache *cache, const struct asked *asked)
{
	struct err err = {0};
	int n_removed = 0;

	for (int i = 0; i < (asked->n_args ? asked->n_args : 1); i++) {
		const char *which = asked->n_args ? asked->args[i] : NULL;
		int r = cache_remove(cache, which, &err);

		if (r < 0)
			return fail(&err, r);
		if (r == 0 && which) {
			say_error("the symbol cache has nothing of '%s', try: wick symbols list",
				  which);
			return WICK_USAGE;
		}
		n_removed += r;
	}
	say_removed(cache, n_removed);
	return WICK_OK;
}

static void show_progress(size_t n_done, size_t n_all)
{
	struct buf text;

	buf_init(&text, 128);
	text_share(&text, (double)n_done, (double)n_all);
	buf_add(&text, " of ");
	text_of(&text, n_all, "place");
	buf_add(&text, " where code begins");
	say_live(buf_text(&text));
	buf_release(&text);
}

static int add_file(struct cache *cache, const struct asked *asked, const char *path)
{
	struct symbolize_options options = {.cache_folder = cache_folder(cache)};
	_cleanup_free_ char *full = realpath(path, NULL);
	struct symbolizer *symbolizer = NULL;
	struct err err = {0};
	int r;

	if (!full) {
		r = err_set(&err, errno, "'%s'", path);
		view_error_hint(path, &err);
		return fail(&err, r);
	}
	symbol_options_pass(&asked->symbols, &options);
	r = symbolizer_new(&options, &symbolizer, &err);
	if (r == 0)
		r = symbolizer_store(symbolizer, full, show_progress, &err);
	symbolizer_free(symbolizer);
	say_live("");
	if (r < 0)
		err_hint(&err, "a program, a library, or a debug file of one");
	return r < 0 ? fail(&err, r) : WICK_OK;
}

static int add(struct cache *cache, const struct asked *asked)
{
	int status = WICK_OK;

	if (!asked->n_args) {
		say_error("no file given, try: wick symbols add FILE");
		return WICK_USAGE;
	}
	for (int i = 0; i < asked->n_args; i++) {
		uint64_t functions_before;
		uint64_t functions;
		struct buf text;
		uint64_t bytes;
		int n;
		int r;

		(void)sum(cache, &functions_before, &n);
		r = add_file(cache, asked, asked->args[i]);
		if (r != WICK_OK) {
			status = r;
			continue;
		}
		bytes = sum(cache, &functions, &n);
		buf_init(&text, 4096);
		buf_printf(&text, "%s: ", asked->args[i]);
		text_of(&text, functions > functions_before ? functions - functions_before : 0,
			"new function");
		buf_add(&text, "; ");
		words_bytes(&text, bytes);
		buf_add(&text, " are kept in all");
		say_note("%s", buf_text(&text));
		buf_release(&text);
	}
	return status;
}

static const struct action {
	const char *name;
	int (*run)(struct cache *cache, const struct asked *asked);
} actions[] = {
	{"list", list}, {"add", add}, {"strip", strip}, {"clear", clear}, {NULL, NULL},
};

static int take(void *context, int id, const char *value, struct err *err)
{
	struct asked *asked = context;

	if (id == OPTION_HELP)
		asked->help = true;
	else if (id == OPT_JSON)
		asked->json = true;
	else if (id == 'q')
		say_quiet();
	return symbol_options_take(id, value, &asked->symbols, err);
}

/* Options stand before the action, or between it and its arguments. */
static int parse(int argc, char **argv, struct asked *asked, struct err *err)
{
	int at = option_read(symbols_option_specs, argc, argv, take, asked, err);
	int rest;

	if (at < 0 || at == argc)
		return at < 0 ? at : 0;
	asked->action = argv[at];
	rest = option_read(symbols_option_specs, argc - at, argv + at, take, asked, err);
	if (rest < 0)
		return rest;
	asked->args = argv + at + rest;
	asked->n_args = argc - at - rest;
	return 0;
}

static const struct action *find_action(const char *name, struct err *err)
{
	const char *names[sizeof(actions) / sizeof(actions[0])] = {0};
	const char *near;

	if (!name) {
		(void)err_set(err, 0, "no action given: list, add, strip or clear");
		err_hint(err, "wick symbols list");
		return NULL;
	}
	for (size_t i = 0; actions[i].name; i++) {
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
		names[i] = actions[i].name;
	}
	near = option_nearest(name, names);
	(void)err_set(err, 0, "'%s' is not an action: list, add, strip or clear", name);
	err_hint(err, "wick symbols %s", near ? near : "list");
	return NULL;
}

int cmd_symbols(struct cmd_ctx *ctx)
{
	const struct cache_options options = {0};
	const struct action *action = NULL;
	struct asked asked = {0};
	struct cache *cache;
	struct err err = {0};
	int r = parse(ctx->argc, ctx->argv, &asked, &err);

	if (asked.help)
		return cmd_help(ctx->command);
	if (r == 0)
		action = find_action(asked.action, &err);
	if (!action) {
		say_error("%s", err.text);
		return WICK_USAGE;
	}
	r = cache_open(&options, &cache, &err);
	if (r < 0)
		return fail(&err, r);
	r = action->run(cache, &asked);
	cache_close(cache);
	return r;
}
