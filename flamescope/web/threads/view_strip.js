/* view_strip.js - what each thread was doing, in the order of time */

import { formatShare, formatTime, formatTotal, grouped } from "wick/parts/amount.js";
import { textEquivalent } from "wick/parts/aria.js";
import { fitWindow, pannedBy, zoomedAt } from "wick/parts/canvas.js";
import { button, make } from "wick/parts/dom.js";
import { NO_NAME, StripRow } from "wick/threads/strip_row.js";
import { StackView, whyEmpty, viewOf } from "wick/stacks/stack_view.js";
import { otherButton } from "wick/threads/view_threads.js";

const AT_ONCE = 8; /* threads; the rest comes by a button */
const TEXT_PARTS = 20; /* of the time that is seen, in the table: as many as 8 threads have room for */
const MOST_IN_TEXT = 40; /* threads */
const LEAST_NS = 1000; /* that are seen */

/* The time from the first to the last of RANGES. */
const spanOf = (ranges) => ({ from: Math.min(...ranges.map(({ from }) => from)), to: Math.max(...ranges.map(({ to }) => to)) });

const treeOf = (boxes, from, { end, maxDepth }) => ({ n: end - from, maxDepth,
	...Object.fromEntries(Object.entries(boxes).map(([name, column]) => [name, column.subarray(from, end)])) });

class Strip extends StackView {
	constructor(element, app) {
		super(element, app);
		this.rows = [];
		this.says = make("span");
		this.text = textEquivalent("This strip as a table", () => this.#asText());
		this.axis = make("div", { className: "strip-axis" });
		this.scroll = make("div", { className: "strip-rows" });
		const zoom = (factor) => () => app.brush.show(zoomedAt(this.window, factor));
		const pan = (part) => () => app.brush.show(pannedBy(this.window, part));
		const buttons = [["Zoom in", zoom(0.5)], ["Zoom out", zoom(2)], ["Earlier", pan(-0.3)], ["Later", pan(0.3)],
			["All", () => app.store.set({ brush: null })],
			["Select what is seen", () => this.#select()]];
		element.replaceChildren(this.note, make("div", { className: "bar" }, this.says,
			...buttons.map(([text, act]) => button(text, act)), otherButton(app, "threads", "Back to the list"),
			this.text.element), this.scroll);
		this.offs.push(app.on("resize", this.update), app.on("theme", () => this.rows.forEach(({ canvas }) => canvas.retheme())));
	}

	onState(state, old) {
		if (state.brush === old.brush && state.threads === old.threads)
			return;
		this.#place(); /* until there are other stacks */
		this.update();
	}

	#place() {
		this.axis.replaceChildren(...this.window.map((ns) => make("span", { textContent: formatTime(ns) })));
		this.rows.forEach((row) => row.draw());
	}

	/* What the state says is seen; else what is selected. */
	get window() {
		const { brush, ranges } = this.app.store.state;
		const { from, to } = brush ?? (ranges.length ? spanOf(ranges) : { from: 0, to: this.end });
		return fitWindow([from, Math.min(to, this.end)], [0, this.end], LEAST_NS);
	}

	get end() {
		return this.app.profile.lengthNs + 1;
	}

	show() {
		const { app, window } = this;
		const nAsked = app.store.state.threads || AT_ONCE;
		const { boxes, threads, nThreads } = app.models.strip(nAsked, ...window, Math.max(1, this.scroll.clientWidth));
		this.colours = app.models.stackColours();
		const selection = app.models.selection();
		const { problem, found: [matches] } = app.models.search();
		this.matches = matches;
		this.tellFound(problem ? { problem } : matches ? { nodes: matches.reduce((sum, one) => sum + one, 0) } : null);
		threads.forEach((thread, i) => (thread.tree ??= treeOf(boxes, threads[i - 1]?.end ?? 0, thread)));
		if (selection !== this.selection || threads.length !== this.rows.length)
			this.#build(selection, threads, nThreads);
		this.rows.forEach((row, i) => (row.thread = threads[i]));
		this.#place();
		this.text.refresh();
	}

	#build(selection, threads, nThreads) {
		const { app } = this;
		this.selection = selection;
		this.sayEmpty(nThreads ? "" : whyEmpty(app, selection));
		this.says.textContent = nThreads === 1 ? "1 thread" : `${grouped(nThreads)} threads, most first`;
		this.text.element.hidden = nThreads === 0;
		this.rows = threads.map((thread) => new StripRow(this, thread));
		const nMore = Math.min(AT_ONCE, nThreads - threads.length);
		this.scroll.replaceChildren(this.axis, ...this.rows.map(({ element }) => element), ...(nMore > 0 ? [button(
			`Show ${nMore} more of ${grouped(nThreads)} threads`, () => app.store.set({ threads: threads.length + AT_ONCE }))] : []));
	}

	/** Also those that are not seen. */
	drawAll() {
		this.rows.forEach(({ canvas }) => canvas.draw());
	}

	#asText() {
		const { window } = this;
		const nThreads = Math.min(this.rows.length, MOST_IN_TEXT);
		const nParts = Math.max(4, Math.min(TEXT_PARTS, Math.floor((AT_ONCE * TEXT_PARTS) / nThreads)));
		const rows = this.app.models.stripParts(nThreads, ...window, nParts).flatMap(({ label, parts }) =>
			parts.map(({ to, samples, amount, functions }, i) => [
				label || NO_NAME, formatTime(i ? parts[i - 1].to : window[0]), formatTime(to), String(samples),
				functions.map((one) => `${formatShare(one.amount, amount)} ${one.name}`).join(", ") || "no sample"]));
		return { caption: `${nThreads} threads by time, in ${nParts} parts of what is seen`,
			head: ["thread", "from", "to", "samples", "innermost functions, most first"], rows };
	}

	#select() {
		const [from, to] = this.window.map(Math.round);
		this.app.store.set({ ranges: [{ from, to, rows: null }], zoom: [], window: null });
	}

	/* What its samples stand for; of what is no sum, how many they are. */
	amountOf(thread) {
		const { selection } = this;
		return selection.measure === "mean" || selection.isSigned ? `${thread.nSamples} samples`
			: formatTotal(thread.amount, selection);
	}
}

export const stripView = { ...viewOf(Strip, "strip", "Strip", "Time strip"), tab: "threads" };
