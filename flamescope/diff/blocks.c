/*
 * blocks.c - what each function counts for in each block of whole seconds, or each recording
 *
 * Blocks begin at a recording's first sample, so that a range that is cut out of it does not begin
 * and end with a piece of a second.  A long recording has longer blocks, not more of them: what a
 * program does in one second it mostly still does in the next.
 */
#include "flamescope/diff/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ENTRIES = 4096, FIRST_BLOCKS = 64 };

static const uint64_t second_ns = 1000000000;

/* What is being counted: one block of one side. */
struct tally {
	const struct selection *side;
	const uint32_t *of_frame;
	double *stack_values; /* by node */
	uint8_t *stack_seen;  /* by node */
	uint32_t *stacks;     /* the nodes that were seen */
	size_t n_stacks;
	double *columns; /* sums */
	uint8_t *column_seen;
	uint32_t *seen; /* the columns that were seen */
	size_t n_seen;
	size_t *function_mark; /* the stack that a function was last counted for */
	size_t mark;
};

static void tally_release(struct tally *tally)
{
	free(tally->stack_values);
	free(tally->stack_seen);
	free(tally->stacks);
	free(tally->columns);
	free(tally->column_seen);
	free(tally->seen);
	free(tally->function_mark);
}

static int tally_init(struct tally *tally, const struct selection *side, const uint32_t *of_frame,
		      size_t n_columns)
{
	size_t n_nodes = side->n_nodes + 1;

	*tally = (struct tally){.side = side, .of_frame = of_frame};
	tally->stack_values = calloc(n_nodes, sizeof(double));
	tally->stack_seen = calloc(n_nodes, 1);
	tally->stacks = calloc(n_nodes, sizeof(uint32_t));
	tally->columns = calloc(n_columns + 1, sizeof(double));
	tally->column_seen = calloc(n_columns + 1, 1);
	tally->seen = calloc(n_columns + 1, sizeof(uint32_t));
	tally->function_mark = calloc(n_columns / 2 + 1, sizeof(size_t));
	return tally->stack_values && tally->stack_seen && tally->stacks && tally->columns &&
			       tally->column_seen && tally->seen && tally->function_mark
		       ? 0
		       : -ENOMEM;
}

static void add_to_column(struct tally *tally, size_t column, double value)
{
	if (!tally->column_seen[column]) {
		tally->column_seen[column] = 1;
		tally->seen[tally->n_seen++] = (uint32_t)column;
	}
	tally->columns[column] += value;
}

/* A stack's value to its innermost function and, once each, to all that are in it. */
static void spread_stack(struct tally *tally, uint32_t stack)
{
	double value = tally->stack_values[stack];

	tally->stack_values[stack] = 0;
	tally->stack_seen[stack] = 0;
	tally->mark++;
	for (uint32_t node = stack; node != 0; node = tally->side->nodes[node].parent) {
		uint32_t function = tally->of_frame[tally->side->nodes[node].frame];

		if (node == stack)
			add_to_column(tally, (size_t)function * 2, value);
		if (tally->function_mark[function] == tally->mark)
			continue;
		tally->function_mark[function] = tally->mark;
		add_to_column(tally, (size_t)function * 2 + 1, value);
	}
}

