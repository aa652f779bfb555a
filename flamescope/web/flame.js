/*
 * flame.js - stacks merged into a tree: the model of flame graph, icicle, reverse and sandwich
 *
 * The same as flamescope/flame/flame.h, in columns: sums are kept apart by sign, so that what f
 * took and g gave back is seen at both, and a node is as wide as gain + loss.
 */

import { frameName } from "wick/select.js";
import { NodeTable, linkChildren } from "wick/node_table.js";

const ranks = new WeakMap(); /* of a profile without groups: sorting its names takes a while */

/* A number for each frame in the order of names; two of the same name keep theirs. */
export function nameRanks(selection) {
	const { profile, labels } = selection;
	if (labels.length === 0 && ranks.has(profile))
		return ranks.get(profile);
	const n = profile.frames.n + labels.length;
	const names = Array.from({ length: n }, (_, frame) => frameName(selection, frame));
	const order = Uint32Array.from(names.keys()).sort((a, b) =>
		(names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
	const rank = new Uint32Array(n);
	order.forEach((frame, i) => (rank[frame] = i));
	if (labels.length === 0)
		ranks.set(profile, rank);
	return rank;
}

function emptySums(n) {
	return {
		selfGain: new Float64Array(n),
		selfLoss: new Float64Array(n),
		selfSamples: new Float64Array(n),
	};
}

/* What each node of the selection's tree has itself. */
function selfSums(selection) {
	const sums = emptySums(selection.nodes.n);
	const { stacks, values } = selection;
	for (let i = 0; i < selection.n; i++) {
		const node = stacks[i];
		sums.selfSamples[node]++;
		if (values[i] < 0)
			sums.selfLoss[node] -= values[i];
		else
			sums.selfGain[node] += values[i];
	}
	return sums;
}

/* The numbers of the nodes that have samples, ascending; the root always. */
function usedNodes(samples) {
	let n = 1;
	for (let i = 1; i < samples.length; i++)
		n += samples[i] > 0 ? 1 : 0;
	const used = new Uint32Array(n);
	let to = 1;
	for (let i = 1; i < samples.length; i++)
		if (samples[i] > 0)
			used[to++] = i;
	return used;
}

function pick(column, used) {
	const picked = new column.constructor(used.length);
	for (let i = 0; i < used.length; i++)
		picked[i] = column[used[i]];
	return picked;
}

/* Callers have what their callees have; a callee's number is above its caller's. */
function addUp(parent, own) {
	const all = own.slice();
	for (let i = all.length - 1; i > 0; i--)
		if (all[i] !== 0)
			all[parent[i]] += all[i];
	return all;
}

/* Only what has samples, numbered anew; SUMS is the nodes' own. */
function finish(selection, tree, sums) {
	const { n, parent } = tree;
	const own = (key) => sums[key].subarray(0, n);
	const samples = addUp(parent, own("selfSamples"));
	const used = usedNodes(samples);
	const number = new Uint32Array(n);
	for (let i = 0; i < used.length; i++)
		number[used[i]] = i;
	const flame = {
		selection,
		n: used.length,
		parent: pick(parent, used),
		frame: pick(tree.frame, used),
		selfGain: pick(own("selfGain"), used),
		selfLoss: pick(own("selfLoss"), used),
		selfSamples: pick(own("selfSamples"), used),
		gain: pick(addUp(parent, own("selfGain")), used),
		loss: pick(addUp(parent, own("selfLoss")), used),
		samples: pick(samples, used),
	};
	for (let i = 0; i < flame.n; i++)
		flame.parent[i] = number[flame.parent[i]];
	const rank = nameRanks(selection);
	return Object.assign(flame, linkChildren(flame, rank, rank.length));
}

/* Grows sums beside a table. */
function addSums(to, node, from, source) {
	if (node >= to.selfGain.length) {
		for (const key of Object.keys(to)) {
			const larger = new Float64Array(to[key].length * 2);
			larger.set(to[key]);
			to[key] = larger;
		}
	}
	to.selfGain[node] += from.selfGain[source];
	to.selfLoss[node] += from.selfLoss[source];
	to.selfSamples[node] += from.selfSamples[source];
}

/* For each node of the tree its outermost ancestor (or itself) whose frame AROUND says; 0: none. */
function outermost(nodes, around) {
	const found = new Uint32Array(nodes.n);
	for (let i = 1; i < nodes.n; i++)
		found[i] = found[nodes.parent[i]] || (around[nodes.frame[i]] ? i : 0);
	return found;
}

/* The frames of a name: one byte each. */
function framesNamed(selection, name) {
	const n = selection.profile.frames.n + selection.labels.length;
	const named = new Uint8Array(n);
	let any = -1;
	for (let frame = 0; frame < n; frame++) {
		if (frameName(selection, frame) !== name)
			continue;
		named[frame] = 1;
		any = any < 0 ? frame : any;
	}
	return { named, first: any };
}

/* The frames of the stack of NODE, as they hang on the root of the graph that is made. */
function pathOf(nodes, node, order, around, path) {
	path.length = 0;
	if (order === "reverse") {
		for (let at = around ? around.top[node] : node; at !== 0; at = nodes.parent[at])
			path.push(nodes.frame[at]);
		/* Functions of one name are one, where the graph is about that name. */
		if (around)
			path[0] = around.first;
		return;
	}
	for (let at = node; at !== around.top[node]; at = nodes.parent[at])
		path.push(nodes.frame[at]);
	path.push(around.first);
	path.reverse();
}

/*
 * ORDER "calls" (outermost frame at the root) or "reverse" (innermost).  AROUND, the name of a
 * function: only stacks with it, from its outermost place on.
 */
export function makeFlame(selection, order = "calls", around = "") {
	const { nodes } = selection;
	const sums = selfSums(selection);
	if (order === "calls" && !around)
		return finish(selection, nodes, sums);
	const about = around ? framesNamed(selection, around) : null;
	if (about)
		about.top = outermost(nodes, about.named);
	const table = new NodeTable(nodes.n);
	const grown = emptySums(nodes.n);
	const path = [];
	for (let node = 0; node < nodes.n; node++) {
		if (sums.selfSamples[node] === 0 || (about && about.top[node] === 0))
			continue;
		pathOf(nodes, node, order, about, path);
		let at = 0;
		for (const frame of path)
			at = table.child(at, frame);
		addSums(grown, at, sums, node);
	}
	return finish(selection, table.finish(), grown);
}
