/* frame_search.js - which frames a search finds, and how much of the whole they are */

import { formatShare } from "wick/amount.js";
import { makePattern, matchesFunction } from "wick/pattern.js";

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

/** One byte a frame of the tree: whether its name is among NAMES. */
export function matchFrames(tree, names, nameOf, nFrames) {
	const known = new Uint8Array(nFrames);
	for (let node = 1; node < tree.n; node++) {
		const frame = tree.frame[node];
		if (known[frame] === 0)
			known[frame] = names.has(nameOf(frame)) ? 2 : 1;
	}
	for (let i = 0; i < nFrames; i++)
		known[i] = known[i] === 2 ? 1 : 0;
	return known;
}

/**
 * matchedAmount - how much of the tree lies at or below a frame that matches
 *
 * A match below another one is not counted again.
 *
 * Return: {amount, nodes}: nodes is how many match.
 */
export function matchedAmount(tree, matches, amount) {
	const covered = new Uint8Array(tree.n);
	let sum = 0;
	let nodes = 0;
	for (let node = 1; node < tree.n; node++) {
		const above = covered[tree.parent[node]];
		const match = matches[tree.frame[node]];
		nodes += match;
		if (match && !above)
			sum += amount[node];
		covered[node] = above | match;
	}
	return { amount: sum, nodes };
}

/** What a search (of app.models) finds in a tree: {matches, found}: found is null without a search, {problem} or {share, nodes}. */
export function foundIn({ names, problem }, tree, nameOf, nFrames, amount) {
	if (!names)
		return { matches: null, found: problem ? { problem } : null };
	const matches = matchFrames(tree, names, nameOf, nFrames);
	const { nodes, amount: sum } = matchedAmount(tree, matches, amount);
	return { matches, found: { nodes, share: formatShare(sum, amount[0]) } };
}
