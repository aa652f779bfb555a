/* frame_search.js - which frames a pattern matches, and how much of the whole they are */

import { formatShare } from "wick/amount.js";
import { makePattern, matchesFunction } from "wick/pattern.js";

/*
 * A pattern that is given up (its names take too long) matches nothing from then on, and says why:
 * a search is drawn with, and a drawing has to come to its end.
 */
function searchOf(text) {
	const pattern = makePattern(text, /[A-Z]/.test(text) ? "" : "i");
	return {
		problem: "",
		test(name) {
			if (this.problem)
				return false;
			try {
				return matchesFunction(pattern, name);
			} catch (error) {
				this.problem = error.message;
				return false;
			}
		},
	};
}

let last = { text: "", result: { regex: null } };

/** {regex} or {problem}; "" is no pattern: {regex: null}.  A regex may have a `problem` later. */
export function compilePattern(text) {
	if (text === last.text)
		return last.result.regex?.problem ? { regex: null, problem: last.result.regex.problem } : last.result;
	let result;
	try {
		result = { regex: text === "" ? null : searchOf(text) };
	} catch (error) {
		result = { regex: null, problem: error.message };
	}
	last = { text, result };
	return result;
}

/** One byte a frame of the tree: whether its name matches. */
export function matchFrames(tree, regex, nameOf, nFrames) {
	const known = new Uint8Array(nFrames);
	for (let node = 1; node < tree.n; node++) {
		const frame = tree.frame[node];
		if (known[frame] === 0)
			known[frame] = regex.test(nameOf(frame)) ? 2 : 1;
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

/** What a search finds in a tree: {matches, found}: found is null without a search, {problem} or {share, nodes}. */
export function foundIn(search, tree, nameOf, nFrames, amount) {
	const { regex, problem } = compilePattern(search);
	const matches = regex ? matchFrames(tree, regex, nameOf, nFrames) : null;
	const wrong = problem ?? regex?.problem; /* known once it was matched */
	if (wrong || !matches)
		return { matches, found: wrong ? { problem: wrong } : null };
	const { nodes, amount: sum } = matchedAmount(tree, matches, amount);
	return { matches, found: { nodes, share: formatShare(sum, amount[0]) } };
}
