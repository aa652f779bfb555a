/* view_sandwich.js - one function: its callers, merged, and what it calls */

import { drawing } from "wick/asked.js";
import { textEquivalent } from "wick/aria.js";
import { FlameCanvas, flameKeys } from "wick/flame_canvas.js";
import { makeLegend } from "wick/flame_legend.js";
import { openFrameMenu } from "wick/frame_menu.js";
import { flamePicture } from "wick/tree_picture.js";
import { emptyNote, sameTree, treeTable, whyEmpty, windowKeeper } from "wick/view_flame.js";
import { frameName } from "wick/frames.js";

const MOST_CHOICES = 400;

class Sandwich {
	constructor(element, app) {
		this.app = app;
		app.view = this; /* the one that is seen: save.js asks it for its graphs */
		this.note = emptyNote();
		this.legend = makeLegend();
		this.halves = [
			this.#half("Callers", "reverse", true, "callers"),
			this.#half("Callees", "calls", false, "window"),
		];
		const bar = document.createElement("div");
		bar.className = "bar";
		const label = document.createElement("label");
		label.textContent = "Function ";
		this.input = document.createElement("input");
		this.input.type = "text";
		this.input.className = "sandwich-function";
		this.input.setAttribute("list", "sandwich-functions");
		this.list = document.createElement("datalist");
		this.list.id = "sandwich-functions";
		this.input.addEventListener("change", () =>
			app.store.set({ around: this.input.value, window: null, callers: null }));
		label.append(this.input, this.list);
		bar.append(label, this.legend.element);
		element.replaceChildren(bar, this.note,
			...this.halves.flatMap(({ bar: head, canvas }) => [head, canvas.element]));
		this.update = drawing(() => this.#show());
		this.offs = [
			app.store.subscribe((state, old) => this.#onState(state, old)),
			app.on("data", () => this.update()),
			app.on("theme", () => {
				this.halves.forEach(({ canvas }) => canvas.retheme());
				this.update();
			}),
			app.on("resize", () => this.halves.forEach(({ canvas }) => canvas.invalidate())),
			...flameKeys.map(([key, what]) => app.keys.add({ key, what, where: "in a graph" })),
		];
		this.update();
	}

	/* KEY: of the state, where the part of its width that is seen is kept. */
	#half(label, order, up, key) {
		const half = { order, key, title: document.createElement("h2"), keeper: windowKeeper(this.app, key) };
		half.title.textContent = label;
		half.canvas = new FlameCanvas(this.app, {
			label: `${label}: arrow keys move, Enter puts a function in the middle`,
			up,
			firstRow: 1,
			onWindow: half.keeper.keep,
			onZoom: (node) => node > 0 && this.#goTo(frameName(half.tree.selection, half.tree.frame[node])),
			onMenu: (node, x, y) => openFrameMenu(this.app, x, y, half.tree.selection,
				half.tree.frame[node], half.canvas.canvas),
		});
		half.bar = document.createElement("div");
		half.bar.className = "bar";
		half.text = textEquivalent(`${label} as a table`, () =>
			treeTable(`${label} of ${this.around}`, half.tree));
		half.bar.append(half.title, half.text.element);
		return half;
	}

	#onState(state, old) {
		if (!sameTree(state, old))
			this.update();
		else if (this.halves.some(({ key }) => state[key] !== old[key]))
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

	#show() {
		const { app } = this;
		const selection = app.models.selection();
		const around = this.around = this.#around(selection);
		const functions = app.models.functions();
		const names = new Set();
		for (let i = 0; i < functions.n && names.size < MOST_CHOICES; i++)
			names.add(frameName(selection, functions.frame[i]));
		this.list.replaceChildren(...[...names].map((name) => {
			const option = document.createElement("option");
			option.value = name;
			return option;
		}));
		this.input.value = around;
		let empty = around === "";
		for (const half of this.halves) {
			const tree = app.models.flame(half.order, around);
			Object.assign(half, { tree, picture: flamePicture(app, tree, half.order) });
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
		this.note.hidden = !empty;
		this.note.textContent = !empty ? "" : names.size === 0 ? whyEmpty(app, selection)
			: `No stack of this selection has the function ${around}.`;
		app.found = this.halves[1].picture?.found ?? null;
		app.emit("found");
	}

	/* What save.js makes pictures of. */
	get graphs() {
		return this.halves.map(({ canvas }) => canvas);
	}

	unmount() {
		this.update.stop();
		for (const { keeper } of this.halves)
			keeper.stop();
		this.app.tip.hide();
		for (const off of this.offs)
			off();
	}
}

export const sandwichView = {
	id: "sandwich",
	label: "Callers",
	title: "Callers and callees",
	mount: (element, app) => new Sandwich(element, app),
};
