/* stream.c - all of a source to one reader of blocks, in bounded memory */
#include "flamescope/load/internal.h"

#include "flamescope/text/newlines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Room for STREAM_BYTES after the LEN that are there. */
static bool make_room(char **bytes, size_t *size, size_t len)
{
	size_t want = *size ? *size : (size_t)2 * STREAM_BYTES;
	char *grown;

	while (want - len < STREAM_BYTES)
		want *= 2;
	if (*bytes && want == *size)
		return true;
	grown = realloc(*bytes, want);
	if (!grown)
		return false;
	*size = want;
	*bytes = grown;
	return true;
}

/* Read what is whole of LEN bytes; how many that were. */
static size_t take_whole(struct stream *stream, const char *bytes, size_t len)
{
	const char *empty = newlines_last_empty(bytes, bytes + len);
	uint64_t at = stream->at + stream->bytes - len;

	if (empty && !stream->blocks->folded) {
		len = (size_t)(empty - bytes) + 2;
		blocks_take(stream->blocks, bytes, len, at);
		return len;
	}
	if (len < STREAM_MAX_BYTES && !stream->blocks->folded)
		return 0;
	blocks_take_part(stream->blocks, bytes, len, at);
	return len;
}

/* LEN more bytes: 0; -EINVAL: what has gone on for so long is no text, and may go on for ever. */
static int watch_line(struct stream *stream, const char *bytes, size_t len, struct err *err)
{
	const char *newline = memrchr(bytes, '\n', len);

	stream->line_bytes =
		newline ? (size_t)(bytes + len - newline - 1) : stream->line_bytes + len;
	if (stream->line_bytes >> 20 < LINES_ENDLESS_MIB)
		return 0;
	return err_set(err, 0, "it has a line of more than %d MiB, and was read no further",
		       LINES_ENDLESS_MIB);
}

static int run(struct stream *stream, struct source *source, char **bytes, size_t *size,
	       struct err *err)
{
	struct budget *budget = stream->blocks->builder->uniques.budget;
	size_t len = stream->bytes;
	bool goes_on = true;
	ssize_t n = 1;

	while (n > 0 && goes_on && !budget_failed(budget)) {
		size_t whole;

		if (!make_room(bytes, size, len))
			return -ENOMEM;
		n = source_read(source, *bytes + len, STREAM_BYTES, err);
		if (n > 0) {
			const size_t more = (size_t)n;

			n = watch_line(stream, *bytes + len, more, err) < 0 ? -EINVAL : 1;
			len += more;
			stream->bytes += more;
		}
		whole = take_whole(stream, *bytes, len);
		if (whole && *bytes)
			memmove(*bytes, *bytes + whole, len - whole);
		len -= whole;
		goes_on = !stream->done || stream->done(stream->context, stream->bytes);
	}
	blocks_take_part(stream->blocks, *bytes, len, stream->at + stream->bytes - len);
	blocks_finish(stream->blocks);
	if (n < 0)
		return (int)n;
	if (budget_failed(budget))
		return -atomic_load_explicit(&budget->failed, memory_order_relaxed);
	return goes_on || n == 0 ? 0 : -ETIMEDOUT;
}

int stream_read(struct stream *stream, struct source *source, const char *given, size_t n_given,
		struct err *err)
{
	char *bytes = NULL;
	size_t size = 0;
	int r = -ENOMEM;

	builder_start_segment(stream->blocks->builder, stream->at);
	blocks_start(stream->blocks, stream->at);
	if (make_room(&bytes, &size, n_given)) {
		memcpy(bytes, given, n_given);
		stream->bytes = n_given;
		r = run(stream, source, &bytes, &size, err);
	}
	free(bytes);
	return r;
}
