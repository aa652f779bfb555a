/* burn.h - work of a known amount, for target programs: nothing in it calls the kernel */
#ifndef TARGETS_BURN_H
#define TARGETS_BURN_H

#include <stdint.h>
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

/* A small generator with a fixed seed: runs repeat. */
static inline uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

#endif
