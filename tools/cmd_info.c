/* cmd_info.c - `wick info`: what is in a recording, read in one pass */
#include "base/cleanup.h"
#include "tools/cmd.h"
#include "tools/profile_facts.h"
#include "tools/say.h"

#include <errno.h>
#include <stdlib.h>

enum { OPT_JSON = OPTION_LONG_ONLY, RESULT_BYTES = 16 * 1024 * 1024 };

const struct option_spec info_option_specs[] = {
	{OPT_JSON, "json", NULL, "print one JSON object a file instead of text"},
	{OPTION_HELP, "help", NULL, "print this help"},
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
		say_error("%s", err.text);
		status = cmd_exit_of(r);
	}
	return status;
}

int cmd_info(struct cmd_ctx *ctx)
{
	struct option_cursor cursor = {
		.specs = info_option_specs, .argc = ctx->argc, .argv = ctx->argv};
	struct err err = {0};
	bool json = false;
	int status = WICK_OK;
	int id;

	while ((id = option_next(&cursor, &err)) != 0) {
		if (id == OPTION_HELP)
			return cmd_help(ctx->command);
		if (id < 0) {
			say_error("%s", err.text);
			return WICK_USAGE;
		}
		json = true;
	}
	if (cursor.rest == ctx->argc) {
		say_error("no file given, try: wick info FILE");
		return WICK_USAGE;
	}
	for (int i = cursor.rest; i < ctx->argc; i++) {
		int r = show_file(ctx->argv[i], json);

		if (r != WICK_OK)
			status = r;
	}
	return status;
}
