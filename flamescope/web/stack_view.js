/* stack_view.js - what the views of the stacks have in common */

import { formatShare } from "wick/amount.js";
import { drawing } from "wick/asked.js";
import { textEquivalent } from "wick/aria.js";
import { button, make } from "wick/dom.js";
import { FlameCanvas } from "wick/flame_canvas.js";
import { flameKeys } from "wick/flame_input.js";
import { followPath, pathOf } from "wick/tree_layout.js";

const MOST_CRUMBS = 12;
const WINDOW_AFTER_MS = 250; /* of rest, until the wheel's window is in the URL */

/** What follows from these parts of the state alone: another of them and the tree is another. */
export function sameTree(state, old) {
	return ["query", "ranges", "rangesB", "transforms", "search", "colour", "theme", "around"]
		.every((key) => state[key] === old[key]);
}

/** A line of text that takes the drawing's place when there is nothing to draw. */
export const emptyNote = () => make("p", { className: "view-empty", hidden: true });

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
 * A kind of view has show(), which draws it; onState(state, old) of what is not another tree; and graphs,
 * the canvases that are seen, of which save.js makes pictures.
 */
export class StackView {
	constructor(element, app) {
		this.element = element;
		this.app = app;
		app.view = this; /* the one that is seen */
		this.note = emptyNote();
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

	get graphs() {
		return [];
	}

	listKeys() {
		this.offs.push(...flameKeys.map(([key, what]) => this.app.keys.add({ key, what, where: "in a graph" })));
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

/** The path of the zoom as buttons; the innermost ones if there are many. */
export function makeCrumbs(zoomTo) {
	const nav = make("nav", { className: "crumbs", "aria-label": "Zoom" });
	return {
		element: nav,
		show(names) {
			const crumb = (text, length) => button(text, () => zoomTo(names.slice(0, length)),
				{ title: text, ...(length === names.length && { "aria-current": "true" }) });
			const first = Math.max(0, names.length - MOST_CRUMBS);
			nav.replaceChildren(crumb("all", 0), ...(first > 0 ? [crumb(`… ${first} more`, first)] : []),
				...names.slice(first).map((name, i) => crumb(name, first + i + 1)));
		},
	};
}

/** Puts the window of a drawing into the state under KEY once it rests: one step to undo. */
export function windowKeeper(app, key) {
	let timer = 0;
	return {
		keep(window) {
			clearTimeout(timer);
			timer = setTimeout(() => {
				const whole = window[1] - window[0] > 0.999999;
				app.store.set({ [key]: whole ? null : window });
			}, WINDOW_AFTER_MS);
		},
		stop: () => clearTimeout(timer),
	};
}

/**
 * ZoomedGraph - a graph that shows the state's zoom and window, and the path there as buttons
 * @options: of its FlameCanvas, and table(root) for textEquivalent()
 */
export class ZoomedGraph {
	constructor(app, options) {
		const zoomTo = (zoom) => app.store.set({ zoom, window: null });
		const keeper = windowKeeper(app, "window");
		this.app = app;
		this.stop = keeper.stop;
		this.crumbs = makeCrumbs(zoomTo);
		this.canvas = new FlameCanvas(app, { onWindow: keeper.keep, onZoom: (node) => this.#zoomTo(node),
			onOut: () => zoomTo(app.store.state.zoom.slice(0, -1)), ...options });
		this.text = textEquivalent("This graph as a table", () => options.table(this.zoomed));
	}

	/** A picture that also has nameOf(frame), and `whole`: all of it in words. */
	show(picture) {
		this.canvas.show(picture);
		this.place();
	}

	#namesTo(node) {
		const { layout: { tree }, nameOf } = this.canvas.picture;
		return pathOf(tree, node).map((at) => nameOf(tree.frame[at]));
	}

	/** Where the state's zoom and window are in this tree. */
	place() {
		const { zoom, window } = this.app.store.state;
		const { picture } = this.canvas;
		const { layout } = picture;
		this.zoomed = followPath(layout.tree, zoom, picture.nameOf);
		picture.above = new Set([0, ...pathOf(layout.tree, this.zoomed).slice(0, -1)]);
		this.crumbs.show(this.#namesTo(this.zoomed));
		const from = layout.x[this.zoomed];
		this.canvas.setWindow(window ?? [from, from + (layout.width[this.zoomed] || 1)], false);
		this.text.refresh();
	}

	#zoomTo(node) {
		const { layout, whole } = this.canvas.picture;
		const zoom = this.#namesTo(node);
		const name = zoom.at(-1) ?? "";
		this.app.store.set({ zoom, window: null, frame: name });
		this.app.say(`zoomed to ${name || "all"}, ${formatShare(layout.width[node], layout.width[0])} of ${whole}`);
	}
}
