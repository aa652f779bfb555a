/* flame.js - graphs and tables of a selection's stacks, of flamescope/flame/flame.h, in columns */

import { column, columns, facts, free, make, using } from "wick/models/model.js";
import { asTree } from "wick/stacks/tree_layout.js";

const TREE = ["frame", "parent", "depth", "x", "width", "gain", "samples"];
const FUNCTIONS = ["frame", "selfGain", "selfLoss", "gain", "loss", "selfSamples", "samples", "calls"];

/* The colours of a graph of C by a word of FRAME_COLOURS: {by, numbers: one a node, legend: [{label, number}]}. */
const coloursOf = (made, order, by) => using("looks", [made, order === "reverse" ? 1 : 0, by], (looks) =>
	({ by, numbers: column("looks", looks), legend: facts("looks", looks) }));

/** The numbers of the nodes of a selection's stacks. */
export function stackColours(selection, by) {
	const made = make("stacks", selection.made);
	const { numbers } = coloursOf(made, "calls", by);
	free("flame", made);
	return numbers;
}

/**
 * A tree of tree_layout.js, with {frame, gain, loss, samples, colours}: siblings are in the order of name, and a
 * node is as wide as gain + loss.  Its own sums are what its children leave (ownOf()): memory costs time.
 *
 * ORDER "calls" (outermost frame at the root) or "reverse" (innermost).  AROUND, the name of a
 * function: only stacks with it, from its outermost place on.  BY: what colours say.
 */
export const makeFlame = (selection, order = "calls", around = "", by = "") =>
	using("flame", [selection.made, order === "reverse" ? 1 : 0, around], (made) => {
		const nodes = columns("flame", made, ...TREE);
		const loss = selection.isSigned ? column("flame", made, "loss") : new Uint8Array(nodes.frame.length);
		return { ...asTree({ ...nodes, loss }), selection, order, around, colours: coloursOf(made, order, by) };
	});

/**
 * What is known of each function: columns by row {n, FUNCTIONS}, by gain + loss, most first
 *
 * A sample counts once in totals, however often the function is in its stack; calls are the edges to
 * it that were seen.
 */
export function makeFunctions(selection) {
	const rows = using("functions", [selection.made], (made) => columns("functions", made, ...FUNCTIONS));
	return { ...rows, n: rows.frame.length };
}
