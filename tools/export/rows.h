/*
 * rows.h - exact counts as rows of JSON
 *
 * A row is one JSON object on a line, of an interval (since_ns, time_ns]: rows of several
 * intervals, files and processes add up.  `# req` lines of a recording, --stats-to, the control
 * socket and --json have the same rows.
 *
 * Context: any thread.
 */
#ifndef EXPORT_ROWS_H
#define EXPORT_ROWS_H

#include "base/buf.h"
#include "sampler/collector/collector.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	TOTALS_ROW_BYTES = 64 * 1024,         /* of one row, with all its buckets */
	TOTALS_MOST_BYTES = 32 * 1024 * 1024, /* of the rows of one reply */
};

/* In the order of rows: what one program can make most of, under its own names, comes last. */
enum totals_subject { TOTALS_REQUESTS, TOTALS_TASKS, TOTALS_TIERS };

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

/**
 * totals_rows - rows of SUBJECT that count something, each with a newline, until BUF is full
 *
 * BUF has whole rows alone, and has not failed.
 *
 * Return:  how many rows there is no room for.
 */
size_t totals_rows(struct buf *buf, const struct totals *totals, enum totals_subject subject,
		   bool buckets);

/** totals_all_rows - the same of all subjects */
size_t totals_all_rows(struct buf *buf, const struct totals *totals, bool buckets);

/**
 * totals_rows_that_fit - the rows of all subjects, with histograms if there is room for them
 *
 * If there is not, requests alone have them.
 *
 * Return:  how many rows there is no room for without them either.
 */
size_t totals_rows_that_fit(struct buf *buf, const struct totals *totals);

#endif
