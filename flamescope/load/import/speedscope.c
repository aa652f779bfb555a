/*
 * speedscope.c - https://www.speedscope.app/file-format-schema.json: each profile is a thread
 *
 * Where values are times they are also when a sample is taken: one lasts until the next.
 */
#include "flamescope/load/import/import.h"

#include "base/json.h"
#include "base/saturated.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 64 * 1024 };

struct speedscope {
	struct import *import;
	struct buf name, module;
	uint32_t *frames; /* of the builder */
	size_t n_frames, max_frames;
	struct import_scale scale; /* of the profile that is read */
	char comm[256];
	struct import_sample sample;
};

static const char *text_of(const char *object, const char *name, struct buf *buf)
{
	buf_clear(buf);
	(void)json_string(json_find(object, name), buf);
	return buf_text(buf);
}

static void read_frames(struct speedscope *from, const char *shared)
{
	for (const char *at = json_first(json_find(shared, "frames")); at; at = json_next(at))
		if (!import_put(from->import, &from->frames, &from->n_frames, &from->max_frames,
				import_frame(from->import, text_of(at, "name", &from->name),
					     text_of(at, "file", &from->module))))
			return;
}

/* NUMBER_NONE: it is none. */
static uint32_t frame_at(const struct speedscope *from, const char *value)
{
	int64_t number;

	if (!json_decimal(value, 0, &number) || number < 0 || (uint64_t)number >= from->n_frames)
		return NUMBER_NONE;
	return from->frames[number];
}

/* `work pid: 7 tid: 8`, as perf's and wick's profiles are called. */
static void read_thread(struct speedscope *from, const char *name)
{
	const char *pid = strstr(name, " pid: ");
	const char *tid = strstr(name, " tid: ");
	const char *end = pid ? pid : tid;

	from->sample.head = (struct perf_head){
		.comm = from->comm,
		.pid = pid ? strtol(pid + 6, NULL, 10) : -1,
		.tid = tid ? strtol(tid + 6, NULL, 10) : -1,
		.cpu = -1,
	};
	(void)snprintf(from->comm, sizeof(from->comm), "%.*s",
		       (int)(end ? end - name : (ssize_t)strlen(name)), name);
}

static void add(struct speedscope *from, uint32_t stack, int64_t weight)
{
	static const char *const events[] = {
		[IMPORT_SAMPLES] = "samples", [IMPORT_TIME] = "time", [IMPORT_BYTES] = "bytes"};
	struct perf_head *head = &from->sample.head;

	head->event = events[from->scale.unit];
	head->period = import_scaled(&from->scale, weight);
	from->sample.stack = stack;
	import_add(from->import, &from->sample);
	if (from->scale.unit == IMPORT_TIME)
		head->time_ns = saturated_add(head->time_ns, head->period);
}

/* Outermost first; of a deeper stack those are kept. */
static uint32_t read_stack(struct speedscope *from, const char *stack)
{
	struct uniques *uniques = &from->import->builder->uniques;
	uint32_t node = 0;
	size_t n = 0;

	for (const char *at = json_first(stack); at; at = json_next(at)) {
		uint32_t frame = frame_at(from, at);

		if (frame == NUMBER_NONE)
			continue;
		if (n++ == PERF_TEXT_MAX_FRAMES) {
			from->import->builder->facts.cut = true;
			break;
		}
		node = uniques_node(uniques, node, frame);
	}
	return node;
}

static void read_sampled(struct speedscope *from, const char *profile, int digits)
{
	const char *weight = json_first(import_find(from->import, profile, "weights"));

	for (const char *at = json_first(import_find(from->import, profile, "samples")); at;
	     at = json_next(at)) {
		int64_t value = 1;

		if (!import_goes_on(from->import))
			return;
		if (weight && !json_decimal(weight, digits, &value))
			value = 0;
		weight = weight ? json_next(weight) : NULL;
		add(from, read_stack(from, at), value);
	}
}

/* Frames that are opened and closed; what is closed out of turn closes those inside it. */
static void read_evented(struct speedscope *from, const char *profile, int digits)
{
	struct uniques *uniques = &from->import->builder->uniques;
	struct perf_head *head = &from->sample.head;
	int64_t before = 0;
	uint32_t node = 0;
	size_t depth = 0, hidden = 0;

	(void)json_decimal(import_find(from->import, profile, "startValue"), digits, &before);
	for (const char *at = json_first(import_find(from->import, profile, "events")); at;
	     at = json_next(at)) {
		uint32_t frame = frame_at(from, json_find(at, "frame"));
		const char *type = text_of(at, "type", &from->name);
		int64_t now = before;

		if (!import_goes_on(from->import))
			return;
		(void)json_decimal(json_find(at, "at"), digits, &now);
		if (now > before && before >= 0) {
			head->time_ns = from->scale.unit == IMPORT_TIME
						? import_scaled(&from->scale, before)
						: 0;
			add(from, node, now - before);
		}
		before = now > before ? now : before;
		if (*type == 'O' && frame != NUMBER_NONE && depth == PERF_TEXT_MAX_FRAMES) {
			from->import->builder->facts.cut = true;
			hidden++;
		} else if (*type == 'O' && frame != NUMBER_NONE) {
			node = uniques_node(uniques, node, frame);
			depth++;
		} else if (*type == 'C' && hidden) {
			hidden--;
		} else if (*type == 'C' && node) {
			node = uniques->nodes[node].parent;
			depth--;
		}
	}
}

static void read_profile(struct speedscope *from, const char *profile)
{
	int digits = 0;

	from->scale = import_scale_of(text_of(profile, "unit", &from->name));
	read_thread(from, text_of(profile, "name", &from->name));
	/* Values have fractions: times are read in nanoseconds. */
	for (; from->scale.unit == IMPORT_TIME && from->scale.multiply > 1;
	     from->scale.multiply /= 10)
		digits++;
	from->import->has_times |= from->scale.unit == IMPORT_TIME;
	if (*text_of(profile, "type", &from->name) == 'e') {
		read_evented(from, profile, digits);
		return;
	}
	if (from->scale.unit == IMPORT_TIME) {
		int64_t start = 0;

		(void)json_decimal(import_find(from->import, profile, "startValue"), digits,
				   &start);
		from->sample.head.time_ns = start > 0 ? (uint64_t)start : 0;
	}
	read_sampled(from, profile, digits);
}

int import_speedscope(struct import *import, struct err *err)
{
	struct speedscope from = {.import = import};

	(void)err;
	buf_init(&from.name, MAX_NAME);
	buf_init(&from.module, MAX_NAME);
	read_frames(&from, import_find(import, import->bytes, "shared"));
	for (const char *at = json_first(import_find(import, import->bytes, "profiles"));
	     at && import_goes_on(import); at = json_next(at))
		read_profile(&from, at);
	buf_release(&from.name);
	buf_release(&from.module);
	free(from.frames);
	return 0;
}
