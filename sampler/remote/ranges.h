/*
 * ranges.h - executable ranges of an address space, sorted
 *
 * Context: collector thread.
 */
#ifndef REMOTE_RANGES_H
#define REMOTE_RANGES_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MAPS_MAX_RANGES = 65536,
};

struct range {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;
	uint64_t dev;
	uint64_t inode;
	bool deleted;
	const char *path; /* interned: equal paths are equal pointers */
};

/* Sorted by start, without overlaps.  Zero is an empty one. */
struct ranges {
	struct range *at;
	size_t n;
	size_t size;
};

/**
 * ranges_find - the range that covers an address
 *
 * Return:  the range; NULL.
 * Owns:    the ranges; good until they change.
 */
const struct range *ranges_find(const struct ranges *ranges, uint64_t address);

/** ranges_first - index of the first range that ends above START */
size_t ranges_first(const struct ranges *ranges, uint64_t start);

/**
 * ranges_insert - put a range in at an index, which keeps the order
 *
 * Return:  0; -ENOMEM; -E2BIG over MAPS_MAX_RANGES.
 */
int ranges_insert(struct ranges *ranges, size_t index, const struct range *range);

/** ranges_remove - take the range at an index out */
void ranges_remove(struct ranges *ranges, size_t index);

/** ranges_holds - whether the very same range is there */
bool ranges_holds(const struct ranges *ranges, const struct range *range);

/**
 * ranges_parse - the executable ranges in the text of a maps file
 * @paths: where their paths are kept
 *
 * Lines that are not ordered, or that overlap, are left out.
 *
 * Return:  0; -ENOMEM.
 */
int ranges_parse(struct ranges *ret_ranges, struct intern *paths, const char *text, size_t len);

/** ranges_release - forget all */
void ranges_release(struct ranges *ranges);

#endif
