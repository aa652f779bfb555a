/* pack_read.c - sections to a profile, none of them believed */
#include "flamescope/pack/internal.h"
#include "flamescope/pack/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifndef __wasm__
#include <zlib.h>
#endif

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

/* A page's pack comes out of gzip, whose checksum the browser has compared. */
static bool is_sound(const struct reader *reader, const struct pack_section *section)
{
#ifdef __wasm__
	(void)reader;
	(void)section;
	return true;
#else
	return crc32_z(crc32(0, NULL, 0), reader->bytes + section->offset,
		       section->count * section->size) == section->crc;
#endif
}

static bool is_good(const struct reader *reader, const struct pack_section *section)
{
	return section->size > 0 && section->size <= 8 && section->offset % 8 == 0 &&
	       section->offset <= reader->n_bytes &&
	       section->count <= (reader->n_bytes - section->offset) / section->size &&
	       is_sound(reader, section);
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

/* How many elements of SIZE a section has, of at most MOST. */
static size_t count_of(struct reader *reader, const char *name, size_t size, size_t most)
{
	size_t count;

	(void)find(reader, name, size, &count);
	if (count > most) {
		reader->wrong = "it has too many tags, metrics or events";
		count = 0;
	}
	return count;
}

static void read_facts(struct reader *reader)
{
	struct profile *p = reader->profile;
	struct pack_facts facts;
	size_t count;
	const void *from = find(reader, "facts", sizeof(uint64_t), &count);

	if (from && count != sizeof(facts) / sizeof(uint64_t))
		reader->wrong = "its facts are of another length";
	if (!from || reader->wrong)
		return;
	memcpy(&facts, from, sizeof(facts));
	p->start_ns = facts.start_ns;
	p->length_ns = facts.length_ns;
	p->epoch_offset_ns = (int64_t)facts.epoch_offset_ns;
	p->has_epoch = (facts.flags & PACK_HAS_EPOCH) != 0;
	p->is_wick = (facts.flags & PACK_IS_WICK) != 0;
	p->has_times = (facts.flags & PACK_HAS_TIMES) != 0;
	p->hz = facts.hz;
	p->command = facts.command;
	p->captured = facts.captured;
}

static void read_lists(struct reader *reader)
{
	struct profile *p = reader->profile;
	const uint8_t *kinds;
	size_t n_kinds;

	p->n_tags = count_of(reader, "tag_name", 4, PROFILE_MAX_TAGS);
	p->n_metrics = count_of(reader, "metric_name", 4, PROFILE_MAX_METRICS);
	p->n_events = count_of(reader, "event_name", 4, PROFILE_MAX_EVENTS);
	FIELD(reader, "tag_name", p->tags, p->n_tags, name);
	FIELD(reader, "metric_name", p->metrics, p->n_metrics, name);
	FIELD(reader, "metric_unit", p->metrics, p->n_metrics, unit);
	field(reader, "event_name", p->event_names, sizeof(p->event_names[0]), p->n_events,
	      sizeof(p->event_names[0]));
	kinds = find(reader, "metric_kind", 1, &n_kinds);
	if (n_kinds != p->n_metrics)
		reader->wrong = "a column is of another length";
	for (size_t i = 0; !reader->wrong && i < p->n_metrics; i++)
		p->metrics[i].kind = kinds[i] == METRIC_GAUGE ? METRIC_GAUGE : METRIC_COUNTER;
}

/* The next text of *TEXT, which ends before END; NULL, and it is said, when there is none. */
static char *next_text(struct reader *reader, char **text, const char *end)
{
	char *from = *text;
	char *nul = memchr(from, '\0', (size_t)(end - from));

	if (!nul) {
		reader->wrong = "a file's name is not there";
		return NULL;
	}
	*text = nul + 1;
	return from;
}

static void read_files(struct reader *reader)
{
	enum { NUMBERS = sizeof(struct pack_file) / sizeof(uint64_t) };
	struct profile *p = reader->profile;
	size_t n_numbers, n_text;
	const char *numbers = find(reader, "file_facts", sizeof(uint64_t), &n_numbers);
	const char *from = find(reader, "file_text", 1, &n_text);
	char *text = alloc(reader, n_text, 1);
	const char *end = text + n_text;

	p->files = alloc(reader, n_numbers / NUMBERS, sizeof(*p->files));
	if (n_numbers % NUMBERS != 0)
		reader->wrong = "its files are not whole";
	if (reader->wrong || reader->no_memory)
		return;
	memcpy(text, from, n_text);
	for (size_t i = 0; i < n_numbers / NUMBERS; i++) {
		struct profile_file *file = &p->files[p->n_files++];
		struct pack_file facts;
		char *problem;

		memcpy(&facts, numbers + i * sizeof(facts), sizeof(facts));
		file->path = next_text(reader, &text, end);
		problem = reader->wrong ? NULL : next_text(reader, &text, end);
		if (reader->wrong)
			return;
		file->problem = facts.flags & PACK_HAS_PROBLEM ? problem : NULL;
		file->bytes = facts.bytes;
		file->samples = facts.samples;
		file->bad_lines = facts.bad_lines;
		file->lost = facts.lost;
		file->cut = (facts.flags & PACK_CUT) != 0;
		file->unended = (facts.flags & PACK_UNENDED) != 0;
		memcpy(file->bad, facts.bad, sizeof(file->bad));
	}
}

static int read_all(struct reader *reader)
{
	reader->wrong = read_sections(reader);
	if (!reader->wrong)
		read_facts(reader);
	if (!reader->wrong)
		read_lists(reader);
	if (!reader->wrong)
		read_files(reader);
	if (!reader->wrong && !reader->no_memory)
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
