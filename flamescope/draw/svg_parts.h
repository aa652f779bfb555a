/* svg_parts.h - the style and the scripts inside the pictures: constants, no name is in them */
#ifndef DRAW_SVG_PARTS_H
#define DRAW_SVG_PARTS_H

#include "base/buf.h"

#include <stdint.h>

/* What both kinds of pictures begin with. */
struct svg_head {
	const char *title;
	const char *about; /* what it shows, in words, for who cannot see it */
	const char *line;  /* below the title */
	uint32_t width;
	uint32_t height;
	const char *style; /* of this kind of picture, behind what is common */
};

enum { SVG_HEAD_HEIGHT = 76, SVG_MARGIN = 10 };

extern const char svg_flame_style[];
extern const char svg_flame_script[];
extern const char svg_heat_style[];
extern const char svg_heat_script[];

/**
 * svg_open - everything before the drawing
 *
 * Context: any thread, as for both.
 */
void svg_open(struct buf *buf, const struct svg_head *head);

/**
 * svg_close - the script and the end
 *
 * Context: any thread.
 */
void svg_close(struct buf *buf, const char *script);

#endif
