/*
 * histogram.h - durations in buckets whose width is at most 1/64 of what is in them
 *
 * Bucket b = 64 * k + i: for k = 0 it begins at 2 * i ns, else at (64 + i) << k ns
 * (sampler/wire/tables.h).  A value is known to 0.8 %, as in HdrHistogram with two digits.
 *
 * Context: any thread.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum { HISTOGRAM_BUCKETS = 36 * 64 };

struct histogram_bucket {
	uint32_t bucket;
	uint64_t count; /* above 0 */
};

/* Zero is an empty one. */
struct histogram {
	uint32_t n;
	struct histogram_bucket *at; /* ascending; the owner's */
};

#endif
