/* overhead.h - what sampling costs, measured while it goes on, and what follows from it */
#ifndef CONTROL_OVERHEAD_H
#define CONTROL_OVERHEAD_H

#include "sampler/collector/control/budget.h"

#include <stdatomic.h>
#include <stdint.h>

struct collector;

/*
 * The program pays for the agent's handlers and their signals, for events of hooks, and for stops
 * by ptrace.  What wick's own process uses is apart from that, and has a limit of its own.
 */
struct spending {
	struct budget budget;
	uint64_t own_base_ns;      /* wick had used before the recording */
	_Atomic uint64_t event_ns; /* collector_prices: they may be told later */
	_Atomic uint64_t switch_ns;
	struct budget_sums last; /* of the last step */
	uint64_t judged_cpu_ns; /* up to where switches have been judged: CPU of what is sampled, */
	uint64_t judged_ns;     /* and what events had added to switches by then */
	uint64_t lowered_since_ns; /* up to when it has been counted how long the rate was lower */
};

/**
 * spending_init - no cost yet; the rate is what the known price of a signal allows
 *
 * Context: main thread, before the drain thread runs.
 */
void spending_init(struct collector *collector);

/**
 * spending_thread_ns - CPU time of the calling thread
 *
 * Context: any thread.
 */
uint64_t spending_thread_ns(void);

/**
 * spending_program_ns - what programs have paid so far
 *
 * Context: collector thread.
 */
uint64_t spending_program_ns(const struct collector *collector);

/**
 * spending_step - lower the rate, or raise it again, when that is due
 *
 * Context: collector thread, after every pass.
 */
void spending_step(struct collector *collector);

#endif
