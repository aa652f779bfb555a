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
		cmocka_unit_test(sees_others_but_not_wick_itself),
		cmocka_unit_test(says_that_there_is_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
