/* perf_pmu.h - events that the kernel lists itself: tracepoints, and those of its PMUs in /sys */
#ifndef PERF_PERF_PMU_H
#define PERF_PERF_PMU_H

#include "sampler/collector/perf/perf_name.h"

/**
 * perf_pmu_find - "sched:sched_switch", "cpu/event=0x3c,umask=0x1/", "cpu/mem-loads/"
 * @ret_name: its type and configs are set
 *
 * Return:  0; -ENOENT: there is none, or it may not be read.
 * Context: any thread.
 */
int perf_pmu_find(const char *text, struct perf_name *ret_name);

#endif
