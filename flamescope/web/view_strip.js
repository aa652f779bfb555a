/* view_strip.js - what each thread was doing, in the order of time */

import { formatShare, formatTime, formatTotal } from "wick/amount.js";
import { drawing } from "wick/asked.js";
import { textEquivalent } from "wick/aria.js";
import { openFrameMenu } from "wick/frame_menu.js";
import { frameName } from "wick/frames.js";
import { stripBoxes, stripColumns, stripParts } from "wick/strip.js";
import { emptyNote, sameTree, whyEmpty } from "wick/stack_view.js";
import { otherButton } from "wick/view_threads.js";

const AT_ONCE = 8; /* threads; the rest comes by a button */
const LEAST_NS = 1000; /* that are seen */
const WINDOW_AFTER_MS = 250; /* of rest, until what is seen is in the URL */
const ROW = 14;
const TEXT_PARTS = 20; /* of the time that is seen, in the table: as many as 8 threads have room for */
const TEXT_FUNCTIONS = 3;
const MOST_ROWS = 24; /* of a stack; what is deeper is said in words */
const FONT = '11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';

/** The time that a selection covers: its ranges, or the samples that there are. */
export function stripSpan(selection, ranges, lengthNs) {
	if (ranges.length > 0) {
		const from = Math.min(...ranges.map((range) => range.from));
		const to = Math.max(...ranges.map((range) => range.to));
		return [Math.max(0, from), Math.min(to, lengthNs + 1)];
	}
	return [0, Math.max(1, lengthNs + 1)];
}

class Strip {
	constructor(element, app) {
		this.app = app;
		app.view = this; /* the one that is seen: save.js asks it for its canvas */
		this.element = element;
		this.rows = [];
		this.update = drawing(() => this.#show());
		this.offs = [
			app.store.subscribe((state, old) => this.#onState(state, old)),
			app.on("data", () => this.update()),
			app.on("theme", () => this.update()),
			app.on("resize", () => this.rows.forEach((row) => row.draw())),
		];
		this.update();
	}

	#onState(state, old) {
		if (!sameTree(state, old) || state.threads !== old.threads)
			this.update();
		else if (this.strip && state.strip !== old.strip)
			this.#place();
	}

	get shown() {
		return this.app.store.state.threads || AT_ONCE;
	}

	#show() {
		const { app } = this;
		const selection = app.models.selection();
		const strip = app.models.strip();
		Object.assign(this, { selection, strip, searched: app.models.search().names });
		this.span = stripSpan(selection, app.store.state.ranges, selection.profile.lengthNs);
		app.found = null;
		app.emit("found");
		this.#build();
	}

