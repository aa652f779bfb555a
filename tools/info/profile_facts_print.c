/* profile_facts_print.c - what is in a recording, as text and as JSON */
#include "base/json.h"
#include "base/saturated.h"
#include "base/words.h"
#include "flamescope/query/query.h"
#include "tools/cli/terminal.h"
#include "tools/info/internal.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1e9

enum { TOP_THREADS = 5, TOP_MODULES = 8, COMMAND_BYTES = 8192, QUOTED_BYTES = 8192 };

/* The values of a map as an array, for sorting. */
struct list {
	void **items;
	size_t n;
};

static void list_release(struct list *list)
{
	free(list->items);
}

#define _cleanup_list_ __attribute__((cleanup(list_release)))

static void add_item(void *context, uint64_t key, void *value)
{
	struct list *list = context;

	(void)key;
	list->items[list->n++] = value;
}

/* Empty when memory ran out. */
static struct list list_of(const struct map *map, int (*compare)(const void *, const void *))
{
	struct list list = {.items = calloc(map_count(map) + 1, sizeof(void *))};

	if (!list.items)
		return list;
	map_each((struct map *)(uintptr_t)map, add_item, &list);
	qsort(list.items, list.n, sizeof(void *), compare);
	return list;
}

/* Largest first; ties in a fixed order. */
static int compare_threads(const void *a, const void *b)
{
	const struct thread_count *left = *(struct thread_count *const *)a;
	const struct thread_count *right = *(struct thread_count *const *)b;

	if (left->stood != right->stood)
		return left->stood < right->stood ? 1 : -1;
	return (left->tid > right->tid) - (left->tid < right->tid);
}

static int compare_modules(const void *a, const void *b)
{
	const struct profile_module *left = *(struct profile_module *const *)a;
	const struct profile_module *right = *(struct profile_module *const *)b;

	if (left->frames != right->frames)
		return left->frames < right->frames ? 1 : -1;
	return strcmp(left->path, right->path);
}

static void add_topic(struct buf *buf, const char *topic)
{
	buf_printf(buf, "  %-10s ", topic);
}

static void print_command(const char *cmdline, struct buf *buf)
{
	struct buf line;

	buf_init(&line, COMMAND_BYTES);
	words_command(&line, cmdline);
	words_plain(buf, buf_text(&line));
	buf_add_char(buf, '\n');
	buf_release(&line);
}

static void print_rate(const struct profile_facts *facts, struct buf *buf)
{
	const struct profile_counts *header = &facts->header;
	uint64_t mean_bytes = profile_counts_find(header, "mean_bytes", 0);
	uint64_t least_ns = profile_counts_find(header, "least_ns", 0);

	if (facts->most_hz)
		buf_printf(buf, " at %llu", (unsigned long long)facts->least_hz);
	if (facts->most_hz > facts->least_hz)
		buf_printf(buf, " to %llu", (unsigned long long)facts->most_hz);
	buf_add(buf, facts->most_hz ? " Hz" : "");
	if (mean_bytes) {
		buf_add(buf, ", a sample each ");
		words_bytes(buf, mean_bytes);
		buf_add(buf, " on average");
	}
	if (least_ns)
		buf_printf(buf, ", waits of %g us and more", (double)least_ns / 1000);
}

static void print_head(const struct profile_facts *facts, struct buf *buf)
{
	words_plain(buf, facts->path);
	buf_add_char(buf, '\n');
	if (facts->captured[0]) {
		add_topic(buf, "captured");
		words_plain(buf, facts->captured);
		buf_add_char(buf, '\n');
	}
	if (facts->cmdline) {
		add_topic(buf, "command");
		print_command(facts->cmdline, buf);
	}
	add_topic(buf, "event");
	words_plain(buf, facts->event ? facts->event : "none");
	print_rate(facts, buf);
	if (facts->folded)
		buf_add(buf, " (folded stacks: no times, threads or modules)");
	else if (!facts->has_header)
		buf_add(buf, " (not written by wick, or with --bare)");
	buf_add_char(buf, '\n');
	if (facts->lowest_hz) {
		add_topic(buf, "rate");
		text_rate(buf, (uint32_t)facts->lowest_hz, (uint32_t)facts->hz);
		buf_add(buf, " at the lowest; below the requested rate for ");
		text_seconds(buf, facts->lowered_ns);
		buf_add_char(buf, '\n');
	}
}

