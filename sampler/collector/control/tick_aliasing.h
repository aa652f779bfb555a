/*
 * tick_aliasing.h - does a process run in step with the kernel's tick?
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef CONTROL_TICK_ALIASING_H
#define CONTROL_TICK_ALIASING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The kernel looks at CPU timers when its tick finds their thread running, so a sample comes late
 * by some CPU time.  For a thread of many short runs that is as random as the runs are, about a
 * tick on average.  Where it is always the same, each run meets the tick at the same place of the
 * program, and that place is all that the samples show.  There are three signs: samples that come
 * evenly late; overruns (a thread that runs at arbitrary moments has a share of exp(-P / tick) of
 * them, P the period; more is no chance); and CPU that the kernel charged and no tick saw for
 * many periods.
 *
 * A scheduler that takes the processor away does so at the tick, which looks the same.  So threads
 * that lost it before they gave it up say nothing, and neither does a window in which the process
 * waited for processors.  A model without a clock or a system call of its own: between two windows
 * with signs none may be without.
 */
struct tick_aliasing_sums {
	uint64_t now_ns;
	uint64_t charged_ns;   /* CPU of the process */
	uint64_t n_taken;      /* samples, whatever they weigh */
	uint64_t run_delay_ns; /* how long its threads have waited for a processor */
	uint64_t lost;         /* samples that were lost, whatever the cause */
};

/* Zero it; tick_aliasing_restart() follows. */
struct tick_aliasing {
	uint64_t period_ns; /* between two signals of a thread; 0: nothing is judged */
	uint64_t tick_ns;
	uint64_t n_samples;
	uint64_t weight;
	uint64_t n_short; /* samples of threads whose runs are shorter than a tick */
	uint64_t n_even;  /* of those, how many came as late as the one before */
	uint32_t n_signs; /* windows with signs, none without between them */
	struct tick_aliasing_sums window; /* where the window that is open began */
};

/* One sample of CPU time; deltas are against its thread's sample before. */
struct tick_aliasing_sample {
	uint64_t weight;
	int64_t cpu_ns;
	int64_t voluntary;   /* context switches, */
	int64_t involuntary; /* and those where the thread would have run on */
};

/**
 * tick_aliasing_restart - begin a window
 *
 * Context: any thread.  One user a struct, as in all that follows.
 */
void tick_aliasing_restart(struct tick_aliasing *aliasing, const struct tick_aliasing_sums *sums,
			   uint64_t period_ns, uint64_t tick_ns);

/** tick_aliasing_add - add the next sample */
void tick_aliasing_add(struct tick_aliasing *aliasing, const struct tick_aliasing_sample *sample);

/** tick_aliasing_due - whether the window is long enough to be judged */
bool tick_aliasing_due(const struct tick_aliasing *aliasing, uint64_t now_ns);

/**
 * tick_aliasing_found - judge the window, and begin the next
 *
 * Return:  whether the process is in step with the tick.
 */
bool tick_aliasing_found(struct tick_aliasing *aliasing, const struct tick_aliasing_sums *sums);

#endif
