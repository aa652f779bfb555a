/* saturated.h - sums that stop at the largest value instead of wrapping */
#ifndef BASE_SATURATED_H
#define BASE_SATURATED_H

#include <stdint.h>

/**
 * saturated_add - SUM + MORE, or UINT64_MAX
 *
 * Context: any thread.
 */
static inline uint64_t saturated_add(uint64_t sum, uint64_t more)
{
	return sum > UINT64_MAX - more ? UINT64_MAX : sum + more;
}

#endif
