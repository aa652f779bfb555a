/* lockstep.h - does the program run in step with the kernel's tick? */
#ifndef TOOLS_LOCKSTEP_H
#define TOOLS_LOCKSTEP_H

#include "base/sample.h"
#include "sampler/collector/collector.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * CPU timers are looked at when the tick finds their thread running, so a sample comes late by
 * some CPU time.  For a thread of many short runs that is as random as the runs are, about a
 * tick on average.  If it is always the same, each run meets the tick at the same place of the
 * program, and that place is all that the samples show.
 *
 * Zero it but for the first four.
 */
struct lockstep {
	uint32_t hz;
	uint32_t kernel_hz;
	size_t cpu_metric;  /* where cpu_ns stands among a sample's metrics */
	size_t vcsw_metric; /* and vcsw */
	uint64_t n_short;   /* samples of threads whose runs are shorter than a tick */
	uint64_t n_even;    /* of those, how many came as late as the one before */
};

/**
 * lockstep_add - look at the next sample
 *
 * Context: main thread.
 */
void lockstep_add(struct lockstep *lockstep, const struct sample *sample);

/**
 * lockstep_found - whether the samples, or their absence, say that the program is in step
 *
 * Below the kernel's rate there are three signs: samples that come evenly late; overruns (a
 * thread that runs at arbitrary moments has a share of exp(-kernel_hz/hz) of them, more is no
 * chance); and CPU that the kernel charged and no tick ever saw.
 *
 * Context: any thread.
 */
bool lockstep_found(const struct lockstep *lockstep, const struct collector_stats *stats);

#endif
