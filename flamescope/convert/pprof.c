/*
 * pprof.c - profile.proto (github.com/google/pprof): samples that are alike in stack, thread and
 * words are one; values are samples, what they stand for and what each metric changed by
 */
#include "base/map.h"
#include "base/saturated.h"
#include "base/utf8.h"
#include "flamescope/convert/internal.h"
#include "flamescope/query/query.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, LENGTH_DELIMITED = 2, MAX_TEXT = 64 * 1024 };

void proto_varint(struct buf *buf, uint64_t value)
{
	unsigned char bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (unsigned char)(value | 0x80);
	bytes[n++] = (unsigned char)value;
	(void)buf_append(buf, bytes, n);
}

void proto_number(struct buf *buf, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	proto_varint(buf, field << 3 | VARINT);
	proto_varint(buf, value);
}

void proto_bytes(struct buf *buf, unsigned field, const void *bytes, size_t len)
{
	proto_varint(buf, field << 3 | LENGTH_DELIMITED);
	proto_varint(buf, len);
	(void)buf_append(buf, bytes, len);
}

void proto_message(struct buf *buf, unsigned field, struct buf *message)
{
	if (message->failed)
		buf->failed = true;
	proto_bytes(buf, field, message->data, message->len);
	buf_clear(message);
}

/* Bytes up to the next one that is no UTF-8. */
static size_t good_run(const char *text, size_t left)
{
	size_t n = 0;
	uint32_t code;
	size_t len;

	while (n < left && (len = utf8_next(text + n, left - n, &code)) > 0)
		n += len;
	return n;
}

void proto_text(struct buf *buf, unsigned field, const char *text)
{
	size_t left = strnlen(text, MAX_TEXT);
	size_t good = good_run(text, left);
	struct buf fixed;

	if (good == left) {
		proto_bytes(buf, field, text, left);
		return;
	}
	buf_init(&fixed, (size_t)MAX_TEXT * 4);
	for (; left; good = good_run(text, left)) {
		(void)buf_append(&fixed, text, good);
		text += good;
		left -= good;
		if (left) {
			buf_add(&fixed, "\xef\xbf\xbd");
			text++;
			left--;
		}
	}
	proto_message(buf, field, &fixed);
	buf_release(&fixed);
}

static int intern(struct locations *locations, struct map *map, uint32_t frame, uint32_t outer)
{
	uint64_t key = (uint64_t)frame << 32 | outer;
	const void *known = map_get(map, key);

	if (known)
		return (int)((const struct location *)known - locations->at);
	locations->at[locations->n] =
		(struct location){frame, outer, locations->at[outer].length + 1};
	if (map_put(map, key, &locations->at[locations->n]) < 0)
		return -ENOMEM;
	return (int)locations->n++;
}

/* Parents come before their children, so that what a call is inlined into is known. */
int locations_make(const struct selection *selection, struct locations *ret_locations)
{
	const size_t n_frames = selection->profile->n_frames;
	struct locations *locations = ret_locations;
	struct map map = {0};
	int r = 0;

	*locations = (struct locations){
		.n = 1,
		.at = calloc(selection->n_nodes + 1, sizeof(*locations->at)),
		.of_node = calloc(selection->n_nodes + 1, sizeof(*locations->of_node)),
	};
	if (!locations->at || !locations->of_node)
		return -ENOMEM;
	for (size_t i = 1; i < selection->n_nodes && r >= 0; i++) {
		const struct profile_node *node = &selection->nodes[i];
		uint32_t outer = 0;

		if (node->frame < n_frames && selection->profile->frames[node->frame].inlined &&
		    node->parent && selection->nodes[node->parent].frame < n_frames)
			outer = locations->of_node[node->parent];
		if (locations->at[outer].length >= LOCATIONS_MAX_CHAIN)
			outer = 0;
		r = intern(locations, &map, node->frame, outer);
		locations->of_node[i] = (uint32_t)r;
	}
	map_release(&map);
	return r < 0 ? r : 0;
}

