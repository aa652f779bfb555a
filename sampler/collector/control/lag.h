/* lag.h - whether the collector keeps up, and what is done when it does not */
#ifndef CONTROL_LAG_H
#define CONTROL_LAG_H

#include "sampler/collector/control/breaker.h"

#include <stdint.h>

struct collector;

struct behind {
	struct breaker breaker;
	uint64_t looked_ns;  /* when the rings were looked at last */
	uint64_t charged_ns; /* CPU of what is sampled, then */
	uint64_t lost_ns;    /* of it, what passed in pauses */
};

/**
 * behind_init - no trouble so far
 *
 * Context: main thread, before the drain thread runs.
 */
void behind_init(struct collector *collector);

/**
 * behind_look - the rings have been looked at: begin or end a pause
 * @start_ns: when the look began
 * @fill:     how full the fullest ring was, 0 .. 1
 *
 * What was not sampled meanwhile is counted as lost_pause.  Whoever goes without a look for 5 s is
 * taken for dead by the agents: so long a gap is counted too.
 *
 * Context: collector thread.
 */
void behind_look(struct collector *collector, uint64_t start_ns, double fill);

#endif
