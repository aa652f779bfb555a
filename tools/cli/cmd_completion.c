/* cmd_completion.c - `wick completion`: scripts with which shells complete wick's command lines */
#include "base/buf.h"
#include "tools/cli/cmd.h"
#include "tools/cli/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* What an argument can be, for a shell. */
enum completion_kind {
	COMPLETE_NOTHING,
	COMPLETE_FILE,
	COMPLETE_FOLDER,
	COMPLETE_PID,
	COMPLETE_WORDS, /* one of a few */
};

/* The words that an option takes; COMMAND NULL: any command's. */
static const struct {
	const char *command;
	const char *option;
	const char *words;
} known[] = {
	{"record", "event",
	 "cpu wall alloc lock page-faults context-switches cpu-migrations cycles"},
	{"record", "engine", "auto ctimer perf ptrace"},
	{"record", "compress", "gz zst none"},
	{"record", "metrics", "auto all none"},
	{"record", "metrics-as", "comment inline"},
	{"record", "by", "cpu rss faults run_delay io"},
	{"record", "state", "running runnable sleeping disk stopped"},
	{"record", "group", "state wait object thread comm process cpu"},
	{"record", "discovery", "timer hooks auto"},
	{NULL, "max-overhead", "1% off"},
	{NULL, "max-collector-cpu", "1% off"},
	{"top", "event", "cpu wall"},
	{"top", "show", "functions threads"},
	{"top", "sort", "self total self-sum total-sum"},
	{"report", "by", "self total"},
	{NULL, "group", "thread comm tid pid process host cpu event state wait on"},
	{NULL, "elide", "@wrappers"},
	{NULL, "state", "running runnable sleeping disk stopped"},
};

static bool is(const char *one, const char *other)
{
	return strcmp(one, other) == 0;
}

/* What can stand after an option that takes an argument. Owns:    static. */
static enum completion_kind completion_of_option(const struct command *command,
						 const struct option_spec *spec,
						 const char **ret_words)
{
	*ret_words = NULL;
	if (!spec->arg)
		return COMPLETE_NOTHING;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!is(known[i].option, spec->name) ||
		    (known[i].command && !is(known[i].command, command->name)))
			continue;
		*ret_words = known[i].words;
		return COMPLETE_WORDS;
	}
	if (is(spec->arg, "FILE"))
		return COMPLETE_FILE;
	if (is(spec->arg, "DIR"))
		return COMPLETE_FOLDER;
	return strncmp(spec->arg, "PID", 3) == 0 ? COMPLETE_PID : COMPLETE_NOTHING;
}

/*
 * What can stand after a command that is neither file nor program. Returns words with blanks
 * between them; NULL: none.  @COMMANDS stands for all commands.
 */
static const char *completion_words(const struct command *command)
{
	if (is(command->name, "help"))
		return "@COMMANDS";
	if (is(command->name, "symbols"))
		return "list add strip clear";
	return is(command->name, "completion") ? "bash zsh fish" : NULL;
}

/* Whether a program and its arguments stand after a command. */
static bool completion_runs(const struct command *command)
{
	return strstr(command->synopsis, "CMD") != NULL;
}

static void add_names(struct buf *buf, const struct command *commands)
{
	for (const struct command *at = commands; at->name; at++)
		buf_printf(buf, "%s%s", at == commands ? "" : " ", at->name);
}

static void add_bash_option(struct buf *buf, const struct command *command,
			    const struct option_spec *spec)
{
	static const char *const actions[] = {
		[COMPLETE_NOTHING] = "compopt +o default",
		[COMPLETE_FILE] = ":", /* what is done with no answer */
		[COMPLETE_FOLDER] = "compopt -o dirnames +o default",
		[COMPLETE_PID] = "_wick_pids",
	};
	const char *words;
	enum completion_kind kind = completion_of_option(command, spec, &words);

	buf_add(buf, "\t\t");
	if (spec->id < OPTION_LONG_ONLY)
		buf_printf(buf, "-%c | ", spec->id);
	buf_printf(buf, "--%s) ", spec->name);
	if (kind == COMPLETE_WORDS)
		buf_printf(buf, "_wick_words \"%s\"", words);
	else
		buf_add(buf, actions[kind]);
	buf_add(buf, "; return ;;\n");
}

