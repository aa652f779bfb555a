/* perf_text_fixture.c - what a reader of perf-script text saw, as one text */
#include "perf_text_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void on_header(void *context, const char *json)
{
	buf_printf(&((struct seen *)context)->text, "header %s\n", json);
}

static void on_end(void *context, const char *json)
{
	buf_printf(&((struct seen *)context)->text, "end %s\n", json);
}

static void on_comment(void *context, const char *text)
{
	buf_printf(&((struct seen *)context)->text, "comment %s\n", text);
}

static void add_facts(struct buf *buf, const struct perf_facts *facts)
{
	if (facts->state)
		buf_printf(buf, " st=%s", facts->state);
	if (facts->wait)
		buf_printf(buf, " wait=%s", facts->wait);
	if (facts->object)
		buf_printf(buf, " on=%s", facts->object);
	if (facts->comm)
		buf_printf(buf, " comm=%s", facts->comm);
	for (size_t i = 0; i < facts->n_metrics; i++)
		buf_printf(buf, " %s=%lld,%lld", facts->metrics[i].name,
			   (long long)facts->metrics[i].value, (long long)facts->metrics[i].delta);
}

static void on_sample(void *context, const struct perf_text_sample *sample)
{
	struct buf *buf = &((struct seen *)context)->text;
	const struct perf_head *head = &sample->head;

	buf_printf(buf, "sample '%s' %lld/%lld [%lld] %llu %llu %s", head->comm,
		   (long long)head->pid, (long long)head->tid, (long long)head->cpu,
		   (unsigned long long)head->time_ns, (unsigned long long)head->period,
		   head->event);
	add_facts(buf, &sample->facts);
	buf_add(buf, sample->cut ? " cut\n" : "\n");
	for (size_t i = 0; i < sample->n_frames && i < 4; i++) {
		const struct perf_frame *frame = &sample->frames[i];

		buf_printf(buf, "  %llx '%s'", (unsigned long long)frame->addr, frame->name);
		if (frame->has_offset)
			buf_printf(buf, "+%llx", (unsigned long long)frame->offset);
		buf_printf(buf, frame->inlined ? " inlined\n" : " '%s'\n", frame->module);
	}
}

const struct perf_text_visitor fixture_visitor = {
	.comment = on_comment, .header = on_header, .sample = on_sample, .end = on_end};

int fixture_setup(void **state)
{
	struct seen *seen = calloc(1, sizeof(*seen));

	if (!seen)
		return -1;
	buf_init(&seen->text, 1 << 20);
	*state = seen;
	return 0;
}

int fixture_teardown(void **state)
{
	struct seen *seen = *state;

	buf_release(&seen->text);
	free(seen);
	return 0;
}

/* Feed LEN bytes as lines. */
const char *fixture_read_bytes(struct seen *seen, const char *bytes, size_t len)
{
	struct perf_text_visitor with = fixture_visitor;
	struct perf_text *text = NULL;
	uint64_t number = 0;

	with.context = seen;
	assert_int_equal(perf_text_new(&with, &text), 0);
	for (const char *end = bytes + len; bytes < end;) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		size_t n = (size_t)((newline ? newline : end) - bytes);
		char *copy;
		struct line line = {.len = n, .number = number + 1, .unended = !newline};

		copy = malloc(n + 1);
		assert_non_null(copy);
		memcpy(copy, bytes, n);
		copy[n] = '\0';
		line.text = copy;
		perf_text_line(text, &line);
		free(copy);
		number++;
		bytes += n + 1;
	}
	perf_text_finish(text, &seen->stats);
	perf_text_free(text);
	return buf_text(&seen->text);
}

const char *fixture_read_text(struct seen *seen, const char *text)
{
	return fixture_read_bytes(seen, text, strlen(text));
}
