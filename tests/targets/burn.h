/* burn.h - work of a known amount, for target programs: nothing in it calls the kernel */
#ifndef TARGETS_BURN_H
#define TARGETS_BURN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * One function body under several names: equal iterations cost equal time.  It is a chain in a
 * register, since the time of a loop over memory varies by half with what the processor predicts
 * of it.
 */
#define BURN_FUNCTION(name)                                                                        \
	__attribute__((noinline, noclone, used)) void name(uint64_t iterations);                   \
	__attribute__((noinline, noclone, used)) void name(uint64_t iterations)                    \
	{                                                                                          \
		uint64_t chain = iterations;                                                       \
                                                                                                   \
		for (uint64_t i = 0; i < iterations; i++) {                                        \
			chain = (chain + i) ^ iterations;                                          \
			__asm__ volatile("" : "+r"(chain));                                        \
		}                                                                                  \
	}

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline double clock_seconds(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline double thread_seconds(void)
{
	return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * What ITIMER_PROF counts: the ticks that met this process, which on a busy machine are half as
 * many again as its CPU time.  A clock's number is ~pid << 3 and its kind, here CPUCLOCK_PROF,
 * which is 0 (linux/posix-timers_types.h).
 */
static inline double prof_seconds(void)
{
	return clock_seconds((clockid_t)(~0U << 3));
}

/* What the kernel's ticks saw of this thread: its CPU time up to the last that met it. */
struct ticks {
	double n_s; /* CPUCLOCK_PROF of the thread: a tick's length each */
	double cpu_s;
	double longest_s; /* of what it used from one to the next */
};

/* Return: CPU seconds from one tick to the last that met this thread; 0 when none has since the
 * last reading.  Where ticks are what a timer's end is found by, this is what can be found here. */
static inline double ticks_saw(struct ticks *ticks)
{
	double n_s = clock_seconds((clockid_t)(~0U << 3 | 4)); /* CPUCLOCK_PERTHREAD_MASK */
	double cpu_s = thread_seconds();
	double saw = n_s != ticks->n_s ? cpu_s - ticks->cpu_s : 0;

	ticks->n_s = n_s;
	ticks->cpu_s += saw;
	ticks->longest_s = saw > ticks->longest_s ? saw : ticks->longest_s;
	return saw;
}

/* What this thread has run, and waited for a processor, by the kernel. */
static inline void schedstat_seconds(double *ret_run, double *ret_delay)
{
	unsigned long long run = 0;
	unsigned long long delay = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "re");

	if (!file || fscanf(file, "%llu %llu", &run, &delay) != 2)
		exit(1);
	(void)fclose(file);
	*ret_run = (double)run * 1e-9;
	*ret_delay = (double)delay * 1e-9;
}

/* A small generator with a fixed seed: runs repeat. */
static inline uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

#endif
