/* top_view.c - the model at one moment, in the order in which it is shown */
#include "tools/top/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

static double percent(uint64_t ns, uint64_t of_ns)
{
	return 100.0 * (double)ns / (double)of_ns;
}

static void clear(struct top_view *view)
{
	free(view->rows);
	free(view->threads);
	free(view->shown);
	intern_release(&view->strings);
	view->rows = NULL;
	view->threads = NULL;
	view->shown = NULL;
	view->n_rows = view->n_threads = view->n_shown = 0;
}

/* What percent are made of, and of which time. */
static double share(const struct top_view *view, const struct top_recent *recent, uint64_t sum_ns,
		    uint64_t window_ns)
{
	return percent(view->whole ? sum_ns : top_recent_ns(recent, view->now_ns), window_ns);
}

int top_view_take(struct top_view *view, const struct top_model *model, uint64_t now_ns)
{
	uint64_t all_ns = now_ns > model->since_ns ? now_ns - model->since_ns : 1;
	uint64_t window_ns = view->whole ? all_ns : top_window_ns(model, now_ns);

	clear(view);
	if (!view->seconds)
		view->seconds = calloc(TOP_SECONDS, sizeof(*view->seconds));
	view->rows = calloc(model->n_functions + 1, sizeof(*view->rows));
	if (!view->seconds || !view->rows)
		return -ENOMEM;
	memcpy(view->seconds, model->seconds, TOP_SECONDS * sizeof(*view->seconds));
	view->now_ns = now_ns;
	view->since_ns = model->since_ns;
	view->samples = model->samples;
	view->full = model->full;
	view->cpu_pct = share(view, &model->recent, model->sum_ns, window_ns);
	for (size_t i = 0; i < model->n_functions; i++) {
		const struct top_function *function = model->functions[i];
		struct top_row row = {
			.symbol = intern_string(&view->strings, function->symbol),
			.module = intern_string(&view->strings, function->module),
			.self_pct = share(view, &function->self, function->self_ns, window_ns),
			.total_pct = share(view, &function->total, function->total_ns, window_ns),
			.self_ns = function->self_ns,
			.total_ns = function->total_ns,
		};

		if (row.symbol && row.module)
			view->rows[view->n_rows++] = row;
	}
	return 0;
}