void locations_release(struct locations *locations)
{
	free(locations->at);
	free(locations->of_node);
}

/* Numbers of fields, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STRING = 2,
	LABEL_NUMBER = 3,
	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_INLINED = 10,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2, /* 3, system_name, stays empty: pprof shortens a name that equals it */
};

enum {
	MAX_VALUES = PROFILE_MAX_METRICS + 3,
	MAX_EXTRA = 4 * MAX_VALUES, /* strings of our own */
	MESSAGE_BYTES = 16 * 1024 * 1024,
	NS_A_US = 1000,
};

struct pprof {
	struct out *out;
	const struct selection *selection;
	const struct profile *profile;
	struct locations locations;
	uint32_t *order; /* of the selection's samples, those alike side by side */
	struct buf message, inner, packed;
	const char *extra[MAX_EXTRA]; /* strings after the profile's and the labels */
	size_t n_extra;
	size_t n_values;
	struct period period; /* what weights are; pprof's delays are nanoseconds, too */
	size_t op;            /* of the profile's tags */
	uint32_t thread_key, tid_key, pid_key, host_key, event_key;
	uint32_t tag_keys[PROFILE_MAX_TAGS];
};

/* ---- strings: the profile's by their numbers, then the groups' labels, then our own */

static uint64_t own_string(struct pprof *to, const char *text)
{
	size_t base = to->profile->n_strings + to->selection->n_labels;

	for (size_t i = 0; i < to->n_extra; i++)
		if (strcmp(to->extra[i], text) == 0)
			return base + i;
	if (to->n_extra == MAX_EXTRA)
		return 0;
	to->extra[to->n_extra] = text;
	return base + to->n_extra++;
}

static uint64_t name_string(const struct pprof *to, uint32_t frame)
{
	if (out_is_label(to->selection, frame))
		return to->profile->n_strings + (frame - to->profile->n_frames);
	return to->profile->frames[frame].name;
}

static void add_strings(struct pprof *to)
{
	const struct selection *selection = to->selection;
	struct buf *buf = &to->out->buf;

	for (size_t i = 0; i < to->profile->n_strings && out_step(to->out); i++)
		proto_text(buf, PROFILE_STRING, to->profile->strings[i]);
	for (size_t i = 0; i < selection->n_labels && out_step(to->out); i++)
		proto_text(buf, PROFILE_STRING, selection->labels[i]);
	for (size_t i = 0; i < to->n_extra && out_step(to->out); i++)
		proto_text(buf, PROFILE_STRING, to->extra[i]);
}

/* ---- which samples are one */

static int compare(const void *a, const void *b, void *context)
{
	const struct pprof *to = context;
	const struct profile *profile = to->profile;
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;
	uint32_t p = to->selection->samples[x];
	uint32_t q = to->selection->samples[y];

	if (to->selection->stacks[x] != to->selection->stacks[y])
		return to->selection->stacks[x] < to->selection->stacks[y] ? -1 : 1;
	if (profile->threads[p] != profile->threads[q])
		return profile->threads[p] < profile->threads[q] ? -1 : 1;
	if (profile->events[p] != profile->events[q])
		return profile->events[p] < profile->events[q] ? -1 : 1;
	for (size_t i = 0; i < profile->n_tags; i++) {
		const uint32_t *codes = profile->tags[i].codes;

		if (codes[p] != codes[q])
			return codes[p] < codes[q] ? -1 : 1;
	}
	return 0;
}

/* ---- values: what was requested, samples, weight, the change of each metric */

static void add_type(struct pprof *to, unsigned field, const char *type, const char *unit)
{
	proto_number(&to->inner, VALUE_TYPE, own_string(to, type));
	proto_number(&to->inner, VALUE_UNIT, own_string(to, unit));
	proto_message(&to->out->buf, field, &to->inner);
	if (field == PROFILE_SAMPLE_TYPE)
		to->n_values++;
}

