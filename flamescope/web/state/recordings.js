/*
 * recordings.js - the recordings of a server: chosen, fetched, and followed as they grow
 *
 * Names of files and hosts come from strangers: they become text only by textContent.
 */

import { formatAmount } from "wick/parts/amount.js";
import { make, option } from "wick/parts/dom.js";
import { RANGES, baseOf, choiceSearch, hostsOf, momentText, ofHost, packOf,
	parseChoice, pauseAfter } from "wick/state/recording_list.js";

const POLL_S = 20;
const RETRY_MS = 3000;
const LEAST_MS = 1000; /* between two questions */
const MAX_SHOWN = 500;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks for PATH with WORDS, an object or pairs; an answer that is none is an Error with the server's own words. */
export async function ask(start, path, words, signal) {
	const url = new URL(start.api + path, window.location.href);
	for (const [key, value] of Array.isArray(words) ? words : Object.entries(words))
		url.searchParams.append(key, value);
	const headers = start.token ? { Authorization: `Bearer ${start.token}` } : {};
	const response = await fetch(url, { headers, signal, cache: "no-store" });
	if (response.ok)
		return response;
	const said = await response.json().catch(() => ({}));
	throw Object.assign(new Error(said.error || `the server says ${response.status}`),
		{ status: response.status });
}

/* The files as options; VALUE makes what one stands for. */
function fileOptions(list, host, value) {
	const files = ofHost(list.recordings, host);
	const group = make("optgroup", { label: "Recordings" });
	for (const { file, from_ns, bytes } of files.slice(0, MAX_SHOWN)) {
		const when = momentText(from_ns);
		group.append(option(value(file), `${file}${when && ` · ${when}`} · ${formatAmount(bytes, "B")}`));
	}
	if (files.length > MAX_SHOWN)
		group.append(make("option", { disabled: true,
			textContent: `${files.length - MAX_SHOWN} older ones: give a folder with fewer` }));
	return group;
}

/* Other options in a select, unless somebody has it open; VALUE is chosen. */
function refill(select, value, ...options) {
	if (document.activeElement !== select || select.value !== value)
		select.replaceChildren(...options);
	select.value = value;
}

/* The controls; onChange gets what of the choice is another now. */
function mountControls(onChange) {
	const [what, host, base, follow, status] = ["", "-host", "-base", "-follow", "-status"]
		.map((part) => document.getElementById(`recording${part}`));
	document.getElementById("recordings").hidden = false;
	const change = () => {
		const [kind, ...rest] = what.value.split(" ");
		onChange({
			file: kind === "file" ? rest.join(" ") : "",
			last: kind === "last" ? Number(rest[0]) : 0,
			host: host.value,
		});
	};
	what.addEventListener("change", change);
	host.addEventListener("change", () => {
		/* A file is one host's: another host's newest is what is meant. */
		if (what.value.startsWith("file "))
			what.value = "";
		change();
	});
	base.addEventListener("change", () => onChange({ base: base.value }));
	follow.addEventListener("change", () => onChange({ stays: !follow.checked }));
	return {
		say: (text) => {
			if (status.textContent !== text)
				status.textContent = text;
		},
		show(list, choice) {
			const hosts = hostsOf(list.recordings);
			host.parentElement.hidden = hosts.length < 2 && !choice.host;
			host.replaceChildren(option("", "All hosts"), ...hosts.map((name) => option(name, name)));
			host.value = choice.host;
			follow.checked = !choice.stays;
			refill(what, choice.file ? `file ${choice.file}` : choice.last ? `last ${choice.last}` : "",
				option("", "Newest recording"), ...RANGES.map(({ last, label }) => option(`last ${last}`, label)),
				fileOptions(list, choice.host, (file) => `file ${file}`));
			/* Any host's: that two hosts differ may be what is asked. */
			refill(base, choice.base, option("", "nothing"), fileOptions(list, "", (file) => file));
		},
	};
}

/*
 * Shows what the page's URL chooses (by default the newest recording): SHOW gets {A: {name, words,
 * data}}, what was asked for and its bytes, at once, when another is chosen, and whenever it has grown;
 * {B: ...} the same of what it is compared with, or null.
 */
export async function startRecordings(start, show) {
	let choice = parseChoice(window.location.search);
	let list = { version: "", recordings: [] };
	const shown = { A: "", B: "" }; /* the stamps of what is seen */
	let fetching = null;
	let restUntil = 0; /* performance.now() until which what grows is left alone */

	const controls = mountControls((patch) => {
		const next = { ...choice, ...patch };
		if (next.file !== choice.file || next.last !== choice.last || next.host !== choice.host)
			shown.A = "";
		choice = next;
		window.history.replaceState(window.history.state, "",
			`${choiceSearch(choice, start.token) || window.location.pathname}${window.location.hash}`);
		controls.show(list, choice);
		void fetchBoth(!shown.A || !choice.stays);
	});

	const missing = () => (choice.file ? "This recording does not exist any more. Try: another one."
		: choice.host ? "There is no recording of this host. Try: another one."
		: "There is no recording in this directory yet. Try: wick record; the page shows the recording when it starts.");

	async function fetchPart(which, wanted, signal) {
		const stamp = wanted?.stamp ?? "";
		if (stamp === shown[which])
			return;
		if (!shown.A)
			controls.say("Loading…");
		const began = performance.now();
		try {
			const buffer = wanted && await (await ask(start, "pack", wanted.words, signal)).arrayBuffer();
			if (signal.aborted)
				return;
			shown[which] = stamp;
			controls.say("");
			await show({ [which]: wanted && { ...wanted, data: { buffer } } });
		} catch (error) {
			if (error.name !== "AbortError")
				controls.say(`Cannot show ${wanted.name}: ${error.message}`);
		}
		const end = performance.now();
		restUntil = end + pauseAfter(end - began);
	}

	/* Of what is fetched still nobody wants an answer any more. */
	async function fetchBoth(isWanted) {
		fetching?.abort();
		const { signal } = fetching = new AbortController();
		const wanted = packOf(choice, list);
		if (isWanted && !wanted)
			controls.say(missing());
		else if (isWanted)
			await fetchPart("A", wanted, signal);
		if (shown.A && !signal.aborted)
			await fetchPart("B", baseOf(choice, list), signal);
	}

	/* The server holds the question until something changes. */
	async function fetchList() {
		const words = list.version ? { since: list.version, wait: String(POLL_S) } : {};
		const response = await ask(start, "list", words);
		const next = await response.json();
		const isNew = next.version !== list.version;
		list = next;
		if (isNew)
			controls.show(list, choice);
	}

	/* A page that nobody looks at asks for nothing. */
	const whenVisible = () => new Promise((resolve) => (document.hidden
		? document.addEventListener("visibilitychange", resolve, { once: true }) : resolve()));

	async function follow() {
		for (;;) {
			try {
				await whenVisible();
				await fetchList();
				if (!choice.stays || !shown.A)
					await fetchBoth(true);
				await sleep(Math.max(LEAST_MS, restUntil - performance.now()));
			} catch (error) {
				if (error.status === 403)
					return controls.say(error.message);
				controls.say("The server does not answer; trying again.");
				await sleep(RETRY_MS);
				list = { ...list, version: "" };
			}
		}
	}

	await fetchList();
	await fetchBoth(true);
	void follow();
}
