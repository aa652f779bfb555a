/* metric_list.h - what --metrics asks for: metrics of the catalogue, and gauges of the program */
#ifndef OPTIONS_METRIC_LIST_H
#define OPTIONS_METRIC_LIST_H

#include "base/err.h"
#include "base/sample.h"
#include "sampler/collector/collector.h"

#include <stddef.h>
#include <stdint.h>

struct metric_list {
	uint32_t mask;  /* of the columns to write: enum metric_id, then the gauges */
	uint32_t named; /* of these, metrics of the catalogue that were asked for by name */
	size_t n_gauges;
	char gauges[METRIC_MAX_GAUGES][METRIC_NAME_SIZE];
	enum metric_kind kinds[METRIC_MAX_GAUGES];
};

/* A list made ready to be given away: the views point into the list. */
struct metric_columns {
	struct metric metrics[SAMPLE_MAX_METRICS];
	size_t n;
	const char *gauges[METRIC_MAX_GAUGES];
};

/**
 * metric_list_parse - "none", or names with commas
 *
 * A name that is not in the catalogue is a gauge that the program registers (include/wick.h);
 * NAME:counter is one that only grows.  "auto" and "all" (of the catalogue) can be among the names.
 *
 * Return:  0; -EINVAL and the reason, naming the name.
 * Context: any thread.
 */
int metric_list_parse(const char *text, struct metric_list *ret_list, struct err *err);

/**
 * metric_list_nearest - the metric that a gauge's name may be a misspelling of
 *
 * Return:  its name, static; NULL when none is near.
 * Context: any thread.
 */
const char *metric_list_nearest(const char *gauge);

/**
 * metric_list_columns - every column there is, wanted or not
 *
 * Owns:    the views are LIST's.
 * Context: any thread.
 */
void metric_list_columns(const struct metric_list *list, struct metric_columns *ret_columns);

#endif
