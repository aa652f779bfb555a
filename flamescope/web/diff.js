/*
 * diff.js - what changed between two selections, of flamescope/diff/diff.h
 *
 * Both sides are shares of their own whole; functions are matched by name alone.
 */

import { unitWord } from "wick/amount.js";
import { column, facts, free, make, testDiff } from "wick/model.js";

export const LEVEL = 0.01; /* a p below it is more than chance */
export const LEAST = 0.01; /* a change of the share below it is not looked at */
const STEP = 16; /* permutations at once */

/* Comparisons that nobody looks at any more, before they have ended. */
const abandoned = new FinalizationRegistry((made) => free("diff", made));

/** Why two selections cannot be compared; "" if they can. */
export function whyNoDiff(base, now) {
	if (base.measure !== now.measure || base.unit !== now.unit)
		return `one side counts ${unitWord(base.unit)}, the other ${unitWord(now.unit)}`;
	if (base.measure === "mean")
		return "a mean has no whole that shares could be of";
	return "";
}

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
 * makeDiff - compare two selections of which whyNoDiff() says nothing
 *
 * Return: {sides, names, whole, self: [base, new], total: [base, new], tree, chance: null}: shares by
 * function, the greatest change of total or self first; the tree is as flame.js has it, its width
 * the mean of both sides, so that what vanished is seen too.  The chances are for fillChance().
 */
export function makeDiff(base, now) {
	const made = make("diff", base.made, now.made, LEAST);
	const { names, whole } = facts("diff", made);
	const diff = {
		made,
		sides: [base, now],
		names,
		whole,
		self: both(made, "functions_self"),
		total: both(made, "functions_total"),
		tree: readTree(made),
		chance: null,
	};
	abandoned.register(diff, made, diff);
	return diff;
}

/** A generator of the part that is done, which fills diff.chance: {selfP, totalP, n, smallestP, problem}. */
export function* fillChance(diff) {
	let part = testDiff(diff.made, STEP);
	while (part < 1) {
		yield part;
		part = testDiff(diff.made, STEP);
	}
	const { n, smallestP, problem } = facts("diff", diff.made);
	diff.chance = { n, smallestP, problem, selfP: column("diff", diff.made, "functions_selfP"),
		totalP: column("diff", diff.made, "functions_totalP") };
	abandoned.unregister(diff);
	free("diff", diff.made);
	return diff.chance;
}

/** Whether "self" or "total" of a function changed by LEAST and more than chance. */
export function isFlagged(diff, i, part) {
	const p = part === "self" ? diff.chance?.selfP : diff.chance?.totalP;
	return p !== undefined && p[i] < LEVEL && Math.abs(diff[part][1][i] - diff[part][0][i]) >= LEAST;
}
