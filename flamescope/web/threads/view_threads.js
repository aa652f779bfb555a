/* view_threads.js - processes and their threads: how much each has, and when; click to choose */

import { formatShare, formatTime, formatTotal, grouped } from "wick/parts/amount.js";
import { textEquivalent } from "wick/parts/aria.js";
import { button, make } from "wick/parts/dom.js";
import { choose, chosenLabels, choosesThreads } from "wick/panels/filter_menu.js";
import { makeLegend } from "wick/stacks/flame_legend.js";
import { StackView, whyEmpty, viewOf } from "wick/stacks/stack_view.js";
import { rowsOf, Tracks } from "wick/threads/thread_track.js";
import { ROW_PIXELS, VirtualTable } from "wick/parts/virtual_table.js";

const MOST_OPEN = 200; /* rows, with which all processes are open at first */
const TEXT_PARTS = 10; /* of the time, in the table */

const dimensionOf = (row) => (row.nThreads > 0 ? "process" : "thread");
const nameOf = (row) => row.label || `[no ${dimensionOf(row)}]`;
const keyOf = (row) => `${dimensionOf(row)} ${row.label}`;

/** A button from the list of threads to their stacks, or back. */
export const otherButton = (app, view, text) => button(text, () => {
	app.store.set({ view });
	document.getElementById("view").focus(); /* the button is gone */
});

class Threads extends StackView {
	constructor(element, app) {
		super(element, app);
		this.says = make("span", { className: "says" });
		this.legend = makeLegend();
		this.text = textEquivalent("These threads as a table", () => this.#asText());
		this.bar = make("div", { className: "bar" }, this.says,
			otherButton(app, "strip", "Stacks in the order of time"), this.legend.element, this.text.element);
		this.table = new VirtualTable({ label: "Processes and threads", columns: [], tree: true });
		element.replaceChildren(this.note, this.bar, this.table.element);
	}

	onState(state, old) {
		if (["brush", "folds", "sort"].some((key) => state[key] !== old[key]))
			this.update();
	}

	show() {
		const { app } = this;
		const { brush, folds, query, ranges } = app.store.state;
		const end = app.profile.lengthNs + 1;
		const window = brush && brush.from < end ? [brush.from, Math.min(brush.to, end)] : [0, end];
		const everyone = { ...query, filters: query.filters.filter((filter) => !choosesThreads(filter)) };
		const threads = app.models.threads(everyone, ...window);
		const { problem, found: [matches] } = app.models.search("threads", everyone, 0, 1);
		const isNew = threads !== this.threads;
		Object.assign(this, { threads, tracks: new Tracks(app, threads, window), folds: new Set(folds), chosen: {
			process: chosenLabels(query, "process", false), thread: chosenLabels(query, "thread", false) } });
		this.rows = isNew ? rowsOf(threads) : this.rows;
		this.found = matches && this.#findRows(matches);
		if (isNew)
			this.#build();
		else
			this.#fill();
		this.table.element.style.setProperty("--selected", this.tracks.maskOf(ranges));
		this.legend.show(this.tracks.keys);
		this.text.refresh();
		this.tellFound(problem ? { problem } : matches && { nodes: this.found.size, noun: "row" });
	}

	/* The rows that match, each thread with its process. */
	#findRows(matches) {
		const found = new Set();
		let process;
		for (const row of this.rows) {
			process = row.level === 1 ? row : process;
			if (matches[row.i])
				found.add(row).add(process);
		}
		return found;
	}

	#fill(placed) {
		this.table.show(this.#shown(), this.app.store.state.sort, "amount", placed);
	}

	/* Other rows, among which that with the outline stays where it is seen. */
	#build() {
		const { rows, table, threads: { selection } } = this;
		const nThreads = rows.filter((row) => row.nThreads === 0).length;
		const isFirst = table.rows.length === 0;
		const below = table.element.scrollTop - table.at * ROW_PIXELS;
		this.nProcesses = rows.filter(({ level }) => level === 1).length;
		table.change(this.#options(isFirst ? rows.filter((row) => this.#isChosen(row)).map(keyOf)[0] : table.name));
		this.sayEmpty(rows.length ? "" : whyEmpty(this.app, selection));
		this.bar.hidden = table.element.hidden = rows.length === 0;
		const of = this.nProcesses < nThreads ? ` in ${grouped(this.nProcesses)} process${this.nProcesses === 1 ? "" : "es"}` : "";
		this.says.textContent = this.says.title =
			`${grouped(nThreads)} threads${of}. Click one to see it alone, tick more to add them.`;
		this.#fill(() => (isFirst ? table.reveal() : table.element.scrollTop = table.at * ROW_PIXELS + below));
	}

