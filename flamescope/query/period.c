/* period.c - what a sample stands for, in a unit that people know */
#include "flamescope/query/query.h"

#include "base/io.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

/*
 * perf's clocks tick at most every 10 us (kernel/events/core.c, perf_swevent_start_hrtimer()), and
 * their periods are nanoseconds.  Smaller ones are wick's own text without its head (--bare), or
 * text without periods.
 */
#define LEAST_CLOCK_NS 10000

/* "cpu-clock", also as perf writes it: cpu-clock:u, cpu-clock/period=1/ */
static bool is_event(const char *name, const char *event)
{
	size_t len = strlen(event);

	return strncmp(name, event, len) == 0 && (!name[len] || strchr(":/", name[len]));
}

static bool all_events_are(const struct period_kind *kind, const char *one, const char *other)
{
	for (size_t i = 0; i < kind->n_events; i++)
		if (!is_event(kind->events[i], one) && !is_event(kind->events[i], other))
			return false;
	return true;
}

static struct period time_of(const struct period_kind *kind, uint64_t multiply, uint64_t divide)
{
	bool is_wall = kind->has_times && all_events_are(kind, "wall-clock", "wall-clock");
	const char *noun = "of time";

	if (all_events_are(kind, "cpu-clock", "task-clock") ||
	    all_events_are(kind, "time:cpu", "time:cpu"))
		noun = "of CPU";
	else if (all_events_are(kind, "wall-clock", "time:wall"))
		noun = "of wall time";
	return (struct period){"ns", noun, true, multiply, divide, is_wall};
}

struct period period_of_kind(const struct period_kind *kind)
{
	struct period period = {"", "", kind->is_wick, 1, 1, false};

	/* what the loader calls what other programs say of weights: "bytes:inuse_space" */
	if (kind->n_events && all_events_are(kind, "time", "time"))
		return time_of(kind, 1, 1);
	if (kind->n_events && all_events_are(kind, "bytes", "bytes"))
		return (struct period){"B", "", true, 1, 1, false};
	if (!kind->has_times || (kind->n_events && all_events_are(kind, "samples", "samples")))
		return (struct period){"samples", "samples", true, 1, 1, false};
	if (all_events_are(kind, "cpu-clock", kind->is_wick ? "wall-clock" : "task-clock")) {
		if (kind->is_wick && kind->hz)
			return time_of(kind, NS_PER_S, kind->hz);
		if (!kind->is_wick && kind->least >= LEAST_CLOCK_NS)
			return time_of(kind, 1, 1);
		period.unit = "periods";
		period.noun = "periods";
	} else if (kind->is_wick && all_events_are(kind, "alloc", "alloc")) {
		period.unit = "B";
		period.noun = "allocated";
	} else if (kind->is_wick && all_events_are(kind, "lock", "lock")) {
		period.unit = "us";
		period.noun = "waited for locks";
	} else if (kind->n_events == 1) {
		period.unit = kind->events[0];
		period.noun = period.unit;
	}
	return period;
}

struct period period_of(const struct profile *profile, uint32_t event)
{
	bool every = event == SELECTION_EVERY_EVENT;
	const char *events[PROFILE_MAX_EVENTS];
	struct period_kind kind = {
		.is_wick = profile->is_wick,
		.has_times = profile->has_times,
		.hz = profile->hz,
		.events = events,
	};

	for (uint32_t i = 0; i < profile->n_events; i++)
		if (every || i == event)
			events[kind.n_events++] = profile->strings[profile->event_names[i]];
	if (profile->n_samples > 0)
		kind.least = UINT64_MAX;
	for (size_t i = 0; !kind.is_wick && i < profile->n_samples; i++)
		if ((every || profile->events[i] == event) && profile->weights[i] < kind.least)
			kind.least = profile->weights[i];
	return period_of_kind(&kind);
}

int64_t period_value(const struct period *period, uint64_t weight)
{
	unsigned __int128 value;

	if (weight <= INT64_MAX / period->multiply) /* nearly always, and faster */
		return (int64_t)(weight * period->multiply / period->divide);
	value = (unsigned __int128)weight * period->multiply / period->divide;
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

bool period_can_be(double seconds, uint64_t length_ns)
{
	static const double beside_s = 60;

	return seconds <= ((double)length_ns / NS_PER_S + beside_s) * PROFILE_CPU_UNKNOWN;
}

bool period_is_to_come(int64_t epoch_offset_ns, uint64_t last_ns)
{
	static const double day_s = 24 * 3600;

	return (double)epoch_offset_ns + (double)last_ns >
	       (double)io_realtime_ns() + day_s * NS_PER_S;
}
