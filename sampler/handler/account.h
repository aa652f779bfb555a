/*
 * account.h - passes CPU time that ended threads used without a sample to later threads
 *
 * Context: agent.
 */
#ifndef HANDLER_ACCOUNT_H
#define HANDLER_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * With DISCOVERY_HOOKS a thread that lives less than a period would never be sampled. So one thread
 * at a time is chained: its first period starts where that of its predecessor stopped, and when it
 * ends, the CPU time not yet sampled (the residual) is added to the process's account. Threads that
 * start meanwhile get a random start offset, which is right on average; only periods that expired
 * too late for a kernel tick go to the account, in whole periods, and are added to the next
 * thread's first sample.
 */
struct account_share {
	int64_t residual_ns;      /* residual taken from the account */
	uint64_t start_offset_ns; /* the part of the first period that counts as used */
	bool chained;
};

/**
 * account_take - the part of ACCOUNT_NS that a new thread takes over
 * @random: any number; it sets the start offset of an unchained thread
 *
 * The rest, ACCOUNT_NS - share.residual_ns, stays in the account.
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

/** account_extra - periods to add to the weight of the thread's first sample */
static inline uint32_t account_extra(const struct account_share *share, uint64_t period_ns)
{
	uint64_t periods = share->residual_ns > 0 ? (uint64_t)share->residual_ns / period_ns : 0;

	/* A chained thread whose residual reaches a period gets a first sample at once. */
	if (share->chained && periods)
		periods--;
	return periods > UINT32_MAX ? UINT32_MAX : (uint32_t)periods;
}

/** account_first_ns - CPU time until the thread's first expiry */
static inline uint64_t account_first_ns(const struct account_share *share, uint64_t period_ns)
{
	if (!share->chained)
		return period_ns - share->start_offset_ns;
	if (share->residual_ns < 0)
		return period_ns + (uint64_t)-share->residual_ns;
	/* A sample is due: the next tick in this thread takes it. */
	return (uint64_t)share->residual_ns >= period_ns ? 1
							 : period_ns - (uint64_t)share->residual_ns;
}

/**
 * account_left - the residual of a thread that ends; may be negative
 * @used_ns: CPU time since the thread was armed
 * @sampled_ns: what its samples stood for
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
