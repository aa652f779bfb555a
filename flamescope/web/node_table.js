/* node_table.js - a tree that grows by (parent, frame), and its children in the order of name */

// How many nodes a page may make: 2^26 of them are a gigabyte of tables already.
export const MAX_NODES = 1 << 26;

/** A tree whose nodes are found by parent and frame; node 0 is the root. */
export class NodeTable {
	constructor(expected = 1024) {
		let slots = 1024;
		while (slots < expected * 2)
			slots *= 2;
		this.slots = new Uint32Array(slots);
		this.parent = new Uint32Array(Math.max(16, expected));
		this.frame = new Uint32Array(Math.max(16, expected));
		this.n = 1;
	}

	/** The child of PARENT for FRAME, made if there is none. */
	child(parent, frame) {
		const mask = this.slots.length - 1;
		let slot = hash(parent, frame) & mask;
		for (;;) {
			const node = this.slots[slot];
			if (node === 0)
				return this.#add(parent, frame, slot);
			if (this.parent[node] === parent && this.frame[node] === frame)
				return node;
			slot = (slot + 1) & mask;
		}
	}

	#add(parent, frame, slot) {
		if (this.n >= MAX_NODES)
			throw new RangeError("too many different stacks for a page");
		if (this.n === this.parent.length) {
			this.parent = grown(this.parent);
			this.frame = grown(this.frame);
		}
		const node = this.n++;
		this.parent[node] = parent;
		this.frame[node] = frame;
		this.slots[slot] = node;
		if (this.n * 2 > this.slots.length)
			this.#rehash();
		return node;
	}

	#rehash() {
		const slots = new Uint32Array(this.slots.length * 2);
		const mask = slots.length - 1;
		for (let node = 1; node < this.n; node++) {
			let slot = hash(this.parent[node], this.frame[node]) & mask;
			while (slots[slot] !== 0)
				slot = (slot + 1) & mask;
			slots[slot] = node;
		}
		this.slots = slots;
	}

	/** {n, parent, frame}, no longer than needed; the table must not be used after. */
	finish() {
		return {
			n: this.n,
			parent: this.parent.subarray(0, this.n),
			frame: this.frame.subarray(0, this.n),
		};
	}
}

function hash(parent, frame) {
	let h = Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame + 1, 0x85ebca6b);
	h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35);
	return (h ^ (h >>> 13)) >>> 0;
}

function grown(array) {
	const larger = new Uint32Array(array.length * 2);
	larger.set(array);
	return larger;
}

/**
 * linkChildren - firstChild and next of a tree {n, parent, frame}, siblings by rankOf(frame)
 * @rank: a number for each frame, in the order that siblings shall have
 */
export function linkChildren(tree, rank, nRanks) {
	const { n, parent, frame } = tree;
	const firstChild = new Uint32Array(n);
	const next = new Uint32Array(n);
	const depth = new Uint32Array(n);
	const start = new Uint32Array(nRanks + 1);
	for (let i = 1; i < n; i++)
		start[rank[frame[i]] + 1]++;
	for (let i = 0; i < nRanks; i++)
		start[i + 1] += start[i];
	const order = new Uint32Array(n - 1);
	for (let i = 1; i < n; i++)
		order[start[rank[frame[i]]]++] = i;
	let maxDepth = 0;
	for (let i = 1; i < n; i++) {
		depth[i] = depth[parent[i]] + 1;
		if (depth[i] > maxDepth)
			maxDepth = depth[i];
	}
	// Last first, each before its parent's first: the lists come out in order.
	for (let i = order.length - 1; i >= 0; i--) {
		const node = order[i];
		next[node] = firstChild[parent[node]];
		firstChild[parent[node]] = node;
	}
	return { firstChild, next, depth, maxDepth };
}

const rows = new WeakMap(); /* of trees, which never change */

/**
 * rowsOf - a tree's nodes row by row, siblings beside each other and in the order of rank
 *
 * Made once a tree, since sorting takes longer than all else that is done with a selection.
 *
 * Return: {node, place, parent, frame, depth}: node is the number in the tree and place the other
 * way round, neither where they are the same; parent is a place, and below its children's.
 */
export function rowsOf(tree, rank) {
	if (rows.has(tree))
		return rows.get(tree);
	const { n, frame } = tree;
	const { start, children } = childLists(tree, rank);
	const made = {
		node: new Uint32Array(n), parent: new Uint32Array(n), frame: new Uint32Array(n),
		depth: new Uint32Array(n), place: new Uint32Array(n),
	};
	let filled = 1;
	for (let at = 0; at < filled; at++) {
		const node = made.node[at];
		for (let i = start[node]; i < start[node + 1]; i++) {
			const child = children[i];
			made.node[filled] = child;
			made.parent[filled] = at;
			made.frame[filled] = frame[child];
			made.depth[filled] = made.depth[at] + 1;
			made.place[child] = filled++;
		}
	}
	rows.set(tree, made);
	return made;
}

/**
 * orderStacks - a profile's tree in the order of rowsOf(), and each sample's stack in that tree
 *
 * A selection's sums then go where they belong at once: what is looked up for each of a million
 * samples is most of what a new selection costs.
 *
 * Return: {nodes: {n, parent, frame}, stack}
 */
export function orderStacks(tree, stack, rank) {
	const { parent, frame, depth, place } = rowsOf(tree, rank);
	const nodes = { n: tree.n, parent, frame };
	const ordered = new Uint32Array(stack.length);
	for (let i = 0; i < ordered.length; i++)
		ordered[i] = place[stack[i]];
	rows.delete(tree);
	rows.set(nodes, { parent, frame, depth });
	return { nodes, stack: ordered };
}

/** A number for each of NAMES in their order; two that are the same keep theirs. */
export function ranksOf(names) {
	const order = Uint32Array.from(names.keys()).sort((a, b) =>
		(names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
	const rank = new Uint32Array(names.length);
	order.forEach((frame, i) => (rank[frame] = i));
	return rank;
}

/* Children of node i are children[start[i]...start[i + 1]), by rank: two stable counting sorts. */
function childLists({ n, parent, frame }, rank) {
	const ofRank = new Uint32Array(rank.length + 1);
	const start = new Uint32Array(n + 1);
	for (let i = 1; i < n; i++) {
		ofRank[rank[frame[i]] + 1]++;
		start[parent[i] + 1]++;
	}
	for (let i = 0; i < rank.length; i++)
		ofRank[i + 1] += ofRank[i];
	for (let i = 0; i < n; i++)
		start[i + 1] += start[i];
	const ranked = new Uint32Array(n - 1);
	for (let i = 1; i < n; i++)
		ranked[ofRank[rank[frame[i]]]++] = i;
	const children = new Uint32Array(n - 1);
	const free = start.slice();
	for (let i = 0; i < ranked.length; i++)
		children[free[parent[ranked[i]]]++] = ranked[i];
	return { start, children };
}
