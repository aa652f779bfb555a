/* profile_fixture.mjs - profiles from samples written by hand, and what is computed step by step */
import { makeSelection, readPack } from "./columns.mjs";
import { packByHand } from "./packs.mjs";

/** What of a difference is chance, counted to the end at once. */
export function chanceOf(diff) {
	let slice = diff.testSlice();
	while (!slice.chance)
		slice = diff.testSlice();
	return Object.assign(diff, slice).chance;
}

/*
 * SAMPLES: {time, stack: [names, outermost first], module, thread, weight, tags: {name: value},
 * metrics: {name: [value, delta]}}; all but the stack may be left out.  The first one's time is the
 * profile's start; EVENTS are those that it knows, and all samples are of the first.
 */
export function profileOf(samples, { units = {}, events = ["cycles"], isWick = false, hasTimes = true, hz = 0 } = {}) {
	return readPack(packByHand({ samples, units, events, isWick, hasTimes, hz }));
}

/** The part of a selection that is in one of RANGES. */
export const inRanges = ({ profile, query, everyEvent }, ranges) => makeSelection(profile, query, everyEvent, ranges);
