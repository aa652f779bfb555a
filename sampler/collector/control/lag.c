/* lag.c - whether the collector keeps up, and what is done when it does not */
#include "sampler/collector/control/lag.h"

#include "base/units.h"
#include "sampler/collector/control/rate.h"
#include "sampler/collector/drain/drain.h"
#include "sampler/collector/drain/state.h"

enum { STARVED_MS = 5000 }; /* PROCESS_STALE_MS of the handler */

#define FULL 0.9

void behind_init(struct collector *collector)
{
	collector->drain.behind.breaker =
		(struct breaker){.late_ns = collector->options.breaker_late_ns,
				 .pause_ns = collector->options.breaker_pause_ns};
}

/* A pause that is asked for as well loses nothing. */
static void count_pause(struct drain *drain)
{
	struct behind *behind = &drain->behind;
	uint64_t charged_ns = drain_charged_ns(drain);

	if (drain->rate.pauses == PAUSE_BREAKER && charged_ns > behind->charged_ns)
		behind->lost_ns += charged_ns - behind->charged_ns;
	behind->charged_ns = charged_ns;
	drain->stats.lost_pause = behind->lost_ns / (NS_PER_S / drain->rate.hz);
}

static void count_gap(struct drain *drain, uint64_t start_ns)
{
	struct behind *behind = &drain->behind;
	uint64_t gap_ns = behind->looked_ns ? start_ns - behind->looked_ns : 0;

	behind->looked_ns = start_ns;
	if (gap_ns < STARVED_MS * NS_PER_MS)
		return;
	drain->stats.starved++;
	if (gap_ns > drain->stats.starved_ns)
		drain->stats.starved_ns = gap_ns;
}

static uint64_t behind_ns(const struct drain *drain, uint64_t start_ns)
{
	uint64_t due_ns = due_wake_ns(&drain->due);
	uint64_t oldest_ns = queue_oldest_ns(drain->stream.queue);
	uint64_t late_ns = due_ns && start_ns > due_ns ? start_ns - due_ns : 0;
	uint64_t age_ns = oldest_ns && start_ns > oldest_ns ? start_ns - oldest_ns : 0;

	return late_ns > age_ns ? late_ns : age_ns;
}

void behind_look(struct collector *collector, uint64_t start_ns, double fill)
{
	struct drain *drain = &collector->drain;
	struct breaker *breaker = &drain->behind.breaker;

	count_pause(drain);
	count_gap(drain, start_ns);
	if (!breaker_step(breaker, start_ns, fill >= FULL, behind_ns(drain, start_ns)))
		return;
	drain->stats.breaks += breaker->until_ns != 0;
	rate_break(collector, breaker->until_ns != 0);
}
