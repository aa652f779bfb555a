/* pack_write.c - a profile to sections */
#include "base/io.h"
#include "flamescope/pack/internal.h"
#include "flamescope/pack/pack.h"
#include "flamescope/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct writer {
	const struct profile *profile;
	size_t n;
	struct pack_section sections[PACK_MAX_SECTIONS];
	const void *data[PACK_MAX_SECTIONS];
	void *owned[PACK_MAX_SECTIONS + 2]; /* arrays that were made for it */
	size_t n_owned;
	bool failed;
};

static void add(struct writer *writer, const char *name, const void *data, size_t count,
		size_t size)
{
	struct pack_section *section = &writer->sections[writer->n];

	(void)strncpy(section->name, name, sizeof(section->name) - 1);
	section->count = count;
	section->size = (uint32_t)size;
	section->crc = (uint32_t)crc32_z(crc32(0, NULL, 0), data, (uint64_t)count * size);
	writer->data[writer->n++] = data;
}

/* An array that the section is written from; never NULL. */
static void *own(struct writer *writer, size_t count, size_t size)
{
	static uint64_t nothing;
	void *array = calloc(count + 1, size);

	if (array)
		writer->owned[writer->n_owned++] = array;
	else
		writer->failed = true;
	return array ? array : &nothing;
}

/*
 * One element a sample, or one for all of them when they are the same; of as few bytes as the
 * largest needs.  What is of SIZE is written from DATA itself if that lasts.
 */
static void add_column(struct writer *writer, const char *name, const void *data, size_t size,
		       bool lasts)
{
	size_t n = writer->profile->n_samples;
	const char *bytes = data;
	size_t width;
	void *narrow;

	/* all are the same when each is the one before it; stacks say how many samples there are */
	if (n > 1 && strcmp(name, "stack") != 0 && memcmp(bytes, bytes + size, (n - 1) * size) == 0)
		n = 1;
	width = column_width(data, n, size);
	if (width == size && lasts) {
		add(writer, name, data, n, size);
		return;
	}
	narrow = own(writer, n, width);
	if (writer->failed)
		return;
	column_copy(narrow, width, data, size, n);
	add(writer, name, narrow, n, width);
}

/* Whether STEPS make a smaller section than NUMBERS. */
static bool is_less(const uint64_t *steps, const uint64_t *numbers, size_t n)
{
	const size_t size = sizeof(*steps);

	if (n > 1 && memcmp(steps, steps + 1, (n - 1) * size) == 0)
		return memcmp(numbers, numbers + 1, (n - 1) * size) != 0;
	return column_width(steps, n, size) < column_width(numbers, n, size);
}

/* A field of an array of structs as a column of its own. */
static void add_field(struct writer *writer, const char *name, const void *structs, size_t stride,
		      size_t count, size_t size)
{
	char *column = own(writer, count, size);

	if (writer->failed)
		return;
	for (size_t i = 0; i < count; i++)
		memcpy(column + i * size, (const char *)structs + i * stride, size);
	add(writer, name, column, count, size);
}

static void add_strings(struct writer *writer)
{
	const struct profile *p = writer->profile;
	uint32_t *ends = own(writer, p->n_strings, sizeof(*ends));
	uint64_t bytes = 0;
	char *text;

	for (size_t i = 0; i < p->n_strings && !writer->failed; i++) {
		bytes += strlen(p->strings[i]);
		ends[i] = (uint32_t)bytes;
	}
	if (bytes > UINT32_MAX)
		writer->failed = true; /* four GiB of names */
	text = own(writer, writer->failed ? 0 : (size_t)bytes, 1);
	if (writer->failed)
		return;
	for (size_t i = 0; i < p->n_strings; i++)
		memcpy(text + (i ? ends[i - 1] : 0), p->strings[i], strlen(p->strings[i]));
	add(writer, "strings", text, (size_t)bytes, 1);
	add(writer, "string_ends", ends, p->n_strings, sizeof(*ends));
}

#define ADD_FIELD(writer, name, array, count, field)                                               \
	add_field(writer, name, &(array)->field, sizeof(*(array)), count, sizeof((array)->field))

