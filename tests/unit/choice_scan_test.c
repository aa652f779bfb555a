/* choice_scan_test.c - processes as /proc tells them, ours and made up */
#include "sampler/collector/choice_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void reads_a_stat_with_any_name(void **state)
{
	static const char text[] = "42 (a) R 1 ) (b) S 7 1 1 0 -1 4194560 10 0 5 0 3 4 0 0 20 0 1 "
				   "0 123456 9000000 77 18446744073709551615 1 1 0\n";
	struct choice_stat stat;

	(void)state;
	assert_true(choice_parse_stat(text, &stat));
	assert_int_equal(stat.state, 'S');
	assert_false(stat.of_kernel);
	assert_int_equal(stat.faults, 15);
	assert_int_equal(stat.start, 123456);
	assert_int_equal(stat.rss_pages, 77);
}

static void knows_a_thread_of_the_kernel(void **state)
{
	static const char text[] = "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 7 0 "
				   "0 18446744073709551615 0 0\n";
	struct choice_stat stat;

	(void)state;
	assert_true(choice_parse_stat(text, &stat));
	assert_true(stat.of_kernel);
}

static void refuses_what_is_no_stat(void **state)
{
	static const char *const texts[] = {"",
					    "1",
					    "1 (a",
					    "1 (a)",
					    "1 (a) S",
					    "1 (a) S x",
					    "1 (a) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 0"};
	struct choice_stat stat;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(choice_parse_stat(texts[i], &stat));
}

static bool was_seen(struct choice *choice, pid_t pid)
{
	return map_get(&choice->processes, (uint64_t)pid) != NULL;
}

static void sees_others_but_not_wick_itself(void **state)
{
	static const enum collector_by kinds[] = {BY_CPU, BY_RSS, BY_FAULTS, BY_RUN_DELAY, BY_IO};
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		(void)pause();
		_exit(0);
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct collector_top options = {.n = 1, .by = kinds[i], .interval_ns = 1};
		struct choice choice;

		choice_init(&choice, &options);
		for (int look = 0; look < 2; look++) { /* the second time it has used nothing */
			choice_begin(&choice);
			assert_int_equal(choice_scan(&choice, "/proc"), 0);
		}
		assert_true(was_seen(&choice, child));
		assert_false(was_seen(&choice, getpid()));
		assert_false(was_seen(&choice, 2)); /* of the kernel, or of nobody */
		choice_release(&choice);
	}
	(void)kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void says_that_there_is_no_list(void **state)
{
	const struct collector_top options = {.n = 1, .interval_ns = 1};
	struct choice choice;

	(void)state;
	choice_init(&choice, &options);
	choice_begin(&choice);
	assert_int_equal(choice_scan(&choice, "/proc/none"), -ENOENT);
	choice_release(&choice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_stat_with_any_name),
		cmocka_unit_test(knows_a_thread_of_the_kernel),
		cmocka_unit_test(refuses_what_is_no_stat),
		cmocka_unit_test(sees_others_but_not_wick_itself),
		cmocka_unit_test(says_that_there_is_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
