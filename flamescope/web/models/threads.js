/* threads.js - how much each process and thread has of a selection, and when, of flamescope/heat/tracks.h */

import { columns, facts, using } from "wick/models/model.js";
import { countsSamples } from "wick/models/select.js";

const N_BINS = 200; /* of a track */
const COLUMNS = ["level", "amount", "running", "nThreads", "from", "to", "labels", "bins", "values"];

/**
 * threadTracks - the processes and threads of a selection, and what each has in N_BINS parts of a time
 * @whole:    all of the time, from which the tracks are
 * @selected: what amounts are of
 *
 * Return: {labels, level, amount, running, nThreads, from, to, bins, values, most, total, nBins, nStates, states,
 * countsSamples, isLanes}: rows, of which each column has one, are processes (nThreads > 0), each before its threads (level
 * 2), most first; running: what of the amount is of that state.  From `from` to `to` in bins and values is a row's
 * track: bins have bin * nStates + state of profile.states, and the last for all else.  most: the largest bin by
 * level; states: those that there are; countsSamples: amounts are numbers of samples; isLanes: samples stand for
 * times (wall time, docs/decisions/0011), and a track has all of them.
 */
export function threadTracks(whole, selected, fromNs, toNs) {
	const tracks = using("tracks", [whole.made, selected.made, fromNs, toNs, N_BINS],
		(made) => ({ ...facts("tracks", made), ...columns("tracks", made, ...COLUMNS) }));
	return { ...tracks, nBins: N_BINS, states: [...new Set(tracks.bins.map((at) => at % tracks.nStates))],
		countsSamples: countsSamples(selected), isLanes: whole.hasSpans };
}
