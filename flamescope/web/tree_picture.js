/* tree_picture.js - how the nodes of a flame tree look, and what is said of them */

import { formatAmount, formatChange, formatRate, formatShare, formatTotal } from "wick/amount.js";
import { foundIn } from "wick/frame_search.js";
import { selectedNs } from "wick/heat_words.js";
import { frameInlined, frameModule, frameName, isGroupLabel, numberOfFrames } from "wick/frames.js";
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

/* Orange for what grew, blue for what shrank, paler the more both of them are. */
function signedPart(tree) {
	return (node) => {
		const sum = tree.gain[node] + tree.loss[node];
		return sum > 0 ? (tree.gain[node] - tree.loss[node]) / sum : 0;
	};
}

/** The keys of a legend of changes. */
export function changeKeys(app, [less, more]) {
	return [{ label: `− ${less}`, css: app.colours.change(-1), isHatched: true },
		{ label: `+ ${more}`, css: app.colours.change(1) }];
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

/**
 * nodeLines - what is said of a node: its name first; how many samples it is of comes last
 * @ns: that are selected, for a rate; 0: none is said
 */
export function nodeLines(selection, tree, node, ns = 0) {
	const rate = selection.measure === "period" ? formatRate(tree.gain[node], selection.unit, ns) : "";
	const total = tree.gain[0] + tree.loss[0];
	const sum = tree.gain[node] + tree.loss[node];
	const own = tree.selfGain[node] + tree.selfLoss[node];
	const noun = selection.noun && selection.noun !== selection.unit ? ` ${selection.noun}` : "";
	const lines = [
		node === 0 ? "all" : frameName(selection, tree.frame[node]),
		`total ${sayAmount(selection, tree.gain[node], tree.loss[node], tree.samples[node])}${noun}, ${formatShare(sum, total)} of what is selected${rate && `, ${rate}`}`,
		`self ${sayAmount(selection, tree.selfGain[node], tree.selfLoss[node], tree.selfSamples[node])}, ${formatShare(own, total)}`,
	];
	if (node !== 0 && !isGroupLabel(selection, tree.frame[node]))
		lines.push(moduleLine(selection, tree.frame[node]));
	if (selection.measure !== "samples")
		lines.push(`${formatAmount(tree.samples[node])} ${selection.profile.hasTimes ? "samples" : "stacks"}`);
	return lines;
}

/* `/usr/lib/libc.so.6 (libc)`. */
function moduleLine(selection, frame) {
	const { profile } = selection;
	if (frameInlined(selection, frame))
		return "inlined";
	const module = frameModule(selection, frame);
	return module ? `${module} (${profile.families[profile.frames.family[frame]]})` : "module not known";
}

/**
 * flamePicture - a tree as FlameCanvas shows it
 *
 * Return: the picture, with `found`: null without a search, else {problem} or {share, nodes}; and
 * `keys`, what the colours mean: [{label, css, isHatched}].
 */
export function flamePicture(app, tree) {
	const { selection } = tree;
	const layout = layoutOf(tree);
	const nameOf = (frame) => frameName(selection, frame);
	const { numbers, legend } = app.models.colours(tree);
	const part = selection.isSigned ? signedPart(tree) : null;
	return {
		layout,
		...foundIn(app.models.search(), tree, nameOf, numberOfFrames(selection), layout.amount),
		fill: part ? (node) => app.colours.change(part(node)) : (node) => app.colours.frame(numbers[node]),
		striped: part ? (node) => part(node) < 0 : null,
		keys: part ? changeKeys(app, ["shrank", "grew"]) : app.colours.keys(legend),
		text(node) {
			const name = node === 0 ? "all" : nameOf(tree.frame[node]);
			return part ? `${tree.loss[node] === 0 ? "+" : tree.gain[node] === 0 ? "−" : "±"} ${name}` : name;
		},
		numbers: (node) => [formatShare(layout.amount[node], layout.total),
			sayAmount(selection, tree.gain[node], tree.loss[node], tree.samples[node])],
		lines: (node) => nodeLines(selection, tree, node, selectedNs(app.store.state, selection.profile)),
		nameOf,
		whole: formatTotal(layout.total, selection),
	};
}
