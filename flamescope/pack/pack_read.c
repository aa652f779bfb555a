/* pack_read.c - sections to a profile, none of them believed */
#include "flamescope/pack/internal.h"
#include "flamescope/pack/pack.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The largest of N numbers is below COUNT.  Taken as a whole: it is one pass without branches. */
static bool all_below(const uint32_t *numbers, size_t n, size_t count)
{
	uint32_t largest = 0;

	for (size_t i = 0; i < n; i++)
		largest = numbers[i] > largest ? numbers[i] : largest;
	return n == 0 || largest < count;
}

static const char *check_uniques(const struct profile *p)
{
	for (size_t i = 0; i < p->n_frames; i++)
		if (p->frames[i].name >= p->n_strings || p->frames[i].module >= p->n_strings)
			return "a function's name is not there";
	for (size_t i = 1; i < p->n_nodes; i++)
		if (p->nodes[i].parent >= i || p->nodes[i].frame >= p->n_frames)
			return "a stack is not there";
	for (size_t i = 0; i < p->n_threads; i++)
		if (p->thread_list[i].comm >= p->n_strings ||
		    p->thread_list[i].host >= p->n_strings)
			return "a thread's name is not there";
	return NULL;
}

static bool tag_is_good(const struct profile *p, const struct profile_tag *tag)
{
	if (tag->name >= p->n_strings || !all_below(tag->values, tag->n_values, p->n_strings))
		return false;
	for (size_t i = 0; i < p->n_samples; i++)
		if (tag->codes[i] >= tag->n_values && tag->codes[i] != PROFILE_TAG_OTHER)
			return false;
	return true;
}

static const char *check_words(const struct profile *p)
{
	if (p->command >= p->n_strings || p->captured >= p->n_strings ||
	    !all_below(p->event_names, p->n_events, p->n_strings))
		return "a word is not there";
	for (size_t i = 0; i < p->n_tags; i++)
		if (!tag_is_good(p, &p->tags[i]))
			return "a tag's value is not there";
	for (size_t i = 0; i < p->n_metrics; i++)
		if (p->metrics[i].name >= p->n_strings || p->metrics[i].unit >= p->n_strings)
			return "a metric's name is not there";
	return NULL;
}

static const char *check_samples(const struct profile *p)
{
	uint64_t before = 0;

	if (!all_below(p->threads, p->n_samples, p->n_threads))
		return "a sample's thread is not there";
	if (!all_below(p->stacks, p->n_samples, p->n_nodes))
		return "a sample's stack is not there";
	for (size_t i = 0; i < p->n_samples; i++) {
		if (p->events[i] >= p->n_events)
			return "a sample's event is not there";
		if (p->times_ns[i] < before)
			return "its samples are not in the order of time";
		before = p->times_ns[i];
	}
	if (before != p->length_ns || (p->n_samples && p->times_ns[0] != 0))
		return "its times do not fit its length";
	if (p->length_ns > UINT64_MAX - p->start_ns)
		return "its times are past the end of all time";
	return NULL;
}

/*
 * Whether all numbers in a profile are of things that it has. Returns NULL; else what is wrong.
 */
static const char *pack_check(const struct profile *profile)
{
	const char *wrong = check_uniques(profile);

	if (!wrong)
		wrong = check_words(profile);
	return wrong ? wrong : check_samples(profile);
}

/* A whole number up to MAX; what is none is 0, as if it were not there. */
static uint64_t number(const json_t *object, const char *name, uint64_t max)
{
	const json_t *value = json_object_get(object, name);
	json_int_t n = json_is_integer(value) ? json_integer_value(value) : 0;

	return n > 0 && (uint64_t)n <= max ? (uint64_t)n : 0;
}

