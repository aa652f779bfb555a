/* flame_canvas.js - a tree on a canvas: where it is drawn, what is seen of it, and the cursor */

import { inFrame } from "wick/parts/canvas.js";
import { make } from "wick/parts/dom.js";
import { listenFlame } from "wick/stacks/flame_input.js";
import { makeSheet, paintTree, ROW, rowsSeen, rowTop } from "wick/stacks/flame_paint.js";
import { nodeAt, panWindow } from "wick/stacks/tree_layout.js";

const PAINT_MS = 5; /* of a frame */
const HIGH_WINDOWS = [[1500, 28], [1000, 20]]; /* pixels: from that height on rows are so high */

/**
 * FlameCanvas - one drawing of a tree
 * @options: {up, firstRow, onZoom(node), onOut(), onMenu(node, x, y), onWindow(window, isDone), isSeen()}; not
 *           isDone: it is still dragged, or was placed; what is not seen stays as it was
 *
 * show() gives it a picture (tree_picture.js).
 */
export class FlameCanvas {
	constructor(app, options) {
		this.app = app;
		this.options = { firstRow: 0, isSeen: () => true, ...options };
		this.window = [0, 1];
		this.picture = null;
		this.cursor = -1;
		this.nStale = 0; /* rows that are to be drawn, */
		this.nextRow = 0; /* and the next of them */
		this.isPlaced = false;
		this.later = inFrame(() => this.#drawLater());
		this.canvas = make("canvas", { className: "flame-canvas", tabIndex: 0, role: "application",
			"aria-roledescription": "flame graph" });
		this.ring = make("div", { className: "flame-ring", hidden: true });
		this.shade = make("div", { className: "flame-shade", hidden: true });
		this.space = make("div", { className: "flame-space" }, this.canvas, this.ring, this.shade);
		this.element = make("div", { className: "flame-scroll" }, this.space);
		this.retheme();
		listenFlame(this);
	}

	/** Colours anew from the page's theme. */
	retheme() {
		const { css, frameInk: text } = this.app.colours;
		this.ink = { paper: css("paper"), text, crumb: css("flame-crumb"), match: css("flame-match"), matchText: css("flame-match-text") };
		this.invalidate();
	}

	show(picture, label) {
		this.picture = picture;
		this.canvas.ariaLabel = label;
		this.#measure();
		if (this.options.up)
			this.element.scrollTop = this.full;
		this.cursor = -1;
		this.ring.hidden = true;
		this.invalidate();
	}

	get nRows() {
		return Math.max(1, this.picture.tree.maxDepth + 1 - this.options.firstRow);
	}

	/* How high rows and all of them are: a root at the bottom is at that of the window. */
	#measure() {
		const below = (this.full ?? 0) - this.element.scrollTop;
		this.row = HIGH_WINDOWS.find(([least]) => window.innerHeight >= least)?.[1] ?? ROW;
		this.element.parentElement.style.setProperty("--full", `${this.nRows * this.row + 2}px`);
		const full = Math.max(this.nRows * this.row, this.options.up ? this.element.clientHeight : 0);
		if (full === this.full)
			return;
		this.full = full;
		this.space.style.height = `${full}px`;
		if (this.options.up)
			this.element.scrollTop = full - below;
	}

	invalidate() {
		this.shade.hidden = true;
		this.nStale = Infinity;
		this.later();
	}

