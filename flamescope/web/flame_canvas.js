/* flame_canvas.js - a tree on a canvas: hover, zoom, pan, and a cursor for the keyboard */

import { paintTree, ROW, rowTop, Sheet } from "wick/flame_paint.js";
import {
	besideNode, nodeAt, panWindow, pathOf, widestChild, zoomWindow,
} from "wick/tree_layout.js";

const HIGH_WINDOWS = [[1500, 28], [1000, 20]]; /* pixels: from that height on rows are so high */
const WHEEL = 0.0018; /* of zoom a pixel of wheel */
const DRAG_STARTS = 4; /* pixels: less is a click */

export const flameKeys = [
	["ArrowUp", "to the caller or callee above"], ["ArrowDown", "to the one below"],
	["ArrowLeft", "to the frame on the left"], ["ArrowRight", "to the frame on the right"],
	["Enter", "zoom to the frame"], ["Backspace", "zoom out to its parent"],
	["Home", "to the root, all of it"], ["+", "zoom in at the frame"], ["-", "zoom out"],
	["Shift+ArrowLeft", "move the window left"], ["Shift+ArrowRight", "move it right"],
	["PageUp", "scroll up"], ["PageDown", "scroll down"], ["m", "what can be done with the frame"],
	["n", "to the next frame that the search matches"],
];

function element(tag, className) {
	const made = document.createElement(tag);
	made.className = className;
	return made;
}

/**
 * FlameCanvas - one drawing of a tree
 * @options: {label, up, firstRow, onZoom(node), onPick(node), onMenu(node, x, y), onWindow(window)}
 *
 * show() gives it a picture (flame_paint.js) that also has lines(node), what is said of a node.
 */
export class FlameCanvas {
	constructor(app, options) {
		this.app = app;
		this.options = { firstRow: 0, ...options };
		this.window = [0, 1];
		this.picture = null;
		this.cursor = -1;
		this.frameAsked = 0;
		this.#build();
		this.#listen();
	}

