/* perf_text.c - lines to samples; bounded, and never misled by a bad line for long */
#include "flamescope/text/text.h"

#include "base/sample.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 64 }; /* before the frame of a line */

/*
 * A sample is kept as the text of its lines, one after the other in BYTES, and parsed where it
 * stands when it is whole: views never move while they are used.
 */
struct perf_text {
	struct perf_text_visitor visitor;
	struct perf_text_stats stats;
	bool open;    /* a header line has come */
	bool release; /* in a comment line, as wick writes a release of memory */
	bool cut;
	bool head_unended; /* its header line is the last of the file, without a newline */
	bool single;       /* the last sample was one line, which no empty line ends */
	uint64_t line;     /* of the header line */
	struct buf facts;  /* the "# s" line before it */
	struct buf bytes;  /* header line and frame lines, each with its NUL */
	struct buf next;   /* a line that may be the next sample's header */
	size_t n_frames;
	struct perf_frame frames[PERF_TEXT_MAX_FRAMES];
};

int perf_text_new(const struct perf_text_visitor *visitor, struct perf_text **ret_text)
{
	struct perf_text *text = calloc(1, sizeof(*text));

	if (!text)
		return -ENOMEM;
	text->visitor = *visitor;
	buf_init(&text->facts, LINES_MAX_BYTES + 1);
	buf_init(&text->bytes, PERF_TEXT_SAMPLE_BYTES);
	buf_init(&text->next, PERF_TEXT_SAMPLE_BYTES);
	*ret_text = text;
	return 0;
}

void perf_text_free(struct perf_text *text)
{
	if (!text)
		return;
	buf_release(&text->facts);
	buf_release(&text->bytes);
	buf_release(&text->next);
	free(text);
}

static void count_bad(struct perf_text *text, uint64_t number)
{
	if (text->stats.bad_lines < PERF_TEXT_BAD_LINES)
		text->stats.bad[text->stats.bad_lines] = number;
	text->stats.bad_lines++;
	if (text->visitor.bad)
		text->visitor.bad(text->visitor.context, number);
}

/* Whether a line is a frame, or ends in one as perf prints what has one frame only. */
static bool holds_frame(char *text)
{
	struct perf_head head = {.rest = text};
	struct perf_frame frame;

	if (perf_line_frame(text, &frame))
		return true;
	for (int i = 0; i < MAX_WORDS && *head.rest; i++) {
		head.rest += strcspn(head.rest, " \t");
		if (perf_line_head_frame(&head, &frame))
			return true;
		head.rest += strspn(head.rest, " \t");
	}
	return false;
}

/* What one frame line stands for. */
static void add_frames(struct perf_text *text, struct perf_text_sample *sample,
		       const struct perf_frame *frame)
{
	size_t left = PERF_TEXT_MAX_FRAMES - sample->n_frames;
	size_t n = perf_line_unfold(frame, text->frames + sample->n_frames, left);

	sample->cut |= n > left;
	sample->n_frames += n < left ? n : left;
}

/* The frame lines after the header line, each checked when it came in. */
static void parse_frames(struct perf_text *text, struct perf_text_sample *sample, char *at)
{
	struct perf_frame frame;

	for (size_t i = 0; i < text->n_frames; i++) {
		size_t len = strlen(at);

		if (perf_line_frame(at, &frame))
			add_frames(text, sample, &frame);
		at += len + 1;
	}
	sample->frames = text->frames;
}

/* The last line of a file without a newline may have been cut anywhere before its module's end. */
static bool is_cut_off(const struct perf_frame *frame)
{
	int depth = 0;

	for (const char *at = frame->name; *at; at++)
		depth += (*at == '(') - (*at == ')');
	return depth != 0 || (!frame->inlined && !*frame->module);
}