static int reserve(void **array, size_t *max, size_t n, size_t size)
{
	size_t capacity = *max ? *max : FIRST_BLOCKS;
	void *grown;

	if (n <= *max)
		return 0;
	while (capacity < n)
		capacity *= 2;
	grown = reallocarray(*array, capacity, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*max = capacity;
	return 0;
}

/* Ends a block: what was tallied becomes a row, and the tally is empty again. */
static int end_block(struct diff_matrix *matrix, struct tally *tally, unsigned side, double whole)
{
	size_t n_blocks = matrix->n_blocks[DIFF_BASE] + matrix->n_blocks[DIFF_NEW];
	int r;

	for (size_t i = 0; i < tally->n_stacks; i++)
		spread_stack(tally, tally->stacks[i]);
	tally->n_stacks = 0;
	r = reserve((void **)&matrix->blocks, &matrix->max_blocks, n_blocks + 1,
		    sizeof(*matrix->blocks));
	if (r == 0)
		r = reserve((void **)&matrix->entries, &matrix->max_entries,
			    matrix->n_entries + tally->n_seen, sizeof(*matrix->entries));
	if (r < 0)
		return r;
	matrix->blocks[n_blocks] =
		(struct diff_block){.first = matrix->n_entries, .n = tally->n_seen, .whole = whole};
	for (size_t i = 0; i < tally->n_seen; i++) {
		uint32_t column = tally->seen[i];

		matrix->entries[matrix->n_entries++] =
			(struct diff_entry){.column = column, .value = tally->columns[column]};
		tally->columns[column] = 0;
		tally->column_seen[column] = 0;
	}
	tally->n_seen = 0;
	matrix->n_blocks[side]++;
	matrix->whole[side] += whole;
	return 0;
}

static uint64_t block_of(const struct selection *side, size_t i, uint64_t block_ns)
{
	const uint64_t *times = side->profile->times_ns;

	if (block_ns == 0)
		return 0;
	return (times[side->samples[i]] - times[side->samples[0]]) / block_ns;
}

static void add_sample(struct tally *tally, size_t i)
{
	uint32_t stack = tally->side->stacks[i];

	if (!tally->stack_seen[stack]) {
		tally->stack_seen[stack] = 1;
		tally->stacks[tally->n_stacks++] = stack;
	}
	tally->stack_values[stack] += (double)tally->side->values[i];
}

static int count_recording(struct diff_matrix *matrix, struct tally *tally, unsigned side)
{
	const struct selection *selection = tally->side;
	double whole = 0;

	for (size_t i = 0; i < selection->n; i++) {
		uint64_t block = block_of(selection, i, matrix->block_ns);

		add_sample(tally, i);
		whole += fabs((double)selection->values[i]);
		if (i + 1 == selection->n ||
		    block_of(selection, i + 1, matrix->block_ns) != block) {
			int r = end_block(matrix, tally, side, whole);

			if (r < 0)
				return r;
			whole = 0;
		}
	}
	return 0;
}

static size_t count_blocks(const struct selection *side, uint64_t block_ns)
{
	size_t n = side->n > 0;

	for (size_t i = 1; i < side->n; i++)
		n += block_of(side, i, block_ns) != block_of(side, i - 1, block_ns);
	return n;
}

static size_t count_all_blocks(const struct diff_side sides[DIFF_SIDES], uint64_t block_ns)
{
	size_t n = 0;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < sides[side].n; i++)
			n += count_blocks(sides[side].recordings[i], block_ns);
	return n;
}

/* 0: a block is a whole recording. */
static uint64_t block_length(const struct diff_side sides[DIFF_SIDES])
{
	size_t fewest = count_all_blocks(sides, 0);
	uint64_t block_ns = second_ns;
	size_t n;

	if (sides[DIFF_BASE].n >= DIFF_ENOUGH_RECORDINGS &&
	    sides[DIFF_NEW].n >= DIFF_ENOUGH_RECORDINGS)
		return 0;
	while ((n = count_all_blocks(sides, block_ns)) > DIFF_MAX_BLOCKS && n > fewest)
		block_ns *= 2;
	return block_ns;
}

static int count_side(struct diff_matrix *matrix, const struct diff_side *recordings,
		      const struct diff_names *names, unsigned side)
{
	int r = 0;

	for (size_t i = 0; i < recordings->n && r == 0; i++) {
		struct tally tally;

		r = tally_init(&tally, recordings->recordings[i], names->of_frame[side][i],
			       matrix->n_columns);
		if (r == 0)
			r = count_recording(matrix, &tally, side);
		tally_release(&tally);
	}
	return r;
}

int diff_matrix_make(const struct diff_side sides[DIFF_SIDES], const struct diff_names *names,
		     struct diff_matrix *matrix)
{
	int r = 0;

	*matrix = (struct diff_matrix){.n_columns = names->n * 2, .block_ns = block_length(sides)};
	for (unsigned side = 0; side < DIFF_SIDES && r == 0; side++)
		r = count_side(matrix, &sides[side], names, side);
	return r;
}

void diff_matrix_release(struct diff_matrix *matrix)
{
	free(matrix->blocks);
	free(matrix->entries);
	*matrix = (struct diff_matrix){0};
}

void diff_shares(const struct diff_matrix *matrix, unsigned side, double *shares)
{
	size_t first = side == DIFF_BASE ? 0 : matrix->n_blocks[DIFF_BASE];

	memset(shares, 0, matrix->n_columns * sizeof(*shares));
	for (size_t i = first; i < first + matrix->n_blocks[side]; i++) {
		const struct diff_block *block = &matrix->blocks[i];

		for (size_t k = block->first; k < block->first + block->n; k++)
			shares[matrix->entries[k].column] += matrix->entries[k].value;
	}
	for (size_t column = 0; matrix->whole[side] > 0 && column < matrix->n_columns; column++)
		shares[column] /= matrix->whole[side];
}
