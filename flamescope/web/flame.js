/* flame.js - graphs and tables of a selection's stacks, of flamescope/flame/flame.h, in columns */

import { column, cutOf, free, make } from "wick/model.js";

const SUMS = ["selfGain", "selfLoss", "gain", "loss", "selfSamples", "samples"];

/* The columns of something that C makes, which is freed. */
function columnsOf(kind, made, names) {
	const columns = {};
	for (const name of names)
		columns[name] = column(kind, made, name);
	free(kind, made);
	return columns;
}

/**
 * {n, frame, parent, firstChild, next, depth, maxDepth, cut, SUMS}: node 0 is the root, siblings are
 * in the order of name, and a node is as wide as gain + loss.
 *
 * ORDER "calls" (outermost frame at the root) or "reverse" (innermost).  AROUND, the name of a
 * function: only stacks with it, from its outermost place on.
 */
export function makeFlame(selection, order = "calls", around = "") {
	const made = make("flame", selection.made, order === "reverse" ? 1 : 0, around);
	const cut = cutOf(made);
	const columns = columnsOf("flame", made, ["frame", "parent", "firstChild", "next", "depth", ...SUMS]);
	return { ...columns, n: columns.frame.length, selection, cut,
		maxDepth: columns.depth.reduce((most, depth) => Math.max(most, depth), 0) };
}

/**
 * What is known of each function: columns by row {n, frame, SUMS, calls}, by gain + loss, most first
 *
 * A sample counts once in totals, however often the function is in its stack; calls are the edges to
 * it that were seen.
 */
export function makeFunctions(selection) {
	const columns = columnsOf("functions", make("functions", selection.made), ["frame", ...SUMS, "calls"]);
	return { ...columns, n: columns.frame.length };
}
