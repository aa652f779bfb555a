/*
 * internal.h - how a pack is laid out, and the steps of reading one
 *
 * Context: any thread.
 */
#ifndef PACK_INTERNAL_H
#define PACK_INTERNAL_H

#include "flamescope/profile.h"
#include "flamescope/profile_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* layout: the bytes of pack.h as C has them; only for little-endian machines */

static const char pack_magic[8] = {'w', 'i', 'c', 'k', 'p', 'a', 'c', 'k'};

enum {
	PACK_NAME_BYTES = 16,
	PACK_FIXED_SECTIONS = 26,
	PACK_MAX_SECTIONS = PACK_FIXED_SECTIONS + 2 * PROFILE_MAX_TAGS + 2 * PROFILE_MAX_METRICS,
};

struct pack_head {
	char magic[8];
	uint32_t version;
	uint32_t n_sections;
	uint64_t bytes;
};

struct pack_section {
	char name[PACK_NAME_BYTES];
	uint64_t offset;
	uint64_t count;
	uint32_t size; /* of an element */
	uint32_t crc;  /* CRC-32, as in zlib */
};

/* The `facts` section. */
struct pack_facts {
	uint64_t start_ns;
	uint64_t length_ns;
	uint64_t epoch_offset_ns;
	uint32_t flags; /* enum pack_flags */
	uint32_t hz;
	uint32_t command; /* strings, both */
	uint32_t captured;
};

/* An element of `file_facts`, as 64-bit numbers. */
struct pack_file {
	uint64_t bytes;
	uint64_t samples;
	uint64_t bad_lines;
	uint64_t bad[PROFILE_BAD_LINES];
	uint64_t lost;
	uint64_t flags;
};

enum pack_flags {
	PACK_HAS_EPOCH = 1,
	PACK_IS_WICK = 2,
	PACK_HAS_TIMES = 4,
	PACK_CUT = 8, /* of a file, as the next two */
	PACK_UNENDED = 16,
	PACK_HAS_PROBLEM = 32,
};

/**
 * pack_name - the name of a numbered section: "value", 3, "_step": value3_step
 * @number: less than 256, as there are of each
 */
static inline void pack_name(char name[PACK_NAME_BYTES], const char *what, size_t number,
			     const char *end)
{
	(void)snprintf(name, PACK_NAME_BYTES, "%.5s%u%.5s", what, (uint8_t)number, end);
}

_Static_assert(sizeof(struct pack_head) == 24, "pack.h says so");
_Static_assert(sizeof(struct pack_section) == 40, "pack.h says so");
_Static_assert(sizeof(struct pack_facts) == 40, "pack.h says so");
_Static_assert(sizeof(struct pack_file) == 104, "pack.h says so");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are written as they are");

/* The values of a tag, whose codes are a column: its section's name ends so. */
#define PACK_WORD "_word"

/* column: a column of samples in as few bytes an element as its largest number needs */

/* A column that the pack may hold as steps: its section's name ends so then. */
#define PACK_STEP "_step"

/**
 * column_fold - a signed number as one that is small when it is near 0; none at all is 0
 *
 * Return:  0 for PROFILE_ABSENT, then 1, 2, 3... for 0, -1, 1...: each number has one of its own.
 */
static inline uint64_t column_fold(int64_t number)
{
	return (((uint64_t)number << 1) ^ (number < 0 ? UINT64_MAX : 0)) + 1;
}

/**
 * column_unfold - the number that column_fold() gave FOLDED for
 *
 * Return:  the number; PROFILE_ABSENT for 0.
 */
static inline int64_t column_unfold(uint64_t folded)
{
	const uint64_t number = folded - 1;

	return (int64_t)((number >> 1) ^ (number & 1 ? UINT64_MAX : 0));
}

/** column_width - the bytes (1, 2, 4, 8) that the largest of N numbers of SIZE bytes needs */
size_t column_width(const void *numbers, size_t n, size_t size);

/**
 * column_copy - N numbers of FROM_SIZE bytes as numbers of TO_SIZE bytes
 *
 * Sizes are 1, 2, 4 or 8; FROM may stand anywhere, what does not fit loses its upper bytes.
 */
void column_copy(void *to, size_t to_size, const void *from, size_t from_size, size_t n);

/**
 * column_value_steps - of each value what its thread's value before and its own delta do not say
 *
 * Return:  0; -ENOMEM; -ERANGE when a value is so large that a page could not add it up exactly.
 */
int column_value_steps(const struct profile *profile, const struct profile_metric *metric,
		       uint64_t *steps);

/**
 * column_value_sums - what column_value_steps() made, in the metric's values, to values again
 *
 * The threads must be checked; the deltas are there.  Sums wrap around.
 *
 * Return:  0; -ENOMEM.
 */
int column_value_sums(const struct profile *profile, const struct profile_metric *metric);

#endif
