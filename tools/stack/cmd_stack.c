/* cmd_stack.c - `wick stack`: what every thread of a process is doing, once */
#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/json.h"
#include "base/words.h"
#include "sampler/collector/process/mappings.h"
#include "sampler/external/stacks.h"
#include "sampler/procfs/proc_maps.h"
#include "tools/cli/cmd.h"
#include "tools/cli/terminal.h"
#include "tools/cli/value.h"
#include "tools/options/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESS = 1, MOST_WAITS = 50 };
#define WAIT_NS UINT64_C(100000000)

struct stack_names {
	struct symbolizer *symbolizer;
	struct mappings mappings; /* paths are its */
	pid_t pid;
	uint64_t taken_ns;
	struct frame frames[SAMPLE_MAX_NAMED];
};

static void add_mapping(void *context, const struct mapping *mapping)
{
	const struct stack_names *names = context;
	struct mapping whole = *mapping;

	whole.process = PROCESS;
	whole.pid = names->pid;
	symbolizer_add(names->symbolizer, &whole);
}

static int read_mappings(struct stack_names *names, struct err *err)
{
	const struct mapping_sink sink = {.emit = add_mapping, .context = names};
	struct buf text;
	char path[64];
	int r;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)names->pid);
	buf_init(&text, MAPS_MAX_BYTES);
	r = io_read_file(path, &text, err);
	if (r == 0 && mappings_update(&names->mappings, &text, io_now_ns(), &sink) < 0)
		r = err_set(err, ENOMEM, "read '%s'", path);
	buf_release(&text);
	return r;
}

/* The frames are the symbolizer's to change: it is given a copy. */
static struct sample sample_of(struct stack_names *names, const struct stack *stack)
{
	size_t n = stack->n_frames < SAMPLE_MAX_NAMED ? stack->n_frames : SAMPLE_MAX_NAMED;

	memcpy(names->frames, stack->frames, n * sizeof(names->frames[0]));
	return (struct sample){.time_ns = names->taken_ns,
			       .process = PROCESS,
			       .pid = names->pid,
			       .tid = (pid_t)stack->tid,
			       .n_frames = n,
			       .frames = names->frames};
}

static void wait(struct symbolizer *symbolizer)
{
	for (int i = 0; i < MOST_WAITS && symbolizer_is_busy(symbolizer); i++)
		symbolizer_wait(symbolizer, WAIT_NS);
}

/* All at once, so that each file is read once. */
static void ask(struct stack_names *names, const struct stacks *stacks)
{
	wait(names->symbolizer);
	for (size_t i = 0; i < stacks->n; i++) {
		struct sample sample = sample_of(names, &stacks->at[i]);

		symbolizer_request(names->symbolizer, &sample);
	}
	wait(names->symbolizer);
}

static struct stack_names *make(const struct symbol_options *options, struct err *err)
{
	struct symbolize_options symbols = {0};
	struct stack_names *names = calloc(1, sizeof(*names));

	if (!names) {
		(void)err_set(err, ENOMEM, "look up names");
		return NULL;
	}
	symbol_options_pass(options, &symbols);
	if (symbol_options_start(&symbols, &names->symbolizer, err) < 0) {
		free(names);
		return NULL;
	}
	return names;
}

/* Forget them; NULL is fine. */
static void stack_names_free(struct stack_names *names)
{
	if (!names)
		return;
	symbolizer_free(names->symbolizer);
	mappings_release(&names->mappings);
	free(names);
}

/*
 * Look up what the frames of a process's stacks are. Waits for the names, a few seconds at most.
 * Returns 0; -errno and the reason.
 */
static int stack_names_of_process(const struct symbol_options *options, pid_t pid,
				  const struct stacks *stacks, struct stack_names **ret_names,
				  struct err *err)
{
	struct stack_names *names = make(options, err);
	int r;

	if (!names)
		return -ENOMEM;
	names->pid = pid;
	r = read_mappings(names, err);
	if (r < 0) {
		stack_names_free(names);
		return r;
	}
	names->taken_ns = io_now_ns();
	ask(names, stacks);
	*ret_names = names;
	return 0;
}

/* The frames of a stack, with the calls that were inlined. Returns how many. */
static size_t stack_names_find(struct stack_names *names, const struct stack *stack,
			       const struct frame **ret_frames)
{
	struct sample sample = sample_of(names, stack);

	(void)symbolizer_resolve(names->symbolizer, &sample, true);
	*ret_frames = sample.frames;
	return sample.n_frames;
}

/* Whose stacks they are. */
struct stack_print {
	pid_t pid;
	const char *comm;
	uint64_t spent_ns;
	const struct stacks *stacks;
	struct stack_names *names;
};

static const char *const states[] = {[STATE_RUNNING] = "running",
				     [STATE_RUNNABLE] = "runnable",
				     [STATE_SLEEPING] = "sleeping",
				     [STATE_DISK] = "disk",
				     [STATE_STOPPED] = "stopped"};

static const char *const hows[] = {
	[STACK_READ] = "read", [STACK_STOPPED] = "held", [STACK_NONE] = "none"};

