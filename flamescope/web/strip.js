/* strip.js - what each thread was doing, one stack a pixel, in the order of time */

import { threadLabel } from "wick/details.js";

/**
 * stripOf - the samples of a selection, thread by thread
 *
 * Return: {nodes, depth, times, stacks, values, threads: [{label, from, to, amount, deepest, gap}]}: the
 * threads are most first, from and to are places in times, stacks (numbers of nodes) and values; depth is
 * of each node, and deepest that of the thread's deepest stack; gap is for how long a sample stands for
 * what came after it: after that nothing is known, and the strip stays empty.
 */
export function stripOf(selection) {
	const { profile, n, samples } = selection;
	const nThreads = profile.threads.length;
	const start = new Uint32Array(nThreads + 1);
	const threadOf = (i) => profile.thread[samples[i]];
	for (let i = 0; i < n; i++)
		start[threadOf(i) + 1]++;
	for (let t = 0; t < nThreads; t++)
		start[t + 1] += start[t];
	const place = start.slice();
	const strip = { nodes: { n: selection.nodes.n, parent: selection.nodes.parent.slice(), frame: selection.nodes.frame.slice() },
		depth: nodeDepths(selection.nodes), times: new Float64Array(n), stacks: new Uint32Array(n), values: new Float64Array(n) };
	for (let i = 0; i < n; i++) {
		const at = place[threadOf(i)]++;
		strip.times[at] = profile.time[samples[i]];
		strip.stacks[at] = selection.stacks[i];
		strip.values[at] = selection.values[i];
	}
	const threads = [];
	for (let t = 0; t < nThreads; t++)
		if (start[t + 1] > start[t])
			threads.push(threadOfStrip(strip, threadLabel(profile.threads[t]), start[t], start[t + 1]));
	return { ...strip, threads: threads.sort((a, b) => b.amount - a.amount) };
}

function threadOfStrip({ depth, times, stacks, values }, label, from, to) {
	const thread = { label, from, to, amount: 0, deepest: 0, gap: gapOf(times.subarray(from, to)) };
	for (let i = from; i < to; i++) {
		thread.amount += Math.abs(values[i]);
		thread.deepest = Math.max(thread.deepest, depth[stacks[i]]);
	}
	return thread;
}

/* Twice the median distance of samples at these times. */
function gapOf(times) {
	const step = Math.max(1, Math.floor((times.length - 1) / 999));
	const distances = [];
	for (let i = 0; i + 1 < times.length; i += step)
		distances.push(times[i + 1] - times[i]);
	return 2 * (distances.sort((a, b) => a - b)[distances.length >> 1] ?? 0);
}

/** The first place of a thread that is at or after a moment. */
export function firstAtOrAfter(strip, thread, ns) {
	let low = thread.from;
	let high = thread.to;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (strip.times[middle] >= ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/**
 * stripColumns - the stack that each of N columns from FROM_NS to TO_NS shows
 *
 * Return: {stacks, places}: the node of the heaviest sample of the column; a column without one
 * goes on with the last sample while its gap lasts, and is -1 after.
 */
export function stripColumns(strip, thread, fromNs, toNs, n) {
	const { times, stacks, values } = strip;
	const shown = new Int32Array(n).fill(-1);
	const places = new Int32Array(n).fill(-1);
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
		if (best < 0)
			continue;
		places[c] = best;
		shown[c] = stacks[best];
	}
	return { stacks: shown, places };
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
	const parts = [];
	let place = firstAtOrAfter(strip, thread, fromNs);
	for (let i = 0; i < n; i++) {
		const from = fromNs + (i * (toNs - fromNs)) / n;
		const to = fromNs + ((i + 1) * (toNs - fromNs)) / n;
		const nodes = new Map();
		const first = place;
		for (; place < thread.to && times[place] < to; place++) {
			const node = stacks[place];
			nodes.set(node, (nodes.get(node) ?? 0) + Math.abs(values[place]));
		}
		parts.push({ from, to, samples: place - first, ...sumByName(nodes, nameOf) });
	}
	return parts;
}

function sumByName(nodes, nameOf) {
	const sums = new Map();
	let amount = 0;
	for (const [node, value] of nodes) {
		const name = nameOf(node);
		sums.set(name, (sums.get(name) ?? 0) + value);
		amount += value;
	}
	return { amount, functions: [...sums].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)) };
}

/**
 * stripBoxes - columns beside each other that are in the same call, row by row
 * @box: (depth, node, firstColumn, endColumn); depth 1 is the outermost frame
 */
export function stripBoxes(nodes, depth, columns, maxRows, box) {
	const open = new Int32Array(maxRows + 1).fill(-1);
	const since = new Int32Array(maxRows + 1);
	const now = new Int32Array(maxRows + 1);
	const close = (row, at) => {
		if (open[row] >= 0)
			box(row, open[row], since[row], at);
	};
	for (let c = 0; c < columns.length; c++) {
		if (c > 0 && columns[c] === columns[c - 1])
			continue;
		now.fill(-1);
		for (let at = columns[c]; at > 0; at = nodes.parent[at]) {
			if (depth[at] <= maxRows)
				now[depth[at]] = at;
		}
		for (let row = 1; row <= maxRows; row++) {
			if (now[row] === open[row])
				continue;
			close(row, c);
			open[row] = now[row];
			since[row] = c;
		}
	}
	for (let row = 1; row <= maxRows; row++)
		close(row, columns.length);
}

/** Depth of each node of a selection's stacks. */
function nodeDepths(nodes) {
	const depth = new Uint32Array(nodes.n);
	for (let i = 1; i < nodes.n; i++)
		depth[i] = depth[nodes.parent[i]] + 1;
	return depth;
}
