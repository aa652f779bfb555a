/*
 * draw.h - heatmaps, flame graphs and tables of functions, as text and as pictures
 *
 * Context: any thread.
 */
#ifndef DRAW_DRAW_H
#define DRAW_DRAW_H

#include "base/buf.h"
#include "flamescope/draw/colour.h"
#include "flamescope/flame/flame.h"
#include "flamescope/heat/heat.h"
#include "flamescope/query/query.h"

#include <stdbool.h>
#include <stddef.h>

/* measure: what was counted, in words */

/** measure_word - "samples", "period", "value", "mean", "delta", "gain", "loss" */
const char *measure_word(const struct selection *selection);

/** measure_taken - how many samples there are: "1,095 samples"; of folded stacks "12 stacks" */
void measure_taken(struct buf *buf, const struct selection *selection);

/** measure_total - what they count together: "5.66 s of CPU", "560.8 MiB" */
void measure_total(struct buf *buf, const struct selection *selection, uint64_t total);

/**
 * measure_rate - how much in each second of NS: "909 ms/s"; nothing where time is not what is
 * counted
 */
void measure_rate(struct buf *buf, const struct selection *selection, uint64_t value, uint64_t ns);

/**
 * measure_precision - how sure shares are: "shares are right within 2.5 points (95 %)"; nothing
 * where samples are not counted, or not by their periods
 */
void measure_precision(struct buf *buf, const struct selection *selection);

/**
 * measure_unit_word - what there are shares of: "time", "bytes", "samples", "page-faults"
 * @unit: of a selection
 *
 * Owns:    a constant, or UNIT.
 */
const char *measure_unit_word(const char *unit);

/** measure_json - members of an object: measure and unit */
void measure_json(struct buf *buf, const struct selection *selection);

/* heat_text: a heatmap as CSV, JSON, and as characters on a terminal or in a text file */

/** heat_write_csv - a line a cell that has samples: when, which row, value, samples */
void heat_write_csv(struct buf *buf, const struct heat *heat, const struct selection *selection);

/** heat_write_json - one object; a cell without samples is null */
void heat_write_json(struct buf *buf, const struct heat *heat, const struct selection *selection);

enum heat_colours {
	HEAT_PLAIN, /* characters */
	HEAT_256,   /* half blocks in xterm's colours */
	HEAT_TRUE,  /* the same in colours of 24 bits */
};

struct heat_terminal {
	const char *title;
	uint32_t columns; /* of the terminal */
	enum heat_colours colours;
	enum colour_theme theme;
};

enum { HEAT_TERMINAL_LABEL = 20, HEAT_TERMINAL_AXIS = 9 };

/** heat_write_terminal - draw it; columns that do not fit are not drawn, and that is said */
void heat_write_terminal(struct buf *buf, const struct heat *heat,
			 const struct selection *selection, const struct heat_terminal *terminal);

/* heat_svg: a heatmap as one SVG file that needs nothing else */

struct heat_svg_options {
	const char *title;
	uint32_t width; /* in pixels; 0: as wide as the columns need, about 1200 */
};

/**
 * heat_svg_write - the picture
 *
 * Grey: no sample; paper: 0; orange: more and more, blue: below zero (colour.h).  With a script it
 * tells time and value of the cell under the pointer, or of the one that the arrow keys are at.
 *
 * Return:  0; -EFBIG when BUF has failed.
 */
int heat_svg_write(struct buf *buf, const struct heat *heat, const struct selection *selection,
		   const struct heat_svg_options *options);

/* flame_text: a call tree as text, CSV and JSON */

/**
 * flame_write_tree - a line a frame, indented, siblings by name
 * @threshold: the part of the total that a frame needs to be written
 *
 * Return:  0; -ENOMEM.
 */
int flame_write_tree(struct buf *buf, const struct flame *flame, double threshold);

/**
 * flame_write_csv - a line a frame: depth, name, module and sums
 *
 * Return:  0; -ENOMEM.
 */
int flame_write_csv(struct buf *buf, const struct flame *flame, double threshold);

