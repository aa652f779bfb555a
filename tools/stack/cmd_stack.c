/* cmd_stack.c - `wick stack`: what every thread of a process is doing, once */
#include "base/io.h"
#include "tools/cli/cmd.h"
#include "tools/cli/say.h"
#include "tools/cli/value.h"
#include "tools/stack/stack_names.h"
#include "tools/stack/stack_print.h"

#include <errno.h>

enum { OPT_JSON = OPTION_LONG_ONLY, OPT_NO_STOP };
enum { RESULT_BYTES = 512 * 1024 * 1024 };

const struct option_spec stack_option_specs[] = {
	{'p', "pid", "PID", "the process to show"},
	{OPT_JSON, "json", NULL, "print one JSON object"},
	{OPT_NO_STOP, "no-stop", NULL, "do not stop threads; running threads then have no stack"},
	SYMBOL_OPTION_SPECS,
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

struct stack_options {
	pid_t pid;
	bool json;
	bool no_stop;
	bool help;
	struct symbol_options symbols;
};

static int take(void *context, int id, const char *value, struct err *err)
{
	struct stack_options *options = context;

	switch (id) {
	case 'p':
		return value_process(value, &options->pid, err);
	case OPT_JSON:
		options->json = true;
		return 0;
	case OPT_NO_STOP:
		options->no_stop = true;
		return 0;
	case OPTION_HELP:
		options->help = true;
		return 0;
	default:
		return symbol_options_take(id, value, &options->symbols, err);
	}
}

/* FILE, where a process was to be: perhaps its pid, or a core file. */
static int refuse_file(const char *file, struct err *err)
{
	pid_t pid;

	(void)err_set(err, 0, "'%s' names no process", file);
	if (value_pid(file, &pid) == 0)
		err_hint(err, "wick stack -p %s", file);
	else
		err_hint(err, "wick stack -p PID, or for a core file: eu-stack --core %s", file);
	return -EINVAL;
}

static int parse(struct cmd_ctx *ctx, struct stack_options *options, struct err *err)
{
	int rest = option_read(stack_option_specs, ctx->argc, ctx->argv, take, options, err);

	if (rest < 0 || options->help)
		return rest < 0 ? rest : 0;
	if (rest < ctx->argc)
		return refuse_file(ctx->argv[rest], err);
	if (options->pid)
		return 0;
	(void)err_set(err, 0, "no process given");
	err_hint(err, "wick stack -p PID");
	return -EINVAL;
}

static int print(const struct stack_options *options, const struct stack_print *what)
{
	struct buf text;

	buf_init(&text, RESULT_BYTES);
	if (options->json)
		stack_print_json(what, &text);
	else
		stack_print_text(what, &text);
	if (text.failed) {
		buf_release(&text);
		say_error("out of memory");
		return WICK_IO;
	}
	return cmd_print(&text);
}

static int show_process(const struct stack_options *options, struct err *err)
{
	struct stack_print what = {.pid = options->pid};
	struct stacks stacks = {0};
	uint64_t start_ns = io_now_ns();
	int status = WICK_OK;
	int r = stacks_take(options->pid, !options->no_stop, &stacks, err);

	if (r < 0)
		return cmd_exit_of(r);
	what.spent_ns = io_now_ns() - start_ns;
	what.stacks = &stacks;
	what.comm = stacks.comm;
	r = stack_names_of_process(&options->symbols, options->pid, &stacks, &what.names, err);
	status = r < 0 ? cmd_exit_of(r) : print(options, &what);
	stack_names_free(what.names);
	stacks_release(&stacks);
	symbol_options_tell_mangled();
	return status;
}

int cmd_stack(struct cmd_ctx *ctx)
{
	struct stack_options options = {.pid = 0};
	struct err err = {0};
	int status = WICK_USAGE;

	if (parse(ctx, &options, &err) == 0) {
		if (options.help)
			return cmd_help(ctx->command);
		status = show_process(&options, &err);
	}
	if (err.text[0])
		say_error("%s", err.text);
	return status;
}
