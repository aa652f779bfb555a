/* profile_fixture.mjs - profiles from samples written by hand, and what is computed step by step */
import { fillChance } from "../../flamescope/web/diff.js";
import { readPack } from "../../flamescope/web/pack.js";
import { packByHand } from "./packs.mjs";

/** What of a difference is chance, counted to the end at once. */
export function chanceOf(diff) {
	const steps = fillChance(diff);
	let step = steps.next();
	while (!step.done)
		step = steps.next();
	return step.value;
}

/*
 * SAMPLES: {time, stack: [names, outermost first], module, thread, weight, tags: {name: value},
 * metrics: {name: [value, delta]}}; all but the stack may be left out.  The first one's time is the
 * profile's start; EVENTS are those that it knows, and all samples are of the first.
 */
export function profileOf(samples, { units = {}, events = ["cycles"], isWick = false, hasTimes = true, hz = 0 } = {}) {
	return readPack(packByHand({ samples, units, events, isWick, hasTimes, hz }));
}
