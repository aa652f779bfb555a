/* function_table.c - functions and their relatives as columns, Markdown, CSV and JSON */
#include "flamescope/draw/draw.h"

#include "base/json.h"
#include "base/saturated.h"
#include "base/words.h"
#include "flamescope/draw/internal.h"

#include <string.h>

static const char csv_head[] =
	"function,module,self gain,self loss,total gain,total loss,self samples,samples,calls\n";

static void add_csv_row(struct buf *buf, const struct function_table *table,
			const struct flame_function *row)
{
	words_csv(buf, selection_frame_name(table->selection, row->frame));
	buf_add_char(buf, ',');
	words_csv(buf, flame_module(table->selection, row->frame));
	buf_printf(buf, ",%llu,%llu,%llu,%llu,%llu,%llu,%llu\n", (unsigned long long)row->self_gain,
		   (unsigned long long)row->self_loss, (unsigned long long)row->gain,
		   (unsigned long long)row->loss, (unsigned long long)row->self_samples,
		   (unsigned long long)row->samples, (unsigned long long)row->calls);
}

void function_table_csv(struct buf *buf, const struct function_table *table)
{
	buf_add(buf, csv_head);
	for (size_t i = 0; i < table->n_rows; i++)
		add_csv_row(buf, table, &table->rows[i]);
}

static void add_json_row(struct buf *buf, const struct function_table *table,
			 const struct flame_function *row)
{
	buf_add(buf, "{\"name\":");
	json_add_string(buf, selection_frame_name(table->selection, row->frame));
	buf_add(buf, ",\"module\":");
	json_add_string(buf, flame_module(table->selection, row->frame));
	buf_printf(buf,
		   ",\"self_gain\":%llu,\"self_loss\":%llu,\"gain\":%llu,\"loss\":%llu,"
		   "\"self_samples\":%llu,\"samples\":%llu,\"calls\":%llu}",
		   (unsigned long long)row->self_gain, (unsigned long long)row->self_loss,
		   (unsigned long long)row->gain, (unsigned long long)row->loss,
		   (unsigned long long)row->self_samples, (unsigned long long)row->samples,
		   (unsigned long long)row->calls);
}

static void add_json_rows(struct buf *buf, const struct function_table *table,
			  const struct flame_function *rows, size_t n)
{
	buf_add_char(buf, '[');
	for (size_t i = 0; i < n; i++) {
		buf_add(buf, i ? ",\n" : "\n");
		add_json_row(buf, table, &rows[i]);
	}
	buf_add_char(buf, ']');
}

void function_table_json(struct buf *buf, const struct function_table *table)
{
	measure_json(buf, table->selection);
	buf_printf(buf, ",\"samples\":%zu,\"total\":%llu,\"n_functions\":%zu,\"functions\":",
		   table->selection->n, (unsigned long long)table->total, table->n_all);
	add_json_rows(buf, table, table->rows, table->n_rows);
}

static void add_csv_relative(struct buf *buf, const struct function_table *table,
			     const struct flame_function *row, const char *relation)
{
	buf_printf(buf, "%s,", relation);
	add_csv_row(buf, table, row);
}

void function_relatives_csv(struct buf *buf, const struct function_table *table,
			    const struct function_relatives *relatives, bool heading)
{
	if (heading)
		buf_printf(buf, "relation,%s", csv_head);
	for (size_t i = 0; i < relatives->n_callers; i++)
		add_csv_relative(buf, table, &relatives->callers[i], "caller");
	add_csv_relative(buf, table, &relatives->function, "function");
	for (size_t i = 0; i < relatives->n_callees; i++)
		add_csv_relative(buf, table, &relatives->callees[i], "callee");
}

