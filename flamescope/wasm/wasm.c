/* wasm.c - a profile, and what a query takes out of it, for the page */
#include "flamescope/wasm/internal.h"

#include "base/json.h"
#include "base/words.h"
#include "flamescope/draw/draw.h"
#include "flamescope/flame/flame.h"
#include "flamescope/heat/heat.h"
#include "flamescope/pack/pack.h"
#include "flamescope/profile_memory.h"
#include "flamescope/query/query.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ANSWER = 256 * 1024 * 1024 };

static const uint64_t second_ns = 1000000000;

static struct err error;
static struct buf answer = {.limit = MAX_ANSWER};

struct err *wasm_err(void)
{
	error = (struct err){0};
	return &error;
}

struct buf *wasm_answer(void)
{
	buf_clear(&answer);
	return &answer;
}

WASM_EXPORT("error_text") const char *wasm_error_text(void)
{
	return error.text;
}

WASM_EXPORT("allocate") void *wasm_allocate(size_t n_bytes)
{
	return malloc(n_bytes ? n_bytes : 1);
}

WASM_EXPORT("release") void wasm_release(void *block)
{
	free(block);
}

static struct wasm_view view;

const struct wasm_view *wasm_view(const void *data, size_t n, enum wasm_type type)
{
	view = (struct wasm_view){.data = data, .n = (uint32_t)n, .type = type};
	return &view;
}

static void *own(size_t n, size_t size, enum wasm_type type)
{
	void *data = reallocarray(NULL, n + 1, size);

	(void)wasm_view(data, data ? n : 0, type);
	view.owned = data != NULL;
	return data;
}

const struct wasm_view *wasm_doubles(size_t n, double **ret_values)
{
	*ret_values = own(n, sizeof(**ret_values), WASM_F64);
	return &view;
}

const struct wasm_view *wasm_numbers(size_t n, uint32_t **ret_values)
{
	*ret_values = own(n, sizeof(**ret_values), WASM_U32);
	return &view;
}

/* --- profiles --- */

/* Takes BYTES, which are of allocate(). */
WASM_EXPORT("profile_new") struct profile *wasm_profile_new(void *bytes, size_t n_bytes)
{
	struct profile *profile = NULL;

	if (pack_read(bytes, n_bytes, &profile, wasm_err()) < 0) {
		free(bytes);
		return NULL;
	}
	if (profile_keep(profile, bytes) == 0) {
		(void)flame_sort_profile(profile); /* else graphs take longer */
		return profile;
	}
	profile_free(profile);
	(void)err_set(wasm_err(), ENOMEM, "a profile");
	return NULL;
}

WASM_EXPORT("profile_free") void wasm_profile_free(struct profile *profile)
{
	profile_free(profile);
}

/* A number of 64 bits, which JSON's readers do not have. */
static void add_wide(struct buf *buf, const char *name, uint64_t value)
{
	buf_printf(buf, ",\"%s\":\"%llu\"", name, (unsigned long long)value);
}

static void add_file(struct buf *buf, const struct profile_file *file)
{
	uint64_t n = file->bad_lines < PROFILE_BAD_LINES ? file->bad_lines : PROFILE_BAD_LINES;

	buf_add_char(buf, '{');
	json_add_text(buf, "path", file->path);
	json_add_number(buf, "bytes", file->bytes);
	json_add_number(buf, "samples", file->samples);
	json_add_number(buf, "bad_lines", file->bad_lines);
	add_wide(buf, "lost", file->lost);
	buf_add(buf, ",\"bad\":[");
	for (size_t i = 0; i < n; i++)
		buf_printf(buf, i ? ",%llu" : "%llu", (unsigned long long)file->bad[i]);
	buf_add_char(buf, ']');
	json_add_bool(buf, "cut", file->cut);
	json_add_bool(buf, "unended", file->unended);
	if (file->problem)
		json_add_text(buf, "problem", file->problem);
	buf_add_char(buf, '}');
}

