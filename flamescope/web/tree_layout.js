/* tree_layout.js - where each node of a tree is, and which of them a picture has to show */

const MOST_NAMED = 200; /* nodes in a table of a tree */
const LEAST_SHARE = 1 / 200; /* of the whole: narrower boxes carry no name either */

/**
 * layoutTree - nodes row by row, each as wide as its amount
 * @tree:   {n, parent, firstChild, next, depth}; node 0 is the root, 0 as a child is none
 * @amount: one a node, not below 0
 *
 * Return: {tree, total, order, rowStart, x, width}: order[rowStart[d]...rowStart[d + 1]) are the
 * nodes of depth d from left to right; x and width are by node, and the root is 0 to 1.
 */
export function layoutTree(tree, amount) {
	const { n, firstChild, next } = tree;
	const total = amount[0];
	const order = new Uint32Array(n);
	const rowStart = [0, 1];
	const [x, width] = [new Float64Array(n), new Float64Array(n)];
	let filled = 1;
	width[0] = total > 0 ? 1 : 0;
	for (let row = 0; rowStart[row] < rowStart[row + 1]; row++) {
		for (let i = rowStart[row]; i < rowStart[row + 1]; i++) {
			const parent = order[i];
			let at = x[parent];
			for (let c = firstChild[parent]; c !== 0; c = next[c]) {
				if (!(amount[c] > 0))
					continue;
				x[c] = at;
				width[c] = amount[c] / total;
				at += width[c];
				order[filled++] = c;
			}
		}
		rowStart.push(filled);
	}
	rowStart.pop(); // the empty row after the last one
	return { tree, total, order, rowStart, x, width, nRows: rowStart.length - 1 };
}

/** The first place in a row whose node ends right of X. */
export function firstEndingAfter(layout, row, x) {
	const { order, rowStart, x: left, width } = layout;
	let low = rowStart[row];
	let high = rowStart[row + 1];
	while (low < high) {
		const middle = (low + high) >>> 1;
		const node = order[middle];
		if (left[node] + width[node] > x)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/**
 * visitRow - what of a row is to be drawn of the window x0 to x1
 * @pixel: the width of a pixel in the same measure
 * @box:   (node, from, to) of a node that is at least half a pixel wide
 * @crumb: (from, to) of a place where narrower ones lie; at most one call for two pixels
 *
 * However many nodes there are, the time goes with the pixels: after a narrow node the search
 * for the next goes on where its pixel ends.
 */
export function visitRow(layout, row, x0, x1, pixel, box, crumb) {
	const { order, rowStart, x, width } = layout;
	const end = rowStart[row + 1];
	const narrow = pixel / 2;
	let crumbFrom = -1;
	let crumbTo = -1;
	let i = firstEndingAfter(layout, row, x0);
	while (i < end) {
		const node = order[i];
		const from = x[node];
		if (from >= x1)
			break;
		if (width[node] >= narrow) {
			box(node, from, from + width[node]);
			i++;
			continue;
		}
		if (from > crumbTo + pixel) {
			if (crumbFrom >= 0)
				crumb(crumbFrom, crumbTo);
			crumbFrom = from;
		}
		crumbTo = from + narrow;
		i = nextEndingAfter(layout, i + 1, end, crumbTo);
	}
	if (crumbFrom >= 0)
		crumb(crumbFrom, crumbTo);
}

/*
 * As firstEndingAfter, from a place on and in steps that grow: the next one is mostly near.  A
 * node of half a pixel cannot be jumped over: it begins after the crumb and so ends after X.
 */
function nextEndingAfter(layout, from, end, x) {
	const { order, x: left, width } = layout;
	const ends = (i) => left[order[i]] + width[order[i]];
	let step = 1;
	let low = from;
	while (low + step < end && ends(low + step) <= x) {
		low += step;
		step *= 2;
	}
	let high = Math.min(end, low + step);
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (ends(middle) > x)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/** The node at X of a row, or -1. */
export function nodeAt(layout, row, x) {
	if (row < 0 || row >= layout.nRows)
		return -1;
	const i = firstEndingAfter(layout, row, x);
	if (i >= layout.rowStart[row + 1])
		return -1;
	const node = layout.order[i];
	return layout.x[node] <= x ? node : -1;
}

/** The next node of its row, STEP (1 or -1) further, or the node itself at the row's end. */
export function besideNode(layout, node, step) {
	const row = layout.tree.depth[node];
	const middle = layout.x[node] + layout.width[node] / 2;
	const i = firstEndingAfter(layout, row, middle) + step;
	return i >= layout.rowStart[row] && i < layout.rowStart[row + 1] ? layout.order[i] : node;
}

/** The widest child of a node, or -1. */
export function widestChild(layout, node) {
	const { firstChild, next } = layout.tree;
	let best = -1;
	for (let c = firstChild[node]; c !== 0; c = next[c]) {
		if (layout.width[c] > 0 && (best < 0 || layout.width[c] > layout.width[best]))
			best = c;
	}
	return best;
}

/** From the root's child down to the node. */
export function pathOf(tree, node) {
	const path = [];
	for (let at = node; at !== 0; at = tree.parent[at])
		path.push(at);
	return path.reverse();
}

/** The node that names lead to from the root, as far as they lead. */
export function followPath(tree, names, nameOf) {
	let node = 0;
	for (const name of names) {
		let child = tree.firstChild[node];
		while (child !== 0 && nameOf(tree.frame[child]) !== name)
			child = tree.next[child];
		if (child === 0)
			break;
		node = child;
	}
	return node;
}

/** A window of the same width or less around FACTOR of it; AT stays where it is. */
export function zoomWindow(window, at, factor) {
	const [x0, x1] = window;
	const span = Math.min(1, Math.max(1e-12, (x1 - x0) * factor));
	const left = at - ((at - x0) / (x1 - x0)) * span;
	const from = Math.min(1 - span, Math.max(0, left));
	return [from, from + span];
}

/** The window moved by a part of its own width, within 0 to 1. */
export function panWindow(window, part) {
	const span = window[1] - window[0];
	const from = Math.min(1 - span, Math.max(0, window[0] + part * span));
	return [from, from + span];
}

/**
 * widestNodes - the nodes below ROOT that a drawing has room to name, row by row, widest first
 * @amount: (node) -> how wide it is
 */
export function widestNodes(tree, amount, root = 0) {
	const least = amount(0) * LEAST_SHARE;
	const nodes = [root];
	for (let i = 0; i < nodes.length && nodes.length < MOST_NAMED; i++) {
		const children = [];
		for (let c = tree.firstChild[nodes[i]]; c !== 0; c = tree.next[c])
			if (amount(c) >= least)
				children.push(c);
		nodes.push(...children.sort((a, b) => amount(b) - amount(a)));
	}
	return nodes.slice(0, MOST_NAMED);
}