static void add_uniques(struct writer *writer)
{
	const struct profile *p = writer->profile;

	ADD_FIELD(writer, "frame_name", p->frames, p->n_frames, name);
	ADD_FIELD(writer, "frame_module", p->frames, p->n_frames, module);
	ADD_FIELD(writer, "frame_inlined", p->frames, p->n_frames, inlined);
	ADD_FIELD(writer, "frame_addr", p->frames, p->n_frames, addr);
	ADD_FIELD(writer, "frame_offset", p->frames, p->n_frames, offset);
	ADD_FIELD(writer, "node_parent", p->nodes, p->n_nodes, parent);
	ADD_FIELD(writer, "node_frame", p->nodes, p->n_nodes, frame);
}

static void add_facts(struct writer *writer)
{
	const struct profile *p = writer->profile;
	struct pack_facts *facts = own(writer, 1, sizeof(*facts));

	if (writer->failed)
		return;
	*facts = (struct pack_facts){
		.start_ns = p->start_ns,
		.length_ns = p->length_ns,
		.epoch_offset_ns = (uint64_t)p->epoch_offset_ns,
		.flags = (p->has_epoch ? PACK_HAS_EPOCH : 0) | (p->is_wick ? PACK_IS_WICK : 0) |
			 (p->has_times ? PACK_HAS_TIMES : 0),
		.hz = p->hz,
		.command = p->command,
		.captured = p->captured,
	};
	add(writer, "facts", facts, sizeof(*facts) / sizeof(uint64_t), sizeof(uint64_t));
	ADD_FIELD(writer, "tag_name", p->tags, p->n_tags, name);
	ADD_FIELD(writer, "metric_name", p->metrics, p->n_metrics, name);
	ADD_FIELD(writer, "metric_unit", p->metrics, p->n_metrics, unit);
	add(writer, "event_name", p->event_names, p->n_events, sizeof(*p->event_names));
}

static void add_kinds(struct writer *writer)
{
	const struct profile *p = writer->profile;
	uint8_t *kinds = own(writer, p->n_metrics, sizeof(*kinds));

	for (size_t i = 0; !writer->failed && i < p->n_metrics; i++)
		kinds[i] = (uint8_t)p->metrics[i].kind;
	if (!writer->failed)
		add(writer, "metric_kind", kinds, p->n_metrics, sizeof(*kinds));
}

/* A text and its NUL, to TO; without TO only their bytes are counted. */
static size_t put_text(char *to, size_t at, const char *text)
{
	const size_t n = strlen(text) + 1;

	if (to)
		memcpy(to + at, text, n);
	return at + n;
}

static size_t put_texts(char *to, const struct profile *p)
{
	size_t at = 0;

	for (size_t i = 0; i < p->n_files; i++) {
		at = put_text(to, at, p->files[i].path);
		at = put_text(to, at, p->files[i].problem ? p->files[i].problem : "");
	}
	return at;
}

static void add_files(struct writer *writer)
{
	const struct profile *p = writer->profile;
	const size_t n_text = put_texts(NULL, p);
	struct pack_file *files = own(writer, p->n_files, sizeof(*files));
	char *text = own(writer, n_text, 1);

	if (writer->failed)
		return;
	for (size_t i = 0; i < p->n_files; i++) {
		const struct profile_file *from = &p->files[i];

		files[i] = (struct pack_file){.bytes = from->bytes,
					      .samples = from->samples,
					      .bad_lines = from->bad_lines,
					      .lost = from->lost,
					      .flags = (from->cut ? PACK_CUT : 0) |
						       (from->unended ? PACK_UNENDED : 0) |
						       (from->problem ? PACK_HAS_PROBLEM : 0)};
		memcpy(files[i].bad, from->bad, sizeof(files[i].bad));
	}
	(void)put_texts(text, p);
	add(writer, "file_facts", files, p->n_files * sizeof(*files) / sizeof(uint64_t),
	    sizeof(uint64_t));
	add(writer, "file_text", text, n_text, 1);
}

static void add_times(struct writer *writer, uint64_t *steps)
{
	const struct profile *p = writer->profile;

	for (size_t i = 0; i < p->n_samples; i++)
		steps[i] = p->times_ns[i] - (i ? p->times_ns[i - 1] : 0);
	if (is_less(steps, p->times_ns, p->n_samples))
		add_column(writer, "time" PACK_STEP, steps, sizeof(*steps), false);
	else
		add_column(writer, "time", p->times_ns, sizeof(*p->times_ns), true);
}