static void add_threads(struct buf *buf, const struct profile *profile)
{
	buf_add(buf, ",\"threads\":[");
	for (size_t i = 0; i < profile->n_threads; i++) {
		const struct profile_thread *thread = &profile->thread_list[i];

		buf_printf(buf, "%s{\"pid\":%d,\"tid\":%d", i ? "," : "", thread->pid, thread->tid);
		json_add_text(buf, "comm", profile->strings[thread->comm]);
		json_add_text(buf, "host", profile->strings[thread->host]);
		buf_add_char(buf, '}');
	}
	buf_add_char(buf, ']');
}

/* What a sample of EVENT stands for. */
static void add_period(struct buf *buf, const struct profile *profile, uint32_t event)
{
	const struct period period = period_of(profile, event);

	buf_printf(buf, "{\"multiply\":%llu,\"divide\":%llu", (unsigned long long)period.multiply,
		   (unsigned long long)period.divide);
	json_add_text(buf, "unit", period.unit);
	json_add_text(buf, "noun", period.noun);
	json_add_bool(buf, "isDefault", period.is_default);
	buf_add_char(buf, '}');
}

/* Of all events together, and then of each. */
static void add_events(struct buf *buf, const struct profile *profile)
{
	buf_add(buf, ",\"periods\":[");
	add_period(buf, profile, SELECTION_EVERY_EVENT);
	for (size_t i = 0; i < profile->n_events; i++) {
		buf_add_char(buf, ',');
		add_period(buf, profile, (uint32_t)i);
	}
	buf_add(buf, "],\"events\":[");
	for (size_t i = 0; i < profile->n_events; i++) {
		buf_add(buf, i ? "," : "");
		json_add_string(buf, profile->strings[profile->event_names[i]]);
	}
	buf_add_char(buf, ']');
}

static void add_lists(struct buf *buf, const struct profile *profile)
{
	buf_add(buf, ",\"tags\":[");
	for (size_t i = 0; i < profile->n_tags; i++) {
		buf_printf(buf, "%s{\"n\":%u", i ? "," : "", profile->tags[i].n_values);
		json_add_text(buf, "name", profile->strings[profile->tags[i].name]);
		buf_add_char(buf, '}');
	}
	buf_add(buf, "],\"metrics\":[");
	for (size_t i = 0; i < profile->n_metrics; i++) {
		const struct profile_metric *metric = &profile->metrics[i];

		buf_printf(buf, "%s{\"kind\":\"%s\"", i ? "," : "",
			   metric->kind == METRIC_GAUGE ? "gauge" : "counter");
		json_add_text(buf, "name", profile->strings[metric->name]);
		json_add_text(buf, "unit", profile->strings[metric->unit]);
		buf_add_char(buf, '}');
	}
	buf_add(buf, "],\"files\":[");
	for (size_t i = 0; i < profile->n_files; i++) {
		buf_add(buf, i ? "," : "");
		add_file(buf, &profile->files[i]);
	}
	buf_add_char(buf, ']');
}

/* The round times that columns of a heatmap may have. */
static void add_columns(struct buf *buf, const struct profile *profile)
{
	const uint64_t *columns_ns;
	size_t n = heat_columns(profile->length_ns, &columns_ns);

	for (size_t i = 0; i < n; i++)
		buf_printf(buf, "%s%llu", i ? "," : ",\"columns\":[",
			   (unsigned long long)columns_ns[i]);
	buf_add_char(buf, ']');
}

static bool has_cpus(const struct profile *profile)
{
	for (size_t i = 0; i < profile->n_samples; i++)
		if (profile->cpus[i] != PROFILE_CPU_UNKNOWN)
			return true;
	return false;
}

