/* account.h - CPU that threads used up after their last sample, carried to later threads */
#ifndef HANDLER_ACCOUNT_H
#define HANDLER_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * With DISCOVERY_HOOKS a thread that lives less than a period would never be seen.  So one
 * thread at a time holds the chain: it goes on in the middle of the period where its predecessor
 * ended, and what it used and no sample stands for goes to the process's account when it ends.
 * Threads that begin while the chain is held start in the middle of a period at random, which
 * is right on average; only expiries that came too late for a kernel tick go to the account, in
 * whole periods, and weigh on the next thread's first sample.
 */
struct account_share {
	int64_t residual_ns;      /* taken from the account */
	uint64_t start_offset_ns; /* of a period that counts as past, without being residual */
	bool chained;
};

/**
 * account_take - what a thread that begins takes of ACCOUNT_NS
 * @random: any number; it decides where in a period an unchained thread begins
 *
 * The rest, ACCOUNT_NS - share.residual_ns, stays in the account.
 *
 * Context: agent.
 */
static inline struct account_share account_take(int64_t account_ns, bool chained, uint32_t random,
						uint64_t period_ns)
{
	struct account_share share = {.chained = chained};

	if (chained) {
		share.residual_ns = account_ns;
		return share;
	}
	share.start_offset_ns = random % period_ns;
	if (account_ns > 0)
		share.residual_ns = account_ns - account_ns % (int64_t)period_ns;
	return share;
}

/**
 * account_extra - periods that the thread's first sample stands for beyond its own
 *
 * Context: agent.
 */
static inline uint32_t account_extra(const struct account_share *share, uint64_t period_ns)
{
	uint64_t periods = share->residual_ns > 0 ? (uint64_t)share->residual_ns / period_ns : 0;

	/* A chained thread that owes a period gives it by its own first sample. */
	if (share->chained && periods)
		periods--;
	return periods > UINT32_MAX ? UINT32_MAX : (uint32_t)periods;
}

/**
 * account_first_ns - CPU time until the thread's first expiry
 *
 * Context: agent.
 */
static inline uint64_t account_first_ns(const struct account_share *share, uint64_t period_ns)
{
	if (!share->chained)
		return period_ns - share->start_offset_ns;
	if (share->residual_ns < 0)
		return period_ns + (uint64_t)-share->residual_ns;
	/* A sample is due: the next tick in this thread gives it. */
	return (uint64_t)share->residual_ns >= period_ns ? 1
							 : period_ns - (uint64_t)share->residual_ns;
}

/**
 * account_left - what a thread that ends leaves behind; may be negative
 * @used_ns: CPU that it used since it began
 * @sampled_ns: what its samples stood for
 *
 * Context: agent.
 */
static inline int64_t account_left(const struct account_share *share, uint64_t used_ns,
				   uint64_t sampled_ns, uint64_t period_ns)
{
	uint64_t due_ns = used_ns;

	if (!share->chained)
		due_ns = (share->start_offset_ns + used_ns) / period_ns * period_ns;
	return share->residual_ns + (int64_t)due_ns - (int64_t)sampled_ns;
}

#endif
