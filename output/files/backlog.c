/* backlog.c - text that waits for the disk */
#include "output/files/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void backlog_init(struct backlog *backlog)
{
	*backlog = (struct backlog){0};
	buf_init(&backlog->text, BACKLOG_MAX_BYTES);
}

void backlog_release(struct backlog *backlog)
{
	buf_release(&backlog->text);
	free(backlog->marks);
	backlog_init(backlog);
}

static int add_mark(struct backlog *backlog)
{
	if (backlog->n_marks == backlog->size) {
		size_t size = backlog->size ? backlog->size * 2 : 256;
		struct backlog_mark *marks = reallocarray(backlog->marks, size, sizeof(*marks));

		if (!marks)
			return -ENOMEM;
		backlog->marks = marks;
		backlog->size = size;
	}
	backlog->marks[backlog->n_marks++] =
		(struct backlog_mark){.end = backlog->text.len, .file = backlog->file};
	return 0;
}

void backlog_start(struct backlog *backlog, const struct perf_script_options *options,
		   const struct perf_script_header *header)
{
	buf_clear(&backlog->text);
	backlog->n_marks = 0;
	backlog->file = (struct perf_script_file){.event = header->event};
	backlog->on_disk = backlog->file;
	backlog->oldest_ns = 0;
	backlog->last_len = 0;
	perf_script_header(options, header, &backlog->text);
	if (backlog->text.failed || add_mark(backlog) < 0)
		buf_clear(&backlog->text); /* no memory: a file without a header still loads */
}

int backlog_add(struct backlog *backlog, const struct perf_script_options *options,
		const struct sample *sample, uint64_t now_ns)
{
	struct perf_script_file before = backlog->file;
	size_t start = backlog->text.len;
	int r = 0;

	if (start > BACKLOG_MAX_WAITING)
		return -ENOBUFS;
	perf_script_sample(options, &backlog->file, sample, &backlog->text);
	if (backlog->text.failed)
		r = -ENOMEM;
	if (r == 0)
		r = add_mark(backlog);
	if (r < 0) {
		backlog->text.len = start;
		backlog->text.failed = false;
		backlog->file = before;
		return r;
	}
	backlog->last_len = backlog->text.len - start;
	if (!backlog->oldest_ns)
		backlog->oldest_ns = sample->time_ns < now_ns ? sample->time_ns : now_ns;
	return 0;
}

int backlog_note(struct backlog *backlog, const char *word, const char *json)
{
	size_t start = backlog->text.len;
	int r;

	if (start > BACKLOG_MAX_WAITING)
		return -ENOBUFS;
	buf_add(&backlog->text, "# ");
	buf_add(&backlog->text, word);
	buf_add(&backlog->text, " : ");
	buf_add(&backlog->text, json);
	buf_add_char(&backlog->text, '\n');
	backlog->file.n_notes++;
	r = backlog->text.failed ? -ENOMEM : add_mark(backlog);
	if (r < 0) {
		backlog->text.len = start;
		backlog->text.failed = false;
		backlog->file.n_notes--;
	}
	return r;
}

/* How many marks end within LEN bytes; nearly always all or none. */
static size_t marks_within(const struct backlog *backlog, size_t len)
{
	size_t n = backlog->n_marks;

	while (n && backlog->marks[n - 1].end > len)
		n--;
	return n;
}

size_t backlog_whole(const struct backlog *backlog, size_t len)
{
	size_t n = marks_within(backlog, len);

	return n ? backlog->marks[n - 1].end : 0;
}

void backlog_took(struct backlog *backlog, size_t len)
{
	size_t n = marks_within(backlog, len);

	if (n == 0)
		return;
	backlog->on_disk = backlog->marks[n - 1].file;
	memmove(backlog->text.data, backlog->text.data + len, backlog->text.len - len);
	backlog->text.len -= len;
	memmove(backlog->marks, backlog->marks + n,
		(backlog->n_marks - n) * sizeof(*backlog->marks));
	backlog->n_marks -= n;
	for (size_t i = 0; i < backlog->n_marks; i++)
		backlog->marks[i].end -= len;
	if (backlog->n_marks == 0)
		backlog->oldest_ns = 0;
}

uint64_t backlog_drop(struct backlog *backlog)
{
	uint64_t n = backlog->file.n_samples - backlog->on_disk.n_samples;

	buf_clear(&backlog->text);
	backlog->n_marks = 0;
	backlog->file = backlog->on_disk;
	backlog->oldest_ns = 0;
	return n;
}
