/*
 * store.js - the one state of the page
 *
 * Whatever is seen follows from the recordings and this state; every change goes through set(),
 * is in the URL's hash, and can be undone.  States are frozen: code with an old one may compare.
 */

import { formatTransform, parseTransform } from "wick/transforms.js";
import { EMPTY_QUERY, parseQuery, parseRange, queryWords, rangeWord, MAX_RANGES } from "wick/query.js";

export const DEFAULTS = Object.freeze({
	view: "flame",
	ranges: Object.freeze([]), /* {from, to, rows} ns since the start; none: everything */
	rangesB: null, /* the baseline of a difference; null: there is none, []: everything */
	query: EMPTY_QUERY,
	by: "", /* the heatmap's rows: a dimension; "": time */
	cell: "", /* what a cell of it is of its samples; "": their sum, "max": the largest */
	metrics: Object.freeze([]), /* that are shown side by side; none: the first few */
	rows: 0, /* of the heatmap; 0: as fits */
	column: 0, /* ns a column; 0: as fits */
	phase: 0, /* ns after the whole column that columns begin */
	brush: null, /* {from, to} that the heatmap shows; null: everything */
	colour: "",
	theme: "",
	zoom: Object.freeze([]), /* names of frames from the root on */
	around: "", /* the function that the sandwich is about */
	frame: "", /* the function that the details are about */
	transforms: Object.freeze([]), /* {kind, of}: what was done to the stacks, in order */
	window: null, /* [from, to] of the graph's width that is seen, 0..1 */
	callers: null, /* the same of the graph above the function of the sandwich */
	strip: null, /* {from, to} that the time strip shows; null: all of the selection */
	folds: Object.freeze([]), /* processes that are not as they are first seen: open, or closed */
	threads: 0, /* that the time strip shows; 0: the first few */
	search: "",
	sort: "",
	columns: "", /* of the table; "counts": those of samples, too */
	split: 0, /* thousandths of the height that the heatmap has; 0: as fits */
	details: "", /* the panel of a function: "open", "closed"; "": as fits */
});

const TEXT_WORDS = ["view", "by", "cell", "colour", "theme", "around", "frame", "search", "sort", "columns", "details"];
const COUNT_WORDS = ["rows", "column", "phase", "threads", "split"];
const LIST_WORDS = ["folds", "zoom"]; /* of names */
const WINDOW_WORDS = ["window", "callers"];
const MAX_UNDO = 500;
const MAX_TRANSFORMS = 64; /* of a link: each makes all stacks anew */
export const MAX_METRICS = 24;
const REST_MS = 200;

function freeze(value) {
	if (value && typeof value === "object" && !Object.isFrozen(value)) {
		for (const part of Object.values(value))
			freeze(part);
		Object.freeze(value);
	}
	return value;
}

/* What stays readable in a hash does: a link is for people, too. */
function encode(text) {
	return encodeURIComponent(text).replace(/%(2C|3A|40|3D|2F|5E|7C|24)/g, decodeURIComponent);
}

function decode(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text; /* a bare "%": somebody wrote the hash by hand */
	}
}

/* A state's hash, without "#"; "" for the defaults. */
export function stateHash(state) {
	const words = [];
	for (const range of state.ranges)
		words.push(["time", rangeWord(range)]);
	if (state.rangesB)
		words.push(...(state.rangesB.length ? state.rangesB : [null])
			.map((range) => ["b", range ? rangeWord(range) : ""]));
	words.push(...queryWords(state.query));
	if (state.brush)
		words.push(["brush", rangeWord({ ...state.brush, rows: null })]);
	for (const key of TEXT_WORDS)
		if (state[key] !== DEFAULTS[key])
			words.push([key, state[key]]);
	if (state.strip)
		words.push(["strip", rangeWord({ ...state.strip, rows: null })]);
	for (const key of COUNT_WORDS)
		if (state[key])
			words.push([key, String(state[key])]);
	const parts = words.map(([key, value]) => (value === "" ? key : `${key}=${encode(value)}`));
	for (const transform of state.transforms)
		parts.push(`t=${encode(formatTransform(transform))}`);
	for (const metric of state.metrics)
		parts.push(`show=${encode(metric)}`);
	for (const key of WINDOW_WORDS)
		if (state[key])
			parts.push(`${key}=${state[key].map((x) => Number(x.toFixed(12))).join(",")}`);
	for (const key of LIST_WORDS)
		if (state[key].length)
			parts.push(`${key}=${state[key].map(encodeURIComponent).join(";")}`);
	return parts.join("&");
}

function parseCount(text, max) {
	const count = Number(text);
	return Number.isInteger(count) && count > 0 && count <= max ? count : 0;
}

/* Part of the width, 0..1. */
function parseWindow(value) {
	const [from, to] = value.split(",").map(Number);
	return from >= 0 && to > from && to <= 1 ? [from, to] : null;
}

/* A part of the time; without an end it is none. */
function parsePart(value) {
	const range = parseRange(value);
	return range && { from: range.from, to: range.to };
}

