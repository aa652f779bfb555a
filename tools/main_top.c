/* main_top.c - the `wick-top` program: `wick top`, which needs a terminal library */
#include "tools/commands.h"
#include "tools/target/target.h"

static const struct option_spec no_options[] = {{0}};

#define WICK(name, summary, synopsis, options, run, examples)                                      \
	COMMAND_OF("wick", name, summary, synopsis)
#define VIEW(name, summary, synopsis, options, run, examples)                                      \
	COMMAND_OF("wick-view", name, summary, synopsis)
#define TOP COMMAND_HERE

static const struct command commands[] = {
	COMMANDS{.name = COMPLETION_ROWS, .options = no_options, .run = cmd_completion_rows},
	{.name = NULL}};

static const struct program program = {
	.name = "wick-top",
	.title = "the command of wick that shows a running program",
	.commands = commands,

};

int main(int argc, char **argv)
{
	process_start();
	return program_main(&program, argc, argv);
}
