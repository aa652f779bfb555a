/* view_sandwich.js - one function: its callers, merged, and what it calls */

import { textEquivalent } from "wick/aria.js";
import { make, option } from "wick/dom.js";
import { FlameCanvas } from "wick/flame_canvas.js";
import { makeLegend } from "wick/flame_legend.js";
import { openFrameMenu } from "wick/frame_menu.js";
import { frameName } from "wick/frames.js";
import { StackView, whyEmpty, windowKeeper } from "wick/stack_view.js";
import { flamePicture } from "wick/tree_picture.js";
import { treeTable } from "wick/view_flame.js";

const MOST_CHOICES = 400;

class Sandwich extends StackView {
	constructor(element, app) {
		super(element, app);
		this.legend = makeLegend();
		this.halves = [
			this.#half("Callers", "reverse", true, "callers"),
			this.#half("Callees", "calls", false, "window"),
		];
		this.list = make("datalist", { id: "sandwich-functions" });
		this.input = make("input", { type: "text", className: "sandwich-function", onchange: () =>
			app.store.set({ around: this.input.value, window: null, callers: null }) });
		this.input.setAttribute("list", "sandwich-functions");
		element.replaceChildren(make("div", { className: "bar" },
			make("label", {}, "Function ", this.input, this.list), this.legend.element), this.note,
			...this.halves.flatMap(({ bar, canvas }) => [bar, canvas.element]));
		this.listKeys();
		this.update();
	}

	get graphs() {
		return this.halves.map(({ canvas }) => canvas);
	}

	/* KEY: of the state, where the part of its width that is seen is kept. */
	#half(label, order, up, key) {
		const half = { order, key, keeper: windowKeeper(this.app, key) };
		half.canvas = new FlameCanvas(this.app, {
			label: `${label}: arrow keys move, Enter puts a function in the middle`,
			up,
			firstRow: 1,
			onWindow: half.keeper.keep,
			onZoom: (node) => node > 0 && this.#goTo(frameName(half.tree.selection, half.tree.frame[node])),
			onMenu: (node, x, y) => openFrameMenu(this.app, x, y, half.tree.selection,
				half.tree.frame[node], half.canvas.canvas),
		});
		half.text = textEquivalent(`${label} as a table`, () =>
			treeTable(`${label} of ${this.around}`, half.tree));
		half.bar = make("div", { className: "bar" }, make("h2", { textContent: label }), half.text.element);
		return half;
	}

	onState(state, old) {
		if (this.halves.some(({ key }) => state[key] !== old[key]))
			this.#place();
	}

	#place() {
		for (const { canvas, key } of this.halves)
			canvas.setWindow(this.app.store.state[key] ?? [0, 1], false);
	}

	#goTo(name) {
		this.app.store.set({ around: name, frame: name, window: null, callers: null });
	}

	/* Without a choice it is the function with most of its own. */
	#around(selection) {
		const { around } = this.app.store.state;
		if (around)
			return around;
		const functions = this.app.models.functions();
		let best = -1;
		for (let i = 0; i < functions.n; i++) {
			const own = (k) => functions.selfGain[k] + functions.selfLoss[k];
			if (best < 0 || own(i) > own(best))
				best = i;
		}
		return best < 0 ? "" : frameName(selection, functions.frame[best]);
	}

	show() {
		const { app } = this;
		const selection = app.models.selection();
		const around = this.around = this.#around(selection);
		const functions = app.models.functions();
		const names = new Set();
		for (let i = 0; i < functions.n && names.size < MOST_CHOICES; i++)
			names.add(frameName(selection, functions.frame[i]));
		this.list.replaceChildren(...[...names].map((name) => option(name, "")));
		this.input.value = around;
		let empty = around === "";
		for (const half of this.halves) {
			const tree = app.models.flame(half.order, around);
			Object.assign(half, { tree, picture: flamePicture(app, tree) });
			empty ||= !(half.picture.layout.total > 0) || half.tree.n === 1;
		}
		for (const { canvas, bar, picture, text } of this.halves) {
			canvas.element.hidden = bar.hidden = empty;
			if (!empty)
				canvas.show(picture);
			text.refresh();
		}
		this.#place();
		this.legend.show(empty ? [] : this.halves[1].picture.keys);
		this.sayEmpty(!empty ? "" : names.size === 0 ? whyEmpty(app, selection)
			: `No stack of this selection has the function ${around}.`);
		this.tellFound(this.halves[1].picture.found);
	}

	unmount() {
		for (const { keeper } of this.halves)
			keeper.stop();
		super.unmount();
	}
}

export const sandwichView = {
	id: "sandwich",
	label: "Callers",
	title: "Callers and callees",
	mount: (element, app) => new Sandwich(element, app),
};
