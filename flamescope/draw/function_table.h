/* function_table.h - the functions of a selection as a table: text, Markdown, CSV, JSON */
#ifndef DRAW_FUNCTION_TABLE_H
#define DRAW_FUNCTION_TABLE_H

#include "base/buf.h"
#include "flamescope/flame/flame.h"

#include <stdbool.h>
#include <stddef.h>

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
	const char *part; /* what labels are: "thread" */
	size_t columns;   /* of the terminal: names are shortened to fit; 0: they are not */
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
 *
 * Context: any thread, as for all of these.
 */
uint64_t function_table_width(const struct selection *selection,
			      const struct flame_function *function, bool self);

/**
 * function_table_text - aligned columns with units, for a terminal
 *
 * Context: any thread.
 */
void function_table_text(struct buf *buf, const struct function_table *table);

/**
 * function_table_markdown - for a pull request
 *
 * Context: any thread.
 */
void function_table_markdown(struct buf *buf, const struct function_table *table);

/**
 * function_table_csv - exact numbers, a line a function
 *
 * Context: any thread.
 */
void function_table_csv(struct buf *buf, const struct function_table *table);

/**
 * function_table_json - members "measure", "unit", "total", "functions" of an open object
 *
 * Context: any thread.
 */
void function_table_json(struct buf *buf, const struct function_table *table);

/**
 * function_relatives_text - a function with its callers above and its callees below
 * @markdown: as a table of Markdown
 *
 * Context: any thread.
 */
void function_relatives_text(struct buf *buf, const struct function_table *table,
			     const struct function_relatives *relatives, bool markdown);

/**
 * function_relatives_csv - lines: relation, function, and the numbers
 * @heading: begin with the names of the columns
 *
 * Context: any thread.
 */
void function_relatives_csv(struct buf *buf, const struct function_table *table,
			    const struct function_relatives *relatives, bool heading);

/**
 * function_relatives_json - one object
 *
 * Context: any thread.
 */
void function_relatives_json(struct buf *buf, const struct function_table *table,
			     const struct function_relatives *relatives);

#endif
