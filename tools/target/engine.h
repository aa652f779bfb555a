/* engine.h - what sends the signals that samples are taken by: timers, or the kernel's events */
#ifndef TARGET_ENGINE_H
#define TARGET_ENGINE_H

#include "base/err.h"
#include "sampler/collector/collector.h"
#include "tools/options/engine_options.h"

#include <stdbool.h>
#include <stdint.h>

/* What it has come to. */
struct engine {
	enum ring_engine kind;
	struct perf_how how; /* RING_ENGINE_PERF, or permitted */
	bool is_auto;        /* nobody asked for this one */
	bool permitted;      /* events of CPU time may be had, should the program need them */
	char why_not[192];   /* !permitted: what would lift it; "" another engine was asked for */
	struct collector_prices prices; /* of its signals, where they were measured */
	char note[320];                 /* what to say of it; "" nothing */
};

/**
 * engine_choose - what there can be on this machine, for this user
 *
 * CPU can always be sampled: where perf events may not be had, by timers, and the note says what
 * would lift it.
 *
 * Return:  0; -errno and the reason: an event that there is no other way to.
 * Context: main thread.
 */
int engine_choose(const struct engine_options *options, uint32_t hz, struct engine *ret_engine,
		  struct err *err);

/**
 * engine_measure - what its signals cost here and now, in this thread: some milliseconds
 * @event: also those of a perf event
 *
 * Context: main thread.
 */
void engine_measure(struct engine *engine, uint32_t hz, bool event);

#endif
