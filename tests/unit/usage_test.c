/* usage_test.c - the texts that say what processes use, whole, cut and hostile */
#include "sampler/collector/usage.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

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
		cmocka_unit_test(pressure_is_read_by_its_word),
		cmocka_unit_test(what_is_no_pressure_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
