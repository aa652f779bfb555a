/* histogram_test.c - unit tests of base/histogram.c: quantiles are those of the exact values */
#include "base/histogram.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VALUES = 5000 };

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 11;
}

static void fill(struct histogram *histogram, const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(histogram_add(histogram, histogram_bucket_of(values[i]), 1), 0);
}

static void buckets_follow_each_other_without_a_gap(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_low_ns(i);
		uint64_t next = histogram_low_ns(i + 1);

		assert_true(low < next);
		assert_int_equal(histogram_bucket_of(low), i);
		assert_int_equal(histogram_bucket_of(next - 1), i);
		assert_true(next - low <= 2 || (next - low) * HISTOGRAM_STEPS <= low);
	}
	assert_int_equal(histogram_low_ns(0), 0);
	assert_int_equal(histogram_low_ns(64), 128);
}

static void what_is_longer_than_the_last_bucket_is_in_it(void **state)
{
	(void)state;
	assert_int_equal(histogram_bucket_of(histogram_low_ns(HISTOGRAM_BUCKETS)),
			 HISTOGRAM_BUCKETS - 1);
	assert_int_equal(histogram_bucket_of(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

/* Uniform in the logarithm, from 100 ns to 100 s. */
static void every_quantile_is_within_a_percent_of_the_exact_one(void **state)
{
	struct histogram histogram = {0};
	uint64_t values[VALUES];
	uint64_t random = 42;

	(void)state;
	for (size_t i = 0; i < VALUES; i++)
		values[i] = (uint64_t)(100 * pow(10, (double)(next_random(&random) % 9000) / 1000));
	fill(&histogram, values, VALUES);
	qsort(values, VALUES, sizeof(values[0]), by_value);
	assert_int_equal(histogram_count(&histogram), VALUES);
	for (size_t i = 1; i <= VALUES; i++) {
		double exact = (double)values[i - 1];
		double q = ((double)i - 0.5) / VALUES;
		double seen = (double)histogram_quantile(&histogram, q);

		assert_true(fabs(seen - exact) <= exact * 0.01);
	}
	assert_int_equal(histogram_quantile(&histogram, 0),
			 histogram_middle_ns(histogram_bucket_of(values[0])));
	assert_int_equal(histogram_quantile(&histogram, 1),
			 histogram_middle_ns(histogram_bucket_of(values[VALUES - 1])));
	histogram_release(&histogram);
}

static void sum_and_deviation_are_within_a_percent(void **state)
{
	struct histogram histogram = {0};
	uint64_t values[VALUES];
	uint64_t random = 7;
	double sum = 0;
	double squares = 0;
	double deviation;

	(void)state;
	for (size_t i = 0; i < VALUES; i++) {
		values[i] = 1000000 + next_random(&random) % 9000000;
		sum += (double)values[i];
	}
	for (size_t i = 0; i < VALUES; i++)
		squares += pow((double)values[i] - sum / VALUES, 2);
	deviation = sqrt(squares / VALUES);
	fill(&histogram, values, VALUES);
	assert_true(fabs((double)histogram_sum_ns(&histogram) - sum) <= sum * 0.01);
	assert_true(fabs(histogram_deviation_ns(&histogram) - deviation) <= deviation * 0.01);
	histogram_release(&histogram);
}

static void an_empty_one_has_nothing(void **state)
{
	struct histogram histogram = {0};
	struct histogram other = {0};

	(void)state;
	assert_int_equal(histogram_count(&histogram), 0);
	assert_int_equal(histogram_sum_ns(&histogram), 0);
	assert_int_equal(histogram_quantile(&histogram, 0.5), 0);
	assert_true(histogram_deviation_ns(&histogram) == 0);
	assert_int_equal(histogram_merge(&histogram, &other), 0);
	assert_int_equal(histogram_subtract(&histogram, &other), 0);
	assert_int_equal(histogram_add(&histogram, 5, 0), 0);
	assert_int_equal(histogram.n, 0);
	histogram_release(&histogram);
}

static void one_value_is_all_of_its_quantiles(void **state)
{
	const uint64_t value = 123456789;
	struct histogram histogram = {0};

	(void)state;
	fill(&histogram, &value, 1);
	for (int i = 0; i <= 10; i++)
		assert_true(fabs((double)histogram_quantile(&histogram, i / 10.0) -
				 (double)value) <= 0.01 * (double)value);
	assert_true(histogram_deviation_ns(&histogram) == 0);
	histogram_release(&histogram);
}

static void an_interval_is_the_later_state_without_the_earlier(void **state)
{
	struct histogram earlier = {0};
	struct histogram later = {0};
	struct histogram added = {0};
	uint64_t values[VALUES];
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < VALUES; i++)
		values[i] = next_random(&random) % 100000;
	fill(&earlier, values, VALUES / 2);
	fill(&added, values + VALUES / 2, VALUES / 2);
	assert_int_equal(histogram_merge(&later, &earlier), 0);
	assert_int_equal(histogram_merge(&later, &added), 0);
	assert_int_equal(histogram_count(&later), VALUES);
	assert_int_equal(histogram_subtract(&later, &earlier), 0);
	assert_int_equal(later.n, added.n);
	for (uint32_t i = 0; i < added.n; i++) {
		assert_int_equal(later.at[i].bucket, added.at[i].bucket);
		assert_int_equal(later.at[i].count, added.at[i].count);
	}
	/* What is not in the later state does not go below zero. */
	assert_int_equal(histogram_subtract(&later, &earlier), 0);
	assert_int_equal(histogram_subtract(&later, &added), 0);
	assert_int_equal(later.n, 0);
	histogram_release(&earlier);
	histogram_release(&later);
	histogram_release(&added);
}

static void memory_of_another_is_never_written(void **state)
{
	struct histogram_bucket buckets[] = {{3, 1}, {9, 2}};
	struct histogram view = {.n = 2, .at = buckets};
	struct histogram one = {0};

	(void)state;
	assert_int_equal(histogram_add(&one, 9, 1), 0);
	assert_int_equal(histogram_subtract(&view, &one), 0);
	assert_int_equal(view.at[1].count, 1);
	histogram_release(&view);
	view = (struct histogram){.n = 2, .at = buckets};
	assert_int_equal(histogram_merge(&view, &one), 0);
	assert_int_equal(view.at[1].count, 3);
	assert_int_equal(buckets[0].count, 1);
	assert_int_equal(buckets[1].count, 2);
	histogram_release(&view);
	histogram_release(&one);
}

static void counts_stop_at_the_largest_number(void **state)
{
	struct histogram histogram = {0};

	(void)state;
	assert_int_equal(histogram_add(&histogram, 2000, UINT64_MAX), 0);
	assert_int_equal(histogram_add(&histogram, 2000, 5), 0);
	assert_int_equal(histogram_add(&histogram, 3, 5), 0);
	assert_true(histogram_count(&histogram) == UINT64_MAX);
	assert_true(histogram_sum_ns(&histogram) == UINT64_MAX);
	assert_int_equal(histogram_quantile(&histogram, 0.5), histogram_middle_ns(2000));
	histogram_release(&histogram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_follow_each_other_without_a_gap),
		cmocka_unit_test(what_is_longer_than_the_last_bucket_is_in_it),
		cmocka_unit_test(every_quantile_is_within_a_percent_of_the_exact_one),
		cmocka_unit_test(sum_and_deviation_are_within_a_percent),
		cmocka_unit_test(an_empty_one_has_nothing),
		cmocka_unit_test(one_value_is_all_of_its_quantiles),
		cmocka_unit_test(an_interval_is_the_later_state_without_the_earlier),
		cmocka_unit_test(memory_of_another_is_never_written),
		cmocka_unit_test(counts_stop_at_the_largest_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
