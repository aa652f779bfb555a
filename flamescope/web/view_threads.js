/* view_threads.js - processes and their threads: how much each has, and when; click to choose */

import { formatShare, formatTime, formatTotal, grouped } from "wick/amount.js";
import { textEquivalent } from "wick/aria.js";
import { drawing } from "wick/asked.js";
import { make } from "wick/dom.js";
import { choose, chosenLabels, choosesThreads } from "wick/filter_menu.js";
import { makeLegend } from "wick/flame_legend.js";
import { emptyNote, whyEmpty } from "wick/stack_view.js";
import { VirtualTable } from "wick/virtual_table.js";

const MOST_OPEN = 200; /* rows, with which all processes are open at first */
const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 24; /* pixels of a track */
const TEXT_PARTS = 10; /* of the time, in the table */

const dimensionOf = (row) => (row.nThreads > 0 ? "process" : "thread");
const nameOf = (row) => row.label || `[no ${dimensionOf(row)}]`;

/** A button from the list of threads to their stacks, or back. */
export function otherButton(app, view, textContent) {
	const button = make("button", { type: "button", textContent });
	button.addEventListener("click", () => {
		app.store.set({ view });
		document.getElementById("view").focus(); /* the button is gone */
	});
	return button;
}

class Threads {
	constructor(element, app) {
		this.app = app;
		app.view = this;
		this.note = emptyNote();
		this.says = make("span", { className: "says" });
		this.legend = makeLegend();
		this.text = textEquivalent("These threads as a table", () => this.#asText());
		this.bar = make("div", { className: "bar" }, this.says,
			otherButton(app, "strip", "Stacks in the order of time"), this.legend.element, this.text.element);
		this.body = make("div");
		element.replaceChildren(this.note, this.bar, this.body);
		this.update = drawing(() => this.#show());
		this.offs = [
			app.store.subscribe(() => this.update()),
			app.on("data", () => this.update()),
			app.on("theme", () => this.update()),
			app.on("resize", () => this.table?.draw()),
		];
		this.update();
	}

	#show() {
		const { app } = this;
		const { query, brush, ranges } = app.store.state;
		const end = app.profile.lengthNs + 1;
		const window = brush && brush.from < end ? [brush.from, Math.min(brush.to, end)] : [0, end];
		const everyone = { ...query, filters: query.filters.filter((filter) => !choosesThreads(filter)) };
		const threads = app.models.threads(everyone, ...window);
		const isNew = threads !== this.threads;
		Object.assign(this, { threads, window, nBins: threads.nBins, nStates: threads.nStates,
			folds: new Set(app.store.state.folds) });
		this.nProcesses = threads.rows.filter(({ level }) => level === 1).length;
		const isIn = (at) => ranges.length === 0 || ranges.some(({ from, to }) => at >= from && at < to);
		this.pale = Array.from({ length: this.nBins }, (_, bin) => (isIn(this.#timeAt(bin + 0.5)) ? 0 : 1));
		this.css = [...app.profile.states, null].map((state) => this.#css(threads.hasStates ? state : null));
		if (isNew)
			this.#build();
		this.#showRows();
		this.text.refresh();
		app.found = null;
		app.emit("found");
	}

	#build() {
		const { rows, selection } = this.threads;
		const hadFocus = this.table?.element.contains(document.activeElement);
		const { at, element } = this.table ?? { at: -1 };
		const top = element?.scrollTop ?? 0;
		this.table = this.#makeTable();
		this.table.at = at;
		this.body.replaceWith(this.table.element);
		this.body = this.table.element;
		this.body.scrollTop = top;
		if (hadFocus)
			this.body.focus();
		this.note.hidden = rows.length > 0;
		this.note.textContent = rows.length ? "" : whyEmpty(this.app, selection);
		this.bar.hidden = this.body.hidden = rows.length === 0;
	}

	#showRows() {
		const { rows, hasStates } = this.threads;
		const shown = [];
		let isOpen = true;
		for (const row of rows) {
			if (row.level === 1)
				isOpen = this.#isOpen(row);
			if (row.level === 1 || isOpen)
				shown.push(row);
		}
		const nThreads = rows.filter((row) => row.nThreads === 0).length;
		const of = this.nProcesses < nThreads ? ` in ${grouped(this.nProcesses)} processes` : "";
		this.says.textContent = `${grouped(nThreads)} threads${of.replace(/ 1 processes/, " 1 process")}, most first. ` +
			"Click one to see it alone, tick more to add them.";
		this.says.title = this.says.textContent;
		const seen = new Set(hasStates ? this.threads.bins.map((at) => at % this.nStates) : []);
		this.legend.show(this.app.profile.states.filter((_, i) => seen.has(i))
			.map((state) => ({ label: state.label, css: this.#css(state) })));
		this.table.show(shown);
	}

	#css(state) {
		const { colours } = this.app;
		return state ? colours.frame(state.number) : colours.css("accent");
	}

	#isOpen(row) {
		if (row.nThreads === 0)
			return undefined;
		return (this.nProcesses === 1 || this.threads.rows.length <= MOST_OPEN) !== this.folds.has(row.label);
	}

	#fold({ label }) {
		const { folds } = this.app.store.state;
		this.app.store.set({ folds: folds.includes(label) ? folds.filter((other) => other !== label) : [...folds, label] });
	}

	#isChosen(row) {
		return chosenLabels(this.app.store.state.query, dimensionOf(row), false).has(row.label);
	}

	#say(amount) {
		const { selection } = this.threads;
		return this.threads.countsSamples ? `${grouped(amount)} samples` : formatTotal(amount, selection);
	}

	#share = ({ amount }) => formatShare(amount, this.threads.total);

	#makeTable() {
		const { app } = this;
		const { selection, total, countsSamples } = this.threads;
		const short = { ...selection, noun: "" }; /* what is counted stands in the head */
		const track = { id: "track", label: this.window.map(formatTime).join(" – "), text: () => "", kind: "track",
			fill: (td, row) => td.append(this.#track(row)) };
		const what = countsSamples ? "samples" : selection.noun.replace(/^of /, "") || "amount";
		return new VirtualTable({
			label: "Processes and threads",
			columns: [
				{ id: "name", label: "Process and thread", text: nameOf, fill: (td, row) => this.#fillName(td, row) },
				{ id: "amount", label: `${what[0].toUpperCase()}${what.slice(1)}`, kind: "narrow",
					text: (row) => (countsSamples ? grouped(row.amount) : formatTotal(row.amount, short)) },
				{ id: "share", label: "%", kind: "narrow", text: this.#share, part: ({ amount }) => amount / (total || 1) },
				...(app.profile.hasTimes ? [track] : []),
			],
			tree: {
				level: ({ level }) => level,
				isOpen: (row) => this.#isOpen(row),
				isChosen: (row) => this.#isChosen(row),
				fold: (row) => this.#fold(row),
			},
			say: app.say,
			describe: (row) => this.#describe(row),
			onPick: (row, isAdded) => app.store.setQuery({ filters: choose(app.store.state.query, dimensionOf(row), row.label, isAdded) }),
		});
	}

	#fillName(td, row) {
		const isOpen = this.#isOpen(row);
		const sign = (className, textContent) => {
			const made = make("span", { className, textContent });
			made.setAttribute("aria-hidden", "true");
			return made;
		};
		const signs = [sign("tick", this.#isChosen(row) ? "☑" : "☐")];
		if (row.level === 1)
			signs.unshift(isOpen === undefined ? sign("no-fold", "") : sign("fold", isOpen ? "▾" : "▸"));
		td.title = nameOf(row);
		td.prepend(...signs);
		if (isOpen === false)
			td.append(make("span", { className: "faint", textContent: ` (${grouped(row.nThreads)} threads)` }));
	}

	/* What a row has in each bin and state. */
	#sumsOf({ from, to }) {
		const { bins, values } = this.threads;
		const sums = new Float64Array(this.nBins * this.nStates);
		for (let i = from; i < to; i++)
			sums[bins[i]] = values[i];
		return sums;
	}

	/* What bins FROM to TO have together. */
	#sumIn(sums, from, to) {
		return sums.subarray(from * this.nStates, to * this.nStates).reduce((sum, one) => sum + one, 0);
	}

	/* What is which part of them, in words. */
	#statesIn(sums, from, to) {
		const found = new Float64Array(this.nStates);
		for (let at = from * this.nStates; at < to * this.nStates; at++)
			found[at % this.nStates] += sums[at];
		const whole = this.#sumIn(sums, from, to);
		const words = [...found].map((sum, i) => sum && `${formatShare(sum, whole)} ${this.app.profile.states[i]?.label ?? "another state"}`);
		return this.threads.hasStates ? words.filter(Boolean) : [];
	}

	#describe(row) {
		const isOpen = this.#isOpen(row);
		const states = this.#statesIn(this.#sumsOf(row), 0, this.nBins);
		return [nameOf(row), isOpen === undefined ? "" : `${grouped(row.nThreads)} threads, ${isOpen ? "open" : "closed"}`,
			this.#say(row.amount), this.#share(row), ...states, this.#isChosen(row) ? "chosen" : ""].filter(Boolean).join(", ");
	}

	#timeAt(bin) {
		const [from, to] = this.window;
		return from + (bin * (to - from)) / this.nBins;
	}

	#track(row) {
		const sums = this.#sumsOf(row);
		const svg = document.createElementNS(SVG, "svg");
		svg.setAttribute("viewBox", `0 0 ${this.nBins} ${HEIGHT}`);
		svg.setAttribute("preserveAspectRatio", "none");
		svg.setAttribute("aria-hidden", "true"); /* the row and the table say it in words */
		this.#paths(row, sums).forEach((words, i) => {
			const path = document.createElementNS(SVG, "path");
			path.setAttribute("d", words.join(""));
			path.setAttribute("fill", this.css[i >> 1]);
			path.setAttribute("opacity", i & 1 ? 0.35 : 1);
			if (words.length)
				svg.append(path);
		});
		svg.addEventListener("pointermove", (event) => {
			const { left, width } = svg.getBoundingClientRect();
			const bin = Math.max(0, Math.min(this.nBins - 1, Math.floor(((event.clientX - left) * this.nBins) / width)));
			const sum = this.#sumIn(sums, bin, bin + 1);
			this.app.tip.show(event.clientX, event.clientY, [nameOf(row),
				`${formatTime(this.#timeAt(bin))} to ${formatTime(this.#timeAt(bin + 1))}: ${sum ? this.#say(sum) : "no sample"}`,
				...this.#statesIn(sums, bin, bin + 1)]);
		});
		svg.addEventListener("pointerleave", () => this.app.tip.hide());
		return svg;
	}

	/* The bars of each state, in the selected time and outside; the least that there is can be seen. */
	#paths({ level, nThreads }, sums) {
		const most = this.threads.isLanes ? Math.max(1, nThreads) * (this.#timeAt(1) - this.#timeAt(0)) : this.threads.most[level];
		const paths = Array.from({ length: 2 * this.nStates }, () => []);
		for (let bin = 0; bin < this.nBins; bin++) {
			const scale = (HEIGHT - 4) / (Math.max(most, this.#sumIn(sums, bin, bin + 1)) || 1);
			let y = HEIGHT - 1;
			for (let state = 0; state < this.nStates; state++) {
				const amount = sums[bin * this.nStates + state];
				if (amount === 0)
					continue;
				const top = y - Math.max(1, amount * scale);
				paths[2 * state + this.pale[bin]].push(`M${bin} ${y.toFixed(1)}V${top.toFixed(1)}h1V${y.toFixed(1)}z`);
				y = top;
			}
		}
		return paths;
	}

	#asText() {
		const step = this.nBins / TEXT_PARTS;
		const parts = Array.from({ length: TEXT_PARTS }, (_, i) => i * step);
		let process = "";
		const rows = this.threads.rows.map((row) => {
			process = row.level === 1 ? nameOf(row) : process;
			const sums = this.#sumsOf(row);
			return [process, row.nThreads ? "all" : nameOf(row), this.#say(row.amount), this.#share(row),
				this.#statesIn(sums, 0, this.nBins).join(", "),
				...parts.map((bin) => this.#say(this.#sumIn(sums, bin, bin + step)))];
		});
		return { caption: "Processes and threads, most first, and how much each has from which time on",
			head: ["process", "thread", "amount", "share", "states", ...parts.map((bin) => formatTime(this.#timeAt(bin)))], rows };
	}

	unmount() {
		this.update.stop();
		this.app.tip.hide();
		for (const off of this.offs)
			off();
	}
}

export const threadsView = {
	id: "threads",
	label: "Threads",
	title: "Processes and threads",
	mount: (element, app) => new Threads(element, app),
};
