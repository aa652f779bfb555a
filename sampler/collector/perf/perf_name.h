/* perf_name.h - the kernel's events by the names that perf gives them */
#ifndef PERF_PERF_NAME_H
#define PERF_PERF_NAME_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { PERF_NAME_BYTES = 64 };

/* What perf_event_open(2) calls type and config. */
struct perf_name {
	char text[PERF_NAME_BYTES];  /* as it was asked for, without its period */
	char shown[PERF_NAME_BYTES]; /* in files, where a name has no colon */
	uint32_t type;
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	bool is_cpu;    /* a clock: its unit is a nanosecond of CPU */
	bool inside;    /* it only ever happens in the kernel: switches, migrations */
	bool user_only; /* ":u": what happens in the kernel does not count */
	bool kernel_only;
};

/**
 * perf_name_parse - "page-faults", "LLC-load-misses", "cycles:u", "sched:sched_switch", "r01c2",
 *                   "cpu/event=0x3c,umask=0x1/"
 *
 * Whether the machine has such an event is only known when one is opened.
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int perf_name_parse(const char *text, struct perf_name *ret_name, struct err *err);

/**
 * perf_name_cpu - the event that engine perf samples CPU by
 *
 * Context: any thread.
 */
void perf_name_cpu(struct perf_name *ret_name);

#endif
