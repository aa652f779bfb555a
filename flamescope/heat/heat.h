/* heat.h - how much in which moment: a grid of cells */
#ifndef HEAT_HEAT_H
#define HEAT_HEAT_H

#include "flamescope/query/query.h"

#include <stdbool.h>

enum { HEAT_MAX_ROWS = 1000, HEAT_FITTING_ROWS = 50, HEAT_MAX_CELLS = 64 * 1024 * 1024 };

struct heat_options {
	uint64_t column_ns; /* 0: a second */
	uint32_t n_rows;    /* of a column's time; 0: as fits; with BY the most there are */
	uint32_t most_rows; /* of a column's time, where they are as fits; 0: HEAT_FITTING_ROWS, of
			       20 ms */
	uint64_t phase_ns;  /* columns begin so much later; less than a column */
	const char *by;     /* a dimension: its values are the rows instead; NULL: time */
	bool largest;       /* a cell is its largest value, not what its values add up to */
};

/*
 * Columns begin at the whole second of the profile's clock that its first sample is in (as in
 * FlameScope; PHASE_NS later than one, with that) and go on to the one of its last sample, whatever
 * part of them is selected; row 0 is at the column's start.  A cell without a sample is not the
 * same as one whose values add up to 0.
 *
 * Rows as fit are the most (50, 40, 25 or 20 a column) with which a cell that has samples has four
 * of them in the mean: with fewer, what is seen is chance.  Of less than 200 samples each is seen
 * by itself: they have 50.
 *
 * A sample is in the cell of its moment.  One that stands for a time of its thread
 * (selection.spans) is in all cells of this time, each with its part of it, so that no cell has
 * more than its length from each thread; the largest value is still that of a whole sample, in the
 * cell of its moment.
 */
struct heat {
	size_t n_columns;
	size_t n_rows;
	uint64_t column_ns;
	uint64_t start_ns; /* of column 0, on the profile's clock; wraps where that is before 0 */
	uint64_t shift_ns; /* from there to the profile's start */
	int64_t *values;   /* [column * n_rows + row]; for QUERY_MEAN the mean;
			    else the sum, or the largest */
	uint32_t *samples; /* that are in it, wholly or in part; 0: no sample */
	char **row_labels; /* of options.by, most first, then "[N others]"; NULL: rows are time */
	bool has_others;   /* there is such a last row */
	int64_t min, max;  /* of cells with samples */
	/* What colours go from and to: without the row of others, beside which all rows are pale.
	 */
	int64_t scale_min, scale_max;
};

/**
 * heat_make - count a selection into cells
 *
 * Return:  0; -E2BIG: more than HEAT_MAX_CELLS, and what would do; -ENOENT: no such dimension;
 *          -ENOMEM.
 * Owns:    the caller, to heat_free().
 * Context: any thread.
 */
int heat_make(const struct selection *selection, const struct heat_options *options,
	      struct heat **ret_heat, struct err *err);

/**
 * heat_columns - the round times that columns of a recording may have, the shortest first
 * @length_ns: of the recording
 *
 * The first is a second, in which bands are seen, or, of a recording of less than 16 seconds, the
 * longest part of a second of which there are about thirty columns.  The last is a day.
 *
 * Return:  how many there are.
 * Owns:    nobody: they are static.
 * Context: any thread.
 */
size_t heat_columns(uint64_t length_ns, const uint64_t **ret_columns_ns);

/**
 * heat_free - free it
 *
 * Context: any thread.  NULL is fine.
 */
void heat_free(struct heat *heat);

#endif
