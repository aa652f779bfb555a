/* trigger.c - when conditions have come true: once for one episode */
#include "tools/flight/trigger.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define RATE_NS  NS_PER_S /* what a rate is taken over, at least */
#define HOUR_NS  (3600 * NS_PER_S)

/* The newest reading that is at least RATE_NS old, or the oldest there is; NULL: none. */
static const struct trigger_reading *earlier(const struct trigger_set *set, uint64_t now_ns)
{
	size_t n = set->n_recent < TRIGGER_RECENT ? set->n_recent : TRIGGER_RECENT;

	for (size_t back = 1; back <= n; back++) {
		const struct trigger_reading *reading =
			&set->recent[(set->n_recent - back) % TRIGGER_RECENT];

		if (now_ns - reading->time_ns >= RATE_NS)
			return reading;
	}
	return NULL;
}

static int64_t per_second(uint64_t now, uint64_t before, uint64_t ns, uint64_t scale)
{
	uint64_t grown = now > before ? now - before : 0;
	double rate = (double)grown * (double)scale / (double)ns;

	return rate < 9e18 ? (int64_t)rate : INT64_MAX;
}

/* A counter of a reading, and how much of it a second is one of what conditions are in. */
static uint64_t counter_of(const struct trigger_reading *reading, enum trigger_of of,
			   uint64_t *ret_scale)
{
	*ret_scale = NS_PER_S;
	switch (of) {
	case TRIGGER_FAULTS:
		return reading->faults;
	case TRIGGER_MAJFAULTS:
		return reading->majfaults;
	case TRIGGER_CPU:
		*ret_scale = 10000;
		return reading->cpu_ns;
	default:
		*ret_scale = 10000;
		return reading->run_delay_ns;
	}
}

static bool rate_of(const struct trigger_set *set, const struct trigger_reading *reading,
		    enum trigger_of of, int64_t *ret_value)
{
	const struct trigger_reading *before = earlier(set, reading->time_ns);
	uint64_t scale;
	uint64_t now;

	if (!before || !(before->known >> of & 1U))
		return false;
	now = counter_of(reading, of, &scale);
	*ret_value = per_second(now, counter_of(before, of, &scale),
				reading->time_ns - before->time_ns, scale);
	return true;
}

/* The value of a condition; false: it is not known. */
static bool value_of(const struct trigger_set *set, const struct trigger_condition *condition,
		     const struct trigger_reading *reading, int64_t *ret_value)
{
	enum trigger_of of = condition->of;

	if (of == TRIGGER_GAUGE) {
		*ret_value = reading->gauges[condition->gauge_column];
		return reading->gauges_known >> condition->gauge_column & 1U;
	}
	if (!(reading->known >> of & 1U))
		return false;
	switch (of) {
	case TRIGGER_RSS:
		*ret_value = (int64_t)reading->rss_kib;
		return true;
	case TRIGGER_PSI_CPU:
	case TRIGGER_PSI_MEMORY:
	case TRIGGER_PSI_IO:
		*ret_value = reading->psi[of - TRIGGER_PSI_CPU][condition->psi_word];
		return true;
	default:
		return rate_of(set, reading, of, ret_value);
	}
}

/* By how much it has grown over the base: in hundredths of a percent, or in its own unit. */
static int64_t growth(const struct trigger_condition *condition, int64_t value, int64_t base)
{
	double grown = (double)value - (double)base;

	if (condition->how == TRIGGER_GROWN_PCT)
		grown = base > 0 ? grown * 10000 / (double)base : 0;
	return grown < 9e18 ? (int64_t)grown : INT64_MAX;
}

/* Growth is over the least that was seen: a program that starts has none. */
static int64_t measure(const struct trigger_condition *condition, struct trigger_state *state,
		       int64_t value, bool settled)
{
	if (condition->how == TRIGGER_ABOVE || condition->how == TRIGGER_BELOW)
		return value;
	if (!settled || !state->has_base || value < state->base)
		state->base = value;
	state->has_base = true;
	return growth(condition, value, state->base);
}

static void remember_most(const struct trigger_condition *condition, struct trigger_state *state,
			  int64_t measured)
{
	bool further =
		condition->how == TRIGGER_BELOW ? measured < state->most : measured > state->most;

	if (!state->seen || further)
		state->most = measured;
	state->seen = true;
}

/* Fewer than the limit in the hour before. */
static bool is_within_limit(const struct trigger_set *set, uint64_t now_ns)
{
	unsigned limit =
		set->options.hourly < TRIGGER_HOURLY ? set->options.hourly : TRIGGER_HOURLY;

	if (limit == 0 || set->n_hourly < limit)
		return limit > 0;
	return now_ns - set->hourly[(set->n_hourly - limit) % TRIGGER_HOURLY] >= HOUR_NS;
}

/* The moment a condition would fire: it does, unless there were too many. */
static bool fire(struct trigger_set *set, struct trigger_state *state, uint64_t now_ns)
{
	state->fired = true;
	if (!is_within_limit(set, now_ns)) {
		state->n_limited++;
		return false;
	}
	set->hourly[set->n_hourly++ % TRIGGER_HOURLY] = now_ns;
	state->n_fired++;
	return true;
}

static void follow_truth(struct trigger_state *state, bool is_true, uint64_t now_ns)
{
	if (is_true && !state->is_true)
		state->true_since_ns = now_ns;
	if (is_true)
		state->true_last_ns = now_ns;
	state->is_true = is_true;
}

/* Whether a condition fires by what it measures. */
static bool step(struct trigger_set *set, const struct trigger_condition *condition,
		 struct trigger_state *state, int64_t value, uint64_t now_ns, int64_t *ret_measured)
{
	bool settled = now_ns - set->first_ns >= set->options.settle_ns;
	int64_t measured = measure(condition, state, value, settled);
	uint64_t for_ns = condition->for_ns ? condition->for_ns : set->options.for_ns;
	bool is_true = condition->how == TRIGGER_BELOW ? measured < condition->limit
						       : measured > condition->limit;

	*ret_measured = measured;
	remember_most(condition, state, measured);
	follow_truth(state, is_true, now_ns);
	if (state->fired && !is_true && now_ns - state->true_last_ns >= set->options.cooldown_ns)
		state->fired = false;
	if (state->fired) {
		if (is_true) /* the episode goes on: what grows is measured from here */
			state->base = value;
		return false;
	}
	if (!is_true || now_ns - state->true_since_ns < for_ns)
		return false;
	state->base = value;
	return fire(set, state, now_ns);
}

size_t trigger_evaluate(struct trigger_set *set, const struct trigger_reading *reading,
			struct trigger_fired ret_fired[TRIGGER_MOST])
{
	size_t n = 0;

	if (!set->n_recent)
		set->first_ns = reading->time_ns;
	for (size_t i = 0; i < set->options.n && i < TRIGGER_MOST; i++) {
		const struct trigger_condition *condition = &set->options.at[i];
		struct trigger_state *state = &set->states[i];
		int64_t measured;
		int64_t value;

		if (!value_of(set, condition, reading, &value))
			follow_truth(state, false, reading->time_ns);
		else if (step(set, condition, state, value, reading->time_ns, &measured))
			ret_fired[n++] = (struct trigger_fired){i, reading->time_ns, measured};
	}
	set->recent[set->n_recent++ % TRIGGER_RECENT] = *reading;
	return n;
}
