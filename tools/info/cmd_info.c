/* cmd_info.c - `wick info`: what is in a recording, read in one pass */
#include "base/cleanup.h"
#include "tools/cli/terminal.h"
#include "tools/info/internal.h"
#include "tools/view/view.h"

#include <errno.h>
#include <stdlib.h>

enum { OPT_JSON = OPTION_LONG_ONLY, RESULT_BYTES = 16 * 1024 * 1024 };

const struct option_spec info_option_specs[] = {
	{OPT_JSON, "json", NULL, "print one JSON object for each file instead of text"},
	{OPTION_HELP, "help", NULL, "print this help"},
	{'i', "input", "FILE", NULL},
	{0, NULL, NULL, NULL},
};

static int show_file(const char *path, bool json)
{
	struct profile_facts *facts = NULL;
	struct err err = {0};
	struct buf text;
	int status = WICK_OK;
	int r = profile_facts_read(path, &facts, &err);

	if (facts) {
		buf_init(&text, RESULT_BYTES);
		if (json)
			profile_facts_print_json(facts, &text);
		else
			profile_facts_print(facts, &text);
		if (say_result(&text) == -EPIPE)
			r = 0;
		buf_release(&text);
	}
	profile_facts_free(facts);
	if (r < 0) {
		view_error_hint(path, &err);
		say_error("%s", err.text);
		status = cmd_exit_of(r);
	}
	return status;
}

/* Return: 0; -EINVAL and the reason; -ECANCELED: help is requested. */
static int read_line(const struct cmd_ctx *ctx, struct view_input *input, bool *json,
		     struct err *err)
{
	struct option_cursor cursor = {
		.specs = info_option_specs, .argc = ctx->argc, .argv = ctx->argv};
	int r = 0;
	int id;

	while (r == 0 && (id = option_next(&cursor, err)) != 0) {
		if (id == OPTION_HELP)
			return -ECANCELED;
		if (id < 0)
			return id;
		if (id == 'i')
			r = view_input_add(input, cursor.value, err);
		*json |= id == OPT_JSON;
	}
	for (int i = cursor.rest; r == 0 && i < ctx->argc; i++)
		r = view_input_add(input, ctx->argv[i], err);
	return r == 0 && input->n_paths == 0 ? view_input_add_newest(input, "info", false, err) : r;
}

int cmd_info(struct cmd_ctx *ctx)
{
	struct view_input input = {0};
	struct err err = {0};
	bool json = false;
	int status = WICK_OK;
	int r = read_line(ctx, &input, &json, &err);

	if (r < 0)
		status = r == -ECANCELED ? cmd_help(ctx->command) : view_fail(r, &err);
	for (size_t i = 0; r == 0 && i < input.n_paths; i++) {
		int one = show_file(input.paths[i], json);

		if (one != WICK_OK)
			status = one;
	}
	view_input_release(&input);
	return status;
}
