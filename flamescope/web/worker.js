/* worker.js - answers one question of the page after the other, in a thread of its own */

import { makeAnswers } from "wick/models/answers.js";
import { startModel } from "wick/models/model.js";
import { onMatching } from "wick/models/pattern.js";

const answers = makeAnswers();
let last = startModel();

/* What an answer has in columns, to be handed over without a copy. */
function buffersOf(value) {
	if (ArrayBuffer.isView(value))
		return [value.buffer];
	return value && typeof value === "object" ? Object.values(value).flatMap(buffersOf) : [];
}

async function answer({ question, state, words }) {
	try {
		const value = await answers[question](state, ...words);
		self.postMessage({ value }, buffersOf(value));
	} catch (error) {
		self.postMessage({ problem: error.message });
	}
}

onMatching((matching) => self.postMessage({ matching }));
self.addEventListener("message", ({ data }) => {
	last = last.then(() => answer(data), (error) => self.postMessage({ problem: error.message }));
});
