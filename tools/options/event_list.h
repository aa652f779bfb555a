/* event_list.h - what -e asks for */
#ifndef OPTIONS_EVENT_LIST_H
#define OPTIONS_EVENT_LIST_H

#include "base/err.h"
#include "sampler/collector/collector.h"

#include <stdint.h>

struct event_list {
	uint32_t events;        /* COLLECT_* */
	uint64_t alloc_bytes;   /* alloc=SIZE, or the default */
	uint64_t lock_ns;       /* lock=DUR, or the default */
	struct perf_name event; /* COLLECT_COUNT, or a clock of perf's; "" none */
	uint64_t period;        /* page-faults=N: each Nth; 0: as many as give the rate */
};

/**
 * event_list_parse - "cpu,alloc=64K,lock=1ms", "page-faults=100"
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int event_list_parse(const char *text, struct event_list *ret_list, struct err *err);

#endif
