/* main_view.c - the `wick-view` program: the commands that show recordings */
#include "tools/commands.h"
#include "tools/target/target.h"

static const struct option_spec no_options[] = {{0}};

#define WICK(name, summary, synopsis, options, run, examples)                                      \
	COMMAND_OF("wick", name, summary, synopsis)
#define VIEW COMMAND_HERE
#define TOP(name, summary, synopsis, options, run, examples)                                       \
	COMMAND_OF("wick-top", name, summary, synopsis)

static const struct command commands[] = {
	COMMANDS{.name = COMPLETION_ROWS, .options = no_options, .run = cmd_completion_rows},
	{.name = EXPLAIN_TRIGGERS, .options = no_options, .run = cmd_explain_triggers},
	{.name = NULL}};

static const struct program program = {
	.name = "wick-view",
	.title = "the commands of wick that show recordings",
	.commands = commands,

};

int main(int argc, char **argv)
{
	process_start();
	return program_main(&program, argc, argv);
}
