/* import.c - which format a file has, and what all of them have in common */
#include "flamescope/load/import/import.h"

#include "base/json.h"

#include <errno.h>
#include <string.h>

enum {
	MAX_VALUE_TYPE = 22, /* bytes of two numbers */
	STEPS = 4096,        /* after which DONE is told */
};

static const char bom[] = "\xef\xbb\xbf";

/* Writers begin with the first type of values, {type, unit}, or with the first string, "". */
static bool is_pprof(const char *bytes, size_t len)
{
	static const char strings[] = {0x32, 0x00, 0x32};

	if (len < sizeof(strings))
		return false;
	return (bytes[0] == 0x0a && bytes[1] >= 2 && bytes[1] <= MAX_VALUE_TYPE &&
		(bytes[2] == 0x08 || bytes[2] == 0x10)) ||
	       memcmp(bytes, strings, sizeof(strings)) == 0;
}

static bool is_json(const char *bytes, size_t len)
{
	size_t at = len > 3 && memcmp(bytes, bom, 3) == 0 ? 3 : 0;

	while (at < len && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	if (at == len || bytes[at] != '{')
		return false;
	for (at++; at < len && bytes[at] && strchr(" \t\r\n", bytes[at]);)
		at++;
	return at < len && (bytes[at] == '"' || bytes[at] == '}');
}

enum import_kind import_kind_of(const char *bytes, size_t len)
{
	if (is_json(bytes, len))
		return IMPORT_JSON;
	return is_pprof(bytes, len) ? IMPORT_PPROF : IMPORT_NONE;
}

static int read_json(struct import *import, struct err *err)
{
	const char *root;

	if (import->len >= 3 && memcmp(import->bytes, bom, 3) == 0)
		import->bytes += 3;
	root = import->bytes;
	if (!json_skip(root))
		return err_set(err, 0, "it is JSON that is damaged, or ends in the middle");
	if (import_find(import, root, "profiles") &&
	    import_find(import, import_find(import, root, "shared"), "frames"))
		return import_speedscope(import, err);
	if (import_find(import, root, "threads") && import_find(import, root, "meta"))
		return import_firefox(import, err);
	return err_set(err, 0, "it is JSON, but neither of speedscope nor of the Firefox Profiler");
}

int import_read(struct import *import, enum import_kind kind, struct err *err)
{
	int r;

	builder_start_segment(import->builder, import->at);
	r = kind == IMPORT_PPROF ? import_pprof(import, err) : read_json(import, err);
	return import->stopped ? -ETIMEDOUT : r;
}

struct import_scale import_scale_of(const char *unit)
{
	static const struct {
		const char *names[3];
		struct import_scale scale;
	} known[] = {
		{{"nanoseconds", "ns", "nanosecond"}, {IMPORT_TIME, 1}},
		{{"microseconds", "us", "microsecond"}, {IMPORT_TIME, 1000}},
		{{"milliseconds", "ms", "tracing-ms"}, {IMPORT_TIME, 1000000}},
		{{"seconds", "s", "second"}, {IMPORT_TIME, 1000000000}},
		{{"bytes", "B", "byte"}, {IMPORT_BYTES, 1}},
		{{"kilobytes", "kb", "KiB"}, {IMPORT_BYTES, 1024}},
		{{"megabytes", "mb", "MiB"}, {IMPORT_BYTES, 1048576}},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		for (size_t k = 0; k < 3; k++)
			if (strcmp(unit, known[i].names[k]) == 0)
				return known[i].scale;
	return (struct import_scale){IMPORT_SAMPLES, 1};
}

uint64_t import_scaled(const struct import_scale *scale, int64_t value)
{
	int64_t scaled;

	if (value <= 0)
		return 0;
	return __builtin_mul_overflow(value, scale->multiply, &scaled) ? INT64_MAX
								       : (uint64_t)scaled;
}

bool import_goes_on(struct import *import)
{
	if (++import->n_steps % STEPS == 0 && import->done && !import->stopped)
		import->stopped = !import->done(import->context, import->len);
	return !import->stopped && !budget_failed(import->builder->uniques.budget);
}

const char *import_find(struct import *import, const char *object, const char *name)
{
	import->n_steps |= STEPS - 1; /* the next one is told */
	return import_goes_on(import) ? json_find(object, name) : NULL;
}

void import_add(struct import *import, const struct import_sample *sample)
{
	struct perf_head head = sample->head;
	struct perf_facts none;
	struct builder_sample added = {.head = &head,
				       .facts = sample->facts,
				       .stack = sample->stack,
				       .at = import->at + import->builder->n_samples};

	if (head.time_ns > INT64_MAX)
		head.time_ns = INT64_MAX;
	if (!sample->facts) {
		memset(&none, 0, offsetof(struct perf_facts, metrics));
		none.from_head = false;
		none.n_words = 0;
		added.facts = &none;
	}
	builder_add(import->builder, &added);
}

uint32_t import_frame(struct import *import, const char *name, const char *module)
{
	struct perf_frame frame = {.name = *name ? name : "[unknown]", .module = module};

	return builder_frame(import->builder, &frame, import->at);
}

bool import_put(struct import *import, uint32_t **array, size_t *n, size_t *max, uint32_t value)
{
	if (!import_goes_on(import))
		return false;
	if (*n == *max) {
		size_t want = *max ? 2 * *max : 256;
		uint32_t *grown = budget_grow(import->builder->uniques.budget, *array, *max, want,
					      sizeof(*grown));

		if (!grown)
			return false;
		*array = grown;
		*max = want;
	}
	(*array)[(*n)++] = value;
	return true;
}
