/* perf_script.c - one sample as text: comment, header line, frames, empty line */
#include "output/text/perf_script.h"

#include "base/buf.h"
#include "base/sample.h"

#include <inttypes.h>
#include <string.h>

/* ';' separates frames, and readers take a word with a ',' for a metric. */
static void add_encoded(struct buf *buf, const char *text, size_t len, const char *separators)
{
	const char *end = text + strnlen(text, len);
	size_t n;

	while (text + (n = strcspn(text, separators)) < end) {
		sanitise_word(buf, text, n);
		buf_add(buf, text[n] == ';' ? "%3B" : "%2C");
		text += n + 1;
	}
	sanitise_word(buf, text, (size_t)(end - text));
}

static void add_name(struct buf *buf, const char *name)
{
	add_encoded(buf, name, SANITISE_MAX_NAME, ";,");
}

static void add_frame(struct buf *buf, const struct frame *frame)
{
	const char *slash = frame->module ? strrchr(frame->module, '/') : NULL;
	const char *module = slash ? slash + 1 : frame->module;

	if (frame->symbol) {
		add_name(buf, frame->symbol);
		return;
	}
	if (!module || module[0] == '[') {
		add_name(buf, module ? module : "[unknown]");
		return;
	}
	buf_add_char(buf, '[');
	add_name(buf, module);
	buf_add_char(buf, ']');
}

void perf_script_waker(struct buf *buf, const struct sample *sample)
{
	const struct frame *frames;
	size_t start = buf->len;

	if (sample->waker_tid <= 0)
		return;
	frames = sample->frames + sample->n_frames;
	buf_add(buf, " waker=");
	buf_add_dec(buf, (uint32_t)sample->waker_tid, 0, ' ');
	for (size_t i = 0; i < sample->n_waker && buf->len - start < PERF_SCRIPT_WAKER_BYTES; i++) {
		buf_add_char(buf, i ? ';' : ':');
		add_frame(buf, &frames[i]);
	}
}

static void add_label(struct buf *buf, const struct sample_label *label)
{
	buf_add_char(buf, ' ');
	buf_add(buf, label->key);
	buf_add_char(buf, '=');
	add_encoded(buf, label->value, SAMPLE_LABEL_BYTES, ",");
}

void perf_script_labels(struct buf *buf, const struct sample *sample)
{
	static const char *const first[] = {"trace", "span", "identity", "task", "tier"};
	uint32_t written = 0; /* bit i: labels[i] */

	for (size_t k = 0; k < sizeof(first) / sizeof(first[0]); k++) {
		for (size_t i = 0; i < sample->n_labels && i < SAMPLE_MAX_LABELS; i++) {
			if (strcmp(sample->labels[i].key, first[k]) != 0)
				continue;
			add_label(buf, &sample->labels[i]);
			written |= UINT32_C(1) << i;
		}
	}
	for (size_t i = 0; i < sample->n_labels && i < SAMPLE_MAX_LABELS; i++)
		if (!(written >> i & 1U))
			add_label(buf, &sample->labels[i]);
}

enum {
	US_A_SECOND = 1000000,
	NS_A_SECOND = 1000000000,
	MAX_AHEAD_PART = 100,
};

static const char release_mark[] = "# f ";
static const char unknown_frame[] = "\t               0 [unknown] ([unknown])\n";
static const char truncated_frame[] = "\t               0 [truncated] ([unknown])\n";

static void add_signed(struct buf *buf, int64_t value)
{
	if (value < 0)
		buf_add_char(buf, '-');
	buf_add_dec(buf, value < 0 ? -(uint64_t)value : (uint64_t)value, 0, ' ');
}

/* Left-aligned, as %-5d. */
static void add_left(struct buf *buf, uint64_t value, size_t width)
{
	size_t start = buf->len;

	buf_add_dec(buf, value, 0, ' ');
	while (!buf->failed && buf->len - start < width)
		buf_add_char(buf, ' ');
}

/* Whether the thread has a sample at the last stamp, or more threads have than are remembered. */
static bool has_printed(const struct perf_script_file *file, pid_t tid)
{
	for (size_t i = 0; i < file->n_equal; i++)
		if (file->equal[i] == tid)
			return true;
	return file->n_equal == PERF_SCRIPT_MAX_EQUAL;
}

/* Never a whole second: FlameScope dies on it when it is the last stamp of a file. */
static uint64_t no_whole_second(uint64_t stamp, uint64_t a_second)
{
	return stamp + (stamp % a_second == 0);
}

