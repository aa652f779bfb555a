/*
 * overhead.h - what sampling costs, measured while it goes on, and what follows from it
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef CONTROL_OVERHEAD_H
#define CONTROL_OVERHEAD_H

#include "sampler/collector/control/rate.h"
#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A model without a clock or a system call of its own: it is given sums, and says how many samples
 * a second of CPU there are to be.  Two things may have a limit: what the program pays, as a part
 * of its CPU, and what wick's own process uses, as a part of one processor.
 *
 * What a signal costs is learnt while samples are taken, so the rate that fits is the limit over
 * that price.  The rate moves towards it once a step: down by half at most, up by two fifths, so
 * that one window that was no example does little.  What was overspent is saved again, over ten
 * seconds of CPU.  Nothing is judged by the first second: what starts is not what goes on.
 */
enum { BUDGET_PROGRAM, BUDGET_COLLECTOR, BUDGET_KINDS };

struct budget_sums {
	uint64_t now_ns;
	uint64_t cpu_ns;                /* CPU of what is sampled, since the start */
	uint64_t signals;               /* that were sent for samples, since the start */
	uint64_t cost_ns[BUDGET_KINDS]; /* CPU that each of the two has cost, since the start */
	uint64_t fixed_ns; /* of the program's, what no rate makes less: hooks, context switches */
};

struct budget_limit {
	uint32_t ppm;    /* what is allowed, in millionths; 0: any */
	double price_ns; /* CPU that one signal costs, learnt; 0: not known yet */
	double debt_ns;  /* spent beyond the limit, not yet saved again */
	double share;    /* cost over what it is a part of, in the last window, */
	double fixed;    /* and of it, what does not fall with the rate */
};

struct budget {
	struct budget_limit limits[BUDGET_KINDS];
	uint32_t hz; /* requested */
	uint32_t
		cap_hz; /* signals come no more often, whatever the rate is: the tick; 0: they do */
	double rate_hz; /* in force, 1 .. hz */
	uint64_t start_ns;
	struct budget_sums window; /* where the window that is open began */
};

/**
 * budget_init - nothing is lowered yet
 * @program_ppm:   what the program may pay, in millionths of its CPU; 0: any
 * @collector_ppm: what wick may use, in millionths of a processor; 0: any
 *
 * budget_restart() follows.
 *
 * Context: any thread.  One user a budget, as in all that follows.
 */
void budget_init(struct budget *budget, uint32_t program_ppm, uint32_t collector_ppm,
		 uint64_t now_ns);

/**
 * budget_step - judge what was spent since the last step
 *
 * Return:  true when budget->rate_hz is another now.
 */
bool budget_step(struct budget *budget, const struct budget_sums *sums);

/* What sends the signals. */
struct budget_source {
	uint32_t cap_hz;    /* as in struct budget */
	uint64_t signal_ns; /* CPU that a signal takes from the program at least; 0: not known */
};

/**
 * budget_restart - another rate is requested, or signals come from another source
 * @source: NULL: the one that there is; what was learnt of it stands
 *
 * The rate is what the price that is known allows.
 */
void budget_restart(struct budget *budget, uint32_t hz, const struct budget_source *source);

/** budget_skip - leave out what was spent since the last step: nothing was sampled */
void budget_skip(struct budget *budget, const struct budget_sums *sums);

/** budget_is_limited - whether there is anything that the rate may be lowered for */
bool budget_is_limited(const struct budget *budget);

/**
 * budget_fitting_hz - the rate that the learnt prices allow
 *
 * Return:  1 .. budget->hz.
 */
double budget_fitting_hz(const struct budget *budget);

/*
 * The program pays for the agent's handlers and their signals, for events of hooks, and for stops
 * by ptrace.  What wick's own process uses is apart from that, and has a limit of its own.
 */
struct overhead {
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

/**
 * overhead_init - no cost yet; the rate is what the known price of a signal allows
 *
 * budget.rate_hz is the rate.
 *
 * Return:  whether perf events are to be given up for timers.
 * Context: main thread, before the drain thread runs.
 */
bool overhead_init(struct overhead *overhead, const struct overhead_inputs *inputs);

/**
 * overhead_program_ns - what programs have paid so far
 *
 * Context: collector thread.
 */
uint64_t overhead_program_ns(const struct overhead *overhead, const struct overhead_inputs *inputs);

/**
 * overhead_step - judge what was spent since the last step, when that is due
 *
 * budget.rate_hz is the rate from now on.
 *
 * Return:  whether it was due.
 * Context: collector thread.
 */
bool overhead_step(struct overhead *overhead, const struct overhead_inputs *inputs,
		   bool *ret_use_timers);

#endif
