/*
 * totals.h - wick tasks, requests and tiers: rows that are read and added up, and tables
 *
 * Context: main thread, unless a function says another.
 */
#ifndef TOTALS_TOTALS_H
#define TOTALS_TOTALS_H

#include "base/buf.h"
#include "base/err.h"
#include "tools/export/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOTALS_MOST_ROWS = 65536 }; /* that are added up */

/* What is printed of totals as a table. */
struct totals_view {
	enum totals_subject subject;
	const char *identity; /* TOTALS_TIERS: of this one; NULL: of all requests together */
	bool each;            /* TOTALS_TIERS: of every identity */
	uint32_t columns;     /* of the terminal; 0: no limit */
	size_t rows;          /* at most; 0: no limit */
};

/**
 * totals_table - totals as text
 *
 * Return:  how many rows there are; 0: nothing was counted, and nothing is added.
 */
size_t totals_table(struct buf *buf, const struct totals *totals, const struct totals_view *view);

struct totals_sum;

/**
 * totals_sum_new - rows to be added up: none yet
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to totals_sum_free().
 */
int totals_sum_new(struct totals_sum **ret_sum);

/**
 * totals_sum_add - add a row
 * @json: the object, LEN bytes from anywhere
 *
 * Return:  0; -EINVAL: it is no row; -E2BIG: it is too long, or there are too many; -ENOMEM.
 */
int totals_sum_add(struct totals_sum *sum, const char *json, size_t len);

/** totals_sum_add_lines - add rows, one a line; what is no row is counted in RET_BAD */
int totals_sum_add_lines(struct totals_sum *sum, const char *text, size_t len, size_t *ret_bad);

/**
 * totals_sum_get - the rows so far, sorted as the collector's
 *
 * Owns:    the sum; good until the next call on it.  There is nothing to release.
 */
const struct totals *totals_sum_get(struct totals_sum *sum);

/** totals_sum_free - forget all; NULL is fine */
void totals_sum_free(struct totals_sum *sum);

/**
 * totals_read_files - add up the rows of recordings, and of files of --stats-to
 *
 * Return:  0; -errno and the reason.
 */
int totals_read_files(char *const *paths, size_t n, struct totals_sum *sum, struct err *err);

/* table: columns that fit a width */

enum { TABLE_COLUMNS = 16 };

struct table_column {
	const char *title;
	bool left;      /* text, not a number */
	unsigned spare; /* the highest is left out first where the width does not do; 0: never */
	bool empty;     /* until table_cell() adds something: such columns are left out; set it
			   where the column is not always of interest */
};

struct table {
	struct table_column columns[TABLE_COLUMNS];
	size_t n_columns;
	struct buf text; /* cells, each ended by a NUL, row by row */
	size_t n_cells;
	size_t at;   /* the column of the next one */
	size_t last; /* the last that table_print() shows */
};

/** table_init - no rows yet */
void table_init(struct table *table, const struct table_column *columns, size_t n);

/**
 * table_cell - end the next cell, whose text was added to table->text
 * @counts: it is something to see: its column is not left out as empty
 */
void table_cell(struct table *table, bool counts);

/** table_print - all rows in WIDTH columns (0: no limit); the last column is cut */
void table_print(struct table *table, uint32_t width, struct buf *buf);

/** table_release - forget all */
void table_release(struct table *table);

#endif
