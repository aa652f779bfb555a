/* function_sweep.c - one pass over sorted ranges, with a heap of those that hold the address */
#include "symbolize/function/internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SHORT_RUN = 8 }; /* of keys, that are put in order one by one */

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

static int compare_rows(const void *left, const void *right)
{
	const struct function_row *a = left;
	const struct function_row *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* What compilers write is nearly always in order: looking is cheaper than sorting. */
static void sort_rows(struct function_row *rows, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (rows[i].addr < rows[i - 1].addr) {
			qsort(rows, n, sizeof(*rows), compare_rows);
			return;
		}
	}
}

/* From the first of the function's own addresses to the end of the last: the rest is other code. */
static int find_base(struct function_sweep *sweep, const struct function_range *ranges, size_t n,
		     uint64_t *ret_end)
{
	uint64_t lo = UINT64_MAX;
	uint64_t hi = 0;

	for (size_t i = 0; i < n; i++) {
		if (ranges[i].node != 0)
			continue;
		lo = ranges[i].lo < lo ? ranges[i].lo : lo;
		hi = ranges[i].hi > hi ? ranges[i].hi : hi;
	}
	if (hi == 0)
		return -ENODATA;
	if (hi - lo > UINT32_MAX)
		return -ERANGE;
	sweep->base = lo;
	*ret_end = hi;
	return 0;
}

/* A range's number, below the offset that it begins at: numbers are sorted faster than ranges. */
static size_t make_keys(uint64_t *keys, uint64_t base, uint64_t end,
			const struct function_range *ranges, size_t n)
{
	size_t n_keys = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t lo = ranges[i].lo > base ? ranges[i].lo - base : 0;

		if (ranges[i].hi > base && ranges[i].lo < end)
			keys[n_keys++] = lo << 32 | i;
	}
	return n_keys;
}

static void insert_keys(uint64_t *keys, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const uint64_t key = keys[i];
		size_t at = i;

		for (; at > 0 && keys[at - 1] > key; at--)
			keys[at] = keys[at - 1];
		keys[at] = key;
	}
}

static void merge_keys(const uint64_t *from, size_t middle, size_t n, uint64_t *to)
{
	size_t a = 0;
	size_t b = middle;

	for (size_t i = 0; i < n; i++) {
		bool first = b == n || (a < middle && from[a] < from[b]);

		to[i] = first ? from[a] : from[b];
		a += first;
		b += !first;
	}
}

/* The sorted keys: where they were, or in OTHER. */
static uint64_t *sort_keys(uint64_t *keys, uint64_t *other, size_t n)
{
	for (size_t i = 0; i < n; i += SHORT_RUN)
		insert_keys(keys + i, n - i < SHORT_RUN ? n - i : SHORT_RUN);
	for (size_t width = SHORT_RUN; width < n; width *= 2) {
		uint64_t *sorted = other;

		for (size_t i = 0; i < n; i += 2 * width) {
			const size_t len = n - i < 2 * width ? n - i : 2 * width;

			merge_keys(keys + i, len < width ? len : width, len, other + i);
		}
		other = keys;
		keys = sorted;
	}
	return keys;
}

/* The function's own ranges: those that touch or overlap are one. */
static void own_ranges(struct function_sweep *sweep, const struct function_range *ranges)
{
	uint32_t end = 0;

	sweep->n_ranges = 0;
	for (size_t i = 0; i < sweep->n_keys; i++) {
		const struct function_range *range = &ranges[(uint32_t)sweep->keys[i]];
		const uint32_t lo = (uint32_t)(range->lo - sweep->base);
		const uint32_t hi = (uint32_t)(range->hi - sweep->base);

		if (range->node != 0)
			continue;
		if (sweep->n_ranges == 0 || lo > end)
			sweep->ranges[sweep->n_ranges++].lo = lo;
		if (hi > end)
			end = hi;
		sweep->ranges[sweep->n_ranges - 1].hi = end;
	}
}

/* Is range A further in than B?  Of two as deep it is the one that begins later, then the shorter
 * one. */
static bool further_in(const struct function_range *a, const struct function_range *b)
{
	if (a->depth != b->depth)
		return a->depth > b->depth;
	if (a->lo != b->lo)
		return a->lo > b->lo;
	if (a->hi != b->hi)
		return a->hi < b->hi;
	return a->node > b->node;
}

static void heap_push(struct function_sweep *sweep, const struct function_range *ranges,
		      uint32_t range)
{
	size_t at = sweep->n_heap++;

	while (at > 0 && further_in(&ranges[range], &ranges[sweep->heap[(at - 1) / 2]])) {
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
		    further_in(&ranges[sweep->heap[child + 1]], &ranges[sweep->heap[child]]))
			child++;
		if (!further_in(&ranges[sweep->heap[child]], &ranges[last]))
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

static void sweep_ranges(struct function_sweep *sweep, const struct function_range *ranges)
{
	const uint64_t *key = sweep->keys;
	const uint64_t *last = key + sweep->n_keys;
	uint64_t at = 0;

	while (key < last || sweep->n_heap > 0) {
		const struct function_range *innermost;
		uint64_t until;

		if (sweep->n_heap == 0)
			at = sweep->base + (*key >> 32);
		for (; key < last && sweep->base + (*key >> 32) <= at; key++)
			heap_push(sweep, ranges, (uint32_t)*key);
		innermost = &ranges[sweep->heap[0]];
		if (innermost->hi <= at) {
			heap_pop(sweep, ranges);
			continue;
		}
		until = innermost->hi;
		if (key < last && sweep->base + (*key >> 32) < until)
			until = sweep->base + (*key >> 32);
		add_segment(sweep, at, until, innermost->node);
		at = until;
	}
}

int function_sweep_run(struct function_sweep *sweep, const struct function_range *ranges, size_t n)
{
	uint64_t end;
	int r = find_base(sweep, ranges, n, &end);

	if (r < 0)
		return r;
	if (room_for(&sweep->key_space, &sweep->key_room, 2 * n, sizeof(*sweep->keys)) < 0 ||
	    room_for(&sweep->ranges, &sweep->range_room, n, sizeof(*sweep->ranges)) < 0)
		return -ENOMEM;
	sweep->n_keys = make_keys(sweep->key_space, sweep->base, end, ranges, n);
	sweep->keys = sort_keys(sweep->key_space, sweep->key_space + n, sweep->n_keys);
	own_ranges(sweep, ranges);
	/* A piece begins where a range begins or ends, or where one of the function's own does. */
	if (room_for(&sweep->segments, &sweep->segment_room, 2 * n + sweep->n_ranges,
		     sizeof(*sweep->segments)) < 0 ||
	    room_for(&sweep->heap, &sweep->heap_room, n, sizeof(*sweep->heap)) < 0)
		return -ENOMEM;
	sweep->n_segments = 0;
	sweep->n_heap = 0;
	sweep->at_range = 0;
	sweep_ranges(sweep, ranges);
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
	sort_rows(rows, n);
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
	free(sweep->key_space);
	*sweep = (struct function_sweep){0};
}
