/* transforms.js - what a reader does to the stacks of a selection, one step after the other */

import { frameModule, frameName } from "wick/select.js";
import { NodeTable } from "wick/node_table.js";

/** What there is, in the words of the URL and of the chips. */
export const transformKinds = {
	focus: { of: "function", says: (of) => `Focus on ${of}` },
	merge: { of: "function", says: (of) => `Merge ${of} into its callers` },
	collapse: { of: "function", says: (of) => (of ? `Collapse recursion of ${of}` : "Collapse recursion") },
	drop: { of: "function", says: (of) => `Drop samples with ${of}` },
	hide: { of: "module", says: (of) => `Hide module ${of}` },
};

const OUT = 0xffffffff;

/**
 * transformSelection - the selection with its stacks changed
 * @transforms: [{kind, of}], done in this order
 *
 * Samples that a transform drops are gone from what comes back; SELECTION stays as it is.
 */
export function transformSelection(selection, transforms) {
	let result = selection;
	for (const { kind, of } of transforms) {
		const step = steps[kind];
		if (step)
			result = rebuild(result, step(result, of));
	}
	return result;
}

/* Each makes a function (old node, new parent, table) -> new node or OUT, parents first. */
const steps = {
	focus(selection, of) {
		const wanted = framesNamed(selection, of);
		const { parent, frame } = selection.nodes;
		const inside = new Uint8Array(selection.nodes.n);
		const step = (node, to, table) => {
			inside[node] = inside[parent[node]] | wanted[frame[node]];
			return inside[node] ? table.child(to === OUT ? 0 : to, frame[node]) : OUT;
		};
		step.root = OUT; // samples without a stack are not in it
		return step;
	},
	merge(selection, of) {
		const wanted = framesNamed(selection, of);
		const { frame } = selection.nodes;
		return (node, to, table) => (wanted[frame[node]] ? to : table.child(to, frame[node]));
	},
	collapse(selection, of) {
		const wanted = of ? framesNamed(selection, of) : null;
		const { frame } = selection.nodes;
		return (node, to, table) => {
			const again = to !== 0 && table.frame[to] === frame[node];
			return again && (!wanted || wanted[frame[node]]) ? to : table.child(to, frame[node]);
		};
	},
	drop(selection, of) {
		const wanted = framesNamed(selection, of);
		const { frame } = selection.nodes;
		return (node, to, table) =>
			to === OUT || wanted[frame[node]] ? OUT : table.child(to, frame[node]);
	},
	hide(selection, of) {
		const wanted = framesWhere(selection, (f) => frameModule(selection, f) === of);
		const { frame } = selection.nodes;
		return (node, to, table) => (wanted[frame[node]] ? to : table.child(to, frame[node]));
	},
};

function rebuild(selection, step) {
	const { n, parent } = selection.nodes;
	const table = new NodeTable(n);
	const now = new Uint32Array(n);
	now[0] = step.root ?? 0;
	for (let node = 1; node < n; node++)
		now[node] = step(node, now[parent[node]], table);
	return { ...selection, ...samplesOf(selection, now), nodes: table.finish() };
}

function samplesOf(selection, now) {
	const samples = new Uint32Array(selection.n);
	const stacks = new Uint32Array(selection.n);
	const values = new selection.values.constructor(selection.n);
	let n = 0;
	for (let i = 0; i < selection.n; i++) {
		const stack = now[selection.stacks[i]];
		if (stack === OUT)
			continue;
		samples[n] = selection.samples[i];
		stacks[n] = stack;
		values[n++] = selection.values[i];
	}
	return {
		n,
		samples: samples.subarray(0, n),
		stacks: stacks.subarray(0, n),
		values: values.subarray(0, n),
	};
}

function framesNamed(selection, name) {
	return framesWhere(selection, (frame) => frameName(selection, frame) === name);
}

function framesWhere(selection, holds) {
	const { n, frame } = selection.nodes;
	const known = new Uint8Array(numberOfFrames(selection)); // 1: no, 2: yes
	const wanted = new Uint8Array(known.length);
	for (let node = 1; node < n; node++) {
		const f = frame[node];
		if (known[f] === 0)
			known[f] = holds(f) ? 2 : 1;
		wanted[f] = known[f] - 1;
	}
	return wanted;
}

/** One more than the highest number of a frame, those of groups included. */
export function numberOfFrames(selection) {
	return selection.profile.frames.n + selection.labels.length;
}

/** `kind:of` of the URL; null if it says nothing that is known. */
export function parseTransform(text) {
	const colon = text.indexOf(":");
	const kind = colon < 0 ? text : text.slice(0, colon);
	const of = colon < 0 ? "" : text.slice(colon + 1);
	if (!Object.hasOwn(transformKinds, kind) || (of === "" && kind !== "collapse"))
		return null;
	return { kind, of };
}

export function formatTransform({ kind, of }) {
	return of === "" ? kind : `${kind}:${of}`;
}

/**
 * commandOfTransform - the same as words of the command line, or null if it has none
 *
 * The command has no flag that hides a module or collapses one function alone.
 */
export function commandOfTransform({ kind, of }) {
	const pattern = `^${of.replace(/[\\^$.*+?()[\]{}|#\s-]/g, (c) => (/\s/.test(c) ? "\\s" : `\\${c}`))}$`;
	switch (kind) {
	case "focus":
		return ["--focus", pattern];
	case "merge":
		return ["--elide", pattern];
	case "drop":
		return ["--without", pattern];
	case "collapse":
		return of === "" ? ["--flatten"] : null;
	default:
		return null;
	}
}
