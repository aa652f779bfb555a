/*
 * internal.h - the parts of a comparison, for the files of this folder only
 *
 * Context: any thread.
 */
#ifndef DIFF_INTERNAL_H
#define DIFF_INTERNAL_H

#include "base/intern.h"
#include "flamescope/diff/diff.h"

/* Numbers of functions that hold for both sides. */
struct diff_names {
	struct intern strings;
	size_t n;
	size_t capacity;
	const char **names;              /* by number */
	uint32_t **of_frame[DIFF_SIDES]; /* by recording, by its selection's frame number */
};

/* What one function counts for in one block of time. */
struct diff_entry {
	uint32_t column; /* function * 2, + 1: its total */
	double value;
};

/* A piece of one side's time, or one of its recordings. */
struct diff_block {
	size_t first; /* of its entries */
	size_t n;
	double whole;
};

/* Rows are blocks, BASE's before NEW's; most of their columns are 0 and not kept. */
struct diff_matrix {
	size_t n_blocks[DIFF_SIDES];
	size_t n_columns;
	struct diff_block *blocks;
	size_t max_blocks;
	struct diff_entry *entries;
	size_t n_entries;
	size_t max_entries;
	uint64_t block_ns;
	double whole[DIFF_SIDES];
};

/**
 * diff_matrix_make - count both sides, block by block
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to diff_matrix_release(), also after a failure.
 */
int diff_matrix_make(const struct diff_side sides[DIFF_SIDES], const struct diff_names *names,
		     struct diff_matrix *matrix);

/** diff_matrix_release - free it */
void diff_matrix_release(struct diff_matrix *matrix);

/**
 * diff_shares - the share of every column on one side
 * @shares: matrix->n_columns
 */
void diff_shares(const struct diff_matrix *matrix, unsigned side, double *shares);

/* The permutation test while it runs. */
struct diff_chance;

/**
 * diff_chance_new - begin to find out how often chance alone would change any column as clearly
 * @least: columns that are too small for a change of share by it are left out: their p is 1
 *
 * Return:  0; -ENOMEM.  *RET_PROBLEM, and no test: why nothing can be said; static.
 * Owns:    the caller, to diff_chance_free(); the matrix has to outlive it.
 */
int diff_chance_new(const struct diff_matrix *matrix, double least, struct diff_chance **ret_chance,
		    const char **ret_problem);

/**
 * diff_chance_step - try N more assignments of blocks to sides
 *
 * Return:  the part of all that was tried; 1: there are no more.
 */
double diff_chance_step(struct diff_chance *chance, uint32_t n);

/**
 * diff_chance_ranks - what a test that has ended has found
 * @p: gets one a column
 *
 * Return:  how many assignments were tried.
 */
uint32_t diff_chance_ranks(struct diff_chance *chance, double *p, double *ret_smallest_p);

/** diff_chance_free - free it; NULL is fine */
void diff_chance_free(struct diff_chance *chance);

/**
 * diff_tree_make - merge the stacks of both sides
 * @whole:   of each side
 * @reverse: innermost functions at the root
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller: free(*ret_nodes).
 */
int diff_tree_make(const struct diff_side sides[DIFF_SIDES], const struct diff_names *names,
		   const double whole[DIFF_SIDES], bool reverse, struct diff_node **ret_nodes,
		   size_t *ret_n);

#endif