	#build() {
		this.element = element("div", "flame-scroll");
		this.space = element("div", "flame-space");
		this.canvas = element("canvas", "flame-canvas");
		this.canvas.tabIndex = 0;
		this.canvas.setAttribute("role", "application");
		this.canvas.setAttribute("aria-roledescription", "flame graph");
		this.canvas.setAttribute("aria-label", this.options.label);
		this.ring = element("div", "flame-ring");
		this.shade = element("div", "flame-shade");
		this.ring.hidden = this.shade.hidden = true;
		this.space.append(this.canvas, this.ring, this.shade);
		this.element.append(this.space);
		this.sheet = new Sheet(this.canvas.getContext("2d", { alpha: false }));
		this.retheme();
	}

	/** Colours anew from the page's theme. */
	retheme() {
		const { colours } = this.app;
		this.ink = {
			paper: colours.css("paper"),
			text: colours.frameInk,
			crumb: colours.css("flame-crumb"),
			match: colours.css("flame-match"),
			matchText: colours.css("flame-match-text"),
		};
		this.invalidate();
	}

	show(picture, window) {
		this.picture = picture;
		if (window)
			this.window = window;
		this.#measure();
		if (this.options.up)
			this.element.scrollTop = this.full;
		this.cursor = -1;
		this.ring.hidden = this.shade.hidden = true;
		this.invalidate();
	}

	/* How high rows and all of them are: a root at the bottom is at that of the window. */
	#measure() {
		const below = (this.full ?? 0) - this.element.scrollTop;
		const rows = Math.max(1, this.picture.layout.nRows - this.options.firstRow);
		this.row = HIGH_WINDOWS.find(([least]) => window.innerHeight >= least)?.[1] ?? ROW;
		this.element.style.setProperty("--full", `${rows * this.row + 2}px`);
		const full = Math.max(rows * this.row, this.options.up ? this.element.clientHeight : 0);
		if (full === this.full)
			return;
		this.full = full;
		this.space.style.height = `${full}px`;
		if (this.options.up)
			this.element.scrollTop = full - below;
	}

	invalidate() {
		if (!this.frameAsked)
			this.frameAsked = requestAnimationFrame(() => this.draw());
	}

	draw() {
		cancelAnimationFrame(this.frameAsked);
		this.frameAsked = 0;
		if (!this.picture || !this.element.isConnected)
			return;
		const width = this.element.clientWidth;
		const height = this.element.clientHeight;
		if (width === 0 || height === 0)
			return; /* hidden: there is nothing to draw */
		this.#measure();
		const ratio = Math.min(3, devicePixelRatio || 1);
		if (this.canvas.width !== Math.round(width * ratio) ||
			this.canvas.height !== Math.round(height * ratio)) {
			this.canvas.width = Math.round(width * ratio);
			this.canvas.height = Math.round(height * ratio);
			this.canvas.style.width = `${width}px`;
			this.canvas.style.height = `${height}px`;
		}
		this.sheet.resize(this.canvas.width, this.canvas.height);
		this.place = { width, height, ratio, top: this.element.scrollTop, up: this.options.up,
			full: this.full, row: this.row };
		paintTree(this.sheet, { ...this.picture, firstRow: this.options.firstRow },
			this.window, this.place, this.ink);
		if (this.cursor >= 0)
			this.#frameNode(this.ring, this.cursor);
	}

	/**
	 * whole - all rows of what is seen of the width, on a canvas of their own
	 * @most: pixels of its height; what does not fit is left out, farthest from the root
	 *
	 * Return: {canvas, nLeftOut}: rows that are not in it.
	 */
	whole(most) {
		const width = this.element.clientWidth;
		const nRows = Math.max(1, this.picture.layout.nRows - this.options.firstRow);
		const ratio = Math.min(3, devicePixelRatio || 1, Math.max(1, most / (nRows * ROW)));
		const nShown = Math.min(nRows, Math.floor(most / ROW));
		const full = nShown * ROW;
		const canvas = document.createElement("canvas");
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(full * ratio);
		const sheet = new Sheet(canvas.getContext("2d", { alpha: false }));
		sheet.resize(canvas.width, canvas.height);
		paintTree(sheet, { ...this.picture, firstRow: this.options.firstRow }, this.window,
			{ width, height: full, ratio, top: 0, up: this.options.up, full, row: ROW }, this.ink);
		return { canvas, nLeftOut: nRows - nShown };
	}

	/** What is seen of the width, 0 to 1. */
	setWindow(window, tell = true) {
		this.window = window;
		this.shade.hidden = true;
		this.invalidate();
		if (tell)
			this.options.onWindow?.(window);
	}

	/** Row by row, what is seen now: {node, x, y, width} of a node in pixels of the drawing. */
	boxOf(node) {
		const { layout } = this.picture;
		const scale = this.element.clientWidth / (this.window[1] - this.window[0]);
		return {
			x: (layout.x[node] - this.window[0]) * scale,
			y: rowTop(layout.tree.depth[node] - this.options.firstRow, this.options.up, this.full, this.row),
			width: layout.width[node] * scale,
		};
	}

	nodeAtPoint(clientX, clientY) {
		const box = this.canvas.getBoundingClientRect();
		const y = clientY - box.top + this.element.scrollTop;
		const row = Math.floor((this.options.up ? this.full - y : y) / this.row) + this.options.firstRow;
		const part = (clientX - box.left) / box.width;
		return nodeAt(this.picture.layout, row, this.window[0] + part * (this.window[1] - this.window[0]));
	}

	#frameNode(ring, node) {
		const box = this.boxOf(node);
		const left = Math.max(0, box.x);
		const right = Math.min(this.element.clientWidth, box.x + box.width);
		ring.hidden = right < left;
		ring.style.transform = `translate(${left}px, ${box.y}px)`;
		ring.style.width = `${Math.max(2, right - left)}px`;
		ring.style.height = `${this.row - 1}px`;
	}

	/** The keyboard's cursor on a node: it is scrolled to, framed and said. */
	moveTo(node) {
		if (node < 0 || this.picture.layout.tree.depth[node] < this.options.firstRow)
			return;
		this.cursor = node;
		const box = this.boxOf(node);
		if (box.x + box.width <= 0 || box.x >= this.element.clientWidth)
			this.setWindow(this.#around(node));
		if (box.y < this.element.scrollTop)
			this.element.scrollTop = box.y;
		else if (box.y + this.row > this.element.scrollTop + this.element.clientHeight)
			this.element.scrollTop = box.y + this.row - this.element.clientHeight;
		this.#frameNode(this.ring, node);
		this.app.say(this.picture.lines(node).join(", "));
	}

	#around(node) {
		const { layout } = this.picture;
		const span = this.window[1] - this.window[0];
		const middle = layout.x[node] + layout.width[node] / 2;
		const from = Math.min(1 - span, Math.max(0, middle - span / 2));
		return [from, from + span];
	}

	#listen() {
		const { canvas } = this;
		this.element.addEventListener("scroll", () => this.invalidate(), { passive: true });
		canvas.addEventListener("pointermove", (event) => this.#onMove(event));
		canvas.addEventListener("pointerdown", (event) => this.#onDown(event));
		canvas.addEventListener("pointerup", (event) => this.#onUp(event));
		canvas.addEventListener("pointercancel", () => (this.drag = null));
		canvas.addEventListener("pointerleave", () => this.#unhover());
		canvas.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
		canvas.addEventListener("contextmenu", (event) => this.#onMenu(event));
		canvas.addEventListener("keydown", (event) => this.#onKey(event));
		canvas.addEventListener("focus", () => {
			if (this.cursor < 0 && this.picture && canvas.matches(":focus-visible"))
				this.moveTo(this.#firstNode());
		});
		canvas.addEventListener("blur", () => (this.ring.hidden = true));
	}

	#firstNode() {
		const { layout } = this.picture;
		return this.options.firstRow === 0 ? 0 : widestChild(layout, 0);
	}

	#unhover() {
		this.shade.hidden = true;
		this.app.tip.hide();
	}

	#onMove(event) {
		if (!this.picture)
			return;
		if (this.drag)
			return this.#onDrag(event);
		const node = this.nodeAtPoint(event.clientX, event.clientY);
		if (node < 0)
			return this.#unhover();
		this.#frameNode(this.shade, node);
		this.app.tip.show(event.clientX, event.clientY, this.picture.lines(node));
		return undefined;
	}

	#onDown(event) {
		if (event.button !== 0 || !this.picture)
			return;
		this.canvas.setPointerCapture(event.pointerId);
		this.drag = { x: event.clientX, y: event.clientY, window: this.window,
			top: this.element.scrollTop, moved: false };
	}

	#onDrag(event) {
		const { drag } = this;
		const dx = event.clientX - drag.x;
		const dy = event.clientY - drag.y;
		if (!drag.moved && Math.hypot(dx, dy) < DRAG_STARTS)
			return;
		drag.moved = true;
		this.#unhover();
		this.setWindow(panWindow(drag.window, -dx / this.element.clientWidth), false);
		this.element.scrollTop = drag.top - dy;
	}

	#onUp(event) {
		const { drag } = this;
		this.drag = null;
		if (!drag)
			return;
		if (drag.moved) {
			this.options.onWindow?.(this.window);
			return;
		}
		const node = this.nodeAtPoint(event.clientX, event.clientY);
		if (node >= 0)
			this.#choose(node);
	}

	#choose(node) {
		this.#unhover();
		this.options.onPick?.(node);
		this.options.onZoom?.(node);
	}

	/* With the focus the wheel zooms; without it the page scrolls, as over any picture. */
	#onWheel(event) {
		const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
		if (!this.picture || !(event.ctrlKey || sideways || document.activeElement === this.canvas))
			return;
		event.preventDefault();
		const pixels = event.deltaMode === 1 ? 16 : 1;
		if (sideways) {
			const by = (event.deltaX || event.deltaY) * pixels;
			this.setWindow(panWindow(this.window, by / this.element.clientWidth));
			return;
		}
		const part = event.offsetX / this.element.clientWidth;
		const at = this.window[0] + part * (this.window[1] - this.window[0]);
		this.setWindow(zoomWindow(this.window, at, Math.exp(event.deltaY * pixels * WHEEL)));
	}

	#onMenu(event) {
		const node = this.nodeAtPoint(event.clientX, event.clientY);
		if (!this.options.onMenu || node <= 0)
			return;
		event.preventDefault();
		this.#unhover();
		this.options.onMenu(node, event.clientX, event.clientY);
	}

	#onKey(event) {
		if (!this.picture || event.ctrlKey || event.metaKey || event.altKey)
			return;
		const key = event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key;
		const action = this.#actions()[key];
		if (!action)
			return;
		event.preventDefault();
		event.stopPropagation();
		action();
	}

	#actions() {
		const { layout } = this.picture;
		const at = this.cursor < 0 ? this.#firstNode() : this.cursor;
		const towardsRoot = () => this.moveTo(at === 0 ? 0 : layout.tree.parent[at]);
		const away = () => this.moveTo(this.#widestSeenChild(at));
		const middle = layout.x[at] + layout.width[at] / 2;
		const zoom = (factor) => this.setWindow(zoomWindow(this.window, middle, factor));
		return {
			ArrowUp: this.options.up ? away : towardsRoot,
			ArrowDown: this.options.up ? towardsRoot : away,
			ArrowLeft: () => this.moveTo(besideNode(layout, at, -1)),
			ArrowRight: () => this.moveTo(besideNode(layout, at, 1)),
			"Shift+ArrowLeft": () => this.setWindow(panWindow(this.window, -0.2)),
			"Shift+ArrowRight": () => this.setWindow(panWindow(this.window, 0.2)),
			Enter: () => this.#choose(at),
			" ": () => this.#choose(at),
			Backspace: () => this.options.onOut?.(),
			Home: () => this.options.onZoom?.(0),
			"+": () => zoom(0.5),
			"=": () => zoom(0.5),
			"-": () => zoom(2),
			PageUp: () => (this.element.scrollTop -= this.element.clientHeight * 0.8),
			PageDown: () => (this.element.scrollTop += this.element.clientHeight * 0.8),
			m: () => this.#menuAt(at),
			n: () => this.moveTo(this.nextMatch(at)),
		};
	}

	#menuAt(node) {
		if (node <= 0 || !this.options.onMenu)
			return;
		const box = this.boxOf(node);
		const canvas = this.canvas.getBoundingClientRect();
		const x = canvas.left + Math.min(canvas.width - 8, Math.max(0, box.x));
		this.options.onMenu(node, x, canvas.top + box.y - this.element.scrollTop + this.row);
	}

	/* What is seen of the child counts, so that the cursor stays in the window. */
	#widestSeenChild(node) {
		const { layout } = this.picture;
		const { firstChild, next } = layout.tree;
		let best = -1;
		let most = 0;
		for (let c = firstChild[node]; c !== 0; c = next[c]) {
			const seen = Math.min(this.window[1], layout.x[c] + layout.width[c]) -
				Math.max(this.window[0], layout.x[c]);
			if (seen > most) {
				most = seen;
				best = c;
			}
		}
		return best < 0 ? widestChild(layout, node) : best;
	}

	/** The next node after NODE, row by row, whose frame the search matches; NODE if none does. */
	nextMatch(node) {
		const { layout, matches } = this.picture;
		if (!matches)
			return node;
		const { order, tree } = layout;
		const n = layout.rowStart[layout.nRows];
		const start = Math.max(0, order.indexOf(node));
		for (let i = 1; i <= n; i++) {
			const candidate = order[(start + i) % n];
			if (candidate !== 0 && matches[tree.frame[candidate]])
				return candidate;
		}
		return node;
	}

	/** Names from the root's child to the node. */
	pathTo(node) {
		return pathOf(this.picture.layout.tree, node);
	}
}
