/* row_read.c - rows of JSON, added up */
#include "base/histogram.h"
#include "tools/totals/totals.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/saturated.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROWS = 64 };

/* Numbers of rows are found by the text of what they are about; rows are sorted by
 * totals_sum_get(), so that the map goes with them. */
struct totals_sum {
	struct totals totals;
	size_t tasks_size;
	size_t tiers_size;
	bool sorted; /* numbers of by_key are no longer right */
	struct intern names;
	struct map by_key; /* the address of an interned key: a number of a row, plus 1 */
	struct buf key;
};

int totals_sum_new(struct totals_sum **ret_sum)
{
	struct totals_sum *sum = calloc(1, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	buf_init(&sum->key, TOTALS_ROW_BYTES);
	*ret_sum = sum;
	return 0;
}

void totals_sum_free(struct totals_sum *sum)
{
	if (!sum)
		return;
	for (size_t i = 0; i < sum->totals.n_tiers; i++)
		histogram_release(&sum->totals.tiers[i].durations);
	free(sum->totals.tasks);
	free(sum->totals.tiers);
	map_release(&sum->by_key);
	intern_release(&sum->names);
	buf_release(&sum->key);
	free(sum);
}

static const char *text_of_member(const json_t *row, const char *name)
{
	return json_string_value(json_object_get(row, name));
}

static uint64_t number_of(const json_t *row, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(row, name));

	return value > 0 ? (uint64_t)value : 0;
}

static void add(uint64_t *to, const json_t *row, const char *name)
{
	*to = saturated_add(*to, number_of(row, name));
}

static void raise_to(uint64_t *to, const json_t *row, const char *name)
{
	uint64_t value = number_of(row, name);

	*to = value > *to ? value : *to;
}

/* Return: the number of the row with this key, plus 1; 0: there is none yet; and the key. */
static size_t find(struct totals_sum *sum, const char **ret_key)
{
	*ret_key = intern_bytes(&sum->names, sum->key.data, sum->key.len);
	return *ret_key ? (size_t)(uintptr_t)map_get(&sum->by_key, (uintptr_t)*ret_key) : 0;
}

static int put(struct totals_sum *sum, const char *key, size_t number)
{
	return key ? map_put(&sum->by_key, (uintptr_t)key, (void *)(uintptr_t)number) : -ENOMEM;
}

/* Of a task or function. */
static void make_task_key(struct buf *key, const struct total_task *task)
{
	buf_clear(key);
	buf_add_char(key, task->kind == TOTAL_FUNCTION ? 'f' : 't');
	buf_printf(key, "%u", task->line);
	buf_add_char(key, '\0');
	buf_add(key, task->name);
	buf_add_char(key, '\0');
	buf_add(key, task->file);
}

static void make_tier_key(struct buf *key, const struct total_tier *tier)
{
	buf_clear(key);
	buf_add_char(key, 'r');
	buf_add(key, tier->tier);
	buf_add_char(key, '\0');
	buf_add(key, tier->identity);
}

