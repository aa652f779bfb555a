/* spending.h - what sampling costs, measured while it goes on, and what follows from it */
#ifndef COLLECTOR_SPENDING_H
#define COLLECTOR_SPENDING_H

#include "sampler/collector/budget.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

struct collector;

/*
 * Counted is what goes on as long as samples are taken: the agent's handlers and their signals, the
 * drain thread, and the main thread, which names and writes.  What is paid once is not, since no
 * rate makes it less: to start an image, to note its mappings, and the threads that read files for
 * names.
 *
 * The limit is a part of the CPU of what is sampled, or of a quarter of a processor where that uses
 * less.  In wall mode it is of a whole one: a program that sleeps may be looked at while it does.
 */
struct spending {
	struct budget budget;
	clockid_t main_clock;
	uint64_t main_base_ns;         /* the main thread had used before the recording */
	_Atomic uint64_t main_once_ns; /* of its time, what is paid once */
	uint64_t once_ns;              /* and of the drain thread's */
	uint64_t passed_ns;            /* of what is not paid once, up to the last pass */
	uint64_t pass_ns;              /* what a pass costs with what wakes it, lately */
	uint64_t moved_ns;             /* when a mapping last changed */
	struct budget_sums last;       /* of the last step */
	uint64_t charged_ns;           /* CPU of what is sampled, at the last step */
	uint64_t thinned_ns; /* until when it has been counted how long the rate was lower */
	double cpu_share;    /* processors that are used by what is sampled, lately */
};

/**
 * spending_init - remember whose clocks are to be read
 *
 * Context: main thread, which is the one that will call collector_next().
 */
void spending_init(struct collector *collector);

/**
 * spending_thread_ns - CPU time of the calling thread
 *
 * Context: any thread.
 */
uint64_t spending_thread_ns(void);

/**
 * spending_signals_ns - what signals have cost programs so far, besides their handlers
 *
 * Context: collector thread.
 */
uint64_t spending_signals_ns(const struct collector *collector);

/**
 * spending_end_pass - the pass is over: lower the rate, or raise it again
 * @ms:      until the next one, without a budget
 * @most_ms: and at most
 *
 * Return:  until the next one.  While mappings come and go it is MS: what stood at an address can
 *          only be told as long as it does.
 * Context: collector thread.
 */
uint32_t spending_end_pass(struct collector *collector, uint32_t ms, uint32_t most_ms);

#endif