static struct period period_of_facts(const struct profile_facts *facts)
{
	const char *const events[] = {facts->event ? facts->event : ""};
	const struct period_kind kind = {
		.is_wick = facts->has_header,
		.has_times = !facts->folded,
		.hz = facts->hz,
		.least = facts->least,
		.n_events = 1,
		.events = events,
	};

	return period_of_kind(&kind);
}

/* What samples of WEIGHT stand for, in the period's unit; STOOD: the rate of a file may change. */
static uint64_t amount_of(const struct period *period, uint64_t weight, double stood)
{
	if (period->multiply != period->divide)
		return (uint64_t)(stood * NS_PER_S);
	return (uint64_t)period_value(period, weight);
}

/* "3.99 s of CPU, 98.1 % of what the program used" */
static void print_amount(const struct profile_facts *facts, struct buf *buf)
{
	uint64_t cpu_ns = profile_counts_find(&facts->end, "cpu_ns", 0);
	uint64_t paused_ns = profile_counts_find(&facts->end, "paused_ns", 0);
	struct period period = period_of_facts(facts);

	if (!period.is_default || !*period.unit)
		return;
	buf_add(buf, ", ");
	words_amount(buf, amount_of(&period, facts->weight, facts->stood), period.unit);
	buf_add_char(buf, ' ');
	words_plain(buf, period.noun);
	/* Other events are no CPU. */
	if (facts->least_hz == 0 || cpu_ns == 0 || strcmp(period.noun, "of CPU") != 0)
		return;
	buf_printf(buf, ", %.1f %% of what the program used",
		   100 * facts->stood * NS_PER_S / (double)cpu_ns);
	if (paused_ns) {
		buf_add(buf, ", beside ");
		words_amount(buf, paused_ns, "ns");
		buf_add(buf, " while paused");
	}
}

static void print_samples(const struct profile_facts *facts, struct buf *buf)
{
	if (!facts->folded) {
		add_topic(buf, "duration");
		text_seconds(buf, facts->last_ns - facts->first_ns);
		buf_add_char(buf, '\n');
	}
	add_topic(buf, facts->folded ? "stacks" : "samples");
	words_count(buf, facts->samples);
	print_amount(facts, buf);
	buf_add_char(buf, '\n');
	if (!facts->samples)
		return;
	add_topic(buf, "precision");
	buf_add(buf, "shares are right ");
	words_precision(buf, (double)facts->weight, facts->squares);
	buf_add_char(buf, '\n');
}

/* What views leave out by default. */
static void print_hidden(const struct profile_facts *facts, struct buf *buf)
{
	if (facts->events.n > 1) {
		add_topic(buf, "also holds");
		for (size_t i = 1; i < facts->events.n; i++) {
			buf_add(buf, i > 1 ? ", " : "");
			words_plain(buf, facts->events.items[i].name);
			buf_add(buf, " (");
			text_of(buf, facts->events.items[i].value, "sample");
			buf_add_char(buf, ')');
		}
		buf_add(buf, "; --event NAME chooses one in views\n");
	}
	if (facts->idle) {
		add_topic(buf, "idle");
		text_of(buf, facts->idle, "sample");
		buf_printf(buf, " of idle CPUs (%.1f %%), which views hide; --idle shows them\n",
			   100 * (double)facts->idle / (double)facts->samples);
	}
}

static void print_threads(const struct profile_facts *facts, struct buf *buf)
{
	_cleanup_list_ struct list list = list_of(&facts->threads, compare_threads);

	for (size_t i = 0; i < list.n && i < TOP_THREADS; i++) {
		const struct thread_count *thread = list.items[i];

		add_topic(buf, i ? "" : "threads");
		text_share(buf, thread->stood, facts->stood);
		buf_add(buf, "  ");
		words_plain(buf, thread->comm ? thread->comm : "?");
		buf_printf(buf, "  %lld/%lld\n", (long long)thread->pid, (long long)thread->tid);
	}
	if (list.n > TOP_THREADS) {
		add_topic(buf, "");
		text_of(buf, list.n - TOP_THREADS, "other thread");
		buf_add_char(buf, '\n');
	}
}

/* Text in a recording is untrusted and must not look like advice. */
static void add_quoted(struct buf *buf, const char *text)
{
	struct buf plain;

	buf_init(&plain, QUOTED_BYTES);
	words_plain(&plain, text);
	json_add_string(buf, buf_text(&plain));
	buf_release(&plain);
}

