/* lag.h - whether the collector keeps up, and when it pauses because it does not */
#ifndef CONTROL_LAG_H
#define CONTROL_LAG_H

#include "sampler/collector/collector.h"
#include "sampler/collector/control/breaker.h"

#include <stdint.h>

/* Zero it and set the limits of the breaker. */
struct behind {
	struct breaker breaker;
	uint64_t looked_ns;  /* start of the last pass */
	uint64_t charged_ns; /* CPU of the sampled processes then */
	uint64_t lost_ns;    /* of it, what passed in pauses */
};

/* One pass over the rings. */
struct lag_inputs {
	uint64_t start_ns;
	uint64_t due_ns;    /* when it should have started; 0: not known */
	uint64_t oldest_ns; /* of the events that wait in the queue; 0: none does */
	double fill;        /* of the fullest ring, 0 .. 1 */
	uint64_t charged_ns;
	uint32_t hz;
	uint32_t pauses; /* enum collector_pause */
};

/**
 * behind_look - a pass is over: whether a pause begins or ends
 *
 * CPU that was not sampled meanwhile is counted as lost_pause.  Agents stop when there is no pass
 * for 5 s: so long a gap is counted too.
 *
 * Return:  true: the pause begins (breaker.until_ns is set) or ends.
 * Context: collector thread.
 */
bool behind_look(struct behind *behind, const struct lag_inputs *inputs,
		 struct collector_stats *stats);

#endif
