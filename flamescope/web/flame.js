/* flame.js - graphs and tables of a selection's stacks, of flamescope/flame/flame.h, in columns */

import { column, cutOf, facts, free, make } from "wick/model.js";

const SUMS = ["selfGain", "selfLoss", "gain", "loss", "selfSamples", "samples"];

/* The columns of something that C makes, which is freed. */
function columnsOf(kind, made, names) {
	const columns = {};
	for (const name of names)
		columns[name] = column(kind, made, name);
	free(kind, made);
	return columns;
}

/* The colours of a graph of C by a word of FRAME_COLOURS: {by, numbers: one a node, legend: [{label, number}]}. */
function coloursOf(made, order, by) {
	const looks = make("looks", made, order === "reverse" ? 1 : 0, by);
	const colours = { by, numbers: column("looks", looks), legend: facts("looks", looks) };
	free("looks", looks);
	return colours;
}

/** The same of the nodes of a selection's stacks. */
export function stackColours(selection, by) {
	const made = make("stacks", selection.made);
	const colours = coloursOf(made, "calls", by);
	free("flame", made);
	return colours;
}

/**
 * {n, frame, parent, firstChild, next, depth, maxDepth, cut, colours, SUMS}: node 0 is the root, siblings are
 * in the order of name, and a node is as wide as gain + loss.
 *
 * ORDER "calls" (outermost frame at the root) or "reverse" (innermost).  AROUND, the name of a
 * function: only stacks with it, from its outermost place on.  BY: what colours say.
 */
export function makeFlame(selection, order = "calls", around = "", by = "") {
	const made = make("flame", selection.made, order === "reverse" ? 1 : 0, around);
	const cut = cutOf(made);
	const colours = coloursOf(made, order, by);
	const columns = columnsOf("flame", made, ["frame", "parent", "firstChild", "next", "depth", ...SUMS]);
	return { ...columns, n: columns.frame.length, selection, cut, order, around, colours,
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
