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
			try {
				return !this.problem && matchesFunction(pattern, name);
			} catch (error) {
				this.problem = error.message;
				return false;
			}
		},
	};
}

let last = { text: "", regex: null };

/** {regex} or {problem}; "" is no pattern: {regex: null}.  A regex may have a `problem` later. */
export function compilePattern(text) {
	if (text !== last.text) {
		last = { text, regex: null };
		try {
			last.regex = text === "" ? null : searchOf(text);
		} catch (error) {
			last.problem = error.message;
		}
	}
	const problem = last.problem || last.regex?.problem;
	return problem ? { regex: null, problem } : last;
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

/** {names: has() says which the state's search finds; null: it searches for nothing}, or {problem}. */
export function searched(app) {
	const { regex, problem } = compilePattern(app.store.state.search);
	return { names: regex && { has: (name) => regex.test(name) }, get problem() {
		return problem || regex?.problem; /* which is known once it was matched */
	} };
}

/**
 * foundIn - what a search finds in a tree
 *
 * Return: {matches: a byte a frame, or null, found}; found is null without a search, {problem} or {nodes: how
 * many match, share: of the whole, at or below one of them}.
 */
export function foundIn(search, tree, nameOf, nFrames) {
	const matches = search.names && matchFrames(tree, search.names, nameOf, nFrames);
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
