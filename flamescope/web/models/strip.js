/* strip.js - what each thread was doing, one stack a pixel, in the order of time (flamescope/wasm/wasm_strip.c) */

import { columns, facts, using } from "wick/models/model.js";

const TREE = ["parent", "depth", "x", "width", "node", "frame"];

/**
 * stripOf - the N threads with most of a selection, in columns of a time: (selection, n, from, to, nColumns)
 *
 * Return: {nThreads, threads: [{label, amount, nSamples, tree}]}: there are nThreads.  A tree is one of
 * tree_layout.js, and as wide as the recording; its nodes are calls that go on in columns beside each other:
 * `node` is that of the selection's stacks.
 */
export const stripOf = (selection, ...seen) => using("strip", [selection.made, ...seen], (made) => {
	const { nThreads, threads } = facts("strip", made);
	const boxes = columns("strip", made, ...TREE);
	return { nThreads, threads: threads.map(({ end, maxDepth, ...thread }, i) => {
		const part = [threads[i - 1]?.end ?? 0, end];
		const tree = Object.fromEntries(TREE.map((name) => [name, boxes[name].slice(...part)]));
		return { ...thread, tree: { ...tree, n: tree.node.length, maxDepth } };
	}) };
});

/** What each part of the time is spent in: [{label, parts: [{to, samples, amount, functions: [{name, amount}]}]}]. */
export const stripParts = (selection, ...seen) => facts("strip_parts", selection.made, ...seen);
