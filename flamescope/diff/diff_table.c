/* diff_table.c - a comparison for people to read */
#include "base/words.h"
#include "flamescope/diff/diff.h"
#include "flamescope/draw/draw.h"

#include <math.h>
#include <string.h>

/* In points of the whole: what is below is not shown unless all is requested. */
static const double least_change = 0.0005;
static const double one_point = 0.01;
static const uint64_t second_ns = 1000000000;

static bool is_flagged(const struct diff_table *table, double change, double p)
{
	return diff_significant(table->diff, change, p, table->level);
}

bool diff_function_flagged(const struct diff_table *table, const struct diff_function *function)
{
	return is_flagged(table, function->self_change, function->self_p) ||
	       is_flagged(table, function->total_change, function->total_p);
}

static bool is_shown(const struct diff_table *table, size_t i)
{
	const struct diff_function *function = &table->diff->functions[i];

	if (table->top == 0)
		return true;
	return i < table->top && (fabs(function->total_change) >= least_change ||
				  fabs(function->self_change) >= least_change ||
				  diff_function_flagged(table, function));
}

static void add_side(const struct diff_table *table, unsigned side, struct buf *buf)
{
	const struct diff *diff = table->diff;
	const struct selection *first = diff->sides[side].recordings[0];

	if (diff->sides[side].n > 1)
		buf_printf(buf, "%zu recordings, ", diff->sides[side].n);
	words_count(buf, diff->n_samples[side]);
	buf_add(buf, diff->n_samples[side] == 1 ? " sample" : " samples");
	if (first->measure != QUERY_SAMPLES) {
		buf_add(buf, ", ");
		measure_total(buf, first, (uint64_t)diff->whole[side]);
	}
	if (diff->block_ns > 0) {
		buf_add(buf, " in ");
		words_count(buf, diff->n_blocks[side] * (diff->block_ns / second_ns));
		buf_add(buf, " s");
	}
	buf_add(buf, ": ");
}

static size_t count_significant(const struct diff_table *table)
{
	size_t n = 0;

	for (size_t i = 0; i < table->diff->n_functions; i++)
		n += diff_function_flagged(table, &table->diff->functions[i]);
	return n;
}

/* Two times of one recording: variation between runs does not matter. */
static bool is_one_recording(const struct diff *diff)
{
	return diff->sides[DIFF_BASE].n == 1 && diff->sides[DIFF_NEW].n == 1 &&
	       diff->sides[DIFF_BASE].recordings[0]->profile ==
		       diff->sides[DIFF_NEW].recordings[0]->profile;
}

/* Functions are in the order of their changes. */
static bool is_unchanged(const struct diff *diff)
{
	return diff->n_functions == 0 ||
	       (diff->functions[0].total_change == 0 && diff->functions[0].self_change == 0);
}

static void add_outcome(const struct diff_table *table, struct buf *buf)
{
	const struct diff *diff = table->diff;
	size_t n = count_significant(table);

	if (is_unchanged(diff)) {
		buf_add(buf, "Nothing changed: each function has the same share on both sides.");
		return;
	}
	if (diff->no_chance) {
		buf_printf(buf, "What is chance cannot be told: %s.", diff->no_chance);
		return;
	}
	if (diff->smallest_p >= table->level) {
		buf_printf(buf,
			   "What is chance cannot be told: so few %s can show no p below %.2g, "
			   "and %g is asked for; record %s.",
			   diff->block_ns ? "seconds" : "recordings", diff->smallest_p,
			   table->level, diff->block_ns ? "longer" : "more often");
		return;
	}
	if (n == 0)
		buf_add(buf, "No function changed");
	else
		buf_printf(buf, "%zu of %zu functions changed", n, diff->n_functions);
	if (diff->least > 0)
		buf_printf(buf, " by %g %s or more and", diff->least * 100,
			   diff->least == one_point ? "point" : "points");
	buf_printf(buf,
		   " by more than chance (p < %g for all functions together, "
		   "%u permutations of whole %s).",
		   table->level, (unsigned)diff->n_permutations,
		   diff->block_ns ? "seconds" : "recordings");
	if (n > 0 && diff->block_ns > 0 && !is_one_recording(diff))
		buf_printf(buf,
			   " Another run may differ by as much: give %d of each side to be sure.",
			   DIFF_ENOUGH_RECORDINGS);
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
		   is_flagged(table, function->total_change, function->total_p) ? '*' : ' ');
	buf_printf(buf, "%7.2f  %7.2f  %+7.2f%c  ", points(function->self[DIFF_BASE]),
		   points(function->self[DIFF_NEW]), points(function->self_change),
		   is_flagged(table, function->self_change, function->self_p) ? '*' : ' ');
	if (table->diff->no_chance)
		buf_add(buf, "      -  ");
	else
		buf_printf(buf, "%7.4f  ", smaller_p(function));
	words_plain(buf, function->name);
	buf_add_char(buf, '\n');
}

/* The functions, and how many of them there was no room for. */
static void text_rows(const struct diff_table *table, struct buf *buf)
{
	const struct diff *diff = table->diff;
	size_t n_left = diff->n_functions;

	buf_add(buf, "  TOTAL    after   change     "
		     "  SELF    after   change        p  FUNCTION\n");
	for (size_t i = 0; i < diff->n_functions; i++) {
		if (!is_shown(table, i))
			continue;
		text_row(table, &diff->functions[i], buf);
		n_left--;
	}
	if (n_left > 0)
		buf_printf(buf, "%zu more functions changed less; --all shows them\n", n_left);
	buf_add_char(buf, '\n');
}

/* Of what has not changed rows are shown only by --all. */
static bool has_rows(const struct diff_table *table)
{
	return table->top == 0 || !is_unchanged(table->diff);
}

void diff_table_text(const struct diff_table *table, struct buf *buf)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		buf_add(buf, side == DIFF_BASE ? "before  " : "after   ");
		add_side(table, side, buf);
		words_plain(buf, table->names[side]);
		buf_add_char(buf, '\n');
	}
	buf_printf(buf, "shares of the %s of each side in percent, changes in points\n\n",
		   measure_unit_word(table->diff->unit));
	if (has_rows(table))
		text_rows(table, buf);
	add_outcome(table, buf);
	buf_add_char(buf, '\n');
}

static void markdown_row(const struct diff_table *table, const struct diff_function *function,
			 struct buf *buf)
{
	bool sure = diff_function_flagged(table, function);

	buf_add(buf, sure ? "| **`" : "| `");
	words_markdown(buf, function->name);
	buf_printf(buf, "%s | %.2f %% | %.2f %% | %+.2f%s | ", sure ? "`**" : "`",
		   points(function->total[DIFF_BASE]), points(function->total[DIFF_NEW]),
		   points(function->total_change),
		   is_flagged(table, function->total_change, function->total_p) ? " *" : "");
	buf_printf(buf, "%.2f %% | %.2f %% | %+.2f%s | ", points(function->self[DIFF_BASE]),
		   points(function->self[DIFF_NEW]), points(function->self_change),
		   is_flagged(table, function->self_change, function->self_p) ? " *" : "");
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
	if (!has_rows(table)) {
		buf_add_char(buf, '\n');
		return;
	}
	buf_add(buf, "\n\n| Function | Total before | after | change | Self before | after | "
		     "change | p |\n"
		     "|---|--:|--:|--:|--:|--:|--:|--:|\n");
	for (size_t i = 0; i < table->diff->n_functions; i++)
		if (is_shown(table, i))
			markdown_row(table, &table->diff->functions[i], buf);
}
