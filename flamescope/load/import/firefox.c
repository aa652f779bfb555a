/*
 * firefox.c - the Firefox Profiler's processed format: columns of each thread, or of all of them
 *
 * Which tables are shared has changed with its versions (its CHANGELOG-formats.md): one that a
 * thread does not have is taken from "shared".
 */
#include "flamescope/load/import/import.h"

#include "base/json.h"
#include "base/saturated.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 64 * 1024, MS_DIGITS = 6 }; /* of nanoseconds in a millisecond */

enum { FUNC_NAME, FUNC_RESOURCE, RESOURCE_NAME, FRAME_FUNC, FRAME_DEPTH, N_COLUMNS };

static const struct {
	const char *table;
	const char *name;
} names[N_COLUMNS] = {
	[FUNC_NAME] = {"funcTable", "name"},           [FUNC_RESOURCE] = {"funcTable", "resource"},
	[RESOURCE_NAME] = {"resourceTable", "name"},   [FRAME_FUNC] = {"frameTable", "func"},
	[FRAME_DEPTH] = {"frameTable", "inlineDepth"},
};

/* NUMBER_NONE where there is nothing: null, -1. */
struct numbers {
	uint32_t *at;
	size_t n, max;
};

struct tables {
	struct numbers columns[N_COLUMNS];
	struct numbers strings; /* of the builder */
	struct numbers nodes;   /* of each stack; of the builder */
};

struct firefox {
	struct import *import;
	struct tables shared, own;
	struct buf text;
};

static void release(struct tables *tables)
{
	for (size_t i = 0; i < N_COLUMNS; i++)
		free(tables->columns[i].at);
	free(tables->strings.at);
	free(tables->nodes.at);
	*tables = (struct tables){0};
}

static bool put(struct firefox *from, struct numbers *numbers, uint32_t value)
{
	return import_put(from->import, &numbers->at, &numbers->n, &numbers->max, value);
}

static uint32_t number_at(const char *value)
{
	int64_t number;

	return json_decimal(value, 0, &number) && number >= 0 && number < NUMBER_NONE
		       ? (uint32_t)number
		       : NUMBER_NONE;
}

static uint32_t get(const struct numbers *own, const struct numbers *shared, uint32_t i)
{
	const struct numbers *numbers = own->at ? own : shared;

	return i < numbers->n ? numbers->at[i] : NUMBER_NONE;
}

static uint32_t cell(const struct firefox *from, unsigned column, uint32_t i)
{
	return get(&from->own.columns[column], &from->shared.columns[column], i);
}

/* 0, "": there is none. */
static uint32_t string(const struct firefox *from, uint32_t i)
{
	uint32_t number = get(&from->own.strings, &from->shared.strings, i);

	return number == NUMBER_NONE ? 0 : number;
}

static uint32_t frame_of(const struct firefox *from, uint32_t i)
{
	struct uniques *uniques = &from->import->builder->uniques;
	uint32_t function = cell(from, FRAME_FUNC, i);
	uint32_t resource = cell(from, FUNC_RESOURCE, function);
	uint32_t depth = cell(from, FRAME_DEPTH, i);
	struct profile_frame frame = {
		.name = string(from, cell(from, FUNC_NAME, function)),
		.inlined = depth != NUMBER_NONE && depth > 0,
	};

	if (!frame.name)
		frame.name = uniques_string(uniques, "[unknown]", strlen("[unknown]"));
	if (!frame.inlined)
		frame.module = string(from, cell(from, RESOURCE_NAME, resource));
	return uniques_frame(uniques, &frame, from->import->at);
}

/* A stack stands after its callers; of a deeper one those are kept. */
static void read_stacks(struct firefox *from, const char *table, struct numbers *nodes)
{
	struct uniques *uniques = &from->import->builder->uniques;
	const char *prefix = json_first(import_find(from->import, table, "prefix"));
	struct numbers depths = {0};

	for (const char *at = json_first(import_find(from->import, table, "frame")); at;
	     at = json_next(at)) {
		uint32_t caller = prefix ? number_at(prefix) : NUMBER_NONE;
		bool has_caller = depths.at && caller < depths.n;
		uint32_t depth = has_caller ? depths.at[caller] : 0;
		uint32_t node = has_caller ? nodes->at[caller] : 0;

		if (depth < PERF_TEXT_MAX_FRAMES) {
			node = uniques_node(uniques, node, frame_of(from, number_at(at)));
			depth++;
		} else {
			from->import->builder->facts.cut = true;
		}
		if (!put(from, &depths, depth) || !put(from, nodes, node))
			break;
		prefix = prefix ? json_next(prefix) : NULL;
	}
	free(depths.at);
}

static void read_strings(struct firefox *from, const char *array, struct numbers *strings)
{
	for (const char *at = json_first(array); at; at = json_next(at)) {
		buf_clear(&from->text);
		(void)json_string(at, &from->text);
		if (!put(from, strings,
			 uniques_string(&from->import->builder->uniques, buf_text(&from->text),
					strlen(buf_text(&from->text)))))
			return;
	}
}

