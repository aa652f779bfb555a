/*
 * tree_layout.js - which nodes of a tree a picture has to show
 *
 * The nodes of a tree (flamescope/flame/rows.c) are row by row, from left to right: those of a depth are beside each other, and so
 * are the children of a node.
 */

import { fitWindow, pannedBy, zoomedAt } from "wick/parts/canvas.js";

const MOST_NAMED = 200; /* nodes in a table of a tree */
const LEAST_SHARE = 1 / 200; /* of the whole: narrower boxes carry no name either */

/**
 * The columns {parent, depth, x, width, ...} of nodes, with n and maxDepth, that of what has a width; the root is 0
 * to 1 (of nothing 0 to 0).
 */
export const asTree = (nodes) => ({ ...nodes, n: nodes.parent.length,
	maxDepth: nodes.depth[Math.max(0, nodes.width.findLastIndex((width) => width > 0))] });

/** The first of FROM to TO of which isPast() is true, as of all after it; TO: none. */
function firstWhere(from, to, isPast) {
	while (from < to) {
		const middle = (from + to) >>> 1;
		if (isPast(middle))
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

const firstFrom = (column, from, value) => firstWhere(from, column.length, (i) => column[i] >= value);

/** [first, end] of the nodes of a row. */
export const rowOf = ({ depth }, row) => [firstFrom(depth, 0, row), firstFrom(depth, 0, row + 1)];

/** [first, end] of the children of a node. */
export const childrenOf = ({ parent }, node) => [firstFrom(parent, 1, node), firstFrom(parent, 1, node + 1)];

/** {gain, loss, samples} of a node by itself, without its children. */
export const ownOf = (tree, node, below = childrenOf(tree, node)) => Object.fromEntries(["gain", "loss", "samples"].map((name) =>
	[name, tree[name].subarray(...below).reduce((own, one) => own - one, tree[name][node])]));

/* The first of FROM to END that ends right of X, in steps that grow: it is mostly near. */
function firstEndingAfter({ x: left, width }, from, end, x) {
	const isPast = (i) => left[i] + width[i] > x;
	let step = 1;
	while (from + step < end && !isPast(from + step))
		step *= 2;
	return firstWhere(from + (step >> 1), Math.min(end, from + step), isPast);
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
export function visitRow(tree, row, [x0, x1], pixel, box, crumb) {
	const { x, width } = tree;
	const [first, end] = rowOf(tree, row);
	const narrow = pixel / 2;
	let crumbFrom = -1;
	let crumbTo = -1;
	let i = firstEndingAfter(tree, first, end, x0);
	while (i < end && x[i] < x1) {
		const from = x[i];
		if (width[i] >= narrow) {
			box(i, from, from + width[i]);
			i++;
			continue;
		}
		if (width[i] > 0) {
			if (from > crumbTo + pixel) {
				if (crumbFrom >= 0)
					crumb(crumbFrom, crumbTo);
				crumbFrom = from;
			}
			crumbTo = from + narrow;
		}
		i = firstEndingAfter(tree, i + 1, end, Math.max(from, crumbTo));
	}
	if (crumbFrom >= 0)
		crumb(crumbFrom, crumbTo);
}

/** The node at X of a row, or -1. */
export function nodeAt(tree, row, x) {
	const [first, end] = rowOf(tree, row);
	const i = firstEndingAfter(tree, first, end, x);
	return i < end && tree.x[i] <= x ? i : -1;
}

/** The next node of its row, STEP (1 or -1) further, or the node itself at the row's end. */
export function besideNode({ depth, width }, node, step) {
	let at = node + step;
	while (depth[at] === depth[node] && !(width[at] > 0))
		at += step;
	return depth[at] === depth[node] ? at : node;
}

/** The child of which most is in the window, or which is nearest to it; -1: there is none. */
export function widestChild(tree, node, [x0, x1]) {
	const { x, width } = tree;
	let best = -1;
	let most = -Infinity;
	for (let [c, end] = childrenOf(tree, node); c < end; c++) {
		const seen = Math.min(x1, x[c] + width[c]) - Math.max(x0, x[c]);
		if (width[c] > 0 && seen > most)
			[best, most] = [c, seen];
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
		let [child, end] = childrenOf(tree, node);
		while (child < end && nameOf(tree.frame[child]) !== name)
			child++;
		if (child === end)
			break;
		node = child;
	}
	return node;
}

/** A window FACTOR as wide, within 0 to 1; AT stays where it is. */
export const zoomWindow = (window, at, factor) => fitWindow(zoomedAt(window, factor, at), [0, 1], 1e-12);

/** The window moved by a part of its own width, within 0 to 1. */
export const panWindow = (window, part) => fitWindow(pannedBy(window, part), [0, 1], 0);

/** The nodes below ROOT that a drawing has room to name, row by row, widest first. */
export function widestNodes(tree, root) {
	const nodes = [root];
	for (let i = 0; i < nodes.length && nodes.length < MOST_NAMED; i++) {
		const [first, end] = childrenOf(tree, nodes[i]);
		const children = Array.from({ length: end - first }, (_, k) => first + k);
		nodes.push(...children.filter((c) => tree.width[c] >= LEAST_SHARE).sort((a, b) => tree.width[b] - tree.width[a]));
	}
	return nodes.slice(0, MOST_NAMED);
}
