/* view_strip.js - what each thread was doing, in the order of time */

import { formatShare, formatTime, formatTotal } from "wick/parts/amount.js";
import { textEquivalent } from "wick/parts/aria.js";
import { button, make } from "wick/parts/dom.js";
import { frameName, numberOfFrames } from "wick/stacks/frames.js";
import { fitWindow, zoomedAt } from "wick/heat/heat_place.js";
import { stripParts } from "wick/models/strip.js";
import { StripRow } from "wick/threads/strip_row.js";
import { StackView, whyEmpty } from "wick/stacks/stack_view.js";
import { otherButton } from "wick/threads/view_threads.js";

const AT_ONCE = 8; /* threads; the rest comes by a button */
const LEAST_NS = 1000; /* that are seen */
const WINDOW_AFTER_MS = 250; /* of rest, until what is seen is in the URL */
const TEXT_PARTS = 20; /* of the time that is seen, in the table: as many as 8 threads have room for */
const TEXT_FUNCTIONS = 3;

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
		const buttons = [["Zoom in", () => this.zoom(0.5)], ["Zoom out", () => this.zoom(2)],
			["Earlier", () => this.pan(-0.3)], ["Later", () => this.pan(0.3)], ["All", () => this.setWindow(this.span)],
			["Select what is seen", () => this.#select()]];
		element.replaceChildren(this.note, make("div", { className: "bar" }, this.says,
			...buttons.map(([text, act]) => button(text, act)), otherButton(app, "threads", "Back to the list"),
			this.text.element), this.scroll);
		this.sights = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) =>
			this.rows.find(({ element: of }) => of === target)?.show(isIntersecting)), { root: this.scroll, rootMargin: "50%" });
		this.offs.push(app.on("resize", () => this.#draw()), () => this.sights.disconnect());
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
		const { ranges, threads: asked } = app.store.state;
		const nShown = asked || AT_ONCE;
		const selection = this.selection = app.models.selection();
		const { threads, nThreads } = this.strip = app.models.strip(nShown);
		this.span = spanOf(ranges, selection.profile.lengthNs);
		const search = app.models.search();
		this.matches = search.names && Uint8Array.from({ length: numberOfFrames(selection) },
			(_, frame) => (search.names.has(frameName(selection, frame)) ? 1 : 0));
		this.tellFound(search.problem ? search : this.matches && { nodes: this.matches.reduce((sum, one) => sum + one, 0) });
		this.sayEmpty(nThreads ? "" : whyEmpty(app, selection));
		this.says.textContent = nThreads === 1 ? "1 thread" : `${nThreads} threads, most first`;
		this.text.element.hidden = nThreads === 0;
		this.#place();
		this.rows = threads.map((thread, i) => new StripRow(this, thread, i < AT_ONCE));
		const nMore = Math.min(AT_ONCE, nThreads - threads.length);
		this.scroll.replaceChildren(this.axis, ...this.rows.map(({ element }) => element), ...(nMore > 0
			? [button(`Show ${nMore} more of ${nThreads} threads`, () => app.store.set({ threads: nShown + AT_ONCE }))] : []));
		this.sights.disconnect();
		this.rows.forEach(({ element }) => this.sights.observe(element));
	}

	/* Those that are seen; the others when they are. */
	#draw() {
		this.width = this.scroll.clientWidth;
		this.rows.forEach((row) => row.isSeen && row.draw());
	}

	/** Also those that are not seen. */
	drawAll() {
		this.rows.forEach((row) => row.draw());
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
			this.#draw();
		});
	}

	#keepWindow() {
		const [from, to] = this.window.map(Math.round);
		const all = from <= this.span[0] && to >= this.span[1];
		this.app.store.set({ strip: all ? null : { from, to } });
	}

	zoom(factor) {
		const [from, to] = this.window;
		this.setWindow(zoomedAt(this.window, (from + to) / 2, factor));
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

export const stripView = {
	id: "strip",
	tab: "threads",
	label: "Strip",
	title: "Time strip",
	mount: (element, app) => new Strip(element, app),
};
