/*
 * pprof.c - profile.proto (github.com/google/pprof): its tables first, then its samples
 *
 * The value that is shown is the one that the file says, else the last, as pprof has it; the others
 * are metrics.  Samples have no times.
 */
#include "flamescope/load/import/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of fields, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_DEFAULT_TYPE = 14,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STRING = 2,
	LABEL_NUMBER = 3,
	ENTRY_ID = 1, /* of mappings, locations and functions */
	MAPPING_FILE = 5,
	LOCATION_MAPPING = 2,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_NAME = 2,
};

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5, MAX_TYPES = 16, MAX_EVENT = 256 };

enum { FEW_FRAMES = 256 * 1024, FRAMES_A_BYTE = 2 }; /* that all stacks of a file have together */

/* The rest of a message. */
struct bytes {
	const unsigned char *at, *end;
};

struct field {
	unsigned number;
	unsigned wire;
	uint64_t value; /* of a number */
	struct bytes bytes;
};

/* Which table an id is of. */
enum table { TABLE_MAPPING, TABLE_FUNCTION, TABLE_LOCATION };

struct pprof {
	struct import *import;
	struct budget *budget;
	struct err *err;
	uint32_t *strings; /* of the builder */
	size_t n_strings, max_strings;
	struct number_table ids; /* to: a string; a string; the first of a place in FRAMES */
	uint32_t *frames;        /* of each place: how many, then each, innermost first */
	size_t n_frames, max_frames;
	struct bytes types[MAX_TYPES];
	size_t n_types;
	uint64_t default_type;
	size_t shown; /* of the types */
	struct import_scale scales[MAX_TYPES];
	uint32_t names[MAX_TYPES]; /* strings */
	char event[MAX_EVENT];
	uint64_t n_left; /* frames of stacks: a place may have many, and be named often */
	struct perf_facts facts;
};

