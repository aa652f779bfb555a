/* strip.js - what each thread was doing, one stack a pixel, in the order of time */

import { firstWhere } from "wick/stacks/tree_layout.js";

const MOST_ROWS = 256; /* of a stack */

/* As the dimension "thread" names it. */
const threadLabel = ({ comm, tid }) => (tid < 0 ? comm : `${comm}/${tid}`);

/**
 * stripOf - the samples of the threads with most of a selection, thread by thread
 *
 * Return: {nThreads, nodes, depth, times, stacks, values, threads: [{label, from, to, amount, deepest, gap}]}:
 * there are nThreads, and threads are the first nShown of them, most first; from and to are places in times,
 * stacks (numbers of nodes) and values; depth is of each node, and deepest that of the thread's deepest
 * stack; gap is for how long a sample stands for what came after it: after that nothing is known, and the
 * strip stays empty.
 */
export function stripOf({ profile, n, nodes, samples, stacks, values }, nShown = Infinity) {
	const all = Array.from(profile.threads, (thread) => ({ label: threadLabel(thread), amount: 0, of: [] }));
	for (let i = 0; i < n; i++) {
		const thread = all[profile.thread[samples[i]]];
		thread.of.push(i);
		thread.amount += Math.abs(values[i]);
	}
	const found = all.filter(({ of }) => of.length).sort((a, b) => b.amount - a.amount);
	const shown = found.slice(0, nShown);
	const order = Uint32Array.from(shown.flatMap(({ of }) => of));
	const strip = { nThreads: found.length, nodes: { n: nodes.n, parent: nodes.parent.slice(), frame: nodes.frame.slice() },
		depth: nodeDepths(nodes), times: Float64Array.from(order, (i) => profile.time[samples[i]]),
		stacks: Uint32Array.from(order, (i) => stacks[i]), values: Float64Array.from(order, (i) => values[i]) };
	let to = 0;
	const threads = shown.map(({ label, amount, of }) => {
		const from = to;
		to += of.length;
		return { label, from, to, amount, gap: gapOf(strip.times.subarray(from, to)),
			deepest: strip.stacks.subarray(from, to).reduce((deepest, node) => Math.max(deepest, strip.depth[node]), 0) };
	});
	return { ...strip, threads };
}

/* Twice the median distance of samples at these times. */
function gapOf(times) {
	const step = Math.max(1, Math.floor((times.length - 1) / 999));
	const distances = [];
	for (let i = 0; i + 1 < times.length; i += step)
		distances.push(times[i + 1] - times[i]);
	return 2 * (distances.sort((a, b) => a - b)[distances.length >> 1] ?? 0);
}

/* The first place of a thread that is at or after a moment. */
const firstAtOrAfter = ({ times }, { from, to }, ns) => firstWhere(from, to, (place) => times[place] >= ns);

/*
 * The stacks that N columns from FROM_NS to TO_NS show: the node of the heaviest sample of each; a column without one
 * goes on with the last sample while its gap lasts, and is -1 after.
 */
function stripColumns(strip, thread, fromNs, toNs, n) {
	const { times, stacks, values } = strip;
	const shown = new Int32Array(n).fill(-1);
	const column = (toNs - fromNs) / n;
	let place = Math.max(thread.from, firstAtOrAfter(strip, thread, fromNs) - 1);
	let last = -1;
	for (let c = 0; c < n; c++) {
		const end = fromNs + (c + 1) * column;
		let best = -1;
		while (place < thread.to && times[place] < end) {
			last = place++;
			if (times[last] < fromNs + c * column)
				continue;
			if (best < 0 || Math.abs(values[last]) > Math.abs(values[best]))
				best = last;
		}
		if (best < 0 && last >= 0 && fromNs + c * column - times[last] <= thread.gap)
			best = last;
		if (best >= 0)
			shown[c] = stacks[best];
	}
	return shown;
}

/**
 * stripParts - a thread's time from FROM_NS to TO_NS in N equal parts, and what each is spent in
 * @nameOf: (node) -> the name of its function
 *
 * Return: [{from, to, samples, amount, functions: [[name, amount]]}]; functions are the innermost
 * ones, most first.
 */
export function stripParts(strip, thread, [fromNs, toNs], n, nameOf) {
	const { times, stacks, values } = strip;
	const edge = (i) => fromNs + (i * (toNs - fromNs)) / n;
	const add = (sums, key, amount) => sums.set(key, (sums.get(key) ?? 0) + amount);
	let place = firstAtOrAfter(strip, thread, fromNs);
	return Array.from({ length: n }, (_, i) => {
		const part = { from: edge(i), to: edge(i + 1), samples: 0, amount: 0 };
		const [byNode, byName] = [new Map(), new Map()];
		for (; place < thread.to && times[place] < part.to; place++, part.samples++)
			add(byNode, stacks[place], Math.abs(values[place]));
		for (const [node, amount] of byNode) {
			add(byName, nameOf(node), amount);
			part.amount += amount;
		}
		return { ...part, functions: [...byName].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)) };
	});
}

/**
 * stripTree - what a thread does in a WINDOW of time, N columns of it, as a tree of tree_layout.js
 * @end: of the recording, which is as wide as the root
 *
 * A node is a call that goes on in columns beside each other: {node: of the strip, frame}.
 */
export function stripTree(strip, thread, end, [from, to], n) {
	const { depth, nodes } = strip;
	const stacks = stripColumns(strip, thread, from, to, n);
	const rows = Array.from({ length: Math.min(MOST_ROWS, thread.deepest) + 1 }, () => []);
	rows[0].push({ node: 0, from: 0, to: n });
	for (let c = 0, next = 0; c < n; c = next) {
		while (next < n && stacks[next] === stacks[c])
			next++;
		for (let node = stacks[c]; node > 0; node = nodes.parent[node]) {
			const row = rows[depth[node]];
			const before = row?.at(-1);
			if (before?.node === node && before.to === c)
				before.to = next;
			else
				row?.push({ node, from: c, to: next });
		}
	}
	const boxes = rows.flat();
	const column = (Type, step) => Type.from(boxes, step);
	const depths = column(Uint32Array, ({ node }) => depth[node]);
	const part = (c) => (from + (c * (to - from)) / n) / end;
	let up = 0; /* the parent, which is in the row before and goes on for as long */
	return {
		n: boxes.length, maxDepth: rows.length - 1, depth: depths,
		parent: column(Uint32Array, (box, i) => {
			while (i > 0 && (depths[up] < depths[i] - 1 || boxes[up].to <= box.from))
				up++;
			return up;
		}),
		node: column(Uint32Array, ({ node }) => node),
		frame: column(Uint32Array, ({ node }) => nodes.frame[node]),
		x: column(Float64Array, (box, i) => (i === 0 ? 0 : part(box.from))),
		width: column(Float64Array, (box, i) => (i === 0 ? 1 : part(box.to) - part(box.from))),
	};
}

/** Depth of each node of a selection's stacks. */
function nodeDepths(nodes) {
	const depth = new Uint32Array(nodes.n);
	for (let i = 1; i < nodes.n; i++)
		depth[i] = depth[nodes.parent[i]] + 1;
	return depth;
}