/* What samples can be told apart by, what says most first. */
static void add_dimensions(struct buf *buf, const struct profile *profile)
{
	bool pid = false, tid = false, host = false;

	for (size_t i = 0; i < profile->n_threads; i++) {
		const struct profile_thread *thread = &profile->thread_list[i];

		pid |= thread->pid >= 0;
		tid |= thread->tid >= 0;
		host |= profile->strings[thread->host][0] != '\0';
	}
	buf_add(buf, ",\"dimensions\":[");
	for (size_t i = 0; i < profile->n_tags; i++) {
		json_add_string(buf, profile->strings[profile->tags[i].name]);
		buf_add_char(buf, ',');
	}
	buf_printf(buf, "\"thread\",\"comm\"%s%s%s%s%s]", pid ? ",\"process\",\"pid\"" : "",
		   tid ? ",\"tid\"" : "", host ? ",\"host\"" : "",
		   has_cpus(profile) ? ",\"cpu\"" : "", profile->n_events > 1 ? ",\"event\"" : "");
}

/* What all samples stand for. */
static void add_sum(struct buf *buf, const struct profile *profile)
{
	const struct period period = period_of(profile, SELECTION_EVERY_EVENT);
	double sum = 0;

	for (size_t i = 0; i < profile->n_samples; i++)
		sum += (double)period_value(&period, profile->weights[i]);
	buf_printf(buf, ",\"sum\":%.0f", sum); /* may be beyond 64 bits */
}

/* What a profile says of itself. */
WASM_EXPORT("profile_facts") const char *wasm_profile_facts(const struct profile *profile)
{
	struct buf *buf = wasm_answer();
	struct buf command = {.limit = MAX_ANSWER};

	buf_printf(buf, "{\"n\":%zu,\"nFrames\":%zu,\"nNodes\":%zu,\"epochOffsetNs\":\"%lld\"",
		   profile->n_samples, profile->n_frames, profile->n_nodes,
		   (long long)profile->epoch_offset_ns);
	add_wide(buf, "startNs", profile->start_ns);
	json_add_number(buf, "lengthNs", profile->length_ns);
	json_add_bool(buf, "hasEpoch", profile->has_epoch);
	json_add_bool(buf, "isWick", profile->is_wick);
	json_add_bool(buf, "hasTimes", profile->has_times);
	json_add_number(buf, "hz", profile->hz);
	words_command(&command, profile->strings[profile->command]);
	json_add_text(buf, "command", buf_text(&command));
	buf_release(&command);
	json_add_text(buf, "captured", profile->strings[profile->captured]);
	json_add_number(buf, "startSecond", profile->start_ns / second_ns);
	json_add_number(buf, "startSub", profile->start_ns % second_ns);
	add_sum(buf, profile);
	add_columns(buf, profile);
	add_dimensions(buf, profile);
	add_threads(buf, profile);
	add_events(buf, profile);
	add_lists(buf, profile);
	buf_add_char(buf, '}');
	return buf_text(buf);
}

WASM_EXPORT("profile_string")
const char *wasm_profile_string(const struct profile *profile, uint32_t number)
{
	return number < profile->n_strings ? profile->strings[number] : "";
}

static const struct wasm_view *wide(const uint64_t *numbers, size_t n)
{
	double *to;
	const struct wasm_view *column = wasm_doubles(n, &to);

	for (size_t i = 0; to && i < n; i++)
		to[i] = (double)numbers[i];
	return column;
}

/* What is not there is NaN. */
static const struct wasm_view *sparse(const int64_t *numbers, size_t n)
{
	double *to;
	const struct wasm_view *column = wasm_doubles(n, &to);

	for (size_t i = 0; to && i < n; i++)
		to[i] = numbers[i] == PROFILE_ABSENT ? (double)NAN : (double)numbers[i];
	return column;
}

