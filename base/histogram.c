/* histogram.c - durations in buckets whose width is at most 1/64 of what is in them */
#include "base/histogram.h"

#include "base/saturated.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 8, STEP_BITS = 6 };

uint32_t histogram_bucket_of(uint64_t ns)
{
	uint32_t octave;

	if (ns < UINT64_C(2) * HISTOGRAM_STEPS)
		return (uint32_t)(ns / 2);
	octave = 63U - (uint32_t)__builtin_clzll(ns) - STEP_BITS;
	if (octave >= HISTOGRAM_OCTAVES)
		return HISTOGRAM_BUCKETS - 1;
	return octave * HISTOGRAM_STEPS + (uint32_t)(ns >> octave) - HISTOGRAM_STEPS;
}

uint64_t histogram_low_ns(uint32_t bucket)
{
	uint32_t octave = bucket / HISTOGRAM_STEPS;
	uint64_t step = bucket % HISTOGRAM_STEPS;

	return octave ? (HISTOGRAM_STEPS + step) << octave : 2 * step;
}

uint64_t histogram_middle_ns(uint32_t bucket)
{
	uint64_t low = histogram_low_ns(bucket);

	return low + (histogram_low_ns(bucket + 1) - low) / 2;
}

/* Where BUCKET is, or would be. */
static uint32_t place_of(const struct histogram *histogram, uint32_t bucket)
{
	uint32_t low = 0;
	uint32_t high = histogram->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (histogram->at[middle].bucket < bucket)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Room for MORE buckets, in memory of its own. */
static int make_room(struct histogram *histogram, uint32_t more)
{
	uint32_t wanted = histogram->n + more;
	uint32_t size = histogram->size ? histogram->size : FIRST_SIZE;
	struct histogram_bucket *at;

	if (wanted <= histogram->size)
		return 0;
	while (size < wanted)
		size *= 2;
	at = reallocarray(histogram->size ? histogram->at : NULL, size, sizeof(*at));
	if (!at)
		return -ENOMEM;
	if (!histogram->size && histogram->n)
		memcpy(at, histogram->at, histogram->n * sizeof(*at));
	histogram->at = at;
	histogram->size = size;
	return 0;
}

int histogram_add(struct histogram *histogram, uint32_t bucket, uint64_t count)
{
	const struct histogram_bucket added = {.bucket = bucket, .count = count};
	const struct histogram one = {.n = count > 0, .at = (struct histogram_bucket *)&added};

	return histogram_merge(histogram, &one);
}

/* How many buckets of OTHER the histogram lacks. */
static uint32_t count_missing(const struct histogram *histogram, const struct histogram *other)
{
	uint32_t at = other->n ? place_of(histogram, other->at[0].bucket) : 0;
	uint32_t missing = 0;

	for (uint32_t i = 0; i < other->n; i++) {
		while (at < histogram->n && histogram->at[at].bucket < other->at[i].bucket)
			at++;
		missing += at == histogram->n || histogram->at[at].bucket != other->at[i].bucket;
	}
	return missing;
}

/* From the end, so that nothing is overwritten that is still to be read. */
int histogram_merge(struct histogram *histogram, const struct histogram *other)
{
	uint32_t missing = count_missing(histogram, other);
	uint32_t left = histogram->n;
	uint32_t right = other->n;
	uint32_t to = left + missing;
	int r = other->n ? make_room(histogram, missing) : 0;

	if (r < 0 || !histogram->at)
		return r;
	histogram->n = to;
	while (right) {
		const struct histogram_bucket *from = &other->at[right - 1];
		struct histogram_bucket *mine = left ? &histogram->at[left - 1] : NULL;

		if (mine && mine->bucket > from->bucket) {
			histogram->at[--to] = *mine;
			left--;
			continue;
		}
		if (mine && mine->bucket == from->bucket) {
			histogram->at[--to] = (struct histogram_bucket){
				.bucket = mine->bucket,
				.count = saturated_add(mine->count, from->count)};
			left--;
		} else {
			histogram->at[--to] = *from;
		}
		right--;
	}
	return 0;
}

int histogram_subtract(struct histogram *histogram, const struct histogram *earlier)
{
	uint32_t from = 0;
	uint32_t to = 0;

	if (!earlier->n || !histogram->n)
		return 0;
	/* Another's memory is not written. */
	if (make_room(histogram, histogram->size == 0) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < histogram->n; i++) {
		struct histogram_bucket bucket = histogram->at[i];

		while (from < earlier->n && earlier->at[from].bucket < bucket.bucket)
			from++;
		if (from < earlier->n && earlier->at[from].bucket == bucket.bucket)
			bucket.count -= earlier->at[from].count < bucket.count
						? earlier->at[from].count
						: bucket.count;
		if (bucket.count)
			histogram->at[to++] = bucket;
	}
	histogram->n = to;
	return 0;
}

uint64_t histogram_count(const struct histogram *histogram)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < histogram->n; i++)
		count = saturated_add(count, histogram->at[i].count);
	return count;
}

uint64_t histogram_sum_ns(const struct histogram *histogram)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < histogram->n; i++) {
		uint64_t part;

		if (__builtin_mul_overflow(histogram->at[i].count,
					   histogram_middle_ns(histogram->at[i].bucket), &part))
			return UINT64_MAX;
		sum = saturated_add(sum, part);
	}
	return sum;
}

uint64_t histogram_quantile(const struct histogram *histogram, double q)
{
	double wanted = ceil(q * (double)histogram_count(histogram));
	double seen = 0;

	if (histogram->n == 0)
		return 0;
	for (uint32_t i = 0; i < histogram->n; i++) {
		seen += (double)histogram->at[i].count;
		if (seen >= wanted)
			return histogram_middle_ns(histogram->at[i].bucket);
	}
	return histogram_middle_ns(histogram->at[histogram->n - 1].bucket);
}

double histogram_deviation_ns(const struct histogram *histogram)
{
	double count = 0;
	double mean = 0;
	double squares = 0;

	/* Welford's way, weighted: nothing cancels. */
	for (uint32_t i = 0; i < histogram->n; i++) {
		double weight = (double)histogram->at[i].count;
		double distance = (double)histogram_middle_ns(histogram->at[i].bucket) - mean;

		count += weight;
		mean += distance * weight / count;
		squares += weight * distance * (distance - distance * weight / count);
	}
	return count > 0 ? sqrt(squares / count) : 0;
}

void histogram_release(struct histogram *histogram)
{
	if (histogram->size)
		free(histogram->at);
	*histogram = (struct histogram){0};
}
