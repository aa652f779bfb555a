/*
 * internal.h - where cells and frames are drawn, and what pictures share
 *
 * Context: any thread, unless a function says another.
 */
#ifndef DRAW_INTERNAL_H
#define DRAW_INTERNAL_H

#include "base/buf.h"
#include "flamescope/draw/colour.h"
#include "flamescope/flame/flame.h"
#include "flamescope/heat/heat.h"

#include <limits.h>
#include <stdbool.h>
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
 * The value of the scale that is farthest from 0 is N or -N; so is what goes beyond it.
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

/** heat_cell_ns - how much of the recording a cell is */
uint64_t heat_cell_ns(const struct heat *heat);

/** heat_add_most - the largest value of the scale, for a legend: "90.9 ms, 909 ms/s a cell" */
void heat_add_most(struct buf *buf, const struct heat *heat, const struct selection *selection);

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

/* flame_look: what of a node its colour goes by, and what the colours of a graph mean */

struct flame_looks {
	const struct flame *flame;
	enum flame_order order; /* where the callers of a node are */
	enum colour_by by;
	const char *above;   /* the module of an inlined function that a graph begins with */
	const char **states; /* by frame, "" and NULL: not known; NULL: nobody asks */
};

/**
 * flame_looks_init - begin to colour a graph
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to flame_looks_release(), also when it failed; the flame has to outlive it.
 */
int flame_looks_init(struct flame_looks *looks, const struct flame *flame, enum flame_order order,
		     enum colour_by by);

/** flame_looks_release - free it */
void flame_looks_release(struct flame_looks *looks);

/** flame_look - a node as colour.h wants it: an inlined frame has the module of its caller */
struct colour_frame flame_look(const struct flame_looks *looks, uint32_t node);

enum { FLAME_LEGEND_SHOWN = 8, FLAME_LEGEND_KEYS = 256 };

struct flame_key {
	const char *text; /* of the profile */
	size_t len;
	unsigned number; /* of the palette */
	uint64_t amount;
};

/* N are shown; of more than FLAME_LEGEND_KEYS the first ones are known. */
struct flame_legend {
	size_t n;
	struct flame_key keys[FLAME_LEGEND_KEYS];
};

/**
 * flame_legend_make - the meanings that take most of the picture
 *
 * Families and states stand in the palette's order.  Names have no meaning: nothing is said.
 *
 * Return:  0; -ENOMEM.
 */
int flame_legend_make(struct flame_legend *legend, const struct flame_looks *looks);

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

/* A palette's numbers that a picture uses. */
struct svg_colours {
	bool is_used[COLOUR_N];
};

/** svg_flame_colours - the style of what is used, and of changes; a loss is hatched */
void svg_flame_colours(struct buf *buf, const struct svg_colours *colours, bool has_changes);

extern const char svg_flame_style[];
extern const char svg_flame_script[];
/** svg_heat_colours - the style of no sample, of 0 and of N levels above and below it */
void svg_heat_colours(struct buf *buf, unsigned n_levels, bool has_below);

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