static const struct wasm_view *sample_column(const struct profile *p, const char *name)
{
	const size_t n = p->n_samples;

	if (strcmp(name, "time") == 0)
		return wide(p->times_ns, n);
	if (strcmp(name, "weight") == 0)
		return wide(p->weights, n);
	if (strcmp(name, "thread") == 0)
		return wasm_view(p->threads, n, WASM_U32);
	if (strcmp(name, "stack") == 0)
		return wasm_view(p->stacks, n, WASM_U32);
	if (strcmp(name, "cpu") == 0)
		return wasm_view(p->cpus, n, WASM_U16);
	if (strcmp(name, "event") == 0)
		return wasm_view(p->events, n, WASM_U8);
	return NULL;
}

static const struct wasm_view *frame_column(const struct profile *p, const char *name)
{
	if (strcmp(name, "name") == 0)
		return WASM_NUMBERS(p->frames, p->n_frames, name);
	if (strcmp(name, "module") == 0)
		return WASM_NUMBERS(p->frames, p->n_frames, module);
	if (strcmp(name, "inlined") == 0)
		return WASM_NUMBERS(p->frames, p->n_frames, inlined);
	return NULL;
}

/* All strings, each with its NUL. */
static const struct wasm_view *strings_column(const struct profile *profile)
{
	size_t n_bytes = 0;
	char *at;

	for (size_t i = 0; i < profile->n_strings; i++)
		n_bytes += strlen(profile->strings[i]) + 1;
	at = own(n_bytes, 1, WASM_U8);
	for (size_t i = 0; at && i < profile->n_strings; i++)
		at = stpcpy(at, profile->strings[i]) + 1;
	return &view;
}

static const struct wasm_view *numbered_column(const struct profile *p, const char *name, size_t i)
{
	if (strcmp(name, "tag_codes") == 0 && i < p->n_tags)
		return wasm_view(p->tags[i].codes, p->n_samples, WASM_U32);
	if (strcmp(name, "tag_values") == 0 && i < p->n_tags)
		return wasm_view(p->tags[i].values, p->tags[i].n_values, WASM_U32);
	if (strcmp(name, "metric_values") == 0 && i < p->n_metrics)
		return sparse(p->metrics[i].values, p->n_samples);
	if (strcmp(name, "metric_deltas") == 0 && i < p->n_metrics)
		return sparse(p->metrics[i].deltas, p->n_samples);
	return NULL;
}

/* A column of a profile: "time", "frame_name", "metric_values" of metric I. */
WASM_EXPORT("profile_column")
const struct wasm_view *wasm_profile_column(const struct profile *profile, const char *name,
					    size_t i)
{
	const struct wasm_view *column = sample_column(profile, name);

	if (!column && strncmp(name, "frame_", 6) == 0)
		column = frame_column(profile, name + 6);
	if (!column && strcmp(name, "node_parent") == 0)
		column = WASM_NUMBERS(profile->nodes, profile->n_nodes, parent);
	if (!column && strcmp(name, "node_frame") == 0)
		column = WASM_NUMBERS(profile->nodes, profile->n_nodes, frame);
	if (!column && strcmp(name, "strings") == 0)
		column = strings_column(profile);
	return column ? column : numbered_column(profile, name, i);
}

/* --- selections --- */

/* STEP of the words of a page's URL: "focus:main", "collapse"; it frees FROM. */
static struct selection *transform(struct selection *from, const char *step, struct err *err)
{
	static const char *const kinds[] = {
		[TRANSFORM_FOCUS] = "focus",       [TRANSFORM_MERGE] = "merge",
		[TRANSFORM_COLLAPSE] = "collapse", [TRANSFORM_DROP] = "drop",
		[TRANSFORM_HIDE] = "hide",
	};
	const char *of = strchrnul(step, ':');
	const size_t len = (size_t)(of - step);
	struct selection *to = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i]) == len && strncmp(step, kinds[i], len) == 0)
			(void)selection_transform(from, (enum transform_kind)i, of + (*of == ':'),
						  &to, err);
	selection_free(from);
	return to;
}

