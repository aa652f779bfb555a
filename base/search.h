/* search.h - binary search in an array of entries that begin with an address or a time */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/**
 * search_up_to - the number of entries whose key is at most KEY
 * @entries: N of BYTES each, in ascending order; an entry begins with its key
 *
 * Context: any thread.
 */
static inline size_t search_up_to(const void *entries, size_t n, size_t bytes, uint64_t key)
{
	size_t low = 0;
	size_t high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t at;

		memcpy(&at, (const char *)entries + middle * bytes, sizeof(at));
		if (at <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
