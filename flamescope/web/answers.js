/*
 * answers.js - what follows from the recordings and a state, for the page that asks (asked.js)
 *
 * It runs in a worker.  A state changes little at a time: selections are made once for as long as
 * they are asked for.  An answer is plain data that nobody else has, for its columns are handed over.
 */

import { fileBytes, fromBase64, inflate } from "wick/bytes.js";
import { functionDetails } from "wick/details.js";
import { makeDiff } from "wick/diff.js";
import { makeFlame, makeFunctions, stackColours } from "wick/flame.js";
import { makeHeat, withHeat } from "wick/heat.js";
import { fileOf } from "wick/model.js";
import { pageOf, readPack, readRecording, releaseProfile } from "wick/pack.js";
import { dimensionValues, emptySelection, inRanges, makeSelection, transformSelection } from "wick/select.js";
import { brushBins, topFrames } from "wick/sums.js";
import { stripOf } from "wick/strip.js";
import { threadTracks } from "wick/threads.js";

const MAX_KEPT = 24;
const MAX_FILE_MIB = 512; /* of text; its samples need about as much */

function makeMemo() {
	const kept = new Map();
	return {
		get(key, make) {
			if (kept.has(key)) {
				const value = kept.get(key);
				kept.delete(key); /* and is the newest again */
				kept.set(key, value);
				return value;
			}
			const value = make();
			kept.set(key, value);
			if (kept.size > MAX_KEPT) {
				const [oldest, old] = kept.entries().next().value;
				kept.delete(oldest);
				old.release();
			}
			return value;
		},
		forget() {
			for (const value of kept.values())
				value.release();
			kept.clear();
		},
	};
}

/* The selections of {A, B: profiles}, by a state. */
export function makeSelections(profiles) {
	const memo = makeMemo();
	const word = (...parts) => JSON.stringify(parts, (_, value) => (value === Infinity ? "end" : value));

	/*
	 * What a state leaves of RANGES (none: all of the time).  Of a query that asks for what is not there it
	 * is nothing, and says why.  Each step is kept, for what is not kept is not released.
	 */
	function part({ query, transforms }, which, ranges, everyEvent = false) {
		const profile = profiles[which];
		return memo.get(word("part", which, query, transforms, ranges, everyEvent), () => {
			try {
				return transforms.length
					? transformSelection(part({ query, transforms: [] }, which, ranges, everyEvent), transforms)
					: makeSelection(profile, query, everyEvent, ranges);
			} catch (error) {
				return emptySelection(profile, query, error.message);
			}
		});
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
		diff(state) {
			const { query, ranges, rangesB, transforms } = state;
			return memo.get(word("diff", query, ranges, rangesB, transforms),
				() => makeDiff(selections.selectionB(state), selections.selection(state)));
		},
		forget: memo.forget,
	};
	return selections;
}

/* What the page has of a selection: all but its samples and stacks. */
function said(selection) {
	const { n, nNodes, nAbsent, nIdle, labels, measure, unit, noun, isSigned, event, name, problem, everyEvent, sum, size } =
		selection;
	return { n, nNodes, nAbsent, nIdle, labels, measure, unit, noun, isSigned, event, name, problem, everyEvent, sum, size };
}

async function bytesOf({ text, buffer }) {
	try {
		return await inflate(buffer ? new Uint8Array(buffer) : fromBase64(text));
	} catch (error) {
		throw new Error(`the recording's data is damaged, or ends too early: ${error.message}`);
	}
}

async function openFile(file) {
	const bytes = await fileBytes(file, MAX_FILE_MIB * 2 ** 20).catch((error) => {
		throw new Error(`'${file.name}' cannot be read (${error.message}), try: wick view FILE`);
	});
	if (!bytes)
		throw new RangeError(`'${file.name}' has more than ${MAX_FILE_MIB} MiB, which is too much for a page to read, try: wick view FILE`);
	return readRecording(bytes, file.name);
}

