/*
 * watched.js - the worker, in whose place another one comes where a pattern keeps it busy
 *
 * A RegExp may take for ever and cannot be stopped, so that a worker that matches one says which it is
 * at (pattern.js).  Of one that says nothing more another one has the recordings and the question, and
 * refuses the patterns.
 */

const MATCH_MS = 5000; /* without a word, while a pattern is matched */

/**
 * watched - what is asked and answers as a worker of START does, one question at a time
 * @start: -> a worker, or a promise of it
 */
export function watched(start) {
	const opened = {}; /* the recordings */
	const matching = new Set(); /* patterns that the worker is at */
	const refused = []; /* questions that refuse the patterns of workers before */
	let worker = null;
	let asked = null; /* the question */
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
			nBefore--;
			return;
		}
		if (asked?.question === "open" && data.problem === undefined)
			Object.assign(opened, asked.words[0]);
		listen({ data });
	}

	function replace() {
		worker.then((made) => made.terminate());
		begin();
		refused.push({ question: "refuse", words: [[...matching]] });
		matching.clear();
		const before = [...refused, ...(Object.keys(opened).length ? [{ question: "open", words: [opened] }] : [])];
		nBefore = before.length;
		post([...before, asked]);
	}

	begin();
	return {
		addEventListener: (_, listener) => (listen = listener),
		postMessage(question) {
			asked = question;
			post([question]);
		},
	};
}
