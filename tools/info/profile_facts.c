/* profile_facts.c - counts what is in a recording, in memory that does not grow with its length */
#include "tools/info/internal.h"

#include "base/json.h"
#include "base/saturated.h"
#include "flamescope/query/query.h"
#include "flamescope/text/text.h"
#include "output/text/perf_script.h"
#include "tools/summary/module_list.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 64 * 1024 };

static void copy_view(char *to, size_t size, const char *from, size_t len)
{
	if (len >= size)
		len = size - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

uint64_t profile_counts_find(const struct profile_counts *counts, const char *name,
			     uint64_t fallback)
{
	for (size_t i = 0; i < counts->n; i++)
		if (strcmp(counts->items[i].name, name) == 0)
			return counts->items[i].value;
	return fallback;
}

static struct profile_count *new_count(struct profile_counts *counts, const char *name, size_t len)
{
	struct profile_count *count;

	if (counts->n == PROFILE_MAX_COUNTS)
		return NULL;
	count = &counts->items[counts->n++];
	*count = (struct profile_count){0};
	copy_view(count->name, sizeof(count->name), name, len);
	return count;
}

/* Whole numbers of the outermost object. */
static void take_number(struct profile_counts *counts, const struct json_pair *pair)
{
	struct profile_count *count;
	uint64_t value;

	if (pair->depth != 1 || !json_scan_number(pair, &value))
		return;
	count = new_count(counts, pair->name, pair->name_len);
	if (count)
		count->value = value;
}

/* The same of a second end line: each says what was added since the one before. */
static void add_number(struct profile_counts *counts, const struct json_pair *pair)
{
	uint64_t value;

	for (size_t i = 0; i < counts->n; i++) {
		struct profile_count *count = &counts->items[i];

		if (pair->depth == 1 && json_scan_is(pair, count->name) &&
		    json_scan_number(pair, &value)) {
			count->value = saturated_add(count->value, value);
			return;
		}
	}
	take_number(counts, pair);
}

/* "name", "unit" and "kind" of the objects in "metrics". */
static void take_metric(struct profile_counts *metrics, const struct json_pair *pair)
{
	struct profile_count *last = metrics->n ? &metrics->items[metrics->n - 1] : NULL;

	if (pair->depth != 3 || !pair->is_string)
		return;
	if (json_scan_is(pair, "name"))
		(void)new_count(metrics, pair->value, pair->value_len);
	else if (last && json_scan_is(pair, "unit"))
		copy_view(last->unit, sizeof(last->unit), pair->value, pair->value_len);
	else if (last && json_scan_is(pair, "kind"))
		copy_view(last->kind, sizeof(last->kind), pair->value, pair->value_len);
}

/* A head has one, and so has a line where the rate has changed. */
static void take_rate(struct profile_facts *facts, const char *json)
{
	struct json_scan scan = {.at = json};
	struct json_pair pair;
	uint64_t hz;

	while (json_scan_next(&scan, &pair)) {
		if (pair.depth != 1 || !json_scan_is(&pair, "hz") ||
		    !json_scan_number(&pair, &hz) || hz == 0)
			continue;
		facts->hz = hz;
		if (!facts->least_hz || hz < facts->least_hz)
			facts->least_hz = hz;
		if (hz > facts->most_hz)
			facts->most_hz = hz;
	}
}

/* Up to NOW it was what the last line said. */
static void count_lowered(struct profile_facts *facts, uint64_t now_ns)
{
	if (facts->effective_hz && now_ns > facts->lowered_since_ns)
		facts->lowered_ns += now_ns - facts->lowered_since_ns;
	facts->lowered_since_ns = now_ns;
}

static void on_rate(void *context, const char *json)
{
	struct profile_facts *facts = context;
	struct json_scan scan = {.at = json};
	struct json_pair pair;
	uint64_t effective_hz = 0;
	uint64_t now_ns = 0;

	take_rate(facts, json);
	while (json_scan_next(&scan, &pair)) {
		if (pair.depth == 1 && json_scan_is(&pair, "effective_hz"))
			(void)json_scan_number(&pair, &effective_hz);
		else if (pair.depth == 1 && json_scan_is(&pair, "time_ns"))
			(void)json_scan_number(&pair, &now_ns);
	}
	count_lowered(facts, now_ns);
	facts->effective_hz = effective_hz < facts->hz ? effective_hz : 0;
	if (facts->effective_hz && (!facts->lowest_hz || effective_hz < facts->lowest_hz))
		facts->lowest_hz = effective_hz;
}

static void on_header(void *context, const char *json)
{
	struct profile_facts *facts = context;
	struct json_scan scan = {.at = json};
	struct json_pair pair;

	take_rate(facts, json);
	if (facts->has_header)
		return;
	facts->has_header = true;
	while (json_scan_next(&scan, &pair)) {
		take_number(&facts->header, &pair);
		take_metric(&facts->metrics, &pair);
	}
}

/* `# captured on    : ...` and `# cmdline : ...` */
static void on_comment(void *context, const char *text)
{
	struct profile_facts *facts = context;
	const char *colon = strstr(text, ": ");

	if (!colon)
		return;
	facts->exact_rows += perf_line_is_totals(text);
	if (strncmp(text, "# trigger : ", 12) == 0)
		profile_triggers_take(&facts->triggers, &facts->names, colon + 2);
	if (!facts->captured[0] && strncmp(text, "# captured on", 13) == 0)
		copy_view(facts->captured, sizeof(facts->captured), colon + 2, strlen(colon + 2));
	else if (!facts->cmdline && strncmp(text, "# cmdline", 9) == 0)
		facts->cmdline = strndup(colon + 2, 4096);
}

/* Seconds of it; without a rate the weight is all that is known. */
static double stands_for(const struct profile_facts *facts, const struct perf_head *head)
{
	return (double)head->period / (facts->hz ? (double)facts->hz : 1);
}

static void count_thread(struct profile_facts *facts, const struct perf_text_sample *sample)
{
	const struct perf_head *head = &sample->head;
	int64_t tid = head->tid < 0 ? 0 : head->tid;
	int64_t pid = head->pid < 0 ? tid : head->pid;
	uint64_t key = (uint64_t)pid << 32 | (uint64_t)tid;
	struct thread_count *thread = map_get(&facts->threads, key);

	if (!thread && map_count(&facts->threads) < PROFILE_MAX_THREADS) {
		thread = calloc(1, sizeof(*thread));
		if (thread && map_put(&facts->threads, key, thread) < 0) {
			free(thread);
			thread = NULL;
		}
	}
	if (!thread) {
		facts->uncounted++;
		return;
	}
	thread->comm =
		intern_string(&facts->names, sample->facts.comm ? sample->facts.comm : head->comm);
	thread->pid = pid;
	thread->tid = tid;
	thread->samples++;
	thread->weight = saturated_add(thread->weight, head->period);
	thread->stood += stands_for(facts, head);
}

static struct profile_module *find_module(struct profile_facts *facts, const char *path)
{
	struct profile_module *module;
	uint64_t key;

	if (map_count(&facts->modules) >= PROFILE_MAX_MODULES)
		return NULL;
	path = intern_string(&facts->names, path);
	key = (uint64_t)(uintptr_t)path;
	module = path ? map_get(&facts->modules, key) : NULL;
	if (module || !path)
		return module;
	module = calloc(1, sizeof(*module));
	if (module && map_put(&facts->modules, key, module) < 0) {
		free(module);
		return NULL;
	}
	if (module)
		module->path = path;
	return module;
}

/* The module that frames call PATH: what they cannot hold is replaced in them. */
static struct profile_module *find_shown(struct profile_facts *facts, const char *path)
{
	struct profile_module *module;
	struct buf shown;

	buf_init(&shown, PATH_BYTES);
	(void)sanitise_module(&shown, path);
	module = find_module(facts, buf_text(&shown));
	buf_release(&shown);
	return module;
}

/* What the end line says of modules: "path" is the first of each. */
static void take_module(struct profile_facts *facts, const struct json_pair *pair,
			struct profile_module **module)
{
	char text[PATH_MAX];
	const char *kept;

	if (pair->depth != 3 || !pair->is_string)
		return;
	module_list_text(pair, text, sizeof(text));
	if (json_scan_is(pair, "path")) {
		*module = find_shown(facts, text);
		return;
	}
	kept = *module ? intern_string(&facts->names, text) : NULL;
	if (!kept)
		return;
	if (json_scan_is(pair, "build_id"))
		(*module)->build_id = kept;
	else if (json_scan_is(pair, "names"))
		(*module)->names = kept;
	else if (json_scan_is(pair, "missing"))
		(*module)->missing = kept;
	else if (json_scan_is(pair, "try"))
		(*module)->try = kept;
}

static void on_end(void *context, const char *json)
{
	struct profile_facts *facts = context;
	struct json_scan scan = {.at = json};
	struct profile_module *module = NULL;
	struct json_pair pair;

	facts->has_end = true;
	while (json_scan_next(&scan, &pair)) {
		add_number(&facts->end, &pair);
		take_module(facts, &pair, &module);
	}
}

/* One that --group made up: it is no code, and no module's. */
static bool is_group(const struct perf_frame *frame)
{
	return frame->addr == 0 && !frame->has_offset && frame->module[0] == '[' &&
	       strcmp(frame->module, "[unknown]") != 0;
}

static void count_frame(struct profile_facts *facts, const struct perf_frame *frame)
{
	struct profile_module *module;
	bool named = frame->name[0] != '[';

	facts->inlined += frame->inlined;
	if (frame->inlined || is_group(frame))
		return;
	facts->frames++;
	facts->named += named;
	module = find_module(facts, frame->module);
	if (!module) {
		facts->uncounted++;
		return;
	}
	module->frames++;
	module->named += named;
}

/* One more of a name; those that there is no room for are not counted. */
static void count_name(struct profile_counts *counts, const char *name)
{
	struct profile_count *count = NULL;

	for (size_t i = 0; i < counts->n && !count; i++)
		if (strncmp(counts->items[i].name, name, PROFILE_NAME_SIZE - 1) == 0)
			count = &counts->items[i];
	if (!count)
		count = new_count(counts, name, strlen(name));
	if (count)
		count->value++;
}

static bool is_idle(const struct perf_text_sample *sample)
{
	bool idle = false;

	for (size_t i = 0; i < sample->n_frames && !idle; i++)
		idle = idle_is_function(sample->frames[i].name);
	return idle && idle_is_thread(sample->head.comm, sample->head.tid);
}

/* Words that are none of wick's own. */
static void count_labels(struct profile_facts *facts, const struct perf_facts *words)
{
	for (size_t i = 0; i < words->n_words; i++) {
		const char *name = words->words[i].name;

		if (strcmp(name, "op") != 0 && strcmp(name, "waker") != 0)
			count_name(&facts->labels, name);
	}
}

static void on_sample(void *context, const struct perf_text_sample *sample)
{
	struct profile_facts *facts = context;
	uint64_t time_ns = sample->head.time_ns;

	if (facts->samples == 0 || time_ns < facts->first_ns)
		facts->first_ns = time_ns;
	if (time_ns > facts->last_ns)
		facts->last_ns = time_ns;
	if (!facts->event)
		facts->event = intern_string(&facts->names, sample->head.event);
	count_name(&facts->events, sample->head.event);
	/* what others count means something else */
	if (facts->event && strcmp(facts->event, sample->head.event) != 0)
		return;
	if (facts->samples == 0 || sample->head.period < facts->least)
		facts->least = sample->head.period;
	facts->samples++;
	facts->weight = saturated_add(facts->weight, sample->head.period);
	facts->squares += (double)sample->head.period * (double)sample->head.period;
	facts->stood += stands_for(facts, &sample->head);
	facts->cut += sample->cut != 0;
	facts->idle += is_idle(sample);
	count_thread(facts, sample);
	profile_states_add(&facts->states, &facts->names, sample);
	count_labels(facts, &sample->facts);
	for (size_t i = 0; i < sample->n_frames; i++)
		count_frame(facts, &sample->frames[i]);
}

/* Folded stacks, line by line as perf's text is. */
static int read_folded(const char *path, uint32_t scale, struct profile_facts *facts,
		       struct err *err)
{
	struct perf_frame frames[PERF_TEXT_MAX_FRAMES];
	struct perf_text_sample sample;
	struct lines *lines = NULL;
	struct line line;
	int r = lines_open(path, &lines, err);

	if (r < 0)
		return r;
	facts->folded = true;
	while ((r = lines_next(lines, &line, err)) > 0) {
		facts->text.lines++;
		if (!line.cut && !memchr(line.text, '\0', line.len)) {
			if (folded_is_aside(line.text))
				continue;
			if (folded_line(line.text, scale, frames, &sample)) {
				on_sample(facts, &sample);
				continue;
			}
		}
		if (facts->text.bad_lines < PERF_TEXT_BAD_LINES)
			facts->text.bad[facts->text.bad_lines] = line.number;
		facts->text.bad_lines++;
	}
	lines_close(lines);
	return r;
}

static int read_text(const char *path, struct profile_facts *facts, struct err *err)
{
	const struct perf_text_visitor visitor = {
		.comment = on_comment,
		.header = on_header,
		.rate = on_rate,
		.sample = on_sample,
		.end = on_end,
		.context = facts,
	};
	int scale = folded_file_scale(path, err);

	if (scale > 0)
		return read_folded(path, (uint32_t)scale, facts, err);
	return perf_text_read(path, &visitor, &facts->text, err);
}

int profile_facts_read(const char *path, struct profile_facts **ret_facts, struct err *err)
{
	struct profile_facts *facts = calloc(1, sizeof(*facts));
	struct err why = {0};
	int r;

	if (!facts)
		return err_set(err, ENOMEM, "read '%s'", path);
	facts->path = path;
	r = read_text(path, facts, err);
	facts->damaged = r < 0;
	count_lowered(facts, facts->last_ns);
	if (r == 0 && facts->samples == 0 && !facts->has_header) {
		r = -ENODATA;
		if (facts->text.stray_frames)
			perf_text_no_times(&why);
		else
			(void)err_set(&why, 0, "it is neither perf script text nor folded stacks");
		(void)err_set(err, 0, "'%s': %s", path, why.text);
	}
	if (r < 0 && facts->samples == 0) {
		profile_facts_free(facts);
		return r;
	}
	*ret_facts = facts;
	return r;
}

static void free_value(void *context, uint64_t key, void *value)
{
	(void)context;
	(void)key;
	free(value);
}

void profile_facts_free(struct profile_facts *facts)
{
	if (!facts)
		return;
	map_each(&facts->threads, free_value, NULL);
	map_each(&facts->modules, free_value, NULL);
	map_release(&facts->threads);
	map_release(&facts->modules);
	profile_states_release(&facts->states);
	intern_release(&facts->names);
	free(facts->cmdline);
	free(facts);
}
