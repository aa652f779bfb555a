/* panel_top.js - what the recording is, undo and redo, links, the theme */

import { commandFor } from "wick/command.js";
import { formatLength, formatTotal, grouped } from "wick/amount.js";
import { periodOf, periodValues } from "wick/period.js";

const THEMES = ["", "light", "dark"];
const THEME_NAMES = { "": "system", light: "light", dark: "dark" };

/* When the recording began, in the reader's own time of day; "" if it does not say. */
export function startOfDay(profile) {
	if (!profile.hasEpoch)
		return "";
	const ms = Number((profile.startNs + profile.epochOffsetNs) / 1000000n);
	const date = new Date(ms);
	return Number.isNaN(date.getTime()) ? "" : date.toLocaleString();
}

export function summaryOf(profile) {
	const parts = [`${grouped(profile.n)} ${profile.hasTimes ? "samples" : "stacks"}`];
	if (periodOf(profile).isDefault && periodOf(profile).unit)
		parts.push(formatTotal(periodValues(profile).reduce((sum, value) => sum + value, 0), periodOf(profile)));
	if (profile.hasTimes)
		parts.push(formatLength(profile.lengthNs));
	parts.push(`${grouped(profile.threads.length)} thread${profile.threads.length === 1 ? "" : "s"}`);
	const began = startOfDay(profile) || profile.captured;
	if (began)
		parts.push(began);
	if (profile.command)
		parts.push(profile.command);
	return parts.join(" · ");
}

/* The command line that makes the same selection: `wick flamegraph FILE --time=10-20 ...`. */
export function commandOf(app) {
	const paths = (profile, name) => (profile.files.length
		? profile.files.map((file) => file.path) : [name || "FILE"]);
	return commandFor(app.store.state, paths(app.profile, app.name),
		app.baseline ? paths(app.baseline, app.baselineName) : []);
}

async function copy(app, text, what) {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		/* Pages from file:// may not use the clipboard: a field that is copied from can. */
		const field = document.createElement("textarea");
		field.value = text;
		document.body.append(field);
		field.select();
		document.execCommand("copy");
		field.remove();
	}
	app.say(`${what} copied: ${text}`);
	return text;
}

export function mountTop(app) {
	const at = (id) => document.getElementById(id);
	function undo(redo) {
		if (redo ? app.store.redo() : app.store.undo())
			app.say(redo ? "Redone" : "Undone");
	}
	function nextTheme() {
		const now = THEMES.indexOf(app.store.state.theme);
		const theme = THEMES[(now + 1) % THEMES.length];
		app.store.set({ theme });
		app.say(`Theme: ${THEME_NAMES[theme]}`);
	}
	function update() {
		at("undo").disabled = !app.store.canUndo;
		at("redo").disabled = !app.store.canRedo;
		at("theme").textContent = `Theme: ${THEME_NAMES[app.store.state.theme] ?? "system"}`;
	}
	function describe() {
		const title = app.name ? `wick: ${app.name}` : "wick";
		document.title = title;
		at("title").textContent = title;
		at("summary").textContent = summaryOf(app.profile) +
			(app.baseline ? ` — baseline: ${app.baselineName || "second recording"}` : "");
	}
	app.copyCommand = () => copy(app, commandOf(app), "Command");
	app.copyLink = () => copy(app, (app.history.flush(), window.location.href), "Link");
	at("undo").addEventListener("click", () => undo(false));
	at("redo").addEventListener("click", () => undo(true));
	at("theme").addEventListener("click", nextTheme);
	at("copy-link").addEventListener("click", app.copyLink);
	at("copy-command").addEventListener("click", app.copyCommand);
	at("show-keys").addEventListener("click", () => app.keys.show());
	for (const key of ["u", "Ctrl+z"])
		app.keys.add({ key, what: "undo", run: () => undo(false) });
	for (const key of ["U", "Ctrl+Shift+z", "Ctrl+y"])
		app.keys.add({ key, what: "redo", run: () => undo(true) });
	app.keys.add({ key: "t", what: "theme: system, light, dark", run: nextTheme });
	app.keys.add({ key: "y", what: "copy the link", run: app.copyLink });
	app.keys.add({ key: "Y", what: "copy the command that selects the same", run: app.copyCommand });
	app.store.subscribe(update);
	app.on("data", describe);
	describe();
	update();
}
