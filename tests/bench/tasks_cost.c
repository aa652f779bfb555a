/*
 * tasks_cost.c - what each call of wick.h costs, when nobody records and when somebody does
 *
 * The median of some rounds, of the CPU time of this thread.  Recording is what a collector does:
 * it writes a time far ahead into the state.
 */
#include "base/units.h"
#include "sampler/include/wick.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 101, CALLS = 20000 };

static struct wick_task tasks[2];

static uint64_t cpu_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* What a loop costs whose body the compiler does not take away. */
static void nothing(void)
{
	for (int i = 0; i < CALLS; i++)
		__asm__ volatile("" ::: "memory");
}

static void clock_reading(void)
{
	for (int i = 0; i < CALLS; i++) {
		uint64_t now = wick_ticks();

		__asm__ volatile("" : : "r"(now) : "memory");
	}
}

static void request(void)
{
	struct wick_request r;

	for (int i = 0; i < CALLS; i++) {
		wick_request_begin(&r, "GET /users");
		__asm__ volatile("" ::: "memory");
		wick_request_end(&r);
	}
}

static void tier(void)
{
	for (int i = 0; i < CALLS; i++)
		WICK_TIER("db")
		{
			__asm__ volatile("" ::: "memory");
		}
}

static void tier_of_request(void)
{
	struct wick_request r;

	wick_request_begin(&r, "GET /users");
	tier();
	wick_request_end(&r);
}

static __attribute__((noinline)) void profiled(void)
{
	WICK_PROFILE_FN;
	__asm__ volatile("" ::: "memory");
}

static void function(void)
{
	for (int i = 0; i < CALLS; i++)
		profiled();
}

static void run_and_suspend(void)
{
	for (int i = 0; i < CALLS; i++) {
		wick_task_run(&tasks[i & 1]);
		__asm__ volatile("" ::: "memory");
		wick_task_suspend(&tasks[i & 1]);
	}
}

static void task_switch(void)
{
	wick_task_run(&tasks[0]);
	for (int i = 0; i < CALLS; i++)
		wick_task_switch(&tasks[i & 1], &tasks[~i & 1]);
	wick_task_suspend(&tasks[0]);
}

static void create_and_finish(void)
{
	struct wick_task task;

	for (int i = 0; i < CALLS; i++) {
		wick_task_create(&task, "short");
		__asm__ volatile("" ::: "memory");
		wick_task_finish(&task, WICK_COMPLETED);
	}
}

static void context(void)
{
	for (int i = 0; i < CALLS; i++) {
		struct wick_context c = wick_context_get();

		(void)wick_context_set(c);
		__asm__ volatile("" ::: "memory");
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median; what else runs adds to it, but not to the least, *ret_least. */
static double median_ns(void (*loop)(void), double *ret_least)
{
	double each[ROUNDS];

	loop();
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begun = cpu_ns();

		loop();
		each[round] = (double)(cpu_ns() - begun) / CALLS;
	}
	qsort(each, ROUNDS, sizeof(each[0]), compare);
	*ret_least = each[0];
	return each[ROUNDS / 2];
}

static void record(int on)
{
	wick_state_1.clock = 1;
	wick_state_1.session = 1;
	wick_state_1.mult = (UINT64_C(1) << 32) / 2;
	wick_state_1.until = on ? UINT64_MAX : 0;
}

static const struct {
	const char *name;
	void (*loop)(void);
} costs[] = {
	{"one reading of the clock", clock_reading},
	{"request: begin, end", request},
	{"tier: enter, leave", tier},
	{"tier in a request", tier_of_request},
	{"WICK_PROFILE_FN", function},
	{"task: run, suspend", run_and_suspend},
	{"task: switch", task_switch},
	{"task: create, finish", create_and_finish},
	{"context: get, set", context},
};

int main(void)
{
	double off[sizeof(costs) / sizeof(costs[0])];
	double least;
	double loop_ns = median_ns(nothing, &least);

	for (int i = 0; i < 2; i++)
		wick_task_create(&tasks[i], i ? "second" : "first");
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
		off[i] = median_ns(costs[i].loop, &least) - loop_ns;
	record(1);
	for (int i = 0; i < 2; i++)
		wick_task_create(&tasks[i], i ? "second" : "first");
	printf("  %-26s %12s %9s %6s\n", "ns, of one pair of calls", "not recorded", "recorded",
	       "least");
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		double on = median_ns(costs[i].loop, &least);

		printf("  %-26s %12.2f %9.1f %6.1f\n", costs[i].name, off[i], on - loop_ns,
		       least - loop_ns);
	}
	return 0;
}
