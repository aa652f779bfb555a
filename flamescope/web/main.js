/*
 * main.js - wires the page: data -> models -> views, all of them about one state
 *
 * What a recording says becomes text only through textContent and fillText.
 */

import { fromBase64, inflate, readPack } from "wick/pack.js";
import { browserHistory, makeStore } from "wick/store.js";
import { makeModels } from "wick/models.js";
import { makeColours } from "wick/colour.js";
import { makeKeys } from "wick/keys.js";
import { makeAria } from "wick/aria.js";
import { makeTip } from "wick/tip.js";
import { mountTop } from "wick/panel_top.js";
import { mountTabs } from "wick/panel_tabs.js";
import { mountQuery } from "wick/panel_query.js";
import { mountBrush } from "wick/view_brush.js";
import { mountHeat } from "wick/view_heat.js";
import { panels } from "wick/views.js";
import { watchProblems } from "wick/problem.js";

function say(text) {
	const problem = document.getElementById("problem");
	problem.textContent = text;
	problem.hidden = !text;
}

/* What the writer of the page tells it; "{}" where it says nothing. */
function readStart() {
	const element = document.getElementById("wick-start");
	return { mode: "view", state: "", ...(element ? JSON.parse(element.textContent) : {}) };
}

/* The packs inside the page, in order; each element is emptied, for it is many megabytes. */
async function embeddedPacks() {
	const packs = [];
	for (const element of document.querySelectorAll("script[type='application/x-wick-pack']")) {
		const name = element.dataset.name ?? "";
		const profile = readPack(await inflate(fromBase64(element.textContent)));
		element.textContent = "";
		packs.push({ name, profile });
	}
	return packs;
}

function makeApp(start, recording, baseline) {
	const listeners = new Map();
	const app = {
		start,
		name: recording.name,
		profile: recording.profile,
		baseline: baseline?.profile ?? null,
		baselineName: baseline?.name ?? "",
		on(event, listener) {
			if (!listeners.has(event))
				listeners.set(event, new Set());
			listeners.get(event).add(listener);
			return () => listeners.get(event).delete(listener);
		},
		emit(event) {
			for (const listener of [...(listeners.get(event) ?? [])])
				listener();
		},
	};
	const hash = window.location.hash.length > 1 ? window.location.hash : start.state;
	app.history = browserHistory(window);
	app.store = makeStore(hash, { where: app.history });
	app.models = makeModels(app);
	app.colours = makeColours(app);
	app.keys = makeKeys(app);
	app.tip = makeTip(document.getElementById("tip"));
	Object.assign(app, makeAria(app));
	return app;
}

/* Until what was drawn is seen; a page in the background draws nothing and does not wait long. */
function seen() {
	return new Promise((resolve) => {
		requestAnimationFrame(() => setTimeout(resolve, 0));
		setTimeout(resolve, 100);
	});
}

/* The heatmap is seen before the stacks are merged: of a large recording that takes a while. */
async function mountAll(app) {
	const at = (id) => document.getElementById(id);
	mountTop(app);
	mountQuery(at("query"), app);
	mountBrush(at("brush"), app);
	mountHeat(at("heat"), app);
	await seen();
	for (const panel of panels)
		panel.mount(at(`panel-${panel.id}`), app);
	mountTabs(at("tabs"), at("view"), app);
	watchProblems(app, say);
	window.addEventListener("popstate", (event) =>
		app.store.follow(window.location.hash, event.state?.index));
	let resized = 0;
	window.addEventListener("resize", () => {
		cancelAnimationFrame(resized);
		resized = requestAnimationFrame(() => app.emit("resize"));
	});
}

function replaceData(app, recording) {
	app.name = recording.name;
	app.profile = recording.profile;
	app.models.forget();
	app.emit("data");
}

async function serve(start) {
	const { startRecordings } = await import("wick/recordings.js");
	let app = null;
	await startRecordings(start, async (buffer, about) => {
		const profile = readPack(await inflate(new Uint8Array(buffer)));
		const recording = { name: about?.name ?? "", profile };
		say("");
		if (app)
			return replaceData(app, recording);
		app = makeApp(start, recording, null);
		await mountAll(app);
		document.documentElement.dataset.ready = "yes";
		return undefined;
	});
}

async function run() {
	const start = readStart();
	if (start.mode === "serve")
		return serve(start);
	const packs = await embeddedPacks();
	if (packs.length === 0)
		throw new Error("there is no recording in this page");
	const app = makeApp(start, packs[0], packs[1]);
	await mountAll(app);
	document.documentElement.dataset.ready = "yes";
	return undefined;
}

run().catch((error) => {
	say(`${error.message}\nWhat to do: make the page again with \`wick view FILE\`; \`wick report FILE\` says what it can read of the file.`);
	console.error(error);
});
