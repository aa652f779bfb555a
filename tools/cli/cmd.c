/* cmd.c - what the commands have in common: help, results, exit statuses */
#include "tools/cli/cmd.h"

#include "tools/cli/say.h"

#include <errno.h>
#include <sys/wait.h>

int cmd_exit_of(int error)
{
	switch (-error) {
	case EPERM:
	case EACCES:
		return WICK_PERMISSION;
	case EINVAL:
		return WICK_USAGE;
	default:
		return WICK_IO;
	}
}

int cmd_exit_of_wait(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return WICK_SIGNAL + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

int cmd_print(struct buf *text)
{
	int r = say_result(text);

	buf_release(text);
	return r < 0 && r != -EPIPE ? WICK_IO : WICK_OK;
}

int cmd_help(const struct command *command)
{
	struct buf text;

	buf_init(&text, CMD_TEXT_BYTES);
	buf_printf(&text, "wick %s - %s\n\nUsage: wick %s %s\n", command->name, command->summary,
		   command->name, command->synopsis);
	if (command->examples)
		buf_printf(&text, "\nExamples:\n%s", command->examples);
	if (command->options->name) {
		if (command->options->id != OPTION_HEADING)
			buf_add(&text, "\nOptions:\n");
		option_print(command->options, &text);
		buf_printf(&text, "\nMore: man wick-%s\n", command->name);
	}
	return cmd_print(&text);
}
