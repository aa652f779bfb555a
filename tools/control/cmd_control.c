/* cmd_control.c - `wick start|stop|status|rate|flush|split`: talk to a recording that runs */
#include "base/json.h"
#include "base/words.h"
#include "sampler/collector/collector.h"
#include "tools/cli/cmd.h"
#include "tools/cli/terminal.h"
#include "tools/cli/value.h"
#include "tools/control/control.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

enum { OPT_JSON = OPTION_LONG_ONLY, MAX_WORDS = 2, RESULT_BYTES = 4 * 1024 * 1024 };

static const char of_process[] = "a recorded process, or the pid of a wick record";

const struct option_spec control_option_specs[] = {
	{'p', "pid", "PID", of_process},
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

const struct option_spec status_option_specs[] = {
	{'p', "pid", "PID",
	 "a recorded process, or the pid of a wick record (default: all your recordings)"},
	{OPT_JSON, "json", NULL, "print one JSON object per line for each recording"},
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

struct control_options {
	pid_t pid;
	uint32_t hz;
	bool json;
	bool help;
};

static int take(int id, const char *value, struct control_options *options, struct err *err)
{
	switch (id) {
	case 'p':
		return value_process(value, &options->pid, err) < 0
			       ? option_blame(control_option_specs, id, err)
			       : 0;
	case OPT_JSON:
		options->json = true;
		return 0;
	default:
		options->help = true;
		return 0;
	}
}

/* Options, and the words between and after them: at most MAX_WORDS are kept, all are counted. */
static int read_line(const struct cmd_ctx *ctx, struct control_options *options,
		     const char *words[MAX_WORDS], int *n_words, struct err *err)
{
	struct option_cursor cursor = {
		.specs = ctx->command->options, .argc = ctx->argc, .argv = ctx->argv};

	for (;;) {
		int id = option_next(&cursor, err);

		if (id < 0 || (id > 0 && take(id, cursor.value, options, err) < 0))
			return -EINVAL;
		if (id > 0)
			continue;
		if (cursor.rest >= cursor.argc)
			return 0;
		if (*n_words < MAX_WORDS)
			words[*n_words] = cursor.argv[cursor.rest];
		*n_words += 1;
		cursor = (struct option_cursor){.specs = cursor.specs,
						.argc = cursor.argc - cursor.rest,
						.argv = cursor.argv + cursor.rest};
	}
}

static int parse(const struct cmd_ctx *ctx, struct control_options *options, enum control_verb verb,
		 struct err *err)
{
	bool takes_rate = verb == CONTROL_RATE;
	const char *words[MAX_WORDS];
	int n_words = 0;

	if (read_line(ctx, options, words, &n_words, err) < 0)
		return -EINVAL;
	if (options->help)
		return 0;
	if (n_words < takes_rate) {
		(void)err_set(err, 0, "no rate given");
		err_hint(err, "wick rate -p PID 99");
		return -EINVAL;
	}
	if (n_words > takes_rate) {
		(void)err_set(err, 0, "unexpected argument '%s'", words[takes_rate]);
		err_hint(err, "wick %s -p PID%s", ctx->command->name, takes_rate ? " 99" : "");
		return -EINVAL;
	}
	if (!options->pid && verb != CONTROL_STATUS) {
		(void)err_set(err, 0, "no process given");
		err_hint(err, "wick %s -p PID; wick status lists the recordings",
			 ctx->command->name);
		return -EINVAL;
	}
	return takes_rate ? value_rate(words[0], &options->hz, err) : 0;
}

/* Return: the exit status; WICK_OK without help: go on. */
static int read_options(const struct cmd_ctx *ctx, enum control_verb verb,
			struct control_options *options)
{
	struct err err = {0};

	if (parse(ctx, options, verb, &err) < 0) {
		say_error("%s", err.text);
		return WICK_USAGE;
	}
	return options->help ? cmd_help(ctx->command) : WICK_OK;
}

/* Return: the exit status; WICK_OK with *RET_REPLY. */
static int ask_one(enum control_verb verb, const struct control_options *options,
		   struct control_reply *ret_reply)
{
	struct control_request request = {
		.magic = CONTROL_MAGIC, .version = CONTROL_VERSION, .verb = (uint16_t)verb};
	struct err err = {0};
	int r;

	request.pid = options->pid;
	request.hz = options->hz;
	r = control_ask(&request, ret_reply, &err);
	if (r == 0)
		return WICK_OK;
	say_error("%s", err.text);
	return cmd_exit_of(r);
}

/* Return: the exit status; WICK_OK with *RET_REPLY, unless only help was wanted. */
static int ask(const struct cmd_ctx *ctx, enum control_verb verb, struct control_options *options,
	       struct control_reply *ret_reply)
{
	int status = read_options(ctx, verb, options);

	return status != WICK_OK || options->help ? status : ask_one(verb, options, ret_reply);
}

/* What is done needs no words. */
static int do_quietly(const struct cmd_ctx *ctx, enum control_verb verb)
{
	struct control_options options = {0};
	struct control_reply reply;

	return ask(ctx, verb, &options, &reply);
}

int cmd_start(struct cmd_ctx *ctx)
{
	return do_quietly(ctx, CONTROL_START);
}

int cmd_stop(struct cmd_ctx *ctx)
{
	return do_quietly(ctx, CONTROL_STOP);
}

/* A rate that the recording has no means for is taken, and each sample stands for more. */
int cmd_rate(struct cmd_ctx *ctx)
{
	struct control_options options = {0};
	struct control_reply reply;
	int status = ask(ctx, CONTROL_RATE, &options, &reply);

	if (status != WICK_OK || options.help || !reply.text[0])
		return status;
	text_defuse(reply.text);
	say_note("%s, try: a recording begun with -F %u", reply.text, (unsigned)options.hz);
	return status;
}

/* The file is the result. */
static int print_path(const struct cmd_ctx *ctx, enum control_verb verb)
{
	struct control_options options = {0};
	struct control_reply reply;
	struct buf text;
	int status = ask(ctx, verb, &options, &reply);

	if (status != WICK_OK || options.help)
		return status;
	buf_init(&text, CMD_TEXT_BYTES);
	text_defuse(reply.path);
	if (*reply.path)
		buf_printf(&text, "%s\n", reply.path);
	return cmd_print(&text);
}

int cmd_flush(struct cmd_ctx *ctx)
{
	return print_path(ctx, CONTROL_FLUSH);
}

int cmd_split(struct cmd_ctx *ctx)
{
	return print_path(ctx, CONTROL_SPLIT);
}

static const char *state_of(uint32_t pauses)
{
	if (pauses & PAUSE_ASKED)
		return "paused";
	return pauses ? "resting" : "recording";
}

static void print_status(const struct control_reply *reply, struct buf *buf)
{
	buf_printf(buf, "%s: %s (pid %d) by wick (pid %d) for ", state_of(reply->pauses),
		   reply->command, reply->pid, reply->wick_pid);
	text_seconds(buf, reply->elapsed_ns);
	buf_add(buf, "\n  rate     ");
	text_rate(buf, reply->effective_hz, reply->hz);
	if (reply->lowered_ns) {
		buf_add(buf, "; below the requested rate for ");
		text_seconds(buf, reply->lowered_ns);
	}
	if (reply->text[0])
		buf_printf(buf, "; %s", reply->text);
	buf_add(buf, "\n  samples  ");
	words_count(buf, reply->samples);
	if (reply->stood_ns) {
		buf_add(buf, ", ");
		text_sampled(buf, reply->stood_ns, reply->running_ns);
	}
	buf_add(buf, ", lost ");
	words_count(buf, reply->lost);
	buf_add(buf, "\n  CPU      ");
	text_seconds(buf, reply->cpu_ns);
	if (reply->paused_ns) {
		buf_add(buf, ", and ");
		text_seconds(buf, reply->paused_ns);
		buf_add(buf, " while paused");
	}
	buf_printf(buf, "\n  file     %s, ", *reply->path ? reply->path : "none yet");
	words_bytes(buf, reply->bytes);
	buf_add(buf, " in ");
	text_of(buf, reply->files, "file");
	buf_add_char(buf, '\n');
}

static void print_json(const struct control_reply *reply, struct buf *buf)
{
	buf_add_char(buf, '{');
	json_add_text(buf, "state", state_of(reply->pauses));
	json_add_text(buf, "command", reply->command);
	json_add_number(buf, "pid", (uint32_t)reply->pid);
	json_add_number(buf, "wick_pid", (uint32_t)reply->wick_pid);
	json_add_number(buf, "elapsed_ns", reply->elapsed_ns);
	json_add_number(buf, "hz", reply->hz);
	json_add_number(buf, "effective_hz", reply->effective_hz);
	json_add_number(buf, "lowered_ns", reply->lowered_ns);
	json_add_number(buf, "processes", reply->processes);
	json_add_number(buf, "samples", reply->samples);
	json_add_number(buf, "sampled_ns", reply->stood_ns);
	json_add_number(buf, "sampled_cpu_ns", reply->running_ns);
	json_add_number(buf, "lost", reply->lost);
	json_add_number(buf, "cpu_ns", reply->cpu_ns);
	json_add_number(buf, "paused_ns", reply->paused_ns);
	json_add_number(buf, "files", reply->files);
	json_add_number(buf, "bytes", reply->bytes);
	json_add_text(buf, "path", reply->path);
	if (reply->text[0])
		json_add_text(buf, "note", reply->text);
	buf_add(buf, "}\n");
}

/* What is printed of one recording, or of all. */
struct report {
	struct buf text;
	bool json;
};

static void add_report(void *context, struct control_reply *reply)
{
	struct report *report = context;

	text_defuse(reply->command);
	if (report->json) {
		print_json(reply, &report->text);
		return;
	}
	text_defuse(reply->path);
	text_defuse(reply->text);
	if (report->text.len > 0)
		buf_add_char(&report->text, '\n');
	print_status(reply, &report->text);
}

static int report_all(struct report *report)
{
	struct err err = {0};
	int n = control_ask_all(add_report, report, &err);

	if (n > 0)
		return WICK_OK;
	if (n == 0) {
		say_error("you have no running recording, try: wick record -p PID");
		return WICK_IO;
	}
	say_error("%s", err.text);
	return cmd_exit_of(n);
}

int cmd_status(struct cmd_ctx *ctx)
{
	struct control_options options = {0};
	struct control_reply reply;
	struct report report = {0};
	int status = read_options(ctx, CONTROL_STATUS, &options);

	if (status != WICK_OK || options.help)
		return status;
	report.json = options.json;
	buf_init(&report.text, RESULT_BYTES);
	if (!options.pid) {
		status = report_all(&report);
	} else {
		status = ask_one(CONTROL_STATUS, &options, &reply);
		if (status == WICK_OK)
			add_report(&report, &reply);
	}
	if (status == WICK_OK)
		return cmd_print(&report.text);
	buf_release(&report.text);
	return status;
}
