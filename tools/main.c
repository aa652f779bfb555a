/* main.c - the `wick` program: records, controls and names */
#include "tools/commands.h"
#include "tools/target/target.h"

static const struct option_spec no_options[] = {{0}};

#define WICK COMMAND_HERE
#define VIEW(name, summary, synopsis, options, run, examples)                                      \
	COMMAND_OF("wick-view", name, summary, synopsis)
#define TOP(name, summary, synopsis, options, run, examples)                                       \
	COMMAND_OF("wick-top", name, summary, synopsis)

static const struct command commands[] = {COMMANDS{.name = NULL}};

/* What the commands of other profilers are here. */
static const char *const elsewhere[] = {
	"script",   "info FILE: a recording is the text that perf script writes already",
	"stat",     "info FILE for the counts of a recording, perf stat for those of the CPU",
	"annotate", "record --srcline, which writes the line of every frame",
	"list",     "help record, which lists the events under --event",
	"attach",   "record -p PID",
	"ps",       "status for recordings, and record -p PID for processes",
	NULL,
};

static const struct program program = {
	.name = "wick",
	.title = "a sampling profiler for native Linux programs",
	.commands = commands,
	.elsewhere = elsewhere,
};

int main(int argc, char **argv)
{
	process_start();
	return program_main(&program, argc, argv);
}
