/* totals_table.c - tasks, requests and tiers as tables */
#include "base/histogram.h"
#include "tools/totals/totals.h"

#include "base/words.h"
#include "tools/cli/terminal.h"

#include <string.h>

static void add_time(struct table *table, uint64_t ns)
{
	words_amount(&table->text, ns, "ns");
	table_cell(table, ns > 0);
}

static void add_count(struct table *table, uint64_t count)
{
	words_count(&table->text, count);
	table_cell(table, count > 0);
}

static void add_text(struct table *table, const char *text)
{
	buf_add(&table->text, text);
	table_cell(table, true);
}

/* Unknown where the rows that were read had no buckets. */
static void add_quantile(struct table *table, const struct total_tier *tier, double part)
{
	if (tier->durations.n)
		words_amount(&table->text, totals_quantile_ns(tier, part), "ns");
	else
		buf_add_char(&table->text, '-');
	table_cell(table, tier->durations.n > 0);
}

static void add_location(struct table *table, const struct total_task *task)
{
	const char *slash = strrchr(task->file, '/');

	buf_add(&table->text, *task->name ? task->name : "-");
	if (task->kind == TOTAL_FUNCTION)
		buf_add(&table->text, "()");
	if (*task->file)
		buf_printf(&table->text, " %s:%u", slash ? slash + 1 : task->file, task->line);
	table_cell(table, true);
}

/* A function is not suspended: its longest call is what says how long it took. */
static void add_run(struct table *table, const struct total_task *task)
{
	if (task->kind == TOTAL_FUNCTION)
		buf_add_char(&table->text, '-');
	else
		words_amount(&table->text, task->run_max_ns, "ns");
	table_cell(table, task->kind == TOTAL_TASK && task->run_max_ns);
}

static void add_task(struct table *table, const struct total_task *task)
{
	add_count(table, task->calls);
	add_time(table, task->exec_ns);
	add_time(table, task->exec_max_ns);
	add_run(table, task);
	add_time(table, task->children_ns);
	add_time(table, task->exec_ns + task->children_ns);
	add_time(table, task->wall_ns);
	add_count(table, task->live);
	add_count(table, task->stillborn);
	add_count(table, task->cancelled);
	add_count(table, task->failed);
	add_count(table, task->stalls);
	add_location(table, task);
}

static size_t print_tasks(struct buf *buf, const struct totals *totals,
			  const struct totals_view *view)
{
	static const struct table_column columns[] = {
		{.title = "calls"},
		{.title = "exec"},
		{.title = "exec max", .spare = 3},
		{.title = "run max", .spare = 2},
		{.title = "children", .spare = 4},
		{.title = "with children"},
		{.title = "wall", .spare = 1},
		{.title = "live", .spare = 5, .empty = true},
		{.title = "stillborn", .spare = 6, .empty = true},
		{.title = "cancelled", .spare = 6, .empty = true},
		{.title = "failed", .spare = 6, .empty = true},
		{.title = "stalls", .spare = 2, .empty = true},
		{.title = "location", .left = true},
	};
	struct table table;
	size_t n = totals->n_tasks;

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	n = view->rows && n > view->rows ? view->rows : n;
	for (size_t i = 0; i < n; i++)
		add_task(&table, &totals->tasks[i]);
	if (n)
		table_print(&table, view->columns, buf);
	if (n < totals->n_tasks)
		buf_printf(buf, "and %zu more\n", totals->n_tasks - n);
	table_release(&table);
	return n;
}

static const struct total_tier *find(const struct totals *totals, const char *tier,
				     const char *identity)
{
	for (size_t i = 0; i < totals->n_tiers; i++)
		if (strcmp(totals->tiers[i].tier, tier) == 0 &&
		    strcmp(totals->tiers[i].identity, identity) == 0)
			return &totals->tiers[i];
	return NULL;
}

/* "queue 41.0 %, db 35.2 %": what of a request's time is in which tier, and in none inside it. */
static void add_parts(struct table *table, const struct totals *totals,
		      const struct total_tier *request)
{
	bool first = true;

	for (size_t i = 0; i < totals->n_tiers; i++) {
		const struct total_tier *tier = &totals->tiers[i];

		if (tier == request || strcmp(tier->identity, request->identity) != 0 ||
		    !totals_has(TOTALS_TIERS, tier))
			continue;
		buf_printf(&table->text, "%s%s ", first ? "" : ", ", tier->tier);
		text_share(&table->text, (double)tier->self_ns, (double)request->sum_ns);
		first = false;
	}
	table_cell(table, !first);
}

static void add_request(struct table *table, const struct totals *totals,
			const struct total_tier *request, const struct total_tier *all)
{
	add_count(table, request->count);
	add_time(table, request->sum_ns);
	text_share(&table->text, (double)request->sum_ns,
		   (double)(all ? all->sum_ns : request->sum_ns));
	table_cell(table, true);
	add_time(table, request->count ? request->sum_ns / request->count : 0);
	add_quantile(table, request, 0.5);
	add_quantile(table, request, 0.99);
	add_time(table, request->max_ns);
	add_text(table, request->identity);
	add_parts(table, totals, request);
}

