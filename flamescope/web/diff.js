/*
 * diff.js - what changed between two selections, of flamescope/diff/diff.h
 *
 * Both sides are shares of their own whole; functions are matched by name alone.
 */

import { column, facts, fileOf, free, make, testDiff } from "wick/model.js";
import { LEAST } from "wick/significance.js";

const STEP = 16; /* permutations at once */
const SLICE_MS = 12; /* until other questions are answered */

const both = (made, name) => [0, 1].map((side) => column("diff", made, `${name}${side}`));

/* The stacks of both sides; frames are functions, by number. */
function readTree(made) {
	const tree = {};
	for (const name of ["frame", "parent", "firstChild", "next", "depth", "width"])
		tree[name] = column("diff", made, `nodes_${name}`);
	return { ...tree, n: tree.frame.length, maxDepth: tree.depth.reduce((most, depth) => Math.max(most, depth), 0),
		self: both(made, "nodes_self"), total: both(made, "nodes_total") };
}

/**
 * makeDiff - compare two selections that can be compared (significance.js)
 *
 * Return: {names, whole, self: [base, new], total: [base, new], tree, testSlice(), file(), release()}: shares
 * by function, the greatest change of total or self first; the tree is as flame.js has it, its width
 * the mean of both sides, so that what vanished is seen too.  testSlice() tests a part of what may be
 * chance: {part: that is done} or {chance: {selfP, totalP, n, smallestP, problem}}.
 */
export function makeDiff(base, now) {
	const made = make("diff", base.made, now.made, LEAST);
	const { names, whole } = facts("diff", made);
	return {
		names,
		whole,
		self: both(made, "functions_self"),
		total: both(made, "functions_total"),
		tree: readTree(made),
		testSlice: () => testSlice(made),
		/* As "diff.svg" or "diff.csv"; of the table the significance, too. */
		file(kind, title) {
			if (kind === "diff.svg")
				return fileOf("drawing", kind, now.made, base.made, title, "", "");
			for (let part = 0; part < 1;)
				part = testDiff(made, STEP);
			return fileOf("drawing", kind, now.made, made, title, "", "");
		},
		release: () => free("diff", made),
	};
}

function testSlice(made) {
	const end = performance.now() + SLICE_MS;
	let part = testDiff(made, STEP);
	while (part < 1 && performance.now() < end)
		part = testDiff(made, STEP);
	if (part < 1)
		return { part };
	const { n, smallestP, problem } = facts("diff", made);
	return { chance: { n, smallestP, problem, selfP: column("diff", made, "functions_selfP"),
		totalP: column("diff", made, "functions_totalP") } };
}