/* What the script for bash says of one command. */
static void completion_bash_row(struct buf *buf, const struct command *command,
				const struct command *commands)
{
	const char *words = completion_words(command);
	bool any = false;

	buf_printf(buf, "\t%s)\n", command->name);
	for (const struct option_spec *spec = command->options; spec->name; spec++) {
		if (!spec->arg || !option_is_shown(spec))
			continue;
		if (!any)
			buf_add(buf, "\t\tcase $prev in\n");
		any = true;
		add_bash_option(buf, command, spec);
	}
	if (any)
		buf_add(buf, "\t\tesac\n");
	buf_printf(buf, "\t\truns=%s\n\t\toptions=\"", completion_runs(command) ? "yes" : "");
	for (const struct option_spec *spec = command->options; spec->name; spec++)
		if (option_is_shown(spec))
			buf_printf(buf, "--%s ", spec->name);
	buf_add(buf, "\"\n\t\twords=\"");
	if (words && is(words, "@COMMANDS"))
		add_names(buf, commands);
	else if (words)
		buf_add(buf, words);
	buf_add(buf, "\"\n\t\t;;\n");
}

/* The script for bash. */
static void completion_bash(struct buf *buf, const struct command *commands, const char *rows)
{
	buf_add(buf, "# bash completion of wick, made by: wick completion bash\n"
		     "_wick_words() {\n"
		     "\tcompopt +o default\n"
		     "\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
		     "}\n"
		     "_wick_pids() {\n"
		     "\t_wick_words \"$(cd /proc && echo [0-9]*)\"\n"
		     "}\n"
		     "\n"
		     "_wick() {\n"
		     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
		     "\tlocal i options words runs\n"
		     "\tCOMPREPLY=()\n"
		     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
		     "\t\t_wick_words \"");
	add_names(buf, commands);
	buf_add(buf, " --help --version\"\n"
		     "\t\treturn\n"
		     "\tfi\n"
		     "\t# --option=value is three words\n"
		     "\t[ \"$cur\" != = ] || cur=\n"
		     "\t[ \"$prev\" != = ] || prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
		     "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
		     "\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
		     "\t\t\t[ $((i + 1)) -ne \"$COMP_CWORD\" ] ||\n"
		     "\t\t\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
		     "\t\t\treturn\n"
		     "\t\tfi\n"
		     "\tdone\n"
		     "\tcase ${COMP_WORDS[1]} in\n");
	buf_add(buf, rows);
	buf_add(buf, "\tesac\n"
		     "\tcase $cur in\n"
		     "\t-*) _wick_words \"$options\" ;;\n"
		     "\t*)\n"
		     "\t\tif [ -n \"$words\" ]; then\n"
		     "\t\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		     "\t\telif [ -n \"$runs\" ]; then\n"
		     "\t\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
		     "\t\tfi\n"
		     "\t\t;;\n"
		     "\tesac\n"
		     "}\n"
		     "complete -o default -F _wick wick\n");
}

/* TEXT within '...', with a \ before each of SPECIAL. */
static void add_quoted(struct buf *buf, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'') { /* zsh's and fish's way out of quotes, and in again */
			buf_add(buf, "'\\''");
			continue;
		}
		if (strchr(special, *text))
			buf_add_char(buf, '\\');
		buf_add_char(buf, *text);
	}
}

static void add_zsh_action(struct buf *buf, enum completion_kind kind, const char *words)
{
	static const char *const actions[] = {
		[COMPLETE_NOTHING] = " ",
		[COMPLETE_FILE] = "_files",
		[COMPLETE_FOLDER] = "_files -/",
		[COMPLETE_PID] = "_pids",
	};

	if (kind == COMPLETE_WORDS)
		buf_printf(buf, "(%s)", words);
	else
		buf_add(buf, actions[kind]);
}

/* '(-F --freq)'{-F+,--freq=}'[help]:HZ: ' */
static void add_zsh_option(struct buf *buf, const struct command *command,
			   const struct option_spec *spec)
{
	static const char special[] = "[]:\\";
	const char *words;
	enum completion_kind kind = completion_of_option(command, spec, &words);

	buf_add(buf, "\t\t\t");
	if (spec->id < OPTION_LONG_ONLY)
		buf_printf(buf, "'*'{-%c%s,--%s%s}'[", spec->id, spec->arg ? "+" : "", spec->name,
			   spec->arg ? "=" : "");
	else
		buf_printf(buf, "'*--%s%s[", spec->name, spec->arg ? "=" : "");
	add_quoted(buf, spec->help, special);
	buf_add_char(buf, ']');
	if (spec->arg) {
		buf_add_char(buf, ':');
		add_quoted(buf, spec->arg, special);
		buf_add_char(buf, ':');
		add_zsh_action(buf, kind, words);
	}
	buf_add(buf, "' \\\n");
}

