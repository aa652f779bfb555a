/* diff_data.c - a comparison for programs to read: CSV and JSON */
#include "flamescope/diff/diff.h"

#include "base/json.h"
#include "base/words.h"

#include <math.h>

static bool is_left_out(const struct diff_table *table, size_t i)
{
	return table->top != 0 && i >= table->top;
}

void diff_table_csv(const struct diff_table *table, struct buf *buf)
{
	buf_add(buf,
		"function,total before,total after,total change,total p,self before,self after,"
		"self change,self p,significant\n");
	for (size_t i = 0; i < table->diff->n_functions; i++) {
		const struct diff_function *function = &table->diff->functions[i];

		if (is_left_out(table, i))
			break;
		words_csv(buf, function->name);
		buf_printf(buf, ",%.8f,%.8f,%.8f,%.6f", function->total[DIFF_BASE],
			   function->total[DIFF_NEW], function->total_change, function->total_p);
		buf_printf(buf, ",%.8f,%.8f,%.8f,%.6f,%s\n", function->self[DIFF_BASE],
			   function->self[DIFF_NEW], function->self_change, function->self_p,
			   diff_function_flagged(table, function) ? "yes" : "no");
	}
}

static void json_side(const struct diff_table *table, unsigned side, struct buf *buf)
{
	const struct diff *diff = table->diff;

	buf_printf(buf, "\"%s\":{\"name\":", side == DIFF_BASE ? "before" : "after");
	json_add_string(buf, table->names[side]);
	buf_printf(buf, ",\"recordings\":%zu,\"samples\":%zu,\"whole\":%.0f,\"blocks\":%zu},\n",
		   diff->sides[side].n, diff->n_samples[side], diff->whole[side],
		   diff->n_blocks[side]);
}

static void json_part(const char *name, const double sides[DIFF_SIDES], double change, double p,
		      struct buf *buf)
{
	buf_printf(buf, ",\"%s\":{\"before\":%.8f,\"after\":%.8f,\"change\":%.8f,\"p\":%.6f}", name,
		   sides[DIFF_BASE], sides[DIFF_NEW], change, p);
}

void diff_table_json(const struct diff_table *table, struct buf *buf)
{
	const struct diff *diff = table->diff;

	buf_add(buf, "{");
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		json_side(table, side, buf);
	buf_add(buf, "\"unit\":");
	json_add_string(buf, diff->unit);
	buf_printf(buf,
		   ",\"block_ns\":%llu,\"permutations\":%u,\"smallest_p\":%.6f,\"level\":%g,"
		   "\"least\":%g",
		   (unsigned long long)diff->block_ns, (unsigned)diff->n_permutations,
		   diff->smallest_p, table->level, diff->least);
	if (diff->no_chance) {
		buf_add(buf, ",\"no_significance\":");
		json_add_string(buf, diff->no_chance);
	}
	buf_add(buf, ",\n\"functions\":[");
	for (size_t i = 0; i < diff->n_functions && !is_left_out(table, i); i++) {
		const struct diff_function *function = &diff->functions[i];

		buf_add(buf, i ? ",\n{\"name\":" : "\n{\"name\":");
		json_add_string(buf, function->name);
		json_part("total", function->total, function->total_change, function->total_p, buf);
		json_part("self", function->self, function->self_change, function->self_p, buf);
		buf_printf(buf, ",\"significant\":%s}",
			   diff_function_flagged(table, function) ? "true" : "false");
	}
	buf_add(buf, "]}\n");
}
