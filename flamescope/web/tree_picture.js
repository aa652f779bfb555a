/* tree_picture.js - how the nodes of a flame tree look, and what is said of them */

import { formatAmount, formatChange, formatShare } from "wick/amount.js";
import { compilePattern, matchedAmount, matchFrames } from "wick/frame_search.js";
import { frameInlined, frameModule, frameName } from "wick/select.js";
import { numberOfFrames } from "wick/transforms.js";
import { layoutTree } from "wick/tree_layout.js";

const layouts = new WeakMap(); /* of trees, which never change */

function layoutOf(tree) {
	let layout = layouts.get(tree);
	if (!layout) {
		const amount = new Float64Array(tree.n);
		for (let i = 0; i < tree.n; i++)
			amount[i] = tree.gain[i] + tree.loss[i];
		layout = layoutTree(tree, amount);
		layout.amount = amount;
		layouts.set(tree, layout);
	}
	return layout;
}

/* Colours of functions, by number of the frame; made when they are first asked for. */
function fillsOf(app, selection) {
	const fills = new Array(numberOfFrames(selection));
	const by = app.store.state.colour;
	return (frame) => fills[frame] ?? (fills[frame] =
		app.colours.frame(frameName(selection, frame), frameModule(selection, frame), by));
}

/** Of -1 (all of it shrank) to 1 (all of it grew); LESS is the colour of what shrank. */
export function signedColour(app, part, less = app.colours.loss) {
	if (part === 0)
		return app.colours.css("null");
	return (part > 0 ? app.colours.gain : less)(0.2 + 0.33 * Math.abs(part));
}

/* Red for what grew, green for what shrank, paler the more both of them are. */
function signedFill(app, tree) {
	const steps = 8;
	const fills = new Map();
	return (node) => {
		const sum = tree.gain[node] + tree.loss[node];
		const part = sum > 0 ? (tree.gain[node] - tree.loss[node]) / sum : 0;
		const step = Math.round(part * steps);
		if (!fills.has(step))
			fills.set(step, signedColour(app, step / steps));
		return fills.get(step);
	};
}

/** `12.3 ms`; of a signed metric `+12 MiB −3 MiB`. */
export function sayAmount(selection, gain, loss, samples) {
	if (selection.measure === "mean")
		return `mean ${formatAmount(samples ? (gain - loss) / samples : 0, selection.unit)}`;
	if (!selection.isSigned)
		return formatAmount(gain, selection.unit);
	const parts = [];
	if (gain > 0 || loss === 0)
		parts.push(formatChange(gain, selection.unit));
	if (loss > 0)
		parts.push(formatChange(-loss, selection.unit));
	return parts.join(" ");
}

/** What is said of a node: its name first. */
export function nodeLines(selection, tree, node) {
	const total = tree.gain[0] + tree.loss[0];
	const sum = tree.gain[node] + tree.loss[node];
	const own = tree.selfGain[node] + tree.selfLoss[node];
	const lines = [
		node === 0 ? "all" : frameName(selection, tree.frame[node]),
		`total ${sayAmount(selection, tree.gain[node], tree.loss[node], tree.samples[node])} (${formatShare(sum, total)})`,
		`self ${sayAmount(selection, tree.selfGain[node], tree.selfLoss[node], tree.selfSamples[node])} (${formatShare(own, total)})`,
	];
	if (selection.measure !== "samples")
		lines.push(`${formatAmount(tree.samples[node])} ${selection.profile.hasTimes ? "samples" : "stacks"}`);
	if (node !== 0) {
		const module = frameModule(selection, tree.frame[node]);
		if (module)
			lines.push(module);
		else if (frameInlined(selection, tree.frame[node]))
			lines.push("inlined");
	}
	return lines;
}

/**
 * flamePicture - a tree as FlameCanvas shows it
 *
 * Return: the picture, with `found`: null without a search, else {problem} or {share, nodes}.
 */
export function flamePicture(app, tree) {
	const { selection } = tree;
	const layout = layoutOf(tree);
	const { regex, problem } = compilePattern(app.store.state.search);
	const nameOf = (frame) => frameName(selection, frame);
	const matches = regex ? matchFrames(tree, regex, nameOf, numberOfFrames(selection)) : null;
	const wrong = problem ?? regex?.problem; /* known once it was matched */
	const found = matches ? matchedAmount(tree, matches, layout.amount) : null;
	const fills = fillsOf(app, selection);
	const signed = selection.isSigned ? signedFill(app, tree) : null;
	const losing = (node) => tree.loss[node] > tree.gain[node];
	const root = app.colours.frame("all", "", "");
	return {
		layout,
		matches,
		found: wrong ? { problem: wrong } : found && { nodes: found.nodes, share: formatShare(found.amount, layout.total) },
		fill: signed ?? ((node) => (node === 0 ? root : fills(tree.frame[node]))),
		striped: signed ? losing : null,
		text(node) {
			const name = node === 0 ? "all" : nameOf(tree.frame[node]);
			return signed ? `${losing(node) ? "−" : "+"} ${name}` : name;
		},
		lines: (node) => nodeLines(selection, tree, node),
		nameOf: (node) => nameOf(tree.frame[node]),
	};
}
