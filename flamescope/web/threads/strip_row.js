/* strip_row.js - what one thread was doing: a graph whose width is time */

import { formatTime } from "wick/parts/amount.js";
import { make } from "wick/parts/dom.js";
import { stripTree } from "wick/models/strip.js";
import { FlameCanvas } from "wick/stacks/flame_canvas.js";
import { openFrameMenu } from "wick/stacks/frame_menu.js";
import { pathOf } from "wick/stacks/tree_layout.js";

const MOST_CALLERS = 5; /* that are said beside the pointer */

/** The stacks of a THREAD, in the time that VIEW (view_strip.js) shows. */
export class StripRow {
	constructor(view, thread) {
		const { app } = view;
		Object.assign(this, { view, thread });
		this.canvas = new FlameCanvas(app, {
			firstRow: 1,
			onZoom: (node) => app.store.set(node > 0 ? { frame: this.#nameOf(node) } : { brush: null }),
			onOut: () => app.brush.zoom(2),
			onMenu: (node, x, y) => openFrameMenu(app, x, y, view.selection, this.tree.frame[node]),
			onWindow: (window) => app.brush.show(window.map((part) => part * view.end)),
		});
		this.element = make("section", { className: "strip-row" },
			make("h2", { textContent: `${thread.label}: ${view.amountOf(thread)}` }), this.canvas.element);
		this.canvas.show(this.#picture(1), `Stacks of ${thread.label} by time: arrow keys move, plus and minus zoom, m opens the menu`);
	}

	draw() {
		const { end, window } = this.view;
		this.canvas.redraw(this.#picture(this.canvas.element.clientWidth), window.map((ns) => ns / end));
	}

	#nameOf(node) {
		return node > 0 ? this.view.nameOf(this.tree.node[node]) : this.thread.label;
	}

	/* Of WIDTH columns of the time that is seen. */
	#picture(width) {
		const { app, end, matches, strip, window } = this.view;
		const tree = this.tree = stripTree(strip, this.thread, end, window, width);
		const text = (node) => this.#nameOf(node);
		return { tree, text, matches, fill: (node) => app.colours.frame(strip.colours[tree.node[node]]), lines: (node) => [text(node),
			[tree.x[node], tree.x[node] + tree.width[node]].map((part) => formatTime(part * end)).join(" to "),
			...pathOf(tree, node).slice(0, -1).reverse().slice(0, MOST_CALLERS).map((caller) => `called by ${text(caller)}`)] };
	}
}
