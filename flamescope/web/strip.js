/* strip.js - what each thread was doing, one stack a pixel, in the order of time */

/**
 * stripThreads - the samples of a selection, thread by thread
 *
 * Return: [{thread, label, from, to, amount}], most first: from and to are places in `order`,
 * which has the selection's samples of a thread beside each other in the order of time.
 */
export function stripThreads(selection, labelOf) {
	const { profile, n, samples } = selection;
	const nThreads = profile.threads.length;
	const start = new Uint32Array(nThreads + 1);
	const threadOf = (i) => profile.thread[samples[i]];
	const amount = new Float64Array(nThreads);
	for (let i = 0; i < n; i++) {
		start[threadOf(i) + 1]++;
		amount[threadOf(i)] += Math.abs(selection.values[i]);
	}
	for (let t = 0; t < nThreads; t++)
		start[t + 1] += start[t];
	const fill = start.slice();
	const order = new Uint32Array(n);
	for (let i = 0; i < n; i++)
		order[fill[threadOf(i)]++] = i;
	const threads = [];
	for (let t = 0; t < nThreads; t++) {
		if (start[t + 1] > start[t])
			threads.push({ thread: t, label: labelOf(t), from: start[t], to: start[t + 1], amount: amount[t] });
	}
	threads.sort((a, b) => b.amount - a.amount || a.thread - b.thread);
	return { selection, order, threads };
}

/** When a sample (by its place in the order) was taken, in nanoseconds since the start. */
export function stripTime(strip, place) {
	return strip.selection.profile.time[strip.selection.samples[strip.order[place]]];
}

/** The first place of a thread that is at or after a moment. */
export function firstAtOrAfter(strip, thread, ns) {
	let low = thread.from;
	let high = thread.to;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (stripTime(strip, middle) >= ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/**
 * stripGap - for how long a sample stands for what came after it
 *
 * Twice the median distance of the thread's samples: after that nothing is known, and the strip
 * stays empty.
 */
export function stripGap(strip, thread) {
	const n = thread.to - thread.from - 1;
	if (n < 1)
		return 0;
	const step = Math.max(1, Math.floor(n / 999));
	const distances = [];
	for (let i = thread.from; i + 1 < thread.to; i += step)
		distances.push(stripTime(strip, i + 1) - stripTime(strip, i));
	distances.sort((a, b) => a - b);
	return 2 * distances[distances.length >> 1];
}

/**
 * stripColumns - the stack that each of N columns from FROM_NS to TO_NS shows
 *
 * Return: {stacks, places}: the node of the heaviest sample of the column; a column without one
 * goes on with the last sample while its gap lasts, and is -1 after.
 */
export function stripColumns(strip, thread, fromNs, toNs, n) {
	const { stacks, values } = strip.selection;
	const shown = new Int32Array(n).fill(-1);
	const places = new Int32Array(n).fill(-1);
	const gap = thread.gap ?? (thread.gap = stripGap(strip, thread));
	const column = (toNs - fromNs) / n;
	let place = Math.max(thread.from, firstAtOrAfter(strip, thread, fromNs) - 1);
	let last = -1;
	for (let c = 0; c < n; c++) {
		const end = fromNs + (c + 1) * column;
		let best = -1;
		while (place < thread.to && stripTime(strip, place) < end) {
			last = place++;
			if (stripTime(strip, last) < fromNs + c * column)
				continue;
			if (best < 0 || Math.abs(values[strip.order[last]]) > Math.abs(values[strip.order[best]]))
				best = last;
		}
		if (best < 0 && last >= 0 && fromNs + c * column - stripTime(strip, last) <= gap)
			best = last;
		if (best < 0)
			continue;
		places[c] = best;
		shown[c] = stacks[strip.order[best]];
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
	const { stacks, values } = strip.selection;
	const parts = [];
	let place = firstAtOrAfter(strip, thread, fromNs);
	for (let i = 0; i < n; i++) {
		const from = fromNs + (i * (toNs - fromNs)) / n;
		const to = fromNs + ((i + 1) * (toNs - fromNs)) / n;
		const nodes = new Map();
		const first = place;
		for (; place < thread.to && stripTime(strip, place) < to; place++) {
			const node = stacks[strip.order[place]];
			nodes.set(node, (nodes.get(node) ?? 0) + Math.abs(values[strip.order[place]]));
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

/** Depth of each node of a selection's stacks, and of the deepest. */
export function nodeDepths(nodes) {
	const depth = new Uint32Array(nodes.n);
	let deepest = 0;
	for (let i = 1; i < nodes.n; i++) {
		depth[i] = depth[nodes.parent[i]] + 1;
		deepest = Math.max(deepest, depth[i]);
	}
	return { depth, deepest };
}
