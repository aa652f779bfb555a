/* view_flame.js - graphs of the selection's stacks: flame graph, icicle, reverse, callers and callees, side by side */

import { formatTotal } from "wick/parts/amount.js";
import { make, option } from "wick/parts/dom.js";
import { rangesText } from "wick/heat/heat_words.js";
import { GraphView, viewOf, whyEmpty } from "wick/stacks/stack_view.js";
import { flamePicture } from "wick/stacks/tree_picture.js";

const MOST_SIDES = 12;

const isEmpty = ({ tree }) => !(tree.width[0] > 0) || tree.n === 1;

/* All stacks in one graph. */
class FlameView extends GraphView {
	show() {
		const { app, order, title, up } = this;
		const picture = flamePicture(app, app.models.flame(order, ""));
		this.draw([{ picture, label: title, up, key: "window" }], isEmpty(picture) ? whyEmpty(app, picture.tree.selection) : "");
	}
}

/* One function: its callers, merged, and what it calls. */
class Sandwich extends GraphView {
	isZoomed = false;
	hint = "Enter puts a function in the middle, m opens the menu of a frame";

	constructor(element, app) {
		const list = make("datalist", { id: "sandwich-functions" });
		const input = make("input", { type: "text", className: "sandwich-function", title: "A name, or a part of one",
			onchange: async () => this.#goTo((await app.models.ask("callers", input.value)).around, {}) });
		input.setAttribute("list", "sandwich-functions");
		super(element, app, [make("label", {}, "Function ", input, list)]);
		Object.assign(this, { input, list });
	}

	#goTo(around, more) {
		this.app.store.set({ around, window: null, callers: null, ...more });
	}

	choose({ tree, nameOf }, node) {
		const frame = nameOf(tree.frame[node]);
		if (node > 0)
			this.#goTo(frame, { frame });
	}

	show() {
		const { app } = this;
		const selection = app.models.selection();
		const { names, around } = app.models.callers();
		this.around = app.store.state.around || around;
		this.list.replaceChildren(...names.map((name) => option(name, "")));
		this.input.value = this.around;
		const half = (name, order, up, key) => ({ picture: flamePicture(app, app.models.flame(order, this.around)),
			label: `${name} of ${this.around}`, head: name, name, up, key, firstRow: 1 });
		const halves = [half("Callers", "reverse", true, "callers"), half("Callees", "calls", false, "window")];
		this.draw(halves, !halves.some(({ picture }) => isEmpty(picture)) ? "" : names.length === 0
			? whyEmpty(app, selection) : `No stack of this selection has the function ${this.around}.`);
	}
}

/* The baseline and the selection, or several ranges, beside each other. */
class SidesView extends GraphView {
	hint = "Enter zooms all, m opens the menu of a frame";

	show() {
		const { app } = this;
		const all = app.models.sides();
		const search = app.models.search("sides");
		this.draw(all.slice(0, MOST_SIDES).map(({ ranges, which, tree }, i) => {
			const { selection } = tree;
			const parts = ranges ?? (which ? [] : app.store.state.rangesB ?? []);
			const isWhole = parts.length === 0 && (app.baseline || app.opened.C);
			const of = isWhole ? (app.opened[which] ?? app.opened.B).name : `${ranges ? "" : "before: "}${rangesText(parts)}`;
			const amount = selection.measure === "mean" || selection.isSigned ? `${selection.n} samples`
				: formatTotal(selection.sum, selection);
			return { picture: flamePicture(app, tree, search, search.found[i]), label: `Flame graph of ${of}`, head: `${of}: ${amount}`, up: true };
		}));
		this.sayEmpty(all.length > MOST_SIDES ? `The first ${MOST_SIDES} of ${all.length} are shown.` : all.length > 1 ? ""
			: "There is one selection only. Select several ranges in the heatmap (with Shift), or a baseline, to see them side by side.");
	}
}

export const flameViews = [
	viewOf(FlameView, "flame", "Flame", "Flame graph", { up: true, order: "calls" }),
	viewOf(FlameView, "icicle", "Icicle", "Icicle", { up: false, order: "calls" }),
	viewOf(FlameView, "reverse", "Reverse", "Reverse graph", { up: false, order: "reverse" }),
	viewOf(Sandwich, "sandwich", "Callers", "Callers and callees"),
];
export const sidesView = viewOf(SidesView, "sides", "Sides", "Selections side by side");
