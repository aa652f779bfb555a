/* panel_view.js - which view of the stacks is seen, and the pattern that frames are searched by */

import { countOf } from "wick/parts/amount.js";
import { onKeys } from "wick/parts/canvas.js";
import { button } from "wick/parts/dom.js";
import { diffView } from "wick/stacks/view_diff.js";
import { flameViews, sidesView } from "wick/stacks/view_flame.js";
import { metricsView } from "wick/heat/view_metrics.js";
import { stripView } from "wick/threads/view_strip.js";
import { tableView } from "wick/stacks/view_table.js";
import { threadsView } from "wick/threads/view_threads.js";

/* {id, label, title, mount(element, app) -> {unmount()}}; what is mounted may have a `canvas` to save */
const views = [...flameViews, threadsView, tableView, diffView, sidesView, metricsView];
const inner = [stripView]; /* have no tab of their own, but that of another: their `tab` */
const AFTER_MS = 120; /* of rest after a key, until it is searched for */

/* The tabs stand at once; what they show comes once the stacks are there. */
export function mountTabs(opener, tabs, element, app) {
	let mounted = null;
	let shown = null;
	const buttons = new Map();
	const current = () => [...views, ...inner].find(({ id }) => id === app.store.state.view) ?? views[0];

	function mark() {
		const view = current();
		const tab = view.tab ?? view.id;
		for (const [id, made] of buttons) {
			made.setAttribute("aria-selected", String(id === tab));
			made.tabIndex = id === tab ? 0 : -1;
		}
		opener.textContent = view.label; /* of the box that they are in where there is no room */
		opener.setAttribute("aria-label", `View: ${view.label}`);
		element.setAttribute("aria-labelledby", `tab-${tab}`);
	}

	function show() {
		mark();
		const view = current();
		if (view === shown)
			return;
		mounted?.unmount();
		element.replaceChildren();
		element.dataset.view = view.id;
		shown = view;
		mounted = view.mount(element, app);
	}

	function go(index) {
		const view = views[(index + views.length) % views.length];
		app.store.set({ view: view.id });
		app.say(view.title ?? view.label);
		return view;
	}

	views.forEach(({ id, label, title = label }, i) => {
		const tab = button(label, () => {
			go(i);
			if (tabs.popover)
				tabs.hidePopover();
		}, { id: `tab-${id}`, role: "tab", title: `${title} (${i + 1})`, "aria-controls": "view" });
		const [before, after] = [-1, 1].map((step) => () => buttons.get(go(i + step).id).focus());
		onKeys(tab, () => ({ ArrowLeft: before, ArrowUp: before, ArrowRight: after, ArrowDown: after }));
		buttons.set(id, tab);
		tabs.append(tab);
		if (i < 9)
			app.keys.add({ key: String(i + 1), what: title, run: () => void go(i) });
	});
	show();
	app.store.subscribe(show);
}

export function mountSearch(element, app) {
	const [input, found] = element.children;
	let timer = 0;
	let typing = false;
	const take = () => {
		clearTimeout(timer);
		/* One step to undo for a word, not for each letter. */
		app.store.set({ search: input.value }, { replace: typing });
		typing = true;
	};
	input.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(take, AFTER_MS);
	});
	input.addEventListener("blur", () => (typing = false));
	onKeys(input, () => ({
		Enter() {
			take();
			document.querySelector("#view canvas, #view .scroll-table")?.focus();
		},
		Escape() {
			input.value = "";
			take();
			input.blur();
		},
	}));
	app.keys.add({ key: "/", what: "search for functions by a pattern", run: () => input.select() });

	const show = () => {
		const { search } = app.store.state;
		if (document.activeElement !== input)
			input.value = search;
		const { problem, share, nodes, noun = share ? "frame" : "function" } = (search && app.found) || { problem: "" };
		found.className = problem ? "problem" : "";
		found.textContent = problem ?? `${share ? `${share}, ` : ""}${countOf(nodes, noun)}`;
		found.title = found.textContent && `matched: ${found.textContent}`;
		input.setAttribute("aria-invalid", String(Boolean(problem)));
	};
	app.on("found", show);
	app.store.subscribe(show);
	show();
}