int top_view_threads(struct top_view *view, const struct top_model *model,
		     const struct top_thread *threads, size_t n)
{
	struct top_thread *copy = calloc(n + 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	free(view->threads);
	view->threads = copy;
	view->n_threads = n;
	for (size_t i = 0; i < n; i++) {
		const struct top_seen *seen = map_get(&model->threads, (uint64_t)threads[i].tid);

		copy[i] = threads[i];
		copy[i].symbol = copy[i].wait = NULL;
		if (seen && seen->pid == threads[i].pid) {
			copy[i].symbol =
				seen->symbol ? intern_string(&view->strings, seen->symbol) : NULL;
			copy[i].wait = seen->wait;
		}
	}
	return 0;
}

static int compare_pct(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int compare_ns(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

/* What rows are sorted by, and what decides among equals. */
struct sorting {
	const struct top_view *view;
	enum top_order order;
};

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct sorting *sorting = context;
	const struct top_row *a = &sorting->view->rows[*(const uint32_t *)left];
	const struct top_row *b = &sorting->view->rows[*(const uint32_t *)right];
	int by[N_TOP_ORDERS] = {
		[TOP_BY_SELF] = compare_pct(a->self_pct, b->self_pct),
		[TOP_BY_TOTAL] = compare_pct(a->total_pct, b->total_pct),
		[TOP_BY_SELF_SUM] = compare_ns(a->self_ns, b->self_ns),
		[TOP_BY_TOTAL_SUM] = compare_ns(a->total_ns, b->total_ns),
	};

	if (by[sorting->order])
		return by[sorting->order];
	if (by[TOP_BY_TOTAL])
		return by[TOP_BY_TOTAL];
	return by[TOP_BY_TOTAL_SUM] ? by[TOP_BY_TOTAL_SUM] : strcmp(a->symbol, b->symbol);
}

/* Running threads first, then those that wait for a disk, then the others in alphabetical order. */
static int state_rank(char state)
{
	return state == 'R' ? 0 : state == 'D' ? 1 : state;
}

static int compare_threads(const void *left, const void *right, void *context)
{
	const struct sorting *sorting = context;
	const struct top_thread *a = &sorting->view->threads[*(const uint32_t *)left];
	const struct top_thread *b = &sorting->view->threads[*(const uint32_t *)right];
	int by[N_TOP_ORDERS] = {
		[TOP_BY_SELF] = compare_pct(a->cpu_pct, b->cpu_pct),
		[TOP_BY_TOTAL] = state_rank(a->state) - state_rank(b->state),
		[TOP_BY_SELF_SUM] = compare_ns(a->cpu_ns, b->cpu_ns),
		[TOP_BY_TOTAL_SUM] = strcmp(a->comm, b->comm),
	};

	if (by[sorting->order])
		return by[sorting->order];
	return by[TOP_BY_SELF] ? by[TOP_BY_SELF] : a->tid - b->tid;
}

static bool matches(struct pattern *filter, const char *text)
{
	return !filter || pattern_matches(filter, text, strlen(text));
}

/* Room for the numbers of N rows. */
static int begin_order(struct top_view *view, size_t n)
{
	uint32_t *shown = calloc(n + 1, sizeof(*shown));

	view->n_shown = 0;
	if (!shown)
		return -ENOMEM;
	free(view->shown);
	view->shown = shown;
	return 0;
}

int top_view_order_rows(struct top_view *view, enum top_order order, struct pattern *filter)
{
	struct sorting sorting = {view, order};

	if (begin_order(view, view->n_rows) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < view->n_rows; i++)
		if (matches(filter, view->rows[i].symbol) || matches(filter, view->rows[i].module))
			view->shown[view->n_shown++] = i;
	qsort_r(view->shown, view->n_shown, sizeof(*view->shown), compare_rows, &sorting);
	return 0;
}

int top_view_order_threads(struct top_view *view, enum top_order order, struct pattern *filter)
{
	struct sorting sorting = {view, order};

	if (begin_order(view, view->n_threads) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < view->n_threads; i++) {
		const struct top_thread *thread = &view->threads[i];

		if (matches(filter, thread->comm) ||
		    (thread->symbol && matches(filter, thread->symbol)))
			view->shown[view->n_shown++] = i;
	}
	qsort_r(view->shown, view->n_shown, sizeof(*view->shown), compare_threads, &sorting);
	return 0;
}

/* What was used in the part of a second that row ROW of ROWS shows. */
static uint64_t cell_ns(const struct top_view *view, uint64_t second, uint32_t row, uint32_t rows)
{
	const struct top_second *at = &view->seconds[second % TOP_SECONDS];
	uint64_t ns = 0;

	if (!at->used || at->number != second)
		return 0;
	for (uint32_t i = row * TOP_PARTS / rows; i < (row + 1) * TOP_PARTS / rows; i++)
		ns += at->ns[i];
	return ns;
}

void top_view_heat(const struct top_view *view, uint32_t rows, uint32_t columns, unsigned n_levels,
		   uint8_t *levels)
{
	uint64_t last = view->now_ns / SECOND_NS;
	uint64_t most = 1;

	memset(levels, 0, (size_t)rows * columns);
	if (!view->seconds || columns == 0)
		return;
	for (int pass = 0; pass < 2; pass++) { /* the warmest cell first: it gives the scale */
		for (size_t i = 0; i < (size_t)rows * columns; i++) {
			uint32_t row = rows - 1 - (uint32_t)(i / columns);
			uint64_t ago = columns - 1 - i % columns;
			uint64_t ns = ago <= last ? cell_ns(view, last - ago, row, rows) : 0;

			if (pass == 0 && ns > most)
				most = ns;
			if (pass == 1 && ns > 0)
				levels[i] = (uint8_t)(1 + ns * (n_levels - 2) / most);
		}
	}
}

void top_view_release(struct top_view *view)
{
	clear(view);
	free(view->seconds);
	*view = (struct top_view){0};
}
