/* heat_text.c - a heatmap as CSV and JSON */
#include "flamescope/draw/draw.h"

#include "base/json.h"
#include "base/words.h"
#include "flamescope/draw/internal.h"

/* Seconds since the first sample, to the nanosecond. */
static void add_exact(struct buf *buf, int64_t ns)
{
	if (ns < 0)
		buf_add_char(buf, '-');
	words_seconds(buf, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, 1);
}

static void add_csv_cell(struct buf *buf, const struct heat *heat, const struct profile *profile,
			 size_t column, size_t row)
{
	size_t cell = column * heat->n_rows + row;

	if (heat->samples[cell] == 0)
		return;
	add_exact(buf, heat_cell_time(heat, profile, column, row));
	buf_printf(buf, ",%zu,", column);
	if (heat->row_labels)
		words_csv(buf, heat->row_labels[row]);
	else
		buf_printf(buf, "%zu", row);
	buf_printf(buf, ",%lld,%u\n", (long long)heat->values[cell], heat->samples[cell]);
}

void heat_write_csv(struct buf *buf, const struct heat *heat, const struct selection *selection)
{
	buf_add(buf, "time (s),column,row,");
	words_csv(buf, selection->unit);
	buf_add(buf, ",samples\n");
	for (size_t column = 0; column < heat->n_columns; column++)
		for (size_t row = 0; row < heat->n_rows; row++)
			add_csv_cell(buf, heat, selection->profile, column, row);
}

/* One array a column, of values or of how many samples there are. */
static void add_json_cells(struct buf *buf, const struct heat *heat, bool values)
{
	for (size_t cell = 0; cell < heat->n_columns * heat->n_rows; cell++) {
		bool first = cell % heat->n_rows == 0;

		buf_add(buf, !first ? "," : cell ? "],\n[" : "[");
		if (!values)
			buf_printf(buf, "%u", heat->samples[cell]);
		else if (heat->samples[cell])
			buf_printf(buf, "%lld", (long long)heat->values[cell]);
		else
			buf_add(buf, "null");
	}
	buf_add_char(buf, ']');
}

static void add_json_labels(struct buf *buf, const struct heat *heat)
{
	for (size_t row = 0; row < heat->n_rows; row++) {
		buf_add(buf, row ? "," : "[");
		json_add_string(buf, heat->row_labels[row]);
	}
	buf_add_char(buf, ']');
}

void heat_write_json(struct buf *buf, const struct heat *heat, const struct selection *selection)
{
	buf_add(buf, "{\"kind\":\"heatmap\",");
	measure_json(buf, selection);
	buf_printf(buf,
		   ",\"columns\":%zu,\"rows\":%zu,\"column_ns\":\"%llu\",\"start_ns\":\"%llu\","
		   "\"from_first_sample_ns\":\"%lld\",\"rows_by\":\"%s\",\"row_labels\":",
		   heat->n_columns, heat->n_rows, (unsigned long long)heat->column_ns,
		   (unsigned long long)heat->start_ns,
		   (long long)heat_cell_time(heat, selection->profile, 0, 0),
		   heat->row_labels ? "label" : "time");
	if (heat->row_labels)
		add_json_labels(buf, heat);
	else
		buf_add(buf, "null");
	buf_printf(buf, ",\"min\":%lld,\"max\":%lld,\n\"values\":[", (long long)heat->min,
		   (long long)heat->max);
	add_json_cells(buf, heat, true);
	buf_add(buf, "],\n\"samples\":[");
	add_json_cells(buf, heat, false);
	buf_add(buf, "]}\n");
}
