/* countdown_test.c - distances to the next sampled allocation, drawn inside malloc */
#include "sampler/hooks/countdown.h"

#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { DRAWS = 200000, MEAN = 1 << 19 };

static void draws_distances_of_the_mean(void **state)
{
	uint64_t random = countdown_seed();
	uint64_t short_ones = 0;
	double sum = 0;

	(void)state;
	for (int i = 0; i < DRAWS; i++) {
		uint64_t distance = countdown_draw(&random, MEAN);

		assert_true(distance > 0);
		sum += (double)distance;
		short_ones += distance < MEAN;
	}
	assert_true(sum / DRAWS > MEAN * 0.98 && sum / DRAWS < MEAN * 1.02);
	/* 1 - 1/e of them */
	assert_true(short_ones > DRAWS * 0.62 && short_ones < DRAWS * 0.645);
}

static void seeds_no_two_threads_alike(void **state)
{
	(void)state;
	assert_true(countdown_seed() != countdown_seed());
}

/* A program can ask for SIGFPE, and for what its own arithmetic has raised. */
static void leaves_the_floating_point_state_as_it_was(void **state)
{
	uint64_t random = countdown_seed();
	fenv_t before;

	(void)state;
	assert_int_equal(fegetenv(&before), 0);
	assert_int_equal(feclearexcept(FE_ALL_EXCEPT), 0);
	assert_int_equal(fesetround(FE_UPWARD), 0);
	assert_true(feenableexcept(FE_ALL_EXCEPT) >= 0);
	for (int i = 0; i < 1000; i++)
		(void)countdown_draw(&random, MEAN);
	assert_int_equal(fetestexcept(FE_ALL_EXCEPT), 0);
	assert_int_equal(fegetround(), FE_UPWARD);
	assert_int_equal(fegetexcept(), FE_ALL_EXCEPT);
	assert_int_equal(fesetenv(&before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_distances_of_the_mean),
		cmocka_unit_test(seeds_no_two_threads_alike),
		cmocka_unit_test(leaves_the_floating_point_state_as_it_was),
	};

	return cmocka_run_group_tests_name("countdown", tests, NULL, NULL);
}
