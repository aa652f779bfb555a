/* threads.js - how much each process and thread has of a selection, and when */

import { amountOf, countsSamples, dimensionOf } from "wick/models/select.js";

const N_BINS = 200; /* of a track */

/* All threads, by the code of their label: which samples of SELECTION each has. */
function threadsOf({ profile, samples }, { labels, codes }) {
	const process = dimensionOf(profile, "process");
	const threads = labels.map((label) => ({ label, level: 1, amount: 0, running: 0, places: [] }));
	samples.forEach((sample, i) => {
		threads[codes[sample]].process ??= process.labels[process.codes[sample]];
		threads[codes[sample]].places.push(i);
	});
	return threads;
}

const mostFirst = (a, b) => b.amount - a.amount || (a.label < b.label ? -1 : 1);

/* Processes and their threads as they are listed; a thread that is alone stands for its process. */
function listed(threads) {
	const processes = new Map();
	for (const thread of threads) {
		const key = thread.process || `\0${thread.label}`;
		const process = processes.get(key) ?? { label: thread.process, level: 1, amount: 0, running: 0, threads: [] };
		processes.set(key, process);
		process.threads.push(thread);
		process.amount += thread.amount;
		process.running += thread.running;
	}
	return [...processes.values()].map((process) => (process.threads.length === 1 ? process.threads[0] : process)).sort(mostFirst)
		.flatMap((row) => [row, ...(row.threads ?? []).sort(mostFirst).map((thread) => Object.assign(thread, { level: 2 }))]);
}

/**
 * threadTracks - the processes and threads of a selection, and what each has in N_BINS parts of a time
 * @whole:    all of the time, from which the tracks are
 * @selected: what amounts are of
 *
 * Return: {rows: [{label, level, amount, running, nThreads, from, to}], bins, values, most, total, nBins, nStates,
 * states, countsSamples, isLanes}: rows are processes (nThreads > 0), each before its threads (level
 * 2), most first; running: what of the amount is of that state.  From `from` to `to` in bins and values is a row's
 * track: bins have bin * nStates + state of profile.states, and the last for all else.  most: the largest bin by
 * level; states: those that there are; countsSamples: amounts are numbers of samples; isLanes: samples stand for
 * times (wall time, docs/decisions/0011), and a track has all of them.
 */
export function threadTracks(whole, selected, fromNs, toNs) {
	const { profile } = whole;
	const nStates = profile.states.length + 1;
	const thread = dimensionOf(profile, "thread");
	const state = profile.tags.some(({ name }) => name === "state") ? dimensionOf(profile, "state") : null;
	const stateOf = state?.labels.map((label) => (profile.states.findIndex((known) => known.label === label) + nStates) % nStates);
	const { spans } = whole;
	const isLanes = spans.to.length > 0;
	const binNs = (toNs - fromNs) / N_BINS;
	const threads = threadsOf(whole, thread);
	const cells = { bins: [], values: [], states: new Set() };
	const most = [0, 0, 0];
	let total = 0;
	selected.samples.forEach((sample, i) => {
		const amount = amountOf(selected, i);
		const row = threads[thread.codes[sample]];
		row.amount += amount;
		row.running += state?.labels[state.codes[sample]] === "running" ? amount : 0;
		total += amount;
	});

	function add(i) {
		const sample = whole.samples[i];
		const at = state ? stateOf[state.codes[sample]] : nStates - 1;
		const amount = amountOf(whole, i);
		const end = ((isLanes ? spans.to[i] : profile.time[sample]) - fromNs) / binNs;
		const length = isLanes ? (spans.to[i] - spans.from[i]) / binNs : 0;
		const last = Math.min(N_BINS - 1, Math.floor(end));
		for (let bin = Math.max(0, Math.floor(end - length)); bin <= last; bin++)
			sums[bin * nStates + at] += length ? binNs * (Math.min(end, bin + 1) - Math.max(end - length, bin)) : amount;
	}

	function keep(level) {
		const from = cells.bins.length;
		for (let bin = 0; bin < N_BINS; bin++) {
			let sum = 0;
			for (let at = bin * nStates; at < (bin + 1) * nStates; at++) {
				if (sums[at] === 0)
					continue;
				cells.bins.push(at);
				cells.values.push(sums[at]);
				cells.states.add(at % nStates);
				sum += sums[at];
			}
			most[level] = Math.max(most[level], sum);
		}
		return { from, to: cells.bins.length };
	}

	const sums = new Float64Array(N_BINS * nStates); /* of one row after the other */
	const rows = listed(threads.filter(({ places }) => places.length)).map((row) => {
		sums.fill(0);
		for (const { places } of row.threads ?? [row])
			places.forEach(add);
		const { label, level, amount, running } = row;
		return { label, level, amount, running, nThreads: row.threads?.length ?? 0, ...keep(level) };
	});
	return { rows, bins: Uint16Array.from(cells.bins), values: Float64Array.from(cells.values), most, total,
		nBins: N_BINS, nStates, states: [...cells.states],
		countsSamples: countsSamples(selected), isLanes };
}
