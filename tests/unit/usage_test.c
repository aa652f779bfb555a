/* usage_test.c - the texts that say what processes use, and when one looks again */
#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/metrics/usage.h"

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

/* Time in which the drain thread was preempted, or did something else, is not the look's. */
static void a_look_rests_by_the_cpu_that_it_took(void **state)
{
	uint64_t now_ns = io_now_ns() - 20 * NS_PER_MS;
	struct usage usage;

	(void)state;
	usage_init(&usage, UINT32_C(1) << USAGE_CPU);
	assert_true(usage_begin(&usage, 5, now_ns));
	usage_end(&usage);
	assert_int_equal(usage.now.time_ns, now_ns);
	assert_int_equal(usage.next_ns, now_ns + USAGE_MS * NS_PER_MS);
	assert_false(usage_begin(&usage, 6, now_ns + 1));
	assert_int_equal(usage.now.time_ns, now_ns);
	usage_release(&usage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pressure_is_read_by_its_word),
		cmocka_unit_test(what_is_no_pressure_is_refused),
		cmocka_unit_test(a_look_rests_by_the_cpu_that_it_took),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
