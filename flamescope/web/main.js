/*
 * main.js - wires the page: data -> models -> views, all of them about one state
 *
 * What a recording says becomes text only through textContent and fillText.
 */

import { makeModels } from "wick/state/asked.js";
import { PLACES, makeOpened, mountOpen } from "wick/state/open.js";
import { browserHistory, makeStore } from "wick/state/store.js";
import { inFrame, whenDrawn } from "wick/parts/canvas.js";
import { makeColours } from "wick/parts/colour.js";
import { makeKeys } from "wick/parts/keys.js";
import { makeAria } from "wick/parts/aria.js";
import { makeTip } from "wick/parts/floating.js";
import { fitTools, mountDetailsRoom, mountSplitter } from "wick/parts/layout.js";
import { mountDetails } from "wick/panels/panel_details.js";
import { mountTop } from "wick/panels/panel_top.js";
import { mountSearch, mountTabs } from "wick/panels/panel_view.js";
import { mountQuery } from "wick/panels/panel_query.js";
import { mountFilterMenu } from "wick/panels/filter_menu.js";
import { mountSave } from "wick/parts/save.js";
import { mountBrush } from "wick/heat/view_brush.js";
import { mountHeat } from "wick/heat/view_heat.js";
import { makeSource } from "wick/panels/panel_source.js";
import { watchProblems } from "wick/panels/problem.js";
import { ask, startRecordings } from "wick/state/recordings.js";

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

/* The packs inside the page, in order.  They leave its elements, for they have many megabytes. */
async function embeddedPacks() {
	if (document.readyState === "loading")
		await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve));
	const packs = [...document.querySelectorAll("script[type='application/x-wick-pack']")].map((element) => {
		const text = new Blob([element.textContent]);
		element.textContent = "";
		return { name: element.dataset.name ?? "", data: { text } };
	});
	if (packs.length === 0)
		throw new Error("there is no recording in this page");
	return packs;
}

function makeApp(start) {
	const events = new EventTarget();
	const app = {
		start,
		name: "",
		profile: null,
		baseline: null,
		baselineName: "",
		opened: {}, /* {A, B...: {name, profile}} */
		on(event, listener) {
			const listen = () => listener();
			events.addEventListener(event, listen);
			return () => events.removeEventListener(event, listen);
		},
		emit: (event) => void events.dispatchEvent(new Event(event)),
	};
	const hash = window.location.hash.length > 1 ? window.location.hash : start.state;
	app.showBusy = (isBusy) => document.getElementById("main").setAttribute("aria-busy", String(isBusy));
	app.history = browserHistory(window);
	app.store = makeStore(hash, { where: app.history });
	app.store.set({ file: 0 }, { replace: true }); /* a link has no files */
	app.models = makeModels(app);
	app.colours = makeColours(app);
	app.keys = makeKeys(app);
	app.tip = makeTip(document.getElementById("tip"));
	Object.assign(app, makeAria(app));
	return app;
}

/* Until what was drawn is seen; a page in the background draws nothing and does not wait long. */
async function seen(app) {
	await app.models.idle();
	await new Promise((resolve) => {
		whenDrawn(() => setTimeout(resolve, 0));
		setTimeout(resolve, 100);
	});
}

/* The heatmap is seen before the stacks are merged: of a large recording that takes a while. */
async function mountAll(app) {
	const at = (id) => document.getElementById(id);
	mountTop(app);
	mountQuery(at("query"), at("chips"), app);
	mountFilterMenu(at("show-filter"), at("filter"), app);
	mountSearch(at("search"), app);
	mountSave(at("save"), app);
	fitTools(at("tools"), ["tabs", "query"].map((id) => ({ button: at(`show-${id}`), element: at(id) })), app);
	mountSplitter(at("splitter"), at("main"), app);
	mountDetailsRoom(at("show-details"), at("details"), app);
	mountBrush(at("brush"), app);
	mountHeat(at("heat-bar"), at("heat"), app);
	await seen(app);
	performance.mark("wick-heat");
	mountTabs(at("show-tabs"), at("tabs"), at("view"), app);
	mountDetails(at("details"), app);
	watchProblems(app, say);
	window.addEventListener("popstate", (event) =>
		app.store.follow(window.location.hash, event.state?.index));
	window.addEventListener("resize", inFrame(() => app.emit("resize")));
}

async function mountFirst(app) {
	await mountAll(app);
	await seen(app);
	performance.mark("wick-ready");
	document.documentElement.dataset.ready = "yes";
}

async function run() {
	const app = makeApp(readStart());
	const opened = makeOpened(app, say, () => mountFirst(app));
	mountOpen(app, opened, say);
	if (app.start.mode !== "serve")
		return opened.replace(Object.fromEntries((await embeddedPacks()).map((pack, i) => [PLACES[i], pack])));
	app.addSource = makeSource(app, (words, signal) => ask(app.start, "code", words, signal));
	return startRecordings(app.start, (parts) => opened.replace(parts).then(() => say("")));
}

run().catch((error) => {
	say(`${error.message}\nTry: make the page again with \`wick view FILE\`; \`wick report FILE\` prints what it cannot read of the file.`);
	console.error(error);
});
