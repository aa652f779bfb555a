/* nearly_idle_test.c - threads without a timer of their own get all their CPU time sampled, once */
#include "sampler/handler/nearly_idle.h"

#include "sampler/handler/sys/clock.h"
#include "sampler/handler/timer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#define PERIOD   UINT64_C(4000000)
#define NO_TIMER 1000000 /* an unused id */

static struct ring_header header;
static struct ring_slot ring;
static struct process process = {.header = &header};
static struct slot_own *own = (struct slot_own *)ring.own;
static struct slot slot = {.ring = &ring, .own = (struct slot_own *)ring.own};

static void begin(uint32_t discovery, uint32_t engine)
{
	process.discovery = discovery;
	header.engine = engine;
	process.account_ns = 0;
	process.n_ended = 0;
	*own = (struct slot_own){.timer = 0};
}

static void thread_ends(void)
{
	own->timer = NO_TIMER;
	timer_delete_ended(&process, &slot);
	assert_int_equal(own->timer, 0);
}

/* Return: periods that a thread which begins now stands for besides its own. */
static uint32_t inherited(void)
{
	struct slot heir = slot;

	own->extra = 0;
	nearly_idle_inherit(&process, &heir, PERIOD);
	nearly_idle_sampled(&process, own->extra * PERIOD);
	return own->extra;
}

static void a_new_thread_gives_what_an_ended_one_left(void **state)
{
	(void)state;
	begin(DISCOVERY_TIMER, RING_ENGINE_CTIMER);
	nearly_idle_add_cpu(&process, 10 * PERIOD);
	nearly_idle_sampled(&process, 9 * PERIOD);
	thread_ends();
	assert_int_equal(inherited(), 1);
	thread_ends();
	assert_int_equal(inherited(), 0);
}

static void parts_of_a_period_add_up(void **state)
{
	uint32_t sum = 0;

	(void)state;
	begin(DISCOVERY_TIMER, RING_ENGINE_CTIMER);
	for (int i = 0; i < 100; i++) {
		nearly_idle_add_cpu(&process, 8 * PERIOD);
		nearly_idle_sampled(&process, 7 * PERIOD + PERIOD / 2);
		thread_ends();
		sum += inherited();
	}
	assert_int_equal(sum, 50);
}

/* A thread that blocks the signal is not given to others, nor is what is only late. */
static void an_ended_thread_left_two_periods_at_most(void **state)
{
	(void)state;
	begin(DISCOVERY_TIMER, RING_ENGINE_CTIMER);
	nearly_idle_add_cpu(&process, 100 * PERIOD);
	assert_int_equal(inherited(), 0);
	thread_ends();
	assert_int_equal(inherited(), 2);
	assert_int_equal(inherited(), 0);
	thread_ends();
	thread_ends();
	assert_int_equal(inherited(), 4);
}

/* It is found before the process timer has said what it used. */
static void an_ended_thread_that_left_nothing_yet_is_remembered(void **state)
{
	(void)state;
	begin(DISCOVERY_TIMER, RING_ENGINE_CTIMER);
	thread_ends();
	thread_ends();
	assert_int_equal(inherited(), 0);
	nearly_idle_add_cpu(&process, 3 * PERIOD);
	assert_int_equal(inherited(), 3);
	nearly_idle_add_cpu(&process, 3 * PERIOD);
	assert_int_equal(inherited(), 0);
}

static void what_was_given_too_early_is_not_given_again(void **state)
{
	(void)state;
	begin(DISCOVERY_TIMER, RING_ENGINE_CTIMER);
	nearly_idle_sampled(&process, 3 * PERIOD);
	nearly_idle_add_cpu(&process, 3 * PERIOD + PERIOD / 2);
	thread_ends();
	assert_int_equal(inherited(), 0);
}

static void a_slot_without_a_timer_left_nothing(void **state)
{
	(void)state;
	begin(DISCOVERY_TIMER, RING_ENGINE_CTIMER);
	nearly_idle_add_cpu(&process, 5 * PERIOD);
	timer_delete_ended(&process, &slot);
	assert_int_equal(inherited(), 0);
}

