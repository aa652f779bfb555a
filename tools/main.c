/* main.c - the `wick` program: a table of commands */
#include "tools/cli/cmd.h"
#include "tools/cli/presets.h"
#include "tools/cli/say.h"
#include "tools/target/process_start.h"

#include <string.h>

static const struct option_spec no_options[] = {{0}};

static int cmd_help_command(struct cmd_ctx *ctx);

static const char record_examples[] =
	"  wick record -- ./server --port 8080      until it ends\n"
	"  wick record -p $(pidof server) -d 30s    what runs already, for 30 seconds\n"
	"  wick record -e wall -- ./server          waiting as well: files, sockets, locks\n"
	"  wick record -o x.svg -- ./job            the flame graph at once, the text beside it\n";

static const struct command commands[] = {
	{"record", "record what a program does: start it, or join one that runs",
	 "[OPTIONS] -p PID | -a | [--] CMD [ARGS]", record_option_specs, cmd_record,
	 record_examples},
	{"view", "write recordings as one page, and open it in a browser", "[OPTIONS] FILE...",
	 view_option_specs, cmd_view, NULL},
	{"report", "say which functions take most, and who calls them", "[OPTIONS] FILE...",
	 report_option_specs, cmd_report, NULL},
	{"top", "show what a program does now: functions, threads, moments",
	 "[OPTIONS] -p PID | [--] CMD [ARGS]", top_option_specs, cmd_top, NULL},
	{"stack", "show what every thread of a process is doing now", "[OPTIONS] -p PID | CORE",
	 stack_option_specs, cmd_stack, NULL},
	{"flamegraph", "draw who calls whom, and what it takes", "[OPTIONS] FILE...",
	 flamegraph_option_specs, cmd_flamegraph, NULL},
	{"heatmap", "draw how much is done in which moment", "[OPTIONS] FILE...",
	 heatmap_option_specs, cmd_heatmap, NULL},
	{"diff", "compare two recordings, or two times of one", "[OPTIONS] FILE [FILE]",
	 diff_option_specs, cmd_diff, NULL},
	{"info", "say what is in a recording", "[OPTIONS] FILE...", info_option_specs, cmd_info,
	 NULL},
	{"convert", "write recordings in the formats of other programs", "[OPTIONS] FILE...",
	 convert_option_specs, cmd_convert, NULL},
	{"serve", "serve a folder of recordings to a browser, while they grow", "[OPTIONS] DIR",
	 serve_option_specs, cmd_serve, NULL},
	{"doctor", "check this machine, a process or a program, and say the fixes",
	 "[OPTIONS] [PID | -- CMD [ARGS] | FILE...]", doctor_option_specs, cmd_doctor, NULL},
	{"status", "say how a recording is going, or all that run", "[OPTIONS] [-p PID]",
	 status_option_specs, cmd_status, NULL},
	{"start", "have a paused recording take samples again", "[OPTIONS] -p PID",
	 control_option_specs, cmd_start, NULL},
	{"stop", "have a recording pause", "[OPTIONS] -p PID", control_option_specs, cmd_stop,
	 NULL},
	{"rate", "give a recording another rate", "[OPTIONS] -p PID HZ", control_option_specs,
	 cmd_rate, NULL},
	{"flush", "have a recording write what it has", "[OPTIONS] -p PID", control_option_specs,
	 cmd_flush, NULL},
	{"split", "have a recording begin another file", "[OPTIONS] -p PID", control_option_specs,
	 cmd_split, NULL},
	{"symbolize", "name the frames that a recording left as module+offset", "[OPTIONS] FILE",
	 symbolize_option_specs, cmd_symbolize, NULL},
	{"symbols", "list, fill and empty the names that are kept on disk",
	 "[OPTIONS] list | add FILE... | strip SIZE | clear [BUILD-ID | NAME]...",
	 symbols_option_specs, cmd_symbols, NULL},
	{"completion", "print a script with which a shell completes what is typed",
	 "[OPTIONS] bash | zsh | fish", completion_option_specs, cmd_completion, NULL},
	{"help", "explain a command", "[COMMAND]", no_options, cmd_help_command, NULL},
	{NULL, NULL, NULL, NULL, NULL, NULL},
};

