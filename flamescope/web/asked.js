/*
 * asked.js - the worker that answers questions about recordings, and its answers so far
 *
 * Drawing goes on as if answers were there: one that is not is thrown as a Pending, and drawing() draws
 * again when it has come.  Answers are kept, for a state is often one that was seen before.
 */

import { bundle } from "wick/bundle.js";
import { fromBase64 } from "wick/bytes.js";
import { readPage } from "wick/recording.js";

const MAX_KEPT = 24;

/** What has to come first. */
class Pending {
	constructor() {
		this.ready = new Promise((resolve) => (this.resolve = resolve));
	}
}

/** Runs STEP until nothing that it needs is missing. */
export async function there(step) {
	for (;;) {
		try {
			return step();
		} catch (error) {
			if (!(error instanceof Pending))
				throw error;
			await error.ready;
		}
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

/* The text of a module of the page: in the page itself, or at the server. */
async function textOf(name) {
	const map = JSON.parse(document.querySelector("script[type=importmap]").textContent);
	const url = map.imports[`wick/${name}`];
	if (url.startsWith("data:"))
		return new TextDecoder().decode(fromBase64(url.slice(url.indexOf(",") + 1)));
	return (await fetch(url)).text();
}

async function startWorker() {
	const blob = new Blob([await bundle("worker.js", textOf)], { type: "text/javascript" });
	return new Worker(URL.createObjectURL(blob));
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
export function makeModels(app, started = startWorker()) {
	const kept = new Map(); /* answers, by the question and what of the state it is about */
	const pending = new Map(); /* of drawings */
	let queue = [];
	let busy = null; /* the question that the worker has */
	let idle = [];
	const worker = started.then((made) => {
		made.addEventListener("message", ({ data }) => answered(data));
		return made;
	});

	function next() {
		if (busy)
			return;
		busy = queue.shift() ?? null;
		app.showBusy?.(busy !== null);
		if (!busy)
			return idle.splice(0).forEach((resolve) => resolve());
		const { question, state, words } = busy;
		worker.then((made) => made.postMessage({ question, state, words }), (error) => answered({ problem: error.message }));
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
			queue.push({ question, words, state: app.store?.state, resolve, reject });
			next();
		});
	}

	/* What is not known yet is asked for once. */
	function want(key, question, words) {
		if (pending.has(key))
			return pending.get(key);
		const wanted = new Pending();
		const keep = (answer) => {
			if (pending.get(key) !== wanted)
				return;
			kept.set(key, answer);
			if (kept.size > MAX_KEPT)
				kept.delete(kept.keys().next().value);
			pending.delete(key);
			wanted.resolve();
		};
		pending.set(key, wanted);
		queue.push({ question, words, state: app.store.state, wanted: key,
			resolve: (value) => keep({ value }), reject: (error) => keep({ error }) });
		next();
		return wanted;
	}

	function get(question, parts, ...words) {
		const key = JSON.stringify([question, words, parts.map((part) => app.store.state[part])],
			(_, value) => (value === Infinity ? "end" : value));
		const answer = kept.get(key);
		if (!answer)
			throw want(key, question, words);
		kept.delete(key); /* and is the newest again */
		kept.set(key, answer);
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
	const models = {
		ask,
		whole: () => of(get("whole", QUERY), app.profile),
		allTime: () => of(get("allTime", ALL_TIME), app.profile),
		selection: () => of(get("selection", SELECTION), app.profile),
		/* The baseline: other ranges of this recording, else the other recording; else null. */
		selectionB: () => of(get("selectionB", BASELINE), app.baseline ?? app.profile),
		/* All of the recording; columnNs where the state leaves it open, which begin phaseNs later; METRIC instead of the state's. */
		heat(columnNs, phaseNs, metric = "") {
			const heat = get("heat", [...ALL_TIME, "by", "rows", "cell"], app.store.state.column || columnNs, phaseNs, metric);
			of(heat.selection, app.profile);
			return heat;
		},
		flame: (order, around) => withSelection(get("flame", SELECTION, order, around)),
		/** [{ranges (null: of the baseline), tree}]: the baseline, and each of several ranges by itself. */
		sides() {
			const sides = get("sides", [...SELECTION, "rangesB", "colour"]);
			for (const { ranges, said, tree } of sides)
				tree.selection = of(said, ranges ? app.profile : app.baseline ?? app.profile);
			return sides;
		},
		functions: () => get("functions", SELECTION),
		/* Of a tree: what colours say may have changed since. */
		colours: ({ order, around, colours }) => (colours.by === app.store.state.colour ? colours
			: get("colours", [...SELECTION, "colour"], order, around)),
		strip: () => get("strip", [...SELECTION, "colour"]),
		threads: (query, fromNs, toNs) => get("threads", ["ranges", "transforms"], query, fromNs, toNs),
		details: (name) => get("details", SELECTION, name),
		diff: () => get("diff", [...SELECTION, "rangesB"]),
		brush: (n) => get("brush", ALL_TIME, n),
		values: (name) => get("values", ALL_TIME, name),
		/** A recording, as A or B, in whose place the one before is gone. */
		open: async (which, data) => {
			const page = await ask("open", which, data);
			return page && readPage(page);
		},
		/** After another recording was opened. */
		forget() {
			drop();
			kept.clear();
			pending.forEach((wanted) => wanted.resolve());
			pending.clear();
		},
		/** Nothing is asked that is not answered. */
		idle: () => new Promise((resolve) => (busy || queue.length ? idle.push(resolve) : resolve())),
	};
	function withSelection(tree) {
		tree.selection ??= models.selection();
		return tree;
	}
	return models;
}