static bool take_varint(struct bytes *bytes, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; bytes->at < bytes->end && shift < 64; shift += 7) {
		unsigned char byte = *bytes->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

static bool take_fixed(struct bytes *bytes, size_t n)
{
	if ((size_t)(bytes->end - bytes->at) < n)
		return false;
	bytes->at += n;
	return true;
}

/* The next field; false at the end, and where the message is damaged: then it is not at its end. */
static bool take_field(struct bytes *bytes, struct field *ret_field)
{
	struct bytes rest = *bytes;
	struct field field = {0};
	uint64_t tag, len;
	bool good = take_varint(&rest, &tag);

	if (!good || tag >> 3 > UINT32_MAX)
		return false;
	field.number = (unsigned)(tag >> 3);
	field.wire = tag & 7;
	if (field.wire == VARINT) {
		good = take_varint(&rest, &field.value);
	} else if (field.wire == BYTES) {
		good = take_varint(&rest, &len) && len <= (uint64_t)(rest.end - rest.at);
		if (good) {
			field.bytes = (struct bytes){rest.at, rest.at + len};
			rest.at += len;
		}
	} else {
		good = (field.wire == FIXED64 && take_fixed(&rest, 8)) ||
		       (field.wire == FIXED32 && take_fixed(&rest, 4));
	}
	if (good) {
		*bytes = rest;
		*ret_field = field;
	}
	return good;
}

/* The last number of a field; 0: there is none. */
static uint64_t number_of(struct bytes message, unsigned number)
{
	uint64_t value = 0;
	struct field field;

	while (take_field(&message, &field))
		if (field.number == number && field.wire == VARINT)
			value = field.value;
	return value;
}

/* ---- tables */

static uint32_t string_of(const struct pprof *from, uint64_t number)
{
	return number < from->n_strings ? from->strings[number] : 0;
}

static const char *text_of(const struct pprof *from, uint64_t number)
{
	return uniques_text(&from->import->builder->uniques, string_of(from, number));
}

static struct text_hash key_of(enum table table, uint64_t id)
{
	return text_hash_pair(id, (uint64_t)table);
}

/* 0 or NUMBER_NONE: it is not there. */
static uint32_t entry_of(const struct pprof *from, enum table table, uint64_t id)
{
	return number_table_get(&from->ids, key_of(table, id));
}

/* Of two with the same id the first counts. */
static void put_entry(struct pprof *from, enum table table, uint64_t id, uint32_t number)
{
	if (entry_of(from, table, id) == NUMBER_NONE)
		(void)number_table_put(&from->ids, from->budget, key_of(table, id), number);
}

static void add_string(struct pprof *from, const struct bytes *bytes)
{
	const char *text = (const char *)bytes->at;
	size_t len = strnlen(text, (size_t)(bytes->end - bytes->at));

	(void)import_put(from->import, &from->strings, &from->n_strings, &from->max_strings,
			 uniques_string(&from->import->builder->uniques, text, len));
}

static void put_frame(struct pprof *from, uint32_t function, uint32_t module, bool inlined)
{
	struct uniques *uniques = &from->import->builder->uniques;
	struct profile_frame frame = {.name = function, .module = module, .inlined = inlined};

	if (!function || function == NUMBER_NONE)
		frame.name = uniques_string(uniques, "[unknown]", strlen("[unknown]"));
	(void)import_put(from->import, &from->frames, &from->n_frames, &from->max_frames,
			 uniques_frame(uniques, &frame, from->import->at));
}

/* A place's lines are the calls that were inlined there, and last the function itself. */
static void add_location(struct pprof *from, struct bytes message)
{
	uint64_t id = number_of(message, ENTRY_ID);
	uint32_t module = entry_of(from, TABLE_MAPPING, number_of(message, LOCATION_MAPPING));
	uint32_t first = (uint32_t)from->n_frames;
	uint32_t line =
		NUMBER_NONE; /* the one before, of which it is not known whether it is last */
	struct field field;

	if (from->n_frames >= UINT32_MAX ||
	    !import_put(from->import, &from->frames, &from->n_frames, &from->max_frames, 0))
		return;
	while (take_field(&message, &field)) {
		if (field.number != LOCATION_LINE || field.wire != BYTES)
			continue;
		if (line != NUMBER_NONE)
			put_frame(from, line, 0, true);
		line = entry_of(from, TABLE_FUNCTION, number_of(field.bytes, LINE_FUNCTION));
		line = line == NUMBER_NONE ? 0 : line;
	}
	put_frame(from, line, module == NUMBER_NONE ? 0 : module, false);
	if (budget_failed(from->budget))
		return;
	from->frames[first] = (uint32_t)(from->n_frames - first - 1);
	put_entry(from, TABLE_LOCATION, id, first);
}

/* ---- samples */

/* A repeated number, whose elements are packed into one field or have one each. */
struct numbers {
	struct bytes message;
	struct bytes packed;
	unsigned number;
};

static bool take_number(struct numbers *numbers, uint64_t *ret_value)
{
	struct field field;

	for (;;) {
		if (take_varint(&numbers->packed, ret_value))
			return true;
		if (!take_field(&numbers->message, &field))
			return false;
		if (field.number != numbers->number)
			continue;
		if (field.wire == BYTES)
			numbers->packed = field.bytes;
		*ret_value = field.value;
		if (field.wire == VARINT)
			return true;
	}
}

/* Innermost first; of a deeper stack those are kept. */
static uint32_t stack_of(struct pprof *from, struct bytes sample)
{
	struct numbers numbers = {.message = sample, .number = SAMPLE_LOCATION};
	uint32_t frames[PERF_TEXT_MAX_FRAMES];
	uint64_t id;
	size_t n = 0;

	while (take_number(&numbers, &id)) {
		uint32_t place = entry_of(from, TABLE_LOCATION, id);

		for (uint32_t i = 0; place != NUMBER_NONE && i < from->frames[place]; i++) {
			if (n == PERF_TEXT_MAX_FRAMES || from->n_left == 0) {
				from->import->builder->facts.cut = true;
				return builder_stack(from->import->builder, 0, frames, n);
			}
			from->n_left--;
			frames[n++] = from->frames[place + 1 + i];
		}
	}
	return builder_stack(from->import->builder, 0, frames, n);
}

/* What wick calls what pprof, Pyroscope and Grafana have another name for. */
static const char *word_name(const char *key)
{
	if (strcmp(key, "trace_id") == 0)
		return "trace";
	return strcmp(key, "span_id") == 0 ? "span" : key;
}

/* The first one is the file's. */
static void say_host(struct builder *builder, const char *text)
{
	if (builder->facts.at[WORD_HOST] != UINT64_MAX)
		return;
	builder->facts.at[WORD_HOST] = 0;
	builder->facts.text[WORD_HOST] = uniques_string(&builder->uniques, text, strlen(text));
}

/* A label is the thread's name or number, or a word of its own. */
static void add_label(struct pprof *from, struct bytes label, struct perf_head *head)
{
	const char *key = text_of(from, number_of(label, LABEL_KEY));
	const char *text = text_of(from, number_of(label, LABEL_STRING));
	int64_t number = (int64_t)number_of(label, LABEL_NUMBER);
	struct perf_facts *facts = &from->facts;

	if (strcmp(key, "thread") == 0 || strcmp(key, "thread_name") == 0)
		head->comm = text;
	else if (strcmp(key, "tid") == 0 || strcmp(key, "thread_id") == 0)
		head->tid = *text ? strtoll(text, NULL, 10) : number;
	else if (strcmp(key, "pid") == 0 || strcmp(key, "process_id") == 0)
		head->pid = *text ? strtoll(text, NULL, 10) : number;
	else if (strcmp(key, "host") == 0)
		say_host(from->import->builder, text);
	else if (strcmp(key, "event") != 0 && *key && *text && facts->n_words < PERF_LINE_MAX_WORDS)
		facts->words[facts->n_words++] = (struct perf_word){word_name(key), text};
}

static void add_values(struct pprof *from, struct bytes sample, struct perf_head *head)
{
	struct numbers numbers = {.message = sample, .number = SAMPLE_VALUE};
	const struct uniques *uniques = &from->import->builder->uniques;
	struct perf_facts *facts = &from->facts;
	uint64_t value;

	for (size_t i = 0; i < from->n_types && take_number(&numbers, &value); i++) {
		const char *name = uniques_text(uniques, from->names[i]);

		if (i == from->shown)
			head->period = import_scaled(&from->scales[i], (int64_t)value);
		else if (*name)
			facts->metrics[facts->n_metrics++] =
				(struct perf_metric){name, (int64_t)value, (int64_t)value};
	}
}

static void add_sample(struct pprof *from, struct bytes message)
{
	struct import_sample sample = {
		.head = {.comm = "", .pid = -1, .tid = -1, .cpu = -1, .event = from->event},
		.facts = &from->facts,
		.stack = stack_of(from, message),
	};
	struct bytes rest = message;
	struct field field;

	memset(&from->facts, 0, sizeof(from->facts));
	while (take_field(&rest, &field))
		if (field.number == SAMPLE_LABEL && field.wire == BYTES)
			add_label(from, field.bytes, &sample.head);
	add_values(from, message, &sample.head);
	import_add(from->import, &sample);
}

/* ---- all of it */

/* The fields of a kind, in order; false: the file is damaged, and what came before counts. */
static bool each(struct pprof *from, unsigned number, void (*take)(struct pprof *, struct bytes))
{
	const unsigned char *bytes = (const unsigned char *)from->import->bytes;
	struct bytes file = {bytes, bytes + from->import->len};
	struct field field;

	while (import_goes_on(from->import) && take_field(&file, &field))
		if (field.number == number && field.wire == BYTES)
			take(from, field.bytes);
	return file.at == file.end;
}

static void take_string(struct pprof *from, struct bytes bytes)
{
	add_string(from, &bytes);
}

static void take_mapping(struct pprof *from, struct bytes bytes)
{
	put_entry(from, TABLE_MAPPING, number_of(bytes, ENTRY_ID),
		  string_of(from, number_of(bytes, MAPPING_FILE)));
}

static void take_function(struct pprof *from, struct bytes bytes)
{
	put_entry(from, TABLE_FUNCTION, number_of(bytes, ENTRY_ID),
		  string_of(from, number_of(bytes, FUNCTION_NAME)));
}

static void take_type(struct pprof *from, struct bytes bytes)
{
	if (from->n_types < MAX_TYPES)
		from->types[from->n_types++] = bytes;
}

static const char *unit_of(struct pprof *from, size_t type)
{
	static const char *const units[] = {
		[IMPORT_SAMPLES] = "samples", [IMPORT_TIME] = "time", [IMPORT_BYTES] = "bytes"};

	return units[from->scales[type].unit];
}

/* What is shown, and how the others are declared. */
static void choose_type(struct pprof *from)
{
	static const char *const short_units[] = {
		[IMPORT_SAMPLES] = "", [IMPORT_TIME] = "ns", [IMPORT_BYTES] = "B"};
	struct uniques *uniques = &from->import->builder->uniques;
	const uint32_t wanted = string_of(from, from->default_type);

	from->shown = from->n_types ? from->n_types - 1 : 0;
	for (size_t i = 0; i < from->n_types; i++) {
		from->names[i] = string_of(from, number_of(from->types[i], VALUE_TYPE));
		from->scales[i] =
			import_scale_of(text_of(from, number_of(from->types[i], VALUE_UNIT)));
		if (wanted && from->names[i] == wanted)
			from->shown = i;
	}
	for (size_t i = 0; i < from->n_types; i++) {
		const char *name = uniques_text(uniques, from->names[i]);
		const char *unit = short_units[from->scales[i].unit];
		struct builder_metric *metric;

		if (i == from->shown || !*name)
			continue;
		metric =
			builder_metric(from->import->builder, name, strlen(name),
				       (struct place){.at = from->import->at, .word = (uint32_t)i});
		if (!metric)
			continue;
		metric->unit = uniques_string(uniques, unit, strlen(unit));
		metric->kind = METRIC_COUNTER;
		metric->declared = metric->first;
	}
	(void)snprintf(from->event, sizeof(from->event), "%s:%s", unit_of(from, from->shown),
		       uniques_text(uniques, from->names[from->shown]));
	/* No new string may come while a sample's are in use. */
	(void)builder_event(from->import->builder, from->event);
	(void)uniques_string(uniques, "trace", strlen("trace"));
	(void)uniques_string(uniques, "span", strlen("span"));
}

static int read_all(struct pprof *from)
{
	const unsigned char *bytes = (const unsigned char *)from->import->bytes;

	from->default_type =
		number_of((struct bytes){bytes, bytes + from->import->len}, PROFILE_DEFAULT_TYPE);
	(void)each(from, PROFILE_STRING, take_string);
	(void)each(from, PROFILE_SAMPLE_TYPE, take_type);
	if (from->n_types == 0)
		return err_set(from->err, 0, "it is no profile of pprof, or damaged");
	choose_type(from);
	(void)each(from, PROFILE_MAPPING, take_mapping);
	(void)each(from, PROFILE_FUNCTION, take_function);
	(void)each(from, PROFILE_LOCATION, add_location);
	if (each(from, PROFILE_SAMPLE, add_sample) || budget_failed(from->budget))
		return 0;
	return err_set(from->err, 0, "it is damaged, or ends in the middle");
}

int import_pprof(struct import *import, struct err *err)
{
	struct pprof *from = calloc(1, sizeof(*from));
	int r;

	if (!from) {
		budget_fail(import->builder->uniques.budget, ENOMEM);
		return 0;
	}
	from->import = import;
	from->budget = import->builder->uniques.budget;
	from->err = err;
	from->n_left = FEW_FRAMES + FRAMES_A_BYTE * (uint64_t)import->len;
	r = read_all(from);
	free(from->strings);
	free(from->frames);
	number_table_release(&from->ids);
	free(from);
	return r;
}
