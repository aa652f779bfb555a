/* view_sides.js - flame graphs beside each other: the baseline and the selection, or several ranges */

import { drawing } from "wick/asked.js";
import { FlameCanvas, flameKeys } from "wick/flame_canvas.js";
import { makeLegend } from "wick/flame_legend.js";
import { openFrameMenu } from "wick/frame_menu.js";
import { frameName } from "wick/frames.js";
import { formatTotal } from "wick/amount.js";
import { rangesText } from "wick/heat_words.js";
import { make } from "wick/panel_query.js";
import { flamePicture } from "wick/tree_picture.js";
import { followPath, pathOf } from "wick/tree_layout.js";
import { emptyNote, makeCrumbs, sameTree } from "wick/view_flame.js";

const MOST_SIDES = 12;

class SidesView {
	constructor(element, app) {
		this.app = app;
		app.view = this; /* the one that is seen: save.js asks it for its graphs */
		this.crumbs = makeCrumbs((names) => app.store.set({ zoom: names, window: null }));
		this.legend = makeLegend();
		this.note = emptyNote();
		this.grid = make("div", { className: "sides" });
		this.sides = [];
		element.replaceChildren(make("div", { className: "bar" }, this.crumbs.element, this.legend.element), this.note, this.grid);
		this.update = drawing(() => this.#show());
		this.offs = [
			app.store.subscribe((state, old) => this.#onState(state, old)),
			app.on("data", () => this.update()),
			app.on("theme", () => this.update()),
			app.on("resize", () => this.sides.forEach(({ canvas }) => canvas.invalidate())),
			...flameKeys.map(([key, what]) => app.keys.add({ key, what, where: "in a graph" })),
		];
		this.update();
	}

	#onState(state, old) {
		if (!sameTree(state, old))
			this.update();
		else if (state.zoom !== old.zoom)
			this.#place();
	}

	#show() {
		const { app } = this;
		const all = app.models.sides();
		const shown = all.slice(0, MOST_SIDES);
		this.note.hidden = all.length > 1 && all.length <= MOST_SIDES;
		this.note.textContent = all.length > MOST_SIDES ? `The first ${MOST_SIDES} of ${all.length} are shown.`
			: "There is one selection only. Select several ranges in the heatmap (with Shift), or a baseline B, to see them side by side.";
		this.sides = shown.map((side) => this.#side(side, flamePicture(app, side.tree, "calls")));
		this.legend.show(this.sides[0].picture.keys);
		this.grid.replaceChildren(...this.sides.map(({ element }) => element));
		for (const { canvas, picture } of this.sides)
			canvas.show(picture);
		this.#place();
		app.found = this.sides.at(-1).picture.found;
		app.emit("found");
	}

	#side({ ranges, tree }, picture) {
		const { app } = this;
		const { selection } = tree;
		const of = ranges ? rangesText(ranges) : `B: ${rangesText(app.store.state.rangesB ?? [])}`;
		const canvas = new FlameCanvas(app, {
			label: `Flame graph of ${of}: arrow keys move, Enter zooms all, m opens the menu of a frame`,
			up: true,
			onZoom: (node) => app.store.set({ zoom: pathOf(tree, node).map(picture.nameOf), window: null }),
			onOut: () => app.store.set({ zoom: app.store.state.zoom.slice(0, -1), window: null }),
			onMenu: (node, x, y) => openFrameMenu(app, x, y, selection, tree.frame[node], canvas.canvas),
			onWindow: () => {},
		});
		const amount = selection.measure === "mean" || selection.isSigned ? `${selection.n} samples`
			: formatTotal(selection.sum, selection);
		const element = make("section", { className: "side" }, make("h2", { textContent: `${of}: ${amount}` }), canvas.element);
		return { element, canvas, picture, tree };
	}

	/* All zoom into the same function, where they have it. */
	#place() {
		const { zoom } = this.app.store.state;
		for (const { canvas, picture, tree } of this.sides) {
			const node = followPath(tree, zoom, (frame) => frameName(tree.selection, frame));
			const from = picture.layout.x[node];
			picture.above = new Set([0, ...pathOf(tree, node).slice(0, -1)]);
			canvas.setWindow([from, from + (picture.layout.width[node] || 1)], false);
		}
		this.crumbs.show(zoom);
	}

	get graphs() {
		return this.sides.map(({ canvas }) => canvas);
	}

	unmount() {
		this.update.stop();
		this.app.tip.hide();
		for (const off of this.offs)
			off();
	}
}

export const sidesView = {
	id: "sides",
	label: "Sides",
	title: "Selections side by side",
	mount: (element, app) => new SidesView(element, app),
};
