/* view_strip.js - what each thread was doing, in the order of time */

import { formatShare, formatTime, formatTotal } from "wick/parts/amount.js";
import { textEquivalent } from "wick/parts/aria.js";
import { fitWindow, inFrame, pannedBy, zoomedAt } from "wick/parts/canvas.js";
import { button, make } from "wick/parts/dom.js";
import { frameName, numberOfFrames } from "wick/stacks/frames.js";
import { stripParts } from "wick/models/strip.js";
import { StripRow } from "wick/threads/strip_row.js";
import { StackView, whyEmpty, viewOf } from "wick/stacks/stack_view.js";
import { otherButton } from "wick/threads/view_threads.js";

const AT_ONCE = 8; /* threads; the rest comes by a button */
const TEXT_PARTS = 20; /* of the time that is seen, in the table: as many as 8 threads have room for */
const TEXT_FUNCTIONS = 3;
const LEAST_NS = 1000; /* that are seen */
const NEAR = 200; /* pixels */

/* The time from the first to the last of RANGES. */
const spanOf = (ranges) => ({ from: Math.min(...ranges.map(({ from }) => from)), to: Math.max(...ranges.map(({ to }) => to)) });

/* Whether a part of the page is in the window, or near it. */
function isNear(element) {
	const { top, bottom } = element.getBoundingClientRect();
	return bottom > -NEAR && top < innerHeight + NEAR;
}

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
		this.scroll.addEventListener("scroll", this.#later, { passive: true });
		this.offs.push(app.on("resize", this.#later));
	}

	onState(state, old) {
		if (state.threads !== old.threads)
			this.update();
		else if (this.strip && state.brush !== old.brush)
			this.#place(state);
	}

	show() {
		const { app } = this;
		const { state } = app.store;
		const nShown = state.threads || AT_ONCE;
		const selection = this.selection = app.models.selection();
		const { threads, nThreads } = this.strip = app.models.strip(nShown);
		this.end = selection.profile.lengthNs + 1;
		const search = app.models.search();
		this.matches = search.names && Uint8Array.from({ length: numberOfFrames(selection) },
			(_, frame) => (search.names.has(frameName(selection, frame)) ? 1 : 0));
		this.tellFound(search.problem ? search : this.matches && { nodes: this.matches.reduce((sum, one) => sum + one, 0) });
		this.sayEmpty(nThreads ? "" : whyEmpty(app, selection));
		this.says.textContent = nThreads === 1 ? "1 thread" : `${nThreads} threads, most first`;
		this.text.element.hidden = nThreads === 0;
		this.#place(state);
		this.rows = threads.map((thread) => new StripRow(this, thread));
		const nMore = Math.min(AT_ONCE, nThreads - threads.length);
		this.scroll.replaceChildren(this.axis, ...this.rows.map(({ element }) => element), ...(nMore > 0
			? [button(`Show ${nMore} more of ${nThreads} threads`, () => app.store.set({ threads: nShown + AT_ONCE }))] : []));
	}

	/* Those that are seen; the others when they are. */
	#later = inFrame(() => this.rows.forEach((row) => isNear(row.element) && row.draw()));

	/** Also those that are not seen. */
	drawAll() {
		this.rows.forEach((row) => row.draw());
	}

	/* To what the state says is seen; else to what is selected. */
	#place({ brush, ranges }) {
		const { from, to } = brush ?? (ranges.length ? spanOf(ranges) : { from: 0, to: this.end });
		this.window = fitWindow([from, Math.min(to, this.end)], [0, this.end], LEAST_NS);
		this.axis.replaceChildren(...this.window.map((ns) => make("span", { textContent: formatTime(ns) })));
		this.text.refresh();
		this.#later();
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
		this.app.store.set({ ranges: [{ from, to, rows: null }], zoom: [], window: null });
	}

	/* What its samples stand for; of what is no sum, how many they are. */
	amountOf(thread) {
		const { selection } = this;
		return selection.measure === "mean" || selection.isSigned ? `${thread.to - thread.from} samples`
			: formatTotal(thread.amount, selection);
	}
}

export const stripView = { ...viewOf(Strip, "strip", "Strip", "Time strip"), tab: "threads" };
