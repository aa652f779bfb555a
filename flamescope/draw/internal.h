/*
 * internal.h - where cells and frames are drawn, and what pictures share
 *
 * Context: any thread, unless a function says another.
 */
#ifndef DRAW_INTERNAL_H
#define DRAW_INTERNAL_H

#include "base/buf.h"
#include "flamescope/flame/flame.h"
#include "flamescope/heat/heat.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* short_name: names of functions for a terminal that is narrower than they are */

/**
 * short_name - a name as words_plain() writes it, in at most COLUMNS code points
 * @columns: 0: whatever it takes
 *
 * One that is too long loses the arguments of its templates, `std::map<..>::find`; if that is not
 * enough, its end.
 */
void short_name(struct buf *buf, const char *name, size_t columns);

/* heat_level: how strong the colour of a heatmap's cell is, and where the cell is in time */

enum { HEAT_LEVEL_NONE = INT_MIN }; /* no sample: not the same as 0 */

/**
 * heat_level - of a cell: 1 to N, -1 to -N below zero, 0 for 0
 *
 * The largest value of the scale is N, the smallest below zero -N; so is what goes beyond them.
 */
int heat_level(const struct heat *heat, size_t column, size_t row, int n);

/**
 * heat_cell_time - when a cell begins, against the recording's first sample
 *
 * Can be before it: columns begin at whole seconds of the recording's clock.
 */
int64_t heat_cell_time(const struct heat *heat, const struct profile *profile, size_t column,
		       size_t row);

/** heat_add_time - such a time in seconds, with the decimals that tell cells apart */
void heat_add_time(struct buf *buf, const struct heat *heat, int64_t time_ns);

/** heat_add_about - what the heatmap shows, in a sentence */
void heat_add_about(struct buf *buf, const struct heat *heat, const struct selection *selection);

/* flame_layout: where each frame of a flame graph begins, and which ones are drawn */

enum { FLAME_LAYOUT_MAX_FRAMES = 40000, FLAME_LAYOUT_MAX_DEPTH = 2000 };

/* In units of the measure; the root begins at 0 and is TOTAL wide. */
struct flame_layout {
	const struct flame *flame;
	uint64_t *left; /* one a node */
	uint64_t total;
	uint64_t least; /* narrower nodes are not drawn */
	uint32_t depth; /* of the deepest that is drawn */
	size_t n_drawn;
	uint32_t max_depth;
};

/**
 * flame_layout_make - place the nodes
 * @threshold: the part of the total that a node needs to be drawn, 0 to 1
 * @for_picture: draw no more than FLAME_LAYOUT_MAX_FRAMES and _MAX_DEPTH; LEAST is raised until so
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to flame_layout_release(); the flame has to outlive it.
 */
int flame_layout_make(struct flame_layout *layout, const struct flame *flame, double threshold,
		      bool for_picture);

/** flame_layout_release - free it */
void flame_layout_release(struct flame_layout *layout);

/** flame_layout_draws - whether a node is wide enough and not too deep */
bool flame_layout_draws(const struct flame_layout *layout, uint32_t node);

/** flame_layout_width - how wide a node is: what it gained and lost; for a mean, its samples */
uint64_t flame_layout_width(const struct flame *flame, uint32_t node);

/**
 * flame_layout_next - the node after another one, callers first, of those that are drawn
 *
 * Begin with the root, 0.
 *
 * Return:  FLAME_NONE at the end.
 */
uint32_t flame_layout_next(const struct flame_layout *layout, uint32_t node);

/* svg_parts: the style and the scripts inside the pictures: constants, no name is in them */

/* What both kinds of pictures begin with. */
struct svg_head {
	const char *title;
	const char *about; /* what it shows, for a screen reader */
	const char *line;  /* below the title */
	uint32_t width;
	uint32_t height;
	const char *style; /* of this kind of picture, after what is common */
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

/** svg_close - the script and the end */
void svg_close(struct buf *buf, const char *script);

#endif