/* Where a module's names came from, its build, and what the recording says of more. */
static void print_source(const struct profile_module *module, struct buf *buf)
{
	if (!module->names)
		return;
	buf_add(buf, "  (");
	words_plain(buf, module->names);
	if (module->build_id && *module->build_id) {
		buf_add(buf, ", build-id ");
		words_plain(buf, module->build_id);
	}
	buf_add_char(buf, ')');
	if (!module->missing || !module->try)
		return;
	buf_add_char(buf, '\n');
	add_topic(buf, "");
	buf_add(buf, "  missing: ");
	add_quoted(buf, module->missing);
	buf_add(buf, "; the recording says to try: ");
	add_quoted(buf, module->try);
}

static void print_modules(const struct profile_facts *facts, struct buf *buf)
{
	_cleanup_list_ struct list list = list_of(&facts->modules, compare_modules);

	add_topic(buf, "names");
	text_share(buf, (double)facts->named, (double)facts->frames);
	buf_add(buf, " of ");
	text_of(buf, facts->frames, "frame");
	if (facts->inlined) {
		buf_add(buf, ", and ");
		text_of(buf, facts->inlined, "inlined call");
	}
	buf_add_char(buf, '\n');
	for (size_t i = 0; i < list.n && i < TOP_MODULES; i++) {
		const struct profile_module *module = list.items[i];

		add_topic(buf, i ? "" : "modules");
		text_share(buf, (double)module->frames, (double)facts->frames);
		buf_add(buf, " of frames, ");
		text_share(buf, (double)module->named, (double)module->frames);
		buf_add(buf, " named  ");
		words_plain(buf, module->path);
		print_source(module, buf);
		buf_add_char(buf, '\n');
	}
	if (list.n > TOP_MODULES) {
		add_topic(buf, "");
		text_of(buf, list.n - TOP_MODULES, "other module");
		buf_add_char(buf, '\n');
	}
}

static void print_labels(const struct profile_facts *facts, struct buf *buf)
{
	for (size_t i = 0; i < facts->labels.n; i++) {
		const struct profile_count *label = &facts->labels.items[i];

		if (i == 0)
			add_topic(buf, "labels");
		buf_add(buf, i ? ", " : "");
		words_plain(buf, label->name);
		buf_add(buf, " of ");
		text_share(buf, (double)label->value, (double)facts->samples);
	}
	if (facts->labels.n)
		buf_add_char(buf, '\n');
	if (!facts->exact_rows)
		return;
	add_topic(buf, "counted");
	text_of(buf, facts->exact_rows, "line");
	buf_add(buf, " of exact counts: wick tasks, wick requests, wick tiers\n");
}

static void print_metrics(const struct profile_facts *facts, struct buf *buf)
{
	if (facts->metrics.n == 0)
		return;
	add_topic(buf, "metrics");
	for (size_t i = 0; i < facts->metrics.n; i++) {
		const struct profile_count *metric = &facts->metrics.items[i];

		buf_add(buf, i ? ", " : "");
		words_plain(buf, metric->name);
		buf_add(buf, " (");
		words_plain(buf, metric->unit);
		buf_add_char(buf, ' ');
		words_plain(buf, metric->kind);
		buf_add_char(buf, ')');
	}
	buf_add_char(buf, '\n');
}

static void print_losses(const struct profile_facts *facts, struct buf *buf)
{
	bool any = false;

	if (!facts->has_header)
		return;
	add_topic(buf, "lost");
	if (!facts->has_end) {
		buf_add(buf, "not known: the recording is unfinished (no wick-end line)\n");
		return;
	}
	for (size_t i = 0; i < facts->end.n; i++) {
		const struct profile_count *count = &facts->end.items[i];

		if (count->value == 0 || (strncmp(count->name, "lost_", 5) != 0 &&
					  strncmp(count->name, "dropped", 7) != 0 &&
					  strcmp(count->name, "mangled_names") != 0))
			continue;
		buf_add(buf, any ? ", " : "");
		words_count(buf, count->value);
		buf_add_char(buf, ' ');
		words_plain(buf, count->name);
		any = true;
	}
	buf_add(buf, any ? "\n" : "nothing\n");
}

