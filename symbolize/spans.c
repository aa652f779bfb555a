/* spans.c - mappings of a process, sorted by start, each with its time */
#include "symbolize/spans.h"

#include "base/array.h"
#include "base/search.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_SPANS = 256 * 1024,
	MAX_DEAD = 4096, /* unmapped ones that are remembered */
};

static int compare_times(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left;
	uint64_t b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Keep the half of the unmapped spans that was unmapped last. */
static void forget_oldest(struct spans *spans)
{
	uint64_t *times = malloc(spans->n_spans * sizeof(*times));
	uint64_t max_end = 0;
	size_t n_dead = 0;
	size_t to = 0;

	if (!times)
		return;
	for (size_t i = 0; i < spans->n_spans; i++)
		if (spans->spans[i].until_ns != SPAN_FOREVER)
			times[n_dead++] = spans->spans[i].until_ns;
	if (n_dead > MAX_DEAD) {
		qsort(times, n_dead, sizeof(*times), compare_times);
		for (size_t i = 0; i < spans->n_spans; i++) {
			if (spans->spans[i].until_ns <= times[n_dead / 2])
				continue;
			if (spans->spans[i].end > max_end)
				max_end = spans->spans[i].end;
			spans->spans[to] = spans->spans[i];
			spans->spans[to++].max_end = max_end;
		}
		spans->n_spans = to;
	}
	free(times);
}

static int make_room(struct spans *spans)
{
	if (spans->n_spans < spans->n_room)
		return 0;
	if (spans->n_spans >= MAX_DEAD)
		forget_oldest(spans);
	if (spans->n_spans < spans->n_room)
		return 0;
	if (spans->n_spans >= MAX_SPANS)
		return -ENOSPC;
	return array_reserve(&spans->spans, spans->n_spans, &spans->n_room, 64);
}

static int insert(struct spans *spans, const struct span *span)
{
	int r = make_room(spans);
	size_t at;

	if (r < 0)
		return r;
	at = search_up_to(spans->spans, spans->n_spans, sizeof(struct span), span->start);
	memmove(spans->spans + at + 1, spans->spans + at,
		(spans->n_spans - at) * sizeof(*spans->spans));
	spans->spans[at] = *span;
	spans->spans[at].max_end = at ? spans->spans[at - 1].max_end : 0;
	spans->n_spans++;
	/* Ends that shrink later leave it too large, which costs lookups a step. */
	for (; at < spans->n_spans && spans->spans[at].max_end < span->end; at++)
		spans->spans[at].max_end = span->end;
	return 0;
}

/* A live span that began by TIME_NS and overlaps [START, END). */
static struct span *overlapping(struct spans *spans, uint64_t start, uint64_t end, uint64_t time_ns)
{
	for (size_t i =
		     end ? search_up_to(spans->spans, spans->n_spans, sizeof(struct span), end - 1)
			 : 0;
	     i-- > 0;) {
		struct span *span = &spans->spans[i];

		if (span->max_end <= start)
			break;
		if (span->end > start && span->until_ns == SPAN_FOREVER && span->from_ns <= time_ns)
			return span;
	}
	return NULL;
}

int spans_unmap(struct spans *spans, uint64_t start, uint64_t end, uint64_t time_ns)
{
	struct span *span;

	while ((span = overlapping(spans, start, end, time_ns))) {
		struct span before = *span;
		struct span after = *span;
		int r = 0;

		if (span->start < start)
			span->start = start;
		if (span->end > end)
			span->end = end;
		span->until_ns = time_ns;
		/* A start that moved may be out of order now: take it out and put it back. */
		if (before.start < start) {
			struct span middle = *span;

			*span = before;
			span->end = start;
			r = insert(spans, &middle);
		}
		if (r == 0 && after.end > end) {
			after.start = end;
			r = insert(spans, &after);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* Is it there already, as part of the same mapping of the same file? */
static bool known(struct spans *spans, const struct span *span)
{
	for (size_t i =
		     search_up_to(spans->spans, spans->n_spans, sizeof(struct span), span->start);
	     i-- > 0;) {
		struct span *old = &spans->spans[i];

		if (old->until_ns == SPAN_FOREVER && old->end >= span->end &&
		    old->module == span->module &&
		    old->base - old->pgoff == span->base - span->pgoff) {
			if (span->from_ns < old->from_ns)
				old->from_ns = span->from_ns;
			return true;
		}
		if (span->start >= old->max_end)
			break;
	}
	return false;
}

int spans_add(struct spans *spans, const struct span *span)
{
	int r;

	if (known(spans, span))
		return 0;
	r = spans_unmap(spans, span->start, span->end, span->from_ns);
	if (r < 0)
		return r;
	return insert(spans, span);
}

/* Of two that cover the address, is NEW the one that was there at TIME_NS? */
static bool better(const struct span *new, const struct span *old, uint64_t time_ns)
{
	bool was_there = new->from_ns <= time_ns;

	if (was_there && time_ns >= new->until_ns)
		return false;
	if (!old)
		return true;
	if (was_there != (old->from_ns <= time_ns))
		return was_there;
	return was_there ? new->from_ns > old->from_ns : new->from_ns < old->from_ns;
}

const struct span *spans_find(const struct spans *spans, uint64_t addr, uint64_t time_ns)
{
	const struct span *best = NULL;

	for (size_t i = search_up_to(spans->spans, spans->n_spans, sizeof(struct span), addr);
	     i-- > 0;) {
		const struct span *span = &spans->spans[i];

		if (addr >= span->max_end)
			break;
		if (addr < span->end && better(span, best, time_ns))
			best = span;
	}
	return best;
}

void spans_release(struct spans *spans)
{
	free(spans->spans);
	*spans = (struct spans){0};
}
