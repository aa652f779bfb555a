/* function_sweep.c - one pass over sorted ranges, with a heap of those that hold the address */
#include "symbolize/function_sweep.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Room for N items; what is in them is not needed any more. */
static int room_for(void *array, size_t *room, size_t n, size_t item)
{
	void **items = array;
	void *fresh;

	if (n <= *room)
		return 0;
	fresh = malloc(n * 2 * item);
	if (!fresh)
		return -ENOMEM;
	free(*items);
	*items = fresh;
	*room = n * 2;
	return 0;
}

/* By their beginning; of several the outer, then the longer one first. */
static int compare_ranges(const void *left, const void *right)
{
	const struct function_range *a = left;
	const struct function_range *b = right;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->hi != b->hi)
		return a->hi > b->hi ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static int compare_rows(const void *left, const void *right)
{
	const struct function_row *a = left;
	const struct function_row *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* What compilers write is nearly always in order: looking is cheaper than sorting. */
static void sort(void *items, size_t n, size_t item, int (*compare)(const void *, const void *))
{
	const char *at = items;

	for (size_t i = 1; i < n; i++) {
		if (compare(at + (i - 1) * item, at + i * item) > 0) {
			qsort(items, n, item, compare);
			return;
		}
	}
}

/* The function's own ranges: those that touch or overlap are one. */
static int own_ranges(struct function_sweep *sweep, const struct function_range *ranges, size_t n)
{
	uint64_t end = 0;

	sweep->n_ranges = 0;
	for (size_t i = 0; i < n; i++) {
		const struct function_range *range = &ranges[i];

		if (range->node != 0)
			continue;
		if (sweep->n_ranges == 0)
			sweep->base = range->lo;
		if (range->hi - sweep->base > UINT32_MAX)
			return -ERANGE;
		if (sweep->n_ranges == 0 || range->lo > end) {
			sweep->ranges[sweep->n_ranges++].lo = (uint32_t)(range->lo - sweep->base);
			end = range->hi;
		}
		if (range->hi > end)
			end = range->hi;
		sweep->ranges[sweep->n_ranges - 1].hi = (uint32_t)(end - sweep->base);
	}
	return sweep->n_ranges ? 0 : -ENODATA;
}

/* Is range A, by its place in the sorted array, further in than B? */
static bool further_in(const struct function_range *ranges, uint32_t a, uint32_t b)
{
	if (ranges[a].depth != ranges[b].depth)
		return ranges[a].depth > ranges[b].depth;
	return a > b;
}

static void heap_push(struct function_sweep *sweep, const struct function_range *ranges,
		      uint32_t range)
{
	size_t at = sweep->n_heap++;

	while (at > 0 && further_in(ranges, range, sweep->heap[(at - 1) / 2])) {
		sweep->heap[at] = sweep->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	sweep->heap[at] = range;
}

static void heap_pop(struct function_sweep *sweep, const struct function_range *ranges)
{
	const uint32_t last = sweep->heap[--sweep->n_heap];
	size_t at = 0;

	while (at * 2 + 1 < sweep->n_heap) {
		size_t child = at * 2 + 1;

		if (child + 1 < sweep->n_heap &&
		    further_in(ranges, sweep->heap[child + 1], sweep->heap[child]))
			child++;
		if (!further_in(ranges, sweep->heap[child], last))
			break;
		sweep->heap[at] = sweep->heap[child];
		at = child;
	}
	sweep->heap[at] = last;
}

/* [LO, HI) is NODE's, as far as the function has code there. */
static void add_segment(struct function_sweep *sweep, uint64_t lo, uint64_t hi, uint32_t node)
{
	for (size_t i = sweep->at_range; i < sweep->n_ranges; i++) {
		const uint64_t range_lo = sweep->base + sweep->ranges[i].lo;
		const uint64_t range_hi = sweep->base + sweep->ranges[i].hi;
		const uint64_t from = lo > range_lo ? lo : range_lo;

		if (range_lo >= hi)
			return;
		if (range_hi <= lo) {
			sweep->at_range = i + 1;
			continue;
		}
		if (from > range_lo && sweep->segments[sweep->n_segments - 1].node == node)
			continue;
		sweep->segments[sweep->n_segments++] =
			(struct layout_segment){(uint32_t)(from - sweep->base), node};
	}
}

static void sweep_ranges(struct function_sweep *sweep, const struct function_range *ranges,
			 size_t n)
{
	uint64_t at = 0;
	uint32_t i = 0;

	while (i < n || sweep->n_heap > 0) {
		const struct function_range *innermost;
		uint64_t until;

		if (sweep->n_heap == 0)
			at = ranges[i].lo;
		while (i < n && ranges[i].lo <= at)
			heap_push(sweep, ranges, i++);
		innermost = &ranges[sweep->heap[0]];
		if (innermost->hi <= at) {
			heap_pop(sweep, ranges);
			continue;
		}
		until = i < n && ranges[i].lo < innermost->hi ? ranges[i].lo : innermost->hi;
		add_segment(sweep, at, until, innermost->node);
		at = until;
	}
}

int function_sweep_run(struct function_sweep *sweep, struct function_range *ranges, size_t n)
{
	int r;

	sort(ranges, n, sizeof(*ranges), compare_ranges);
	if (room_for(&sweep->ranges, &sweep->range_room, n, sizeof(*sweep->ranges)) < 0)
		return -ENOMEM;
	r = own_ranges(sweep, ranges, n);
	if (r < 0)
		return r;
	/* A piece begins where a range begins or ends, or where one of the function's own does. */
	if (room_for(&sweep->segments, &sweep->segment_room, 2 * n + sweep->n_ranges,
		     sizeof(*sweep->segments)) < 0 ||
	    room_for(&sweep->heap, &sweep->heap_room, n, sizeof(*sweep->heap)) < 0)
		return -ENOMEM;
	sweep->n_segments = 0;
	sweep->n_heap = 0;
	sweep->at_range = 0;
	sweep_ranges(sweep, ranges, n);
	return 0;
}

/* From ADDR on it is the row's line (NULL: none), unless it is so already. */
static void add_row(struct function_sweep *sweep, uint64_t addr, const struct function_row *row)
{
	const uint32_t lo = (uint32_t)(addr - sweep->base);
	struct layout_row added = {.lo = lo, .file = LAYOUT_NO_FILE};
	const struct layout_row *last;

	if (row)
		added = (struct layout_row){lo, row->line, row->file, row->column};
	if (sweep->n_rows > 0 && sweep->rows[sweep->n_rows - 1].lo == lo)
		sweep->n_rows--;
	last = sweep->n_rows > 0 ? &sweep->rows[sweep->n_rows - 1] : NULL;
	if (last && last->line == added.line && last->file == added.file &&
	    last->column == added.column)
		return;
	sweep->rows[sweep->n_rows++] = added;
}

int function_sweep_rows(struct function_sweep *sweep, struct function_row *rows, size_t n)
{
	size_t at = 0; /* how many rows are at or before the address at hand */

	sweep->n_rows = 0;
	if (n == 0)
		return 0;
	sort(rows, n, sizeof(*rows), compare_rows);
	if (room_for(&sweep->rows, &sweep->row_room, n + sweep->n_ranges, sizeof(*sweep->rows)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < sweep->n_ranges; i++) {
		const uint64_t lo = sweep->base + sweep->ranges[i].lo;
		const uint64_t hi = sweep->base + sweep->ranges[i].hi;

		while (at < n && rows[at].addr <= lo)
			at++;
		add_row(sweep, lo, at > 0 ? &rows[at - 1] : NULL);
		for (; at < n && rows[at].addr < hi; at++)
			add_row(sweep, rows[at].addr, &rows[at]);
	}
	return 0;
}

void function_sweep_release(struct function_sweep *sweep)
{
	free(sweep->ranges);
	free(sweep->segments);
	free(sweep->rows);
	free(sweep->heap);
	*sweep = (struct function_sweep){0};
}
