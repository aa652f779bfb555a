/*
 * timerless.h - threads that burn CPU and give no samples: posted, unmasked
 *
 * Context: collector thread.
 */
#ifndef PROCESS_TIMERLESS_H
#define PROCESS_TIMERLESS_H

#include "sampler/collector/process/process.h"

/** timerless_init - begin with what the process has used so far */
void timerless_init(struct timerless *watch, uint64_t cpu_ns);

/** timerless_release - forget every thread */
void timerless_release(struct timerless *watch);

/** timerless_first_sample - a tid has given its first sample: count it as late if we posted it */
void timerless_first_sample(const struct process *process, uint32_t tid,
			    struct collector_stats *stats);

/** timerless_skip - samples are not wanted now: what was used so far needs no explanation */
void timerless_skip(struct process *process);

/**
 * timerless_scan - find threads without samples
 * @period_ns: CPU time that a weight of one stands for
 *
 * When the process's CPU clock has moved clearly more than its samples explain, the threads
 * without a timer whose CPU has moved are posted in the ring header, and those that keep SIGPROF
 * blocked have it unblocked, once each.  Call after process_charge() and process_drain().
 */
void timerless_scan(struct process *process, uint64_t period_ns, struct collector_stats *stats);

#endif
