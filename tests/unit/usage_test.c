/* usage_test.c - the texts that say what processes use, whole, cut and hostile */
#include "sampler/collector/usage.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void page_faults_are_found_behind_any_name(void **state)
{
	static const char *const texts[] = {
		"7 (cat) S 1 7 7 0 -1 4194304 100 200 3 40 5 6 0 0 20 0 1 0 99 8 9",
		"7 (a) b (c)) R 1 7 7 0 -1 4194304 100 200 3 40 5 6 0 0 20 0 1 0 99 8 9",
	};
	uint64_t faults;
	uint64_t majfaults;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(usage_parse_stat(texts[i], &faults, &majfaults), 0);
		assert_int_equal(faults, 103);
		assert_int_equal(majfaults, 3);
	}
}

static void a_stat_that_is_cut_is_none(void **state)
{
	static const char whole[] = "7 (cat) S 1 7 7 0 -1 4194304 100 200 3";
	char text[sizeof(whole)];
	uint64_t faults;
	uint64_t majfaults;

	(void)state;
	assert_int_equal(usage_parse_stat(whole, &faults, &majfaults), 0);
	for (size_t len = 0; len < sizeof(whole) - 2; len++) {
		memcpy(text, whole, sizeof(text));
		text[len] = '\0';
		assert_int_equal(usage_parse_stat(text, &faults, &majfaults), -EBADMSG);
	}
}

static void pressure_is_read_by_its_word(void **state)
{
	static const char text[] = "some avg10=12.34 avg60=0.00 avg300=0.00 total=5\n"
				   "full avg10=100.00 avg60=0.00 avg300=0.00 total=0\n";
	uint32_t avg10;

	(void)state;
	assert_int_equal(usage_parse_psi(text, "some", &avg10), 0);
	assert_int_equal(avg10, 1234);
	assert_int_equal(usage_parse_psi(text, "full", &avg10), 0);
	assert_int_equal(avg10, 10000);
	assert_int_equal(usage_parse_psi("some avg10=0.05 avg60", "full", &avg10), -ENOENT);
	assert_int_equal(usage_parse_psi("some avg10=0.05 avg60", "some", &avg10), 0);
	assert_int_equal(avg10, 5);
}

static void what_is_no_pressure_is_refused(void **state)
{
	static const char *const texts[] = {
		"some",           "some avg10=",     "some avg10=1",      "some avg10=1.",
		"some avg10=1.2", "some avg10=1.x3", "some avg10=101.00", "some avg60=1.00",
		"some avg10=x"};
	uint32_t avg10;

	(void)state;
	assert_int_equal(usage_parse_psi("", "some", &avg10), -ENOENT);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(usage_parse_psi(texts[i], "some", &avg10), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(page_faults_are_found_behind_any_name),
		cmocka_unit_test(a_stat_that_is_cut_is_none),
		cmocka_unit_test(pressure_is_read_by_its_word),
		cmocka_unit_test(what_is_no_pressure_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
