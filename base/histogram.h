/*
 * histogram.h - durations in buckets whose width is at most 1/64 of what is in them
 *
 * Bucket b = 64 * k + i: for k = 0 it begins at 2 * i ns, else at (64 + i) << k ns
 * (sampler/wire/tables.h).  A value is known to 0.8 %, as in HdrHistogram with two digits.  What is
 * longer than 73 minutes is in the last bucket.
 *
 * Context: any thread.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum { HISTOGRAM_OCTAVES = 36, HISTOGRAM_STEPS = 64, HISTOGRAM_BUCKETS = 36 * 64 };

struct histogram_bucket {
	uint32_t bucket;
	uint64_t count; /* above 0 */
};

/* Zero is an empty one. */
struct histogram {
	uint32_t n;
	uint32_t size; /* buckets that fit; 0: `at` is not the histogram's own, and never written */
	struct histogram_bucket *at; /* ascending */
};

/** histogram_bucket_of - the bucket of a duration */
uint32_t histogram_bucket_of(uint64_t ns);

/** histogram_low_ns - where a bucket begins; of HISTOGRAM_BUCKETS: where the last one ends */
uint64_t histogram_low_ns(uint32_t bucket);

/** histogram_middle_ns - the middle of a bucket, which stands for what is in it */
uint64_t histogram_middle_ns(uint32_t bucket);

/**
 * histogram_add - COUNT more in a bucket
 * @bucket: below HISTOGRAM_BUCKETS
 *
 * Return:  0; -ENOMEM, and the histogram is as it was.
 */
int histogram_add(struct histogram *histogram, uint32_t bucket, uint64_t count);

/**
 * histogram_merge - add all of another one
 *
 * Return:  0; -ENOMEM, and the histogram is as it was.
 */
int histogram_merge(struct histogram *histogram, const struct histogram *other);

/**
 * histogram_subtract - take an earlier state away: what has come since; never below 0
 *
 * Return:  0; -ENOMEM, and the histogram is as it was.
 */
int histogram_subtract(struct histogram *histogram, const struct histogram *earlier);

/** histogram_count - how many durations */
uint64_t histogram_count(const struct histogram *histogram);

/** histogram_sum_ns - what they add up to, by the middles of their buckets; UINT64_MAX at most */
uint64_t histogram_sum_ns(const struct histogram *histogram);

/**
 * histogram_quantile - the shortest duration that at least the part Q of all does not exceed
 * @q: 0 .. 1
 *
 * Return:  the middle of its bucket, within 0.8 %; 0 of an empty histogram.
 */
uint64_t histogram_quantile(const struct histogram *histogram, double q);

/** histogram_deviation_ns - the standard deviation, of the whole population; 0 of an empty one */
double histogram_deviation_ns(const struct histogram *histogram);

/** histogram_release - give the memory back; it is empty then */
void histogram_release(struct histogram *histogram);

#endif