static const char *unit_word(const char *unit)
{
	static const char *const words[][2] = {{"ns", "nanoseconds"},
					       {"us", "microseconds"},
					       {"B", "bytes"},
					       {"KiB", "kilobytes"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(unit, words[i][0]) == 0)
			return words[i][1];
	return "count";
}

/* What samples and their weights are called where pprof, Pyroscope and Grafana know a name. */
struct names {
	const char *event;
	const char *samples;
	const char *weight;
};

static struct names names_of(const struct pprof *to)
{
	static const struct names known[] = {
		{"cpu-clock", "samples", "cpu"},
		{"wall-clock", "samples", "wall"},
		{"alloc", "samples", "alloc_space"},
		{"lock", "contentions", "delay"},
	};
	const char *event = out_event(to->selection);

	/* what weights of others, and of a clock without a rate, stand for is not known */
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(unit_word(to->period.unit), "count") != 0 &&
		    strcmp(event, known[i].event) == 0)
			return known[i];
	return (struct names){event, "samples", *event ? event : "weight"};
}

static void add_types(struct pprof *to)
{
	const struct profile *profile = to->profile;
	struct names names = names_of(to);

	if (to->out->options->has_measure)
		add_type(to, PROFILE_SAMPLE_TYPE, to->out->options->metric,
			 unit_word(to->selection->unit));
	add_type(to, PROFILE_SAMPLE_TYPE, names.samples, "count");
	add_type(to, PROFILE_SAMPLE_TYPE, names.weight, unit_word(to->period.unit));
	for (size_t i = 0; i < profile->n_metrics; i++)
		add_type(to, PROFILE_SAMPLE_TYPE, profile->strings[profile->metrics[i].name],
			 unit_word(profile->strings[profile->metrics[i].unit]));
}

/* pprof's values are signed. */
static void add_value(uint64_t *value, int64_t more)
{
	int64_t sum;

	if (__builtin_add_overflow((int64_t)*value, more, &sum))
		sum = more < 0 ? INT64_MIN : INT64_MAX;
	*value = (uint64_t)sum;
}

static void sum_up(const struct pprof *to, size_t first, size_t end, uint64_t *values)
{
	const struct profile *profile = to->profile;
	uint64_t weight = 0;
	size_t weight_at = to->out->options->has_measure ? 2 : 1;

	for (size_t i = first; i < end; i++) {
		uint32_t sample = to->selection->samples[to->order[i]];
		size_t n = 0;

		if (to->out->options->has_measure)
			add_value(&values[n++], to->selection->values[to->order[i]]);
		values[n++] += !out_is_release(profile, to->op, sample);
		weight = saturated_add(weight, profile->weights[sample]);
		n++; /* below, when it is all known */
		for (size_t k = 0; k < profile->n_metrics; k++, n++)
			if (profile->metrics[k].deltas[sample] != PROFILE_ABSENT)
				add_value(&values[n], profile->metrics[k].deltas[sample]);
	}
	values[weight_at] = (uint64_t)period_value(&to->period, weight);
}

/* ---- samples */

static void add_label(struct pprof *to, uint64_t key, uint64_t text, int64_t number)
{
	proto_number(&to->inner, LABEL_KEY, key);
	proto_number(&to->inner, LABEL_STRING, text);
	proto_number(&to->inner, LABEL_NUMBER, (uint64_t)number);
	proto_message(&to->message, SAMPLE_LABEL, &to->inner);
}

static void add_labels(struct pprof *to, uint32_t sample)
{
	const struct profile *profile = to->profile;
	const struct profile_thread *thread = &profile->thread_list[profile->threads[sample]];

	add_label(to, to->thread_key, thread->comm, 0);
	if (thread->tid > 0)
		add_label(to, to->tid_key, 0, thread->tid);
	if (thread->pid > 0)
		add_label(to, to->pid_key, 0, thread->pid);
	if (thread->host)
		add_label(to, to->host_key, thread->host, 0);
	if (profile->n_events > 1)
		add_label(to, to->event_key, profile->event_names[profile->events[sample]], 0);
	for (size_t i = 0; i < profile->n_tags; i++) {
		const struct profile_tag *tag = &profile->tags[i];
		uint32_t code = tag->codes[sample];

		if (code == PROFILE_TAG_OTHER)
			add_label(to, to->tag_keys[i], own_string(to, "[other]"), 0);
		else if (code && code < tag->n_values)
			add_label(to, to->tag_keys[i], tag->values[code], 0);
	}
}

