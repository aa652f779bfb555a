/* blocks.c - the quick way for what is usual, the slow way for the rest */
#include "flamescope/load/internal.h"

#include "flamescope/text/newlines.h"
#include "flamescope/text/text.h"

#include <errno.h>

/* Of a header or "# s" line of a usual block; metrics of 64 names fit. */
enum { SCRATCH_BYTES = 64 * 1024 };

static void on_comment(void *context, const char *text)
{
	struct blocks *blocks = context;

	builder_comment(blocks->builder, text, blocks->at);
}

static void on_header(void *context, const char *json)
{
	struct blocks *blocks = context;

	builder_header(blocks->builder, json, blocks->at);
}

static void on_rate(void *context, const char *json)
{
	struct blocks *blocks = context;

	builder_rate_line(blocks->builder, json, blocks->at);
}

static void on_end(void *context, const char *json)
{
	builder_end(((struct blocks *)context)->builder, json);
}

static void on_bad(void *context, uint64_t line)
{
	struct blocks *blocks = context;

	blocks->builder->facts.bad_lines++;
	if (blocks->n_bad < PROFILE_BAD_LINES)
		blocks->bad[blocks->n_bad++] =
			(struct blocks_bad){.at = blocks->base_at, .line = line};
}

static void on_sample(void *context, const struct perf_text_sample *text)
{
	struct blocks *blocks = context;
	uint32_t frames[PERF_TEXT_MAX_FRAMES];
	struct builder_sample sample = {
		.head = &text->head, .facts = &text->facts, .at = blocks->at};

	for (size_t i = 0; i < text->n_frames; i++)
		frames[i] = builder_frame(blocks->builder, &text->frames[i], blocks->at);
	sample.stack = builder_stack(blocks->builder, 0, frames, text->n_frames);
	blocks->builder->facts.cut |= text->cut != 0;
	builder_add(blocks->builder, &sample);
}

int blocks_init(struct blocks *blocks, struct builder *builder)
{
	const struct perf_text_visitor visitor = {.comment = on_comment,
						  .header = on_header,
						  .rate = on_rate,
						  .sample = on_sample,
						  .end = on_end,
						  .bad = on_bad,
						  .context = blocks};

	*blocks = (struct blocks){.builder = builder};
	if (perf_text_new(&visitor, &blocks->text) < 0)
		return -ENOMEM;
	buf_init(&blocks->head, SCRATCH_BYTES);
	buf_init(&blocks->facts, SCRATCH_BYTES);
	buf_init(&blocks->line, LINES_MAX_BYTES + 1);
	return 0;
}

void blocks_release(struct blocks *blocks)
{
	perf_text_free(blocks->text);
	number_table_release(&blocks->lines);
	number_table_release(&blocks->stacks);
	buf_release(&blocks->head);
	buf_release(&blocks->facts);
	buf_release(&blocks->line);
}

void blocks_start_file(struct blocks *blocks, uint32_t file, uint32_t folded)
{
	builder_start_file(blocks->builder, file);
	blocks->folded = folded;
	blocks->n_bad = 0;
	blocks->unended = false;
	blocks->stray_frames = false;
}

void blocks_start(struct blocks *blocks, uint64_t at)
{
	blocks->base_at = at;
	blocks->number = 1;
}

/* Add what there is of a line to the one that is kept. */
static void keep(struct blocks *blocks, const char *text, size_t len)
{
	size_t left = LINES_MAX_BYTES - blocks->line.len;

	if (len > left) {
		blocks->skip = true;
		len = left;
	}
	(void)buf_append(&blocks->line, text, len);
}

static void feed_folded(struct blocks *blocks, const struct line *line)
{
	struct perf_frame frames[PERF_TEXT_MAX_FRAMES];
	struct perf_text_sample sample;

	if (!line->cut && strlen(line->text) == line->len && folded_is_aside(line->text))
		return;
	if (!line->cut && strlen(line->text) == line->len &&
	    folded_line(line->text, blocks->folded, frames, &sample))
		on_sample(blocks, &sample);
	else
		on_bad(blocks, line->number);
}