/*
 * The stamp to print, in units of the last printed digit: never earlier than the one before, and
 * never the thread's last one, as speedscope gives samples of a thread at one time no width.
 * Stamps run ahead of the samples' times by MAX_AHEAD_PART of a second at most.
 */
static uint64_t next_stamp(const struct perf_script_options *options, struct perf_script_file *file,
			   const struct sample *sample)
{
	const uint64_t a_second = options->ns ? NS_A_SECOND : US_A_SECOND;
	uint64_t stamp = no_whole_second(sample->time_ns / (NS_A_SECOND / a_second), a_second);

	if (stamp < file->latest)
		file->n_late++;
	else
		file->latest = stamp;
	if (stamp < file->last_stamp)
		stamp = file->last_stamp;
	if (stamp == file->last_stamp && !options->own_times && has_printed(file, sample->tid) &&
	    stamp - file->latest < a_second / MAX_AHEAD_PART)
		stamp = no_whole_second(stamp + 1, a_second);
	if (stamp > file->last_stamp)
		file->n_equal = 0;
	if (file->n_equal < PERF_SCRIPT_MAX_EQUAL)
		file->equal[file->n_equal++] = sample->tid;
	file->last_stamp = stamp;
	return stamp;
}

/* Of a sample in comments: its own, though none before what was written of the time before it. */
static uint64_t hidden_stamp(const struct perf_script_options *options,
			     const struct perf_script_file *file, const struct sample *sample)
{
	uint64_t stamp =
		sample->time_ns / (NS_A_SECOND / (options->ns ? NS_A_SECOND : US_A_SECOND));

	return stamp >= file->latest && stamp < file->last_stamp ? file->last_stamp : stamp;
}

static struct metric_value metric_of(const struct sample *sample, size_t i)
{
	if (i < sample->n_metrics && i < SAMPLE_MAX_METRICS)
		return sample->metrics[i];
	return (struct metric_value){0, 0};
}

static bool writes_metric(const struct perf_script_options *options, size_t i)
{
	return i < SAMPLE_MAX_METRICS && (options->metrics_mask >> i & 1U);
}

static void add_comment(const struct perf_script_options *options, const struct sample *sample,
			bool comm_altered, struct buf *buf)
{
	buf_add(buf, "# s st=");
	buf_add(buf, groups_state_word(sample->state));
	if (sample->wait) {
		buf_add(buf, " wait=");
		sanitise_word(buf, sample->wait, strlen(sample->wait));
	}
	if (sample->object[0]) {
		buf_add(buf, " on=");
		sanitise_word(buf, sample->object, strnlen(sample->object, SAMPLE_OBJECT_SIZE));
	}
	if (sample->op) {
		buf_add(buf, " op=");
		buf_add(buf, sample->op);
	}
	perf_script_waker(buf, sample);
	perf_script_labels(buf, sample);
	for (size_t i = 0; i < options->n_metrics; i++) {
		struct metric_value metric = metric_of(sample, i);

		if (!writes_metric(options, i) || options->metrics_as != METRICS_AS_COMMENT)
			continue;
		buf_add_char(buf, ' ');
		buf_add(buf, options->metrics[i].name);
		buf_add_char(buf, '=');
		add_signed(buf, metric.value);
		buf_add_char(buf, ',');
		add_signed(buf, metric.delta);
	}
	if (comm_altered) {
		buf_add(buf, " comm=");
		sanitise_word(buf, sample->comm, strnlen(sample->comm, sizeof(sample->comm)));
	}
	buf_add_char(buf, '\n');
}

static void add_inline_metrics(const struct perf_script_options *options,
			       const struct sample *sample, struct buf *buf)
{
	bool any = false;

	for (size_t i = 0; i < options->n_metrics; i++) {
		struct metric_value metric = metric_of(sample, i);

		if (!writes_metric(options, i))
			continue;
		buf_add(buf, "\tmetric_wick_");
		buf_add(buf, options->metrics[i].name);
		buf_add(buf, ": ");
		add_signed(buf, metric.value);
		buf_add(buf, ", ");
		add_signed(buf, metric.delta);
		any = true;
	}
	if (!any)
		buf_add_char(buf, ' ');
}

static void add_header_line(const struct perf_script_options *options, const char *event,
			    const char *comm, uint64_t stamp, const struct sample *sample,
			    struct buf *buf)
{
	uint64_t a_second = options->ns ? NS_A_SECOND : US_A_SECOND;