static const char *basename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void add_frame(struct buf *buf, size_t number, const struct frame *frame)
{
	buf_printf(buf, "  %3zu  0x%012" PRIx64 "  ", number, frame->addr);
	words_plain(buf, frame->symbol ? frame->symbol : "??");
	if (frame->symbol && !frame->inlined)
		buf_printf(buf, "+0x%" PRIx64, frame->offset);
	if (frame->module) {
		buf_add(buf, " (");
		words_plain(buf, basename_of(frame->module));
		if (!frame->symbol && frame->module_offset)
			buf_printf(buf, "+0x%" PRIx64, frame->module_offset);
		buf_add_char(buf, ')');
	}
	if (frame->file) {
		buf_add_char(buf, ' ');
		words_plain(buf, basename_of(frame->file));
		if (frame->line)
			buf_printf(buf, ":%" PRIu32, frame->line);
	}
	buf_add(buf, frame->inlined ? " [inlined]\n" : "\n");
}

static void add_head(struct buf *buf, const struct stack *stack)
{
	buf_printf(buf, "\nThread %" PRIu32, stack->tid);
	if (stack->comm[0]) {
		buf_add_char(buf, ' ');
		words_plain(buf, stack->comm);
	}
	buf_printf(buf, ": %s", states[stack->state]);
	if (stack->wait)
		buf_printf(buf, ", waits in %s", stack->wait);
	if (stack->object[0]) {
		buf_add(buf, " on ");
		words_plain(buf, stack->object);
	}
	buf_add_char(buf, '\n');
}

static void add_thread(const struct stack_print *print, const struct stack *stack, struct buf *buf)
{
	const struct frame *frames;
	size_t n = stack_names_find(print->names, stack, &frames);

	add_head(buf, stack);
	for (size_t i = 0; i < n; i++)
		add_frame(buf, i, &frames[i]);
	if (stack->why[0])
		buf_printf(buf, "       [%s]\n", stack->why);
}

static void add_title(const struct stack_print *print, struct buf *buf)
{
	buf_printf(buf, "Process %d", (int)print->pid);
	if (print->comm[0]) {
		buf_add(buf, " (");
		words_plain(buf, print->comm);
		buf_add_char(buf, ')');
	}
	buf_add(buf, ": ");
	text_of(buf, print->stacks->n, "thread");
	buf_printf(buf, ", %" PRIu32 " stopped for a moment, in ", print->stacks->n_stopped);
	words_amount(buf, print->spent_ns, "ns");
	buf_add_char(buf, '\n');
}

/* A paragraph a thread. */
static void stack_print_text(const struct stack_print *print, struct buf *buf)
{
	add_title(print, buf);
	for (size_t i = 0; i < print->stacks->n; i++)
		add_thread(print, &print->stacks->at[i], buf);
}

static void json_add_address(struct buf *buf, const char *name, uint64_t address)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "0x%" PRIx64, address);
	json_add_text(buf, name, text);
}

static void json_frame(struct buf *buf, const struct frame *frame)
{
	buf_add_char(buf, '{');
	json_add_address(buf, "addr", frame->addr);
	if (frame->symbol)
		json_add_text(buf, "symbol", frame->symbol);
	if (frame->symbol && !frame->inlined)
		json_add_number(buf, "offset", frame->offset);
	if (frame->module)
		json_add_text(buf, "module", frame->module);
	if (frame->module_offset)
		json_add_address(buf, "module_offset", frame->module_offset);
	if (frame->file)
		json_add_text(buf, "file", frame->file);
	if (frame->line)
		json_add_number(buf, "line", frame->line);
	json_add_bool(buf, "inlined", frame->inlined);
	buf_add_char(buf, '}');
}

static void json_thread(const struct stack_print *print, const struct stack *stack, struct buf *buf)
{
	const struct frame *frames;
	size_t n = stack_names_find(print->names, stack, &frames);

	buf_add_char(buf, '{');
	json_add_number(buf, "tid", stack->tid);
	json_add_text(buf, "comm", stack->comm);
	json_add_text(buf, "state", states[stack->state]);
	if (stack->wait)
		json_add_text(buf, "wait", stack->wait);
	if (stack->object[0])
		json_add_text(buf, "on", stack->object);
	json_add_text(buf, "how", hows[stack->how]);
	if (stack->why[0])
		json_add_text(buf, "why", stack->why);
	buf_add(buf, ",\"frames\":[");
	for (size_t i = 0; i < n; i++) {
		buf_add(buf, i ? "," : "");
		json_frame(buf, &frames[i]);
	}
	buf_add(buf, "]}");
}

/* One object, in one line. */
static void stack_print_json(const struct stack_print *print, struct buf *buf)
{
	buf_add_char(buf, '{');
	json_add_number(buf, "pid", print->pid > 0 ? (uint64_t)print->pid : 0);
	json_add_text(buf, "comm", print->comm);
	json_add_number(buf, "held", print->stacks->n_stopped);
	json_add_number(buf, "longest_held_ns", print->stacks->longest_stop_ns);
	json_add_number(buf, "spent_ns", print->spent_ns);
	buf_add(buf, ",\"threads\":[");
	for (size_t i = 0; i < print->stacks->n; i++) {
		buf_add(buf, i ? "," : "");
		json_thread(print, &print->stacks->at[i], buf);
	}
	buf_add(buf, "]}\n");
}

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
