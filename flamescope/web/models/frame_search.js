/* frame_search.js - which frames a search finds, and how much of the whole they are */

import { formatShare } from "wick/parts/amount.js";
import { makePattern, matchesFunction } from "wick/models/pattern.js";

/**
 * searchNames - those of NAMES that TEXT, a pattern, finds; only a pattern with capitals minds the case
 *
 * Return: {names: a Set}, or {problem}.
 */
export function searchNames(text, names) {
	try {
		const pattern = makePattern(text, /[A-Z]/.test(text) ? "" : "i");
		try {
			return { names: new Set(names.filter((name) => matchesFunction(pattern, name))) };
		} finally {
			pattern.end();
		}
	} catch (error) {
		return { problem: error.message };
	}
}

/* One byte a frame of the tree: whether its name is among NAMES. */
function matchFrames(tree, names, nameOf, nFrames) {
	const known = new Uint8Array(nFrames);
	for (let node = 1; node < tree.n; node++) {
		const frame = tree.frame[node];
		if (known[frame] === 0)
			known[frame] = names.has(nameOf(frame)) ? 2 : 1;
	}
	return known.map((found) => found >> 1);
}

/**
 * foundIn - what a search finds in a tree
 *
 * Return: {matches: a byte a frame, or null, found}; found is null without a search, {problem} or {nodes: how
 * many match, share: of the whole, at or below one of them}.
 */
export function foundIn(search, tree, nameOf, nFrames) {
	const matches = search.names ? matchFrames(tree, search.names, nameOf, nFrames) : null;
	if (!matches || search.problem)
		return { matches, found: search.problem ? { problem: search.problem } : null };
	const covered = new Uint8Array(tree.n);
	let sum = 0;
	let nodes = 0;
	for (let node = 1; node < tree.n; node++) {
		const match = matches[tree.frame[node]];
		const isCovered = covered[tree.parent[node]];
		nodes += match;
		sum += match && !isCovered ? tree.width[node] : 0;
		covered[node] = match | isCovered;
	}
	return { matches, found: { nodes, share: formatShare(sum, tree.width[0]) } };
}