	/* Those of closed processes are not seen. */
	#shown() {
		let isOpen = true;
		return this.rows.filter((row) => {
			if (row.level === 1)
				isOpen = this.#isOpen(row);
			return row.level === 1 || isOpen;
		});
	}

	#isOpen(row) {
		return row.nThreads === 0 ? undefined
			: (this.nProcesses === 1 || this.rows.length <= MOST_OPEN) !== this.folds.has(row.label);
	}

	#fold({ label }) {
		const { folds } = this.app.store.state;
		this.app.store.set({ folds: folds.includes(label) ? folds.filter((other) => other !== label) : [...folds, label] });
	}

	#isChosen(row) {
		return this.chosen[dimensionOf(row)].has(row.label);
	}

	/* A row is chosen, or not any more. */
	#pick(row, isAdded) {
		const { store } = this.app;
		store.setQuery({ filters: choose(store.state.query, dimensionOf(row), row.label, isAdded) });
	}

	#share = ({ amount }) => formatShare(amount, this.threads.total);

	#track(row) {
		const svg = this.tracks.draw(row, nameOf(row), (range) => {
			svg.addEventListener("click", (event) => event.stopPropagation(), { once: true }); /* of the row */
			this.app.store.set({ ranges: [range] });
		});
		return svg;
	}

	#options(name) {
		const { app } = this;
		const { selection, total } = this.threads;
		const countsSamples = this.threads.countsSamples || selection.measure === "samples";
		const short = { ...selection, noun: "" }; /* what is counted stands in the head */
		const track = { id: "track", label: this.tracks.window.map(formatTime).join(" – "), text: () => "", kind: "track",
			fill: (td, row) => td.append(this.#track(row)) };
		const what = countsSamples ? "samples" : selection.noun.replace(/^of /, "") || "amount";
		return {
			columns: [
				{ id: "name", label: "Process and thread", text: nameOf, key: nameOf, fill: (td, row) => this.#fillName(td, row) },
				{ id: "amount", label: `${what[0].toUpperCase()}${what.slice(1)}`, kind: "narrow", key: ({ amount }) => amount,
					text: (row) => (countsSamples ? grouped(row.amount) : formatTotal(row.amount, short)) },
				{ id: "running", label: "Running", kind: "narrow", isHidden: !this.threads.isLanes || countsSamples,
					key: ({ running }) => running, text: ({ running }) => formatTotal(running, short) },
				{ id: "share", label: "%", kind: "narrow", by: "amount", text: this.#share, part: ({ amount }) => amount / (total || 1) },
				...(app.profile.hasTimes ? [track] : []),
			],
			tree: {
				level: ({ level }) => level,
				isOpen: (row) => this.#isOpen(row),
				isChosen: (row) => this.#isChosen(row),
				fold: (row) => this.#fold(row),
			},
			say: app.say,
			nameOf: keyOf,
			name,
			isFaint: (row) => this.found && !this.found.has(row),
			onSort: (sort) => app.store.set({ sort }),
			describe: (row) => this.#describe(row),
			onPick: (row, isAdded) => this.#pick(row, isAdded),
		};
	}

	#fillName(td, row) {
		const isOpen = this.#isOpen(row);
		const sign = (className, textContent) => make("span", { className, textContent, "aria-hidden": "true" });
		td.title = nameOf(row);
		td.prepend(sign("tick", this.#isChosen(row) ? "☑" : "☐"));
		if (row.level === 1)
			td.prepend(isOpen === undefined ? sign("no-fold", "") : sign("fold", isOpen ? "▾" : "▸"));
		if (isOpen === false)
			td.append(make("span", { className: "faint", textContent: ` (${grouped(row.nThreads)} threads)` }));
	}

	#describe(row) {
		const isOpen = this.#isOpen(row);
		return [nameOf(row), isOpen === undefined ? "" : `${grouped(row.nThreads)} threads, ${isOpen ? "open" : "closed"}`,
			this.tracks.say(row.amount), this.#share(row), ...this.tracks.statesIn(this.tracks.sumsOf(row)),
			this.#isChosen(row) ? "chosen" : "", this.found?.has(row) ? "found" : ""].filter(Boolean).join(", ");
	}

	#asText() {
		const { tracks } = this;
		const step = tracks.nBins / TEXT_PARTS;
		const parts = Array.from({ length: TEXT_PARTS }, (_, i) => i * step);
		let process = "";
		const rows = this.rows.map((row) => {
			process = row.level === 1 ? nameOf(row) : process;
			return [process, row.nThreads ? "all" : nameOf(row), tracks.say(row.amount), this.#share(row),
				tracks.statesIn(tracks.sumsOf(row)).join(", "), ...parts.map((bin) => tracks.say(tracks.sumsOf(row, bin, bin + step).sum))];
		});
		return { caption: "Processes and threads, most first, and how much each has from which time on",
			head: ["process", "thread", "amount", "share", "states", ...parts.map((bin) => formatTime(tracks.timeAt(bin)))], rows };
	}
}

export const threadsView = viewOf(Threads, "threads", "Threads", "Processes and threads");