static uint64_t lost_of(const struct profile_facts *facts)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < facts->end.n; i++)
		if (strncmp(facts->end.items[i].name, "lost_", 5) == 0)
			lost = saturated_add(lost, facts->end.items[i].value);
	return lost;
}

static void add_doubt(struct buf *buf, const char *doubt)
{
	add_topic(buf, "doubt");
	buf_add(buf, doubt);
	buf_add(buf, ": damaged or forged\n");
}

/* Numbers of the header and the end line that cannot be. */
static void print_impossible(const struct profile_facts *facts, struct buf *buf)
{
	const uint64_t length_ns = facts->last_ns - facts->first_ns;
	const uint64_t cpu_ns = profile_counts_find(&facts->end, "cpu_ns", 0);
	const uint64_t offset_ns = profile_counts_find(&facts->header, "epoch_offset_ns", 0);
	const double hz = facts->hz ? (double)facts->hz : NS_PER_S;

	if (!period_can_be((double)lost_of(facts) / hz, length_ns))
		add_doubt(buf, "the end line gives more lost samples than possible");
	if (!period_can_be((double)cpu_ns / NS_PER_S, length_ns))
		add_doubt(buf, "the end line gives more CPU time than possible");
	if (!facts->folded && !period_can_be(facts->stood, length_ns) && facts->hz)
		add_doubt(buf, "the samples stand for more CPU time than possible");
	if ((double)facts->hz > NS_PER_S)
		add_doubt(buf, "the header gives a rate above 1 GHz");
	if (offset_ns &&
	    (offset_ns > INT64_MAX || period_is_to_come((int64_t)offset_ns, facts->last_ns)))
		add_doubt(buf, "the header gives a date in the future");
}

/* What a reader should not trust, and what to do about it. */
static void print_doubts(const struct profile_facts *facts, struct buf *buf)
{
	uint64_t claimed = profile_counts_find(&facts->end, "samples", facts->samples);

	if (claimed != facts->samples) {
		add_topic(buf, "doubt");
		buf_printf(buf, "the end line says %llu samples%s\n", (unsigned long long)claimed,
			   claimed > facts->text.lines ? ", more than the file has lines" : "");
	}
	print_impossible(facts, buf);
	if (facts->text.unended) {
		add_topic(buf, "doubt");
		buf_add(buf, "the last sample has no empty line after it\n");
	}
	if (facts->cut) {
		add_topic(buf, "doubt");
		text_of(buf, facts->cut, "sample");
		buf_printf(buf, " had more than %d frames or a line too long\n",
			   PERF_TEXT_MAX_FRAMES);
	}
	if (facts->text.bad_lines) {
		size_t n = facts->text.bad_lines < PERF_TEXT_BAD_LINES
				   ? (size_t)facts->text.bad_lines
				   : PERF_TEXT_BAD_LINES;

		add_topic(buf, "doubt");
		text_of(buf, facts->text.bad_lines, "line");
		buf_add(buf, " that could not be read, in line");
		for (size_t i = 0; i < n; i++)
			buf_printf(buf, "%s%llu", i ? ", " : " ",
				   (unsigned long long)facts->text.bad[i]);
		buf_add_char(buf, '\n');
	}
}

void profile_facts_print(const struct profile_facts *facts, struct buf *buf)
{
	print_head(facts, buf);
	if (facts->samples) {
		print_samples(facts, buf);
		print_hidden(facts, buf);
	} else {
		add_topic(buf, "samples");
		buf_add(buf, "none\n");
	}
	if (facts->samples && !facts->folded) {
		profile_states_print(&facts->states, buf);
		print_threads(facts, buf);
		print_modules(facts, buf);
	}
	profile_triggers_print(&facts->triggers, facts->first_ns, buf);
	print_labels(facts, buf);
	print_metrics(facts, buf);
	print_losses(facts, buf);
	print_doubts(facts, buf);
}

static void json_threads(const struct profile_facts *facts, struct buf *buf)
{
	_cleanup_list_ struct list list = list_of(&facts->threads, compare_threads);
	struct period period = period_of_facts(facts);

	buf_add(buf, ",\"threads\":[");
	for (size_t i = 0; i < list.n; i++) {
		const struct thread_count *thread = list.items[i];

		buf_add(buf, i ? ",{" : "{");
		json_add_text(buf, "comm", thread->comm ? thread->comm : "");
		json_add_number(buf, "pid", (uint64_t)thread->pid);
		json_add_number(buf, "tid", (uint64_t)thread->tid);
		json_add_number(buf, "samples", thread->samples);
		json_add_number(buf, "weight", thread->weight);
		json_add_number(buf, "amount", amount_of(&period, thread->weight, thread->stood));
		buf_add_char(buf, '}');
	}
	buf_add_char(buf, ']');
}

