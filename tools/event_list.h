/* event_list.h - what -e asks for */
#ifndef TOOLS_EVENT_LIST_H
#define TOOLS_EVENT_LIST_H

#include "base/err.h"

#include <stdint.h>

struct event_list {
	uint32_t events;      /* COLLECT_* */
	uint64_t alloc_bytes; /* alloc=SIZE, or the default */
	uint64_t lock_ns;     /* lock=DUR, or the default */
};

/**
 * event_list_parse - "cpu,alloc=64K,lock=1ms"
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int event_list_parse(const char *text, struct event_list *ret_list, struct err *err);

#endif
