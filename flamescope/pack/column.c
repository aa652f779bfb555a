/* column.c - numbers to fewer bytes and back */
#include "flamescope/pack/internal.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Doubles hold all whole numbers up to here. */
static const int64_t max_exact = INT64_C(1) << 53;

/* The loops are made for each size apart: with a size that is only known at run time they are slow.
 */
#define FOR_ONE_SIZE static inline __attribute__((always_inline))

FOR_ONE_SIZE uint64_t number_at(const unsigned char *from, size_t size)
{
	uint64_t number = 0;

	memcpy(&number, from, size); /* little-endian: the lower bytes are first */
	return number;
}

FOR_ONE_SIZE uint64_t bits_of(const unsigned char *from, size_t n, size_t size)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++)
		bits |= number_at(from + i * size, size);
	return bits;
}

static uint64_t all_bits(const void *numbers, size_t n, size_t size)
{
	switch (size) {
	case 1:
		return bits_of(numbers, n, 1);
	case 2:
		return bits_of(numbers, n, 2);
	case 4:
		return bits_of(numbers, n, 4);
	default:
		return bits_of(numbers, n, 8);
	}
}

size_t column_width(const void *numbers, size_t n, size_t size)
{
	const uint64_t bits = all_bits(numbers, n, size);

	if (bits <= UINT8_MAX)
		return 1;
	if (bits <= UINT16_MAX)
		return 2;
	return bits <= UINT32_MAX ? 4 : 8;
}

FOR_ONE_SIZE void copy_each(unsigned char *to, size_t to_size, const unsigned char *from,
			    size_t from_size, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t number = number_at(from + i * from_size, from_size);

		memcpy(to + i * to_size, &number, to_size);
	}
}

FOR_ONE_SIZE void copy_from(void *to, size_t to_size, const void *from, size_t from_size, size_t n)
{
	switch (to_size) {
	case 1:
		copy_each(to, 1, from, from_size, n);
		break;
	case 2:
		copy_each(to, 2, from, from_size, n);
		break;
	case 4:
		copy_each(to, 4, from, from_size, n);
		break;
	default:
		copy_each(to, 8, from, from_size, n);
	}
}

void column_copy(void *to, size_t to_size, const void *from, size_t from_size, size_t n)
{
	switch (from_size) {
	case 1:
		copy_from(to, to_size, from, 1, n);
		break;
	case 2:
		copy_from(to, to_size, from, 2, n);
		break;
	case 4:
		copy_from(to, to_size, from, 4, n);
		break;
	default:
		copy_from(to, to_size, from, 8, n);
	}
}

/* What sample I's value would be if its delta said all. */
static uint64_t expected(const struct profile_metric *metric, uint64_t before, size_t i)
{
	const int64_t delta = metric->deltas[i];

	return before + (delta == PROFILE_ABSENT ? 0 : (uint64_t)delta);
}

int column_value_steps(const struct profile *profile, const struct profile_metric *metric,
		       uint64_t *steps)
{
	_cleanup_free_ uint64_t *before = calloc(profile->n_threads + 1, sizeof(*before));

	if (!before)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_samples; i++) {
		const int64_t value = metric->values[i];
		uint64_t *last = &before[profile->threads[i]];
		uint64_t step;

		steps[i] = 0;
		if (value == PROFILE_ABSENT)
			continue;
		step = (uint64_t)value - expected(metric, *last, i);
		if (value > max_exact || value < -max_exact || (int64_t)step == PROFILE_ABSENT)
			return -ERANGE;
		steps[i] = column_fold((int64_t)step);
		*last = (uint64_t)value;
	}
	return 0; /* _cleanup_free_ frees it. NOLINT(clang-analyzer-unix.Malloc) */
}

int column_value_sums(const struct profile *profile, const struct profile_metric *metric)
{
	_cleanup_free_ uint64_t *before = calloc(profile->n_threads + 1, sizeof(*before));

	if (!before)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_samples; i++) {
		const uint64_t step = (uint64_t)metric->values[i];
		uint64_t *last = &before[profile->threads[i]];

		if (step == 0) {
			metric->values[i] = PROFILE_ABSENT;
			continue;
		}
		*last = expected(metric, *last, i) + (uint64_t)column_unfold(step);
		metric->values[i] = (int64_t)*last;
	}
	return 0; /* as above. NOLINT(clang-analyzer-unix.Malloc) */
}
