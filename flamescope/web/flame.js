/*
 * flame.js - stacks merged into a tree: the model of flame graph, icicle, reverse and sandwich
 *
 * The same as flamescope/flame/flame.h, in columns: sums are kept apart by sign, so that what f
 * took and g gave back is seen at both, and a node is as wide as gain + loss.
 */

import { frameName } from "wick/select.js";
import { NodeTable, ranksOf, rowsOf } from "wick/node_table.js";

const ranks = new WeakMap(); /* of a profile or of groups' labels: sorting takes a while */

/* A number for each frame in the order of names; two of the same name keep theirs. */
export function nameRanks(selection) {
	const { profile, labels } = selection;
	const key = labels.length === 0 ? profile : labels;
	if (!ranks.has(key)) {
		const n = profile.frames.n + labels.length;
		ranks.set(key, ranksOf(Array.from({ length: n }, (_, frame) => frameName(selection, frame))));
	}
	return ranks.get(key);
}

function emptySums(n) {
	return {
		selfGain: new Float64Array(n),
		selfLoss: new Float64Array(n),
		selfSamples: new Float64Array(n),
	};
}

/* How many samples each node of the selection's tree has itself, and by PLACE what they sum up to. */
function selfSums(selection, place = null) {
	const sums = emptySums(selection.nodes.n);
	const { selfGain, selfLoss, selfSamples } = sums;
	const { stacks, values } = selection;
	if (selection.measure === "samples") { /* then a gain is their number */
		for (let i = 0; i < selection.n; i++)
			selfSamples[place ? place[stacks[i]] : stacks[i]]++;
		return { ...sums, selfGain: selfSamples };
	}
	for (let i = 0; i < selection.n; i++) {
		const at = place ? place[stacks[i]] : stacks[i];
		const value = values[i];
		selfSamples[at]++;
		if (value < 0) {
			selfLoss[at] -= value;
			sums.anyLoss = true;
		} else {
			selfGain[at] += value;
		}
	}
	return sums;
}

/* A column of nodes in the order of the rows. */
function inOrder(rows, column) {
	const ordered = new Float64Array(rows.node.length);
	for (let at = 0; at < ordered.length; at++)
		ordered[at] = column[rows.node[at]];
	return ordered;
}

/* Callers have what their callees have; a callee's place is above its caller's. */
function addUp({ parent }, own) {
	const all = own.slice();
	for (let i = all.length - 1; i > 0; i--)
		all[parent[i]] += all[i];
	return all;
}

/* Of the rows what has samples: siblings are beside each other, so links follow from places. */
function keepUsed(rows, used) {
	let n = 1;
	for (let i = 1; i < used.length; i++)
		n += used[i] > 0 ? 1 : 0;
	const number = new Uint32Array(used.length);
	const kept = {
		n, place: new Uint32Array(n), parent: new Uint32Array(n), frame: new Uint32Array(n),
		depth: new Uint32Array(n), firstChild: new Uint32Array(n), next: new Uint32Array(n),
	};
	let at = 1;
	for (let i = 1; i < used.length; i++) {
		if (!(used[i] > 0))
			continue;
		const parent = number[rows.parent[i]];
		number[i] = at;
		kept.place[at] = i;
		kept.parent[at] = parent;
		kept.frame[at] = rows.frame[i];
		kept.depth[at] = rows.depth[i];
		if (at > 1 && kept.parent[at - 1] === parent)
			kept.next[at - 1] = at;
		else
			kept.firstChild[parent] = at;
		at++;
	}
	return kept;
}

function pick(column, place) {
	const picked = new Float64Array(place.length);
	for (let i = 0; i < place.length; i++)
		picked[i] = column[place[i]];
	return picked;
}

/* Only what has samples, numbered anew; SUMS is the rows' own. */
function finish(selection, rows, sums) {
	const all = addUp(rows, sums.selfSamples);
	const { place, ...flame } = keepUsed(rows, all);
	const selfSamples = pick(sums.selfSamples, place);
	const samples = pick(all, place);
	const isCount = selection.measure === "samples"; /* then a gain is a number of samples */
	const none = new Float64Array(flame.n);
	return {
		...flame,
		selection,
		inRows: true,
		maxDepth: flame.depth[flame.n - 1],
		selfSamples,
		samples,
		selfGain: isCount ? selfSamples : pick(sums.selfGain, place),
		gain: isCount ? samples : pick(addUp(rows, sums.selfGain), place),
		selfLoss: sums.anyLoss ? pick(sums.selfLoss, place) : none,
		loss: sums.anyLoss ? pick(addUp(rows, sums.selfLoss), place) : none,
	};
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
	const rank = nameRanks(selection);
	if (order === "calls" && !around) {
		const rows = rowsOf(nodes, rank);
		return finish(selection, rows, selfSums(selection, rows.place));
	}
	const sums = selfSums(selection);
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
	const rows = rowsOf(table.finish(), rank);
	const ordered = { anyLoss: sums.anyLoss };
	for (const key of Object.keys(grown))
		ordered[key] = inOrder(rows, grown[key]);
	return finish(selection, rows, ordered);
}
