/*
 * chance.c - the permutation test: blocks of time change sides
 *
 * A column's statistic is its change of share divided by the spread of its blocks around the share
 * of both sides together.  That spread is the same for every assignment of blocks to sides, so
 * each statistic compares with the others, whatever the function's size, and the test stays exact.
 * So does leaving out the columns that are too small on both sides together: which those are does
 * not depend on how blocks are assigned.  They would cost the others their power: of a thousand
 * functions that were seen once or twice some are on one side only in every assignment.
 */
#include "flamescope/diff/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_PERMUTATIONS = 499, MIN_BLOCKS = 2 };

static const double cost_budget = 1e9; /* additions: about a second */
static const double tie = 1e-9;        /* sums in another order differ by rounding */
/* Of the squared blocks: what rounding leaves where nothing varies. */
static const double rounding = 1e-13;

struct diff_chance {
	const struct diff_matrix *matrix;
	size_t n;               /* blocks */
	size_t n_picked;        /* of them on the smaller side */
	unsigned small;         /* which side that is */
	double whole;           /* both sides */
	double least_mass;      /* of a column that counts */
	double *sums;           /* by column, both sides */
	double *inverse_spread; /* by column; 0: a column that never varies */
	double *picked_sums;    /* by column */
	double *mass;           /* by column, both sides, without regard to sign */
	uint32_t *order;        /* block numbers; the first n_picked are the smaller side */
	double *greatest;       /* of each assignment, the statistic of the column with the most */
	uint32_t n_trials;
	uint32_t n_wanted;
	bool every; /* that there is, else as chance has it */
	bool ended;
	uint32_t random[4];
};

/* Xorshift with 128 bits of state (Marsaglia, 2003): what a page computes as quickly as we do. */
static uint32_t next_random(uint32_t state[4])
{
	uint32_t t = state[0] ^ state[0] << 11;

	state[0] = state[1];
	state[1] = state[2];
	state[2] = state[3];
	state[3] ^= state[3] >> 19 ^ t ^ t >> 8;
	return state[3];
}

/* How many ways to pick K of N, no more than LIMIT + 1. */
static double n_choices(size_t n, size_t k, double limit)
{
	double choices = 1;

	for (size_t i = 1; i <= k && choices <= limit; i++)
		choices = choices * (double)(n - k + i) / (double)i;
	return fmin(floor(choices + 0.5), limit + 1);
}

static int init(struct diff_chance *trial, const struct diff_matrix *matrix, double least)
{
	const size_t *n_blocks = matrix->n_blocks;
	size_t n = matrix->n_columns + 1;

	*trial = (struct diff_chance){.matrix = matrix,
				      .n = n_blocks[DIFF_BASE] + n_blocks[DIFF_NEW],
				      .small = n_blocks[DIFF_NEW] < n_blocks[DIFF_BASE],
				      .whole = matrix->whole[DIFF_BASE] + matrix->whole[DIFF_NEW],
				      .random = {123456789, 362436069, 521288629, 88675123}};
	trial->n_picked = n_blocks[trial->small];
	trial->least_mass = least * trial->whole * (double)trial->n_picked / (double)trial->n;
	trial->sums = calloc(n, sizeof(double));
	trial->inverse_spread = calloc(n, sizeof(double));
	trial->picked_sums = calloc(n, sizeof(double));
	trial->mass = calloc(n, sizeof(double));
	trial->order = calloc(trial->n + 1, sizeof(uint32_t));
	trial->greatest = calloc(DIFF_MAX_PERMUTATIONS + 1, sizeof(double));
	return trial->sums && trial->inverse_spread && trial->picked_sums && trial->mass &&
			       trial->order && trial->greatest
		       ? 0
		       : -ENOMEM;
}

/* The blocks in which a column is absent vary too: by their share of the whole. */
static void measure_spread(struct diff_chance *trial)
{
	const struct diff_matrix *matrix = trial->matrix;
	double *squares = trial->inverse_spread;
	double whole_squares = 0;

	for (size_t i = 0; i < matrix->n_entries; i++) {
		trial->sums[matrix->entries[i].column] += matrix->entries[i].value;
		trial->mass[matrix->entries[i].column] += fabs(matrix->entries[i].value);
	}
	for (size_t b = 0; b < trial->n; b++) {
		const struct diff_block *block = &matrix->blocks[b];

		whole_squares += block->whole * block->whole;
		for (size_t k = block->first; k < block->first + block->n; k++) {
			const struct diff_entry *entry = &matrix->entries[k];
			double expected = trial->sums[entry->column] / trial->whole * block->whole;
			double off = entry->value - expected;

			squares[entry->column] += off * off - expected * expected;
		}
	}
	for (size_t column = 0; column < matrix->n_columns; column++) {
		double share = trial->sums[column] / trial->whole;
		double square = squares[column] + share * share * whole_squares;

		squares[column] = square > rounding * whole_squares &&
						  trial->mass[column] >= trial->least_mass
					  ? 1 / sqrt(square)
					  : 0;
	}
}

