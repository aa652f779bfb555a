/* diff_table.c - a comparison for people to read */
#include "flamescope/diff/diff_table.h"
#include "flamescope/draw/words.h"

#include <math.h>
#include <string.h>

/* In points of the whole: what is below is not shown unless all is asked for. */
static const double least_change = 0.0005;

bool diff_significant(const struct diff_function *function, double level)
{
	return function->self_p < level || function->total_p < level;
}

static bool is_shown(const struct diff_table *table, size_t i)
{
	const struct diff_function *function = &table->diff->functions[i];

	if (table->top == 0)
		return true;
	return i < table->top && (fabs(function->total_change) >= least_change ||
				  fabs(function->self_change) >= least_change ||
				  diff_significant(function, table->level));
}

static void add_side(const struct diff_table *table, unsigned side, struct buf *buf)
{
	const struct diff *diff = table->diff;

	words_count(buf, diff->sides[side]->n);
	buf_printf(buf, " %s in ", diff->sides[side]->n == 1 ? "sample" : "samples");
	words_count(buf, diff->n_blocks[side] * (diff->block_ns / 1000000000));
	buf_add(buf, " s: ");
}

static size_t count_significant(const struct diff_table *table)
{
	size_t n = 0;

	for (size_t i = 0; i < table->diff->n_functions; i++)
		n += diff_significant(&table->diff->functions[i], table->level);
	return n;
}

static void add_outcome(const struct diff_table *table, struct buf *buf)
{
	const struct diff *diff = table->diff;
	size_t n = count_significant(table);

	if (diff->no_chance) {
		buf_printf(buf, "What is chance cannot be told: %s.", diff->no_chance);
		return;
	}
	if (diff->smallest_p >= table->level) {
		buf_printf(
			buf,
			"What is chance cannot be told: so few seconds can show no p below %.2g, "
			"and %g is asked for; record longer.",
			diff->smallest_p, table->level);
		return;
	}
	if (n == 0)
		buf_add(buf, "No function changed");
	else
		buf_printf(buf, "%zu of %zu functions changed", n, diff->n_functions);
	buf_printf(buf,
		   " by more than chance (p < %g for all functions together, %u permutations of "
		   "whole seconds).",
		   table->level, (unsigned)diff->n_permutations);
}

static double smaller_p(const struct diff_function *function)
{
	return fmin(function->self_p, function->total_p);
}

/* A change is no more than what is shown of it: no "-0.00". */
static double points(double change)
{
	double shown = round(change * 10000) / 100;

	return shown == 0 ? 0 : shown;
}

static void text_row(const struct diff_table *table, const struct diff_function *function,
		     struct buf *buf)
{
	buf_printf(buf, "%7.2f  %7.2f  %+7.2f%c   ", points(function->total[DIFF_BASE]),
		   points(function->total[DIFF_NEW]), points(function->total_change),
		   function->total_p < table->level ? '*' : ' ');
	buf_printf(buf, "%7.2f  %7.2f  %+7.2f%c  ", points(function->self[DIFF_BASE]),
		   points(function->self[DIFF_NEW]), points(function->self_change),
		   function->self_p < table->level ? '*' : ' ');
	if (table->diff->no_chance)
		buf_add(buf, "      -  ");
	else
		buf_printf(buf, "%7.4f  ", smaller_p(function));
	words_plain(buf, function->name);
	buf_add_char(buf, '\n');
}

static void text_left_out(const struct diff_table *table, size_t n_shown, struct buf *buf)
{
	size_t n = table->diff->n_functions - n_shown;

	if (n > 0)
		buf_printf(buf, "%zu more functions changed less; --all shows them\n", n);
}

void diff_table_text(const struct diff_table *table, struct buf *buf)
{
	const struct diff *diff = table->diff;
	size_t n_shown = 0;

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		buf_add(buf, side == DIFF_BASE ? "before  " : "after   ");
		add_side(table, side, buf);
		words_plain(buf, table->names[side]);
		buf_add_char(buf, '\n');
	}
	buf_printf(buf, "shares of the %s of each side in percent, changes in points\n\n",
		   diff->sides[DIFF_BASE]->unit);
	buf_add(buf, "  TOTAL    after   change     "
		     "  SELF    after   change        p  FUNCTION\n");
	for (size_t i = 0; i < diff->n_functions; i++) {
		if (!is_shown(table, i))
			continue;
		text_row(table, &diff->functions[i], buf);
		n_shown++;
	}
	text_left_out(table, n_shown, buf);
	buf_add_char(buf, '\n');
	add_outcome(table, buf);
	buf_add_char(buf, '\n');
}

static void markdown_row(const struct diff_table *table, const struct diff_function *function,
			 struct buf *buf)
{
	bool sure = diff_significant(function, table->level);

	buf_add(buf, sure ? "| **`" : "| `");
	words_markdown(buf, function->name);
	buf_printf(buf, "%s | %.2f %% | %.2f %% | %+.2f%s | ", sure ? "`**" : "`",
		   points(function->total[DIFF_BASE]), points(function->total[DIFF_NEW]),
		   points(function->total_change), function->total_p < table->level ? " *" : "");
	buf_printf(buf, "%.2f %% | %.2f %% | %+.2f%s | ", points(function->self[DIFF_BASE]),
		   points(function->self[DIFF_NEW]), points(function->self_change),
		   function->self_p < table->level ? " *" : "");
	if (table->diff->no_chance)
		buf_add(buf, "- |\n");
	else
		buf_printf(buf, "%.4f |\n", smaller_p(function));
}

void diff_table_markdown(const struct diff_table *table, struct buf *buf)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		buf_add(buf, side == DIFF_BASE ? "Before: " : "After: ");
		add_side(table, side, buf);
		buf_add_char(buf, '`');
		words_markdown(buf, table->names[side]);
		buf_add(buf, side == DIFF_BASE ? "`  \n" : "`\n\n");
	}
	add_outcome(table, buf);
	buf_add(buf, "\n\n| Function | Total before | after | change | Self before | after | "
		     "change | p |\n"
		     "|---|--:|--:|--:|--:|--:|--:|--:|\n");
	for (size_t i = 0; i < table->diff->n_functions; i++)
		if (is_shown(table, i))
			markdown_row(table, &table->diff->functions[i], buf);
}
