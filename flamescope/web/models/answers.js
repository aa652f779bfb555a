/*
 * answers.js - what follows from the recordings and a state, for the page that asks (asked.js)
 *
 * It runs in a worker.  A state changes little at a time: selections are made once for as long as
 * they are asked for.  An answer is plain data that nobody else has, for its columns are handed over.
 */

import { inflate } from "wick/models/bytes.js";
import { makeDiff } from "wick/models/diff.js";
import { makeFlame, makeFunctions, stackColours } from "wick/models/flame.js";
import { searchNames } from "wick/models/frame_search.js";
import { brushBins, makeHeat, topFrames, withHeat } from "wick/models/heat.js";
import { frameName, numberOfFrames } from "wick/stacks/frames.js";
import { keyOf, makeMemo } from "wick/models/memo.js";
import { drawingOf, facts, fileOf, fromBase64 } from "wick/models/model.js";
import { pageOf, readPack, readRecording, releaseProfile } from "wick/models/pack.js";
import { refusePatterns } from "wick/models/pattern.js";
import { dimensionValues, emptySelection, makeSelection } from "wick/models/select.js";
import { stripOf, stripParts } from "wick/models/strip.js";
import { textsOf } from "wick/state/recording.js";
import { threadTracks } from "wick/models/threads.js";

const MAX_KEPT = 8; /* selections: what a page asks of one state; fresh memory costs more than their samples */
const MOST_VALUES = 60; /* of a dimension in a list */
const MOST_CHOICES = 400; /* of functions in a list */
const MAX_FILE_MIB = 512; /* of text; its samples need about as much */

/* The selections of {A, B: profiles}, by a state. */
export function makeSelections(profiles) {
	const memo = makeMemo(MAX_KEPT, (made) => made.release());
	let diff = null; /* the last comparison */

	/* Of a query that asks for what is not there it is nothing, and says why. */
	function madeOf(profile, query, ...rest) {
		try {
			return makeSelection(profile, query, ...rest);
		} catch (error) {
			return emptySelection(profile, query, error.message);
		}
	}

	/* What a state leaves of RANGES (none: all of the time). */
	function part({ query, transforms }, which, ranges, everyEvent = false) {
		const key = keyOf(which, query, transforms, ranges, everyEvent);
		return memo.get(key) ?? memo.set(key, madeOf(profiles[which], query, everyEvent, ranges, transforms));
	}

	const selections = {
		/* All of the time: by the query alone, or also without what the reader's steps drop. */
		whole: (state) => part({ ...state, transforms: [] }, "A", []),
		allTime: (state, everyEvent) => part(state, "A", [], everyEvent),
		selection: (state) => part(state, "A", state.ranges),
		/* The baseline: other ranges of this recording, else the other recording; else null. */
		selectionB(state) {
			if (profiles.B)
				return part(state, "B", state.rangesB ?? []);
			return state.rangesB ? part(state, "A", state.rangesB) : null;
		},
		others: (state) => Object.keys(profiles).filter((which) => which > "B" && profiles[which])
			.map((which) => [null, which, part(state, which, [])]),
		diff(state) {
			const sides = [selections.selectionB(state), selections.selection(state)];
			if (sides.some((side, i) => side !== diff?.sides[i])) {
				diff = diff?.release(); /* of selections that may be gone */
				diff = makeDiff(...sides);
			}
			return diff;
		},
		forget() {
			diff = diff?.release();
			memo.forget();
		},
	};
	return selections;
}

const SAID = ["n", "nNodes", "nAbsent", "nIdle", "labels", "measure", "unit", "noun", "isSigned", "event", "name",
	"problem", "everyEvent", "sum", "size", "precision"];

/* What the page has of a selection: all but its samples and stacks. */
const said = (selection) => Object.fromEntries(SAID.map((name) => [name, selection[name]]));

/* The bytes of a pack, which a page has inside as base64. */
async function bytesOf({ text, buffer }) {
	try {
		return await inflate(text ? fromBase64(await new Blob([text]).text()) : buffer);
	} catch (error) {
		throw new Error(`the recording's data is damaged, or ends too early: ${error.message}`);
	}
}

