/*
 * wick_fixture.h - a virtual clock for wick.h, and rows of its tables as a reader sees them
 *
 * Context: main thread.
 */
#ifndef UNIT_WICK_FIXTURE_H
#define UNIT_WICK_FIXTURE_H

#include <stdint.h>
#include <string.h>

extern uint64_t wick_fixture_now; /* ticks of a ns */
extern uint64_t wick_fixture_readings;

#define WICK_TICKS()                                                                               \
	(__atomic_fetch_add(&wick_fixture_readings, 1, __ATOMIC_RELAXED),                          \
	 __atomic_load_n(&wick_fixture_now, __ATOMIC_RELAXED))
#include "sampler/include/wick.h"
#include "tests/unit/wick_layout.h"

enum { WICK_FIXTURE_END = 1 << 30 };

/* What a location's tasks and functions did, added up over threads and nodes. */
struct wick_fixture_row {
	uint64_t exec;
	uint64_t children;
	uint64_t wall;
	uint64_t max;
	uint64_t run_max;
	uint64_t calls;
	uint64_t begun;
	uint32_t stillborn;
	uint32_t cancelled;
	uint32_t failed;
	uint32_t stalls;
};

/**
 * wick_fixture_begin - forget all that was counted, and record from now on
 */
void wick_fixture_begin(void);

/**
 * wick_fixture_setup - the same, as a test's setup
 *
 * Return:  0.
 */
int wick_fixture_setup(void **state);

/**
 * wick_fixture_pass - have the time go on
 */
void wick_fixture_pass(uint64_t ticks);

/**
 * wick_fixture_run - create a task and have it run
 */
void wick_fixture_run(struct wick_task *task, const char *name);

/**
 * wick_fixture_block - a task that runs for a time and completes
 */
void wick_fixture_block(const char *name, uint64_t ticks);

/**
 * wick_fixture_task - the name of the task that this thread's record tells
 *
 * Return:  the name; "" when none runs.
 */
const char *wick_fixture_task(void);

/**
 * wick_fixture_row - the row of a task or function
 *
 * Return:  the row; zero when there is none of that name.
 */
struct wick_fixture_row wick_fixture_row(const char *name);

/**
 * wick_fixture_cell - the cell of a tier and an identity, of all threads
 * @tier: or NULL: whole requests
 * @identity: or NULL: outside of any request
 *
 * Return:  the cell, without its buckets; zero when there is none.
 */
struct table_cell_row wick_fixture_cell(const char *tier, const char *identity);

/**
 * wick_fixture_buckets - how many durations are in the buckets of a cell, in all threads
 *
 * Return:  the sum.
 */
uint64_t wick_fixture_buckets(const char *tier, const char *identity);

/**
 * wick_fixture_attr - the last value of a key in this thread's record
 *
 * Return:  the value; "" when there is none.
 */
const char *wick_fixture_attr(enum context_key key);

#endif