	buf_add(buf, comm);
	buf_add_char(buf, ' ');
	if (sample->pid >= 0) {
		buf_add_dec(buf, (uint32_t)sample->pid, 5, ' ');
		buf_add_char(buf, '/');
	}
	add_left(buf, (uint32_t)sample->tid, 5);
	if (sample->cpu != SAMPLE_NO_CPU) {
		buf_add(buf, " [");
		buf_add_dec(buf, sample->cpu, 3, '0');
		buf_add_char(buf, ']');
	}
	buf_add_char(buf, ' ');
	buf_add_dec(buf, stamp / a_second, 5, ' ');
	buf_add_char(buf, '.');
	buf_add_dec(buf, stamp % a_second, options->ns ? 9 : 6, '0');
	buf_add(buf, ": ");
	buf_add_dec(buf, sample->weight, 10, ' ');
	buf_add_char(buf, ' ');
	buf_add(buf, event);
	buf_add_char(buf, ':');
	if (options->metrics_as == METRICS_AS_INLINE)
		add_inline_metrics(options, sample, buf);
	else
		buf_add_char(buf, ' ');
	buf_add_char(buf, '\n');
}

/* The start of a frame line, "\t%16lx ", in one piece: this is done for every frame. */
static void add_address(struct buf *buf, uint64_t addr)
{
	char text[18];
	char *at = text + sizeof(text);

	*--at = ' ';
	do {
		*--at = "0123456789abcdef"[addr & 15];
		addr >>= 4;
	} while (addr);
	while (at > text + 1)
		*--at = ' ';
	*--at = '\t';
	(void)buf_append(buf, text, sizeof(text));
}

/* "+0x%lx (" after a name. */
static void add_offset(struct buf *buf, uint64_t offset)
{
	char text[21];
	char *at = text + sizeof(text);

	*--at = '(';
	*--at = ' ';
	do {
		*--at = "0123456789abcdef"[offset & 15];
		offset >>= 4;
	} while (offset);
	*--at = 'x';
	*--at = '0';
	*--at = '+';
	(void)buf_append(buf, at, (size_t)(text + sizeof(text) - at));
}

/* A frame without a symbol is named for its module, so that `wick symbolize` can name it later. */
static void add_unnamed(const struct frame *frame, struct buf *buf)
{
	size_t start = buf->len;

	if (!frame->module || frame->module_offset == 0) {
		buf_add(buf, "[unknown] (");
		return;
	}
	if (frame->module[0] != '[')
		buf_add_char(buf, '[');
	if (!sanitise_basename(buf, frame->module)) {
		buf->len = start;
		buf_add(buf, "[unknown] (");
		return;
	}
	if (frame->module[0] != '[')
		buf_add_char(buf, ']');
	add_offset(buf, frame->module_offset);
}

void perf_script_frame(const struct frame *frame, struct buf *buf)
{
	bool named;

	add_address(buf, frame->addr);
	named = frame->symbol && sanitise_symbol(buf, frame->symbol);
	if (frame->inlined) {
		buf_add(buf, named ? " (inlined)\n" : "[unknown] (inlined)\n");
		return;
	}
	if (named)
		add_offset(buf, frame->offset);
	else
		add_unnamed(frame, buf);
	if (!frame->module || !sanitise_module(buf, frame->module))
		buf_add(buf, "[unknown]");
	buf_add(buf, ")\n");
}

/* Whether OUTER is the same function once more: one that has called itself. */
static bool calls_itself(const struct frame *inner, const struct frame *outer)
{
	if (!inner->symbol || !outer->symbol || strcmp(inner->symbol, outer->symbol) != 0)
		return false;
	if (inner->inlined || outer->inlined || !inner->module || !outer->module)
		return true;
	return strcmp(inner->module, outer->module) == 0;
}

/* The first frame from AT on that is to be written; n_frames when there is none. */
static size_t next_frame(const struct perf_script_options *options, const struct sample *sample,
			 size_t at)
{
	while (options->flatten && at > 0 && at < sample->n_frames &&
	       calls_itself(&sample->frames[at - 1], &sample->frames[at]))
		at++;
	return at;
}

/* The frames of a sample that are written. */
struct cut {
	size_t n;       /* lines */
	bool truncated; /* and a last one that says so */
};

/* Lines of at most so many functions, and of no more than all. */
static size_t fitting(const struct perf_script_options *options, const struct sample *sample,
		      size_t functions, size_t lines, bool *ret_all)
{
	size_t at = 0;
	size_t n = 0;

	while (at < sample->n_frames && functions && n < lines) {
		functions -= !sample->frames[at].inlined;
		at = next_frame(options, sample, at + 1);
		n++;
	}
	*ret_all = at >= sample->n_frames;
	return n;
}

