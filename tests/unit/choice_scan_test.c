/* choice_scan_test.c - processes as /proc tells them, ours and made up */
#include "child_fixture.h"
#include "sampler/collector/select/choice.h"
#include "sampler/include/wick.h"

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

static bool was_seen(struct choice *choice, pid_t pid)
{
	return map_get(&choice->processes, (uint64_t)pid) != NULL;
}

static void sees_others_but_not_wick_itself(void **state)
{
	static const enum collector_by kinds[] = {BY_CPU, BY_RSS, BY_FAULTS, BY_RUN_DELAY, BY_IO};
	pid_t child = child_start_paused();

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct collector_top options = {.n = 1, .by = kinds[i], .interval_ns = 1};
		struct choice choice;

		choice_init(&choice, &options);
		for (int look = 0; look < 2; look++) { /* the second time it has used nothing */
			choice_begin(&choice);
			assert_int_equal(choice_scan(&choice, NULL, "/proc"), 0);
		}
		assert_true(was_seen(&choice, child));
		assert_false(was_seen(&choice, getpid()));
		assert_false(was_seen(&choice, 2)); /* of the kernel, or unused */
		choice_release(&choice);
	}
	child_end(child);
}

static volatile int64_t depth = 42;

static void reads_a_gauge_in_every_process_that_has_it(void **state)
{
	struct choice_gauges gauges = {.name = "choice_depth"};
	struct choice_gauges others = {.name = "choice_width"};
	pid_t child;

	(void)state;
	wick_gauge("choice_depth", &depth);
	child = child_start_paused();
	assert_int_equal(choice_gauges_read(&gauges, child, 1), 42);
	assert_int_equal(choice_gauges_read(&others, child, 1), 0);
	choice_gauges_sweep(&gauges); /* it was read */
	assert_int_equal(map_count(&gauges.readers), 1);
	assert_int_equal(choice_gauges_read(&gauges, child, 2), 42);
	assert_int_equal(map_count(&gauges.readers), 1);
	choice_gauges_sweep(&gauges);
	choice_gauges_sweep(&gauges); /* it was not */
	assert_int_equal(map_count(&gauges.readers), 0);
	child_end(child);
	assert_int_equal(choice_gauges_read(&gauges, child, 1), 0);
	choice_gauges_release(&gauges);
	choice_gauges_release(&others);
}

static void says_that_there_is_no_list(void **state)
{
	const struct collector_top options = {.n = 1, .interval_ns = 1};
	struct choice choice;

	(void)state;
	choice_init(&choice, &options);
	choice_begin(&choice);
	assert_int_equal(choice_scan(&choice, NULL, "/proc/none"), -ENOENT);
	choice_release(&choice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sees_others_but_not_wick_itself),
		cmocka_unit_test(reads_a_gauge_in_every_process_that_has_it),
		cmocka_unit_test(says_that_there_is_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
