/* cmd_totals.c - `wick tasks|requests|tiers`: exact counts of a running recording, or of files */
#include "base/words.h"
#include "tools/cli/cmd.h"
#include "tools/cli/terminal.h"
#include "tools/cli/value.h"
#include "tools/control/control.h"
#include "tools/totals/totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_JSON = OPTION_LONG_ONLY,
	OPT_BUCKETS,
	OPT_RESET,
	OPT_IDENTITY,
	MOST_FILES = 4096,
};

#define TOTALS_OPTION_SPECS                                                                        \
	{'p', "pid", "PID", "a recorded process, or the pid of a wick record"},                    \
		{'n', "rows", "N", "print at most N rows (default: 30; 0: all)"},                  \
		{OPT_JSON, "json", NULL, "print one JSON object per line for each row"},           \
		{OPT_RESET, "reset", NULL, "with -p: count from zero again after this"},           \
	{                                                                                          \
		OPTION_HELP, "help", NULL, "print this help"                                       \
	}

#define BUCKETS_OPTION_SPEC                                                                        \
	{                                                                                          \
		OPT_BUCKETS, "buckets", NULL,                                                      \
			"with --json: also the histogram of each row, as [bucket, count] pairs"    \
	}

const struct option_spec tasks_option_specs[] = {
	TOTALS_OPTION_SPECS,
	{0, NULL, NULL, NULL},
};

const struct option_spec requests_option_specs[] = {
	BUCKETS_OPTION_SPEC,
	TOTALS_OPTION_SPECS,
	{0, NULL, NULL, NULL},
};

const struct option_spec tiers_option_specs[] = {
	{OPT_IDENTITY, "identity", "NAME",
	 "of requests with this identity, or `all` for each (default: _total, all together)"},
	BUCKETS_OPTION_SPEC,
	TOTALS_OPTION_SPECS,
	{0, NULL, NULL, NULL},
};

struct totals_options {
	struct totals_view view;
	pid_t pid;
	bool json;
	bool buckets;
	bool reset;
	bool help;
	char *paths[MOST_FILES];
	size_t n_paths;
};

static int take_rows(const char *value, struct totals_options *options, struct err *err)
{
	char *end;
	unsigned long rows = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || rows > TOTALS_MOST_ROWS)
		return err_set(err, 0, "'%s' is not a number of rows, try: 30", value);
	options->view.rows = rows;
	return 0;
}

static int take(void *context, int id, const char *value, struct err *err)
{
	struct totals_options *options = context;

	switch (id) {
	case 'p':
		return value_process(value, &options->pid, err);
	case 'n':
		return take_rows(value, options, err);
	case OPT_JSON:
		options->json = true;
		return 0;
	case OPT_BUCKETS:
		options->buckets = true;
		return 0;
	case OPT_RESET:
		options->reset = true;
		return 0;
	case OPT_IDENTITY:
		options->view.each = strcmp(value, "all") == 0;
		options->view.identity = value;
		return 0;
	default:
		options->help = true;
		return 0;
	}
}

static int check(const struct totals_options *options, struct err *err)
{
	if (options->help)
		return 0;
	if (options->pid && options->n_paths)
		return err_set(err, 0,
			       "-p asks a running recording, '%s' is a file, try: one of them",
			       options->paths[0]);
	if (options->reset && !options->pid)
		return err_set(err, 0, "--reset is for a running recording, try: -p PID --reset");
	if (options->buckets && !options->json)
		return err_set(err, 0, "--buckets adds to --json, try: --json --buckets");
	return 0;
}

/* Options may follow files. */
static int parse(const struct cmd_ctx *ctx, struct totals_options *options, struct err *err)
{
	int argc = ctx->argc;
	char **argv = ctx->argv;

	for (;;) {
		int rest = option_read(ctx->command->options, argc, argv, take, options, err);

		if (rest < 0)
			return rest;
		if (rest >= argc)
			return check(options, err);
		if (options->n_paths == MOST_FILES)
			return err_set(err, 0, "more than %d files", MOST_FILES);
		options->paths[options->n_paths++] = argv[rest];
		argc -= rest;
		argv += rest;
	}
}

static int ask(const struct totals_options *options, struct totals_sum *sum, struct err *err)
{
	struct control_request request = {
		.magic = CONTROL_MAGIC,
		.version = CONTROL_VERSION,
		.verb = options->reset ? CONTROL_TOTALS_RESET : CONTROL_TOTALS,
		.pid = options->pid,
	};
	struct buf rows;
	size_t bad = 0;
	int r;

	buf_init(&rows, CONTROL_ROWS_BYTES);
	r = control_ask_rows(&request, &rows, err);
	if (r == 0)
		r = totals_sum_add_lines(sum, rows.data, rows.len, &bad);
	buf_release(&rows);
	if (r == 0 && bad)
		return err_set(err, EPROTO, "read %zu rows of the recording", bad);
	return r;
}

static void say_nothing(const struct totals_options *options)
{
	static const char *const what[] = {"requests", "tasks", "tiers"};

	if (options->view.identity && !options->view.each)
		say_note("no tier was counted for the identity '%s', try: --identity all",
			 options->view.identity);
	else
		say_note("the program has counted no %s: it needs wick.h, see man wick-%s",
			 what[options->view.subject], what[options->view.subject]);
}

static int print(struct totals_options *options, const struct totals *totals)
{
	struct buf text;
	size_t left_out = 0;
	size_t n = 1;

	buf_init(&text, TOTALS_MOST_BYTES);
	options->view.columns = terminal_columns();
	if (options->json)
		left_out = totals_rows(&text, totals, options->view.subject, options->buckets);
	else
		n = totals_table(&text, totals, &options->view);
	if (left_out)
		say_note("%zu rows are left out: all together have more than %d MiB", left_out,
			 TOTALS_MOST_BYTES >> 20);
	if (n)
		return cmd_print(&text);
	buf_release(&text);
	say_nothing(options);
	return WICK_OK;
}

static int run(struct totals_options *options)
{
	struct totals_sum *sum = NULL;
	struct err err = {0};
	int r = totals_sum_new(&sum);
	int status;

	if (r < 0)
		(void)err_set(&err, -r, "add up rows");
	else if (options->pid)
		r = ask(options, sum, &err);
	else
		r = totals_read_files(options->paths, options->n_paths, sum, &err);
	if (r < 0) {
		say_error("%s", err.text[0] ? err.text : strerrordesc_np(-r));
		status = cmd_exit_of(r);
	} else {
		status = print(options, totals_sum_get(sum));
	}
	totals_sum_free(sum);
	return status;
}

static int cmd_totals(struct cmd_ctx *ctx, enum totals_subject subject)
{
	enum { DEFAULT_ROWS = 30 };
	struct totals_options *options = calloc(1, sizeof(*options));
	struct err err = {0};
	int status;

	if (!options)
		return WICK_IO;
	options->view = (struct totals_view){.subject = subject, .rows = DEFAULT_ROWS};
	if (parse(ctx, options, &err) < 0) {
		say_error("%s", err.text);
		status = WICK_USAGE;
	} else {
		status = options->help ? cmd_help(ctx->command) : run(options);
	}
	free(options);
	return status;
}

int cmd_tasks(struct cmd_ctx *ctx)
{
	return cmd_totals(ctx, TOTALS_TASKS);
}

int cmd_requests(struct cmd_ctx *ctx)
{
	return cmd_totals(ctx, TOTALS_REQUESTS);
}

int cmd_tiers(struct cmd_ctx *ctx)
{
	return cmd_totals(ctx, TOTALS_TIERS);
}
