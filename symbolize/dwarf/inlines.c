/* inlines.c - the entries in a function's body (3.3.8), and the rows of its ranges */
#include "symbolize/dwarf/inlines.h"

#include "base/array.h"
#include "symbolize/bounds/loader.h"
#include "symbolize/dwarf/die.h"

#include <errno.h>
#include <stdlib.h>

/* The way down into a body. */
struct body {
	struct function_reading *reading;
	struct cursor cursor;
	unsigned depth;
	uint64_t ranges_left;            /* entries of lists that may still be read */
	uint32_t node;                   /* whose ranges are being added */
	uint32_t node_at[DIE_MAX_DEPTH]; /* that a level's entries are inlined into */
	uint16_t calls_at[DIE_MAX_DEPTH];
};

/* Failures that are of the table's limits: what does not fit in is left out. */
static int tolerate(int r)
{
	return r == -E2BIG || r == -EBADMSG ? 0 : r;
}

static uint32_t file_number(struct function_reading *reading, uint64_t file)
{
	struct file_number *known;
	const char *path;

	if (file >= reading->n_files)
		return FUNCTION_NO_FILE;
	known = &reading->files[file];
	if (known->round != reading->round) {
		path = line_table_file(reading->lines, file);
		known->number =
			path[0] ? function_builder_file(reading->builder, path) : FUNCTION_NO_FILE;
		known->round = reading->round;
	}
	return known->number;
}

static uint32_t small_number(const struct die_values *values, enum attr_slot slot)
{
	uint64_t number = die_has(values, slot) ? values->of[slot].number : 0;

	return number <= UINT32_MAX ? (uint32_t)number : 0;
}

static uint32_t call_file(struct function_reading *reading, const struct die_values *values)
{
	if (!die_has(values, SLOT_CALL_FILE))
		return FUNCTION_NO_FILE;
	return file_number(reading, values->of[SLOT_CALL_FILE].number);
}

/* The number of a function's name: many are inlined more than once. */
static int name_number(struct function_reading *reading, const struct dwarf_source *source,
		       uint64_t die)
{
	struct name_entry *entry =
		name_of_function(reading->names, reading->units, reading->unit, source, die);
	int number;

	if (!entry)
		return -ENOMEM;
	if (entry->round != reading->round) {
		number = function_builder_name(reading->builder, entry->name);
		if (number < 0)
			return number;
		entry->number = (uint32_t)number;
		entry->round = reading->round;
	}
	return (int)entry->number;
}

static int name_of_call(struct function_reading *reading, const struct die_values *values)
{
	const struct dwarf_source *source;
	uint64_t offset;

	if (!die_has(values, SLOT_ORIGIN) ||
	    !unit_cache_target(reading->unit, &values->of[SLOT_ORIGIN], &source, &offset))
		return function_builder_name(reading->builder, "");
	return name_number(reading, source, offset);
}

static int add_node_range(void *context, uint64_t lo, uint64_t hi)
{
	struct body *body = context;

	return function_builder_range(body->reading->builder, body->node, lo, hi);
}

/* A call; RET_NODE is what is in it is inlined into. */
static int add_call(struct body *body, const struct abbrev *abbrev, uint32_t parent,
		    uint32_t *ret_node)
{
	struct function_reading *reading = body->reading;
	struct die_values values;
	int name;
	int node;

	die_read(&body->cursor, &reading->unit->die, abbrev, &values);
	if (body->cursor.failed)
		return -EBADMSG;
	name = name_of_call(reading, &values);
	if (name < 0)
		return name;
	node = function_builder_named(
		reading->builder, parent, (uint32_t)name, call_file(reading, &values),
		small_number(&values, SLOT_CALL_LINE), small_number(&values, SLOT_CALL_COLUMN));
	if (node < 0)
		return node;
	body->node = (uint32_t)node;
	*ret_node = body->node;
	return tolerate(die_each_range(&reading->unit->die, &values, &body->ranges_left,
				       add_node_range, body));
}

static int descend(struct body *body, uint32_t node, unsigned n_calls)
{
	if (body->depth >= DIE_MAX_DEPTH)
		return -EBADMSG;
	body->node_at[body->depth] = node;
	body->calls_at[body->depth] = (uint16_t)n_calls;
	body->depth++;
	return 0;
}

static int visit_call(struct body *body, const struct abbrev *abbrev)
{
	uint32_t node = body->node_at[body->depth - 1];
	unsigned n_calls = body->calls_at[body->depth - 1];
	int r;

	/* What is deeper than a table can tell belongs to the deepest that it can. */
	if (n_calls + 1 >= FUNCTION_MAX_DEPTH) {
		die_skip(&body->cursor, &body->reading->unit->die, abbrev);
	} else {
		r = add_call(body, abbrev, node, &node);
		if (r < 0)
			return r;
		n_calls++;
	}
	return abbrev->children ? descend(body, node, n_calls) : 0;
}

static int visit(struct body *body, const struct abbrev *abbrev)
{
	const struct die_unit *unit = &body->reading->unit->die;
	struct cursor *cursor = &body->cursor;

	switch (abbrev->role) {
	case ROLE_INLINED:
		return visit_call(body, abbrev);
	case ROLE_BLOCK:
		die_skip(cursor, unit, abbrev);
		if (!abbrev->children)
			return 0;
		return descend(body, body->node_at[body->depth - 1],
			       body->calls_at[body->depth - 1]);
	default:
		if (die_jump(cursor, unit, abbrev))
			(void)die_pass_children(cursor, unit, SIZE_MAX);
		return 0;
	}
}

