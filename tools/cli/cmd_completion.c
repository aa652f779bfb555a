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

static const struct shell {
	const char *name;
	void (*script)(struct buf *buf, const struct command *commands, const char *rows);
	void (*row)(struct buf *buf, const struct command *command, const struct command *commands);
} shells[] = {
	{"bash", completion_bash, completion_bash_row},
	{"zsh", completion_zsh, completion_zsh_row},
	{"fish", completion_fish, completion_fish_row},
};

static const struct shell *find_shell(const char *name)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(shells[i].name, name) == 0)
			return &shells[i];
	say_error("'%s' is not a supported shell: bash, zsh or fish", name);
	return NULL;
}

/* Of the commands that this program shows and runs. */
static void add_own_rows(struct buf *rows, const struct command *commands,
			 const struct shell *shell)
{
	for (const struct command *at = commands; at->name; at++)
		if (!at->program && at->summary)
			shell->row(rows, at, commands);
}

static bool is_first_of_program(const struct command *commands, const struct command *command)
{
	for (const struct command *at = commands; at != command; at++)
		if (at->program && strcmp(at->program, command->program) == 0)
			return false;
	return true;
}

/* What each of the other programs says of its commands. */
static int add_other_rows(struct buf *rows, const struct command *commands,
			  const struct shell *shell)
{
	char verb[] = COMPLETION_ROWS;
	char *argv[] = {verb, (char *)shell->name, NULL};

	for (const struct command *at = commands; at->name; at++) {
		int status;

		if (!at->program || !is_first_of_program(commands, at))
			continue;
		status = program_run(at->program, argv, rows);
		if (status != WICK_OK)
			return status;
	}
	return WICK_OK;
}

static int print_script(const struct command *commands, const struct shell *shell)
{
	struct buf rows;
	struct buf text;
	int status;

	buf_init(&rows, SCRIPT_BYTES);
	buf_init(&text, SCRIPT_BYTES);
	add_own_rows(&rows, commands, shell);
	status = add_other_rows(&rows, commands, shell);
	if (status == WICK_OK) {
		shell->script(&text, commands, buf_text(&rows));
		status = cmd_print(&text);
	} else {
		buf_release(&text);
	}
	buf_release(&rows);
	return status;
}

int cmd_completion_rows(struct cmd_ctx *ctx)
{
	const struct shell *shell = find_shell(ctx->argc > 1 ? ctx->argv[1] : "");
	struct buf rows;

	if (!shell)
		return WICK_USAGE;
	buf_init(&rows, SCRIPT_BYTES);
	add_own_rows(&rows, ctx->commands, shell);
	return cmd_print(&rows);
}

int cmd_completion(struct cmd_ctx *ctx)
{
	struct option_cursor cursor = {
		.specs = completion_option_specs, .argc = ctx->argc, .argv = ctx->argv};
	const struct shell *shell;
	struct err err = {0};
	int id = option_next(&cursor, &err);

	if (id == OPTION_HELP)
		return cmd_help(ctx->command);
	if (id < 0) {
		say_error("%s", err.text);
		return WICK_USAGE;
	}
	if (cursor.argc - cursor.rest != 1) {
		say_error("give one shell, try: wick completion bash");
		return WICK_USAGE;
	}
	shell = find_shell(cursor.argv[cursor.rest]);
	return shell ? print_script(ctx->commands, shell) : WICK_USAGE;
}
