/* view_strip.js - what each thread was doing, in the order of time */

import { formatShare, formatTime, formatTotal } from "wick/amount.js";
import { textEquivalent } from "wick/aria.js";
import { sharpContext } from "wick/canvas.js";
import { button, make } from "wick/dom.js";
import { openFrameMenu } from "wick/frame_menu.js";
import { compilePattern } from "wick/frame_search.js";
import { frameName } from "wick/frames.js";
import { fitWindow, zoomedAt } from "wick/heat_place.js";
import { stripBoxes, stripColumns, stripParts } from "wick/strip.js";
import { StackView, whyEmpty } from "wick/stack_view.js";
import { otherButton } from "wick/view_threads.js";

const AT_ONCE = 8; /* threads; the rest comes by a button */
const LEAST_NS = 1000; /* that are seen */
const WINDOW_AFTER_MS = 250; /* of rest, until what is seen is in the URL */
const WHEEL = 0.0018; /* of zoom a pixel of wheel */
const ROW = 14;
const TEXT_PARTS = 20; /* of the time that is seen, in the table: as many as 8 threads have room for */
const TEXT_FUNCTIONS = 3;
const MOST_ROWS = 24; /* of a stack; what is deeper is said in words */
const MOST_LINES = 6; /* of a stack beside the pointer */
const FONT = '11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
const CHAR = 6.7; /* pixels */

/* The time that a selection covers: its ranges, or the samples that there are. */
function spanOf(ranges, lengthNs) {
	const from = Math.min(...ranges.map((range) => range.from), Infinity);
	const to = Math.max(...ranges.map((range) => range.to), 0);
	return ranges.length ? [Math.max(0, from), Math.min(to, lengthNs + 1)] : [0, lengthNs + 1];
}

class Strip extends StackView {
	constructor(element, app) {
		super(element, app);
		this.rows = [];
		this.says = make("span");
		this.text = textEquivalent("This strip as a table", () => this.#asText());
		this.axis = make("div", { className: "strip-axis" });
		this.scroll = make("div", { className: "strip-rows" });
		const buttons = [["Zoom in", () => this.zoom(0.5, 0.5)], ["Zoom out", () => this.zoom(0.5, 2)],
			["Earlier", () => this.pan(-0.3)], ["Later", () => this.pan(0.3)], ["All", () => this.setWindow(this.span)],
			["Select what is seen", () => this.#select()]];
		element.replaceChildren(this.note, make("div", { className: "bar" }, this.says,
			...buttons.map(([text, act]) => button(text, act)), otherButton(app, "threads", "Back to the list"),
			this.text.element), this.scroll);
		this.offs.push(app.on("resize", () => this.rows.forEach((row) => row.draw())));
		this.update();
	}

	onState(state, old) {
		if (state.threads !== old.threads)
			this.update();
		else if (this.strip && state.strip !== old.strip)
			this.#place();
	}

	show() {
		const { app } = this;
		const { ranges, search, threads: asked } = app.store.state;
		const nShown = asked || AT_ONCE;
		const selection = this.selection = app.models.selection();
		const { threads, nThreads } = this.strip = app.models.strip(nShown);
		this.span = spanOf(ranges, selection.profile.lengthNs);
		this.regex = compilePattern(search).regex;
		this.tellFound(null);
		this.sayEmpty(nThreads ? "" : whyEmpty(app, selection));
		this.says.textContent = nThreads === 1 ? "1 thread" : `${nThreads} threads, most first`;
		this.text.element.hidden = nThreads === 0;
		this.rows = threads.map((thread) => new StripRow(this, thread));
		const nMore = Math.min(AT_ONCE, nThreads - threads.length);
		this.scroll.replaceChildren(this.axis, ...this.rows.map(({ element }) => element), ...(nMore > 0
			? [button(`Show ${nMore} more of ${nThreads} threads`, () => app.store.set({ threads: nShown + AT_ONCE }))] : []));
		this.#place();
	}

	/* To what the state says is seen; of another selection's time nothing is, so that is all of it. */
	#place() {
		const { strip } = this.app.store.state;
		const isIn = strip && strip.from < this.span[1] && strip.to > this.span[0];
		this.setWindow(isIn ? [strip.from, Math.min(strip.to, this.span[1])] : this.span, false);
		this.text.refresh();
	}

	#asText() {
		const nameOf = (node) => (node > 0 ? this.nameOf(node) : "[no stack]");
		const { threads } = this.strip;
		const nParts = Math.max(4, Math.min(TEXT_PARTS, Math.floor((AT_ONCE * TEXT_PARTS) / threads.length)));
		const rows = threads.flatMap((thread) =>
			stripParts(this.strip, thread, this.window, nParts, nameOf).map((part) => [
				thread.label, formatTime(part.from), formatTime(part.to), String(part.samples),
				part.functions.slice(0, TEXT_FUNCTIONS)
					.map(([name, amount]) => `${formatShare(amount, part.amount)} ${name}`).join(", ") || "no sample"]));
		return { caption: `Threads by time, in ${nParts} parts of what is seen`,
			head: ["thread", "from", "to", "samples", "innermost functions, most first"], rows };
	}

	nameOf(node) {
		return frameName(this.selection, this.strip.nodes.frame[node]);
	}

	#select() {
		const [from, to] = this.window.map(Math.round);
		this.app.store.set({ ranges: [{ from, to, rows: null }], zoom: [], window: null, strip: null });
	}

