/* heat_svg.h - a heatmap as one SVG file that needs nothing else */
#ifndef DRAW_HEAT_SVG_H
#define DRAW_HEAT_SVG_H

#include "base/buf.h"
#include "flamescope/heat/heat.h"

struct heat_svg_options {
	const char *title;
	uint32_t width; /* in pixels; 0: as wide as the columns need, about 1200 */
};

/**
 * heat_svg_write - the picture
 *
 * Grey: no sample; white: 0; the redder the more, the greener the more below zero.  With a script
 * it tells time and value of the cell under the pointer, or of the one that the arrow keys are at.
 *
 * Return:  0; -EFBIG when BUF has failed.
 * Context: any thread.
 */
int heat_svg_write(struct buf *buf, const struct heat *heat, const struct selection *selection,
		   const struct heat_svg_options *options);

#endif
