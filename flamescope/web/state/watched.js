/*
 * watched.js - the worker, in whose place another one comes where a pattern or a file keeps it busy
 *
 * A RegExp may take for ever and cannot be stopped, so that a worker that matches one says which it is
 * at (pattern.js).  Of one that says nothing more another one has the recordings and the question, and
 * refuses the patterns.  A file that takes too long is not opened.
 */

const MATCH_MS = 5000; /* without a word, while a pattern is matched */
const OPEN_MS = 30000; /* that files may take, */
const OPEN_MIB_MS = 1000; /* and longer for each MiB */

/* What the question is about may take; undefined: all the time. */
function patienceOf({ question, words }) {
	const files = question === "open" ? Object.values(words[0]).flatMap((part) => part?.file ?? []) : [];
	return files.length ? files.reduce((ms, { size }) => ms + OPEN_MIB_MS * size / 2 ** 20, OPEN_MS) : undefined;
}

/**
 * watched - what is asked and answers as a worker of START does, one question at a time
 * @start: -> a worker, or a promise of it
 */
export function watched(start) {
	const opened = {}; /* the recordings */
	const matching = new Set(); /* patterns that the worker is at */
	const refused = []; /* questions that refuse the patterns of workers before */
	let worker = null;
	let asked = {}; /* the question */
	let nBefore = 0; /* others, that have to be answered first */
	let timer = 0;
	let listen = null;

	function begin() {
		const begun = worker = Promise.resolve(start());
		begun.then((made) => made.addEventListener("message", ({ data }) => begun === worker && heard(data)), () => {});
	}

	function post(questions) {
		worker.then((made) => questions.forEach((question) => made.postMessage(question)),
			(error) => listen({ data: { problem: error.message } }));
	}

	/* The question is with the worker, and nothing else is. */
	function wait() {
		const ms = patienceOf(asked);
		if (ms !== undefined)
			timer = setTimeout(giveUp, ms, ms);
	}

	function heard(data) {
		clearTimeout(timer);
		if (data.matching) {
			matching.add(data.matching);
			timer = setTimeout(replace, MATCH_MS);
			return;
		}
		matching.clear();
		if (data.matching === "")
			return;
		if (nBefore > 0) {
			if (--nBefore === 0)
				wait();
			return;
		}
		if (asked.question === "open" && data.problem === undefined)
			Object.assign(opened, asked.words[0]);
		listen({ data });
	}

	/* Another worker, which gets all that was before the question, and QUESTIONS. */
	function restart(questions) {
		worker.then((made) => made.terminate());
		begin();
		const before = [...refused, ...(Object.keys(opened).length ? [{ question: "open", words: [opened] }] : [])];
		nBefore = before.length;
		post([...before, ...questions]);
	}

	function replace() {
		refused.push({ question: "refuse", words: [[...matching]] });
		matching.clear();
		restart([asked]);
	}

	function giveUp(ms) {
		restart([]);
		asked = {};
		listen({ data: { problem: `it takes longer than ${Math.round(ms / 1000)} s to open, try: wick view FILE` } });
	}

	begin();
	return {
		addEventListener: (_, listener) => (listen = listener),
		postMessage(question) {
			asked = question;
			post([question]);
			if (nBefore === 0)
				wait();
		},
	};
}
