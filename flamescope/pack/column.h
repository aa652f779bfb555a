/* column.h - a column of samples in as few bytes an element as its largest number needs */
#ifndef PACK_COLUMN_H
#define PACK_COLUMN_H

#include "flamescope/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A column that the pack may hold as steps: its section's name ends so then. */
#define PACK_STEP "_step"

/**
 * column_fold - a signed number as one that is small when it is near 0; none at all is 0
 *
 * Return:  0 for PROFILE_ABSENT, then 1, 2, 3... for 0, -1, 1...: each number has one of its own.
 * Context: any thread.
 */
static inline uint64_t column_fold(int64_t number)
{
	return (((uint64_t)number << 1) ^ (number < 0 ? UINT64_MAX : 0)) + 1;
}

/**
 * column_unfold - the number that column_fold() gave FOLDED for
 *
 * Return:  the number; PROFILE_ABSENT for 0.
 * Context: any thread.
 */
static inline int64_t column_unfold(uint64_t folded)
{
	const uint64_t number = folded - 1;

	return (int64_t)((number >> 1) ^ (number & 1 ? UINT64_MAX : 0));
}

/**
 * column_width - the bytes (1, 2, 4, 8) that the largest of N numbers of SIZE bytes needs
 *
 * Context: any thread.
 */
size_t column_width(const void *numbers, size_t n, size_t size);

/**
 * column_copy - N numbers of FROM_SIZE bytes as numbers of TO_SIZE bytes
 *
 * Sizes are 1, 2, 4 or 8; FROM may stand anywhere, what does not fit loses its upper bytes.
 *
 * Context: any thread.
 */
void column_copy(void *to, size_t to_size, const void *from, size_t from_size, size_t n);

/**
 * column_value_steps - of each value what its thread's value before and its own delta do not say
 *
 * Return:  0; -ENOMEM; -ERANGE when a value is so large that a page could not add it up exactly.
 * Context: any thread.
 */
int column_value_steps(const struct profile *profile, const struct profile_metric *metric,
		       uint64_t *steps);

/**
 * column_value_sums - what column_value_steps() made, in the metric's values, to values again
 *
 * The threads must be checked; the deltas are there.  Sums wrap around.
 *
 * Return:  0; -ENOMEM.
 * Context: any thread.
 */
int column_value_sums(const struct profile *profile, const struct profile_metric *metric);

#endif
