/* function_data.c - functions and their relatives as CSV and JSON: exact numbers for programs */
#include "base/json.h"
#include "base/words.h"
#include "flamescope/draw/draw.h"

static const char columns[] =
	"function,module,self_gain,self_loss,gain,loss,self_samples,samples,calls\n";

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
	buf_add(buf, columns);
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
		buf_printf(buf, "relation,%s", columns);
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
