/* columns.mjs - profiles and selections with the columns that only tests look at: of their samples and stacks */

import { column, lazy } from "../../flamescope/web/models/model.js";
import * as pack from "../../flamescope/web/models/pack.js";
import * as select from "../../flamescope/web/models/select.js";

const SAMPLES = ["time", "weight", "thread", "stack", "cpu", "event"];

/* Columns of 64 bits are doubles; a value that a sample has not is NaN. */
function withSamples(profile) {
	const of = (name, i = 0) => column("profile", profile.made, name, i);
	lazy(profile, {
		...Object.fromEntries(SAMPLES.map((name) => [name, () => of(name)])),
		nodes: () => ({ n: profile.nNodes, parent: of("node_parent"), frame: of("node_frame") }),
	});
	/* The code of samples whose word the loader had no room for is the one after the last. */
	profile.tags.forEach((tag, i) => lazy(tag, {
		values: () => Array.from(of("tag_values", i), profile.text),
		codes: () => of("tag_codes", i).map((code) => Math.min(code, tag.n)),
	}));
	profile.metrics.forEach((metric, i) => lazy(metric, {
		values: () => of("metric_values", i),
		deltas: () => of("metric_deltas", i),
	}));
	return profile;
}

export const readPack = (bytes) => withSamples(pack.readPack(bytes));
export const readRecording = (...of) => withSamples(pack.readRecording(...of));

/* The same of a selection. */
export function withStacks(selection) {
	const columnOf = (name) => column("selection", selection.made, name);
	return lazy(selection, {
		samples: () => columnOf("samples"),
		stacks: () => columnOf("stacks"),
		values: () => columnOf("values"),
		/* {from, to} of the times that samples stand for; empty where they are moments */
		spans: () => ({ from: columnOf("span_from"), to: columnOf("span_to") }),
		nodes: () => ({ n: selection.nNodes, parent: columnOf("node_parent"), frame: columnOf("node_frame") }),
	});
}

export const makeSelection = (...of) => withStacks(select.makeSelection(...of));