void function_relatives_json(struct buf *buf, const struct function_table *table,
			     const struct function_relatives *relatives)
{
	buf_add(buf, "{\"function\":");
	add_json_row(buf, table, &relatives->function);
	buf_add(buf, ",\"callers\":");
	add_json_rows(buf, table, relatives->callers, relatives->n_callers);
	buf_add(buf, ",\"callees\":");
	add_json_rows(buf, table, relatives->callees, relatives->n_callees);
	buf_add_char(buf, '}');
}

enum { CELL_BYTES = 64, NAME_COLUMNS = 24, BAR_COLUMNS = 10 };

/* The number columns of a table; the name is the last. */
enum { COLUMN_SELF, COLUMN_SELF_SHARE, COLUMN_TOTAL, COLUMN_TOTAL_SHARE, COLUMN_CALLS, N_COLUMNS };

static const char *const headings[N_COLUMNS] = {"self", "self %", "total", "total %", "calls"};

static bool is_shown(const struct function_table *table, int column)
{
	return !table->labels || column >= COLUMN_TOTAL;
}

static const char *heading_of(const struct function_table *table, int column)
{
	return table->labels && column == COLUMN_CALLS ? "samples" : headings[column];
}

static const char *name_of(const struct function_table *table, uint32_t frame)
{
	return table->labels ? table->labels[frame] : selection_frame_name(table->selection, frame);
}

uint64_t function_table_width(const struct selection *selection,
			      const struct flame_function *function, bool self)
{
	uint64_t gain = self ? function->self_gain : function->gain;
	uint64_t loss = self ? function->self_loss : function->loss;

	if (selection->measure == QUERY_MEAN)
		return self ? function->self_samples : function->samples;
	return saturated_add(gain, loss);
}

/* "+12 MiB -3 MiB", a mean, or a plain amount. */
static void add_amount(struct buf *buf, const struct selection *selection,
		       const struct flame_function *function, bool self)
{
	uint64_t gain = self ? function->self_gain : function->gain;
	uint64_t loss = self ? function->self_loss : function->loss;
	uint64_t samples = self ? function->self_samples : function->samples;

	if (selection->measure == QUERY_MEAN) {
		double mean = samples ? ((double)gain - (double)loss) / (double)samples : 0;

		if (mean >= 0)
			words_amount(buf, (uint64_t)(mean + 0.5), selection->unit);
		else
			words_signed(buf, (int64_t)(mean - 0.5), selection->unit);
		return;
	}
	if (!selection->is_signed) {
		words_amount(buf, gain, selection->unit);
		return;
	}
	if (gain || !loss) {
		buf_add(buf, gain ? "+" : "");
		words_amount(buf, gain, selection->unit);
	}
	if (loss) {
		buf_add(buf, gain ? " -" : "-");
		words_amount(buf, loss, selection->unit);
	}
}

static void fill_cell(struct buf *cell, const struct function_table *table,
		      const struct flame_function *row, int column)
{
	const struct selection *selection = table->selection;
	bool self = column <= COLUMN_SELF_SHARE;

	switch (column) {
	case COLUMN_SELF:
	case COLUMN_TOTAL:
		add_amount(cell, selection, row, self);
		break;
	case COLUMN_CALLS:
		words_count(cell, row->calls);
		break;
	default:
		words_share(cell, (double)function_table_width(selection, row, self),
			    (double)table->total);
		break;
	}
}

/* As wide as the widest cell. */
static void measure_columns(const struct function_table *table, const struct flame_function *rows,
			    size_t n, size_t widths[static N_COLUMNS])
{
	struct buf cell;

	buf_init(&cell, CELL_BYTES);
	for (size_t i = 0; i < n; i++) {
		for (int column = 0; column < N_COLUMNS; column++) {
			buf_clear(&cell);
			fill_cell(&cell, table, &rows[i], column);
			if (cell.len > widths[column])
				widths[column] = cell.len;
		}
	}
	buf_release(&cell);
}

static const char *module_name(const struct function_table *table, uint32_t frame)
{
	const char *module = table->labels ? "" : flame_module(table->selection, frame);
	const char *slash = strrchr(module, '/');

	return slash && slash[1] ? slash + 1 : module;
}

