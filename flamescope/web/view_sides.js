/* view_sides.js - flame graphs beside each other: the baseline and the selection, or several ranges */

import { formatTotal } from "wick/amount.js";
import { make } from "wick/dom.js";
import { FlameCanvas } from "wick/flame_canvas.js";
import { makeLegend } from "wick/flame_legend.js";
import { openFrameMenu } from "wick/frame_menu.js";
import { rangesText } from "wick/heat_words.js";
import { makeCrumbs, StackView } from "wick/stack_view.js";
import { flamePicture } from "wick/tree_picture.js";
import { followPath, pathOf } from "wick/tree_layout.js";

const MOST_SIDES = 12;

class SidesView extends StackView {
	constructor(element, app) {
		super(element, app);
		this.crumbs = makeCrumbs((names) => app.store.set({ zoom: names, window: null }));
		this.legend = makeLegend();
		this.grid = make("div", { className: "sides" });
		this.sides = [];
		element.replaceChildren(make("div", { className: "bar" }, this.crumbs.element, this.legend.element), this.note, this.grid);
		this.listKeys();
		this.update();
	}

	get graphs() {
		return this.sides.map(({ canvas }) => canvas);
	}

	onState(state, old) {
		if (state.zoom !== old.zoom)
			this.#place();
	}

	show() {
		const all = this.app.models.sides();
		const sides = all.slice(0, MOST_SIDES).map((side) => this.#side(side, flamePicture(this.app, side.tree)));
		this.sides = sides;
		this.sayEmpty(all.length > MOST_SIDES ? `The first ${MOST_SIDES} of ${all.length} are shown.` : all.length > 1 ? ""
			: "There is one selection only. Select several ranges in the heatmap (with Shift), or a baseline B, to see them side by side.");
		this.legend.show(sides[0].picture.keys);
		this.grid.replaceChildren(...sides.map(({ element }) => element));
		for (const { canvas, picture } of sides)
			canvas.show(picture);
		this.#place();
		this.tellFound(sides.at(-1).picture.found);
	}

	#side({ ranges, which, tree }, picture) {
		const { baseline, opened, store } = this.app;
		const { selection } = tree;
		const parts = ranges ?? (which ? [] : store.state.rangesB ?? []);
		const isWhole = parts.length === 0 && (baseline || opened.C);
		const of = isWhole ? (opened[which] ?? opened.B).name : `${ranges ? "" : "B: "}${rangesText(parts)}`;
		const canvas = new FlameCanvas(this.app, {
			label: `Flame graph of ${of}: arrow keys move, Enter zooms all, m opens the menu of a frame`,
			up: true,
			onZoom: (node) => store.set({ zoom: pathOf(tree, node).map((at) => picture.nameOf(tree.frame[at])), window: null }),
			onOut: () => store.set({ zoom: store.state.zoom.slice(0, -1), window: null }),
			onMenu: (node, x, y) => openFrameMenu(this.app, x, y, selection, tree.frame[node], canvas.canvas),
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
			const node = followPath(tree, zoom, picture.nameOf);
			const from = picture.layout.x[node];
			picture.above = new Set([0, ...pathOf(tree, node).slice(0, -1)]);
			canvas.setWindow([from, from + (picture.layout.width[node] || 1)], false);
		}
		this.crumbs.show(zoom);
	}
}

export const sidesView = {
	id: "sides",
	label: "Sides",
	title: "Selections side by side",
	mount: (element, app) => new SidesView(element, app),
};