static void json_events(const struct profile_facts *facts, struct buf *buf)
{
	buf_add(buf, ",\"events\":[");
	for (size_t i = 0; i < facts->events.n; i++) {
		buf_add(buf, i ? ",{" : "{");
		json_add_text(buf, "name", facts->events.items[i].name);
		json_add_number(buf, "samples", facts->events.items[i].value);
		buf_add_char(buf, '}');
	}
	buf_add_char(buf, ']');
}

static void json_labels(const struct profile_facts *facts, struct buf *buf)
{
	buf_add(buf, ",\"labels\":[");
	for (size_t i = 0; i < facts->labels.n; i++) {
		buf_add(buf, i ? ",{" : "{");
		json_add_text(buf, "name", facts->labels.items[i].name);
		json_add_number(buf, "samples", facts->labels.items[i].value);
		buf_add_char(buf, '}');
	}
	buf_add_char(buf, ']');
	json_add_number(buf, "exact_rows", facts->exact_rows);
}

static void json_modules(const struct profile_facts *facts, struct buf *buf)
{
	_cleanup_list_ struct list list = list_of(&facts->modules, compare_modules);

	buf_add(buf, ",\"modules\":[");
	for (size_t i = 0; i < list.n; i++) {
		const struct profile_module *module = list.items[i];

		buf_add(buf, i ? ",{" : "{");
		json_add_text(buf, "path", module->path);
		json_add_number(buf, "frames", module->frames);
		json_add_number(buf, "named", module->named);
		if (module->names) {
			json_add_text(buf, "build_id", module->build_id ? module->build_id : "");
			json_add_text(buf, "names", module->names);
			json_add_text(buf, "missing", module->missing ? module->missing : "");
			json_add_text(buf, "try", module->try ? module->try : "");
		}
		buf_add_char(buf, '}');
	}
	buf_add_char(buf, ']');
}

void profile_facts_print_json(const struct profile_facts *facts, struct buf *buf)
{
	struct period period = period_of_facts(facts);

	buf_add_char(buf, '{');
	json_add_text(buf, "path", facts->path);
	json_add_text(buf, "event", facts->event ? facts->event : "");
	json_add_number(buf, "hz", profile_counts_find(&facts->header, "hz", 0));
	json_add_number(buf, "mean_bytes", profile_counts_find(&facts->header, "mean_bytes", 0));
	json_add_number(buf, "least_ns", profile_counts_find(&facts->header, "least_ns", 0));
	json_add_number(buf, "lowest_hz", facts->lowest_hz);
	json_add_number(buf, "lowered_ns", facts->lowered_ns);
	json_add_number(buf, "samples", facts->samples);
	json_add_number(buf, "weight", facts->weight);
	json_add_text(buf, "unit", period.unit);
	json_add_number(buf, "amount", amount_of(&period, facts->weight, facts->stood));
	if (facts->samples)
		buf_printf(buf, ",\"precision_points\":%.4g",
			   words_precision_points((double)facts->weight, facts->squares));
	json_add_number(buf, "first_ns", facts->first_ns);
	json_add_number(buf, "last_ns", facts->last_ns);
	json_add_number(buf, "frames", facts->frames);
	json_add_number(buf, "named", facts->named);
	json_add_number(buf, "inlined", facts->inlined);
	json_add_number(buf, "idle", facts->idle);
	json_add_number(buf, "bad_lines", facts->text.bad_lines);
	buf_printf(buf, ",\"finished\":%s", facts->has_end ? "true" : "false");
	json_events(facts, buf);
	json_labels(facts, buf);
	json_threads(facts, buf);
	json_modules(facts, buf);
	profile_states_print_json(&facts->states, buf);
	profile_triggers_print_json(&facts->triggers, buf);
	buf_add(buf, ",\"end\":{");
	for (size_t i = 0; i < facts->end.n; i++)
		json_add_number(buf, facts->end.items[i].name, facts->end.items[i].value);
	buf_add(buf, "}}\n");
}
