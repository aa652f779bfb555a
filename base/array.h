/*
 * array.h - arrays that grow to twice their size
 *
 * Context: any thread.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

/**
 * array_larger - the array, with space for one more entry
 * @entries: N of BYTES each; *SIZE of them fit
 * @first: how many an empty array gets
 *
 * Return:  the array, and *SIZE; NULL: no memory, and ENTRIES stays as it is.
 * Owns:    the caller, in the place of ENTRIES.
 */
static inline void *array_larger(void *entries, size_t n, size_t *size, size_t bytes, size_t first)
{
	size_t wanted = *size ? *size * 2 : first;
	void *larger;

	if (n < *size)
		return entries;
	larger = reallocarray(entries, wanted, bytes);
	if (larger)
		*size = wanted;
	return larger;
}

/* Space for one more entry in *ARRAY, which has N, and *SIZE of them fit: 0; -ENOMEM. */
#define array_reserve(array, n, size, first)                                                       \
	({                                                                                         \
		__typeof__(array) at_ = (array);                                                   \
		void *larger_ =                                                                    \
			array_larger(*at_, (n), (size), sizeof(__typeof__(**at_)), (first));       \
		if (larger_)                                                                       \
			*at_ = larger_;                                                            \
		larger_ ? 0 : -ENOMEM;                                                             \
	})

#endif
