/* panel_top.js - what the recording is, undo and redo, links, the theme */

import { commandFor } from "wick/state/command.js";
import { make } from "wick/parts/dom.js";
import { countOf, formatLength, formatTotal, grouped } from "wick/parts/amount.js";
import { attachBox } from "wick/parts/floating.js";
import { copy } from "wick/parts/save.js";
import { lastPart, periodOf, shortName } from "wick/state/recording.js";
import { decode } from "wick/state/store.js";

const MOST_LISTED = 40;
const NEXT_THEME = { "": "light", light: "dark" };

/* When the recording began, in the reader's own time of day; "" if it does not say. */
function startOfDay({ hasEpoch, startNs, epochOffsetNs }) {
	const date = new Date(Number((startNs + epochOffsetNs) / 1000000n));
	return !hasEpoch || Number.isNaN(date.getTime()) ? "" : date.toLocaleString();
}

/* What fits into one line: how long it is, and how much it has. */
function summaryOf(profile) {
	const parts = profile.hasTimes ? [formatLength(profile.lengthNs)] : [];
	parts.push(`${grouped(profile.n)} ${profile.hasTimes ? "samples" : "stacks"}`);
	if (periodOf(profile).isDefault && periodOf(profile).unit)
		parts.push(formatTotal(profile.sum, periodOf(profile)));
	return parts.join(" · ");
}

/* The first of many, for a recording may be of a thousand machines. */
function listOf(all, between) {
	const more = all.length - MOST_LISTED;
	return [...all.slice(0, MOST_LISTED), ...(more > 0 ? [`and ${grouped(more)} more`] : [])].join(between);
}

/* All else that a recording says of itself: [what, text]. */
function factsOf(profile, name) {
	const hosts = [...new Set(profile.threads.map(({ host }) => host))].filter((host) => host);
	return [
		["command", profile.command || name],
		["recorded", startOfDay(profile) || profile.captured],
		["host", listOf(hosts, ", ")],
		["rate", profile.hz ? `${grouped(profile.hz)} Hz` : ""],
		["events", listOf(profile.events.filter((event) => event), ", ")],
		["metrics", listOf(profile.metrics.map((metric) => metric.name), ", ")],
		["threads", countOf(profile.threads.length, "thread")],
		[profile.files.length > 1 ? "files" : "file", listOf(profile.files.map((file) => file.path), "\n")],
	].filter(([, text]) => text);
}

/* The command line that makes the same selection: `wick flamegraph FILE --time=10-20 ...`. */
function commandOf(app) {
	const paths = (profile, name) => (profile.files.length
		? profile.files.map((file) => file.path) : [name || "FILE"]);
	return commandFor(app.store.state, paths(app.profile, app.name),
		app.baseline ? paths(app.baseline, app.baselineName) : []);
}

/* Chat programs leave out what is no letter at the end of a link. */
const whole = (link) => link.replace(/[^A-Za-z0-9]$/, (end) => `%${end.charCodeAt(0).toString(16).toUpperCase()}`);

/* A list of terms; TITLE stands over it where there is more than one. */
function factList(facts, title = "") {
	const parts = title ? [["", title]] : [];
	return [...parts, ...facts].flatMap(([what, text]) =>
		[make("dt", { textContent: what || "baseline" }), make("dd", { textContent: text })]);
}

export function mountTop(app) {
	const at = (id) => document.getElementById(id);
	function undo(redo) {
		if (redo ? app.store.redo() : app.store.undo())
			app.say(redo ? "Redone" : "Undone");
	}
	function nextTheme() {
		app.store.set({ theme: NEXT_THEME[app.store.state.theme] ?? "" });
		app.say(at("theme").title);
	}
	function update() {
		at("undo").disabled = !app.store.canUndo;
		at("redo").disabled = !app.store.canRedo;
		at("theme").title = `Theme: ${app.store.state.theme || "system"} (t)`;
		at("theme").setAttribute("aria-label", at("theme").title);
	}
	function describe() {
		const name = shortName(app.profile, app.name);
		document.title = `wick: ${name}`;
		at("title").textContent = name;
		at("title").title = app.name;
		at("summary").textContent = summaryOf(app.profile) +
			(app.baseline ? ` · baseline ${shortName(app.baseline, app.baselineName)}` : "");
		at("summary").title = at("summary").textContent;
		at("facts").replaceChildren(...factList(factsOf(app.profile, app.name)),
			...(app.baseline ? factList(factsOf(app.baseline, app.baselineName), shortName(app.baseline, app.baselineName)) : []));
	}
	const copyCommand = () => copy(app, commandOf(app), "Command");
	function copyLink() {
		app.history.flush();
		const { hash, href, pathname, protocol } = window.location;
		const note = protocol === "file:" ? `. It needs the file: send ${decode(lastPart(pathname))} with it` : "";
		return copy(app, hash ? whole(href) : href, "Link", note);
	}
	for (const [keys, what, run, id] of [
		[["u", "Ctrl+z"], "undo", () => undo(false), "undo"],
		[["U", "Ctrl+Shift+z", "Ctrl+y"], "redo", () => undo(true), "redo"],
		[["i"], "about this recording", () => at("info").showPopover()],
		[["s"], "copy and save", () => at("share").showPopover()],
		[["t"], "theme: system, light, dark", nextTheme, "theme"],
		[["y"], "copy the link", copyLink, "copy-link"],
		[["Y"], "copy the command that selects the same", copyCommand, "copy-command"],
	]) {
		keys.forEach((key) => app.keys.add({ key, what, run }));
		if (id)
			at(id).onclick = run;
	}
	attachBox(at("show-info"), at("info"));
	attachBox(at("show-share"), at("share"), () => (at("shared").textContent = ""));
	app.store.subscribe(update);
	app.on("data", describe);
	describe();
	update();
}
