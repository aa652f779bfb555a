/* breaker.c - when the collector cannot keep up, samples are not taken for a while */
#include "sampler/collector/control/breaker.h"

#include "base/units.h"

enum {
	HOLD_MS = 1000, /* trouble lasts so long, and for so many looks, before it is believed */
	LEAST_LOOKS = 4,
};

static enum breaker_cause find_trouble(const struct breaker *breaker, bool full, uint64_t behind_ns)
{
	if (full)
		return BREAKER_FULL;
	return behind_ns >= breaker->late_ns ? BREAKER_BEHIND : BREAKER_NONE;
}

static void calm_down(struct breaker *breaker)
{
	breaker->since_ns = 0;
	breaker->looks = 0;
}

bool breaker_step(struct breaker *breaker, uint64_t now_ns, bool full, uint64_t behind_ns)
{
	enum breaker_cause cause = find_trouble(breaker, full, behind_ns);

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
	if (!breaker->looks)
		breaker->since_ns = now_ns;
	breaker->looks++;
	breaker->cause = cause;
	if (breaker->looks < LEAST_LOOKS || now_ns - breaker->since_ns < HOLD_MS * NS_PER_MS)
		return false;
	breaker->until_ns = now_ns + breaker->pause_ns;
	return true;
}
