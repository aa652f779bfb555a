/* frame_search.js - which frames a pattern matches, and how much of the whole they are */

/* A name longer than this is matched by its beginning: a pattern's time grows with the text. */
const MAX_NAME = 4096;

/** {regex} or {problem}; "" is no pattern: {regex: null}. */
export function compilePattern(text) {
	if (text === "")
		return { regex: null };
	try {
		return { regex: new RegExp(text, /[A-Z]/.test(text) ? "u" : "iu") };
	} catch (first) {
		return { regex: null, problem: String(first.message).replace(/^Invalid regular expression: /, "") };
	}
}

/** One byte a frame of the tree: whether its name matches. */
export function matchFrames(tree, regex, nameOf, nFrames) {
	const known = new Uint8Array(nFrames);
	for (let node = 1; node < tree.n; node++) {
		const frame = tree.frame[node];
		if (known[frame] === 0)
			known[frame] = regex.test(nameOf(frame).slice(0, MAX_NAME)) ? 2 : 1;
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
