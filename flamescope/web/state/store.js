/*
 * store.js - the one state of the page
 *
 * Whatever is seen follows from the recordings and this state; every change goes through set(),
 * is in the URL's hash, and can be undone.  States are frozen: code with an old one may compare.
 */

import { formatTransform, parseTransform } from "wick/state/transforms.js";
import { EMPTY_QUERY, parseQuery, parseRange, queryWords, rangeWord, MAX_RANGES } from "wick/state/query.js";
import { byWord, list, nothingSaid, optional, text, wordsOf } from "wick/state/query.js";

const MAX_UNDO = 500;
const MAX_TRANSFORMS = 64; /* of a link: each makes all stacks anew */
export const MAX_METRICS = 24;
const PUSH_MS = 100; /* a new address makes the browser draw, beside what it is the address of */
const REST_MS = 200;

/* Part of the width, 0..1. */
function parseWindow(said) {
	const [from, to] = said.split(",").map(Number);
	return from >= 0 && to > from && to <= 1 ? [from, to] : null;
}

/* A whole number of at least 1. */
const count = (max) => ({
	none: 0,
	read: (said) => (Number.isInteger(Number(said)) && Number(said) > 0 && Number(said) <= max ? Number(said) : 0),
	write: (n, word) => (n ? [[word, String(n)]] : []),
});

/* Names, which may have any character: it reads and writes the hash as it is. */
const names = {
	none: Object.freeze([]),
	isRaw: true,
	read: (said) => said.split(";").filter((name) => name).map(decode),
	write: (all, word) => (all.length ? [[word, all.map(encodeURIComponent).join(";")]] : []),
};

const ranges = list(MAX_RANGES, parseRange, rangeWord);
const part = optional(parseRange, rangeWord);
const windows = optional(parseWindow, (ends) => ends.map((x) => Number(x.toFixed(12))).join(","));
const MOST_NS = 86400e9;

/* What a state says; kinds of properties are in query.js. */
const PROPERTIES = {
	ranges: { ...ranges, word: "time" }, /* {from, to, rows} ns since the start; none: everything */
	rangesB: { /* the baseline of a difference; null: there is none, []: everything */
		none: null,
		word: "b",
		read: (said, before) => ranges.read(said, before ?? []),
		write: (all, word) => (all?.length === 0 ? [[word, ""]] : ranges.write(all ?? [], word)),
	},
	query: { none: EMPTY_QUERY, write: queryWords }, /* all words that are none of these */
	brush: part, /* {from, to} that the heatmap, the list of threads and the time strip show; null: everything */
	view: text("flame"),
	by: text(), /* the heatmap's rows: a dimension; "": time */
	cell: text(), /* what a cell of it is of its samples; "": their sum, "max": the largest */
	colour: text(),
	theme: text(),
	around: text(), /* the function that the sandwich is about */
	frame: text(), /* the function that the details are about */
	search: text(),
	sort: text(),
	changes: text(), /* of a difference: those that are "new" or "gone"; "": all */
	columns: text(), /* of the table; "counts": those of samples, too */
	details: text(), /* the panel of a function: "open", "closed"; "": as fits */
	rows: count(1000), /* of the heatmap; 0: as fits */
	column: count(MOST_NS), /* ns a column; 0: as fits */
	phase: count(MOST_NS), /* ns after the whole column that columns begin */
	threads: count(100000), /* that the time strip shows; 0: the first few */
	file: count(1000), /* which of those that were opened one after the other */
	split: count(900), /* thousandths of the height that the heatmap has; 0: as fits */
	/* {kind, of}: what was done to the stacks, in order */
	transforms: { ...list(MAX_TRANSFORMS, parseTransform, formatTransform), word: "t" },
	metrics: { ...list(MAX_METRICS), word: "show" }, /* that are shown side by side; none: the first few */
	window: windows, /* [from, to] of the graph's width that is seen, 0..1 */
	callers: windows, /* the same of the graph above the function of the sandwich */
	folds: names, /* processes that are not as they are first seen: open, or closed */
	zoom: names, /* names of frames from the root on */
};

const WORDS = byWord(PROPERTIES);
export const DEFAULTS = nothingSaid(PROPERTIES);

function freeze(value) {
	if (value && typeof value === "object" && !Object.isFrozen(value)) {
		for (const part of Object.values(value))
			freeze(part);
		Object.freeze(value);
	}
	return value;
}

/* What stays readable in a hash does: a link is for people, too.  Chat programs end a link at "^", "|" and "$". */
function encode(text) {
	return encodeURIComponent(text).replace(/%(2C|3A|40|3D|2F)/g, decodeURIComponent);
}

export function decode(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text; /* a bare "%": somebody wrote the hash by hand */
	}
}

/* A state's hash, without "#"; "" for the defaults. */
export function stateHash(state) {
	return wordsOf(PROPERTIES, state)
		.map(([word, said]) => (said === "" ? word : `${word}=${PROPERTIES[word]?.isRaw ? said : encode(said)}`))
		.join("&");
}

/* The state that a hash says; what it does not say is as by default. */
export function parseHash(hash) {
	const state = { ...DEFAULTS };
	const words = [];
	for (const said of hash.replace(/^#/, "").split("&")) {
		const [, word, raw] = /^([^=]*)=?([^]*)$/.exec(said);
		const name = WORDS.get(word);
		if (name && name !== "query")
			state[name] = PROPERTIES[name].read(PROPERTIES[name].isRaw ? raw : decode(raw), state[name]);
		else
			words.push([word, decode(raw)]);
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
	let isGoing = false; /* the browser, to where a step was: it comes there later, and maybe after another step */
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
		if (!isGoing)
			where?.go(by);
		isGoing = where !== null;
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
			isGoing &&= next !== entries[index] && Number.isInteger(at) && at !== index;
			if (isGoing)
				return where.go(index - at);
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
			window.history[waiting.step]({ index: waiting.index }, "", url(waiting.hash));
		waiting = null;
	}
	function wait(ms, step, hash, index) {
		clearTimeout(timer);
		waiting = { step, hash, index };
		timer = setTimeout(flush, ms);
	}
	window.addEventListener("pagehide", flush);
	window.addEventListener("popstate", () => (waiting = null)); /* the address is another by now */
	return {
		push(hash, index) {
			flush();
			wait(PUSH_MS, "pushState", hash, index);
		},
		replace: (hash, index) => wait(REST_MS, waiting?.step ?? "replaceState", hash, index),
		go(steps) {
			flush();
			window.history.go(steps);
		},
		flush,
	};
}
