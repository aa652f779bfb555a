/*
 * panel_source.js - what the lines and the instructions of a function cost, where a server knows them
 *
 * Source text comes from the server's machine, and is as foreign as a recording.
 */

import { formatAmount, formatShare } from "wick/parts/amount.js";
import { make } from "wick/parts/dom.js";
import { queryWords, rangeWord } from "wick/state/query.js";

const WAIT_MS = 200; /* for a further choice of a function, before the server is asked */
const SHOWN_ABOVE = 3; /* rows above the dearest */

/* ROWS are [number, self, total, text]; null where some are left out. */
function table(caption, rows, code, word) {
	const most = Math.max(...rows.map((row) => row?.[2] ?? 0));
	const body = make("table", { "aria-label": caption });
	let dearest = null;
	for (const row of rows) {
		if (!row) {
			body.append(make("tr", {}, make("th", { textContent: "⋯" })));
			continue;
		}
		const [number, self, total, text] = row;
		const share = make("td", { className: "part", textContent: total ? formatShare(total, code.total).replace(/(\.\d)\d/, "$1") : "" });
		share.style.setProperty("--part", code.total ? total / code.total : 0);
		const tr = make("tr", {}, make("th", { scope: "row", textContent: word(number) }), share,
			make("td", { textContent: text }));
		if (total)
			tr.title = `${formatAmount(self, code.unit)} itself, ${formatAmount(total - self, code.unit)} in what it calls`;
		if (total && total === most) {
			tr.className = "dearest";
			dearest ??= tr;
		}
		body.append(tr);
	}
	const room = make("div", { className: "code", tabIndex: 0, role: "region", "aria-label": caption }, body);
	requestAnimationFrame(() => (room.scrollTop = dearest ? dearest.offsetTop - SHOWN_ABOVE * dearest.offsetHeight : 0));
	return room;
}

function say(text) {
	return make("p", { className: "faint", textContent: text });
}

function* parts(code) {
	const file = code.file.slice(code.file.lastIndexOf("/") + 1);
	yield make("h3", { textContent: file ? `source: ${file}` : "source", title: code.file });
	if (code.is_newer)
		yield say("The file was changed after the program was built: lines may be others.");
	if (code.no_source)
		yield say(code.no_source);
	if (code.lines.length)
		yield table("Source lines", code.lines, code, String);
	if (code.elsewhere)
		yield say(`${formatAmount(code.elsewhere, code.unit)} more in other files, or without a line.`);
	yield make("h3", { textContent: code.function ? `instructions: ${code.function}` : "instructions", title: code.module });
	if (code.no_instructions)
		yield say(code.no_instructions);
	if (code.instructions.length)
		yield table("Instructions", code.instructions, code, (addr) => addr.toString(16));
	if (!code.is_checked)
		yield say("The recording does not say which build of the module ran.");
}

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