	/* TELL: somebody moved it, and the URL is to say so. */
	setWindow(window, tell = true) {
		this.window = fitWindow(window, this.span, LEAST_NS);
		clearTimeout(this.keeping);
		if (tell)
			this.keeping = setTimeout(() => this.#keepWindow(), WINDOW_AFTER_MS);
		this.axis.replaceChildren(...this.window.map((ns) => make("span", { textContent: formatTime(ns) })));
		this.asked ??= requestAnimationFrame(() => {
			this.asked = undefined;
			this.rows.forEach((row) => row.draw());
		});
	}

	#keepWindow() {
		const [from, to] = this.window.map(Math.round);
		const all = from <= this.span[0] && to >= this.span[1];
		this.app.store.set({ strip: all ? null : { from, to } });
	}

	zoom(part, factor) {
		const [from, to] = this.window;
		this.setWindow(zoomedAt(this.window, from + part * (to - from), factor));
	}

	pan(part) {
		const [from, to] = this.window;
		this.setWindow([from + part * (to - from), to + part * (to - from)]);
	}

	/* What its samples stand for; of what is no sum, how many they are. */
	amountOf(thread) {
		const { selection } = this;
		return selection.measure === "mean" || selection.isSigned ? `${thread.to - thread.from} samples`
			: formatTotal(thread.amount, selection);
	}

	unmount() {
		super.unmount();
		cancelAnimationFrame(this.asked);
		clearTimeout(this.keeping);
	}
}

/* One thread's canvas. */
class StripRow {
	constructor(view, thread) {
		Object.assign(this, { view, thread, app: view.app });
		this.at = -1; /* the keyboard's column */
		this.nRows = Math.max(1, Math.min(MOST_ROWS, thread.deepest));
		this.canvas = make("canvas", { tabIndex: 0, role: "application", "aria-roledescription": "time strip",
			"aria-label": `Stacks of ${thread.label} by time: left and right move, plus and minus zoom, m opens the menu` });
		this.element = make("section", { className: "strip-row" },
			make("h2", { textContent: `${thread.label}: ${view.amountOf(thread)}` }), this.canvas);
		const heard = { pointermove: (event) => this.#onMove(event), pointerleave: () => this.app.tip.hide(),
			click: (event) => this.#pick(this.#nodeAt(event.offsetX, event.offsetY)),
			contextmenu: (event) =>
				this.#menu(this.#nodeAt(event.offsetX, event.offsetY), event.clientX, event.clientY, event),
			wheel: (event) => this.#onWheel(event), keydown: (event) => this.#onKey(event) };
		for (const [type, listener] of Object.entries(heard))
			this.canvas.addEventListener(type, (event) => this.columns && listener(event), { passive: false });
	}

	draw() {
		const { app, canvas, nRows, thread, view } = this;
		const { colours } = app;
		const width = this.element.clientWidth;
		if (width === 0)
			return; /* it is gone */
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
		const match = view.regex?.test(name);
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
		openFrameMenu(this.app, x, y, selection, strip.nodes.frame[node], this.canvas);
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

	#onKey(event) {
		const { view, columns: { stacks } } = this;
		const at = this.at < 0 ? stacks.length >> 1 : this.at;
		const zoom = (factor) => view.zoom(at / stacks.length, factor);
		const box = this.canvas.getBoundingClientRect();
		const act = {
			ArrowLeft: () => this.#step(at, -1), ArrowRight: () => this.#step(at, 1),
			"Shift+ArrowLeft": () => view.pan(-0.2), "Shift+ArrowRight": () => view.pan(0.2),
			"+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), Home: () => view.setWindow(view.span),
			Enter: () => this.#pick(this.#nodeAt(this.at)), m: () => this.#menu(this.#nodeAt(this.at), box.left + this.at, box.bottom, event),
		}[event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key];
		if (!act || event.ctrlKey || event.metaKey || event.altKey)
			return;
		act();
		event.preventDefault();
		event.stopPropagation();
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

export const stripView = {
	id: "strip",
	tab: "threads",
	label: "Strip",
	title: "Time strip",
	mount: (element, app) => new Strip(element, app),
};
