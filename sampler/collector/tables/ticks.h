/*
 * ticks.h - the clock by which programs count, and its ticks in ns
 *
 * Context: any thread, one at a time with a struct ticks.
 */
#ifndef TABLES_TICKS_H
#define TABLES_TICKS_H

#include "sampler/wire/tables.h"

#include <stdbool.h>
#include <stdint.h>

/* Both clocks at one moment. */
struct ticks_pair {
	uint64_t ticks;
	uint64_t ns; /* CLOCK_MONOTONIC */
};

struct ticks {
	enum tables_clock clock;
	struct ticks_pair base;
	uint64_t mult; /* ns of a tick, times 2^32; 0: not measured yet */
};

/**
 * ticks_begin - choose the clock and read it for the first time
 *
 * It is the processor's time stamp counter where the kernel trusts it, else CLOCK_MONOTONIC.
 */
void ticks_begin(struct ticks *ret_ticks);

/**
 * ticks_measure - learn how long a tick is, once
 *
 * Waits until 10 ms have passed since ticks_begin(): each reading is exact to some 50 ns, so that
 * the length is to 1e-5.
 */
void ticks_measure(struct ticks *ticks);

/** ticks_set - the length of a tick from two moments */
void ticks_set(struct ticks *ticks, const struct ticks_pair *first,
	       const struct ticks_pair *second);

/** ticks_now - the clock */
uint64_t ticks_now(const struct ticks *ticks);

/** ticks_of_ns - a duration in ticks; 0 before ticks_measure() */
uint64_t ticks_of_ns(const struct ticks *ticks, uint64_t ns);

/** ticks_to_ns - a number of ticks in ns; UINT64_MAX at most */
uint64_t ticks_to_ns(const struct ticks *ticks, uint64_t n);

/** ticks_time_ns - CLOCK_MONOTONIC when the clock was at @at; 0: before the machine started */
uint64_t ticks_time_ns(const struct ticks *ticks, uint64_t at);

#endif
