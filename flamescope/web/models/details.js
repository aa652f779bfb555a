/* details.js - everything that the samples with a function in their stack say */

import { frameName, numberOfFrames } from "wick/stacks/frames.js";
import { dimensionOf } from "wick/models/select.js";

const MOST_VALUES = 12; // of a tag that are listed; the rest is added up

/* {marks: a byte a node, 1: it or a node above it is of the function NAME ("": any), 3: it itself; frames of that name}. */
function markFunction(selection, name) {
	const { n, parent, frame } = selection.nodes;
	const known = new Uint8Array(numberOfFrames(selection));
	const marks = new Uint8Array(n).fill(name === "" ? 1 : 0);
	const frames = [];
	for (let node = 1; name !== "" && node < n; node++) {
		const f = frame[node];
		if (known[f] === 0) {
			known[f] = frameName(selection, f) === name ? 2 : 1;
			if (known[f] === 2)
				frames.push(f);
		}
		marks[node] = known[f] === 2 ? 3 : marks[parent[node]] & 1;
	}
	return { marks, frames };
}

/**
 * functionDetails - what is known of the function NAME in a selection, or of all of it ("")
 *
 * Return: {frames, samples, selfSamples, total: {gain, loss}, self: {gain, loss}, firstNs, lastNs,
 * threads, metrics, tags}; samples is 0 when no stack has it.
 */
export function functionDetails(selection, name) {
	const { marks, frames } = markFunction(selection, name);
	const { profile } = selection;
	const picked = new Uint32Array(selection.n);
	const total = { gain: 0, loss: 0 };
	const self = { gain: 0, loss: 0 };
	let samples = 0;
	let selfSamples = 0;
	for (let i = 0; i < selection.n; i++) {
		const mark = marks[selection.stacks[i]];
		if (mark === 0)
			continue;
		picked[samples++] = i;
		count(total, selection.values[i]);
		if (mark & 2) {
			selfSamples++;
			count(self, selection.values[i]);
		}
	}
	const of = picked.subarray(0, samples);
	const time = (i) => profile.time[selection.samples[i]];
	return {
		name,
		frames,
		samples,
		selfSamples,
		total,
		self,
		firstNs: samples ? time(of[0]) : 0,
		lastNs: samples ? time(of[samples - 1]) : 0,
		metrics: profile.metrics.map((metric) => metricOf(selection, of, metric)).filter((m) => m.n > 0),
		tags: ["thread", ...profile.tags.map((tag) => tag.name)].map((dimension) => partsOf(selection, of, dimension)),
	};
}

function count(sum, value) {
	if (value > 0)
		sum.gain += value;
	else
		sum.loss -= value;
}

function metricOf(selection, picked, { name, unit, kind, values, deltas }) {
	const result = { name, unit, kind, n: 0, sum: 0, min: Infinity, max: -Infinity, gain: 0, loss: 0 };
	for (const i of picked) {
		const sample = selection.samples[i];
		const value = values[sample];
		if (Number.isNaN(value))
			continue;
		result.n++;
		result.sum += value;
		result.min = Math.min(result.min, value);
		result.max = Math.max(result.max, value);
		const delta = deltas[sample];
		if (!Number.isNaN(delta))
			count(result, delta);
	}
	result.mean = result.n ? result.sum / result.n : 0;
	return result;
}

/** As the dimension "thread" names it. */
export function threadLabel({ comm, tid }) {
	return tid < 0 ? comm : `${comm}/${tid}`;
}

/* How much each label of a dimension has of what is picked, most first; "" is of samples without one. */
function partsOf({ profile, samples, values }, picked, name) {
	const { labels, codes } = dimensionOf(profile, name);
	const sums = new Float64Array(labels.length);
	for (const i of picked)
		sums[codes[samples[i]]] += Math.abs(values[i]);
	const all = labels.map((label, code) => ({ label, amount: sums[code] })).filter(({ amount }) => amount > 0)
		.sort((a, b) => b.amount - a.amount);
	const rest = all.slice(MOST_VALUES);
	return { name, values: all.slice(0, MOST_VALUES), more: rest.length,
		moreAmount: rest.reduce((total, { amount }) => total + amount, 0), says: all.some(({ label }) => label !== "") };
}