	#build() {
		const note = emptyNote();
		const { threads } = this.strip;
		this.text = textEquivalent("This strip as a table", () => this.#asText());
		note.hidden = threads.length > 0;
		note.textContent = threads.length ? "" : whyEmpty(this.app, this.selection);
		this.axis = document.createElement("div");
		this.axis.className = "strip-axis";
		this.rows = threads.slice(0, this.shown).map((thread) => this.#thread(thread));
		const scroll = document.createElement("div");
		scroll.className = "strip-rows";
		scroll.append(this.axis, ...this.rows.map((row) => row.element));
		if (threads.length > this.shown) {
			const more = document.createElement("button");
			more.type = "button";
			more.textContent = `Show ${Math.min(AT_ONCE, threads.length - this.shown)} more of ${threads.length} threads`;
			more.addEventListener("click", () => this.app.store.set({ threads: this.shown + AT_ONCE }));
			scroll.append(more);
		}
		this.element.replaceChildren(note, this.#bar(threads.length), scroll);
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
		const threads = this.strip.threads.slice(0, this.shown);
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

	#bar(nThreads) {
		const bar = document.createElement("div");
		bar.className = "bar";
		const text = document.createElement("span");
		text.textContent = nThreads === 1 ? "1 thread" : `${nThreads} threads, most first`;
		const button = (label, act) => {
			const made = document.createElement("button");
			made.type = "button";
			made.textContent = label;
			made.addEventListener("click", act);
			return made;
		};
		bar.append(text,
			button("Zoom in", () => this.zoom(0.5, 0.5)), button("Zoom out", () => this.zoom(0.5, 2)),
			button("Earlier", () => this.pan(-0.3)), button("Later", () => this.pan(0.3)),
			button("All", () => this.setWindow(this.span)),
			button("Select what is seen", () => this.#select()), otherButton(this.app, "threads", "Back to the list"),
			this.text.element);
		this.text.element.hidden = nThreads === 0;
		return bar;
	}

	#select() {
		const [from, to] = this.window.map(Math.round);
		this.app.store.set({ ranges: [{ from, to, rows: null }], zoom: [], window: null, strip: null });
	}

	/* TELL: somebody moved it, and the URL is to say so. */
	setWindow(window, tell = true) {
		const span = Math.min(this.span[1] - this.span[0], Math.max(LEAST_NS, window[1] - window[0]));
		const from = Math.max(this.span[0], Math.min(window[0], this.span[1] - span));
		this.window = [from, from + span];
		clearTimeout(this.keeping);
		if (tell)
			this.keeping = setTimeout(() => this.#keepWindow(), WINDOW_AFTER_MS);
		const ends = this.window.map((ns) => {
			const end = document.createElement("span");
			end.textContent = formatTime(ns);
			return end;
		});
		this.axis.replaceChildren(...ends);
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
		const at = from + part * (to - from);
		this.setWindow([at - (at - from) * factor, at + (to - at) * factor]);
	}

	pan(part) {
		const by = part * (this.window[1] - this.window[0]);
		this.setWindow([this.window[0] + by, this.window[1] + by]);
	}

	/* What its samples stand for; of what is no sum, how many they are. */
	#amountOf(thread) {
		const { selection } = this;
		return selection.measure === "mean" || selection.isSigned ? `${thread.to - thread.from} samples`
			: formatTotal(thread.amount, selection);
	}

	#thread(thread) {
		const element = document.createElement("section");
		element.className = "strip-row";
		const title = document.createElement("h2");
		title.textContent = `${thread.label}: ${this.#amountOf(thread)}`;
		const canvas = document.createElement("canvas");
		canvas.tabIndex = 0;
		canvas.setAttribute("role", "application");
		canvas.setAttribute("aria-roledescription", "time strip");
		canvas.setAttribute("aria-label",
			`Stacks of ${thread.label} by time: left and right move, plus and minus zoom, m opens the menu`);
		element.append(title, canvas);
		const row = new StripRow(this, thread, canvas);
		row.element = element;
		return row;
	}

	unmount() {
		this.update.stop();
		cancelAnimationFrame(this.asked);
		clearTimeout(this.keeping);
		this.app.tip.hide();
		for (const off of this.offs)
			off();
	}
}

/* One thread's canvas. */
class StripRow {
	constructor(view, thread, canvas) {
		this.view = view;
		this.thread = thread;
		this.canvas = canvas;
		this.at = -1; /* the keyboard's column */
		this.context = canvas.getContext("2d", { alpha: false });
		canvas.addEventListener("pointermove", (event) => this.#onMove(event));
		canvas.addEventListener("pointerleave", () => view.app.tip.hide());
		canvas.addEventListener("click", (event) => this.#pick(event.offsetX, event.offsetY));
		canvas.addEventListener("contextmenu", (event) => this.#onMenu(event));
		canvas.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
		canvas.addEventListener("keydown", (event) => this.#onKey(event));
	}

	draw() {
		const { view, canvas, context } = this;
		if (!canvas.isConnected)
			return;
		const { colours } = view.app;
		const width = canvas.parentElement.clientWidth;
		const ratio = Math.min(3, devicePixelRatio || 1);
		const rows = Math.max(1, Math.min(MOST_ROWS, this.thread.deepest));
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(rows * ROW * ratio);
		canvas.style.width = `${width}px`;
		canvas.style.height = `${rows * ROW}px`;
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.fillStyle = colours.css("paper");
		context.fillRect(0, 0, width, rows * ROW);
		context.font = FONT;
		context.textBaseline = "middle";
		this.columns = stripColumns(view.strip, this.thread, ...view.window, width);
		this.ink = { text: colours.frameInk, match: colours.css("flame-match"),
			matchText: colours.css("flame-match-text") };
		stripBoxes(view.strip.nodes, view.strip.depth, this.columns.stacks, rows,
			(depth, node, from, to) => this.#box(depth - 1, node, from, to));
		if (this.at >= 0) {
			context.fillStyle = colours.css("ink");
			context.fillRect(Math.min(this.at, width - 1), 0, 2, rows * ROW);
		}
	}

	#box(row, node, from, to) {
		const { view, context, ink } = this;
		const name = view.nameOf(node);
		const match = view.searched?.has(name);
		context.fillStyle = match ? ink.match
			: view.app.colours.frame(view.strip.colours[node]);
		const width = to - from;
		context.fillRect(from, row * ROW, width - (width > 3 ? 0.5 : 0), ROW - 1);
		if (match) {
			context.fillStyle = ink.matchText;
			context.fillRect(from, row * ROW + ROW - 3, width, 1.5);
		}
		if (width > 24) {
			context.fillStyle = match ? ink.matchText : ink.text;
			const chars = Math.floor((width - 4) / 6.7);
			context.fillText(name.length <= chars ? name : `${name.slice(0, Math.max(1, chars - 1))}…`,
				from + 2, row * ROW + ROW / 2, width - 4);
		}
	}

	/* The node of a column at a row of the stack; without one the innermost. */
	#nodeAt(x, y) {
		const column = Math.floor(x);
		let node = this.columns?.stacks[column] ?? -1;
		const { depth, nodes } = this.view.strip;
		const wanted = y === undefined ? Infinity : Math.floor(y / ROW) + 1;
		while (node > 0 && depth[node] > wanted)
			node = nodes.parent[node];
		return node > 0 && (y === undefined || depth[node] === wanted) ? node : -1;
	}

	lines(x, node) {
		const { strip } = this.view;
		const place = this.columns.places[Math.floor(x)];
		const names = [];
		for (let at = node; at > 0 && names.length < 6; at = strip.nodes.parent[at])
			names.push(this.view.nameOf(at));
		return [names[0], `at ${formatTime(strip.times[place])}`, ...names.slice(1).map((name) => `called by ${name}`)];
	}

	#onMove(event) {
		const node = this.#nodeAt(event.offsetX, event.offsetY);
		if (node < 0)
			this.view.app.tip.hide();
		else
			this.view.app.tip.show(event.clientX, event.clientY, this.lines(event.offsetX, node));
	}

	#pick(x, y) {
		const node = this.#nodeAt(x, y);
		if (node > 0)
			this.view.app.store.set({ frame: this.view.nameOf(node) });
	}

	#onMenu(event) {
		const node = this.#nodeAt(event.offsetX, event.offsetY);
		if (node <= 0)
			return;
		event.preventDefault();
		this.#menu(node, event.clientX, event.clientY);
	}

