/*
 * choice_gauges.h - what a variable of the machine's processes is, whether or not they are recorded
 *
 * Gauges are read from outside (gauges.h), so that nobody has to join for it.  Where a process
 * keeps its own is remembered from look to look.
 */
#ifndef SELECT_CHOICE_GAUGES_H
#define SELECT_CHOICE_GAUGES_H

#include "base/map.h"

#include <stdint.h>
#include <sys/types.h>

/* Zero it and set the name, which outlives it; choice_gauges_release() takes any state. */
struct choice_gauges {
	const char *name;
	struct map readers; /* by pid, in a struct of choice_gauges.c */
	uint64_t look;      /* counts sweeps */
};

/**
 * choice_gauges_read - what a process's variable is now
 * @start: tells it from another of the same number
 *
 * Return:  0 too for one that is negative, that there is none of, or that may not be read.
 * Context: main thread, as for all of these.
 */
uint64_t choice_gauges_read(struct choice_gauges *gauges, pid_t pid, uint64_t start);

/**
 * choice_gauges_sweep - forget the processes that were not read since the last time
 *
 * Context: main thread.
 */
void choice_gauges_sweep(struct choice_gauges *gauges);

/**
 * choice_gauges_release - forget all of them
 *
 * Context: main thread.
 */
void choice_gauges_release(struct choice_gauges *gauges);

#endif