/* The rows were put in another order. */
static int index_again(struct totals_sum *sum)
{
	const char *key;

	if (!sum->sorted)
		return 0;
	map_release(&sum->by_key);
	for (size_t i = 0; i < sum->totals.n_tasks; i++) {
		make_task_key(&sum->key, &sum->totals.tasks[i]);
		(void)find(sum, &key);
		if (put(sum, key, i + 1) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < sum->totals.n_tiers; i++) {
		make_tier_key(&sum->key, &sum->totals.tiers[i]);
		(void)find(sum, &key);
		if (put(sum, key, i + 1) < 0)
			return -ENOMEM;
	}
	sum->sorted = false;
	return 0;
}

static bool is_full(const struct totals_sum *sum)
{
	return sum->totals.n_tasks + sum->totals.n_tiers >= TOTALS_MOST_ROWS;
}

static int task_of(struct totals_sum *sum, const struct total_task *named,
		   struct total_task **ret_task)
{
	const char *key;
	size_t number;

	make_task_key(&sum->key, named);
	number = find(sum, &key);
	if (!number) {
		if (is_full(sum))
			return -E2BIG;
		if (array_reserve(&sum->totals.tasks, sum->totals.n_tasks, &sum->tasks_size,
				  FIRST_ROWS) < 0 ||
		    put(sum, key, sum->totals.n_tasks + 1) < 0)
			return -ENOMEM;
		number = ++sum->totals.n_tasks;
		sum->totals.tasks[number - 1] = (struct total_task){
			.kind = named->kind,
			.name = intern_string(&sum->names, named->name),
			.file = intern_string(&sum->names, named->file),
			.line = named->line,
		};
	}
	*ret_task = &sum->totals.tasks[number - 1];
	return (*ret_task)->name && (*ret_task)->file ? 0 : -ENOMEM;
}

static int tier_of(struct totals_sum *sum, const struct total_tier *named,
		   struct total_tier **ret_tier)
{
	const char *key;
	size_t number;

	make_tier_key(&sum->key, named);
	number = find(sum, &key);
	if (!number) {
		if (is_full(sum))
			return -E2BIG;
		if (array_reserve(&sum->totals.tiers, sum->totals.n_tiers, &sum->tiers_size,
				  FIRST_ROWS) < 0 ||
		    put(sum, key, sum->totals.n_tiers + 1) < 0)
			return -ENOMEM;
		number = ++sum->totals.n_tiers;
		sum->totals.tiers[number - 1] = (struct total_tier){
			.tier = intern_string(&sum->names, named->tier),
			.identity = intern_string(&sum->names, named->identity),
		};
	}
	*ret_tier = &sum->totals.tiers[number - 1];
	return (*ret_tier)->tier && (*ret_tier)->identity ? 0 : -ENOMEM;
}

static int add_task(struct totals_sum *sum, const json_t *row)
{
	const char *function = text_of_member(row, "function");
	const char *file = text_of_member(row, "file");
	const struct total_task named = {
		.kind = function ? TOTAL_FUNCTION : TOTAL_TASK,
		.name = function ? function : text_of_member(row, "task"),
		.file = file ? file : "",
		.line = (uint32_t)number_of(row, "line"),
	};
	struct total_task *task;
	int r = task_of(sum, &named, &task);

	if (r < 0)
		return r;
	add(&task->exec_ns, row, "exec_ns");
	raise_to(&task->exec_max_ns, row, "exec_max_ns");
	raise_to(&task->run_max_ns, row, "run_max_ns");
	add(&task->children_ns, row, "children_ns");
	add(&task->wall_ns, row, "wall_ns");
	add(&task->calls, row, "calls");
	task->live = number_of(row, "live"); /* as of then */
	add(&task->stillborn, row, "stillborn");
	add(&task->cancelled, row, "cancelled");
	add(&task->failed, row, "failed");
	add(&task->stalls, row, "stalls");
	return 0;
}

static int add_buckets(struct histogram *durations, const json_t *buckets)
{
	size_t n = json_array_size(buckets);

	if (n > HISTOGRAM_BUCKETS)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		const json_t *pair = json_array_get(buckets, i);
		json_int_t bucket = json_integer_value(json_array_get(pair, 0));
		json_int_t count = json_integer_value(json_array_get(pair, 1));

		if (json_array_size(pair) != 2 || bucket < 0 || bucket >= HISTOGRAM_BUCKETS ||
		    count <= 0)
			return -EINVAL;
		if (histogram_add(durations, (uint32_t)bucket, (uint64_t)count) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void take_trace(struct total_tier *tier, const json_t *row)
{
	static const char digits[] = "0123456789abcdef";
	const char *text = text_of_member(row, "trace");
	uint8_t trace[TOTALS_TRACE_BYTES] = {0};

	if (!text || strlen(text) != 2 * sizeof(trace))
		return;
	for (size_t i = 0; i < 2 * sizeof(trace); i++) {
		const char *digit = strchr(digits, text[i]);

		if (!digit)
			return;
		trace[i / 2] = (uint8_t)(trace[i / 2] << 4 | (digit - digits));
	}
	tier->exemplar_ns = number_of(row, "trace_ns");
	memcpy(tier->exemplar_trace, trace, sizeof(trace));
}

static int add_tier(struct totals_sum *sum, const json_t *row)
{
	const struct total_tier named = {.tier = text_of_member(row, "tier"),
					 .identity = text_of_member(row, "identity")};
	uint64_t least = number_of(row, "min_ns");
	struct total_tier *tier;
	int r = named.identity ? tier_of(sum, &named, &tier) : -EINVAL;

	if (r < 0)
		return r;
	r = add_buckets(&tier->durations, json_object_get(row, "buckets"));
	if (r < 0)
		return r;
	if (number_of(row, "count") && (!tier->count || least < tier->min_ns))
		tier->min_ns = least;
	add(&tier->count, row, "count");
	add(&tier->sum_ns, row, "sum_ns");
	add(&tier->self_ns, row, "self_ns");
	raise_to(&tier->max_ns, row, "max_ns");
	take_trace(tier, row);
	return 0;
}

static void take_times(struct totals_sum *sum, const json_t *row)
{
	uint64_t since_ns = number_of(row, "since_ns");

	if (!sum->totals.time_ns || since_ns < sum->totals.since_ns)
		sum->totals.since_ns = since_ns;
	raise_to(&sum->totals.time_ns, row, "time_ns");
}

int totals_sum_add(struct totals_sum *sum, const char *json, size_t len)
{
	json_t *row;
	int r = len > TOTALS_ROW_BYTES ? -E2BIG : index_again(sum);

	if (r < 0)
		return r;
	row = json_loadb(json, len, JSON_REJECT_DUPLICATES, NULL);
	if (text_of_member(row, "task") || text_of_member(row, "function"))
		r = add_task(sum, row);
	else
		r = text_of_member(row, "tier") ? add_tier(sum, row) : -EINVAL;
	if (r == 0)
		take_times(sum, row);
	json_decref(row);
	return r;
}

int totals_sum_add_lines(struct totals_sum *sum, const char *text, size_t len, size_t *ret_bad)
{
	size_t bad = 0;

	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t line = end ? (size_t)(end - text) : len;
		int r = line ? totals_sum_add(sum, text, line) : 0;

		if (r == -ENOMEM)
			return r;
		bad += r < 0;
		text += line + (end != NULL);
		len -= line + (end != NULL);
	}
	*ret_bad = bad;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct total_task *left = a;
	const struct total_task *right = b;
	uint64_t left_ns = saturated_add(left->exec_ns, left->children_ns);
	uint64_t right_ns = saturated_add(right->exec_ns, right->children_ns);
	int r;

	if (left_ns != right_ns)
		return left_ns < right_ns ? 1 : -1;
	r = strcmp(left->name, right->name);
	r = r ? r : strcmp(left->file, right->file);
	return r ? r : (left->line > right->line) - (left->line < right->line);
}

static int by_tier(const void *a, const void *b)
{
	const struct total_tier *left = a;
	const struct total_tier *right = b;
	int r = strcmp(left->tier, right->tier);

	if (r && strcmp(left->tier, TOTALS_REQUEST) == 0)
		return -1;
	if (r && strcmp(right->tier, TOTALS_REQUEST) == 0)
		return 1;
	if (r)
		return r;
	r = (strcmp(right->identity, TOTALS_TOTAL) == 0) -
	    (strcmp(left->identity, TOTALS_TOTAL) == 0);
	if (r)
		return r;
	if (left->sum_ns != right->sum_ns)
		return left->sum_ns < right->sum_ns ? 1 : -1;
	return strcmp(left->identity, right->identity);
}

const struct totals *totals_sum_get(struct totals_sum *sum)
{
	struct totals *totals = &sum->totals;

	if (totals->n_tasks)
		qsort(totals->tasks, totals->n_tasks, sizeof(*totals->tasks), by_time);
	if (totals->n_tiers)
		qsort(totals->tiers, totals->n_tiers, sizeof(*totals->tiers), by_tier);
	sum->sorted = true;
	return totals;
}
