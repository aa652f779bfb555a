/* task_rows.c - rows of tasks and functions from the tree of what ran inside what */
#include "base/cleanup.h"
#include "base/saturated.h"
#include "sampler/collector/types/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Nodes whose name, file and line are the same are of one place, which has one row. */
enum { NOWHERE = 0 };

struct links {
	uint32_t place;    /* a row, plus 1; NOWHERE: of a tier or the root */
	uint32_t task;     /* places that its time is charged to: of the innermost task, */
	uint32_t function; /* and of the innermost function in that task */
	uint32_t first;    /* child; 0: none */
	uint32_t next;     /* sibling */
};

static int compare_text(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a, b);
}

static int by_place(const void *a, const void *b)
{
	const struct total_task *x = a;
	const struct total_task *y = b;
	int r = compare_text(x->name, y->name);

	if (r == 0)
		r = compare_text(x->file, y->file);
	if (r == 0)
		r = (x->line > y->line) - (x->line < y->line);
	return r ? r : (int)x->kind - (int)y->kind;
}

static int by_time(const void *a, const void *b)
{
	const struct total_task *x = a;
	const struct total_task *y = b;
	uint64_t x_ns = saturated_add(x->exec_ns, x->children_ns);
	uint64_t y_ns = saturated_add(y->exec_ns, y->children_ns);

	return x_ns == y_ns ? by_place(a, b) : (x_ns < y_ns) - (x_ns > y_ns);
}

static struct total_task place_of(const struct total_node *node)
{
	return (struct total_task){
		.kind = node->kind, .name = node->name, .file = node->file, .line = node->line};
}

static int make_places(struct totals_builder *builder)
{
	size_t n = 0;
	size_t kept = 0;

	builder->tasks = calloc(builder->n_nodes, sizeof(*builder->tasks));
	if (!builder->tasks)
		return -ENOMEM;
	for (uint32_t i = 1; i < builder->n_nodes; i++)
		if (builder->nodes[i].kind != TOTAL_TIER)
			builder->tasks[n++] = place_of(&builder->nodes[i]);
	qsort(builder->tasks, n, sizeof(*builder->tasks), by_place);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || by_place(&builder->tasks[kept - 1], &builder->tasks[i]) != 0)
			builder->tasks[kept++] = builder->tasks[i];
	builder->n_tasks = kept;
	return 0;
}

static uint32_t find_place(const struct totals_builder *builder, const struct total_node *node)
{
	const struct total_task key = place_of(node);
	const struct total_task *row =
		bsearch(&key, builder->tasks, builder->n_tasks, sizeof(*builder->tasks), by_place);

	return row ? (uint32_t)(row - builder->tasks) + 1 : NOWHERE;
}

static void add_counts(struct total_task *row, const struct total_node *node)
{
	row->wall_ns = saturated_add(row->wall_ns, node->wall_ns);
	row->calls = saturated_add(row->calls, node->ended);
	row->live = saturated_add(row->live, node->live);
	row->stillborn = saturated_add(row->stillborn, node->stillborn);
	row->cancelled = saturated_add(row->cancelled, node->cancelled);
	row->failed = saturated_add(row->failed, node->failed);
	row->stalls = saturated_add(row->stalls, node->stalls);
	if (node->max_ns > row->exec_max_ns)
		row->exec_max_ns = node->max_ns;
	if (node->run_max_ns > row->run_max_ns)
		row->run_max_ns = node->run_max_ns;
}

/* A node's time is that of its task, with functions and tiers inside that; and of its function,
 * with tiers inside that. */
static void link_nodes(struct totals_builder *builder, struct links *links)
{
	for (uint32_t i = 1; i < builder->n_nodes; i++) {
		const struct total_node *node = &builder->nodes[i];
		struct links *link = &links[i];

		*link = (struct links){.task = links[node->parent].task,
				       .function = links[node->parent].function,
				       .next = links[node->parent].first};
		links[node->parent].first = i;
		if (node->kind == TOTAL_TIER)
			continue;
		link->place = find_place(builder, node);
		link->function = node->kind == TOTAL_FUNCTION ? link->place : NOWHERE;
		if (node->kind == TOTAL_TASK)
			link->task = link->place;
		if (link->place)
			add_counts(&builder->tasks[link->place - 1], node);
	}
}

static void charge(struct totals_builder *builder, uint32_t place, uint64_t ns)
{
	if (place)
		builder->tasks[place - 1].exec_ns =
			saturated_add(builder->tasks[place - 1].exec_ns, ns);
}

/* Children come after their parents. */
static void add_up(struct totals_builder *builder, const struct links *links)
{
	for (uint32_t i = builder->n_nodes - 1; i > 0; i--) {
		struct total_node *node = &builder->nodes[i];
		struct total_node *parent = &builder->nodes[node->parent];

		node->cumulative_ns = saturated_add(node->cumulative_ns, node->self_ns);
		parent->cumulative_ns = saturated_add(parent->cumulative_ns, node->cumulative_ns);
		charge(builder, links[i].task, node->self_ns);
		charge(builder, links[i].function, node->self_ns);
	}
}

/*
 * What ran inside a place is what its outermost nodes have in all: so a place inside itself has it
 * once.  CHILDREN_NS is that first.  OPEN counts for each place the nodes on the way from the root.
 */
static void sum_outermost(struct totals_builder *builder, struct links *links, uint32_t *open)
{
	uint32_t at = 0;

	do {
		uint32_t place = links[at].place;

		if (place && open[place - 1]++ == 0)
			builder->tasks[place - 1].children_ns =
				saturated_add(builder->tasks[place - 1].children_ns,
					      builder->nodes[at].cumulative_ns);
		if (links[at].first) {
			at = links[at].first;
			continue;
		}
		while (at) {
			if (links[at].place)
				open[links[at].place - 1]--;
			if (links[at].next)
				break;
			at = builder->nodes[at].parent;
		}
		at = at ? links[at].next : 0;
	} while (at);
}

static bool is_empty(const struct total_task *row)
{
	return !row->exec_ns && !row->children_ns && !row->wall_ns && !row->calls && !row->live &&
	       !row->stillborn && !row->stalls;
}

int task_rows_make(struct totals_builder *builder)
{
	_cleanup_free_ struct links *links = calloc(builder->n_nodes, sizeof(*links));
	_cleanup_free_ uint32_t *open = calloc(builder->n_nodes, sizeof(*open));
	size_t kept = 0;

	if (!links || !open || make_places(builder) < 0)
		return -ENOMEM; /* _cleanup_free_ frees it. NOLINT(clang-analyzer-unix.Malloc) */
	link_nodes(builder, links);
	add_up(builder, links);
	sum_outermost(builder, links, open);
	for (size_t i = 0; i < builder->n_tasks; i++) {
		struct total_task *row = &builder->tasks[i];

		row->children_ns -=
			row->exec_ns < row->children_ns ? row->exec_ns : row->children_ns;
		if (!is_empty(row))
			builder->tasks[kept++] = *row;
	}
	builder->n_tasks = kept;
	qsort(builder->tasks, kept, sizeof(*builder->tasks), by_time);
	return 0;
}
