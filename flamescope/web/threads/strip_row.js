/* strip_row.js - what one thread was doing: a graph whose width is time */

import { formatTime } from "wick/parts/amount.js";
import { make } from "wick/parts/dom.js";
import { frameName } from "wick/stacks/frames.js";
import { FlameCanvas } from "wick/stacks/flame_canvas.js";
import { openFrameMenu } from "wick/stacks/frame_menu.js";
import { pathOf } from "wick/stacks/tree_layout.js";

export const NO_NAME = "[no thread]";
const NEAR = "200px"; /* above and below what is seen of the list */
const MOST_CALLERS = 5; /* that are said beside the pointer */

/** The stacks of a THREAD, in the time that VIEW (view_strip.js) shows. */
export class StripRow {
	constructor(view, thread) {
		const { app } = view;
		Object.assign(this, { view, thread, label: thread.label || NO_NAME });
		this.canvas = new FlameCanvas(app, {
			firstRow: 1,
			isSeen: () => this.isNear,
			onZoom: (node) => app.store.set(node > 0 ? { frame: this.#nameOf(node) } : { brush: null }),
			onOut: () => app.brush.zoom(2),
			onMenu: (node, x, y) => openFrameMenu(app, x, y, view.selection, this.thread.tree.frame[node]),
			onWindow: (window) => app.brush.show(window.map((part) => part * view.end)),
		});
		this.element = make("section", { className: "strip-row" },
			make("h2", { textContent: `${this.label}: ${view.amountOf(thread)}` }), this.canvas.element);
		new IntersectionObserver((changes) => {
			this.isNear = changes.at(-1).isIntersecting;
			this.canvas.later();
		}, { root: view.scroll, rootMargin: `${NEAR} 0px` }).observe(this.element);
		this.canvas.show(this.#picture(), `Stacks of ${this.label} by time: arrow keys move, plus and minus zoom, m opens the menu`);
	}

	draw() {
		this.canvas.redraw(this.#picture(), this.view.window.map((ns) => ns / this.view.end));
	}

	#nameOf = (node) => (node > 0 ? frameName(this.view.selection, this.thread.tree.frame[node]) : this.label);

	#picture() {
		const { app, colours, end, matches } = this.view;
		const { tree } = this.thread;
		const text = this.#nameOf;
		return { tree, text, matches, fill: (node) => app.colours.frameRgb(colours[tree.node[node]]), lines: (node) => [text(node),
			[tree.x[node], tree.x[node] + tree.width[node]].map((part) => formatTime(part * end)).join(" to "),
			...pathOf(tree, node).slice(0, -1).reverse().slice(0, MOST_CALLERS).map((caller) => `called by ${text(caller)}`)] };
	}
}
