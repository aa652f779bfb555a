/* page_tasks.c - series of tasks, of profiled functions and of sampled functions */
#include "tools/export/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LABELS_BYTES = 4096, NAME_BYTES = 96 };

/* Of a row; all but the last are counters, and nothing goes down when rows are added up. */
enum { EXEC, WITH_CHILDREN, WALL, CALLS, STALLS, N_COUNTERS, EXEC_MAX = N_COUNTERS };

struct family {
	const char *name;
	const char *unit;
	const char *help;
};

static const struct family families[] = {
	[EXEC] = {"exec_seconds", "seconds", "Time that it ran itself."},
	[WITH_CHILDREN] = {"exec_with_children_seconds", "seconds",
			   "Time that it ran, with what it began."},
	[WALL] = {"wall_seconds", "seconds", "Time from creation to finish."},
	[CALLS] = {"calls", NULL, "How many have finished, without stillborn ones."},
	[STALLS] = {"stalls", NULL, "Runs that were longer than the stall limit."},
	[EXEC_MAX] = {"exec_max_seconds", "seconds",
		      "The most that one task ran until it finished."},
};

/* What has no series of its own; also a row that the collector calls so. */
static const char other_task[] = "proc=\"other\",file=\"\",line=\"0\"";
static const char other_function[] = "function=\"other\",module=\"\"";

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void make_labels(struct buf *labels, const char *name, const char *file, uint32_t line)
{
	char number[16];

	buf_clear(labels);
	(void)snprintf(number, sizeof(number), "%u", (unsigned)line);
	page_label(labels, "proc", name);
	page_label(labels, "file", file);
	page_label(labels, "line", number);
}

static int add_rows(const struct totals *totals, enum total_kind kind, struct page_rows *rows)
{
	struct buf labels;
	int r = 0;

	buf_init(&labels, LABELS_BYTES);
	for (size_t i = 0; r == 0 && i < totals->n_tasks; i++) {
		const struct total_task *task = &totals->tasks[i];
		struct series_row *row;

		if (task->kind != kind)
			continue;
		make_labels(&labels, task->name, task->file, task->line);
		row = page_rows_get(rows, &labels, i);
		r = row ? 0 : -ENOMEM;
		if (!row)
			continue;
		row->values[EXEC] += task->exec_ns;
		row->values[WITH_CHILDREN] += task->exec_ns + task->children_ns;
		row->values[WALL] += task->wall_ns;
		row->values[CALLS] += task->calls;
		row->values[STALLS] += task->stalls;
		row->values[EXEC_MAX] = most(row->values[EXEC_MAX], task->exec_max_ns);
		row->rank = strcmp(row->labels, other_task) == 0 ? 0 : row->values[WITH_CHILDREN];
	}
	buf_release(&labels);
	page_rows_sort(rows);
	return r;
}

static uint64_t longest_of_others(const struct page_rows *rows, const struct series_choice *choice)
{
	uint64_t longest = 0;

	for (size_t i = 0, in = 0; i < rows->n; i++)
		if (in < choice->n && choice->rows[in] == i)
			in++;
		else
			longest = most(longest, rows->at[i].values[EXEC_MAX]);
	return longest;
}

static void write_value(struct page_text *text, size_t family, const char *name, const char *labels,
			uint64_t value)
{
	if (families[family].unit)
		page_seconds(text, name, labels, value);
	else
		page_count(text, name, labels, value);
}

static void write_family(struct page_text *text, const char *prefix, size_t family,
			 const struct page_rows *rows, const struct series_choice *choice)
{
	bool counter = family < N_COUNTERS;
	char name[NAME_BYTES];

	(void)snprintf(name, sizeof(name), "%s_%s", prefix, families[family].name);
	page_family(text, name, counter ? "counter" : "gauge", families[family].unit,
		    families[family].help);
	if (counter)
		(void)strncat(name, "_total", sizeof(name) - strlen(name) - 1);
	for (size_t i = 0; i < choice->n; i++) {
		const struct series_row *row = &rows->at[choice->rows[i]];

		write_value(text, family, name, row->labels,
			    counter ? choice->values[i][family] : row->values[family]);
	}
	if (choice->others)
		write_value(text, family, name, other_task,
			    counter ? choice->other[family] : longest_of_others(rows, choice));
}

int page_tasks(struct page_tasks *tasks, const struct totals *totals, struct page_text *text)
{
	const char *prefix = tasks->kind == TOTAL_TASK ? "wick_task" : "wick_profiled_function";
	struct page_rows rows = {0};
	struct series_choice choice;
	int r = add_rows(totals, tasks->kind, &rows);

	tasks->top.n_values = N_COUNTERS;
	if (r == 0)
		r = series_choose(&tasks->top, rows.at, rows.n, &choice);
	for (size_t i = 0; r == 0 && choice.n && i <= EXEC_MAX; i++)
		write_family(text, prefix, i, &rows, &choice);
	page_rows_release(&rows);
	return r;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static int add_functions(struct functions *functions, struct page_rows *rows)
{
	const struct function_count *counts;
	uint64_t total_ns;
	uint64_t sum_ns = 0;
	size_t n = functions_sorted(functions, &counts, &total_ns);
	struct series_row *row;
	struct buf labels;
	int r = 0;

	buf_init(&labels, LABELS_BYTES);
	for (size_t i = 0; r == 0 && i < n; i++) {
		buf_clear(&labels);
		page_label(&labels, "function", counts[i].symbol ? counts[i].symbol : "[unknown]");
		page_label(&labels, "module",
			   counts[i].module ? base_name(counts[i].module) : "[unknown]");
		if (labels.failed) /* of a name that long; it is in `other` */
			continue;
		row = page_rows_get(rows, &labels, i);
		r = row ? 0 : -ENOMEM;
		if (!row)
			continue;
		sum_ns += counts[i].ns;
		row->values[0] += counts[i].ns;
		row->rank = strcmp(row->labels, other_function) == 0 ? 0 : row->values[0];
	}
	buf_clear(&labels); /* what is in the table no more */
	row = r == 0 ? page_rows_get(rows, &labels, n) : NULL;
	if (row)
		row->values[0] = total_ns - sum_ns;
	buf_release(&labels);
	page_rows_sort(rows);
	return row ? 0 : -ENOMEM;
}

int page_functions(struct series *top, struct functions *functions, struct page_text *text)
{
	static const char name[] = "wick_function_self_seconds";
	static const char series[] = "wick_function_self_seconds_total";
	struct page_rows rows = {0};
	struct series_choice choice;
	int r = add_functions(functions, &rows);

	top->n_values = 1;
	if (r == 0)
		r = series_choose(top, rows.at, rows.n, &choice);
	if (r == 0 && choice.n)
		page_family(text, name, "counter", "seconds",
			    "CPU time in the function itself, sampled.");
	for (size_t i = 0; r == 0 && i < choice.n; i++)
		page_seconds(text, series, rows.at[choice.rows[i]].labels, choice.values[i][0]);
	if (r == 0 && choice.n && choice.others)
		page_seconds(text, series, other_function, choice.other[0]);
	page_rows_release(&rows);
	return r;
}
