/* cmd_completion.c - `wick completion`: scripts with which shells complete wick's command lines */
#include "tools/cli/cmd.h"
#include "tools/cli/completion.h"
#include "tools/cli/say.h"

#include <string.h>

enum { SCRIPT_BYTES = 1024 * 1024 };

const struct option_spec completion_option_specs[] = {
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

static int print_script(const struct command *commands, const char *shell)
{
	static const struct {
		const char *shell;
		void (*write)(struct buf *buf, const struct command *commands);
	} scripts[] = {
		{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};
	struct buf text;

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		if (strcmp(scripts[i].shell, shell) != 0)
			continue;
		buf_init(&text, SCRIPT_BYTES);
		scripts[i].write(&text, commands);
		return cmd_print(&text);
	}
	say_error("'%s' is none of the shells: bash, zsh, fish", shell);
	return WICK_USAGE;
}

int cmd_completion(struct cmd_ctx *ctx)
{
	struct option_cursor cursor = {
		.specs = completion_option_specs, .argc = ctx->argc, .argv = ctx->argv};
	struct err err = {0};
	int id = option_next(&cursor, &err);

	if (id == OPTION_HELP)
		return cmd_help(ctx->command);
	if (id < 0) {
		say_error("%s", err.text);
		return WICK_USAGE;
	}
	if (cursor.argc - cursor.rest != 1) {
		say_error("which shell? try: wick completion bash");
		return WICK_USAGE;
	}
	return print_script(ctx->commands, cursor.argv[cursor.rest]);
}