/* In eighths of a character. */
static void add_bar(struct buf *buf, double part)
{
	enum { EIGHTHS = 8 };
	static const char *const ends[EIGHTHS] = {" ",
						  "\xe2\x96\x8f",
						  "\xe2\x96\x8e",
						  "\xe2\x96\x8d",
						  "\xe2\x96\x8c",
						  "\xe2\x96\x8b",
						  "\xe2\x96\x8a",
						  "\xe2\x96\x89"};
	unsigned left = (unsigned)(part * BAR_COLUMNS * EIGHTHS + 0.5);

	for (unsigned i = 0; i < BAR_COLUMNS; i++) {
		buf_add(buf, left >= EIGHTHS ? "\xe2\x96\x88" : ends[left]);
		left = left >= EIGHTHS ? left - EIGHTHS : 0;
	}
	buf_add(buf, "  ");
}

static double bar_part(const struct function_table *table, const struct flame_function *row)
{
	bool by_self = table->by_self && !table->labels;
	double part = table->total ? (double)function_table_width(table->selection, row, by_self) /
					     (double)table->total
				   : 0;

	return part < 1 ? part : 1;
}

/* COLUMNS is what the row has taken already. */
static void add_name(struct buf *buf, const struct function_table *table, uint32_t frame,
		     size_t columns)
{
	const char *module = module_name(table, frame);
	size_t width = 0;

	if (*module)
		columns += words_width(module) + strlen("  ()");
	if (table->columns)
		width = table->columns > columns + NAME_COLUMNS ? table->columns - columns
								: NAME_COLUMNS;
	short_name(buf, name_of(table, frame), width);
	if (!*module)
		return;
	buf_add(buf, "  (");
	words_plain(buf, module);
	buf_add(buf, ")");
}

static void add_row(struct buf *buf, const struct function_table *table,
		    const struct flame_function *row, const size_t widths[static N_COLUMNS],
		    const char *mark)
{
	size_t columns = strlen(mark);
	struct buf cell;

	buf_init(&cell, CELL_BYTES);
	for (int column = 0; column < N_COLUMNS; column++) {
		if (!is_shown(table, column))
			continue;
		buf_clear(&cell);
		fill_cell(&cell, table, row, column);
		buf_printf(buf, "%*s  ", (int)widths[column], buf_text(&cell));
		columns += widths[column] + strlen("  ");
	}
	buf_release(&cell);
	if (table->has_bars) {
		add_bar(buf, bar_part(table, row));
		columns += BAR_COLUMNS + strlen("  ");
	}
	buf_add(buf, mark);
	add_name(buf, table, row->frame, columns);
	buf_add_char(buf, '\n');
}

static void add_heading(struct buf *buf, const struct function_table *table,
			const size_t widths[static N_COLUMNS])
{
	for (int column = 0; column < N_COLUMNS; column++)
		if (is_shown(table, column))
			buf_printf(buf, "%*s  ", (int)widths[column], heading_of(table, column));
	buf_printf(buf, "%*s%s\n", table->has_bars ? BAR_COLUMNS + 2 : 0, "",
		   table->labels ? table->part : "function");
}

static void start_widths(const struct function_table *table, size_t widths[static N_COLUMNS])
{
	for (int column = 0; column < N_COLUMNS; column++)
		widths[column] = strlen(heading_of(table, column));
}

/* "30 more functions" */
static void add_more(struct buf *buf, const struct function_table *table)
{
	buf_printf(buf, "%zu more%s", table->n_all - table->n_rows,
		   table->labels ? "" : " functions");
}