/* What a heatmap is made from, up to the section that pack.h names. */
static void add_first(struct writer *writer, uint64_t *steps)
{
	const struct profile *p = writer->profile;

	add_facts(writer);
	add_kinds(writer);
	add_files(writer);
	add_strings(writer);
	ADD_FIELD(writer, "thread_comm", p->thread_list, p->n_threads, comm);
	ADD_FIELD(writer, "thread_host", p->thread_list, p->n_threads, host);
	ADD_FIELD(writer, "thread_pid", p->thread_list, p->n_threads, pid);
	ADD_FIELD(writer, "thread_tid", p->thread_list, p->n_threads, tid);
	if (writer->failed)
		return;
	add_times(writer, steps);
	add_column(writer, "weight", p->weights, sizeof(*p->weights), true);
}

static void add_metric(struct writer *writer, size_t number, uint64_t *folded, uint64_t *steps)
{
	const struct profile *p = writer->profile;
	const struct profile_metric *metric = &p->metrics[number];
	char name[PACK_NAME_BYTES];
	bool has_steps;

	for (size_t i = 0; i < p->n_samples; i++)
		folded[i] = column_fold(metric->deltas[i]);
	pack_name(name, "delta", number, "");
	add_column(writer, name, folded, sizeof(*folded), false);
	for (size_t i = 0; i < p->n_samples; i++)
		folded[i] = column_fold(metric->values[i]);
	has_steps =
		column_value_steps(p, metric, steps) == 0 && is_less(steps, folded, p->n_samples);
	pack_name(name, "value", number, has_steps ? PACK_STEP : "");
	add_column(writer, name, has_steps ? steps : folded, sizeof(*folded), false);
}

static void add_columns(struct writer *writer, uint64_t *steps)
{
	const struct profile *p = writer->profile;
	uint64_t *folded = own(writer, p->n_samples, sizeof(*folded));

	if (writer->failed)
		return;
	add_column(writer, "thread", p->threads, sizeof(*p->threads), true);
	add_column(writer, "stack", p->stacks, sizeof(*p->stacks), true);
	add_column(writer, "cpu", p->cpus, sizeof(*p->cpus), true);
	add_column(writer, "event", p->events, sizeof(*p->events), true);
	for (size_t i = 0; i < p->n_tags; i++) {
		char name[PACK_NAME_BYTES];

		pack_name(name, "tag", i, "");
		add_column(writer, name, p->tags[i].codes, sizeof(*p->tags[i].codes), true);
		pack_name(name, "tag", i, PACK_WORD);
		add(writer, name, p->tags[i].values, p->tags[i].n_values,
		    sizeof(*p->tags[i].values));
	}
	for (size_t i = 0; i < p->n_metrics; i++)
		add_metric(writer, i, folded, steps);
}

static void add_all(struct writer *writer)
{
	const size_t n = writer->profile->n_samples;
	uint64_t *steps = own(writer, n, sizeof(*steps));

	if (!writer->failed)
		add_first(writer, steps);
	add_uniques(writer);
	if (!writer->failed)
		add_columns(writer, steps);
}

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + 7) & ~UINT64_C(7);
}

static int write_out(struct writer *writer, int fd)
{
	static const char zeros[8];
	struct pack_head head = {.version = PACK_VERSION, .n_sections = (uint32_t)writer->n};
	uint64_t at = sizeof(head) + writer->n * sizeof(*writer->sections);
	int r;

	memcpy(head.magic, pack_magic, sizeof(head.magic));
	for (size_t i = 0; i < writer->n; i++) {
		writer->sections[i].offset = at;
		at = aligned(at + writer->sections[i].count * writer->sections[i].size);
	}
	head.bytes = at;
	r = io_write_all(fd, &head, sizeof(head), NULL);
	if (r == 0)
		r = io_write_all(fd, writer->sections, writer->n * sizeof(*writer->sections), NULL);
	for (size_t i = 0; i < writer->n && r == 0; i++) {
		uint64_t bytes = writer->sections[i].count * writer->sections[i].size;

		r = io_write_all(fd, writer->data[i], bytes, NULL);
		if (r == 0)
			r = io_write_all(fd, zeros, aligned(bytes) - bytes, NULL);
	}
	return r;
}

int pack_write(const struct profile *profile, int fd, struct err *err)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	int r = -ENOMEM;

	if (writer) {
		writer->profile = profile;
		add_all(writer);
		r = writer->failed ? -ENOMEM : write_out(writer, fd);
	}
	for (size_t i = 0; writer && i < writer->n_owned; i++)
		free(writer->owned[i]);
	free(writer);
	return r < 0 ? err_set(err, -r, "write the profile") : 0;
}
