/* heat_text.h - a heatmap as CSV, JSON, and as characters on a terminal or in a text file */
#ifndef DRAW_HEAT_TEXT_H
#define DRAW_HEAT_TEXT_H

#include "base/buf.h"
#include "flamescope/heat/heat.h"

#include <stdbool.h>

/**
 * heat_write_csv - a line a cell that has samples: when, which row, value, samples
 *
 * Context: any thread, as for all of these.
 */
void heat_write_csv(struct buf *buf, const struct heat *heat, const struct selection *selection);

/**
 * heat_write_json - one object; a cell without samples is null
 *
 * Context: any thread.
 */
void heat_write_json(struct buf *buf, const struct heat *heat, const struct selection *selection);

struct heat_terminal {
	const char *title;
	uint32_t columns; /* of the terminal */
	bool colour;      /* 256 colours and half blocks; false: plain characters */
};

enum { HEAT_TERMINAL_LABEL = 20, HEAT_TERMINAL_AXIS = 9 };

/**
 * heat_write_terminal - draw it; columns that do not fit are not drawn, and that is said
 *
 * Context: any thread.
 */
void heat_write_terminal(struct buf *buf, const struct heat *heat,
			 const struct selection *selection, const struct heat_terminal *terminal);

#endif