/* The same for zsh. */
static void completion_zsh_row(struct buf *buf, const struct command *command,
			       const struct command *commands)
{
	const char *words = completion_words(command);

	(void)commands;
	buf_printf(buf, "\t%s)\n\t\t_arguments -s -S \\\n", command->name);
	for (const struct option_spec *spec = command->options; spec->name; spec++)
		if (option_is_shown(spec))
			add_zsh_option(buf, command, spec);
	if (words && strcmp(words, "@COMMANDS") == 0)
		buf_add(buf, "\t\t\t'1:command:_wick_commands'\n");
	else if (words)
		buf_printf(buf, "\t\t\t'1:action:(%s)' '*:file:_files'\n", words);
	else if (completion_runs(command))
		buf_add(buf, "\t\t\t'(-)1:program:_command_names -e' '*::argument:_normal'\n");
	else
		buf_add(buf, "\t\t\t'*:file:_files'\n");
	buf_add(buf, "\t\t;;\n");
}

/* The script for zsh. */
static void completion_zsh(struct buf *buf, const struct command *commands, const char *rows)
{
	buf_add(buf, "#compdef wick\n"
		     "# zsh completion of wick, made by: wick completion zsh\n"
		     "_wick_commands() {\n"
		     "\tlocal -a commands=(\n");
	for (const struct command *at = commands; at->name; at++) {
		buf_printf(buf, "\t\t'%s:", at->name);
		add_quoted(buf, at->summary, ":\\");
		buf_add(buf, "'\n");
	}
	buf_add(buf, "\t)\n"
		     "\t_describe command commands\n"
		     "}\n"
		     "\n"
		     "_wick() {\n"
		     "\tif ((CURRENT == 2)); then\n"
		     "\t\t_wick_commands\n"
		     "\t\treturn\n"
		     "\tfi\n"
		     "\tshift words\n"
		     "\t((CURRENT--))\n"
		     "\tcase $words[1] in\n");
	buf_add(buf, rows);
	buf_add(buf, "\tesac\n"
		     "}\n"
		     "\n"
		     "_wick \"$@\"\n");
}

static void add_fish_option(struct buf *buf, const struct command *command,
			    const struct option_spec *spec)
{
	static const char *const actions[] = {
		[COMPLETE_NOTHING] = " -x",
		[COMPLETE_FILE] = " -r -F",
		[COMPLETE_FOLDER] = " -x -a '(__fish_complete_directories)'",
		[COMPLETE_PID] = " -x -a '(__fish_complete_pids)'",
	};
	const char *words;
	enum completion_kind kind = completion_of_option(command, spec, &words);

	buf_printf(buf, "complete -c wick -n '__fish_seen_subcommand_from %s' -l %s", command->name,
		   spec->name);
	if (spec->id < OPTION_LONG_ONLY)
		buf_printf(buf, " -s %c", spec->id);
	if (kind == COMPLETE_WORDS)
		buf_printf(buf, " -x -a '%s'", words);
	else if (spec->arg)
		buf_add(buf, actions[kind]);
	buf_add(buf, " -d '");
	add_quoted(buf, spec->help, "\\");
	buf_add(buf, "'\n");
}

static void add_fish_words(struct buf *buf, const struct command *command,
			   const struct command *commands)
{
	const char *words = completion_words(command);

	if (!words)
		return;
	buf_printf(buf, "complete -c wick -n '__fish_seen_subcommand_from %s' -a '", command->name);
	if (strcmp(words, "@COMMANDS") != 0)
		buf_add(buf, words);
	else
		for (const struct command *at = commands; at->name; at++)
			buf_printf(buf, "%s%s", at == commands ? "" : " ", at->name);
	buf_add(buf, "'\n");
}

/* The same for fish. */
static void completion_fish_row(struct buf *buf, const struct command *command,
				const struct command *commands)
{
	for (const struct option_spec *spec = command->options; spec->name; spec++)
		if (option_is_shown(spec))
			add_fish_option(buf, command, spec);
	add_fish_words(buf, command, commands);
	if (completion_runs(command))
		buf_printf(buf,
			   "complete -c wick -n '__fish_seen_subcommand_from %s' "
			   "-x -a '(__fish_complete_subcommand --fcs-skip=2)'\n",
			   command->name);
}

/* The script for fish. */
static void completion_fish(struct buf *buf, const struct command *commands, const char *rows)
{
	buf_add(buf, "# fish completion of wick, made by: wick completion fish\n"
		     "complete -c wick -n __fish_use_subcommand -f\n");
	for (const struct command *at = commands; at->name; at++) {
		buf_printf(buf, "complete -c wick -n __fish_use_subcommand -f -a %s -d '",
			   at->name);
		add_quoted(buf, at->summary, "\\");
		buf_add(buf, "'\n");
	}
	buf_add(buf, rows);
}

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
