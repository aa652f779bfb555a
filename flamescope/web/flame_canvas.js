/* flame_canvas.js - a tree on a canvas: where it is drawn, what is seen of it, and the cursor */

import { make } from "wick/dom.js";
import { listenFlame } from "wick/flame_input.js";
import { paintTree, ROW, rowTop, Sheet } from "wick/flame_paint.js";
import { nodeAt } from "wick/tree_layout.js";

const HIGH_WINDOWS = [[1500, 28], [1000, 20]]; /* pixels: from that height on rows are so high */

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
		this.canvas = make("canvas", { className: "flame-canvas", tabIndex: 0, role: "application",
			"aria-roledescription": "flame graph", "aria-label": options.label });
		this.ring = make("div", { className: "flame-ring", hidden: true });
		this.shade = make("div", { className: "flame-shade", hidden: true });
		this.space = make("div", { className: "flame-space" }, this.canvas, this.ring, this.shade);
		this.element = make("div", { className: "flame-scroll" }, this.space);
		this.sheet = new Sheet(this.canvas.getContext("2d", { alpha: false }));
		this.retheme();
		listenFlame(this);
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

	show(picture, window = this.window) {
		this.picture = picture;
		this.window = window;
		this.#measure();
		if (this.options.up)
			this.element.scrollTop = this.full;
		this.cursor = -1;
		this.ring.hidden = this.shade.hidden = true;
		this.invalidate();
	}

	get nRows() {
		return Math.max(1, this.picture.layout.nRows - this.options.firstRow);
	}

	/* How high rows and all of them are: a root at the bottom is at that of the window. */
	#measure() {
		const below = (this.full ?? 0) - this.element.scrollTop;
		this.row = HIGH_WINDOWS.find(([least]) => window.innerHeight >= least)?.[1] ?? ROW;
		this.element.style.setProperty("--full", `${this.nRows * this.row + 2}px`);
		const full = Math.max(this.nRows * this.row, this.options.up ? this.element.clientHeight : 0);
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
		const { clientWidth: width, clientHeight: height } = this.element;
		if (width === 0 || height === 0)
			return; /* hidden: there is nothing to draw */
		this.#measure();
		const ratio = Math.min(3, devicePixelRatio || 1);
		const [wide, high] = [width, height].map((pixels) => Math.round(pixels * ratio));
		if (this.canvas.width !== wide || this.canvas.height !== high)
			Object.assign(this.canvas, { width: wide, height: high, style: `width: ${width}px; height: ${height}px` });
		this.#paint(this.sheet, this.canvas, { width, height, ratio, top: this.element.scrollTop, full: this.full, row: this.row });
		if (this.cursor >= 0)
			this.frameNode(this.ring, this.cursor);
	}

	#paint(sheet, canvas, place) {
		const { firstRow, up } = this.options;
		sheet.resize(canvas.width, canvas.height);
		paintTree(sheet, { ...this.picture, firstRow }, this.window, { ...place, up }, this.ink);
	}

	/**
	 * whole - all rows of what is seen of the width, on a canvas of their own
	 * @most: pixels of its height; what does not fit is left out, farthest from the root
	 *
	 * Return: {canvas, nLeftOut}: rows that are not in it.
	 */
	whole(most) {
		const width = this.element.clientWidth;
		const ratio = Math.min(3, devicePixelRatio || 1, Math.max(1, most / (this.nRows * ROW)));
		const nShown = Math.min(this.nRows, Math.floor(most / ROW));
		const full = nShown * ROW;
		const canvas = make("canvas", { width: Math.round(width * ratio), height: Math.round(full * ratio) });
		this.#paint(new Sheet(canvas.getContext("2d", { alpha: false })), canvas,
			{ width, height: full, ratio, top: 0, full, row: ROW });
		return { canvas, nLeftOut: this.nRows - nShown };
	}

	/** What is seen of the width, 0 to 1. */
	setWindow(window, tell = true) {
		this.window = window;
		this.shade.hidden = true;
		this.invalidate();
		if (tell)
			this.options.onWindow?.(window);
	}

	/** {x, y, width} of a node in pixels of the drawing. */
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

	/** Puts RING, or a shade, over what is seen of a node. */
	frameNode(ring, node) {
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
		const { element } = this;
		if (node < 0 || this.picture.layout.tree.depth[node] < this.options.firstRow)
			return;
		this.cursor = node;
		const box = this.boxOf(node);
		if (box.x + box.width <= 0 || box.x >= element.clientWidth)
			this.setWindow(this.#around(node));
		if (box.y < element.scrollTop)
			element.scrollTop = box.y;
		else if (box.y + this.row > element.scrollTop + element.clientHeight)
			element.scrollTop = box.y + this.row - element.clientHeight;
		this.frameNode(this.ring, node);
		this.app.say(this.picture.lines(node).join(", "));
	}

	#around(node) {
		const { layout } = this.picture;
		const span = this.window[1] - this.window[0];
		const middle = layout.x[node] + layout.width[node] / 2;
		const from = Math.min(1 - span, Math.max(0, middle - span / 2));
		return [from, from + span];
	}
}
