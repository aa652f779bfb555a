/* stack_view.js - what the views of the stacks have in common */

import { formatShare } from "wick/parts/amount.js";
import { drawing } from "wick/state/asked.js";
import { textEquivalent } from "wick/parts/aria.js";
import { button, make } from "wick/parts/dom.js";
import { FlameCanvas } from "wick/stacks/flame_canvas.js";
import { flameKeys } from "wick/stacks/flame_input.js";
import { makeLegend } from "wick/stacks/flame_legend.js";
import { openFrameMenu } from "wick/stacks/frame_menu.js";
import { tableOf } from "wick/stacks/tree_picture.js";
import { followPath, pathOf } from "wick/stacks/tree_layout.js";

const MOST_CRUMBS = 12;
const WINDOW_AFTER_MS = 250; /* of rest, until the wheel's window is in the URL */

/** What follows from these parts of the state alone: another of them and the tree is another. */
export function sameTree(state, old) {
	return ["query", "ranges", "rangesB", "transforms", "search", "colour", "theme", "around", "changes"]
		.every((key) => state[key] === old[key]);
}

/** For panel_view.js: a view of a KIND, drawn as soon as it is mounted; OF: what tells it from others of the kind. */
export const viewOf = (Kind, id, label, title = label, of = {}) => ({ id, label, title, mount(element, app) {
	const view = Object.assign(new Kind(element, app), { title, ...of });
	view.update();
	return view;
} });

export function whyEmpty(app, selection) {
	if (app.profile.n === 0)
		return "The recording has no sample.";
	if (selection.n === 0)
		return "No sample passes the filters. Try: a longer time, or fewer filters (u undoes the last step).";
	if (selection.nNodes === 1)
		return "No sample has a stack; `perf record -g` or `wick record` records stacks.";
	return `All ${selection.n} samples are 0 by this metric. Try: another metric.`;
}

/**
 * StackView - a view, from when it is mounted until it is unmounted
 *
 * A kind of view has show(), which draws it, and onState(state, old) of what is not another tree.
 */
export class StackView {
	constructor(element, app) {
		this.element = element;
		this.app = app;
		app.view = this; /* the one that is seen */
		this.note = make("p", { className: "view-empty", hidden: true }); /* instead of a drawing */
		this.update = drawing(() => this.show());
		this.offs = [
			app.store.subscribe((state, old) => (sameTree(state, old) ? this.onState(state, old) : this.update())),
			app.on("data", () => this.update()),
			app.on("theme", () => {
				this.graphs.forEach((graph) => graph.retheme());
				this.update();
			}),
			app.on("resize", () => {
				this.graphs.forEach((graph) => graph.invalidate());
				this.table?.draw();
			}),
		];
	}

	/** The canvases that are seen, of which save.js makes pictures. */
	get graphs() {
		return [];
	}

	/** What there is instead of a drawing; "": nothing. */
	sayEmpty(text) {
		this.note.hidden = text === "";
		this.note.textContent = text;
	}

	/** What of the search was found: {problem} or {share, nodes}; null without a search. */
	tellFound(found) {
		if (found === null && this.app.found === null)
			return;
		this.app.found = found;
		this.app.emit("found");
	}

	unmount() {
		this.update.stop();
		this.app.tip.hide();
		for (const off of this.offs)
			off();
	}
}

/* The path of the zoom as buttons; the innermost ones if there are many. */
function crumbsOf(names, zoomTo) {
	const crumb = (text, length) => button(text, () => zoomTo(names.slice(0, length)),
		{ title: text, ...(length === names.length && { "aria-current": "true" }) });
	const first = Math.max(0, names.length - MOST_CRUMBS);
	return [crumb("all", 0), ...(first > 0 ? [crumb(`… ${first} more`, first)] : []),
		...names.slice(first).map((name, i) => crumb(name, first + i + 1))];
}

/*
 * One graph of a view, with its title and table; OPTIONS: of its canvas, {head: what the title says, name: what it is
 * called, and key: where the state has the part of its width that is seen; without it that is not kept}.
 */
class Graph {
	constructor(view, { head, name = "This graph", key, ...options }) {
		const { app } = view;
		this.view = view;
		this.key = key;
		this.canvas = new FlameCanvas(app, {
			...options,
			onZoom: (node) => view.choose(this.picture, node),
			onOut: () => view.isZoomed && view.zoomTo(app.store.state.zoom.slice(0, -1)),
			onMenu: (node, x, y) => view.openMenu(this.picture.tree, node, x, y),
			onWindow: (window, isDone) => isDone && this.#keep(window),
		});
		this.head = make("h2");
		this.text = textEquivalent(`${name} as a table`, () => tableOf(this.picture, this.label, this.zoomed));
		this.element = make("section", { className: "graph" }, this.canvas.element);
		if (head)
			this.element.prepend(make("div", { className: "bar" }, this.head, this.text.element));
		else
			view.bar.append(this.text.element);
	}