/* Innermost first; the calls that were inlined into a function are part of its place. */
static void add_stack(struct pprof *to, uint32_t node)
{
	while (node) {
		uint32_t place = to->locations.of_node[node];

		proto_varint(&to->packed, place);
		for (; place; place = to->locations.at[place].outer)
			node = to->selection->nodes[node].parent;
	}
	proto_message(&to->message, SAMPLE_LOCATION, &to->packed);
}

static void add_samples(struct pprof *to)
{
	size_t end;

	for (size_t first = 0; first < to->selection->n && out_step(to->out); first = end) {
		uint64_t values[MAX_VALUES] = {0};

		for (end = first + 1; end < to->selection->n; end++)
			if (compare(&to->order[first], &to->order[end], to) != 0)
				break;
		sum_up(to, first, end, values);
		add_stack(to, to->selection->stacks[to->order[first]]);
		for (size_t i = 0; i < to->n_values; i++)
			proto_varint(&to->packed, values[i]);
		proto_message(&to->message, SAMPLE_VALUE, &to->packed);
		add_labels(to, to->selection->samples[to->order[first]]);
		proto_message(&to->out->buf, PROFILE_SAMPLE, &to->message);
		to->out->report.n_samples += end - first;
	}
}

/* ---- places, functions, modules */

static uint32_t outermost(const struct pprof *to, uint32_t place)
{
	while (to->locations.at[place].outer)
		place = to->locations.at[place].outer;
	return to->locations.at[place].frame;
}

/* A module's number is its name's; mapping 0 is none. */
static void add_locations(struct pprof *to, bool *used, bool *mapped)
{
	for (uint32_t id = 1; id < to->locations.n && out_step(to->out); id++) {
		uint32_t outer = outermost(to, id);
		bool label = out_is_label(to->selection, outer);
		uint32_t module = label ? 0 : to->profile->frames[outer].module;

		proto_number(&to->message, LOCATION_ID, id);
		proto_number(&to->message, LOCATION_MAPPING, module);
		proto_number(&to->message, LOCATION_ADDRESS,
			     label ? 0 : to->profile->frames[outer].addr);
		for (uint32_t at = id; at; at = to->locations.at[at].outer) {
			uint32_t frame = to->locations.at[at].frame;

			proto_number(&to->inner, LINE_FUNCTION, (uint64_t)frame + 1);
			proto_message(&to->message, LOCATION_LINE, &to->inner);
			used[frame] = true;
		}
		proto_message(&to->out->buf, PROFILE_LOCATION, &to->message);
		mapped[module] = true;
	}
}

static void add_functions(struct pprof *to, const bool *used)
{
	size_t n = to->profile->n_frames + to->selection->n_labels;

	for (uint32_t frame = 0; frame < n && out_step(to->out); frame++) {
		if (!used[frame])
			continue;
		proto_number(&to->message, FUNCTION_ID, (uint64_t)frame + 1);
		proto_number(&to->message, FUNCTION_NAME, name_string(to, frame));
		proto_message(&to->out->buf, PROFILE_FUNCTION, &to->message);
	}
}

static void add_mappings(struct pprof *to, const bool *mapped)
{
	for (size_t i = 1; i < to->profile->n_strings && out_step(to->out); i++) {
		if (!mapped[i])
			continue;
		proto_number(&to->message, MAPPING_ID, i);
		proto_number(&to->message, MAPPING_FILE, i);
		proto_number(&to->message, MAPPING_HAS_FUNCTIONS, 1);
		proto_number(&to->message, MAPPING_HAS_INLINED, 1);
		proto_message(&to->out->buf, PROFILE_MAPPING, &to->message);
	}
}