/**
 * flame_write_json - one object, in which frames hold those that they call
 *
 * Return:  0; -ENOMEM.
 */
int flame_write_json(struct buf *buf, const struct flame *flame, double threshold);

/**
 * flame_module - the module of a frame number; "" for groups, "inlined" for what is
 *
 * Owns:    the selection's profile.
 */
const char *flame_module(const struct selection *selection, uint32_t frame);

/* flame_svg: a flame graph and its reverse as one SVG file that needs nothing else */

enum {
	FLAME_SVG_WIDTH = 1200,
	FLAME_SVG_MIN_WIDTH = 200,
	FLAME_SVG_MAX_WIDTH = 20000,
	FLAME_SVG_MAX_BYTES = 64 * 1024 * 1024,
};

/* The part of the total that a frame needs to be drawn, unless somebody says another. */
#define FLAME_SVG_THRESHOLD 0.0002

struct flame_svg_options {
	const char *title;
	uint32_t width;         /* in pixels; 0: FLAME_SVG_WIDTH */
	double threshold;       /* part of the total, 0 to 1, that a frame needs to be drawn */
	bool icicle;            /* the root at the top */
	enum colour_by by;      /* what colours say, where nothing has a sign */
	const char *search;     /* what is searched for at first; NULL: nothing */
	const uint8_t *matches; /* one a frame: whether it finds it; NULL: none is marked */
	size_t n_matches;
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
 * reverse graph.  It loads nothing from the network.
 *
 * Return:  0; -ENOMEM; -EFBIG when BUF has failed.
 */
int flame_svg_write(struct buf *buf, const struct flame *calls, const struct flame *reverse,
		    const struct flame_svg_options *options);

/* function_table: the functions of a selection as a table: text, Markdown, CSV, JSON */

/* Rows of one table; sums of all samples are what shares are of. */
struct function_table {
	const struct selection *selection;
	const struct flame_function *rows;
	size_t n_rows;  /* that are shown */
	size_t n_all;   /* that there are */
	uint64_t total; /* gain and loss of the selection */
	bool by_self;
	/* of parts: a row's frame is the number of its label, and it has no self; NULL: functions
	 */
	const char *const *labels;
	const char *part;                    /* what labels are: "thread" */
	const struct flame_function *others; /* the parts that are not shown, together; or NULL */
	size_t columns; /* of the terminal: names are shortened to fit; 0: they are not */
	bool has_bars;  /* before names, of the share that the rows are sorted by */
};

/* One function and those next to it in the stacks. */
struct function_relatives {
	struct flame_function function;
	const struct flame_function *callers; /* total: what passes through both */
	size_t n_callers;
	const struct flame_function *callees;
	size_t n_callees;
};

/**
 * function_table_width - how much of the measure a function stands for, whatever its sign
 * @self: its own, else with what it calls
 *
 * For a mean: how many samples.
 */
uint64_t function_table_width(const struct selection *selection,
			      const struct flame_function *function, bool self);

/** function_table_text - aligned columns with units, for a terminal */
void function_table_text(struct buf *buf, const struct function_table *table);

/** function_table_markdown - for a pull request */
void function_table_markdown(struct buf *buf, const struct function_table *table);

/** function_table_csv - exact numbers, a line a function */
void function_table_csv(struct buf *buf, const struct function_table *table);

/** function_table_json - members "measure", "unit", "total", "functions" of an open object */
void function_table_json(struct buf *buf, const struct function_table *table);

/**
 * function_relatives_text - a function with its callers above and its callees below
 * @markdown: as a table of Markdown
 */
void function_relatives_text(struct buf *buf, const struct function_table *table,
			     const struct function_relatives *relatives, bool markdown);

/**
 * function_relatives_csv - lines: relation, function, and the numbers
 * @heading: begin with the names of the columns
 */
void function_relatives_csv(struct buf *buf, const struct function_table *table,
			    const struct function_relatives *relatives, bool heading);

/** function_relatives_json - one object */
void function_relatives_json(struct buf *buf, const struct function_table *table,
			     const struct function_relatives *relatives);

#endif
