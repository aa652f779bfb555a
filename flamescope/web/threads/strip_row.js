/* strip_row.js - what one thread was doing, on a canvas */

import { formatShare, formatTime } from "wick/parts/amount.js";
import { onKeys, sharpContext } from "wick/parts/canvas.js";
import { make } from "wick/parts/dom.js";
import { openFrameMenu } from "wick/stacks/frame_menu.js";
import { stripBoxes, stripColumns } from "wick/models/strip.js";

const WHEEL = 0.0018; /* of zoom a pixel of wheel */
const ROW = 14; /* pixels */
const MOST_ROWS = 24; /* of a stack; what is deeper is said in words */
const MOST_LINES = 6; /* of a stack beside the pointer */
const FONT = '11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
const CHAR = 6.7; /* pixels */

/**
 * StripRow - the stacks of a THREAD, in the time that VIEW (view_strip.js) shows
 *
 * It draws itself while ISSEEN.
 */
export class StripRow {
	constructor(view, thread, isSeen) {
		Object.assign(this, { view, thread, isSeen, app: view.app });
		this.at = -1; /* the keyboard's column */
		this.nRows = Math.max(1, Math.min(MOST_ROWS, thread.deepest));
		this.canvas = make("canvas", { tabIndex: 0, role: "application", "aria-roledescription": "time strip",
			"aria-label": `Stacks of ${thread.label} by time: left and right move, plus and minus zoom, m opens the menu` });
		this.canvas.style.height = `${this.nRows * ROW}px`;
		this.element = make("section", { className: "strip-row" },
			make("h2", { textContent: `${thread.label}: ${view.amountOf(thread)}` }), this.canvas);
		const heard = { pointermove: (event) => this.#onMove(event), pointerleave: () => this.app.tip.hide(),
			click: (event) => this.#pick(this.#nodeAt(event.offsetX, event.offsetY)),
			contextmenu: (event) =>
				this.#menu(this.#nodeAt(event.offsetX, event.offsetY), event.clientX, event.clientY, event),
			wheel: (event) => this.#onWheel(event) };
		for (const [type, listener] of Object.entries(heard))
			this.canvas.addEventListener(type, (event) => this.columns && listener(event), { passive: false });
		onKeys(this.canvas, (event) => (this.columns ? this.#keys(event) : {}));
	}

	show(isSeen) {
		if (isSeen && !this.isSeen)
			this.draw();
		this.isSeen = isSeen;
	}

	draw() {
		const { app, canvas, nRows, thread, view } = this;
		const { colours } = app;
		const { width } = view;
		const context = this.context = sharpContext(canvas, width, nRows * ROW);
		context.fillStyle = colours.css("paper");
		context.fillRect(0, 0, width, nRows * ROW);
		context.font = FONT;
		context.textBaseline = "middle";
		this.columns = stripColumns(view.strip, thread, ...view.window, width);
		this.ink = { text: colours.frameInk, match: colours.css("flame-match"), matchText: colours.css("flame-match-text") };
		stripBoxes(view.strip.nodes, view.strip.depth, this.columns.stacks, nRows,
			(depth, node, from, to) => this.#box((depth - 1) * ROW, node, from, to - from));
		if (this.at >= 0) {
			context.fillStyle = colours.css("ink");
			context.fillRect(Math.min(this.at, width - 1), 0, 2, nRows * ROW);
		}
	}

	#box(y, node, x, width) {
		const { app, context, ink, view } = this;
		const name = view.nameOf(node);
		const match = view.found?.has(name);
		context.fillStyle = match ? ink.match : app.colours.frame(view.strip.colours[node]);
		context.fillRect(x, y, width - (width > 3 ? 0.5 : 0), ROW - 1);
		context.fillStyle = match ? ink.matchText : ink.text;
		if (match)
			context.fillRect(x, y + ROW - 3, width, 1.5);
		if (width > 24) {
			const chars = Math.floor((width - 4) / CHAR);
			context.fillText(name.length <= chars ? name : `${name.slice(0, Math.max(1, chars - 1))}…`,
				x + 2, y + ROW / 2, width - 4);
		}
	}

	/* The node of a column at a row of the stack; without one the innermost. */
	#nodeAt(x, y) {
		const { depth, nodes } = this.view.strip;
		const wanted = y === undefined ? Infinity : Math.floor(y / ROW) + 1;
		let node = this.columns.stacks[Math.floor(x)] ?? -1;
		while (node > 0 && depth[node] > wanted)
			node = nodes.parent[node];
		return node > 0 && (y === undefined || depth[node] === wanted) ? node : -1;
	}

	#lines(x, node) {
		const { strip } = this.view;
		const names = [];
		for (let at = node; at > 0 && names.length < MOST_LINES; at = strip.nodes.parent[at])
			names.push(this.view.nameOf(at));
		return [names[0], `at ${formatTime(strip.times[this.columns.places[Math.floor(x)]])}`,
			...names.slice(1).map((name) => `called by ${name}`)];
	}

	#onMove({ clientX, clientY, offsetX, offsetY }) {
		const node = this.#nodeAt(offsetX, offsetY);
		if (node < 0)
			this.app.tip.hide();
		else
			this.app.tip.show(clientX, clientY, this.#lines(offsetX, node));
	}

	#pick(node) {
		if (node > 0)
			this.app.store.set({ frame: this.view.nameOf(node) });
	}

	#menu(node, x, y, event) {
		const { selection, strip } = this.view;
		if (node <= 0)
			return;
		event.preventDefault();
		openFrameMenu(this.app, x, y, selection, strip.nodes.frame[node]);
	}

	#onWheel(event) {
		const { canvas, view } = this;
		if (!event.ctrlKey && document.activeElement !== canvas)
			return;
		event.preventDefault();
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			view.pan((event.deltaX || event.deltaY) / canvas.clientWidth);
		else
			view.zoom(event.offsetX / canvas.clientWidth, Math.exp(event.deltaY * WHEEL));
	}

	#keys(event) {
		const { view, columns: { stacks } } = this;
		const at = this.at < 0 ? stacks.length >> 1 : this.at;
		const zoom = (factor) => view.zoom(at / stacks.length, factor);
		const box = this.canvas.getBoundingClientRect();
		return {
			ArrowLeft: () => this.#step(at, -1), ArrowRight: () => this.#step(at, 1),
			"Shift+ArrowLeft": () => view.pan(-0.2), "Shift+ArrowRight": () => view.pan(0.2),
			"+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), Home: () => view.setWindow(view.span),
			Enter: () => this.#pick(this.#nodeAt(this.at)),
			m: () => this.#menu(this.#nodeAt(this.at), box.left + this.at, box.bottom, event),
		};
	}

	/* To the next column whose stack is another. */
	#step(from, by) {
		const { stacks } = this.columns;
		let at = from;
		while (at + by >= 0 && at + by < stacks.length && stacks[at] === stacks[from])
			at += by;
		this.at = at;
		this.draw();
		const node = this.#nodeAt(at);
		this.app.say(node > 0 ? this.#lines(at, node).join(", ")
			: `no sample, ${formatShare(at, stacks.length)} of what is seen`);
	}
}