static int add_places(struct pprof *to)
{
	size_t n_frames = to->profile->n_frames + to->selection->n_labels;
	bool *used = calloc(n_frames + 1, sizeof(*used));
	bool *mapped = calloc(to->profile->n_strings + 1, sizeof(*mapped));
	int r = used && mapped ? 0 : -ENOMEM;

	if (r == 0) {
		add_locations(to, used, mapped);
		add_functions(to, used);
		add_mappings(to, mapped);
	}
	free(used);
	free(mapped);
	return r;
}

/* ---- all of it */

static void add_facts(struct pprof *to)
{
	const struct profile *profile = to->profile;
	struct names names = names_of(to);
	struct buf *buf = &to->out->buf;

	if (profile->has_epoch)
		proto_number(buf, PROFILE_TIME_NANOS,
			     profile->start_ns + (uint64_t)profile->epoch_offset_ns);
	proto_number(buf, PROFILE_DURATION_NANOS, profile->length_ns);
	if (profile->hz) {
		add_type(to, PROFILE_PERIOD_TYPE, names.weight, "nanoseconds");
		proto_number(buf, PROFILE_PERIOD, 1000000000U / profile->hz);
	}
	if (profile->command)
		proto_number(buf, PROFILE_COMMENT, profile->command);
	if (to->out->options->has_measure)
		proto_number(buf, PROFILE_DEFAULT_TYPE, own_string(to, to->out->options->metric));
	else
		proto_number(buf, PROFILE_DEFAULT_TYPE,
			     own_string(to, to->selection->measure == QUERY_WEIGHT
						    ? names.weight
						    : names.samples));
}

static int sort_samples(struct pprof *to)
{
	to->order = calloc(to->selection->n + 1, sizeof(*to->order));
	if (!to->order)
		return -ENOMEM;
	for (size_t i = 0; i < to->selection->n; i++)
		to->order[i] = (uint32_t)i;
	qsort_r(to->order, to->selection->n, sizeof(*to->order), compare, to);
	return 0;
}

/* Pyroscope and Grafana find the profile of a trace or span by these names. */
static uint32_t tag_key(struct pprof *to, uint32_t name)
{
	const char *text = to->profile->strings[name];

	if (strcmp(text, "trace") == 0)
		return (uint32_t)own_string(to, "trace_id");
	if (strcmp(text, "span") == 0)
		return (uint32_t)own_string(to, "span_id");
	return name;
}

static void name_keys(struct pprof *to)
{
	to->thread_key = (uint32_t)own_string(to, "thread");
	to->tid_key = (uint32_t)own_string(to, "tid");
	to->pid_key = (uint32_t)own_string(to, "pid");
	to->host_key = (uint32_t)own_string(to, "host");
	to->event_key = (uint32_t)own_string(to, "event");
	for (size_t i = 0; i < to->profile->n_tags; i++)
		to->tag_keys[i] = tag_key(to, to->profile->tags[i].name);
}

int pprof_write(struct out *out)
{
	struct pprof to = {.out = out, .selection = out->selection};
	int r;

	to.profile = out->selection->profile;
	to.op = out_tag(to.profile, "op");
	to.period = period_of(to.profile, out->selection->event);
	if (strcmp(to.period.unit, "us") == 0) {
		to.period.unit = "ns";
		to.period.multiply *= NS_A_US;
	}
	buf_init(&to.message, MESSAGE_BYTES);
	buf_init(&to.inner, MESSAGE_BYTES);
	buf_init(&to.packed, MESSAGE_BYTES);
	name_keys(&to);
	r = locations_make(out->selection, &to.locations);
	if (r == 0)
		r = sort_samples(&to);
	if (r == 0) {
		add_types(&to);
		add_samples(&to);
		r = add_places(&to);
	}
	if (r == 0) {
		add_facts(&to);
		add_strings(&to);
	}
	locations_release(&to.locations);
	free(to.order);
	buf_release(&to.message);
	buf_release(&to.inner);
	buf_release(&to.packed);
	return r;
}
