/* due_test.c - the drain thread sleeps until there is something to do */
#include "base/units.h"
#include "sampler/collector/control/poll_interval.h"
#include "sampler/collector/drain/due.h"

#include "sampler/collector/drain/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define NOW_NS (1000 * NS_PER_S)

static const struct poll_interval_pass calm = {
	.now_ns = NOW_NS, .period_ns = NS_PER_S / 99, .n_slots = 1};

static struct collector collector;
static struct due *const due = &collector.drain.due;

/* After a pass that found nothing. */
static int set_up(void **state)
{
	(void)state;
	memset(&collector, 0, sizeof(collector));
	collector.drain.poll_interval = (struct poll_interval){.most_ms = PASS_READING_MS};
	due_plan(&collector, &calm, UINT64_MAX);
	return 0;
}

static void checks_for_changes_and_passes_without_them(void **state)
{
	uint64_t changes_ns = NOW_NS + PASS_READING_MS * NS_PER_MS;
	uint64_t pass_ns = NOW_NS + PASS_MOST_MS * NS_PER_MS;

	(void)state;
	assert_int_equal(due_wake_ns(due), changes_ns);
	assert_false(due_is(&collector.drain, changes_ns - 1));
	assert_false(due_is(&collector.drain, changes_ns)); /* there are none */
	assert_int_equal(due_wake_ns(due), changes_ns + PASS_READING_MS * NS_PER_MS);
	assert_false(due_is(&collector.drain, pass_ns - 1));
	assert_int_equal(due_wake_ns(due), pass_ns);
	assert_true(due_is(&collector.drain, pass_ns));
}

static void changes_cause_a_pass(void **state)
{
	static const struct collector_options options = {.hz = 99, .discovery = DISCOVERY_TIMER};
	uint64_t changes_ns = due_wake_ns(due);
	struct process *process;
	struct ring_header *header;

	(void)state;
	assert_int_equal(process_new(&process, 1, getpid(), &options, NULL), 0);
	header = process->ring.header;
	collector.drain.processes = process;
	atomic_store(&header->n_chunks, 5);
	atomic_store(&header->n_slots, 65);
	assert_false(due_is(&collector.drain, changes_ns));
	atomic_store(&header->changed[1], 1);
	assert_false(due_is(&collector.drain, due_wake_ns(due) - 1));
	assert_true(due_is(&collector.drain, due_wake_ns(due)));
	atomic_store(&header->n_slots, 64); /* of a slot that there is not */
	assert_false(due_is(&collector.drain, due_wake_ns(due)));
	process_free(process);
}

static void a_pending_barrier_limits_the_wait(void **state)
{
	(void)state;
	collector.drain.barrier_ns = NOW_NS - 1;
	due_plan(&collector, &calm, UINT64_MAX);
	assert_true(due_is(&collector.drain, NOW_NS - 1 + HOLD_BACK_MS * NS_PER_MS));
}

static void other_work_is_done_in_time(void **state)
{
	struct process process = {.pidfd = 3};
	struct drain *drain = &collector.drain;

	(void)state;
	due_plan(&collector, &calm, NOW_NS + 50);
	assert_int_equal(due_wake_ns(due), NOW_NS + 50);
	drain->wall_next_ns = NOW_NS + 40;
	due_plan(&collector, &calm, NOW_NS + 50);
	assert_int_equal(due_wake_ns(due), NOW_NS + 40);
	drain->n_attached = 1;
	drain->replaced_ns = NOW_NS + 30;
	due_plan(&collector, &calm, NOW_NS + 50);
	assert_int_equal(due_wake_ns(due), NOW_NS + 30);
	drain->usage.wanted = 1;
	drain->usage.next_ns = NOW_NS + 20;
	due_plan(&collector, &calm, NOW_NS + 50);
	assert_int_equal(due_wake_ns(due), NOW_NS + 20);
	drain->filter.top =
		(struct top){.options.n = 1, .ran = true, .rounds.late_ns = NOW_NS + 10};
	drain->processes = &process;
	due_plan(&collector, &calm, NOW_NS + 50);
	assert_int_equal(due_wake_ns(due), NOW_NS + 10);
}

/* Its date would be in the past, at every pass. */
static void work_that_has_to_wait_wakes_nobody(void **state)
{
	struct drain *drain = &collector.drain;

	(void)state;
	drain->wall_next_ns = NOW_NS - 1;
	drain->rate.pauses = PAUSE_ASKED;
	drain->filter.top = (struct top){.options.n = 1, .ran = true, .rounds.late_ns = NOW_NS - 1};
	due_plan(&collector, &calm, UINT64_MAX);
	assert_int_equal(due_wake_ns(due), NOW_NS + PASS_READING_MS * NS_PER_MS);
	drain->rate.pauses = 0;
	due_plan(&collector, &calm, UINT64_MAX);
	assert_int_equal(due_wake_ns(due), NOW_NS - 1);
}

static void an_end_that_nothing_tells_of_is_looked_for(void **state)
{
	(void)state;
	collector.child = 1;
	collector.drain.child_pidfd = -1;
	due_plan(&collector, &calm, UINT64_MAX);
	assert_int_equal(due_wake_ns(due), NOW_NS + PASS_MS * NS_PER_MS);
	collector.drain.child_ended = true;
	due_plan(&collector, &calm, UINT64_MAX);
	assert_int_equal(due_wake_ns(due), NOW_NS + PASS_READING_MS * NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(checks_for_changes_and_passes_without_them, set_up),
		cmocka_unit_test_setup(changes_cause_a_pass, set_up),
		cmocka_unit_test_setup(a_pending_barrier_limits_the_wait, set_up),
		cmocka_unit_test_setup(other_work_is_done_in_time, set_up),
		cmocka_unit_test_setup(work_that_has_to_wait_wakes_nobody, set_up),
		cmocka_unit_test_setup(an_end_that_nothing_tells_of_is_looked_for, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