/* What OWNER, a thread or "shared", has of the tables. */
static void read_tables(struct firefox *from, const char *owner, struct tables *tables)
{
	const char *strings = import_find(from->import, owner, "stringArray");

	read_strings(from, strings ? strings : import_find(from->import, owner, "stringTable"),
		     &tables->strings);
	for (size_t i = 0; i < N_COLUMNS; i++) {
		const char *table = import_find(from->import, owner, names[i].table);

		for (const char *at = json_first(import_find(from->import, table, names[i].name));
		     at; at = json_next(at))
			if (!put(from, &tables->columns[i], number_at(at)))
				return;
	}
	read_stacks(from, import_find(from->import, owner, "stackTable"), &tables->nodes);
}

/* A number, or a string that begins with one; -1. */
static int64_t id_of(struct firefox *from, const char *value)
{
	int64_t id = -1;

	if (json_decimal(value, 0, &id))
		return id;
	buf_clear(&from->text);
	return json_string(value, &from->text) && json_decimal(buf_text(&from->text), 0, &id) ? id
											      : -1;
}

static struct import_scale scale_of(struct firefox *from, const char *samples)
{
	struct import_scale scale;

	buf_clear(&from->text);
	(void)json_string(import_find(from->import, samples, "weightType"), &from->text);
	scale = import_scale_of(buf_text(&from->text));
	if (scale.unit == IMPORT_TIME)
		scale.multiply = 1; /* milliseconds are read as nanoseconds */
	return scale;
}

/* Times since the start, or each since the one before. */
struct clock {
	const char *at;
	bool deltas;
	uint64_t now;
};

static struct clock clock_of(const struct firefox *from, const char *samples)
{
	const char *times = json_first(import_find(from->import, samples, "time"));

	if (times)
		return (struct clock){.at = times};
	return (struct clock){.at = json_first(import_find(from->import, samples, "timeDeltas")),
			      .deltas = true};
}

static uint64_t clock_next(struct clock *clock)
{
	int64_t ns;

	if (clock->at && json_decimal(clock->at, MS_DIGITS, &ns) && ns >= 0)
		clock->now = clock->deltas ? saturated_add(clock->now, (uint64_t)ns) : (uint64_t)ns;
	clock->at = clock->at ? json_next(clock->at) : NULL;
	return clock->now;
}

static void read_samples(struct firefox *from, const char *samples, struct import_sample *sample)
{
	static const char *const events[] = {
		[IMPORT_SAMPLES] = "samples", [IMPORT_TIME] = "time", [IMPORT_BYTES] = "bytes"};
	const struct import_scale scale = scale_of(from, samples);
	const char *weight = json_first(import_find(from->import, samples, "weight"));
	struct clock clock = clock_of(from, samples);

	sample->head.event = events[weight ? scale.unit : IMPORT_SAMPLES];
	for (const char *at = json_first(import_find(from->import, samples, "stack")); at;
	     at = json_next(at)) {
		uint32_t node = get(&from->own.nodes, &from->shared.nodes, number_at(at));
		int64_t value = 1;

		if (!import_goes_on(from->import))
			return;
		(void)json_decimal(weight, scale.unit == IMPORT_TIME ? MS_DIGITS : 0, &value);
		weight = weight ? json_next(weight) : NULL;
		sample->stack = node == NUMBER_NONE ? 0 : node;
		sample->head.time_ns = clock_next(&clock);
		sample->head.period = import_scaled(&scale, value);
		import_add(from->import, sample);
	}
}

static int read_thread(struct firefox *from, const char *thread, struct err *err)
{
	const char *samples = import_find(from->import, thread, "samples");
	struct import_sample sample = {.head = {.cpu = -1}};
	struct buf name;

	if (import_find(from->import, samples, "schema"))
		return err_set(err, 0,
			       "it is a profile as Firefox records it, try: open it on "
			       "profiler.firefox.com, and save it from there");
	buf_init(&name, MAX_NAME);
	(void)json_string(import_find(from->import, thread, "name"), &name);
	sample.head.pid = id_of(from, import_find(from->import, thread, "pid"));
	sample.head.tid = id_of(from, import_find(from->import, thread, "tid"));
	sample.head.comm = buf_text(&name);
	read_tables(from, thread, &from->own);
	read_samples(from, samples, &sample);
	release(&from->own);
	buf_release(&name);
	return 0;
}

static void read_start(struct firefox *from, const char *meta)
{
	struct builder_facts *facts = &from->import->builder->facts;
	int64_t start_ns;

	if (!json_decimal(json_find(meta, "startTime"), MS_DIGITS, &start_ns) || start_ns <= 0)
		return;
	facts->epoch_offset_ns = (uint64_t)start_ns;
	facts->has_epoch = true;
}

int import_firefox(struct import *import, struct err *err)
{
	struct firefox from = {.import = import};
	int r = 0;

	import->has_times = true;
	buf_init(&from.text, MAX_NAME);
	read_start(&from, import_find(import, import->bytes, "meta"));
	read_tables(&from, import_find(import, import->bytes, "shared"), &from.shared);
	for (const char *at = json_first(import_find(import, import->bytes, "threads"));
	     at && r == 0 && import_goes_on(import); at = json_next(at))
		r = read_thread(&from, at, err);
	release(&from.shared);
	release(&from.own);
	buf_release(&from.text);
	return r;
}
