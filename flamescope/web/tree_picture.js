/* tree_picture.js - how the nodes of a flame tree look, and what is said of them */

import { formatAmount, formatChange, formatRate, formatShare, formatTotal } from "wick/amount.js";
import { foundIn } from "wick/frame_search.js";
import { selectedNs } from "wick/heat_words.js";
import { FAMILIES, FAMILY_WORDS, familyOf, STATES } from "wick/palette.js";
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

/**
 * looksOf - what palette.js needs to know of the nodes of a tree
 * @order: "calls": callers are above; "reverse": below
 *
 * An inlined frame has the module of the function that it was inlined into.
 */
export function looksOf(app, tree, order) {
	const { selection } = tree;
	const states = app.store.state.colour === "state" ? app.models.states() : null;
	const host = (node) => {
		let at = node;
		while (at !== 0 && frameInlined(selection, tree.frame[at]))
			at = order === "reverse" ? tree.firstChild[at] : tree.parent[at];
		return at === 0 ? "" : frameModule(selection, tree.frame[at]);
	};
	/* Of the group that a node is in, else of its function. */
	const stateOf = (node) => {
		for (let at = node; at !== 0 && order === "calls"; at = tree.parent[at])
			if (isGroupLabel(selection, tree.frame[at]) && STATES.includes(frameName(selection, tree.frame[at])))
				return frameName(selection, tree.frame[at]);
		return node === 0 ? "" : states[tree.frame[node]];
	};
	return (node) => {
		const frame = tree.frame[node];
		const inlined = node !== 0 && frameInlined(selection, frame);
		return {
			name: node === 0 ? "all" : frameName(selection, frame),
			module: node === 0 ? "" : inlined ? host(node) : frameModule(selection, frame),
			state: states ? stateOf(node) : "",
			inlined,
			isGroup: node === 0 || isGroupLabel(selection, frame),
		};
	};
}

const kept = new WeakMap(); /* of a recording: what is known of its frames, for the last colours */

function keptOf(app, { profile }) {
	const word = `${app.store.state.colour} ${app.colours.theme}`;
	if (kept.get(profile)?.word !== word)
		kept.set(profile, { word, fills: [], keys: [] });
	return kept.get(profile);
}

/*
 * What ASK says of a node, kept by its frame in KNOWN: it is asked when it is first needed.  What goes
 * by more than the frame is not kept: groups, inlined frames and states.
 */
function byFrame(app, tree, known, ask) {
	const { selection } = tree;
	const isKept = (node) => node !== 0 && app.store.state.colour !== "state" &&
		!isGroupLabel(selection, tree.frame[node]) && !frameInlined(selection, tree.frame[node]);
	return (node) => (isKept(node) ? known[tree.frame[node]] ??= ask(node) : ask(node));
}

/* What the colours of frames mean: each function counts with the width of its boxes. */
function frameKeys(app, tree, look) {
	const key = byFrame(app, tree, keptOf(app, tree.selection).keys, (node) => app.colours.key(look(node)));
	const area = new Float64Array(numberOfFrames(tree.selection));
	const first = new Uint32Array(area.length);
	for (let node = 1; node < tree.n; node++) {
		const frame = tree.frame[node];
		area[frame] += tree.gain[node] + tree.loss[node];
		first[frame] ||= node;
	}
	const amounts = [];
	for (let frame = 0; frame < area.length; frame++)
		if (area[frame] > 0)
			amounts.push([key(first[frame]), area[frame]]);
	return app.colours.keys(amounts);
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
	if (frameInlined(selection, frame))
		return "inlined";
	const module = frameModule(selection, frame);
	return module ? `${module} (${FAMILY_WORDS[FAMILIES.indexOf(familyOf(module))]})` : "module not known";
}

/**
 * flamePicture - a tree as FlameCanvas shows it
 * @order: "calls" or "reverse"
 *
 * Return: the picture, with `found`: null without a search, else {problem} or {share, nodes}; and
 * `keys`, what the colours mean: [{label, css, isHatched}].
 */
export function flamePicture(app, tree, order) {
	const { selection } = tree;
	const layout = layoutOf(tree);
	const nameOf = (frame) => frameName(selection, frame);
	const look = looksOf(app, tree, order);
	const fills = byFrame(app, tree, keptOf(app, selection).fills, (node) => app.colours.frame(look(node)));
	const part = selection.isSigned ? signedPart(tree) : null;
	return {
		layout,
		...foundIn(app.store.state.search, tree, nameOf, numberOfFrames(selection), layout.amount),
		fill: part ? (node) => app.colours.change(part(node)) : fills,
		striped: part ? (node) => part(node) < 0 : null,
		keys: part ? changeKeys(app, ["shrank", "grew"]) : frameKeys(app, tree, look),
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
