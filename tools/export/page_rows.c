/* page_rows.c - rows of a page by their labels */
#include "tools/export/export.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROWS = 64 };

struct series_row *page_rows_get(struct page_rows *rows, struct buf *labels, size_t index)
{
	const char *key = labels->failed ? NULL : intern_string(&rows->labels, buf_text(labels));
	size_t number = key ? (size_t)(uintptr_t)map_get(&rows->by_labels, (uintptr_t)key) : 0;

	if (!key)
		return NULL;
	if (number)
		return &rows->at[number - 1];
	if (array_reserve(&rows->at, rows->n, &rows->size, FIRST_ROWS) < 0 ||
	    map_put(&rows->by_labels, (uintptr_t)key, (void *)(uintptr_t)(rows->n + 1)) < 0)
		return NULL;
	rows->at[rows->n] = (struct series_row){.labels = key, .index = index};
	return &rows->at[rows->n++];
}

static int by_rank(const void *a, const void *b)
{
	const struct series_row *left = a;
	const struct series_row *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? 1 : -1;
	return strcmp(left->labels, right->labels);
}

void page_rows_sort(struct page_rows *rows)
{
	map_release(&rows->by_labels);
	if (rows->n)
		qsort(rows->at, rows->n, sizeof(*rows->at), by_rank);
}

void page_rows_release(struct page_rows *rows)
{
	free(rows->at);
	map_release(&rows->by_labels);
	intern_release(&rows->labels);
	*rows = (struct page_rows){0};
}
