/* rate.c - how often samples are taken, and whether, while the recording goes on */
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
