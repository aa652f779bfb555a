/* wick_chroprof_test.c - tasks under a virtual clock: the numbers of chroprof's own tests, its
 * profiler's, of the order of events and of its collector (status-im/nim-chroprof, tests) */
#include "tests/unit/wick_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void pass_paused(struct wick_task *task, uint64_t ticks)
{
	wick_task_suspend(task);
	wick_fixture_pass(ticks);
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

/* A child that pauses, and that its parent waits for. */
static void pausing(struct wick_task *parent, const char *name, uint64_t pause)
{
	struct wick_task task;

	wick_fixture_run(&task, name);
	wick_fixture_pass(10);
	wick_task_suspend(&task);
	pass_paused(parent, pause);
	wick_task_suspend(parent);
	wick_task_run(&task);
	wick_fixture_pass(10);
	wick_task_finish(&task, WICK_COMPLETED);
	wick_task_run(parent);
}

static void a_task_that_never_pauses_runs_all_the_time(void **state)
{
	(void)state;
	wick_fixture_block("simple", 50);
	assert_times("simple", 50, 0, 50);
	assert_int_equal(wick_fixture_row("simple").calls, 1);
}

static void a_pause_is_wall_time_alone(void **state)
{
	struct wick_task task;

	(void)state;
	wick_fixture_run(&task, "one_pause");
	wick_fixture_pass(10);
	pass_paused(&task, 50);
	wick_fixture_pass(10);
	wick_task_finish(&task, WICK_COMPLETED);
	assert_times("one_pause", 20, 0, 70);
}

static void all_parts_between_pauses_add_up(void **state)
{
	struct wick_task task;

	(void)state;
	wick_fixture_run(&task, "two_pauses");
	wick_fixture_pass(10);
	pass_paused(&task, 50);
	wick_fixture_pass(10);
	pass_paused(&task, 50);
	wick_fixture_pass(10);
	wick_task_finish(&task, WICK_COMPLETED);
	assert_times("two_pauses", 30, 0, 130);
}

static void a_blocking_child_is_not_the_parent(void **state)
{
	struct wick_task parent;

	(void)state;
	wick_fixture_run(&parent, "parent");
	wick_fixture_pass(10);
	wick_fixture_block("child", 10);
	wick_fixture_pass(10);
	wick_task_finish(&parent, WICK_COMPLETED);
	assert_times("parent", 20, 10, 30);
	assert_times("child", 10, 0, 10);
}

static void a_pausing_child_is_not_the_parent(void **state)
{
	struct wick_task parent;

	(void)state;
	wick_fixture_run(&parent, "parent");
	wick_fixture_pass(10);
	pausing(&parent, "child", 50);
	wick_fixture_pass(10);
	wick_task_finish(&parent, WICK_COMPLETED);
	assert_times("parent", 20, 20, 90);
	assert_times("child", 20, 0, 70);
}

static void children_of_both_kinds_add_up(void **state)
{
	struct wick_task parent;

	(void)state;
	wick_fixture_run(&parent, "parent");
	for (int i = 0; i < 2; i++) {
		wick_fixture_pass(10);
		wick_fixture_block("blocking", 10);
		wick_fixture_pass(10);
		pausing(&parent, "pausing", 20);
	}
	wick_fixture_pass(10);
	wick_task_finish(&parent, WICK_COMPLETED);
	assert_times("parent", 50, 60, 150);
	assert_times("blocking", 20, 0, 20);
	assert_times("pausing", 40, 0, 80);
}

static void a_child_that_fails_counts(void **state)
{
	struct wick_task parent;
	struct wick_task child;

	(void)state;
	wick_fixture_run(&parent, "parent");
	wick_fixture_pass(10);
	wick_fixture_run(&child, "child");
	wick_fixture_pass(10);
	wick_task_finish(&child, WICK_FAILED);
	wick_fixture_pass(10);
	wick_task_finish(&parent, WICK_COMPLETED);
	assert_times("parent", 20, 10, 30);
	assert_times("child", 10, 0, 10);
	assert_int_equal(wick_fixture_row("child").failed, 1);
	assert_int_equal(wick_fixture_row("child").calls, 1);
}

static void a_child_may_be_cancelled_while_it_is_paused(void **state)
{
	struct wick_task parent;
	struct wick_task child;

	(void)state;
	wick_fixture_run(&parent, "parent");
	wick_fixture_pass(10);
	wick_fixture_run(&child, "child");
	wick_fixture_pass(10);
	wick_task_suspend(&child);
	wick_fixture_pass(10);
	wick_task_finish(&child, WICK_CANCELLED);
	wick_fixture_pass(10);
	wick_task_finish(&parent, WICK_COMPLETED);
	assert_times("parent", 30, 10, 40);
	assert_times("child", 10, 0, 20);
	assert_int_equal(wick_fixture_row("child").cancelled, 1);
	assert_int_equal(wick_fixture_row("child").calls, 1);
}

static void calls_are_counted(void **state)
{
	struct wick_task parent;

	(void)state;
	wick_fixture_run(&parent, "parent");
	for (int i = 0; i < 10; i++)
		wick_fixture_block("child", 1);
	wick_task_finish(&parent, WICK_COMPLETED);
	assert_int_equal(wick_fixture_row("parent").calls, 1);
	assert_int_equal(wick_fixture_row("child").calls, 10);
}

static void the_longest_of_a_location_is_kept(void **state)
{
	struct wick_task parent;

	(void)state;
	wick_fixture_run(&parent, "parent");
	wick_fixture_block("child", 10);
	wick_fixture_block("child", 50);
	wick_fixture_block("child", 30);
	wick_task_finish(&parent, WICK_COMPLETED);
	assert_int_equal(wick_fixture_row("child").max, 50);
	assert_int_equal(wick_fixture_row("parent").max, 0);
}

static void what_runs_after_a_failure_counts(void **state)
{
	struct wick_task task;

	(void)state;
	wick_fixture_run(&task, "with_finally");
	wick_fixture_pass(10);
	pass_paused(&task, 5);
	wick_fixture_pass(10); /* it fails here, and cleans up */
	pass_paused(&task, 5);
	wick_fixture_pass(10);
	wick_task_finish(&task, WICK_FAILED);
	assert_times("with_finally", 30, 0, 40);
}

static void tasks_that_never_run_are_stillborn(void **state)
{
	struct wick_task tasks[3];
	struct wick_fixture_row row;

	(void)state;
	for (int i = 0; i < 3; i++)
		wick_task_create(&tasks[i], "task");
	wick_task_finish(&tasks[0], WICK_COMPLETED);
	wick_task_finish(&tasks[1], WICK_CANCELLED);
	row = wick_fixture_row("task");
	assert_int_equal(row.stillborn, 2);
	assert_int_equal(row.calls, 0);
	assert_int_equal(row.begun - row.calls - row.stillborn, 1);
}

static void children_may_finish_after_their_parent(void **state)
{
	struct wick_task parent;
	struct wick_task child;

	(void)state;
	wick_fixture_run(&parent, "parent");
	wick_fixture_run(&child, "child");
	wick_task_suspend(&child);
	wick_fixture_pass(10);
	wick_task_finish(&parent, WICK_COMPLETED);
	wick_task_run(&child);
	wick_fixture_pass(20);
	wick_task_finish(&child, WICK_COMPLETED);
	assert_times("parent", 10, 20, 10);
	assert_times("child", 20, 0, 30);
}

static void children_of_children_count_once_for_each_above(void **state)
{
	struct wick_task grandparent;
	struct wick_task parent;

	(void)state;
	wick_fixture_run(&grandparent, "grandparent");
	wick_fixture_pass(10);
	wick_fixture_run(&parent, "parent");
	wick_fixture_pass(10);
	wick_fixture_block("child", 10);
	wick_fixture_pass(10);
	wick_task_finish(&parent, WICK_COMPLETED);
	wick_fixture_pass(10);
	wick_task_finish(&grandparent, WICK_COMPLETED);
	assert_times("grandparent", 20, 30, 50);
	assert_times("parent", 20, 10, 30);
	assert_times("child", 10, 0, 10);
}

/* The order of events: what chroprof's callback sees is what the table says after each call. */

static void a_simple_task_is_created_runs_and_completes(void **state)
{
	struct wick_task task;

	(void)state;
	wick_task_create(&task, "simple");
	assert_int_equal(wick_fixture_row("simple").begun, 1);
	assert_string_equal(wick_fixture_task(), "");
	wick_task_run(&task);
	assert_string_equal(wick_fixture_task(), "simple");
	assert_int_equal(wick_fixture_row("simple").calls, 0);
	wick_task_finish(&task, WICK_COMPLETED);
	assert_int_equal(wick_fixture_row("simple").calls, 1);
	assert_string_equal(wick_fixture_task(), "");
}

static void a_child_completes_before_its_parent_runs_again(void **state)
{
	struct wick_task parent;
	struct wick_task sleeper;

	(void)state;
	wick_fixture_run(&parent, "parent");
	wick_task_create(&sleeper, "sleep");
	wick_task_suspend(&parent);
	assert_string_equal(wick_fixture_task(), "");
	wick_task_finish(&sleeper, WICK_COMPLETED);
	assert_int_equal(wick_fixture_row("sleep").stillborn, 1);
	wick_task_run(&parent);
	assert_string_equal(wick_fixture_task(), "parent");
	wick_task_finish(&parent, WICK_COMPLETED);
}

static void pauses_go_from_the_innermost_outwards(void **state)
{
	static const char *const names[] = {"outer", "middle", "inner"};
	struct wick_task tasks[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		wick_fixture_run(&tasks[i], names[i]);
		assert_string_equal(wick_fixture_task(), names[i]);
	}
	for (int i = 2; i > 0; i--) {
		wick_task_suspend(&tasks[i]);
		assert_string_equal(wick_fixture_task(), names[i - 1]);
	}
	wick_task_suspend(&tasks[0]);
	assert_string_equal(wick_fixture_task(), "");
	for (int i = 2; i >= 0; i--) {
		wick_task_run(&tasks[i]);
		wick_task_finish(&tasks[i], WICK_COMPLETED);
		assert_int_equal(wick_fixture_row(names[i]).calls, 1);
	}
}

static void a_task_completes_only_when_its_cleanup_has_ended(void **state)
{
	struct wick_task task;

	(void)state;
	wick_fixture_run(&task, "task");
	pass_paused(&task, 10); /* it is cancelled here, and waits in its cleanup */
	assert_int_equal(wick_fixture_row("task").calls, 0);
	pass_paused(&task, 10);
	assert_int_equal(wick_fixture_row("task").calls, 0);
	wick_task_finish(&task, WICK_CANCELLED);
	assert_int_equal(wick_fixture_row("task").calls, 1);
}

/* The collector of chroprof exports the heaviest by exec with children, and none without any. */
static void rows_tell_the_heaviest_locations(void **state)
{
	static const struct {
		const char *name;
		uint64_t exec;
		uint64_t children;
	} rows[] = {{"a", 122000, 22155}, {"b", 142106, 0}, {"c", 100000, 33579}, {"d", 10, 0}};
	struct wick_task idle;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct wick_task task;

		wick_fixture_run(&task, rows[i].name);
		wick_fixture_pass(rows[i].exec);
		if (rows[i].children)
			wick_fixture_block("child", rows[i].children);
		wick_task_finish(&task, WICK_COMPLETED);
	}
	wick_fixture_run(&idle, "idle");
	wick_task_finish(&idle, WICK_COMPLETED);
	for (int i = 0; i < 4; i++) {
		struct wick_fixture_row row = wick_fixture_row(rows[i].name);

		assert_int_equal(row.exec + row.children, rows[i].exec + rows[i].children);
	}
	assert_int_equal(wick_fixture_row("a").exec + wick_fixture_row("a").children, 144155);
	assert_int_equal(wick_fixture_row("c").exec + wick_fixture_row("c").children, 133579);
	assert_int_equal(wick_fixture_row("idle").exec + wick_fixture_row("idle").children, 0);
}

