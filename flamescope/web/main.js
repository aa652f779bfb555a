/*
 * main.js - wires the page: data -> models -> views, all of them about one state
 *
 * What a recording says becomes text only through textContent and fillText.
 */

import { fromBase64, inflate, joined } from "wick/bytes.js";
import { startModel } from "wick/model.js";
import { readPack, releaseProfile } from "wick/pack.js";
import { browserHistory, makeStore } from "wick/store.js";
import { makeModels } from "wick/models.js";
import { makeColours } from "wick/colour.js";
import { makeKeys } from "wick/keys.js";
import { makeAria } from "wick/aria.js";
import { makeTip } from "wick/floating.js";
import { fitTools, mountDetailsRoom, mountSplitter } from "wick/layout.js";
import { mountDetails } from "wick/panel_details.js";
import { mountTop } from "wick/panel_top.js";
import { mountSearch, mountTabs } from "wick/panel_view.js";
import { mountQuery } from "wick/panel_query.js";
import { mountFilterMenu } from "wick/filter_menu.js";
import { mountSave } from "wick/save.js";
import { mountBrush } from "wick/view_brush.js";
import { mountHeat } from "wick/view_heat.js";
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

/* The bytes of an element, which is emptied, for it is many megabytes. */
function takeBytes(element) {
	const bytes = fromBase64(element.textContent);
	element.textContent = "";
	return inflate(bytes);
}

/* The packs inside the page, in order. */
async function embeddedPacks() {
	if (document.readyState === "loading")
		await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve));
	const packs = [];
	for (const [i, element] of [...document.querySelectorAll("script[type='application/x-wick-pack']")].entries()) {
		const rest = document.getElementById(`wick-rest-${i}`);
		if (!rest)
			throw new Error("the page ends before its recording does");
		const bytes = joined(await Promise.all([takeBytes(element), takeBytes(rest)]));
		packs.push({ name: element.dataset.name ?? "", profile: readPack(bytes) });
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
	mountQuery(at("query"), at("chips"), app);
	mountFilterMenu(at("show-filter"), at("filter"), app);
	mountTabs(at("show-tabs"), at("tabs"), at("view"), app);
	mountSearch(at("search"), app);
	mountSave(at("save"), app);
	fitTools(at("tools"), ["tabs", "query"].map((id) => ({ button: at(`show-${id}`), element: at(id) })), app);
	mountSplitter(at("splitter"), at("main"), app);
	mountDetailsRoom(at("show-details"), at("details"), app);
	mountBrush(at("brush"), app);
	mountHeat(at("heat-bar"), at("heat"), app);
	await seen();
	performance.mark("wick-heat");
	app.emit("whole");
	mountDetails(at("details"), app);
	watchProblems(app, say);
	window.addEventListener("popstate", (event) =>
		app.store.follow(window.location.hash, event.state?.index));
	let resized = 0;
	window.addEventListener("resize", () => {
		cancelAnimationFrame(resized);
		resized = requestAnimationFrame(() => app.emit("resize"));
	});
}

/* Another recording, or another one to compare it with. */
function replaceData(app, data) {
	const before = [app.profile, app.baseline];
	Object.assign(app, data);
	app.models.forget();
	app.emit("data");
	for (const profile of before)
		if (profile && profile !== app.profile && profile !== app.baseline)
			releaseProfile(profile);
}

async function serve(start) {
	const { startRecordings } = await import("wick/recordings.js");
	let app = null;
	const profileOf = async (buffer) => readPack(await inflate(new Uint8Array(buffer)));
	async function onPack(buffer, name) {
		const recording = { name, profile: await profileOf(buffer) };
		say("");
		if (app)
			return replaceData(app, recording);
		app = makeApp(start, recording, null);
		await mountAll(app);
		document.documentElement.dataset.ready = "yes";
		return undefined;
	}
	async function onBase(buffer, name) {
		replaceData(app, { baseline: buffer ? await profileOf(buffer) : null, baselineName: name });
	}
	await startRecordings(start, onPack, onBase);
}

async function run() {
	const start = readStart();
	await startModel();
	if (start.mode === "serve")
		return serve(start);
	const packs = await embeddedPacks();
	if (packs.length === 0)
		throw new Error("there is no recording in this page");
	const app = makeApp(start, packs[0], packs[1]);
	await mountAll(app);
	performance.mark("wick-ready");
	document.documentElement.dataset.ready = "yes";
	return undefined;
}

run().catch((error) => {
	say(`${error.message}\nTry: make the page again with \`wick view FILE\`; \`wick report FILE\` prints what it cannot read of the file.`);
	console.error(error);
});
