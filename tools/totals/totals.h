/*
 * totals.h - exact counts as people and programs read them: JSON rows in and out, and tables
 *
 * A row is one JSON object on a line, of an interval (since_ns, time_ns]: rows of several
 * intervals, files and processes add up.  `# req` lines of a recording, --stats-to, the control
 * socket and --json have the same rows.
 *
 * Context: main thread, unless a function says another.
 */
#ifndef TOTALS_TOTALS_H
#define TOTALS_TOTALS_H

#include "base/buf.h"
#include "base/err.h"
#include "sampler/collector/types/totals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOTALS_REQUEST_TIER "request" /* the tier of whole requests */
#define TOTALS_ALL          "_total"  /* the identity of all requests together */
#define TOTALS_REST         "other"   /* identities without rows of their own */
#define TOTALS_OUTSIDE      "-"       /* tiers outside of any request */

enum {
	TOTALS_ROW_BYTES = 64 * 1024,         /* of one row, with all its buckets */
	TOTALS_MOST_BYTES = 32 * 1024 * 1024, /* of the rows of one reply */
	TOTALS_MOST_ROWS = 65536,             /* that are added up */
};

enum totals_subject { TOTALS_TASKS, TOTALS_REQUESTS, TOTALS_TIERS };

/** totals_row_task - the row of a task or function, without a newline */
void totals_row_task(struct buf *buf, const struct totals *totals, const struct total_task *task);

/**
 * totals_row_tier - the row of a tier, without a newline
 * @buckets: also the histogram
 */
void totals_row_tier(struct buf *buf, const struct totals *totals, const struct total_tier *tier,
		     bool buckets);

/**
 * totals_quantile_ns - the duration that a part Q of a tier's are not longer than
 *
 * A bucket's middle may be outside of what was seen: it is within [min_ns, max_ns].
 *
 * Return:  ns; 0: it is not known.
 */
uint64_t totals_quantile_ns(const struct total_tier *tier, double q);

/**
 * totals_has - whether a tier's row is about SUBJECT
 *
 * Whole requests are TOTALS_REQUESTS, and the others TOTALS_TIERS.
 */
bool totals_has(enum totals_subject subject, const struct total_tier *tier);

/** totals_rows - the rows of SUBJECT that count something, each with a newline */
void totals_rows(struct buf *buf, const struct totals *totals, enum totals_subject subject,
		 bool buckets);

/** totals_all_rows - the same of all subjects */
void totals_all_rows(struct buf *buf, const struct totals *totals, bool buckets);

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