const STATE_WORDS = {
	time: (state, value) => {
		const range = parseRange(value);
		if (range && state.ranges.length < MAX_RANGES)
			state.ranges.push(range);
	},
	b: (state, value) => {
		const range = parseRange(value);
		state.rangesB = state.rangesB || [];
		if (range && state.rangesB.length < MAX_RANGES)
			state.rangesB.push(range);
	},
	brush: (state, value) => (state.brush = parsePart(value)),
	strip: (state, value) => (state.strip = parsePart(value)),
	t: (state, value) => {
		const transform = parseTransform(value);
		if (transform && state.transforms.length < MAX_TRANSFORMS)
			state.transforms.push(transform);
	},
	show: (state, value) => {
		if (state.metrics.length < MAX_METRICS)
			state.metrics.push(value);
	},
	window: (state, value) => (state.window = parseWindow(value)),
	callers: (state, value) => (state.callers = parseWindow(value)),
	rows: (state, value) => (state.rows = parseCount(value, 1000)),
	column: (state, value) => (state.column = parseCount(value, 86400e9)),
	phase: (state, value) => (state.phase = parseCount(value, 86400e9)),
	threads: (state, value) => (state.threads = parseCount(value, 100000)),
	split: (state, value) => (state.split = parseCount(value, 900)),
};

/* The state that a hash says; what it does not say is as by default. */
export function parseHash(hash) {
	const state = { ...DEFAULTS, ranges: [], zoom: [], folds: [], transforms: [], metrics: [] };
	const words = [];
	for (const part of hash.replace(/^#/, "").split("&")) {
		if (!part)
			continue;
		const at = part.indexOf("=");
		const key = at < 0 ? part : part.slice(0, at);
		const raw = at < 0 ? "" : part.slice(at + 1);
		const value = decode(raw);
		if (LIST_WORDS.includes(key))
			state[key] = raw.split(";").filter((name) => name).map(decode);
		else if (Object.hasOwn(STATE_WORDS, key))
			STATE_WORDS[key](state, value);
		else if (TEXT_WORDS.includes(key))
			state[key] = value;
		else
			words.push([key, value]);
	}
	state.query = parseQuery(words);
	return freeze(state);
}

/*
 * A store.  WHERE is what of the browser it needs: {hash(), push(hash, index), replace(hash,
 * index), go(steps), flush()}; without one the state is in memory only.
 */
export function makeStore(hash = "", { where = null } = {}) {
	let state = parseHash(hash);
	let entries = [stateHash(state)];
	let index = 0;
	const listeners = new Set();

	where?.replace(entries[0], index);

	function become(next) {
		const old = state;
		state = next;
		for (const listener of [...listeners])
			if (listeners.has(listener)) /* one before it may have ended it */
				listener(state, old);
	}

	function step(by) {
		if (index + by < 0 || index + by >= entries.length)
			return false;
		index += by;
		where?.go(by);
		become(parseHash(entries[index]));
		return true;
	}

	return {
		get state() {
			return state;
		},
		get canUndo() {
			return index > 0;
		},
		get canRedo() {
			return index + 1 < entries.length;
		},
		/* With replace: as part of the change before it (while something is being dragged). */
		set(patch, { replace = false } = {}) {
			const next = freeze({ ...state, ...patch });
			const nextHash = stateHash(next);
			if (nextHash === entries[index])
				return;
			if (replace) {
				entries[index] = nextHash;
				where?.replace(nextHash, index);
			} else {
				entries = [...entries.slice(Math.max(0, index + 2 - MAX_UNDO), index + 1),
					nextHash];
				index = entries.length - 1;
				where?.push(nextHash, index);
			}
			become(next);
		},
		setQuery(patch, options) {
			this.set({ query: { ...state.query, ...patch } }, options);
		},
		undo: () => step(-1),
		redo: () => step(1),
		/* The browser went to a hash by itself: its back button, or somebody edited it. */
		follow(nextHash, at) {
			const written = nextHash.replace(/^#/, "");
			const next = stateHash(parseHash(written)); /* by hand somebody may have written defaults, too */
			const isNew = next !== entries[index];
			if (isNew && Number.isInteger(at) && entries[at] === next) {
				index = at;
			} else if (isNew) {
				entries = [...entries.slice(0, index + 1), next];
				index = entries.length - 1;
			}
			if (next !== written) {
				where?.replace(next, index);
				where?.flush();
			}
			if (isNew)
				become(parseHash(next));
		},
		subscribe(listener) {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
	};
}

/*
 * The browser's history for makeStore().  Browsers refuse more than some hundred changes in half a
 * minute: while something is dragged the URL waits until it rests.
 */
export function browserHistory(window) {
	const url = (hash) => (hash ? `#${hash}` : window.location.pathname + window.location.search);
	let waiting = null;
	let timer = 0;
	function flush() {
		clearTimeout(timer);
		if (waiting)
			window.history.replaceState({ index: waiting.index }, "", url(waiting.hash));
		waiting = null;
	}
	window.addEventListener("pagehide", flush);
	return {
		push(hash, index) {
			flush();
			window.history.pushState({ index }, "", url(hash));
		},
		replace(hash, index) {
			waiting = { hash, index };
			clearTimeout(timer);
			timer = setTimeout(flush, REST_MS);
		},
		go(steps) {
			flush();
			window.history.go(steps);
		},
		flush,
	};
}