	/* The first time a frame later, so that the page is laid out in one before. */
	#drawLater() {
		if (!this.isPlaced)
			this.later();
		else if (this.nStale > 0 && this.options.isSeen())
			this.draw(performance.now() + PAINT_MS);
		this.isPlaced = true;
	}

	/** What is not done UNTIL then follows in the frames after. */
	draw(until = Infinity) {
		const { clientWidth: width, clientHeight: height } = this.element;
		if (!this.picture || width === 0 || height === 0)
			return; /* hidden: there is nothing to draw */
		this.#measure();
		const ratio = Math.min(3, devicePixelRatio || 1);
		const [wide, high] = [width, height].map((pixels) => Math.round(pixels * ratio));
		if (this.sheet?.width !== wide || this.sheet.height !== high) {
			this.nStale = Infinity;
			this.sheet = makeSheet(Object.assign(this.canvas, { width: wide, height: high, style: `width: ${width}px; height: ${height}px` }), this.ink);
		}
		this.#paint(this.sheet, { height, ratio, top: this.element.scrollTop, full: this.full, row: this.row }, until);
		if (this.cursor >= 0)
			this.frameNode(this.ring, this.cursor);
	}

	/* Row after row from where it was left, around to there. */
	#paint(sheet, at, until) {
		const place = { ...this.options, ...at };
		const [first, end] = rowsSeen(place);
		let row = this.nextRow >= first && this.nextRow < end ? this.nextRow : first;
		this.nStale = Math.min(this.nStale, end - first);
		while (this.nStale > 0 && performance.now() < until) {
			const next = paintTree(sheet, this.picture, this.window, place, this.ink, [row, Math.min(end, row + this.nStale)], until);
			this.nStale -= next - row;
			row = next < end ? next : first;
		}
		this.nextRow = row;
		if (this.nStale > 0)
			this.later();
	}

	/**
	 * whole - all rows of what is seen of the width, on a canvas of their own
	 * @most: pixels of its height; what does not fit is left out, farthest from the root
	 *
	 * Return: {canvas, nLeftOut}: rows that are not in it.
	 */
	whole(most) {
		const ratio = Math.min(3, devicePixelRatio || 1, Math.max(1, most / (this.nRows * ROW)));
		const nShown = Math.min(this.nRows, Math.floor(most / ROW));
		const full = nShown * ROW;
		const canvas = make("canvas", { width: Math.round(this.element.clientWidth * ratio), height: Math.round(full * ratio) });
		const place = { ...this.options, ratio, height: full, top: 0, full, row: ROW };
		paintTree(makeSheet(canvas, this.ink), this.picture, this.window, place, this.ink, rowsSeen(place), Infinity);
		return { canvas, nLeftOut: this.nRows - nShown };
	}

	/** What is seen of the width, 0 to 1. */
	setWindow(window, isDone = true) {
		this.window = window;
		this.options.onWindow(window, isDone);
		this.invalidate();
	}

	/** Draws a picture with other nodes in the same places, seen through WINDOW; the cursor stays at its place. */
	redraw(picture, window) {
		const { x, width, depth } = this.picture.tree;
		const at = this.cursor;
		this.cursor = at < 0 ? at : nodeAt(picture.tree, depth[at], x[at] + width[at] / 2);
		this.ring.hidden = this.cursor < 0;
		Object.assign(this, { picture, window });
		this.invalidate();
	}

	/** {x, y, width} of a node in pixels of the drawing. */
	boxOf(node) {
		const { tree } = this.picture;
		const scale = this.element.clientWidth / (this.window[1] - this.window[0]);
		return {
			x: (tree.x[node] - this.window[0]) * scale,
			y: rowTop(tree.depth[node] - this.options.firstRow, this.options.up, this.full, this.row),
			width: tree.width[node] * scale,
		};
	}

	nodeAtPoint(clientX, clientY) {
		const box = this.canvas.getBoundingClientRect();
		const y = clientY - box.top + this.element.scrollTop;
		const row = Math.floor((this.options.up ? this.full - y : y) / this.row) + this.options.firstRow;
		const part = (clientX - box.left) / box.width;
		return nodeAt(this.picture.tree, row, this.window[0] + part * (this.window[1] - this.window[0]));
	}

	/** Puts RING, or a shade, over what is seen of a node. */
	frameNode(ring, node) {
		const box = this.boxOf(node);
		const left = Math.max(0, box.x);
		const right = Math.min(this.element.clientWidth, box.x + box.width);
		ring.hidden = right < left;
		ring.style = `transform: translate(${left}px, ${box.y}px); width: ${Math.max(2, right - left)}px; height: ${this.row - 1}px`;
	}

	/** The pointer is at no node. */
	unhover() {
		this.shade.hidden = true;
		this.app.tip.hide();
	}

	/** The keyboard's cursor on a node: it is scrolled to, framed and said. */
	moveTo(node) {
		const { element, picture: { tree, lines } } = this;
		if (node < 0 || tree.depth[node] < this.options.firstRow)
			return;
		this.cursor = node;
		const box = this.boxOf(node);
		const [from, to] = this.window;
		if (box.x + box.width <= 0 || box.x >= element.clientWidth)
			this.setWindow(panWindow(this.window, (tree.x[node] + tree.width[node] / 2 - from) / (to - from) - 0.5));
		element.scrollTop = Math.max(box.y + this.row - element.clientHeight, Math.min(box.y, element.scrollTop));
		this.frameNode(this.ring, node);
		this.app.say(lines(node).join(", "));
	}
}