static uint32_t string_number(const json_t *value)
{
	json_int_t n = json_is_integer(value) ? json_integer_value(value) : -1;

	return n >= 0 && n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static bool truth(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

/* A number that was too large for JSON's, as a decimal string. */
static bool decimal(const json_t *object, const char *name, bool is_signed, uint64_t *ret_value)
{
	const char *text = json_string_value(json_object_get(object, name));
	char *end;

	if (!text || (*text != '-' && (*text < '0' || *text > '9')) || (!is_signed && *text == '-'))
		return false;
	errno = 0;
	*ret_value = is_signed ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
	return errno == 0 && !*end;
}

static int read_lists(struct profile *profile, const json_t *meta)
{
	const json_t *tags = json_object_get(meta, "tags");
	const json_t *metrics = json_object_get(meta, "metrics");
	const json_t *events = json_object_get(meta, "events");

	if (json_array_size(tags) > PROFILE_MAX_TAGS ||
	    json_array_size(metrics) > PROFILE_MAX_METRICS ||
	    json_array_size(events) > PROFILE_MAX_EVENTS)
		return -EBADMSG;
	for (size_t i = 0; i < json_array_size(tags); i++)
		profile->tags[profile->n_tags++].name =
			string_number(json_object_get(json_array_get(tags, i), "name"));
	for (size_t i = 0; i < json_array_size(metrics); i++) {
		const json_t *from = json_array_get(metrics, i);
		const char *kind = json_string_value(json_object_get(from, "kind"));

		profile->metrics[profile->n_metrics++] = (struct profile_metric){
			.name = string_number(json_object_get(from, "name")),
			.unit = string_number(json_object_get(from, "unit")),
			.kind = kind && strcmp(kind, "gauge") == 0 ? METRIC_GAUGE : METRIC_COUNTER};
	}
	for (size_t i = 0; i < json_array_size(events); i++)
		profile->event_names[profile->n_events++] =
			string_number(json_array_get(events, i));
	return 0;
}

static char *copy(struct profile *profile, const json_t *value)
{
	char *text = json_is_string(value) ? strdup(json_string_value(value)) : NULL;

	return text && profile_keep(profile, text) == 0 ? text : NULL;
}

static int read_file(struct profile *profile, const json_t *from, struct profile_file *file)
{
	const json_t *bad = json_object_get(from, "bad");
	const json_t *problem = json_object_get(from, "problem");

	file->path = copy(profile, json_object_get(from, "path"));
	file->problem = json_is_string(problem) ? copy(profile, problem) : NULL;
	if (!file->path || (json_is_string(problem) && !file->problem) ||
	    !decimal(from, "lost", false, &file->lost))
		return -EBADMSG;
	file->bytes = number(from, "bytes", INT64_MAX);
	file->samples = number(from, "samples", INT64_MAX);
	file->bad_lines = number(from, "bad_lines", INT64_MAX);
	for (size_t i = 0; i < json_array_size(bad) && i < PROFILE_BAD_LINES; i++)
		file->bad[i] = (uint64_t)json_integer_value(json_array_get(bad, i));
	file->cut = truth(from, "cut");
	file->unended = truth(from, "unended");
	return 0;
}

static int read_files(struct profile *profile, const json_t *files)
{
	size_t n = json_array_size(files);
	int r = 0;

	profile->files = profile_alloc(profile, n, sizeof(*profile->files));
	if (!profile->files)
		return -ENOMEM;
	for (size_t i = 0; i < n && r == 0; i++)
		r = read_file(profile, json_array_get(files, i),
			      &profile->files[profile->n_files++]);
	return r;
}

int meta_read(struct profile *profile, const char *text, size_t len)
{
	json_t *meta = json_loadb(text, len, 0, NULL);
	uint64_t epoch = 0;
	int r = -EBADMSG;

	if (json_is_object(meta) && decimal(meta, "start_ns", false, &profile->start_ns) &&
	    decimal(meta, "length_ns", false, &profile->length_ns) &&
	    decimal(meta, "epoch_offset_ns", true, &epoch)) {
		profile->epoch_offset_ns = (int64_t)epoch;
		profile->has_epoch = truth(meta, "has_epoch");
		profile->is_wick = truth(meta, "is_wick");
		profile->has_times = truth(meta, "has_times");
		profile->hz = (uint32_t)number(meta, "hz", UINT32_MAX);
		profile->command = string_number(json_object_get(meta, "command"));
		profile->captured = string_number(json_object_get(meta, "captured"));
		r = read_lists(profile, meta);
		if (r == 0)
			r = read_files(profile, json_object_get(meta, "files"));
	}
	json_decref(meta);
	return r;
}

/* Columns of one value, or of narrow ones, are written out in full: no more than this of them. */
static const uint64_t max_spread_bytes = UINT64_C(8) << 30;

struct reader {
	const unsigned char *bytes;
	size_t n_bytes;
	size_t n_sections;
	struct pack_section sections[PACK_MAX_SECTIONS];
	struct profile *profile;
	uint64_t spread; /* bytes that were written out so far */
	const char *wrong;
	bool no_memory;
};

static bool is_good(const struct reader *reader, const struct pack_section *section)
{
	return section->size > 0 && section->size <= 8 && section->offset % 8 == 0 &&
	       section->offset <= reader->n_bytes &&
	       section->count <= (reader->n_bytes - section->offset) / section->size &&
	       crc32_z(crc32(0, NULL, 0), reader->bytes + section->offset,
		       section->count * section->size) == section->crc;
}

static const char *read_sections(struct reader *reader)
{
	struct pack_head head;

	if (reader->n_bytes < sizeof(head))
		return "it is too short";
	memcpy(&head, reader->bytes, sizeof(head));
	if (memcmp(head.magic, pack_magic, sizeof(head.magic)) != 0)
		return "it is none";
	if (head.version != PACK_VERSION)
		return "it is of another version";
	if (head.bytes != reader->n_bytes)
		return "it is cut short";
	if (head.n_sections > PACK_MAX_SECTIONS ||
	    (reader->n_bytes - sizeof(head)) / sizeof(*reader->sections) < head.n_sections)
		return "it has too many sections";
	reader->n_sections = head.n_sections;
	memcpy(reader->sections, reader->bytes + sizeof(head),
	       head.n_sections * sizeof(*reader->sections));
	for (size_t i = 0; i < reader->n_sections; i++)
		if (!is_good(reader, &reader->sections[i]))
			return "a section is damaged";
	return NULL;
}

/* A section of that name; NULL when there is none. */
static const struct pack_section *section_of(const struct reader *reader, const char *name)
{
	for (size_t i = 0; i < reader->n_sections; i++)
		if (strncmp(reader->sections[i].name, name, PACK_NAME_BYTES) == 0)
			return &reader->sections[i];
	return NULL;
}

/* The bytes of a section; NULL, and it is said, when there is none with elements of SIZE. */
static const void *find(struct reader *reader, const char *name, size_t size, size_t *ret_count)
{
	const struct pack_section *section = section_of(reader, name);

	if (section && section->size == size) {
		*ret_count = (size_t)section->count;
		return reader->bytes + section->offset;
	}
	reader->wrong = "a section is missing";
	*ret_count = 0;
	return NULL;
}

static void *alloc(struct reader *reader, size_t count, size_t size)
{
	void *array = profile_alloc(reader->profile, count, size);

	reader->no_memory |= !array;
	return array;
}

/* The section of a column whose numbers fit SIZE bytes; NULL, and it is said. */
static const struct pack_section *column_section(struct reader *reader, const char *name,
						 size_t size)
{
	const struct pack_section *section = section_of(reader, name);
	const size_t n = reader->profile->n_samples;

	if (!section)
		reader->wrong = "a section is missing";
	else if (section->size > size || (section->size & (section->size - 1)) != 0)
		reader->wrong = "a column's numbers are of another width";
	else if (section->count != n && section->count != 1)
		reader->wrong = "a column is of another length";
	else
		return section;
	return NULL;
}

/* One element a sample, as the profile's own. */
static void *own_column(struct reader *reader, const char *name, size_t size)
{
	const struct pack_section *section = column_section(reader, name, size);
	const size_t n = reader->profile->n_samples;
	unsigned char *to;

	if (!section)
		return NULL;
	reader->spread += (uint64_t)n * size;
	if (reader->spread > max_spread_bytes) {
		reader->wrong = "it is too large";
		return NULL;
	}
	to = alloc(reader, n, size);
	if (!to || n == 0)
		return to;
	column_copy(to, size, reader->bytes + section->offset, section->size,
		    (size_t)section->count);
	for (size_t i = (size_t)section->count; i < n; i++)
		memcpy(to + i * size, to, size);
	return to;
}

/* One element a sample: a view, unless all are the same, they are narrower or stand badly. */
static void *column(struct reader *reader, const char *name, size_t size)
{
	const struct pack_section *section = column_section(reader, name, size);

	if (section && section->count == reader->profile->n_samples && section->size == size) {
		const unsigned char *from = reader->bytes + section->offset;

		if ((uintptr_t)from % size == 0)
			return (void *)(uintptr_t)from; /* a profile is only read */
	}
	return section ? own_column(reader, name, size) : NULL;
}

static uint64_t *read_times(struct reader *reader)
{
	uint64_t *times;

	if (section_of(reader, "time"))
		return column(reader, "time", sizeof(*times));
	times = own_column(reader, "time" PACK_STEP, sizeof(*times));
	for (size_t i = 1; times && i < reader->profile->n_samples; i++)
		times[i] += times[i - 1];
	return times;
}

static int64_t *read_folded(struct reader *reader, const char *name)
{
	int64_t *numbers = own_column(reader, name, sizeof(*numbers));

	for (size_t i = 0; numbers && i < reader->profile->n_samples; i++)
		numbers[i] = column_unfold((uint64_t)numbers[i]);
	return numbers;
}

/* Whether the samples' threads, which other columns are read by, are all there. */
static bool has_threads(struct reader *reader)
{
	const struct profile *p = reader->profile;

	for (size_t i = 0; p->threads && i < p->n_samples; i++)
		if (p->threads[i] >= p->n_threads)
			reader->wrong = "a sample's thread is not there";
	return p->threads && !reader->wrong;
}

static void read_metric(struct reader *reader, size_t number)
{
	struct profile_metric *metric = &reader->profile->metrics[number];
	char name[PACK_NAME_BYTES];

	pack_name(name, "delta", number, "");
	metric->deltas = read_folded(reader, name);
	pack_name(name, "value", number, "");
	if (section_of(reader, name)) {
		metric->values = read_folded(reader, name);
		return;
	}
	pack_name(name, "value", number, PACK_STEP);
	metric->values = own_column(reader, name, sizeof(*metric->values));
	if (metric->values && metric->deltas && has_threads(reader))
		reader->no_memory |= column_value_sums(reader->profile, metric) < 0;
}

static void read_tag(struct reader *reader, size_t number)
{
	struct profile_tag *tag = &reader->profile->tags[number];
	char name[PACK_NAME_BYTES];
	const void *words;
	size_t n;

	pack_name(name, "tag", number, "");
	tag->codes = column(reader, name, sizeof(*tag->codes));
	pack_name(name, "tag", number, PACK_WORD);
	words = find(reader, name, sizeof(*tag->values), &n);
	if (!words)
		return;
	if (n == 0 || n > PROFILE_MAX_TAG_VALUES) {
		reader->wrong = "a tag has no values, or too many";
		return;
	}
	tag->values = alloc(reader, n, sizeof(*tag->values));
	if (!tag->values)
		return;
	memcpy(tag->values, words, n * sizeof(*tag->values));
	tag->n_values = (uint32_t)n;
}

static void read_columns(struct reader *reader)
{
	struct profile *p = reader->profile;
	const struct pack_section *stack = section_of(reader, "stack");

	p->n_samples = stack ? (size_t)stack->count : 0;
	p->times_ns = read_times(reader);
	p->threads = column(reader, "thread", sizeof(*p->threads));
	p->stacks = column(reader, "stack", sizeof(*p->stacks));
	p->weights = column(reader, "weight", sizeof(*p->weights));
	p->cpus = column(reader, "cpu", sizeof(*p->cpus));
	p->events = column(reader, "event", sizeof(*p->events));
	for (size_t i = 0; i < p->n_tags && !reader->wrong && !reader->no_memory; i++)
		read_tag(reader, i);
	for (size_t i = 0; i < p->n_metrics && !reader->wrong && !reader->no_memory; i++)
		read_metric(reader, i);
}

static void read_strings(struct reader *reader)
{
	struct profile *p = reader->profile;
	size_t n_bytes;
	const char *bytes = find(reader, "strings", 1, &n_bytes);
	const uint32_t *ends = find(reader, "string_ends", sizeof(*ends), &p->n_strings);
	char *copy = alloc(reader, n_bytes + p->n_strings, 1);
	uint32_t start = 0;

	p->strings = alloc(reader, p->n_strings, sizeof(*p->strings));
	if (!bytes || !ends || !copy || !p->strings)
		return;
	for (size_t i = 0; i < p->n_strings; i++) {
		uint32_t end;

		memcpy(&end, &ends[i], sizeof(end));
		if (end < start || end > n_bytes ||
		    memchr(bytes + start, '\0', end - start) != NULL) {
			reader->wrong = "a string is damaged";
			return;
		}
		memcpy(copy, bytes + start, end - start);
		p->strings[i] = copy;
		copy += end - start + 1; /* its NUL is there already */
		start = end;
	}
	if (p->n_strings == 0 || p->strings[0][0] != '\0')
		reader->wrong = "it has no empty string";
}

/* A column into a field of N structs that are STRIDE apart. */
static void field(struct reader *reader, const char *name, void *structs, size_t stride, size_t n,
		  size_t size)
{
	size_t count;
	const char *from = find(reader, name, size, &count);

	if (from && count != n)
		reader->wrong = "a column is of another length";
	if (!from || !structs || reader->wrong || reader->no_memory)
		return;
	for (size_t i = 0; i < n; i++)
		memcpy((char *)structs + i * stride, from + i * size, size);
}

#define FIELD(reader, name, array, count, field_name)                                              \
	field(reader, name, &(array)->field_name, sizeof(*(array)), count,                         \
	      sizeof((array)->field_name))

static void read_uniques(struct reader *reader)
{
	struct profile *p = reader->profile;
	const unsigned char *inlined;
	size_t n_inlined;

	(void)find(reader, "frame_name", 4, &p->n_frames);
	(void)find(reader, "node_parent", 4, &p->n_nodes);
	(void)find(reader, "thread_comm", 4, &p->n_threads);
	p->frames = alloc(reader, p->n_frames, sizeof(*p->frames));
	p->nodes = alloc(reader, p->n_nodes, sizeof(*p->nodes));
	p->thread_list = alloc(reader, p->n_threads, sizeof(*p->thread_list));
	if (p->n_nodes == 0)
		reader->wrong = "it has no root";
	FIELD(reader, "frame_name", p->frames, p->n_frames, name);
	FIELD(reader, "frame_module", p->frames, p->n_frames, module);
	FIELD(reader, "frame_addr", p->frames, p->n_frames, addr);
	FIELD(reader, "frame_offset", p->frames, p->n_frames, offset);
	FIELD(reader, "node_parent", p->nodes, p->n_nodes, parent);
	FIELD(reader, "node_frame", p->nodes, p->n_nodes, frame);
	FIELD(reader, "thread_comm", p->thread_list, p->n_threads, comm);
	FIELD(reader, "thread_host", p->thread_list, p->n_threads, host);
	FIELD(reader, "thread_pid", p->thread_list, p->n_threads, pid);
	FIELD(reader, "thread_tid", p->thread_list, p->n_threads, tid);
	inlined = find(reader, "frame_inlined", 1, &n_inlined);
	if (n_inlined != p->n_frames)
		reader->wrong = "a column is of another length";
	/* a bool that is neither 0 nor 1 is none */
	for (size_t i = 0; !reader->wrong && !reader->no_memory && i < p->n_frames; i++)
		p->frames[i].inlined = inlined[i] != 0;
}

static int read_all(struct reader *reader)
{
	size_t len;
	const char *meta;
	int r;

	reader->wrong = read_sections(reader);
	if (reader->wrong)
		return -EBADMSG;
	meta = find(reader, "meta", 1, &len);
	r = meta ? meta_read(reader->profile, meta, len) : -EBADMSG;
	if (r < 0) {
		reader->wrong = "its 'meta' is no such thing";
		return r;
	}
	read_strings(reader);
	if (!reader->wrong && !reader->no_memory)
		read_uniques(reader);
	if (!reader->wrong && !reader->no_memory)
		read_columns(reader);
	if (reader->no_memory)
		return -ENOMEM;
	if (!reader->wrong)
		reader->wrong = pack_check(reader->profile);
	return reader->wrong ? -EBADMSG : 0;
}

int pack_read(const void *bytes, size_t n_bytes, struct profile **ret_profile, struct err *err)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int r = -ENOMEM;

	if (reader)
		reader->profile = profile_new();
	if (reader && reader->profile) {
		reader->bytes = bytes;
		reader->n_bytes = n_bytes;
		r = read_all(reader);
	}
	if (r == 0)
		*ret_profile = reader->profile;
	else
		(void)err_set(err, r == -EBADMSG ? 0 : -r, "read the packed profile (%s)",
			      reader && reader->wrong ? reader->wrong : "no memory");
	if (r < 0 && reader)
		profile_free(reader->profile);
	free(reader);
	return r;
}
