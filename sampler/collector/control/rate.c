/* rate.c - how often samples are taken, and whether: not in pauses, which begin when the collector
 * cannot keep up */
#include "sampler/collector/control/rate.h"

#include "base/units.h"

uint32_t rate_effective_hz(uint64_t period_ns)
{
	uint64_t hz = (NS_PER_S + period_ns / 2) / period_ns;

	return hz > 0 ? (uint32_t)hz : 1;
}

uint32_t rate_delivered_hz(const struct rate *rate, uint32_t most_hz)
{
	uint32_t hz = rate_effective_hz(rate->period_ns);

	return most_hz && hz > most_hz ? most_hz : hz;
}

uint64_t rate_paused_ns(const struct rate *rate, uint64_t charged_ns)
{
	if (!rate->pauses || charged_ns < rate->paused_from_ns)
		return rate->paused_ns;
	return rate->paused_ns + charged_ns - rate->paused_from_ns;
}

void rate_change(struct rate *rate, const struct rate *to, uint64_t charged_ns)
{
	rate->paused_ns = rate_paused_ns(rate, charged_ns);
	rate->paused_from_ns = charged_ns;
	rate->hz = to->hz;
	rate->period_ns = to->period_ns;
	rate->pauses = to->pauses;
	rate->epoch++;
}

enum {
	HOLD_MS = 1000, /* the cause of a pause must last so long, and for so many checks */
	LEAST_CHECKS = 4,
};

static enum breaker_cause find_cause(const struct breaker *breaker, bool full, uint64_t lag_ns)
{
	if (full)
		return BREAKER_FULL;
	return lag_ns >= breaker->late_ns ? BREAKER_LAG : BREAKER_NONE;
}

static void calm_down(struct breaker *breaker)
{
	breaker->since_ns = 0;
	breaker->checks = 0;
}

bool breaker_step(struct breaker *breaker, uint64_t now_ns, bool full, uint64_t lag_ns)
{
	enum breaker_cause cause = find_cause(breaker, full, lag_ns);

	if (!breaker->late_ns)
		return false;
	if (breaker->until_ns) {
		if (now_ns < breaker->until_ns)
			return false;
		breaker->until_ns = 0;
		calm_down(breaker);
		return true;
	}
	if (cause == BREAKER_NONE) {
		calm_down(breaker);
		return false;
	}
	if (!breaker->checks)
		breaker->since_ns = now_ns;
	breaker->checks++;
	breaker->cause = cause;
	if (breaker->checks < LEAST_CHECKS || now_ns - breaker->since_ns < HOLD_MS * NS_PER_MS)
		return false;
	breaker->until_ns = now_ns + breaker->pause_ns;
	return true;
}

enum { STARVED_MS = 5000 }; /* PROCESS_STALE_MS of the handler */

#define FULL 0.9

/* During a pause that the user requested nothing counts as lost. */
static void count_pause(struct lag *lag, const struct lag_inputs *inputs,
			struct collector_stats *stats)
{
	uint64_t charged_ns = inputs->charged_ns;

	if (inputs->pauses == PAUSE_BREAKER && charged_ns > lag->charged_ns)
		lag->lost_ns += charged_ns - lag->charged_ns;
	lag->charged_ns = charged_ns;
	stats->lost_pause = lag->lost_ns / (NS_PER_S / inputs->hz);
}

static void count_gap(struct lag *lag, uint64_t start_ns, struct collector_stats *stats)
{
	uint64_t gap_ns = lag->last_pass_ns ? start_ns - lag->last_pass_ns : 0;

	lag->last_pass_ns = start_ns;
	if (gap_ns < STARVED_MS * NS_PER_MS)
		return;
	stats->starved++;
	if (gap_ns > stats->starved_ns)
		stats->starved_ns = gap_ns;
}

static uint64_t lag_ns(const struct lag_inputs *inputs)
{
	uint64_t due_ns = inputs->due_ns ? inputs->due_ns : UINT64_MAX;
	uint64_t oldest_ns = inputs->oldest_ns ? inputs->oldest_ns : UINT64_MAX;
	uint64_t since_ns = due_ns < oldest_ns ? due_ns : oldest_ns;

	return inputs->start_ns > since_ns ? inputs->start_ns - since_ns : 0;
}

bool lag_check(struct lag *lag, const struct lag_inputs *inputs, struct collector_stats *stats)
{
	struct breaker *breaker = &lag->breaker;

	count_pause(lag, inputs, stats);
	count_gap(lag, inputs->start_ns, stats);
	if (!breaker_step(breaker, inputs->start_ns, inputs->fill >= FULL, lag_ns(inputs)))
		return false;
	stats->breaks += breaker->until_ns != 0;
	return true;
}
