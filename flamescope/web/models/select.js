/*
 * select.js - what a query takes out of a profile: samples, their values and their stacks
 *
 * Made by flamescope/query/query.h: the stacks are a tree of their own, in which groups are
 * outermost frames and what was elided is gone.  A frame number below the profile's is the
 * profile's; above, the label of a group.
 */

import { facts, free, make } from "wick/models/model.js";
import { parseMetric, queryWords, rangeWord } from "wick/state/query.js";
import { formatTransform } from "wick/state/transforms.js";

/** Of what is no sum, how many samples there are. */
export const countsSamples = ({ measure, isSigned }) => measure === "mean" || isSigned;

/**
 * What the samples of a recording say in a dimension: [{label, amount, share}], most first.  Of a
 * selection: its amount may be 0.
 */
export function dimensionValues(selection, name) {
	const values = facts("values", selection.made, name);
	const whole = values.reduce((sum, { amount }) => sum + amount, 0);
	return values.map((value) => ({ ...value, share: whole && value.amount / whole }));
}

/*
 * A selection in C's memory, and what the views look at of it.  release() gives the memory back;
 * whoever looks at it again makes it again.
 */
class Selection {
	#made = 0;

	/* OF: {query, everyEvent, name of its metric}; REMAKE returns its address. */
	constructor(profile, of, remake) {
		this.remake = remake;
		Object.assign(this, facts("selection", this.made), of, { profile });
	}

	get made() {
		return (this.#made ||= this.remake());
	}

	release() {
		if (this.#made)
			free("selection", this.#made);
		this.#made = 0;
	}
}

/**
 * Everything in PROFILE that QUERY is about, in RANGES (none: all of the time), and its stacks changed by TRANSFORMS;
 * EVERYEVENT: side by side.
 */
export function makeSelection(profile, query, everyEvent = false, ranges = [], transforms = []) {
	const words = [...ranges.map((range) => ["time", rangeWord(range)]), ...queryWords(query),
		...transforms.map((step) => ["t", formatTransform(step)])];
	/* A NUL ends a word of C, and is in no name. */
	const text = words.map(([name, value]) => `${name}\0${value.replaceAll("\0", "\ufffd")}\0`).join("");
	return new Selection(profile, { query, everyEvent, name: parseMetric(query.metric)?.name ?? "" },
		() => make("selection", profile.made, text, everyEvent ? 1 : 0));
}

/* Nothing of PROFILE, because of PROBLEM. */
export function emptySelection(profile, query, problem) {
	const none = { ...query, metric: "", groups: [], filters: [], only: [], without: [], elide: [], focus: "", truncate: "" };
	return Object.assign(makeSelection(profile, { ...none, only: [""], without: [""] }), { problem, labels: [] });
}
