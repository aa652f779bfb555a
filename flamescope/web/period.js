/* period.js - what a sample stands for, in a unit that people know (flamescope/query/query.h) */

import { periodFacts } from "wick/model.js";

/** {unit, noun, isDefault, multiply, divide} of an event's samples; -1: of all. */
export function periodOf(profile, event = -1) {
	profile.periods ??= new Map();
	if (!profile.periods.has(event))
		profile.periods.set(event, periodFacts(profile.made, event));
	return profile.periods.get(event);
}

/** What each sample stands for, in the period's unit. */
export function periodValues(profile, event = -1) {
	const { multiply, divide } = periodOf(profile, event);
	return multiply === divide ? profile.weight
		: profile.weight.map((weight) => Math.floor((weight * multiply) / divide));
}
