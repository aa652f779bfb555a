/* frame_state.js - the state that threads are in while a function is in their stack */

import { numberOfFrames } from "wick/frames.js";

const known = new WeakMap(); /* of a selection, which never changes */

/**
 * frameStates - of each frame the state with the largest amount: "running", "sleeping"...
 *
 * Return: an array by number of the frame; "" where the recording says none.
 */
export function frameStates(selection) {
	if (!known.has(selection))
		known.set(selection, countStates(selection));
	return known.get(selection);
}

function countStates(selection) {
	const { profile, nodes, stacks, samples, values, n } = selection;
	const most = new Float64Array(numberOfFrames(selection));
	const states = new Array(most.length).fill("");
	const tag = profile.tags.find(({ name }) => name === "state");
	for (const [code, word] of (tag?.values ?? []).entries()) {
		if (word === "")
			continue;
		const sums = new Float64Array(nodes.n);
		const ofFrame = new Float64Array(most.length);
		for (let i = 0; i < n; i++)
			if (tag.codes[samples[i]] === code)
				sums[stacks[i]] += Math.abs(values[i]);
		for (let node = nodes.n - 1; node > 0; node--) {
			sums[nodes.parent[node]] += sums[node];
			ofFrame[nodes.frame[node]] += sums[node];
		}
		for (let frame = 0; frame < most.length; frame++) {
			if (ofFrame[frame] > most[frame]) {
				most[frame] = ofFrame[frame];
				states[frame] = word;
			}
		}
	}
	return states;
}