/* The line that was kept is whole, or with UNENDED the last one, without a newline. */
static void feed_line(struct blocks *blocks, bool unended)
{
	struct line line = {.len = blocks->line.len,
			    .number = blocks->number,
			    .cut = blocks->skip,
			    .unended = unended};

	buf_add_char(&blocks->line, '\0');
	if (blocks->line.failed) {
		budget_fail(blocks->builder->uniques.budget, ENOMEM);
		return;
	}
	line.text = blocks->line.data;
	if (!blocks->folded)
		perf_text_line(blocks->text, &line);
	else
		feed_folded(blocks, &line);
	buf_clear(&blocks->line);
	blocks->skip = false;
	blocks->number++;
}

/* Line by line; where the first empty line ends, or END. */
static const char *feed(struct blocks *blocks, const char *text, const char *end, uint64_t at)
{
	const char *start = text;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		bool empty = newline == text && !blocks->line.len && !blocks->skip;

		blocks->at = at + (uint64_t)(text - start);
		keep(blocks, text, (size_t)((newline ? newline : end) - text));
		blocks->inside = !newline || !empty;
		if (!newline)
			return end;
		feed_line(blocks, false);
		text = newline + 1;
		if (empty)
			return text;
	}
	return end;
}

/* A line of a usual block as a string; false when it is none. */
static bool take_line(struct buf *buf, const char *text, const char *newline)
{
	size_t len = (size_t)(newline - text);

	if (len && text[len - 1] == '\r')
		len--;
	buf_clear(buf);
	return !memchr(text, '\0', len) && buf_append(buf, text, len) == 0 &&
	       buf_append(buf, "", 1) == 0;
}

/* The comments before the header line; false when there is one that is none of a sample's. */
static bool take_comments(struct blocks *blocks, const char **text, const char *end)
{
	buf_clear(&blocks->facts);
	while (*text < end && **text == '#') {
		const char *newline = memchr(*text, '\n', (size_t)(end - *text));

		if (!newline || newline - *text < 4 || (*text)[1] != ' ' ||
		    memchr(*text, '\0', (size_t)(newline - *text)))
			return false;
		if (perf_line_is_totals(*text)) {
			*text = newline + 1;
			continue;
		}
		if ((*text)[3] != ' ' || ((*text)[2] != 's' && (*text)[2] != 'l'))
			return false;
		/* without a "=" it is a comment, or the header line of a thread called "# s" */
		if ((*text)[2] == 's' && (!memchr(*text, '=', (size_t)(newline - *text)) ||
					  !take_line(&blocks->facts, *text + 4, newline)))
			return false;
		*text = newline + 1;
	}
	return true;
}

/* The frame of a line, known by its text or not. */
static bool take_frame(struct blocks *blocks, const char *text, const char *newline, uint64_t at,
		       uint32_t *ret_frame)
{
	struct text_hash key = text_hash(text, (size_t)(newline - text));
	uint32_t number = number_table_get(&blocks->lines, key);
	struct perf_frame frame;

	if (number == NUMBER_NONE) {
		/* what begins otherwise may be a header line; several frames are not usual */
		if (*text != '\t' || !take_line(&blocks->line, text, newline) ||
		    !perf_line_frame(blocks->line.data, &frame) ||
		    perf_line_is_unfolded(frame.name)) {
			buf_clear(&blocks->line);
			return false;
		}
		number = builder_frame(blocks->builder, &frame, at);
		buf_clear(&blocks->line);
		(void)number_table_put(&blocks->lines, blocks->builder->uniques.budget, key,
				       number);
	}
	*ret_frame = number;
	return true;
}

