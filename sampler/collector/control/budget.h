/* budget.h - how far the rate is lowered so that sampling costs no more than it may */
#ifndef CONTROL_BUDGET_H
#define CONTROL_BUDGET_H

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
	uint32_t hz; /* that is asked for */
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
 * Context: any thread.
 */
bool budget_step(struct budget *budget, const struct budget_sums *sums);

/* What sends the signals. */
struct budget_source {
	uint32_t cap_hz;    /* as in struct budget */
	uint64_t signal_ns; /* CPU that a signal takes from the program at least; 0: not known */
};

/**
 * budget_restart - another rate is asked for, or signals come from another source
 * @source: NULL: the one that there is; what was learnt of it stands
 *
 * The rate is what the price that is known allows.
 *
 * Context: any thread.
 */
void budget_restart(struct budget *budget, uint32_t hz, const struct budget_source *source);

/**
 * budget_skip - leave out what was spent since the last step: nothing was sampled
 *
 * Context: any thread.
 */
void budget_skip(struct budget *budget, const struct budget_sums *sums);

/**
 * budget_is_limited - whether there is anything that the rate may be lowered for
 *
 * Context: any thread.
 */
bool budget_is_limited(const struct budget *budget);

/**
 * budget_fitting_hz - the rate that the learnt prices allow
 *
 * Return:  1 .. budget->hz.
 * Context: any thread.
 */
double budget_fitting_hz(const struct budget *budget);

#endif
