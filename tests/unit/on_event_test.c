/* on_event_test.c - what a perf event's signal stands for when the rate has changed */
#include "sampler/handler/on_event.h"

#include "sampler/handler/sys/clock.h"
#include "sampler/handler/timer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROUNDS = 4000 };

#define MS UINT64_C(1000000)

static struct ring_header header;
static struct ring_slot ring;
static struct process process = {.header = &header, .state = AGENT_SAMPLING};
static struct slot_own *own = (struct slot_own *)ring.own;
static _Atomic uint64_t changed;

static void begin(uint64_t period_ns)
{
	header.live_period_ns = period_ns;
	header.epoch = 1;
	*own = (struct slot_own){
		.random = 77, .epoch = 1, .period_ns = period_ns, .ahead_ns = period_ns};
}

static void signal_comes(void)
{
	const ucontext_t elsewhere = {0};
	struct signal_target at = {.slot = {.ring = &ring, .own = own, .changed = &changed},
				   .tick.uc = &elsewhere};

	assert_true(slot_enter(&at.slot));
	(void)event_tick(&process, &at);
	slot_leave(&at.slot);
}

/* Return: by how much a change from OLD to NEW moves where samples stand. */
static int64_t change(uint64_t old_ns, uint64_t new_ns)
{
	uint64_t stood_ns = clock_thread_cpu_ns() - old_ns / 2;

	own->period_ns = old_ns;
	own->accounted_cpu_ns = stood_ns;
	header.live_period_ns = new_ns;
	header.epoch++;
	signal_comes();
	assert_int_equal(own->period_ns, new_ns);
	return (int64_t)(own->accounted_cpu_ns - stood_ns);
}

/* Half a period of each on average: a thread that ends anywhere has what it used in its samples. */
static void the_first_new_period_ends_at_random(void **state)
{
	static const uint64_t changes[][2] = {{MS, 64 * MS}, {64 * MS, MS}, {10 * MS, 20 * MS}};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		int64_t old_ns = (int64_t)changes[i][0];
		int64_t new_ns = (int64_t)changes[i][1];
		int64_t longer_ns = old_ns > new_ns ? old_ns : new_ns;
		int64_t sum_ns = 0;
		int64_t off_ns;

		begin((uint64_t)old_ns);
		for (int round = 0; round < ROUNDS; round++) {
			int64_t moved_ns = change((uint64_t)old_ns, (uint64_t)new_ns);

			assert_true(moved_ns > -new_ns && moved_ns <= old_ns);
			sum_ns += moved_ns;
		}
		off_ns = sum_ns / ROUNDS - (old_ns - new_ns) / 2;
		/* An even spread over the longer one: six deviations of the mean. */
		assert_true(off_ns < longer_ns / 30 && off_ns > -longer_ns / 30);
	}
}

static void the_same_rate_moves_nothing(void **state)
{
	(void)state;
	begin(10 * MS);
	assert_int_equal(change(10 * MS, 10 * MS), 0);
}

static void what_a_pause_explains_is_no_sample(void **state)
{
	uint64_t now_ns = clock_thread_cpu_ns();

	(void)state;
	begin(MS / 1000);
	own->accounted_cpu_ns = now_ns - 1000 * MS;
	header.epoch++;
	signal_comes();
	assert_true((int64_t)(own->accounted_cpu_ns - (now_ns - MS / 1000)) >= 0);
}

/* After a change samples may stand for a long old period too early. */
static void a_thread_that_is_ahead_is_still_itself(void **state)
{
	struct slot slot = {.ring = &ring, .own = own};

	(void)state;
	begin(64 * MS);
	ring.event = 5;
	(void)change(64 * MS, MS);
	own->accounted_cpu_ns = clock_thread_cpu_ns() + 64 * MS;
	assert_true(event_counts_caller(&process, &slot));
	own->accounted_cpu_ns = clock_thread_cpu_ns() + 5 * 64 * MS;
	assert_false(event_counts_caller(&process, &slot));
	assert_int_equal(ring.event, 0);
	/* Another change while it is ahead forgets nothing. */
	begin(2 * MS);
	ring.event = 5;
	own->accounted_cpu_ns = clock_thread_cpu_ns() + 64 * MS;
	header.live_period_ns = MS;
	header.epoch++;
	signal_comes();
	assert_true(event_counts_caller(&process, &slot));
}

/* Its timer has gone on at the tick meanwhile. */
static void an_event_that_is_gone_leaves_the_timer_with_a_period_of_its_own(void **state)
{
	struct slot slot = {.ring = &ring, .own = own};

	(void)state;
	begin(10 * MS);
	own->event = 5;
	header.live_period_ns = 20 * MS;
	event_closed(&process, &slot);
	assert_int_equal(own->event, 0);
	assert_int_equal(own->period_ns, 20 * MS);
	/* Where no call may set it, its expiries stand for what is between them. */
	begin(10 * MS);
	own->event = 5;
	process.state = AGENT_NO_SYSCALLS;
	event_closed(&process, &slot);
	process.state = AGENT_SAMPLING;
	assert_int_equal(own->event, 0);
	assert_int_equal(own->period_ns, MS);
}

static void what_was_used_in_a_pause_of_the_timer_is_no_events(void **state)
{
	struct slot slot = {.ring = &ring, .own = own};

	(void)state;
	begin(10 * MS);
	own->accounted_cpu_ns = clock_thread_cpu_ns() - 1000 * MS;
	header.paused = 1;
	timer_follow(&process, &slot);
	header.paused = 0;
	assert_true((int64_t)(clock_thread_cpu_ns() - own->accounted_cpu_ns) < (int64_t)(100 * MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_new_period_ends_at_random),
		cmocka_unit_test(the_same_rate_moves_nothing),
		cmocka_unit_test(what_a_pause_explains_is_no_sample),
		cmocka_unit_test(a_thread_that_is_ahead_is_still_itself),
		cmocka_unit_test(an_event_that_is_gone_leaves_the_timer_with_a_period_of_its_own),
		cmocka_unit_test(what_was_used_in_a_pause_of_the_timer_is_no_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