static void rows_grow_between_readings(void **state)
{
	(void)state;
	wick_fixture_block("again", 10);
	assert_times("again", 10, 0, 10);
	assert_times("again", 10, 0, 10);
	wick_fixture_block("again", 7);
	assert_times("again", 17, 0, 17);
}

static void what_never_ran_has_no_row(void **state)
{
	(void)state;
	wick_fixture_block("there", 1);
	assert_times("not there", 0, 0, 0);
	assert_int_equal(wick_fixture_row("not there").begun, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, wick_fixture_setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_task_that_never_pauses_runs_all_the_time),
		TEST(a_pause_is_wall_time_alone),
		TEST(all_parts_between_pauses_add_up),
		TEST(a_blocking_child_is_not_the_parent),
		TEST(a_pausing_child_is_not_the_parent),
		TEST(children_of_both_kinds_add_up),
		TEST(a_child_that_fails_counts),
		TEST(a_child_may_be_cancelled_while_it_is_paused),
		TEST(calls_are_counted),
		TEST(the_longest_of_a_location_is_kept),
		TEST(what_runs_after_a_failure_counts),
		TEST(tasks_that_never_run_are_stillborn),
		TEST(children_may_finish_after_their_parent),
		TEST(children_of_children_count_once_for_each_above),
		TEST(a_simple_task_is_created_runs_and_completes),
		TEST(a_child_completes_before_its_parent_runs_again),
		TEST(pauses_go_from_the_innermost_outwards),
		TEST(a_task_completes_only_when_its_cleanup_has_ended),
		TEST(rows_tell_the_heaviest_locations),
		TEST(rows_grow_between_readings),
		TEST(what_never_ran_has_no_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
