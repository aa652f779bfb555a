/* value_test.c - sizes, durations, rates, limits, lists */
#include "tools/cli/value.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint64_t size_of(const char *text)
{
	struct err err = {0};
	uint64_t bytes = 0;
	int r = value_size(text, &bytes, &err);

	assert_true(r == 0 || (r == -EINVAL && strstr(err.text, text)));
	return r < 0 ? 0 : bytes;
}

static uint64_t duration_of(const char *text)
{
	struct err err = {0};
	uint64_t ns = 0;
	int r = value_duration(text, &ns, &err);

	assert_true(r == 0 || r == -EINVAL);
	return r < 0 ? 0 : ns;
}

static void sizes_are_powers_of_1024(void **state)
{
	(void)state;
	assert_int_equal(size_of("1"), 1);
	assert_int_equal(size_of("64K"), 65536);
	assert_int_equal(size_of("1.5M"), 1572864);
	assert_int_equal(size_of("2G"), UINT64_C(2) << 30);
}

static void refuses_what_is_no_size(void **state)
{
	static const char *const bad[] = {"",
					  "K",
					  "-1",
					  "1KB",
					  "1k",
					  "0x10",
					  "1.",
					  ".5",
					  "1 K",
					  "99999999999999999999",
					  "18446744073709551615G"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(size_of(bad[i]), 0);
}

static void bare_durations_are_seconds(void **state)
{
	(void)state;
	assert_int_equal(duration_of("10"), UINT64_C(10000000000));
	assert_int_equal(duration_of("500ms"), 500000000);
	assert_int_equal(duration_of("1.5s"), 1500000000);
	assert_int_equal(duration_of("2min"), UINT64_C(120000000000));
	assert_int_equal(duration_of("1h"), UINT64_C(3600000000000));
}

static void refuses_what_is_no_duration(void **state)
{
	static const char *const bad[] = {"", "s", "-1s", "0", "0s", "1m", "1parsec", "1e9", "1s2"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(duration_of(bad[i]), 0);
}

static void waits_have_units(void **state)
{
	static const char *const bad[] = {"", "10", "0us", "-1us", "us", "1min", "1ns", "1us2"};
	struct err err = {0};
	uint64_t ns = 0;

	(void)state;
	assert_int_equal(value_wait("10us", &ns, &err), 0);
	assert_int_equal(ns, 10000);
	assert_int_equal(value_wait("1.5ms", &ns, &err), 0);
	assert_int_equal(ns, 1500000);
	assert_int_equal(value_wait("2s", &ns, &err), 0);
	assert_int_equal(ns, 2000000000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(value_wait(bad[i], &ns, &err), -EINVAL);
}

static void takes_rates_from_1_to_10000(void **state)
{
	uint32_t hz = 0;

	(void)state;
	assert_int_equal(value_rate("1", &hz, NULL), 0);
	assert_int_equal(hz, 1);
	assert_int_equal(value_rate("10000", &hz, NULL), 0);
	assert_int_equal(hz, 10000);
}

static void refuses_rates_that_make_no_sense(void **state)
{
	static const char *const bad[] = {"0",  "10001", "1e9", "x",    "",
					  "-1", "99x",   "9.5", "0x10", "99999999999999999999"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err = {0};
		uint32_t hz = 77;

		assert_int_equal(value_rate(bad[i], &hz, &err), -EINVAL);
		assert_int_equal(hz, 77);
		assert_non_null(strstr(err.text, "10000"));
	}
}

static void rotates_by_size_time_or_count(void **state)
{
	struct recording_limit limit;

	(void)state;
	assert_int_equal(value_rotate("64M", &limit, NULL), 0);
	assert_int_equal(limit.bytes, 64 << 20);
	assert_int_equal(limit.ns + limit.samples, 0);
	assert_int_equal(value_rotate("60s", &limit, NULL), 0);
	assert_int_equal(limit.ns, UINT64_C(60000000000));
	assert_int_equal(limit.bytes + limit.samples, 0);
	assert_int_equal(value_rotate("50000samples", &limit, NULL), 0);
	assert_int_equal(limit.samples, 50000);
	assert_int_equal(limit.bytes + limit.ns, 0);
}

static void refuses_to_rotate_without_a_unit(void **state)
{
	static const char *const bad[] = {"60", "", "0samples", "0M", "0s", "soon", "5sample"};
	struct recording_limit limit;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(value_rotate(bad[i], &limit, NULL), -EINVAL);
}

static void keeps_a_number_a_size_or_an_age(void **state)
{
	struct recording_limit limit;

	(void)state;
	assert_int_equal(value_keep("30", &limit, NULL), 0);
	assert_int_equal(limit.samples, 30);
	assert_int_equal(value_keep("2G", &limit, NULL), 0);
	assert_int_equal(limit.bytes, UINT64_C(2) << 30);
	assert_int_equal(value_keep("24h", &limit, NULL), 0);
	assert_int_equal(limit.ns, UINT64_C(86400000000000));
	assert_int_equal(value_keep("0", &limit, NULL), -EINVAL);
	assert_int_equal(value_keep("1.5", &limit, NULL), -EINVAL);
	assert_int_equal(value_keep("3samples", &limit, NULL), -EINVAL);
}

static void a_pid_is_a_positive_number(void **state)
{
	pid_t pid = 0;

	(void)state;
	assert_int_equal(value_pid("1234", &pid), 0);
	assert_int_equal(pid, 1234);
	assert_int_equal(value_pid("0", &pid), -EINVAL);
	assert_int_equal(value_pid("12x", &pid), -EINVAL);
	assert_int_equal(value_pid("", &pid), -EINVAL);
	assert_int_equal(value_pid("1.0", &pid), -EINVAL);
	assert_int_equal(value_pid("99999999999", &pid), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_powers_of_1024),
		cmocka_unit_test(refuses_what_is_no_size),
		cmocka_unit_test(bare_durations_are_seconds),
		cmocka_unit_test(refuses_what_is_no_duration),
		cmocka_unit_test(waits_have_units),
		cmocka_unit_test(takes_rates_from_1_to_10000),
		cmocka_unit_test(refuses_rates_that_make_no_sense),
		cmocka_unit_test(rotates_by_size_time_or_count),
		cmocka_unit_test(refuses_to_rotate_without_a_unit),
		cmocka_unit_test(keeps_a_number_a_size_or_an_age),
		cmocka_unit_test(a_pid_is_a_positive_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
