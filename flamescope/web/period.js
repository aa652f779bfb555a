/*
 * period.js - what a sample stands for, in a unit that people know
 *
 * The same as flamescope/query/period.h: wick's weights are periods of a clock, bytes, microseconds
 * or occurrences; perf's are nanoseconds of its two clocks, and occurrences of everything else.
 */

/* perf's clocks tick at most every 10 us; smaller periods are those of a text that does not say. */
const LEAST_CLOCK_NS = 10000;

/* By profile, a map of events: each is made once, as both look at every sample. */
const periods = new WeakMap();
const columns = new WeakMap();

function remembered(store, profile, event, make) {
	if (!store.has(profile))
		store.set(profile, new Map());
	const made = store.get(profile);
	if (!made.has(event))
		made.set(event, make());
	return made.get(event);
}

/* "cpu-clock", also as perf writes it: cpu-clock:u, cpu-clock/period=1/ */
function isEvent(name, event) {
	return name === event || name.startsWith(`${event}:`) || name.startsWith(`${event}/`);
}

function allEventsAre({ events }, ...wanted) {
	return events.every((name) => wanted.some((event) => isEvent(name, event)));
}

function timeOf(profile, multiply, divide) {
	const noun = allEventsAre(profile, "cpu-clock", "task-clock") ? "of CPU"
		: allEventsAre(profile, "wall-clock") ? "of wall time" : "of time";
	return { unit: "ns", noun, isDefault: true, multiply, divide };
}

/* Of what PROFILE says, and the events that are counted. */
function makePeriod(profile) {
	const counted = (unit, noun, isDefault = profile.isWick) =>
		({ unit, noun, isDefault, multiply: 1, divide: 1 });
	if (!profile.hasTimes)
		return counted("samples", "samples", true);
	if (allEventsAre(profile, "cpu-clock", profile.isWick ? "wall-clock" : "task-clock")) {
		if (profile.isWick && profile.hz)
			return timeOf(profile, 1e9, profile.hz);
		if (!profile.isWick && profile.n && profile.weight.every((weight) => weight >= LEAST_CLOCK_NS))
			return timeOf(profile, 1, 1);
		return counted("periods", "periods");
	}
	if (profile.isWick && allEventsAre(profile, "alloc"))
		return counted("B", "allocated");
	if (profile.isWick && allEventsAre(profile, "lock"))
		return counted("us", "waited for locks");
	return profile.events.length === 1 ? counted(profile.events[0], profile.events[0]) : counted("", "");
}

/**
 * {unit, noun, isDefault, multiply, divide}: a weight times multiply by divide is in unit.  EVENT:
 * whose samples are counted; -1: those of all.
 */
export function periodOf(profile, event = -1) {
	const { isWick, hasTimes, hz, n, events, weight } = profile;
	return remembered(periods, profile, event, () => makePeriod(event < 0 ? profile : {
		isWick, hasTimes, hz, n,
		events: events.slice(event, event + 1),
		weight: isWick ? [] : weight.filter((_, i) => profile.event[i] === event),
	}));
}

/** What each sample stands for, in the period's unit. */
export function periodValues(profile, event = -1) {
	const { multiply, divide } = periodOf(profile, event);
	if (multiply === divide)
		return profile.weight;
	return remembered(columns, profile, event,
		() => profile.weight.map((weight) => Math.floor((weight * multiply) / divide)));
}