/* What the commands of other profilers are here. */
static const struct {
	const char *name;
	const char *hint;
} elsewhere[] = {
	{"script", "info FILE: a recording is the text that perf script writes already"},
	{"stat", "info FILE for the counts of a recording, and perf stat for the processor's"},
	{"annotate", "record --srcline, which writes the line of every frame"},
	{"list", "help record, whose --event says what there is"},
	{"attach", "record -p PID"},
	{"ps", "status for recordings, and record -p PID for processes"},
};

static const struct command *find_command(const char *name)
{
	if (strcmp(name, "dump") == 0) /* as py-spy has it */
		name = "stack";
	for (const struct command *command = commands; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}

static int print_overview(void)
{
	struct buf text;

	buf_init(&text, CMD_TEXT_BYTES);
	buf_add(&text, "wick - a sampling profiler for native Linux programs\n\n"
		       "Usage: wick COMMAND [OPTIONS]\n\nCommands:\n");
	for (const struct command *command = commands; command->name; command++)
		buf_printf(&text, "  %-10s  %s\n", command->name, command->summary);
	buf_add(&text, "\nOptions:\n"
		       "  -h, --help  print this help\n"
		       "  -V, --version  print the version\n"
		       "\nStart with: wick record -- ./program\n"
		       "More: wick help COMMAND, man wick\n");
	return cmd_print(&text);
}

static int print_version(void)
{
	struct buf text;

	buf_init(&text, 256);
	buf_add(&text, "wick " WICK_VERSION "\n");
	return cmd_print(&text);
}

static int refuse_command(const char *name)
{
	const char *names[sizeof(commands) / sizeof(commands[0])];
	const char *near;
	size_t n = 0;

	for (const struct command *command = commands; command->name; command++)
		names[n++] = command->name;
	names[n] = NULL;
	near = option_nearest(name, names);
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (strcmp(elsewhere[i].name, name) == 0)
			near = elsewhere[i].hint;
	if (strchr(name, '/'))
		say_error("'%s' is no command, try: wick record -- %s", name, name);
	else
		say_error("'%s' is no command, try: wick %s", name, near ? near : "help");
	return WICK_USAGE;
}

static int cmd_help_command(struct cmd_ctx *ctx)
{
	const struct command *command;

	if (ctx->argc < 2)
		return print_overview();
	if (ctx->argc > 2) {
		say_error("one command at a time, not '%s' as well, try: wick help %s",
			  ctx->argv[2], ctx->argv[1]);
		return WICK_USAGE;
	}
	command = find_command(ctx->argv[1]);
	return command ? cmd_help(command) : refuse_command(ctx->argv[1]);
}

static int run_command(const char *name, int argc, char **argv)
{
	struct cmd_ctx ctx = {.commands = commands, .argc = argc, .argv = argv};
	struct presets presets = {0};
	struct err err = {0};
	int status;

	ctx.command = find_command(name);
	if (!ctx.command)
		return refuse_command(name);
	say_init(name);
	if (presets_add(&presets, commands, &ctx, &err) < 0) {
		say_error("%s", err.text);
		status = WICK_USAGE;
	} else {
		status = ctx.command->run(&ctx);
	}
	presets_release(&presets);
	return status;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	process_start();
	if (!name) {
		say_error("no command given, try: wick help");
		return WICK_USAGE;
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		return print_version();
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return print_overview();
	if (name[0] == '-') {
		say_error("'%s' is no option of wick itself, try: wick help", name);
		return WICK_USAGE;
	}
	return run_command(name, argc - 1, argv + 1);
}
