/* overhead.h - what sampling costs, measured while it goes on, and what follows from it */
#ifndef CONTROL_OVERHEAD_H
#define CONTROL_OVERHEAD_H

#include "sampler/collector/collector.h"
#include "sampler/collector/control/budget.h"
#include "sampler/collector/control/rate.h"

#include <stdatomic.h>
#include <stdint.h>

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

/* What it is judged by. */
struct overhead_inputs {
	const struct collector_options *options;
	struct collector_stats *stats; /* what follows is counted there as well */
	enum ring_engine engine;       /* of images that begin */
	const struct rate *rate;
	uint64_t charged_ns; /* CPU of the sampled processes */
	uint32_t kernel_hz;
};

struct overhead_decision {
	bool use_timers; /* no perf events from now on */
	double rate_hz;  /* signals a second of CPU, at most hz */
};

/**
 * spending_init - no cost yet; the rate is what the known price of a signal allows
 *
 * Context: main thread, before the drain thread runs.
 */
struct overhead_decision spending_init(struct spending *spending,
				       const struct overhead_inputs *inputs);

/**
 * spending_program_ns - what programs have paid so far
 *
 * Context: collector thread.
 */
uint64_t spending_program_ns(const struct spending *spending, const struct overhead_inputs *inputs);

/**
 * spending_due - whether it is time for spending_step()
 *
 * Context: collector thread.
 */
bool spending_due(const struct spending *spending);

/**
 * spending_step - judge what was spent since the last step
 *
 * Context: collector thread.
 */
struct overhead_decision spending_step(struct spending *spending,
				       const struct overhead_inputs *inputs);

#endif