/*
 * WORDS are "name\0value\0" and so on, as options of the command line without their dashes, or "t"
 * and a step that changes stacks; an empty name is at the end.  EVERY_EVENT: also samples of other
 * events than the first.
 */
WASM_EXPORT("selection_new")
struct selection *wasm_selection_new(const struct profile *profile, const char *words,
				     int every_event)
{
	struct selection *selection = NULL;
	struct query_words query = {0};
	struct err *err = wasm_err();
	const char *value;
	int r = 0;

	for (const char *name = words; r >= 0 && *name; name = value + strlen(value) + 1) {
		value = name + strlen(name) + 1;
		if (strcmp(name, "t") != 0)
			r = query_words_take(&query, name, value, err);
	}
	query.query.every_event = every_event != 0;
	if (r >= 0)
		(void)selection_make(profile, &query.query, &selection, err);
	for (const char *name = words; selection && *name; name = value + strlen(value) + 1) {
		value = name + strlen(name) + 1;
		if (strcmp(name, "t") == 0)
			selection = transform(selection, value, err);
	}
	query_words_release(&query);
	return selection;
}

WASM_EXPORT("selection_free") void wasm_selection_free(struct selection *selection)
{
	selection_free(selection);
}

WASM_EXPORT("selection_facts") const char *wasm_selection_facts(const struct selection *selection)
{
	struct buf *buf = wasm_answer();
	struct buf precision = {.limit = MAX_ANSWER};
	double sum = 0, size = 0;

	measure_precision(&precision, selection);
	for (size_t i = 0; i < selection->n; i++) {
		sum += (double)selection->values[i];
		size += fabs((double)selection->values[i]);
	}
	buf_printf(buf, "{\"n\":%zu,\"nNodes\":%zu,\"event\":%d", selection->n, selection->n_nodes,
		   selection->event == SELECTION_EVERY_EVENT ? -1 : (int)selection->event);
	buf_printf(buf, ",\"sum\":%.17g,\"size\":%.17g", sum, size);
	json_add_text(buf, "measure", measure_word(selection));
	json_add_text(buf, "precision", buf_text(&precision));
	buf_release(&precision);
	json_add_text(buf, "unit", selection->unit);
	json_add_text(buf, "noun", selection->noun);
	json_add_number(buf, "nAbsent", selection->n_absent);
	json_add_number(buf, "nIdle", selection->n_idle);
	json_add_number(buf, "nOthers", selection->n_others);
	json_add_bool(buf, "isSigned", selection->is_signed);
	json_add_bool(buf, "hasSpans", selection->spans && selection->n);
	buf_add(buf, ",\"labels\":[");
	for (size_t i = 0; i < selection->n_labels; i++) {
		if (i)
			buf_add_char(buf, ',');
		json_add_string(buf, selection->labels[i]);
	}
	buf_add(buf, "]}");
	return buf_text(buf);
}

WASM_EXPORT("selection_column")
const struct wasm_view *wasm_selection_column(const struct selection *selection, const char *name)
{
	const size_t n_nodes = selection->n_nodes;

	if (strcmp(name, "samples") == 0)
		return wasm_view(selection->samples, selection->n, WASM_U32);
	if (strcmp(name, "stacks") == 0)
		return wasm_view(selection->stacks, selection->n, WASM_U32);
	if (strcmp(name, "values") == 0)
		return sparse(selection->values, selection->n);
	if (strcmp(name, "span_from") == 0)
		return WASM_DOUBLES(selection->spans, selection->spans ? selection->n : 0, from_ns);
	if (strcmp(name, "span_to") == 0)
		return WASM_DOUBLES(selection->spans, selection->spans ? selection->n : 0, to_ns);
	if (strcmp(name, "node_parent") == 0)
		return WASM_NUMBERS(selection->nodes, n_nodes, parent);
	return WASM_NUMBERS(selection->nodes, n_nodes, frame);
}