/** {question: (state, ...) -> its answer, or a promise of it}. */
export function makeAnswers() {
	const profiles = { A: null, B: null };
	const selections = makeSelections(profiles);
	const plain = ({ selection, ...rest }) => rest;
	const forHeat = (state) => selections.allTime(state, state.by === "event");

	return {
		/* WHICH of the two recordings is this from now on: a {file}, or a pack's bytes; {}: none. */
		async open(state, which, data) {
			const profile = data.file ? await openFile(data.file)
				: data.text || data.buffer ? readPack(await bytesOf(data)) : null;
			selections.forget();
			if (profiles[which])
				releaseProfile(profiles[which]);
			profiles[which] = profile;
			return profile && pageOf(profile);
		},
		whole: (state) => said(selections.whole(state)),
		allTime: (state) => said(selections.allTime(state)),
		selection: (state) => said(selections.selection(state)),
		selectionB(state) {
			const selection = selections.selectionB(state);
			return selection && said(selection);
		},
		/* METRIC instead of the state's; "": that. */
		heat(state, columnNs, phaseNs, metric) {
			const { by, rows, cell } = state;
			const asked = metric ? { ...state, query: { ...state.query, metric } } : state;
			const heat = makeHeat(forHeat(asked), { columnNs, phaseNs, nRows: rows, by, cell });
			return { ...heat, selection: said(heat.selection) };
		},
		flame: (state, order, around) => plain(makeFlame(selections.selection(state), order, around, state.colour)),
		colours: (state, order, around) => makeFlame(selections.selection(state), order, around, state.colour).colours,
		/* The baseline, and each of several ranges by itself: [{ranges (null: the baseline), said, tree}]. */
		sides(state) {
			const { ranges } = state;
			const now = (ranges.length > 1 ? ranges.map((range) => [range]) : [ranges])
				.map((part) => [part, selections.selection({ ...state, ranges: part })]);
			const base = selections.selectionB(state);
			return [...(base ? [[null, base]] : []), ...now].map(([part, selection]) =>
				({ ranges: part, said: said(selection), tree: plain(makeFlame(selection, "calls", "", state.colour)) }));
		},
		functions: (state) => makeFunctions(selections.selection(state)),
		strip(state) {
			const selection = selections.selection(state);
			return { ...stripOf(selection), colours: stackColours(selection, state.colour).numbers };
		},
		/* By QUERY instead of the state's, which may be about some threads only. */
		threads(state, query, fromNs, toNs) {
			const of = { ...state, query };
			const selection = selections.selection(of);
			return { ...threadTracks(selections.allTime(of), selection, fromNs, toNs), selection: said(selection) };
		},
		details: (state, name) => functionDetails(selections.selection(state), name),
		diff(state) {
			const { testSlice, file, release, ...diff } = selections.diff(state);
			return structuredClone(diff);
		},
		chance: (state) => selections.diff(state).testSlice(),
		brush: (state, n) => brushBins(selections.allTime(state), n),
		/* The innermost functions of a part of the heatmap. */
		cell(state, range, filter) {
			const all = inRanges(forHeat(state), [range], filter);
			const selection = transformSelection(all, state.transforms);
			const frames = topFrames(selection);
			all.release();
			selection.release();
			return frames;
		},
		/* Of the samples that pass the other filters. */
		values(state, name) {
			const filters = state.query.filters.filter(({ dimension }) => dimension !== name);
			return dimensionValues(selections.allTime({ ...state, query: { ...state.query, filters } }, name === "event"), name);
		},
		file: (state, end) => fileOf("file", selections.selection(state).made, end),
		/* KIND: "heatmap.svg" with its columns, "diff.csv", "sandwich.svg" around a function... */
		drawing(state, kind, title, { columnNs, phaseNs, around = "" } = {}) {
			const { by, rows: nRows, colour, cell } = state;
			if (kind.startsWith("diff."))
				return selections.diff(state).file(kind, title);
			if (!kind.startsWith("heatmap."))
				return fileOf("drawing", kind, selections.selection(state).made, 0, title, around, colour);
			const selection = forHeat(state);
			return withHeat(selection, { columnNs, phaseNs, nRows, by, cell }, (heat) =>
				fileOf("drawing", kind, selection.made, heat, title, "", ""));
		},
	};
}
