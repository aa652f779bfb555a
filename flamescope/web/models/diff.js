/*
 * diff.js - what changed between two selections, of flamescope/diff/diff.h
 *
 * Both sides are shares of their own whole; functions are matched by name alone.
 */

import { column, columns, drawingOf, facts, free, make, testDiff } from "wick/models/model.js";
import { asTree } from "wick/stacks/tree_layout.js";

const STEP = 16; /* permutations at once */
const SLICE_MS = 12; /* until other questions are answered */

const both = (made, name) => [0, 1].map((side) => column("diff", made, `${name}${side}`));

/* The stacks of both sides; frames are functions, by number.  CHANGES "new" or "gone": of one side alone. */
function treeOf(made, changes) {
	const [x, width] = ["x", "width"].map((name) => column("diff", made, name, changes));
	const { base, now, ...nodes } = columns("diff", made, "frame", "parent", "depth", "mean", "base", "now");
	return asTree({ ...nodes, x, width, total: [base, now] });
}

/**
 * makeDiff - compare two selections; an Error says why they cannot be
 *
 * Return: {sides: [base, now], names, whole, self: [base, new], total: [base, new], treeOf(changes), testSlice(), file(), release()}:
 * shares by function, the greatest change of total or self first; a tree is one of tree_layout.js, its width
 * the mean of both sides, of CHANGES that of what is new or gone, and what leads there.  testSlice() tests a part of what may be
 * chance: {part: that is done} or {chance: {selfP, totalP, selfFlag, totalFlag: it is more, n, level, smallestP, problem}}.
 */
export function makeDiff(base, now) {
	const made = make("diff", base.made, now.made);
	const { names, whole } = facts("diff", made);
	return {
		sides: [base, now],
		names,
		whole,
		self: both(made, "self"),
		total: both(made, "total"),
		treeOf: (changes) => treeOf(made, changes),
		testSlice: () => testSlice(made),
		/* As "diff.svg" or "diff.csv"; of the table the significance, too. */
		file(kind, words) {
			if (kind === "diff.svg")
				return drawingOf(kind, now, base.made, words);
			for (let part = 0; part < 1;)
				part = testDiff(made, STEP);
			return drawingOf(kind, now, made, words);
		},
		release: () => void free("diff", made),
	};
}

function testSlice(made) {
	const end = performance.now() + SLICE_MS;
	let part = testDiff(made, STEP);
	while (part < 1 && performance.now() < end)
		part = testDiff(made, STEP);
	if (part < 1)
		return { part };
	const { names, whole, ...said } = facts("diff", made);
	return { chance: { ...said, ...columns("diff", made, "selfP", "totalP", "selfFlag", "totalFlag") } };
}
