/* heat_level.c - values of cells to strengths of colour, and cells to times */
#include "flamescope/draw/internal.h"

#include "base/words.h"
#include "flamescope/draw/draw.h"

#include <math.h>

enum { RATE_BYTES = 64 };

int heat_level(const struct heat *heat, size_t column, size_t row, int n)
{
	size_t cell = column * heat->n_rows + row;
	double value = (double)heat->values[cell];
	double most = fmax(fabs((double)heat->scale_min), fabs((double)heat->scale_max));
	int level;

	if (heat->samples[cell] == 0)
		return HEAT_LEVEL_NONE;
	if (heat->values[cell] == 0)
		return 0;
	/* Only what is left out of the scale is more than all of it. */
	level = fabs(value) < most ? (int)ceil(fabs(value) / most * n) : n;
	level = level < 1 ? 1 : level > n ? n : level;
	return value < 0 ? -level : level;
}

int64_t heat_cell_time(const struct heat *heat, const struct profile *profile, size_t column,
		       size_t row)
{
	uint64_t at = heat->start_ns + column * heat->column_ns;

	if (!heat->row_labels)
		at += heat->column_ns / heat->n_rows * row;
	return (int64_t)(at - profile->start_ns);
}

void heat_add_time(struct buf *buf, const struct heat *heat, int64_t time_ns)
{
	uint64_t step = heat_cell_ns(heat);
	uint64_t size = time_ns < 0 ? 0 - (uint64_t)time_ns : (uint64_t)time_ns;
	/* what begins between whole milliseconds is told to the microsecond */
	uint64_t unit = step % 1000000 == 0 ? 1000000 : 1000;

	if (time_ns < 0)
		buf_add_char(buf, '-');
	words_seconds(buf, size, unit);
}

uint64_t heat_cell_ns(const struct heat *heat)
{
	return heat->row_labels ? heat->column_ns : heat->column_ns / heat->n_rows;
}

/* "90.9 ms, 909 ms/s", "-5 B" */
static void add_value(struct buf *buf, const struct heat *heat, const struct selection *selection,
		      int64_t value)
{
	struct buf rate;

	if (value < 0) {
		words_signed(buf, value, selection->unit);
		return;
	}
	words_amount(buf, (uint64_t)value, selection->unit);
	buf_init(&rate, RATE_BYTES);
	measure_rate(&rate, selection, (uint64_t)value, heat_cell_ns(heat));
	if (rate.len)
		buf_printf(buf, ", %s", buf_text(&rate));
	buf_release(&rate);
}

void heat_add_most(struct buf *buf, const struct heat *heat, const struct selection *selection)
{
	add_value(buf, heat, selection, heat->scale_max);
	buf_add(buf, heat->max > heat->scale_max ? " a cell or more" : " a cell");
}

void heat_add_about(struct buf *buf, const struct heat *heat, const struct selection *selection)
{
	size_t busy = 0;
	size_t most = 0;

	for (size_t i = 0; i < heat->n_columns * heat->n_rows; i++) {
		if (heat->samples[i] == 0)
			continue;
		busy++;
		if (heat->samples[most] == 0 || heat->values[i] > heat->values[most])
			most = i;
	}
	measure_taken(buf, selection);
	buf_add(buf, " in ");
	words_count(buf, busy);
	buf_add(buf, " of ");
	words_count(buf, heat->n_columns * heat->n_rows);
	buf_add(buf, " cells");
	if (!busy)
		return;
	buf_add(buf, "; most (");
	add_value(buf, heat, selection, heat->values[most]);
	buf_add(buf, ") at ");
	heat_add_time(
		buf, heat,
		heat_cell_time(heat, selection->profile, most / heat->n_rows, most % heat->n_rows));
	buf_add(buf, " s");
	if (heat->row_labels) {
		buf_add(buf, " of ");
		words_plain(buf, heat->row_labels[most % heat->n_rows]);
	}
}
