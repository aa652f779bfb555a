/* summary_counts_test.c - exact counts in the summary of a recording */
#include "tools/summary/internal.h"
#include "totals_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_tells(const struct totals *totals, bool was_killed, const char *expected)
{
	struct buf buf;

	buf_init(&buf, 4096);
	summary_counts(totals, was_killed, &buf);
	assert_string_equal(buf_text(&buf), expected);
	buf_release(&buf);
}

static void assert_says(const struct totals *totals, const char *expected)
{
	assert_tells(totals, false, expected);
}

static void says_nothing_of_programs_that_count_nothing(void **state)
{
	struct totals_fixture fixture = {0};

	(void)state;
	assert_says(&fixture.totals, "");
}

static void says_what_programs_counted(void **state)
{
	struct totals_fixture fixture = {0};

	(void)state;
	(void)fixture_tier(&fixture, "request", "_total", 20000, 5);
	(void)fixture_tier(&fixture, "request", "GET /a", 19000, 5);
	(void)fixture_tier(&fixture, "request", "other", 1000, 5);
	(void)fixture_tier(&fixture, "db", "_total", 7, 2);
	(void)fixture_tier(&fixture, "db", "GET /a", 7, 2);
	(void)fixture_tier(&fixture, "queue", "_total", 7, 2);
	(void)fixture_task(&fixture, "t", 5, 0, 3);
	assert_says(&fixture.totals,
		    "  counted     20,000 requests of 1 identity and others; tiers db, "
		    "queue; 3 tasks of 1 location\n");
}

static void says_what_is_missing(void **state)
{
	struct totals_fixture fixture = {0};

	(void)state;
	(void)fixture_task(&fixture, "t", 5, 0, 1);
	fixture.totals.misuse[0] = 2;
	fixture.totals.lost_names = 4;
	fixture.totals.lost_threads = 3;
	assert_says(
		&fixture.totals,
		"  counted     1 task of 1 location\n"
		"              not all was counted by its name: 4 counted as other, 3 threads not "
		"counted\n"
		"              ignored calls of wick.h: 2 ends of requests that were not begun\n");
}

static void says_that_a_signal_kept_the_last_counts_from_being_read(void **state)
{
	struct totals_fixture fixture = {0};

	(void)state;
	assert_tells(&fixture.totals, true, "");
	(void)fixture_task(&fixture, "t", 5, 0, 1);
	assert_tells(&fixture.totals, true,
		     "  counted     1 task of 1 location\n"
		     "              up to the last second before the signal is not counted\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_nothing_of_programs_that_count_nothing),
		cmocka_unit_test(says_what_programs_counted),
		cmocka_unit_test(says_what_is_missing),
		cmocka_unit_test(says_that_a_signal_kept_the_last_counts_from_being_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