/*
 * Consumers drop or refuse samples without frames; FlameScope dies of stacks too deep, so the
 * groups' frames count among the most there may be.
 */
static struct cut cut_frames(const struct perf_script_options *options, const struct sample *sample)
{
	size_t functions = SAMPLE_MAX_FRAMES - options->groups.n;
	size_t lines = PERF_SCRIPT_MAX_LINES - options->groups.n;
	struct cut cut = {.n = sample->n_frames, .truncated = sample->truncated};
	bool all;

	if (cut.n <= functions && !options->flatten && !cut.truncated)
		return cut;
	cut.n = fitting(options, sample, functions, lines, &all);
	cut.truncated |= !all;
	if (cut.truncated)
		cut.n = fitting(options, sample, functions - 1, lines - 1, &all);
	return cut;
}

static void add_frames(const struct perf_script_options *options, const struct sample *sample,
		       const struct cut *cut, struct buf *buf)
{
	size_t at = 0;

	for (size_t n = 0; n < cut->n; n++) {
		perf_script_frame(&sample->frames[at], buf);
		at = next_frame(options, sample, at + 1);
	}
	if (cut->n == 0)
		buf_add(buf, unknown_frame);
	if (cut->truncated)
		buf_add(buf, truncated_frame);
	groups_add(buf, &options->groups, options->metrics, sample);
}

void perf_script_line(const struct frame *frame, struct buf *buf)
{
	if (!frame->file || !*frame->file) {
		buf_add_char(buf, '-');
		return;
	}
	sanitise_word(buf, frame->file, strnlen(frame->file, SANITISE_MAX_NAME));
	buf_add_char(buf, ':');
	buf_add_dec(buf, frame->line, 0, ' ');
}

/* "# l FILE:LINE - FILE:LINE": a word for each frame line, in their order. */
static void add_lines(const struct perf_script_options *options, const struct sample *sample,
		      const struct cut *cut, struct buf *buf)
{
	size_t at = 0;

	buf_add(buf, "# l");
	for (size_t n = 0; n < cut->n; n++) {
		buf_add_char(buf, ' ');
		perf_script_line(&sample->frames[at], buf);
		at = next_frame(options, sample, at + 1);
	}
	if (cut->n == 0)
		buf_add(buf, " -");
	buf_add_char(buf, '\n');
}

/* Put the mark before each line from START on; the empty line is the mark alone. */
static void comment_out(struct buf *buf, size_t start)
{
	size_t mark = sizeof(release_mark) - 1;
	size_t end = buf->len;
	size_t to;

	for (size_t i = start; !buf->failed && i < end; i++)
		if (buf->data[i] == '\n')
			buf_add(buf, release_mark);
	if (buf->failed)
		return;
	to = buf->len;
	for (size_t i = end; i-- > start;) {
		buf->data[--to] = buf->data[i];
		if (i > start && buf->data[i - 1] != '\n')
			continue;
		to -= mark;
		memcpy(buf->data + to, release_mark, mark);
	}
	buf->data[buf->len - 2] = '\n'; /* no blank at the end of a line */
	buf->len--;
}

bool perf_script_hides(const struct perf_script_options *options, const struct sample *sample)
{
	return sample->op && strcmp(sample->op, "free") == 0 &&
	       options->metrics_as != METRICS_AS_INLINE;
}

void perf_script_sample(const struct perf_script_options *options, struct perf_script_file *file,
			const struct sample *sample, struct buf *buf)
{
	char comm[SANITISED_COMM_SIZE];
	const char *first = comm;
	struct cut cut = cut_frames(options, sample);
	bool hidden = perf_script_hides(options, sample);
	bool altered;
	size_t start;

	if (hidden && options->bare)
		return;
	altered = sanitise_comm(sample->comm, sizeof(sample->comm), sample->tid, comm);
	if (options->metrics_as == METRICS_AS_INLINE && !options->keep_comm) {
		first = groups_state_word(sample->state);
		altered = true;
	}
	if (!options->bare && !options->own_facts)
		add_comment(options, sample, altered, buf);
	if (!options->bare && options->srcline)
		add_lines(options, sample, &cut, buf);
	start = buf->len;
	add_header_line(options, file->event ? file->event : "cpu-clock", first,
			hidden ? hidden_stamp(options, file, sample)
			       : next_stamp(options, file, sample),
			sample, buf);
	add_frames(options, sample, &cut, buf);
	buf_add_char(buf, '\n');
	if (hidden)
		comment_out(buf, start);
	file->n_samples++;
	file->n_releases += hidden;
	file->weight += sample->weight;
}