/* The changes of share when the first n_picked of order are the smaller side, in picked_sums. */
static void change_shares(struct diff_chance *trial)
{
	const struct diff_matrix *matrix = trial->matrix;
	double *sums = trial->picked_sums;
	double picked_whole = 0;
	double rest_whole;

	memset(sums, 0, matrix->n_columns * sizeof(*sums));
	for (size_t i = 0; i < trial->n_picked; i++) {
		const struct diff_block *block = &matrix->blocks[trial->order[i]];
		const struct diff_entry *entries = &matrix->entries[block->first];

		picked_whole += block->whole;
		for (size_t k = 0; k < block->n; k++)
			sums[entries[k].column] += entries[k].value;
	}
	rest_whole = trial->whole - picked_whole;
	picked_whole = picked_whole > 0 ? 1 / picked_whole : 0;
	rest_whole = rest_whole > 0 ? 1 / rest_whole : 0;
	for (size_t column = 0; column < matrix->n_columns; column++)
		sums[column] = fabs(sums[column] * picked_whole -
				    (trial->sums[column] - sums[column]) * rest_whole) *
			       trial->inverse_spread[column];
}

static void try_order(struct diff_chance *trial)
{
	double greatest = 0;

	change_shares(trial);
	for (size_t column = 0; column < trial->matrix->n_columns; column++)
		greatest = fmax(greatest, trial->picked_sums[column]);
	trial->greatest[trial->n_trials++] = greatest;
}

static void order_as_seen(struct diff_chance *trial)
{
	size_t first = trial->small == DIFF_BASE ? 0 : trial->matrix->n_blocks[DIFF_BASE];

	for (size_t i = 0; i < trial->n; i++)
		trial->order[i] = (uint32_t)((first + i) % trial->n);
}

/* What was seen is one of them, the first: p is never 0. */
static void shuffle(struct diff_chance *trial)
{
	for (size_t i = 0; i < trial->n_picked; i++) {
		size_t k = i + ((uint64_t)next_random(trial->random) * (trial->n - i) >> 32);
		uint32_t swapped = trial->order[i];

		trial->order[i] = trial->order[k];
		trial->order[k] = swapped;
	}
}

/* The next pick in the order of the alphabet; false after the last. */
static bool next_pick(uint32_t *picked, size_t k, size_t n)
{
	size_t i = k;

	while (i > 0 && picked[i - 1] == n - k + i - 1)
		i--;
	if (i == 0)
		return false;
	picked[i - 1]++;
	for (; i < k; i++)
		picked[i] = picked[i - 1] + 1;
	return true;
}

static uint32_t affordable(const struct diff_chance *trial)
{
	const struct diff_matrix *matrix = trial->matrix;
	double each = (double)matrix->n_entries * (double)trial->n_picked / (double)trial->n +
		      (double)matrix->n_columns * 2 + 1;
	double n = cost_budget / each;

	return n > DIFF_MAX_PERMUTATIONS ? DIFF_MAX_PERMUTATIONS
	       : n < MIN_PERMUTATIONS    ? MIN_PERMUTATIONS
					 : (uint32_t)n;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The share of assignments whose greatest statistic is at least a column's own. */
static void rank_columns(struct diff_chance *trial, double *p)
{
	qsort(trial->greatest, trial->n_trials, sizeof(double), by_size);
	order_as_seen(trial);
	change_shares(trial);
	for (size_t column = 0; column < trial->matrix->n_columns; column++) {
		double own = trial->picked_sums[column] * (1 - tie);
		size_t low = 0;
		size_t high = trial->n_trials;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (trial->greatest[middle] < own)
				low = middle + 1;
			else
				high = middle;
		}
		p[column] = own > 0 ? (double)(trial->n_trials - low) / trial->n_trials : 1;
	}
}

static const char *problem_of(const struct diff_matrix *matrix)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		if (!(matrix->whole[side] > 0))
			return "one side has no samples that count";
		if (matrix->n_blocks[side] < MIN_BLOCKS)
			return "one side is a second or less, or has no times";
	}
	return NULL;
}

int diff_chance_new(const struct diff_matrix *matrix, double least, struct diff_chance **ret_chance,
		    const char **ret_problem)
{
	struct diff_chance *trial;

	*ret_chance = NULL;
	*ret_problem = problem_of(matrix);
	if (*ret_problem)
		return 0;
	trial = calloc(1, sizeof(*trial));
	if (!trial || init(trial, matrix, least) < 0) {
		diff_chance_free(trial);
		return -ENOMEM;
	}
	trial->n_wanted = affordable(trial);
	trial->every = n_choices(trial->n, trial->n_picked, trial->n_wanted) <= trial->n_wanted;
	if (trial->every)
		trial->n_wanted = (uint32_t)n_choices(trial->n, trial->n_picked, trial->n_wanted);
	measure_spread(trial);
	for (size_t i = 0; trial->every && i < trial->n; i++)
		trial->order[i] = (uint32_t)i;
	if (!trial->every)
		order_as_seen(trial);
	*ret_chance = trial;
	return 0;
}

double diff_chance_step(struct diff_chance *trial, uint32_t n)
{
	for (; n > 0 && !trial->ended; n--) {
		try_order(trial);
		if (trial->every)
			trial->ended = !next_pick(trial->order, trial->n_picked, trial->n);
		else
			shuffle(trial);
		trial->ended |= trial->n_trials >= trial->n_wanted;
	}
	return trial->ended ? 1 : (double)trial->n_trials / trial->n_wanted;
}

uint32_t diff_chance_ranks(struct diff_chance *trial, double *p, double *ret_smallest_p)
{
	bool mirrored = trial->n_picked * 2 == trial->n;

	*ret_smallest_p = (trial->every && mirrored ? 2.0 : 1.0) / trial->n_trials;
	rank_columns(trial, p);
	return trial->n_trials;
}

void diff_chance_free(struct diff_chance *trial)
{
	if (!trial)
		return;
	free(trial->sums);
	free(trial->inverse_spread);
	free(trial->picked_sums);
	free(trial->mass);
	free(trial->order);
	free(trial->greatest);
	free(trial);
}
