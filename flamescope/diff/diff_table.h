/* diff_table.h - a comparison as a table: for a terminal, a pull request, a spreadsheet, a script
 */
#ifndef DIFF_DIFF_TABLE_H
#define DIFF_DIFF_TABLE_H

#include "base/buf.h"
#include "flamescope/diff/diff.h"

struct diff_table {
	const struct diff *diff;
	const char *names[DIFF_SIDES]; /* of the sides, for people */
	size_t top;                    /* functions shown, those that changed most; 0: all */
	double level;                  /* a p below it is significant */
};

/**
 * diff_function_flagged - whether self or total of a function changed by more than chance
 *
 * Context: any thread, as for all of these.
 */
bool diff_function_flagged(const struct diff_table *table, const struct diff_function *function);

/**
 * diff_table_text - columns that stand under each other
 *
 * Context: any thread.
 */
void diff_table_text(const struct diff_table *table, struct buf *buf);

/**
 * diff_table_markdown - a table of GitHub's kind
 *
 * Context: any thread.
 */
void diff_table_markdown(const struct diff_table *table, struct buf *buf);

/**
 * diff_table_csv - one line a function, numbers as shares (0.05, not 5 %)
 *
 * Context: any thread.
 */
void diff_table_csv(const struct diff_table *table, struct buf *buf);

/**
 * diff_table_json - one object; all that is known
 *
 * Context: any thread.
 */
void diff_table_json(const struct diff_table *table, struct buf *buf);

#endif
