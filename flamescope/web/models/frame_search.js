/* frame_search.js - which frames a search finds, and how much of the whole they are */

import { formatShare } from "wick/parts/amount.js";
import { makePattern, matchesFunction } from "wick/models/pattern.js";

/**
 * searchNames - which names of some LISTS TEXT, a pattern, finds; only a pattern with capitals minds the case
 *
 * Return: {found: a byte for each name of each list}, or {problem, found: []}.
 */
export function searchNames(text, lists) {
	try {
		const pattern = makePattern(text, /[A-Z]/.test(text) ? "" : "i");
		try {
			return { found: lists.map((names) => Uint8Array.from(names, (name) => (matchesFunction(pattern, name) ? 1 : 0))) };
		} finally {
			pattern.end();
		}
	} catch (error) {
		return { problem: error.message, found: [] };
	}
}

/**
 * foundIn - what a search finds in a tree; MATCHES: of its frames, undefined without a search
 *
 * Return: {matches, found}; found is null without a search, {problem} or {nodes: how many match, share: of the
 * whole, at or below one of them}.
 */
export function foundIn(problem, matches, tree) {
	if (!matches)
		return { matches, found: problem ? { problem } : null };
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