/* Hooks keep the account themselves; events count what their threads used. */
static void others_keep_no_such_account(void **state)
{
	static const uint32_t ways[][2] = {{DISCOVERY_HOOKS, RING_ENGINE_CTIMER},
					   {DISCOVERY_TIMER, RING_ENGINE_PERF}};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		begin(ways[i][0], ways[i][1]);
		nearly_idle_add_cpu(&process, 5 * PERIOD);
		thread_ends();
		assert_int_equal(inherited(), 0);
		assert_int_equal(process.account_ns, 0);
	}
}

/* Its timer is not wanted here: only what its next sample stands for. */
static void begin_late(uint32_t discovery, uint64_t process_due_ns)
{
	begin(discovery, RING_ENGINE_CTIMER);
	header.non_cpu_event = 1;
	process.period_ns = PERIOD;
	process.account_since_ns = 0;
	own->period_ns = PERIOD;
	nearly_idle_add_cpu(&process, process_due_ns);
	while (clock_thread_cpu_ns() < 20 * PERIOD)
		;
}

static void a_thread_that_no_hit_met_gives_what_it_used(void **state)
{
	uint64_t before;
	uint64_t after;

	(void)state;
	begin_late(DISCOVERY_TIMER, 1000 * PERIOD);
	before = clock_thread_cpu_ns() / PERIOD;
	nearly_idle_arm(&process, &slot, (uint32_t)gettid());
	after = clock_thread_cpu_ns() / PERIOD;
	assert_in_range(own->extra, before, after);
	assert_true(before >= 20);
}

static void no_more_than_the_process_has_left(void **state)
{
	(void)state;
	begin_late(DISCOVERY_TIMER, 3 * PERIOD + PERIOD / 2);
	nearly_idle_arm(&process, &slot, (uint32_t)gettid());
	assert_int_equal(own->extra, 3);
}

static void what_it_used_before_the_account_is_not_given(void **state)
{
	(void)state;
	begin_late(DISCOVERY_TIMER, 1000 * PERIOD);
	process.account_since_ns = clock_process_cpu_ns();
	nearly_idle_arm(&process, &slot, (uint32_t)gettid());
	assert_int_equal(own->extra, 0);
}

static void hooks_miss_no_thread(void **state)
{
	(void)state;
	begin_late(DISCOVERY_HOOKS, 1000 * PERIOD);
	nearly_idle_arm(&process, &slot, (uint32_t)gettid());
	assert_int_equal(own->extra, 0);
}

/* Two hits: what lies before the first and between them is given, but for what the hits stand for.
 */
static void hits_that_come_late_are_made_good(void **state)
{
	struct tick tick = {.weight = 1, .tid = (uint32_t)gettid()};
	uint64_t first_ns;
	uint64_t second_ns;

	(void)state;
	begin_late(DISCOVERY_TIMER, 1000 * PERIOD);
	tick.now_ns = clock_now_ns();
	nearly_idle_settle(&process, &slot, &tick);
	first_ns = clock_thread_cpu_ns();
	assert_int_equal(own->extra, 0); /* one hit says nothing of how it runs */
	assert_in_range(own->late_ns, (int64_t)(first_ns - 2 * PERIOD),
			(int64_t)(first_ns - PERIOD));
	while (clock_thread_cpu_ns() < first_ns + 10 * PERIOD)
		;
	tick.now_ns = clock_now_ns();
	nearly_idle_settle(&process, &slot, &tick);
	second_ns = clock_thread_cpu_ns();
	assert_in_range(own->extra, second_ns / PERIOD - 4, second_ns / PERIOD - 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_thread_gives_what_an_ended_one_left),
		cmocka_unit_test(parts_of_a_period_add_up),
		cmocka_unit_test(an_ended_thread_left_two_periods_at_most),
		cmocka_unit_test(an_ended_thread_that_left_nothing_yet_is_remembered),
		cmocka_unit_test(what_was_given_too_early_is_not_given_again),
		cmocka_unit_test(a_slot_without_a_timer_left_nothing),
		cmocka_unit_test(others_keep_no_such_account),
		cmocka_unit_test(a_thread_that_no_hit_met_gives_what_it_used),
		cmocka_unit_test(no_more_than_the_process_has_left),
		cmocka_unit_test(what_it_used_before_the_account_is_not_given),
		cmocka_unit_test(hooks_miss_no_thread),
		cmocka_unit_test(hits_that_come_late_are_made_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
