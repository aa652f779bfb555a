/*
 * asked.js - the worker that answers questions about recordings, and its answers so far
 *
 * Drawing goes on as if answers were there: one that is not is thrown as a Pending, and drawing() draws
 * again when it has come.  Answers are kept, for a state is often one that was seen before.
 */

import { keyOf, makeMemo } from "wick/models/memo.js";
import { readPage } from "wick/state/recording.js";
import { watched } from "wick/state/watched.js";

const MAX_KEPT = 24;
const LAST_ONLY = ["strip", "stripParts", "threads", "values"]; /* answers that are large, or another at each step */

/** What has to come first; ready is a promise of it. */
class Pending {
	constructor() {
		this.ready = new Promise((resolve) => (this.resolve = resolve));
	}
}

/** STEP as a function that does its work when all that it needs is there: the last time that it was called. */
export function drawing(step) {
	let turn = 0;
	function run() {
		const mine = ++turn;
		try {
			step();
		} catch (error) {
			if (!(error instanceof Pending))
				throw error;
			error.ready.then(() => mine === turn && run());
		}
	}
	run.stop = () => turn++;
	return run;
}

/* Its script is an element of the page. */
function startWorker() {
	const script = document.getElementById("wick-worker").textContent;
	return new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
}

const QUERY = ["query"];
const SELECTION = ["query", "ranges", "transforms"]; /* what of a state a selection follows from */
const ALL_TIME = ["query", "transforms"];
const BASELINE = ["query", "rangesB", "transforms"];

/**
 * makeModels - what follows from the recordings and the page's state (answers.js)
 *
 * One question is with the worker at a time.  What is asked for by a drawing and is still waiting when
 * the state changes is forgotten: whoever draws then asks for what it needs now.
 */
