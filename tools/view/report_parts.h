/*
 * report_parts.h - what each thread, state or module of a selection takes
 *
 * Context: any thread.
 */
#ifndef VIEW_REPORT_PARTS_H
#define VIEW_REPORT_PARTS_H

#include "base/err.h"
#include "flamescope/draw/draw.h"
#include "flamescope/query/query.h"

#include <stdint.h>

/* Zero it. */
struct report_parts {
	struct dimension dimension;
	const char **labels;
	struct flame_function *rows; /* frame: the number of the label */
	size_t n;                    /* rows that have samples */
};

/**
 * report_parts_make - the parts of a selection, the one that takes most first
 * @name: a dimension, or "module": where the innermost frame is that is no inlined call
 *
 * Return:  0; -ENOENT and which dimensions there are; -ENOMEM.
 * Owns:    the caller, to report_parts_release() in any case; the selection has to outlive it.
 */
int report_parts_make(struct report_parts *parts, const struct selection *selection,
		      const char *name, struct err *err);

/** report_parts_csv - exact numbers, a line a part */
void report_parts_csv(struct buf *buf, const struct function_table *table);

/** report_parts_json - members "measure", "unit", "total", "by", "parts" of an open object */
void report_parts_json(struct buf *buf, const struct function_table *table);

/** report_parts_release - forget them */
void report_parts_release(struct report_parts *parts);

#endif
