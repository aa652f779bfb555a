/* load_rates_test.c - recordings whose rate changes: weights count periods of one rate afterwards
 */
#include "load_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define HEAD(hz)          "# wick : {\"hz\":" hz ",\"epoch_offset_ns\":5}\n"
#define SAMPLE(s, weight) "a  1/1  [000] " s ":  " weight " cpu-clock: \n\t 1 f (m)\n\n"

static uint64_t sum(const struct profile *profile, size_t first, size_t n)
{
	uint64_t weight = 0;

	for (size_t i = first; i < first + n; i++)
		weight += profile->weights[i];
	return weight;
}

static struct profile *load(const char *text)
{
	return fixture_load(text, strlen(text));
}

static void brings_files_put_together_to_the_highest_rate(void **state)
{
	struct profile *profile = load(HEAD("100") SAMPLE("1.5", "2") SAMPLE("2.5", "1") HEAD("250")
					       SAMPLE("3.5", "7"));

	(void)state;
	assert_int_equal(profile->hz, 250);
	assert_int_equal(profile->n_samples, 3);
	assert_int_equal(sum(profile, 0, 2), 7); /* 3 periods of 10 ms are 7.5 of 4 ms */
	assert_int_equal(profile->weights[0], 5);
	assert_int_equal(profile->weights[2], 7);
	profile_free(profile);
}

static void believes_a_line_that_says_another_rate(void **state)
{
	struct profile *profile = load(
		HEAD("50") SAMPLE("1.5", "1") "# rate : "
					      "{\"time_ns\":2,\"hz\":100,\"why\":\"x\"}\n" SAMPLE(
						      "2.5", "3") "# rate : "
								  "{\"hz\":100,\"paused\":true}"
								  "\n" SAMPLE("3.5", "1"));

	(void)state;
	assert_int_equal(profile->hz, 100);
	assert_int_equal(profile->weights[0], 2);
	assert_int_equal(profile->weights[1], 3);
	assert_int_equal(profile->weights[2], 1);
	profile_free(profile);
}

static void loses_no_part_of_a_period_among_many_samples(void **state)
{
	char text[16384] = HEAD("99");
	struct profile *profile;

	(void)state;
	for (int i = 0; i < 99; i++)
		(void)strcat(text, SAMPLE("1.5", "1"));
	(void)strcat(text, HEAD("1000") SAMPLE("2.5", "1"));
	profile = load(text);
	assert_int_equal(sum(profile, 0, 99), 1000);
	profile_free(profile);
}

static void has_no_rate_where_one_is_not_said(void **state)
{
	struct profile *profile = load(SAMPLE("0.5", "1") HEAD("50") SAMPLE("1.5", "1") HEAD("100")
					       SAMPLE("2.5", "1"));

	(void)state;
	assert_int_equal(profile->hz, 0);
	assert_int_equal(sum(profile, 0, 3), 3);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brings_files_put_together_to_the_highest_rate),
		cmocka_unit_test(believes_a_line_that_says_another_rate),
		cmocka_unit_test(loses_no_part_of_a_period_among_many_samples),
		cmocka_unit_test(has_no_rate_where_one_is_not_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