static void close_sample(struct perf_text *text)
{
	struct perf_text_sample sample = {.line = text->line, .cut = text->cut};
	char *head = text->bytes.data;
	struct perf_frame frame;
	size_t head_len;

	if (!text->open)
		return;
	text->open = false;
	head_len = strlen(head);
	parse_frames(text, &sample, head + head_len + 1);
	if (!perf_line_head(head, &sample.head))
		return; /* cannot be: it was parsed when it came in */
	text->single = !sample.n_frames && perf_line_head_frame(&sample.head, &frame) &&
		       !(text->head_unended && is_cut_off(&frame));
	if (text->single)
		add_frames(text, &sample, &frame);
	if (text->facts.len)
		perf_line_facts(text->facts.data, &sample.facts);
	if (sample.facts.n_metrics == 0)
		perf_line_inline_facts(sample.head.rest, &sample.facts);
	buf_clear(&text->facts);
	text->stats.samples++;
	if (text->visitor.sample)
		text->visitor.sample(text->visitor.context, &sample);
}

/* The text after "# NAME : ", or NULL. */
static const char *after(const char *line, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(line, "# ", 2) != 0 || strncmp(line + 2, name, len) != 0)
		return NULL;
	line += 2 + len;
	line += strspn(line, " ");
	if (*line != ':')
		return NULL;
	line++;
	return line + strspn(line, " ");
}

static bool take_head(struct perf_text *text, const struct line *line)
{
	struct perf_head head;
	struct buf old;

	buf_clear(&text->next);
	if (buf_append(&text->next, line->text, line->len + 1) < 0 ||
	    !perf_line_head(line->text, &head))
		return false;
	close_sample(text);
	old = text->bytes;
	text->bytes = text->next;
	text->next = old;
	text->open = true;
	text->cut = false;
	text->release = false;
	text->head_unended = line->unended;
	text->n_frames = 0;
	text->line = line->number;
	return true;
}

/*
 * The name of a thread may begin with `#`, and perf prints it where comments begin.  No name is
 * longer than the kernel's, which keeps the command lines of heads out.
 */
static bool take_hash_head(struct perf_text *text, const struct line *line)
{
	struct perf_head head;

	buf_clear(&text->next);
	return buf_append(&text->next, line->text, line->len + 1) == 0 &&
	       perf_line_head(text->next.data, &head) && strlen(head.comm) < SAMPLE_COMM_SIZE &&
	       take_head(text, line);
}

static void take_comment(struct perf_text *text, const struct line *line)
{
	const struct perf_text_visitor *visitor = &text->visitor;
	const char *json;

	if (strncmp(line->text, "# s ", 4) == 0 && strchr(line->text, '=')) {
		close_sample(text);
		buf_clear(&text->facts);
		(void)buf_append(&text->facts, line->text + 4, line->len - 4 + 1);
	} else if ((json = after(line->text, "wick-end")) != NULL) {
		close_sample(text);
		if (visitor->end)
			visitor->end(visitor->context, json);
	} else if ((json = after(line->text, "rate")) != NULL) {
		close_sample(text);
		if (visitor->rate)
			visitor->rate(visitor->context, json);
	} else if ((json = after(line->text, "wick")) != NULL) {
		close_sample(text);
		if (visitor->header)
			visitor->header(visitor->context, json);
	} else if ((perf_line_is_totals(line->text) || !take_hash_head(text, line)) &&
		   visitor->comment) {
		visitor->comment(visitor->context, line->text);
	}
}

/* Parsing cuts a line up, so it is kept first and tried on the line itself. */
static bool take_frame(struct perf_text *text, const struct line *line)
{
	size_t start = text->bytes.len;
	struct perf_frame frame;
	bool kept, cut_off;

	if (!text->open)
		return false;
	kept = text->n_frames < PERF_TEXT_MAX_FRAMES &&
	       buf_append(&text->bytes, line->text, line->len + 1) == 0;
	if (!perf_line_frame(line->text, &frame)) {
		text->bytes.len = start;
		text->bytes.failed = false;
		return false;
	}
	cut_off = line->unended && is_cut_off(&frame);
	if (kept && cut_off)
		text->bytes.len = start;
	text->n_frames += kept && !cut_off;
	text->cut |= !kept;
	text->bytes.failed = false;
	return true;
}

