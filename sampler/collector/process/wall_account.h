/*
 * wall_account.h - the wall time of one thread, by state, in whole periods
 *
 * Invariant: what was taken, the residuals and the rest add up to the time since the beginning.
 * Pure arithmetic; wall_thread.c does the reading.
 *
 * Context: any thread.
 */
#ifndef PROCESS_WALL_ACCOUNT_H
#define PROCESS_WALL_ACCOUNT_H

#include "base/sample.h"
#include "sampler/procfs/task.h"

#include <stdint.h>

enum { WALL_STATES = STATE_STOPPED + 1 };

struct wall_account {
	uint64_t period_ns;
	uint64_t updated_ns;
	struct schedstat seen;
	int64_t rest_ns; /* neither running nor runnable as far as is known: not yet in a state */
	int64_t held_ns; /* of it, what was a wait that is over, but for the time in the queue after
			  */
	int64_t on_ns;   /* of it, what passed since the thread was last switched or blocked */
	int64_t early_ns; /* given as runnable before the scheduler has written it down */
	int64_t residual_ns[WALL_STATES]; /* by state, not yet taken */
};

/**
 * wall_account_begin - everything from SINCE_NS on is to be accounted for
 * @then: what the scheduler said at SINCE_NS; zeroes for a thread that began there
 */
void wall_account_begin(struct wall_account *account, uint64_t period_ns, uint64_t since_ns,
			const struct schedstat *then);

/**
 * wall_account_update - add what the scheduler says now
 *
 * Running time and waiting for a CPU go to the residuals of their states at once; the other time
 * since the last scan is the rest.  A running thread has a rest, too, which is not real: the
 * scheduler writes both down late.
 */
void wall_account_update(struct wall_account *account, uint64_t now_ns,
			 const struct schedstat *now);

/**
 * wall_account_settle - say in which state a part of the rest was
 * @parts: 1: all of it; 2: half, for a thread that was seen in another state before: the middle
 *         of the time between two scans is as good a guess as any of when that changed
 *
 * A negative rest stays and is subtracted from what is found next.
 */
void wall_account_settle(struct wall_account *account, enum sample_state state, int64_t parts);

/**
 * wall_account_hold - the rest so far was of a wait, and now the thread runs or wants to
 *
 * How long it has wanted to is not written down before it runs: until then it is not known how
 * much of the rest was the wait.
 */
void wall_account_hold(struct wall_account *account);

/**
 * wall_account_release - the thread has run since: what was held is of STATE, as far as it is left
 */
void wall_account_release(struct wall_account *account, enum sample_state state);

/**
 * wall_account_stay - the thread ran or wanted to at the last scan, and does now
 * @most_ns: that the scheduler may be late in writing down
 *
 * A longer rest without a switch between the scans was not a wait: the thread is still in the run
 * queue, or the hypervisor has taken the processor away.  Both count as runnable; what the
 * scheduler writes down of it later is not counted again.
 */
void wall_account_stay(struct wall_account *account, uint64_t most_ns);

/**
 * wall_account_run - a thread that ended has run in a part of the rest
 * @most_ns: that it can have run since the scheduler wrote it down last
 *
 * What is left of the rest it has waited for a processor that it did not get.
 */
void wall_account_run(struct wall_account *account, uint64_t most_ns);

/**
 * wall_account_take - the whole periods of a state's residual
 *
 * A thread that wanted to run while it seemed to wait has a negative rest: so much of its time
 * was given as a wait already, and as much runnable time is kept until the rest is made up for.
 */
uint64_t wall_account_take(struct wall_account *account, enum sample_state state);

/**
 * wall_account_end - the last periods of a thread
 * @rest_in:     the state that a rest belongs to
 * @residual_ns:    what the threads before it have left over; this one's is left there
 * @ret_weights: by state
 *
 * All residuals and @residual_ns give whole periods, which go to the states with the largest ones.
 */
void wall_account_end(struct wall_account *account, enum sample_state rest_in, int64_t *residual_ns,
		      uint64_t ret_weights[WALL_STATES]);

/**
 * wall_account_wait - ticks until a thread is read again
 * @idle_ticks: since it was last seen to have run
 * @most:       at most so many
 * @random:     any number: scans must not alias with the program
 *
 * A quarter of the idle time at most as a power of two, give or take a half.
 *
 * Return:  1 .. MOST.
 */
uint32_t wall_account_wait(uint64_t idle_ticks, uint32_t most, uint64_t random);

#endif
