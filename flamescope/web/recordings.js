/*
 * recordings.js - the recordings of a server: chosen, fetched, and followed as they grow
 *
 * Names of files and hosts come from strangers: they become text only by textContent.
 */

import { RANGES, bytesText, choiceSearch, hostsOf, momentText, newestFirst, packOf, parseChoice }
	from "wick/recording_list.js";

const POLL_S = 20;
const RETRY_MS = 3000;
const PAUSE_MS = 1000; /* between two packs of a recording that grows */
const MAX_SHOWN = 500;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function make(tag, properties = {}, children = []) {
	const element = Object.assign(document.createElement(tag), properties);
	element.append(...children);
	return element;
}

/* Asks for PATH with WORDS; an answer that is none is an Error with the server's own words. */
async function ask(start, path, words, signal) {
	const url = new URL(start.api + path, window.location.href);
	for (const [key, value] of Object.entries(words))
		url.searchParams.append(key, value);
	const headers = start.token ? { Authorization: `Bearer ${start.token}` } : {};
	const response = await fetch(url, { headers, signal, cache: "no-store" });
	if (response.ok)
		return response;
	const said = await response.json().catch(() => ({}));
	throw Object.assign(new Error(said.error || `the server says ${response.status}`),
		{ status: response.status });
}

function optionsOf(list, choice) {
	const options = [
		make("option", { value: "", textContent: "Newest recording" }),
		...RANGES.map((range) => make("option",
			{ value: `last ${range.last}`, textContent: range.label })),
	];
	const files = newestFirst(list.recordings, choice.host);
	const group = make("optgroup", { label: "Recordings" });
	for (const recording of files.slice(0, MAX_SHOWN)) {
		const when = momentText(recording.from_ns);
		group.append(make("option", {
			value: `file ${recording.file}`,
			textContent: `${recording.file}${when && ` · ${when}`} · ${bytesText(recording.bytes)}`,
		}));
	}
	if (files.length > MAX_SHOWN)
		group.append(make("option", { disabled: true,
			textContent: `${files.length - MAX_SHOWN} older ones: give a folder with fewer` }));
	return [...options, group];
}

function valueOf(choice) {
	if (choice.file)
		return `file ${choice.file}`;
	return choice.last ? `last ${choice.last}` : "";
}

/* The controls; onChange gets the new choice. */
function mountControls(nav, onChange) {
	const what = make("select", { id: "recording" });
	const host = make("select", { id: "recording-host" });
	const follow = make("input", { type: "checkbox", id: "recording-follow", checked: true });
	const status = make("span", { id: "recording-status" });
	const hostLabel = make("label", { textContent: "Host " }, [host]);
	status.setAttribute("role", "status");
	nav.replaceChildren(make("label", { textContent: "Recording " }, [what]), " ", hostLabel, " ",
		make("label", {}, [follow, " Follow"]), " ", status);
	nav.hidden = false;
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
	return {
		get follows() {
			return follow.checked;
		},
		onFollow: (listener) => follow.addEventListener("change", listener),
		say: (text) => {
			if (status.textContent !== text)
				status.textContent = text;
		},
		show(list, choice) {
			const hosts = hostsOf(list.recordings);
			hostLabel.hidden = hosts.length < 2 && !choice.host;
			host.replaceChildren(make("option", { value: "", textContent: "All hosts" }),
				...hosts.map((name) => make("option", { value: name, textContent: name })));
			host.value = choice.host;
			if (document.activeElement !== what || what.value !== valueOf(choice))
				what.replaceChildren(...optionsOf(list, choice));
			what.value = valueOf(choice);
		},
	};
}

/*
 * Shows what the page's URL chooses (by default the newest recording), and calls ONPACK with the
 * bytes of its pack and {name, live}: at once, when another is chosen, and whenever it has grown.
 */
export async function startRecordings(start, onPack) {
	let choice = parseChoice(window.location.search);
	let list = { version: "", recordings: [] };
	let shown = ""; /* the stamp of what is seen */
	let fetching = null;

	const controls = mountControls(document.getElementById("recordings"), (next) => {
		choice = next;
		shown = "";
		window.history.replaceState(window.history.state, "",
			`${choiceSearch(choice, start.token) || window.location.pathname}${window.location.hash}`);
		controls.show(list, choice);
		void fetchPack();
	});

	function sayWhatIsMissing() {
		if (choice.file)
			controls.say("That recording is not there any more: choose another.");
		else if (choice.host)
			controls.say("There is no recording of that host: choose another.");
		else
			controls.say("There is no recording in this folder yet. Start one with wick record; it is shown as soon as it is there.");
	}

	async function fetchPack() {
		const wanted = packOf(choice, list);
		if (!wanted)
			return sayWhatIsMissing();
		if (wanted.stamp === shown)
			return undefined;
		fetching?.abort();
		const mine = fetching = new AbortController();
		const isFirst = shown === "";
		if (isFirst)
			controls.say("Loading…");
		try {
			const response = await ask(start, "pack", wanted.words, mine.signal);
			const bytes = await response.arrayBuffer();
			if (mine.signal.aborted)
				return undefined;
			shown = wanted.stamp;
			await onPack(bytes, { name: wanted.name, live: !isFirst });
			controls.say("");
		} catch (error) {
			if (error.name !== "AbortError")
				controls.say(`Cannot show ${wanted.name}: ${error.message}`);
		}
		return undefined;
	}

	/* The server holds the question until there is news. */
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
	function whenVisible() {
		if (!document.hidden)
			return Promise.resolve();
		return new Promise((resolve) =>
			document.addEventListener("visibilitychange", resolve, { once: true }));
	}

	async function follow() {
		for (;;) {
			try {
				await whenVisible();
				await fetchList();
				if (controls.follows || shown === "")
					await fetchPack();
				await sleep(PAUSE_MS);
			} catch (error) {
				if (error.status === 403)
					return controls.say(error.message);
				controls.say("The server does not answer; trying again.");
				await sleep(RETRY_MS);
				list = { ...list, version: "" };
			}
		}
	}

	controls.onFollow(() => controls.follows && void fetchPack());
	await fetchList();
	await fetchPack();
	void follow();
}
