/*
 * wick_tasks_test.c - what tasks are counted as, under a virtual clock
 *
 * The first tables of numbers are those of chroprof's own tests (status-im/nim-chroprof, tests/).
 */
#include "tests/unit/wick_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int begin(void **state)
{
	(void)state;
	wick_fixture_begin();
	return 0;
}

static void pass(uint64_t ticks)
{
	wick_fixture_now += ticks;
}

static void pass_paused(struct wick_task *task, uint64_t ticks)
{
	wick_task_suspend(task);
	pass(ticks);
	wick_task_run(task);
}

/* The row's exec, children and wall. */
static void assert_times(const char *name, uint64_t exec, uint64_t children, uint64_t wall)
{
	struct wick_fixture_row row = wick_fixture_row(name);

	assert_int_equal(row.exec, exec);
	assert_int_equal(row.children, children);
	assert_int_equal(row.wall, wall);
}

static void blocking(const char *name, uint64_t ticks)
{
	struct wick_task task;

	wick_task_create(&task, name);
	wick_task_run(&task);
	pass(ticks);
	wick_task_finish(&task, WICK_COMPLETED);
}

static void a_task_that_never_pauses_runs_all_the_time(void **state)
{
	(void)state;
	blocking("simple", 50);
	assert_times("simple", 50, 0, 50);
	assert_int_equal(wick_fixture_row("simple").calls, 1);
}

static void a_pause_is_wall_time_alone(void **state)
{
	struct wick_task task;

	(void)state;
	wick_task_create(&task, "one_pause");
	wick_task_run(&task);
	pass(10);
	pass_paused(&task, 50);
	pass(10);
	wick_task_finish(&task, WICK_COMPLETED);
	assert_times("one_pause", 20, 0, 70);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_task_that_never_pauses_runs_all_the_time, begin),
		cmocka_unit_test_setup(a_pause_is_wall_time_alone, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
