/* strip.js - what each thread was doing, one stack a pixel, in the order of time (flamescope/wasm/wasm_strip.c) */

import { columns, facts, using } from "wick/models/model.js";

const TREE = ["parent", "depth", "x", "width", "node", "frame"];

/**
 * stripOf - the N threads with most of a selection, in columns of a time: (selection, n, from, to, nColumns)
 *
 * Return: {nThreads, threads: [{label, amount, nSamples, end, maxDepth}], boxes}: there are nThreads.  Boxes until
 * `end`, from that of the thread before, are the columns of a tree of tree_layout.js as wide as the recording: calls
 * that go on in columns beside each other; `node` is that of the selection's stacks.
 */
export const stripOf = (selection, ...seen) => using("strip", [selection.made, ...seen], (made) =>
	({ ...facts("strip", made), boxes: columns("strip", made, ...TREE) }));

/** What each part of the time is spent in: [{label, parts: [{to, samples, amount, functions: [{name, amount}]}]}]. */
export const stripParts = (selection, ...seen) => facts("strip_parts", selection.made, ...seen);