static size_t print_requests(struct buf *buf, const struct totals *totals,
			     const struct totals_view *view)
{
	static const struct table_column columns[] = {
		{.title = "count"},
		{.title = "time", .spare = 3},
		{.title = "share"},
		{.title = "mean"},
		{.title = "p50", .spare = 2, .empty = true},
		{.title = "p99", .spare = 1, .empty = true},
		{.title = "max", .spare = 4},
		{.title = "identity", .left = true},
		{.title = "by tier", .left = true, .empty = true},
	};
	const struct total_tier *all = find(totals, TOTALS_REQUEST, TOTALS_TOTAL);
	struct table table;
	size_t n = 0;
	size_t left = 0;

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < totals->n_tiers; i++) {
		if (!totals_has(TOTALS_REQUESTS, &totals->tiers[i]))
			continue;
		if (view->rows && n >= view->rows) {
			left++;
			continue;
		}
		add_request(&table, totals, &totals->tiers[i], all);
		n++;
	}
	if (n)
		table_print(&table, view->columns, buf);
	if (left)
		buf_printf(buf, "and %zu more\n", left);
	table_release(&table);
	return n;
}

static void add_tier(struct table *table, const struct total_tier *tier)
{
	add_count(table, tier->count);
	add_time(table, tier->sum_ns);
	add_time(table, tier->self_ns);
	add_time(table, tier->count ? tier->sum_ns / tier->count : 0);
	add_time(table, (uint64_t)histogram_deviation_ns(&tier->durations));
	add_time(table, tier->min_ns);
	add_quantile(table, tier, 0.25);
	add_quantile(table, tier, 0.5);
	add_quantile(table, tier, 0.75);
	add_quantile(table, tier, 0.9);
	add_quantile(table, tier, 0.99);
	add_quantile(table, tier, 0.999);
	add_time(table, tier->max_ns);
	add_text(table, tier->tier);
	add_text(table, tier->identity);
}

static bool is_shown(const struct totals_view *view, const struct total_tier *tier)
{
	if (view->each || strcmp(tier->identity, TOTALS_OUTSIDE) == 0)
		return true;
	return strcmp(tier->identity, view->identity ? view->identity : TOTALS_TOTAL) == 0;
}

static uint64_t count_identities(const struct totals *totals)
{
	uint64_t n = 0;

	for (size_t i = 0; i < totals->n_tiers; i++)
		n += totals_has(TOTALS_REQUESTS, &totals->tiers[i]) &&
		     strcmp(totals->tiers[i].identity, TOTALS_TOTAL) != 0;
	return n;
}

static void print_what_else(struct buf *buf, const struct totals *totals,
			    const struct totals_view *view)
{
	uint64_t n = count_identities(totals);

	if (view->identity || n < 2)
		return;
	buf_add(buf, "of all requests together; --identity all shows each of ");
	words_count(buf, n);
	buf_add(buf, " identities\n");
}

static size_t print_tiers(struct buf *buf, const struct totals *totals,
			  const struct totals_view *view)
{
	static const struct table_column columns[] = {
		{.title = "count"},
		{.title = "time"},
		{.title = "self", .spare = 5},
		{.title = "mean"},
		{.title = "sd", .spare = 7, .empty = true},
		{.title = "min", .spare = 9},
		{.title = "p25", .spare = 10, .empty = true},
		{.title = "p50", .spare = 3, .empty = true},
		{.title = "p75", .spare = 11, .empty = true},
		{.title = "p90", .spare = 8, .empty = true},
		{.title = "p99", .spare = 2, .empty = true},
		{.title = "p99.9", .spare = 6, .empty = true},
		{.title = "max", .spare = 4},
		{.title = "tier", .left = true},
		{.title = "identity", .left = true},
	};
	struct table table;
	size_t n = 0;
	size_t left = 0;

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < totals->n_tiers; i++) {
		const struct total_tier *tier = &totals->tiers[i];

		if (!totals_has(TOTALS_TIERS, tier) || !is_shown(view, tier))
			continue;
		if (view->rows && n >= view->rows) {
			left++;
			continue;
		}
		add_tier(&table, tier);
		n++;
	}
	if (n)
		table_print(&table, view->columns, buf);
	if (left)
		buf_printf(buf, "and %zu more\n", left);
	if (n)
		print_what_else(buf, totals, view);
	table_release(&table);
	return n;
}

size_t totals_table(struct buf *buf, const struct totals *totals, const struct totals_view *view)
{
	switch (view->subject) {
	case TOTALS_TASKS:
		return print_tasks(buf, totals, view);
	case TOTALS_REQUESTS:
		return print_requests(buf, totals, view);
	default:
		return print_tiers(buf, totals, view);
	}
}
