/* meta_read.c - the JSON of a pack, none of it believed */
#include "flamescope/pack/pack_parts.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

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

static int read_tag(struct profile *profile, const json_t *from)
{
	const json_t *values = json_object_get(from, "values");
	struct profile_tag *tag = &profile->tags[profile->n_tags];
	size_t n = json_array_size(values);

	if (n == 0 || n > PROFILE_TAG_OTHER)
		return -EBADMSG;
	tag->name = string_number(json_object_get(from, "name"));
	tag->values = profile_alloc(profile, n, sizeof(*tag->values));
	if (!tag->values)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		tag->values[i] = string_number(json_array_get(values, i));
	tag->n_values = (uint32_t)n;
	profile->n_tags++;
	return 0;
}

static int read_lists(struct profile *profile, const json_t *meta)
{
	const json_t *tags = json_object_get(meta, "tags");
	const json_t *metrics = json_object_get(meta, "metrics");
	const json_t *events = json_object_get(meta, "events");
	int r = 0;

	if (json_array_size(tags) > PROFILE_MAX_TAGS ||
	    json_array_size(metrics) > PROFILE_MAX_METRICS ||
	    json_array_size(events) > PROFILE_MAX_EVENTS)
		return -EBADMSG;
	for (size_t i = 0; i < json_array_size(tags) && r == 0; i++)
		r = read_tag(profile, json_array_get(tags, i));
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
	return r;
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
