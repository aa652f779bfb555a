/* sums.js - what the samples of a selection add up to, for a few drawings */

import { frameName } from "wick/frames.js";

const TOP_FRAMES = 3;

/* Sums of the selection in N equal parts of the recording, apart by sign; of a time each part has its own. */
export function brushBins(selection, n) {
	const { profile, samples, values, spans } = selection;
	const scale = n / Math.max(1, profile.lengthNs);
	const bins = { gain: new Float64Array(n), loss: new Float64Array(n), most: 0 };
	for (let i = 0; i < selection.n; i++) {
		const to = spans.to.length ? Math.max(0, spans.to[i] * scale) : profile.time[samples[i]] * scale;
		const from = spans.from.length ? Math.max(0, spans.from[i] * scale) : to;
		const last = Math.min(n - 1, Math.floor(to));
		for (let at = Math.min(last, Math.floor(from)); at <= last; at++) {
			const part = to > from ? (Math.min(to, at + 1) - Math.max(from, at)) / (to - from) : 1;
			(values[i] < 0 ? bins.loss : bins.gain)[at] += part * Math.abs(values[i]);
		}
	}
	for (let i = 0; i < n; i++)
		bins.most = Math.max(bins.most, bins.gain[i], bins.loss[i]);
	return bins;
}

/* The innermost functions of a part of a selection, most first, as text. */
export function topFrames(selection) {
	const sums = new Map();
	let whole = 0;
	for (let i = 0; i < selection.n; i++) {
		const node = selection.stacks[i];
		const name = node === 0 ? "[no stack]" : frameName(selection, selection.nodes.frame[node]);
		const size = Math.abs(selection.values[i]);
		sums.set(name, (sums.get(name) ?? 0) + size);
		whole += size;
	}
	return [...sums].sort((a, b) => b[1] - a[1]).slice(0, TOP_FRAMES)
		.map(([name, sum]) => `${whole ? `${Math.round((100 * sum) / whole)} % ` : ""}${name}`);
}