async function profileOf({ file }) {
	const bytes = await inflate(file, MAX_FILE_MIB * 2 ** 20).catch((error) => {
		const other = error instanceof RangeError ? "gzip -d or zstd -d, and open what that writes" : "wick view FILE";
		throw new Error(`'${file.name}' cannot be read (${error.message}), try: ${other}`);
	});
	if (!bytes)
		throw new RangeError(`'${file.name}' has more than ${MAX_FILE_MIB} MiB, which is too much for a page to read, try: wick view FILE`);
	return readRecording(bytes, file.name);
}

/** {question: (state, ...) -> its answer, or a promise of it}. */
export function makeAnswers() {
	const profiles = { A: null, B: null };
	const selections = makeSelections(profiles);
	let listed = {}; /* the last values of a dimension */
	/* METRIC instead of the state's; "": that. */
	const forHeat = (state, metric = "") => selections.allTime(metric ? { ...state, query: { ...state.query, metric } } : state,
		state.by === "event");

	/* [ranges, which, selection] of each. */
	function sidesOf(state) {
		const { ranges } = state;
		const now = (ranges.length > 1 ? ranges.map((range) => [range]) : [ranges])
			.map((part) => [part, "A", selections.selection({ ...state, ranges: part })]);
		const base = selections.selectionB(state);
		const before = base ? [[null, "", base]] : [];
		const others = selections.others(state);
		return others.length ? [...now, ...before, ...others] : [...before, ...now];
	}

	function tracksOf(state, query, ...window) {
		const of = { ...state, query };
		return threadTracks(selections.allTime(of), selections.selection(of), ...window);
	}

	return {
		/*
		 * Of the recordings A, B... PARTS are from now on others: each a {file}, or the {text} or {buffer} of a
		 * pack; null: none.  All of them, or none with an Error.
		 */
		async open(state, parts) {
			const opened = new Map();
			try {
				for (const [which, data] of Object.entries(parts))
					opened.set(which, data && (data.file ? await profileOf(data) : readPack(await bytesOf(data))));
			} catch (error) {
				opened.forEach((profile) => profile && releaseProfile(profile));
				throw error;
			}
			selections.forget();
			for (const [which, profile] of opened) {
				if (profiles[which])
					releaseProfile(profiles[which]);
				profiles[which] = profile;
			}
			return Object.fromEntries([...opened].map(([which, profile]) => [which, profile && pageOf(profile)]));
		},
		whole: (state) => said(selections.whole(state)),
		allTime: (state) => said(selections.allTime(state)),
		selection: (state) => said(selections.selection(state)),
		selectionB(state) {
			const selection = selections.selectionB(state);
			return selection && said(selection);
		},
		heat(state, columnNs, phaseNs, metric) {
			const { by, rows, cell } = state;
			const heat = makeHeat(forHeat(state, metric), { columnNs, phaseNs, nRows: rows, by, cell });
			return { ...heat, selection: said(heat.selection) };
		},
		flame(state, order, around) {
			const tree = makeFlame(selections.selection(state), order, around, state.colour);
			return { ...tree, selection: said(tree.selection) };
		},
		colours: (state, order, around) => makeFlame(selections.selection(state), order, around, state.colour).colours,
		/*
		 * The baseline, each of several ranges by itself, and further recordings:
		 * [{ranges (null: not of A), which ("": the baseline), said, tree}]
		 */
		sides: (state) => sidesOf(state).map(([ranges, which, selection]) =>
			({ ranges, which, said: said(selection), tree: { ...makeFlame(selection, "calls", "", state.colour), selection: null } })),
		/*
		 * Names of the functions with most, and the one that callers and callees are of: with PART in its name;
		 * "": that is searched for, else that the details are about, else that has most of its own.
		 */
		callers(state, part) {
			const selection = selections.selection(state);
			const { frame, selfGain, selfLoss } = makeFunctions(selection);
			const names = Array.from(frame, (one) => frameName(selection, one));
			const own = selfGain.map((gain, i) => gain + selfLoss[i]);
			const most = own.reduce((best, one, i) => (one > own[best] ? i : best), 0);
			const [isFound] = state.search ? searchNames(state.search, [names]).found : [];
			const named = [part || state.frame].filter((name) => names.includes(name));
			const likely = part ? [...named, ...names.filter((name) => name.toLowerCase().includes(part.toLowerCase())), part]
				: [...names.filter((_, i) => isFound?.[i]), ...named, names[most] ?? ""];
			return { names: [...new Set(names.slice(0, MOST_CHOICES))], around: likely[0] };
		},
		functions: (state) => makeFunctions(selections.selection(state)),
		strip: (state, ...seen) => stripOf(selections.selection(state), ...seen),
		stripParts: (state, ...seen) => stripParts(selections.selection(state), ...seen),
		stackColours: (state) => stackColours(selections.selection(state), state.colour),
		/* Which frames OF the selection or each of the sides, functions of the diff, or rows of these threads are found. */
		search(state, of, ...words) {
			const framesOf = (selection) => Array.from({ length: numberOfFrames(selection) }, (_, frame) => frameName(selection, frame));
			const lists = {
				selection: () => [framesOf(selections.selection(state))],
				sides: () => sidesOf(state).map(([, , selection]) => framesOf(selection)),
				diff: () => [selections.diff(state).names],
				threads: () => [textsOf(tracksOf(state, ...words).labels)],
			};
			return searchNames(state.search, lists[of]());
		},
		refuse: (state, patterns) => refusePatterns(patterns),
		/* By QUERY instead of the state's, which may be about some threads only. */
		threads(state, query, ...window) {
			const selection = selections.selection({ ...state, query });
			return { ...tracksOf(state, query, ...window), selection: said(selection) };
		},
		details: (state, name) => facts("details", selections.selection(state).made, name),
		diff(state) {
			try {
				const { sides, treeOf, testSlice, file, release, ...diff } = selections.diff(state);
				return { ...structuredClone(diff), tree: treeOf(state.changes) };
			} catch ({ message }) {
				return { problem: message };
			}
		},
		chance: (state) => selections.diff(state).testSlice(),
		brush: (state, n) => brushBins(selections.allTime(state), n),
		/* The innermost functions of a part of the heatmap. */
		cell(state, range, filter, metric) {
			const { profile, query, everyEvent } = forHeat(state, metric);
			const filters = filter ? [...query.filters, filter] : query.filters;
			const selection = makeSelection(profile, { ...query, filters }, everyEvent, [range], state.transforms);
			const frames = topFrames(selection);
			selection.release();
			return frames;
		},
		/* Of the samples that pass the other filters: the first of those whose label has PART in it, and how many there are. */
		values(state, name, part) {
			const filters = state.query.filters.filter(({ dimension }) => dimension !== name);
			const selection = selections.allTime({ ...state, query: { ...state.query, filters } }, name === "event");
			if (listed.selection !== selection || listed.name !== name)
				listed = { selection, name, values: dimensionValues(selection, name) };
			const values = listed.values.filter(({ label }) => label.toLowerCase().includes(part.toLowerCase()));
			return { n: values.length, values: values.slice(0, MOST_VALUES) };
		},
		file: (state, end) => fileOf("file", selections.selection(state).made, end),
		/* KIND: "heatmap.svg" with its columns, "diff.csv", "sandwich.svg" around a function... */
		drawing(state, kind, title, { columnNs, phaseNs, around, matches } = {}) {
			const { by, rows: nRows, colour, cell, search } = state;
			const words = { title, around, by: colour, search, matches };
			if (kind.startsWith("diff."))
				return selections.diff(state).file(kind, words);
			if (!kind.startsWith("heatmap."))
				return drawingOf(kind, selections.selection(state), 0, words);
			const selection = forHeat(state);
			return withHeat(selection, { columnNs, phaseNs, nRows, by, cell }, (heat) => drawingOf(kind, selection, heat, { title }));
		},
	};
}