/* The text after "# f ", or after the "# f" that ends a release; NULL: it is another comment. */
static char *release_line(const struct line *line)
{
	if (strncmp(line->text, "# f", 3) != 0)
		return NULL;
	return line->text[3] == ' ' ? line->text + 4 : line->text[3] ? NULL : line->text + 3;
}

/* A line of a release; a comment of others that begins alike is none, and is passed over. */
static void take_release(struct perf_text *text, const struct line *given, char *inner)
{
	struct line line = {.text = inner,
			    .len = strlen(inner),
			    .number = given->number,
			    .unended = given->unended};

	if (*inner == '\0') {
		if (text->release)
			close_sample(text);
		text->release = false;
	} else if ((text->release && take_frame(text, &line)) || take_head(text, &line)) {
		text->release = true;
	}
}

/* Frames begin with a tab, but for those of other writers; names may be padded with blanks. */
static bool take_sample_line(struct perf_text *text, const struct line *line)
{
	if (line->text[0] == '\t')
		return take_frame(text, line) || take_head(text, line);
	/* a name may look like an address: `dd` */
	return take_head(text, line) ||
	       (!perf_line_is_side_band(line->text) && take_frame(text, line));
}

/* Without the carriage return that DOS and mail put there. */
static struct line strip(const struct line *line)
{
	struct line bare = *line;

	if (bare.len && bare.text[bare.len - 1] == '\r')
		bare.text[--bare.len] = '\0';
	return bare;
}

void perf_text_line(struct perf_text *text, const struct line *given)
{
	struct line bare = strip(given);
	const struct line *line = &bare;
	char *release;

	text->stats.lines++;
	if (line->cut || memchr(line->text, '\0', line->len)) {
		count_bad(text, line->number);
		text->cut |= text->open;
	} else if ((release = release_line(line)) != NULL) {
		take_release(text, line, release);
	} else if (line->text[0] == '#') {
		take_comment(text, line);
	} else if (line->text[strspn(line->text, " \t\r")] == '\0') {
		close_sample(text);
		buf_clear(&text->facts);
	} else if (!take_sample_line(text, line) && !perf_line_is_aside(line->text)) {
		text->stats.stray_frames |=
			!text->open && !text->stats.stray_frames && holds_frame(line->text);
		count_bad(text, line->number);
	}
}

void perf_text_finish(struct perf_text *text, struct perf_text_stats *ret_stats)
{
	text->stats.unended = text->open;
	text->single = false;
	close_sample(text);
	text->stats.unended &= !text->single;
	buf_clear(&text->facts);
	*ret_stats = text->stats;
	text->stats = (struct perf_text_stats){0};
}

void perf_text_no_times(struct err *err)
{
	(void)err_set(err, 0, "it has stacks, but no line that says the thread and the time");
	err_hint(err, "perf script -F comm,pid,tid,cpu,time,period,event,ip,sym,dso");
}

int perf_text_read(const char *path, const struct perf_text_visitor *visitor,
		   struct perf_text_stats *ret_stats, struct err *err)
{
	struct perf_text_stats stats = {0};
	struct perf_text *text = NULL;
	struct lines *lines = NULL;
	struct line line;
	int r = lines_open(path, &lines, err);

	if (r < 0)
		return r;
	r = perf_text_new(visitor, &text);
	if (r < 0) {
		lines_close(lines);
		return err_set(err, -r, "read '%s'", path);
	}
	while ((r = lines_next(lines, &line, err)) > 0)
		perf_text_line(text, &line);
	perf_text_finish(text, &stats);
	*ret_stats = stats;
	perf_text_free(text);
	lines_close(lines);
	return r;
}
