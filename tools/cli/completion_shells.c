/* completion_shells.c - the scripts for zsh and fish */
#include "tools/cli/completion.h"

#include <string.h>

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

void completion_zsh_row(struct buf *buf, const struct command *command,
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

void completion_zsh(struct buf *buf, const struct command *commands, const char *rows)
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

void completion_fish_row(struct buf *buf, const struct command *command,
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

void completion_fish(struct buf *buf, const struct command *commands, const char *rows)
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
