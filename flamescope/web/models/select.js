/*
 * select.js - what a query takes out of a profile: samples, their values and their stacks
 *
 * Made by flamescope/query/query.h: the stacks are a tree of their own, in which groups are
 * outermost frames and what was elided is gone.  A frame number below the profile's is the
 * profile's; above, the label of a group.
 */

import { column, facts, free, lazy, make, using } from "wick/models/model.js";
import { parseMetric, queryWords, rangeWord } from "wick/state/query.js";
import { formatTransform } from "wick/state/transforms.js";

/** What each sample of PROFILE says in a dimension: {labels, codes: by sample the place of its label}. */
export const dimensionOf = (profile, name) => using("dimension", [profile.made, name, ""], (made) =>
	({ labels: facts("dimension", made), codes: column("dimension", made, profile.made) }));

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
		const said = facts("selection", this.made);
		Object.assign(this, said, of, { profile });
		const columnOf = (name) => column("selection", this.made, name);
		lazy(this, {
			samples: () => columnOf("samples"),
			stacks: () => columnOf("stacks"),
			values: () => columnOf("values"),
			/* {from, to} of the times that samples stand for; empty where they are moments */
			spans: () => ({ from: columnOf("span_from"), to: columnOf("span_to") }),
			nodes: () => ({ n: said.nNodes, parent: columnOf("node_parent"), frame: columnOf("node_frame") }),
		});
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