export function makeModels(app, worker = watched(startWorker)) {
	const kept = makeMemo(MAX_KEPT); /* answers, by the question and what of the state it is about */
	const pending = new Map(); /* of drawings */
	let queue = [];
	let busy = null; /* the question that the worker has */
	let idle = [];
	worker.addEventListener("message", ({ data }) => answered(data));

	function next() {
		if (busy)
			return;
		busy = queue.shift() ?? null;
		app.showBusy?.(busy !== null);
		if (!busy)
			return idle.splice(0).forEach((resolve) => resolve());
		const { question, state, words } = busy;
		worker.postMessage({ question, state, words });
	}

	function answered({ value, problem }) {
		const { resolve, reject } = busy;
		busy = null;
		if (problem === undefined)
			resolve(value);
		else
			reject(new Error(problem));
		setTimeout(next, 0); /* whoever waited for it may ask for more */
	}

	/** A promise of the answer to QUESTION; an Error says why there is none. */
	function ask(question, ...words) {
		return new Promise((resolve, reject) => {
			queue[question === "open" ? "unshift" : "push"]({ question, words, state: app.store?.state, resolve, reject });
			next();
		});
	}

	const keyFor = (question, parts, words = []) => keyOf(question, words, parts.map((part) => app.store.state[part]));

	function keep(key, answer, question) {
		kept.set(LAST_ONLY.includes(question) ? question : key, { key, ...answer });
		queue = queue.filter(({ wanted }) => wanted !== key);
		pending.get(key)?.resolve();
		pending.delete(key);
	}

	/* What is not known yet is asked for once; a graph says what its selection is, too. */
	function want(key, question, words) {
		if (pending.has(key))
			return pending.get(key);
		const wanted = new Pending();
		const answeredBy = (answer) => {
			if (pending.get(key) !== wanted)
				return;
			if (question === "flame" && answer.value)
				keep(keyFor("selection", SELECTION), { value: answer.value.selection });
			keep(key, answer, question);
		};
		pending.set(key, wanted);
		queue.push({ question, words, state: app.store.state, wanted: key,
			resolve: (value) => answeredBy({ value }), reject: (error) => answeredBy({ error }) });
		next();
		return wanted;
	}

	function get(question, parts, ...words) {
		const key = keyFor(question, parts, words);
		const answer = kept.get(LAST_ONLY.includes(question) ? question : key);
		if (answer?.key !== key)
			throw want(key, question, words);
		if (answer.error)
			throw answer.error;
		return answer.value;
	}

	function drop() {
		for (const { wanted } of queue.filter((question) => question.wanted)) {
			pending.get(wanted).resolve();
			pending.delete(wanted);
		}
		queue = queue.filter((question) => !question.wanted);
	}
	app.store.subscribe(drop);

	const of = (selection, profile) => selection && Object.assign(selection, { profile });
	const about = (answer) => Object.assign(answer, { selection: of(answer.selection, app.profile) });
	const models = {
		ask,
		whole: () => of(get("whole", QUERY), app.profile),
		allTime: () => of(get("allTime", ALL_TIME), app.profile),
		selection: () => of(get("selection", SELECTION), app.profile),
		/* The baseline: other ranges of this recording, else the other recording; else null. */
		selectionB: () => of(get("selectionB", BASELINE), app.baseline ?? app.profile),
		/* All of the recording; columnNs where the state leaves it open, which begin phaseNs later; METRIC instead of the state's. */
		heat: (columnNs, phaseNs, metric = "") =>
			about(get("heat", [...ALL_TIME, "by", "rows", "cell"], app.store.state.column || columnNs, phaseNs, metric)),
		flame: (order, around) => about(get("flame", SELECTION, order, around)),
		/** [{ranges, which, tree}]: the baseline, each of several ranges by itself, and further recordings. */
		sides() {
			const sides = get("sides", [...SELECTION, "rangesB", "colour"]);
			for (const { which, said, tree } of sides)
				tree.selection = of(said, which ? app.opened[which].profile : app.baseline ?? app.profile);
			return sides;
		},
		functions: () => get("functions", SELECTION),
		callers: () => get("callers", [...SELECTION, "search", "frame"], ""),
		/** {found: of each list OF (answers.js) a byte for each name; none: nothing is searched for, problem}. */
		search: (of = "selection", ...words) => (app.store.state.search
			? get("search", [...SELECTION, "rangesB", "search"], of, ...words) : { found: [] }),
		/* Of a tree: what colours say may have changed since. */
		colours: ({ order, around, colours }) => (colours.by === app.store.state.colour ? colours
			: get("colours", [...SELECTION, "colour"], order, around)),
		/* The N threads with most, or of what their time is spent in, in parts of a time. */
		strip: (n, fromNs, toNs, nColumns) => get("strip", SELECTION, n, fromNs, toNs, nColumns),
		stripParts: (n, fromNs, toNs, nParts) => get("stripParts", SELECTION, n, fromNs, toNs, nParts),
		stackColours: () => get("stackColours", [...SELECTION, "colour"]),
		threads: (query, fromNs, toNs) => get("threads", ["ranges", "transforms"], query, fromNs, toNs),
		details: (name) => get("details", SELECTION, name),
		diff: () => get("diff", [...SELECTION, "rangesB", "changes"]),
		brush: (n) => get("brush", ALL_TIME, n),
		values: (name, part) => get("values", ALL_TIME, name, part),
		/** Profiles of {A, B...: the data of a recording, or null}, in whose places those before are gone. */
		open: async (parts) => Object.fromEntries(Object.entries(await ask("open", parts))
			.map(([which, page]) => [which, page && readPage(page)])),
		/** After another recording was opened. */
		forget() {
			drop();
			kept.forget();
			pending.forEach((wanted) => wanted.resolve());
			pending.clear();
		},
		/** Nothing is asked that is not answered. */
		idle: () => new Promise((resolve) => (busy || queue.length ? idle.push(resolve) : resolve())),
	};
	return models;
}