void function_table_text(struct buf *buf, const struct function_table *table)
{
	size_t widths[N_COLUMNS];

	start_widths(table, widths);
	measure_columns(table, table->rows, table->n_rows, widths);
	if (table->others)
		measure_columns(table, table->others, 1, widths);
	add_heading(buf, table, widths);
	for (size_t i = 0; i < table->n_rows; i++)
		add_row(buf, table, &table->rows[i], widths, "");
	if (table->others)
		add_row(buf, table, table->others, widths, "");
	if (table->n_rows == table->n_all)
		return;
	buf_add_char(buf, '(');
	add_more(buf, table);
	buf_add(buf, "; --top shows more)\n");
}

static void add_markdown_heading(struct buf *buf, const struct function_table *table,
				 const char *first)
{
	if (first)
		buf_printf(buf, "| %s ", first);
	for (int column = 0; column < N_COLUMNS; column++)
		if (is_shown(table, column))
			buf_printf(buf, "| %s ", heading_of(table, column));
	buf_printf(buf, "| %s |\n", table->labels ? table->part : "function");
	if (first)
		buf_add(buf, "|---");
	for (int column = 0; column < N_COLUMNS; column++)
		if (is_shown(table, column))
			buf_add(buf, "|---:");
	buf_add(buf, "|---|\n");
}

static void add_markdown_row(struct buf *buf, const struct function_table *table,
			     const struct flame_function *row, const char *first)
{
	const char *name = name_of(table, row->frame);
	const char *module = module_name(table, row->frame);

	if (first)
		buf_printf(buf, "| %s ", first);
	for (int column = 0; column < N_COLUMNS; column++) {
		if (!is_shown(table, column))
			continue;
		buf_add(buf, "| ");
		fill_cell(buf, table, row, column);
		buf_add_char(buf, ' ');
	}
	buf_add(buf, "| `");
	words_markdown(buf, name);
	buf_add_char(buf, '`');
	/* alone it would say nothing */
	if (strcmp(name, "[unknown]") == 0 && *module) {
		buf_add(buf, " in `");
		words_markdown(buf, module);
		buf_add_char(buf, '`');
	}
	buf_add(buf, " |\n");
}

void function_table_markdown(struct buf *buf, const struct function_table *table)
{
	add_markdown_heading(buf, table, NULL);
	for (size_t i = 0; i < table->n_rows; i++)
		add_markdown_row(buf, table, &table->rows[i], NULL);
	if (table->others)
		add_markdown_row(buf, table, table->others, NULL);
	if (table->n_rows == table->n_all)
		return;
	buf_add_char(buf, '\n');
	add_more(buf, table);
	buf_add_char(buf, '\n');
}

static void add_relatives_markdown(struct buf *buf, const struct function_table *table,
				   const struct function_relatives *relatives)
{
	add_markdown_heading(buf, table, "");
	for (size_t i = 0; i < relatives->n_callers; i++)
		add_markdown_row(buf, table, &relatives->callers[i], "caller");
	add_markdown_row(buf, table, &relatives->function, "**function**");
	for (size_t i = 0; i < relatives->n_callees; i++)
		add_markdown_row(buf, table, &relatives->callees[i], "callee");
	buf_add_char(buf, '\n');
}

void function_relatives_text(struct buf *buf, const struct function_table *table,
			     const struct function_relatives *relatives, bool markdown)
{
	size_t widths[N_COLUMNS];

	if (markdown) {
		add_relatives_markdown(buf, table, relatives);
		return;
	}
	start_widths(table, widths);
	measure_columns(table, relatives->callers, relatives->n_callers, widths);
	measure_columns(table, &relatives->function, 1, widths);
	measure_columns(table, relatives->callees, relatives->n_callees, widths);
	add_heading(buf, table, widths);
	for (size_t i = 0; i < relatives->n_callers; i++)
		add_row(buf, table, &relatives->callers[i], widths, "    from ");
	add_row(buf, table, &relatives->function, widths, "");
	for (size_t i = 0; i < relatives->n_callees; i++)
		add_row(buf, table, &relatives->callees[i], widths, "    calls ");
	buf_add_char(buf, '\n');
}