static int read_body(struct body *body)
{
	const struct die_unit *unit = &body->reading->unit->die;
	int r = descend(body, 0, 0);

	while (r == 0 && body->depth && !body->cursor.failed && !loader_is_stopping()) {
		const struct abbrev *abbrev = die_begin(unit, &body->cursor);

		if (abbrev)
			r = visit(body, abbrev);
		else
			body->depth--;
	}
	return r == 0 && body->cursor.failed ? -EBADMSG : r;
}

static int keep_range(void *context, uint64_t lo, uint64_t hi)
{
	struct function_reading *reading = context;

	if (array_reserve(&reading->ranges, reading->n_ranges, &reading->size_ranges, 16) < 0)
		return -ENOMEM;
	reading->ranges[reading->n_ranges].lo = lo;
	reading->ranges[reading->n_ranges++].hi = hi;
	return function_builder_range(reading->builder, 0, lo, hi);
}

/* The rows from the one that LO is in to HI. */
static int add_rows(struct function_reading *reading, uint64_t lo, uint64_t hi)
{
	const struct line_table *lines = reading->lines;
	size_t i = line_table_find(lines, lo);
	int r = 0;

	if (i == lines->n_rows)
		i = 0; /* the first row may be within */
	for (; r == 0 && i < lines->n_rows && lines->rows[i].addr < hi; i++) {
		const struct line_row *row = &lines->rows[i];

		r = function_builder_row(reading->builder, row->addr > lo ? row->addr : lo,
					 file_number(reading, row->file), row->line, row->column);
	}
	return tolerate(r);
}

static int begin(struct function_reading *reading)
{
	size_t n_files = line_table_n_files(reading->lines);

	function_builder_reset(reading->builder);
	reading->n_ranges = 0;
	if (n_files > reading->n_files) {
		struct file_number *files = realloc(reading->files, n_files * sizeof(*files));

		if (!files)
			return -ENOMEM;
		reading->files = files;
		for (size_t i = reading->n_files; i < n_files; i++)
			files[i].round = 0;
		reading->n_files = n_files;
	}
	if (++reading->round == 0) {
		for (size_t i = 0; i < reading->n_files; i++)
			reading->files[i].round = 0;
		name_memo_release(reading->names);
		reading->round = 1;
	}
	return 0;
}

static int by_lo(const void *left, const void *right)
{
	const struct code_range *a = left;
	const struct code_range *b = right;

	return (a->lo > b->lo) - (a->lo < b->lo);
}

static int finish(struct function_reading *reading, struct function_table *ret_table)
{
	uint64_t done = 0; /* no row is added twice, even if ranges overlap */
	int r = 0;

	if (reading->n_ranges > 1)
		qsort(reading->ranges, reading->n_ranges, sizeof(*reading->ranges), by_lo);
	for (size_t i = 0; r == 0 && i < reading->n_ranges; i++) {
		const struct code_range *range = &reading->ranges[i];

		if (range->hi > done)
			r = add_rows(reading, range->lo > done ? range->lo : done, range->hi);
		done = range->hi > done ? range->hi : done;
	}
	if (r == 0)
		r = function_builder_finish(reading->builder, ret_table);
	if (r == 0 || r == -ENOMEM)
		return r;
	return r == -ENODATA ? -ENOENT : -EBADMSG;
}

/* The function's own entry: its name and ranges. */
static int read_function(struct body *body, const struct abbrev *abbrev, uint64_t die)
{
	struct function_reading *reading = body->reading;
	struct die_values values;
	int r;

	die_read(&body->cursor, &reading->unit->die, abbrev, &values);
	if (body->cursor.failed)
		return -EBADMSG;
	r = name_number(reading, reading->unit->die.unit.source, die);
	if (r >= 0)
		r = function_builder_named(reading->builder, 0, (uint32_t)r, FUNCTION_NO_FILE, 0,
					   0);
	if (r < 0)
		return r;
	return die_each_range(&reading->unit->die, &values, &body->ranges_left, keep_range,
			      reading);
}

int inlines_read(struct function_reading *reading, uint64_t die, struct function_table *ret_table)
{
	struct body body = {.reading = reading,
			    .ranges_left = INLINES_MAX_RANGES,
			    .cursor = die_cursor(&reading->unit->die, die)};
	const struct abbrev *abbrev;
	int r = begin(reading);

	if (r < 0)
		return r;
	abbrev = die_begin(&reading->unit->die, &body.cursor);
	if (!abbrev)
		return -EBADMSG;
	r = read_function(&body, abbrev, die);
	if (r == 0 && abbrev->children)
		r = read_body(&body);
	if (r == 0)
		r = finish(reading, ret_table);
	return r == -E2BIG ? -EBADMSG : r;
}

int inlines_only_lines(struct function_reading *reading, uint64_t lo, uint64_t hi,
		       struct function_table *ret_table)
{
	int r = begin(reading);

	if (r == 0)
		r = function_builder_node(reading->builder, 0, "", FUNCTION_NO_FILE, 0, 0);
	if (r == 0)
		r = keep_range(reading, lo, hi);
	return r < 0 ? r : finish(reading, ret_table);
}

void inlines_release(struct function_reading *reading)
{
	free(reading->files);
	free(reading->ranges);
	reading->files = NULL;
	reading->ranges = NULL;
	reading->n_files = 0;
	reading->size_ranges = 0;
}
