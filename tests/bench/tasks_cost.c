/*
 * tasks_cost.c - what each call of wick.h costs, when nobody records and when somebody does
 *
 * The median of some rounds, of the CPU time of this thread.  Recording is what a collector does:
 * it writes a time far ahead into the state.
 *
 * Where another hyperthread works on the same core, perhaps another machine's, all this takes 1.3
 * to 1.8 times as long, and so do additions that do not depend on one another.  These are timed
 * before and behind each round; "alone" is the median of the rounds in which they were quick both
 * times.
 */
#include "base/units.h"
#include "sampler/include/wick.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 2001, CALLS = 2000, FEW = 20 };

#define QUICK 1.3 /* of the quickest additions that were seen */

static struct wick_task tasks[2];
static double quickest_ns = 1e9; /* of the additions */

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

/* What takes longer when another hyperthread works on the core: it uses all of its adders. */
static void additions(void)
{
	uint64_t n[4] = {0};

	for (int i = 0; i < CALLS; i++)
		__asm__ volatile("add $1, %0\n add $1, %1\n add $1, %2\n add $1, %3\n"
				 "add $1, %0\n add $1, %1\n add $1, %2\n add $1, %3\n"
				 "add $1, %0\n add $1, %1\n add $1, %2\n add $1, %3\n"
				 : "+r"(n[0]), "+r"(n[1]), "+r"(n[2]), "+r"(n[3]));
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

static double once_ns(void (*loop)(void))
{
	uint64_t begun = cpu_ns();

	loop();
	return (double)(cpu_ns() - begun) / CALLS;
}

static double median(double *each, int n)
{
	qsort(each, (size_t)n, sizeof(each[0]), compare);
	return each[n / 2];
}

/* The median; *ret_alone: of the rounds that had the core alone, 0 when these are few. */
static double median_ns(void (*loop)(void), double *ret_alone)
{
	double each[ROUNDS];
	double alone[ROUNDS] = {0};
	double slower[ROUNDS];
	int n_alone = 0;

	loop();
	for (int round = 0; round < ROUNDS; round++) {
		double before = once_ns(additions);
		double after;

		each[round] = once_ns(loop);
		after = once_ns(additions);
		slower[round] = before > after ? before : after;
		quickest_ns = before < quickest_ns ? before : quickest_ns;
		quickest_ns = after < quickest_ns ? after : quickest_ns;
	}
	for (int round = 0; round < ROUNDS; round++)
		if (slower[round] <= QUICK * quickest_ns)
			alone[n_alone++] = each[round];
	*ret_alone = n_alone < FEW ? 0 : median(alone, n_alone);
	return median(each, ROUNDS);
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
	double alone;
	double loop_alone;
	double loop_ns = median_ns(nothing, &loop_alone);

	for (int i = 0; i < 2; i++)
		wick_task_create(&tasks[i], i ? "second" : "first");
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
		off[i] = median_ns(costs[i].loop, &alone) - loop_ns;
	record(1);
	for (int i = 0; i < 2; i++)
		wick_task_create(&tasks[i], i ? "second" : "first");
	printf("  %-26s %12s %9s %6s\n", "ns, of one pair of calls", "not recorded", "recorded",
	       "alone");
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		double on = median_ns(costs[i].loop, &alone);

		printf("  %-26s %12.2f %9.1f ", costs[i].name, off[i], on - loop_ns);
		if (alone > 0)
			printf("%6.1f\n", alone - loop_alone);
		else
			printf("%6s\n", "-");
	}
	return 0;
}
