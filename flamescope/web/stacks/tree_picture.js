/* tree_picture.js - how the nodes of a tree look, and what is said of them */

import { formatAmount, formatChange, formatRate, formatShare, formatTotal } from "wick/parts/amount.js";
import { foundIn } from "wick/models/frame_search.js";
import { selectedNs } from "wick/heat/heat_words.js";
import { frameInlined, frameModule, frameName, isGroupLabel } from "wick/stacks/frames.js";
import { ownOf, widestNodes } from "wick/stacks/tree_layout.js";

/** `12.3 ms`; of a signed metric `+12 MiB −3 MiB`. */
export function sayAmount(selection, gain, loss, samples) {
	if (selection.measure === "mean")
		return `mean ${formatAmount(samples ? (gain - loss) / samples : 0, selection.unit)}`;
	if (!selection.isSigned)
		return formatAmount(gain, selection.unit);
	return [...(gain > 0 || loss === 0 ? [gain] : []), ...(loss > 0 ? [-loss] : [])]
		.map((change) => formatChange(change, selection.unit)).join(" ");
}

/** The same of a function, or a node, of flame.js. */
export const sayTotal = (selection, { gain, loss, samples }, i) => sayAmount(selection, gain[i], loss[i], samples[i]);
export const saySelf = (selection, { selfGain, selfLoss, selfSamples }, i) =>
	sayAmount(selection, selfGain[i], selfLoss[i], selfSamples[i]);

/* `/usr/lib/libc.so.6 (libc)`. */
function moduleLine(selection, frame) {
	const { profile } = selection;
	if (frameInlined(selection, frame))
		return "inlined";
	const module = frameModule(selection, frame);
	return module ? `${module} (${profile.families[profile.frames.family[frame]]})` : "module not known";
}

/**
 * treePicture - a tree as FlameCanvas shows it: what is said of a node is a function of it
 * @names:  {nameOf(frame), search: of models.search(), matches: those of its lists that is about the tree's frames}
 * @change: null, or {part: -1, all of it shrank, to 1: all of it grew, sign, labels: of less and more}
 * @rest:   {lines, numbers: behind a name where there is room, head, cells: of a table, whole: all of it in
 *          words; of what does not change fill, 0xRRGGBB, and keys: [{label, css, isHatched}]}
 *
 * Return: these, and {tree, name, text: with its sign, striped, matches, found} (frame_search.js).
 */
export function treePicture(app, tree, { nameOf, search, matches = search.found[0] }, change, rest) {
	const name = (node) => (node === 0 ? "all" : nameOf(tree.frame[node]));
	const picture = { tree, nameOf, name, text: name, ...foundIn(search.problem, matches, tree), ...rest };
	if (!change)
		return picture;
	const { part, sign, labels: [less, more] } = change;
	const { colours } = app;
	return {
		...picture,
		fill: (node) => colours.changeRgb(part(node)),
		striped: (node) => part(node) < 0,
		text: (node) => `${sign(node)} ${name(node)}`,
		keys: [{ label: `− ${less}`, css: colours.change(-1), isHatched: true }, { label: `+ ${more}`, css: colours.change(1) }],
	};
}

/** The picture of a tree of flame.js; SEARCH and MATCHES as above. */
export function flamePicture(app, tree, search = app.models.search(), matches = search.found[0]) {
	const { selection, gain, loss, samples, width } = tree;
	const nameOf = (frame) => frameName(selection, frame);
	const { numbers, legend } = app.models.colours(tree);
	const ns = selectedNs(app.store.state, selection.profile);
	const total = (node) => sayTotal(selection, tree, node);
	const self = (own) => sayAmount(selection, own.gain, own.loss, own.samples);
	const share = (node) => formatShare(width[node], width[0]);
	const sum = gain[0] + loss[0];
	const signs = {
		part: (node) => (gain[node] - loss[node]) / (gain[node] + loss[node] || 1),
		sign: (node) => (loss[node] === 0 ? "+" : gain[node] === 0 ? "−" : "±"),
		labels: ["shrank", "grew"],
	};
	/* The name first; how many samples it is of comes last. */
	function lines(node) {
		const noun = selection.noun && selection.noun !== selection.unit ? ` ${selection.noun}` : "";
		const rate = selection.measure === "period" ? formatRate(gain[node], selection.unit, ns) : "";
		const [frame, own] = [tree.frame[node], ownOf(tree, node)];
		return [
			picture.name(node),
			`total ${total(node)}${noun}, ${share(node)} of what is selected${rate && `, ${rate}`}`,
			`self ${self(own)}, ${formatShare(own.gain + own.loss, sum)}`,
			...(node === 0 || isGroupLabel(selection, frame) ? [] : [moduleLine(selection, frame)]),
			...(selection.measure === "samples" ? [] : [`${formatAmount(samples[node])} ${selection.profile.hasTimes ? "samples" : "stacks"}`]),
		];
	}
	const picture = treePicture(app, tree, { nameOf, search, matches }, selection.isSigned ? signs : null, {
		lines,
		numbers: (node) => [share(node), total(node)],
		head: ["depth", "function", "total", "share", "self"],
		cells: (node) => [total(node), share(node), self(ownOf(tree, node))],
		whole: formatTotal(sum, selection),
		fill: (node) => app.colours.frameRgb(numbers[node]),
		keys: app.colours.keys(legend),
	});
	return picture;
}

/** What has a name in a picture, from a node on, as the table of textEquivalent(). */
export function tableOf({ tree, name, head, cells }, caption, root) {
	return { caption: `${caption}, frames of at least 0.5 %`, head,
		rows: widestNodes(tree, root).map((node) => [String(tree.depth[node]), name(node), ...cells(node)]) };
}
