/* view_flame.js - flame graph, icicle and reverse graph of the selection */

import { drawing } from "wick/asked.js";
import { textEquivalent } from "wick/aria.js";
import { FlameCanvas, flameKeys } from "wick/flame_canvas.js";
import { makeLegend } from "wick/flame_legend.js";
import { openFrameMenu } from "wick/frame_menu.js";
import { formatShare, formatTotal } from "wick/amount.js";
import { frameName } from "wick/frames.js";
import { sayAmount, flamePicture } from "wick/tree_picture.js";
import { followPath, pathOf, widestNodes } from "wick/tree_layout.js";

const MOST_CRUMBS = 12;
const WINDOW_AFTER_MS = 250; /* of rest, until the wheel's window is in the URL */

const kinds = {
	flame: { label: "Flame", title: "Flame graph", up: true, order: "calls" },
	icicle: { label: "Icicle", title: "Icicle", up: false, order: "calls" },
	reverse: { label: "Reverse", title: "Reverse graph", up: false, order: "reverse" },
};

/** What follows from these parts of the state alone: another of them and the tree is another. */
export function sameTree(state, old) {
	return ["query", "ranges", "rangesB", "transforms", "search", "colour", "theme", "around"]
		.every((key) => state[key] === old[key]);
}

/** A line of text that takes the drawing's place when there is nothing to draw. */
export function emptyNote() {
	const note = document.createElement("p");
	note.className = "view-empty";
	note.hidden = true;
	return note;
}

export function whyEmpty(app, selection) {
	if (app.profile.n === 0)
		return "The recording has no sample.";
	if (selection.n === 0)
		return "No sample passes the filters. Try: a longer time, or fewer filters (u undoes the last step).";
	if (selection.nNodes === 1)
		return "No sample has a stack; `perf record -g` or `wick record` records stacks.";
	return `All ${selection.n} samples are 0 by this metric. Try: another metric.`;
}

/** The path of the zoom as buttons; the innermost ones if there are many. */
export function makeCrumbs(zoomTo) {
	const nav = document.createElement("nav");
	nav.className = "crumbs";
	nav.setAttribute("aria-label", "Zoom");
	return {
		element: nav,
		show(names) {
			const button = (text, length, current) => {
				const made = document.createElement("button");
				made.type = "button";
				made.textContent = text;
				made.title = text;
				if (current)
					made.setAttribute("aria-current", "true");
				made.addEventListener("click", () => zoomTo(names.slice(0, length)));
				return made;
			};
			const first = Math.max(0, names.length - MOST_CRUMBS);
			nav.replaceChildren(button("all", 0, names.length === 0));
			if (first > 0)
				nav.append(button(`… ${first} more`, first, false));
			for (let i = first; i < names.length; i++)
				nav.append(button(names[i], i + 1, i + 1 === names.length));
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

/** A tree of a selection as the table of textEquivalent(): what has a name in its drawing. */
export function treeTable(caption, tree, root = 0) {
	const { selection } = tree;
	const sum = (node) => tree.gain[node] + tree.loss[node];
	const total = sum(0);
	return {
		caption: `${caption}, frames of at least 0.5 %`,
		head: ["depth", "function", "total", "share", "self"],
		rows: widestNodes(tree, sum, root).map((node) => [
			String(tree.depth[node]), node === 0 ? "all" : frameName(selection, tree.frame[node]),
			sayAmount(selection, tree.gain[node], tree.loss[node], tree.samples[node]),
			formatShare(sum(node), total),
			sayAmount(selection, tree.selfGain[node], tree.selfLoss[node], tree.selfSamples[node])]),
	};
}

class FlameView {
	constructor(element, app, kind) {
		this.app = app;
		app.view = this; /* the one that is seen: save.js asks it for its graphs */
		this.kind = kind;
		this.keeper = windowKeeper(app, "window");
		this.crumbs = makeCrumbs((names) => app.store.set({ zoom: names, window: null }));
		this.note = emptyNote();
		this.legend = makeLegend();
		this.canvas = new FlameCanvas(app, {
			label: `${kind.title}: arrow keys move, Enter zooms, m opens the menu of a frame`,
			up: kind.up,
			onZoom: (node) => this.#zoomTo(node),
			onOut: () => app.store.set({ zoom: app.store.state.zoom.slice(0, -1), window: null }),
			onWindow: this.keeper.keep,
			onMenu: (node, x, y) => openFrameMenu(app, x, y, this.tree.selection, this.tree.frame[node],
				this.canvas.canvas),
		});
		this.text = textEquivalent("This graph as a table", () =>
			treeTable(kind.title, this.tree, this.zoomed));
		const bar = document.createElement("div");
		bar.className = "bar";
		bar.append(this.crumbs.element, this.legend.element, this.text.element);
		element.replaceChildren(bar, this.note, this.canvas.element);
		this.update = drawing(() => this.#show());
		this.offs = [
			app.store.subscribe((state, old) => this.#onState(state, old)),
			app.on("data", () => this.update()),
			app.on("theme", () => this.#retheme()),
			app.on("resize", () => this.canvas.invalidate()),
			...flameKeys.map(([key, what]) => app.keys.add({ key, what, where: "in a graph" })),
		];
		this.update();
	}

	#onState(state, old) {
		if (!sameTree(state, old))
			this.update();
		else if (this.picture && (state.zoom !== old.zoom || state.window !== old.window))
			this.#place();
	}

	#retheme() {
		this.canvas.retheme();
		this.update();
	}

	#show() {
		this.tree = this.app.models.flame(this.kind.order, "");
		this.picture = flamePicture(this.app, this.tree, this.kind.order);
		const empty = !(this.picture.layout.total > 0) || this.tree.n === 1;
		this.note.hidden = !empty;
		this.note.textContent = empty ? whyEmpty(this.app, this.tree.selection) : "";
		this.canvas.element.hidden = empty;
		this.legend.show(empty ? [] : this.picture.keys);
		this.app.found = this.picture.found;
		this.app.emit("found");
		this.canvas.show(this.picture);
		this.#place();
	}

	/* Where the state's zoom and window are in this tree. */
	#place() {
		const { zoom, window } = this.app.store.state;
		const { layout } = this.picture;
		this.zoomed = followPath(this.tree, zoom, (frame) => frameName(this.tree.selection, frame));
		const path = pathOf(this.tree, this.zoomed);
		this.picture.above = new Set([0, ...path.slice(0, -1)]);
		this.crumbs.show(path.map(this.picture.nameOf));
		const from = layout.x[this.zoomed];
		this.canvas.setWindow(window ?? [from, from + (layout.width[this.zoomed] || 1)], false);
		this.text.refresh();
	}

	#zoomTo(node) {
		const names = pathOf(this.tree, node).map(this.picture.nameOf);
		this.app.store.set({ zoom: names, window: null, frame: names.at(-1) ?? "" });
		const total = this.picture.layout.total;
		this.app.say(`zoomed to ${names.at(-1) ?? "all"}, ${formatShare(this.picture.layout.amount[node], total)} of ${formatTotal(total, this.tree.selection)}`);
	}

	/* What save.js makes pictures of. */
	get graphs() {
		return [this.canvas];
	}

	unmount() {
		this.keeper.stop();
		this.update.stop();
		this.app.tip.hide();
		for (const off of this.offs)
			off();
	}
}

/** The three views of one tree, for views.js. */
export const flameViews = Object.entries(kinds).map(([id, kind]) => ({
	id,
	label: kind.label,
	title: kind.title,
	mount: (element, app) => new FlameView(element, app, kind),
}));
