/* account.h - CPU that threads used up after their last sample, carried to later threads */
#ifndef HANDLER_ACCOUNT_H
#define HANDLER_ACCOUNT_H

#include <stdint.h>

/*
 * With DISCOVERY_HOOKS a thread that lives less than a period would never be seen.  What a
 * thread used and no sample stands for goes to the process's account when it ends; the next
 * new thread takes the account as if it had used that time itself.  Nothing is made or lost:
 * account + sum of weights x period = CPU used by ended threads.
 */
struct account_start {
	int64_t carry_ns;  /* what the thread took */
	uint64_t first_ns; /* CPU time until its first expiry */
	uint32_t extra;    /* periods that its first sample stands for beyond its own */
};

/**
 * account_start - how a thread that takes ACCOUNT_NS begins
 *
 * Context: agent.
 */
static inline struct account_start account_start(int64_t account_ns, uint64_t period_ns)
{
	struct account_start start = {.carry_ns = account_ns, .first_ns = period_ns};
	uint64_t periods;

	if (account_ns < 0) {
		start.first_ns += (uint64_t)-account_ns;
		return start;
	}
	periods = (uint64_t)account_ns / period_ns;
	if (periods) {
		/* A sample is due: the next tick in this thread gives it. */
		start.first_ns = 1;
		start.extra = periods > UINT32_MAX ? UINT32_MAX : (uint32_t)(periods - 1);
	} else {
		start.first_ns -= (uint64_t)account_ns;
	}
	return start;
}

/**
 * account_end - what a thread that ends leaves behind; may be negative
 * @carry_ns: what it took when it began
 * @used_ns:  CPU that it used since
 * @weights:  periods that its samples stood for
 *
 * Context: agent.
 */
static inline int64_t account_end(int64_t carry_ns, uint64_t used_ns, uint64_t weights,
				  uint64_t period_ns)
{
	return carry_ns + (int64_t)used_ns - (int64_t)(weights * period_ns);
}

#endif
