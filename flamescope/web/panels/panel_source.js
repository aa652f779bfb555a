/*
 * panel_source.js - what the lines and the instructions of a function cost, where a server knows them
 *
 * Source text comes from the server's machine, and is as foreign as a recording.
 */

import { formatAmount, formatShare } from "wick/parts/amount.js";
import { make } from "wick/parts/dom.js";
import { queryWords, rangeWord } from "wick/state/query.js";
import { lastPart } from "wick/state/recording.js";

const WAIT_MS = 200; /* for a further choice of a function, before the server is asked */
const SHOWN_ABOVE = 3; /* rows above the dearest */

/* ROWS are [number, self, total, text]; null where some are left out. */
function table(caption, rows, code, word) {
	const most = Math.max(...rows.map((row) => row?.[2] ?? 0));
	const lines = rows.map((row) => {
		if (!row)
			return make("tr", {}, make("th", { textContent: "⋯" }));
		const [number, self, total, text] = row;
		const says = total && { title: `${formatAmount(self, code.unit)} itself, ${formatAmount(total - self, code.unit)} in what it calls`,
			className: total === most ? "dearest" : "" };
		return make("tr", says || {}, make("th", { scope: "row", textContent: word(number) }),
			make("td", { className: "part", style: `--part: ${code.total ? total / code.total : 0}`,
				textContent: total ? formatShare(total, code.total).replace(/(\.\d)\d/, "$1") : "" }),
			make("td", { textContent: text }));
	});
	const room = make("div", { className: "code", tabIndex: 0, role: "region", "aria-label": caption },
		make("table", { "aria-label": caption }, ...lines));
	const dearest = lines.find(({ className }) => className);
	requestAnimationFrame(() => (room.scrollTop = dearest ? dearest.offsetTop - SHOWN_ABOVE * dearest.offsetHeight : 0));
	return room;
}

const say = (textContent) => make("p", { className: "faint", textContent });

const parts = (code) => [
	make("h3", { textContent: code.file ? `source: ${lastPart(code.file)}` : "source", title: code.file }),
	code.is_newer && say("The file was changed after the program was built: lines may be others."),
	code.no_source && say(code.no_source),
	code.lines.length && table("Source lines", code.lines, code, String),
	code.elsewhere && say(`${formatAmount(code.elsewhere, code.unit)} more in other files, or without a line.`),
	make("h3", { textContent: code.function ? `instructions: ${code.function}` : "instructions", title: code.module }),
	code.no_instructions && say(code.no_instructions),
	code.instructions.length && table("Instructions", code.instructions, code, (addr) => addr.toString(16)),
	!code.is_checked && say("The recording does not say which build of the module ran."),
].filter((part) => part);

/**
 * makeSource - what adds the source of a function to the details
 * @ask: asks the server with words, and can be aborted
 */
export function makeSource(app, ask) {
	let asking = null;
	let shown = null; /* the last answer and whose it is: it stays while a recording grows */

	async function fill(section, name, signal) {
		const { ranges, query } = app.store.state;
		const { file } = app.recording;
		const words = [["file", file], ["function", name],
			...ranges.map((range) => ["time", rangeWord(range)]), ...queryWords(query)];
		try {
			const answer = await ask(words, signal);
			shown = { name, file, code: await answer.json() };
			section.replaceChildren(...parts(shown.code));
		} catch (error) {
			if (error.name !== "AbortError")
				section.replaceChildren(make("h3", { textContent: "source" }), say(error.message));
		}
		section.ariaBusy = "false";
	}

	return function addSource(box, name) {
		asking?.abort();
		if (!name)
			return;
		const section = make("section", { className: "source", "aria-label": "Source" });
		box.firstElementChild.after(section); /* the amounts: it says more of them */
		const isShown = shown?.name === name && shown.file === app.recording.file;
		section.append(...(isShown ? parts(shown.code) : [make("h3", { textContent: "source" })]));
		if (!app.recording.file)
			return section.append(say("It is shown of one recording. Try: choose a single one above."));
		const { signal } = asking = new AbortController();
		section.ariaBusy = "true";
		if (!isShown)
			section.append(say("Looking for it…"));
		setTimeout(() => signal.aborted || fill(section, name, signal), WAIT_MS);
	};
}