	#menu(node, x, y) {
		const { app, selection, strip } = this.view;
		openFrameMenu(app, x, y, selection, strip.nodes.frame[node], this.canvas);
	}

	#onWheel(event) {
		if (!event.ctrlKey && document.activeElement !== this.canvas)
			return;
		event.preventDefault();
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			this.view.pan((event.deltaX || event.deltaY) / this.canvas.clientWidth);
		else
			this.view.zoom(event.offsetX / this.canvas.clientWidth, Math.exp(event.deltaY * 0.0018));
	}

	#onKey(event) {
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		const width = this.canvas.clientWidth;
		const part = (this.at < 0 ? width / 2 : this.at) / width;
		const actions = {
			ArrowLeft: () => this.#step(-1), ArrowRight: () => this.#step(1),
			"+": () => this.view.zoom(part, 0.5), "=": () => this.view.zoom(part, 0.5),
			"-": () => this.view.zoom(part, 2), Home: () => this.view.setWindow(this.view.span),
			Enter: () => this.#pick(this.at), m: () => this.#menuHere(),
		};
		if (event.shiftKey && event.key === "ArrowLeft")
			this.view.pan(-0.2);
		else if (event.shiftKey && event.key === "ArrowRight")
			this.view.pan(0.2);
		else if (actions[event.key])
			actions[event.key]();
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	#menuHere() {
		const node = this.at < 0 ? -1 : this.#nodeAt(this.at);
		const box = this.canvas.getBoundingClientRect();
		if (node > 0)
			this.#menu(node, box.left + this.at, box.bottom);
	}

	/* To the next column whose stack is another. */
	#step(by) {
		const { stacks } = this.columns;
		let at = this.at < 0 ? Math.floor(stacks.length / 2) : this.at;
		const was = stacks[at];
		while (at + by >= 0 && at + by < stacks.length && stacks[at] === was)
			at += by;
		this.at = at;
		this.draw();
		const node = this.#nodeAt(at);
		this.view.app.say(node > 0 ? this.lines(at, node).join(", ")
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
