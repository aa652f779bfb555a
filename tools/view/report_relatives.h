/* report_relatives.h - functions that match a pattern, with who calls them and whom they call */
#ifndef VIEW_REPORT_RELATIVES_H
#define VIEW_REPORT_RELATIVES_H

#include "flamescope/draw/draw.h"
#include "tools/view/view_output.h"

struct report_relatives {
	struct function_table *table; /* all of its rows are looked at; n_rows: what is shown */
	const char *pattern;
	const char *title;
	enum view_format format;
};

/**
 * report_relatives_write - each match, the widest first, no more of them than table->n_rows
 *
 * Return:  0; -ENODATA: no function matches; -EINVAL: no pattern; -ENOMEM.
 * Context: main thread.
 */
int report_relatives_write(const struct report_relatives *relatives, struct buf *text,
			   struct err *err);

#endif
