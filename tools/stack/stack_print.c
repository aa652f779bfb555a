/* stack_print.c - the stacks of a process, as people and as programs read them */
#include "tools/stack/stack_print.h"

#include "base/json.h"
#include "base/words.h"
#include "tools/cli/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

void stack_print_text(const struct stack_print *print, struct buf *buf)
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

void stack_print_json(const struct stack_print *print, struct buf *buf)
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
