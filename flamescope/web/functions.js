/*
 * functions.js - what is known of each function, wherever it is in the stacks
 *
 * The same as flame_functions() of flamescope/flame/flame.h.
 */

/*
 * FLAME is makeFlame(selection, "calls") -> columns by row: {n, frame, selfGain, selfLoss, gain,
 * loss, selfSamples, samples, calls}, by gain + loss, most first.  A sample counts once in totals,
 * however often the function is in its stack; calls are the edges to it that were seen.
 */
export function makeFunctions(flame) {
	const nFrames = flame.selection.profile.frames.n + flame.selection.labels.length;
	const columns = {};
	for (const key of ["selfGain", "selfLoss", "gain", "loss", "selfSamples", "samples", "calls"])
		columns[key] = new Float64Array(nFrames);
	const onPath = new Uint32Array(nFrames);
	/* Down with 1, up with -1: a function counts at its outermost place only. */
	let node = 0;
	while (flame.n > 1) {
		let next = flame.firstChild[node];
		while (next === 0 && node !== 0) {
			onPath[flame.frame[node]]--;
			next = flame.next[node];
			node = next === 0 ? flame.parent[node] : node;
		}
		if (next === 0)
			break;
		node = next;
		const frame = flame.frame[node];
		if (onPath[frame]++ === 0) {
			columns.gain[frame] += flame.gain[node];
			columns.loss[frame] += flame.loss[node];
			columns.samples[frame] += flame.samples[node];
		}
		const above = flame.parent[node];
		if (above !== 0 && flame.frame[above] < flame.selection.profile.frames.n)
			columns.calls[frame] += flame.samples[node];
		columns.selfGain[frame] += flame.selfGain[node];
		columns.selfLoss[frame] += flame.selfLoss[node];
		columns.selfSamples[frame] += flame.selfSamples[node];
	}
	const seen = [];
	for (let frame = 0; frame < nFrames; frame++)
		if (columns.samples[frame] > 0)
			seen.push(frame);
	const total = (frame) => columns.gain[frame] + columns.loss[frame];
	seen.sort((a, b) => total(b) - total(a) || columns.samples[b] - columns.samples[a] || a - b);
	const rows = { n: seen.length, frame: Uint32Array.from(seen) };
	for (const [key, column] of Object.entries(columns))
		rows[key] = Float64Array.from(seen, (frame) => column[frame]);
	return rows;
}
