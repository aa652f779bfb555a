/* flame_svg.h - a flame graph and its reverse as one SVG file that needs nothing else */
#ifndef DRAW_FLAME_SVG_H
#define DRAW_FLAME_SVG_H

#include "base/buf.h"
#include "flamescope/flame/flame.h"

enum {
	FLAME_SVG_WIDTH = 1200,
	FLAME_SVG_MIN_WIDTH = 200,
	FLAME_SVG_MAX_WIDTH = 20000,
	FLAME_SVG_MAX_BYTES = 64 * 1024 * 1024,
};

struct flame_svg_options {
	const char *title;
	uint32_t width;   /* in pixels; 0: FLAME_SVG_WIDTH */
	double threshold; /* part of the total, 0 to 1, that a frame needs to be drawn */
	bool icicle;      /* the root at the top */
	/* of two recordings: share after - share before (-1 to 1) of the nodes of each; or NULL */
	const double *change;
	const double *reverse_change;
};

/**
 * flame_svg_write - the picture
 * @calls:   FLAME_CALLS, of the whole selection
 * @reverse: FLAME_REVERSE of the same
 *
 * The file shows the calls where no script runs; with it it zooms, searches and changes to the
 * reverse graph.  It asks nobody for anything.
 *
 * Return:  0; -ENOMEM; -EFBIG when BUF has failed.
 * Context: any thread.
 */
int flame_svg_write(struct buf *buf, const struct flame *calls, const struct flame *reverse,
		    const struct flame_svg_options *options);

#endif
