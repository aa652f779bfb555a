/* completion.c - what arguments are, and the script for bash */
#include "tools/cli/completion.h"

#include <stddef.h>
#include <string.h>

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

enum completion_kind completion_of_option(const struct command *command,
					  const struct option_spec *spec, const char **ret_words)
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

const char *completion_words(const struct command *command)
{
	if (is(command->name, "help"))
		return "@COMMANDS";
	if (is(command->name, "symbols"))
		return "list add strip clear";
	return is(command->name, "completion") ? "bash zsh fish" : NULL;
}

bool completion_runs(const struct command *command)
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

void completion_bash_row(struct buf *buf, const struct command *command,
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

void completion_bash(struct buf *buf, const struct command *commands, const char *rows)
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