	show({ picture, label, head }) {
		Object.assign(this, { picture, label });
		this.head.textContent = head;
		this.canvas.show(picture, `${label}: arrow keys move, ${this.view.hint}`);
	}

	/** Where the state's zoom and window are in this tree. */
	place() {
		const { [this.key]: window, zoom } = this.view.app.store.state;
		const { tree, nameOf } = this.picture;
		this.zoomed = this.view.isZoomed ? followPath(tree, zoom, nameOf) : 0;
		this.picture.above = new Set([0, ...pathOf(tree, this.zoomed).slice(0, -1)]);
		const from = tree.x[this.zoomed];
		this.canvas.setWindow(window ?? [from, from + (tree.width[this.zoomed] || 1)], false);
		this.text.refresh();
	}

	/* Into the state once it rests: one step to undo. */
	#keep(window) {
		const kept = window[1] - window[0] > 0.999999 ? null : window;
		clearTimeout(this.timer);
		if (this.key)
			this.timer = setTimeout(() => this.view.app.store.set({ [this.key]: kept }), WINDOW_AFTER_MS);
	}

	stop() {
		clearTimeout(this.timer);
	}
}

/** A view of graphs, which its show() gives to draw(); where one of them is zoomed in, all are. */
export class GraphView extends StackView {
	isZoomed = true;
	hint = "Enter zooms, m opens the menu of a frame";
	all = [];

	/** CONTROLS are in the bar above the graphs. */
	constructor(element, app, controls = []) {
		super(element, app);
		this.crumbs = make("nav", { className: "crumbs", "aria-label": "Zoom" });
		this.legend = makeLegend();
		this.bar = make("div", { className: "bar" }, ...controls, this.crumbs, this.legend.element);
		this.room = make("div", { className: "graphs" });
		element.replaceChildren(this.bar, this.note, this.room);
		this.offs.push(...flameKeys.map(([key, what]) => app.keys.add({ key, what, where: "in a graph" })),
			() => this.all.forEach((graph) => graph.stop()));
	}

	get graphs() {
		return this.room.hidden ? [] : this.all.map(({ canvas }) => canvas);
	}

	/** SHOWN: [{picture, label, and of a new one the options}]; they are hidden where WHY says why there is nothing. */
	draw(shown, why = "") {
		this.hide(why);
		this.all.splice(shown.length).forEach(({ element }) => element.remove());
		shown.forEach((one, i) => {
			if (!this.all[i])
				this.room.append((this.all[i] = new Graph(this, one)).element);
			this.all[i].show(one);
		});
		const { keys, found } = shown.at(-1).picture;
		this.legend.show(why ? [] : keys);
		this.tellFound(found);
		this.place();
	}

	hide(why) {
		this.room.hidden = why !== "";
		this.sayEmpty(why);
	}

	place() {
		const { zoom } = this.app.store.state;
		this.all.forEach((graph) => graph.place());
		const nKnown = Math.max(0, ...this.all.map(({ picture, zoomed }) => picture.tree.depth[zoomed]));
		this.crumbs.hidden = !this.isZoomed;
		this.crumbs.replaceChildren(...crumbsOf(zoom.slice(0, nKnown), (names) => this.zoomTo(names)));
	}

	onState(state, old) {
		if (["zoom", "window", "callers"].some((key) => state[key] !== old[key]))
			this.place();
	}

	zoomTo(zoom) {
		this.app.store.set({ zoom, window: null, frame: zoom.at(-1) ?? "" });
	}

	/** What a click on a node does. */
	choose({ tree, nameOf, whole }, node) {
		const zoom = pathOf(tree, node).map((at) => nameOf(tree.frame[at]));
		const frame = zoom.at(-1) ?? "";
		this.app.store.set({ zoom, window: null, frame });
		this.app.say(`zoomed to ${frame || "all"}, ${formatShare(tree.width[node], tree.width[0])} of ${whole}`);
	}

	openMenu({ selection, frame, depth }, node, x, y) {
		if (selection)
			openFrameMenu(this.app, x, y, selection, frame[node], this.app.store.state.query.groups[depth[node] - 1]);
	}
}