/* The stack of the lines of callers; N_FRAMES are there already. */
static bool take_callers(struct blocks *blocks, const char *text, const char *end, uint64_t at,
			 uint32_t *ret_node)
{
	struct text_hash key = text_hash(text, (size_t)(end - text));
	uint32_t frames[PERF_TEXT_MAX_FRAMES];
	uint32_t node = number_table_get(&blocks->stacks, key);
	size_t n = 0;

	if (node == NUMBER_NONE) {
		while (text < end) {
			const char *newline = memchr(text, '\n', (size_t)(end - text));

			/* one place is the innermost frame's */
			if (n == PERF_TEXT_MAX_FRAMES - 1 ||
			    !take_frame(blocks, text, newline, at, &frames[n]))
				return false;
			n++;
			text = newline + 1;
		}
		node = builder_stack(blocks->builder, 0, frames, n);
		(void)number_table_put(&blocks->stacks, blocks->builder->uniques.budget, key, node);
	}
	*ret_node = node;
	return true;
}

/* A block of one sample, whose last line ends at END with its newline; false: it is unusual. */
static bool take_usual(struct blocks *blocks, const char *text, const char *end, uint64_t at)
{
	struct perf_head head;
	struct perf_frame single;
	struct perf_facts facts;
	struct builder_sample sample = {.head = &head, .facts = &facts, .at = at};
	const char *newline;
	uint32_t frame;

	if (end - text > BLOCKS_MAX_BYTES || !take_comments(blocks, &text, end) || text == end)
		return false;
	newline = memchr(text, '\n', (size_t)(end - text));
	if (!take_line(&blocks->head, text, newline) || !perf_line_head(blocks->head.data, &head))
		return false;
	text = newline + 1;
	if (text < end) {
		newline = memchr(text, '\n', (size_t)(end - text));
		if (!take_frame(blocks, text, newline, at, &frame) ||
		    !take_callers(blocks, newline + 1, end, at, &sample.stack))
			return false;
		sample.stack = uniques_node(&blocks->builder->uniques, sample.stack, frame);
	} else if (perf_line_head_frame(&head, &single)) {
		if (perf_line_is_unfolded(single.name))
			return false;
		frame = builder_frame(blocks->builder, &single, at);
		sample.stack = builder_stack(blocks->builder, 0, &frame, 1);
	}
	/* not all of it: it holds the arrays of a line with 64 metrics */
	memset(&facts, 0, offsetof(struct perf_facts, metrics));
	facts.from_head = false;
	facts.n_words = 0;
	if (blocks->facts.len)
		perf_line_facts(blocks->facts.data, &facts);
	if (facts.n_metrics == 0)
		perf_line_inline_facts(head.rest, &facts);
	builder_add(blocks->builder, &sample);
	return true;
}

void blocks_take(struct blocks *blocks, const char *text, size_t len, uint64_t at)
{
	const char *start = text;
	const char *end = text + len;
	const char *counted = text;

	if (blocks->inside)
		counted = text = feed(blocks, text, end, at);
	while (text < end) {
		const char *empty;

		if (*text == '\n') { /* more than one empty line */
			text++;
			continue;
		}
		empty = newlines_empty(text, end);
		if (!empty)
			break; /* cannot be: the caller saw it */
		if (blocks->slow ||
		    !take_usual(blocks, text, empty + 1, at + (uint64_t)(text - start))) {
			blocks->number += newlines_count(counted, text);
			counted = feed(blocks, text, end, at + (uint64_t)(text - start));
		}
		text = empty + 2;
	}
	blocks->number += newlines_count(counted, end);
}

void blocks_take_part(struct blocks *blocks, const char *text, size_t len, uint64_t at)
{
	const char *end = text + len;

	for (const char *next = text; next < end;)
		next = feed(blocks, next, end, at + (uint64_t)(next - text));
}

void blocks_finish(struct blocks *blocks)
{
	struct perf_text_stats stats;

	if (blocks->line.len || blocks->skip)
		feed_line(blocks, true);
	perf_text_finish(blocks->text, &stats);
	blocks->unended = stats.unended;
	blocks->stray_frames = stats.stray_frames;
	blocks->inside = false;
}
