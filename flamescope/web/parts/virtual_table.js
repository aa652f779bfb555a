/*
 * virtual_table.js - a table of any number of rows, of which only those that are seen exist
 *
 * Its head sorts; its rows are walked with the arrow keys.
 */

import { inFrame, onKeys } from "wick/parts/canvas.js";
import { button, make } from "wick/parts/dom.js";

export const ROW_PIXELS = 25;
const BEFORE = 4; /* rows above and below what is seen */
const NEW_MS = 1.5; /* of a frame, for new rows: to lay them out takes longer than to make them */

/* By a key of theirs: numbers the greatest first, texts from a to z; or from the other end.  What is below a row stays there. */
function sorted(rows, key, isReversed, level = () => 1) {
	const way = isReversed ? -1 : 1;
	const keys = rows.map(key);
	const byKey = typeof keys[0] === "number" ? (i, k) => way * (keys[k] - keys[i])
		: (i, k) => (keys[i] === keys[k] ? 0 : keys[i] < keys[k] ? -way : way);
	const roots = [];
	const below = new Map(); /* places, by that of their root */
	rows.forEach((row, i) => {
		const root = roots.at(-1);
		if (level(row) === 1)
			roots.push(i);
		else if (!below.get(root)?.push(i))
			below.set(root, [i]);
	});
	roots.sort(byKey);
	return (below.size ? roots.flatMap((i) => [i, ...below.get(i)?.sort(byKey) ?? []]) : roots).map((i) => rows[i]);
}

/**
 * VirtualTable
 * @options: {label, columns: [{id, label, isWide, isHidden, kind, text(row), key(row), by, flagged(row), part(row)}],
 *           nameOf(row), name, onSort(word), onPick(row, isAdded), onMenu(row, x, y), describe(row), isFaint(row)};
 *           rows are whatever the caller makes of them, of which that called NAME has the outline at first; by a key
 *           they are sorted, or by that of the column BY; of a cell with a part, 0 to 1, so much is a bar; isAdded:
 *           with Ctrl.  A column may have fill(td, row), which puts more into a cell.
 *           tree: {level(row), isOpen(row), isChosen(row), fold(row)} makes it a tree, of which rows can be
 *           chosen; isOpen() of what has nothing below it is undefined
 */
export class VirtualTable {
	constructor(options) {
		this.options = options;
		this.columns = options.columns.filter(({ isHidden }) => !isHidden);
		this.rows = [];
		this.drawn = new Map(); /* the elements of rows, by their numbers, */
		this.kept = [0, 0]; /* from the first to the last, */
		this.stale = new Set(); /* and those that are of other rows by now */
		this.sort = "";
		this.at = -1; /* the row with the outline, which is called */
		this.name = options.name;
		this.body = make("tbody");
		this.heads = new Map(this.columns.map(({ id, key, by = key && id, label, kind = "" }) => [id,
			make("th", { scope: "col", className: kind }, by
				? button(label, () => options.onSort(this.sort === by ? `-${by}` : by), { title: label })
				: make("span", { textContent: label, title: label }))]));
		const widths = this.columns.map(({ isWide, kind }, i) =>
			make("col", { className: kind ?? (i === 0 ? "name" : isWide ? "wide" : "") }));
		this.table = make("table", { style: `--columns: ${this.columns.length}`, "aria-label": options.label,
			...(options.tree && { role: "treegrid", "aria-multiselectable": "true" }) },
		make("colgroup", {}, ...widths), make("thead", {}, make("tr", {}, ...this.heads.values())), this.body);
		this.room = make("div", {}, this.table); /* all rows have it, also those that do not exist */
		this.element = make("div", { className: "scroll-table", tabIndex: 0, role: "region",
			"aria-label": `${options.label}: arrow keys walk the rows` }, this.room);
		this.element.addEventListener("scroll", () => this.drawMore(), { passive: true });
		this.drawMore = inFrame(() => this.draw());
		this.drawLater = inFrame(() => this.#drawAfresh());
		onKeys(this.element, ({ target }) => (target === this.element ? this.#keys() : {})); /* heads have keys of their own */
	}

	/**
	 * Other rows, sorted by a word: a column's id, with "-" before it from the other end; by USUAL if no column has
	 * it; "": as they are.  PLACED() is called when they are drawn: the page is laid out without them before.
	 */
	show(rows, sort, usual = "", placed = () => {}) {
		const { columns, nameOf, tree } = this.options;
		const known = (word) => columns.find(({ id, key }) => key && (word === id || word === `-${id}`));
		this.sort = known(sort) ? sort : usual;
		const { id, key } = known(this.sort) ?? {};
		const isReversed = this.sort !== id;
		this.sortRows = () => {
			this.rows = key ? sorted(rows, key, isReversed, tree?.level) : rows;
			this.at = this.name ? this.rows.findIndex((row) => nameOf(row) === this.name) : -1;
		};
		const isDown = (typeof (rows.length && key?.(rows[0])) === "number") !== isReversed;
		for (const column of this.columns) {
			const th = this.heads.get(column.id);
			const isSorted = column.id === id;
			th.ariaSort = isSorted ? (isDown ? "descending" : "ascending") : null;
			const label = isSorted ? `${column.label} ${isDown ? "▾" : "▴"}` : column.label;
			if (th.firstChild.textContent !== label)
				th.firstChild.textContent = label; /* else nothing is laid out before the rows are */
		}
		this.table.ariaRowCount = String(rows.length + 1);
		this.placed = placed;
		this.drawLater();
	}

	/** Scrolls to where the row with the outline is seen. */
	reveal() {
		const top = this.at * ROW_PIXELS;
		const { scrollTop, clientHeight } = this.element;
		this.element.scrollTop = Math.min(top, Math.max(scrollTop, top + 3 * ROW_PIXELS - clientHeight));
	}

	/* Rows of before are seen until others take their places; the first ones come when the page is laid out. */
	#drawAfresh() {
		if (this.sortRows) {
			this.sortRows();
			this.sortRows = null;
			this.drawLater(); /* many rows take the time of a frame */
			return;
		}
		this.stale = new Set(this.drawn.keys());
		this.#keep(...this.kept.map((at) => Math.min(at, this.rows.length)));
		this.placed();
		if (this.drawn.size)
			this.draw();
		else
			this.drawMore();
	}

	/* Of the rows that exist those from FIRST to END; the others have their room. */
	#keep(first, end) {
		for (const [i, tr] of this.drawn) {
			if (i >= first && i < end)
				continue;
			tr.remove();
			this.drawn.delete(i);
			this.stale.delete(i);
		}
		this.kept = [first, end];
		this.room.style.padding = `${first * ROW_PIXELS}px 0 ${(this.rows.length - end) * ROW_PIXELS}px`;
	}

	/** The rows that are seen, of which new ones may take several frames. */
	draw() {
		const { rows, drawn, stale } = this;
		const { scrollTop, clientHeight } = this.element;
		const first = Math.max(0, Math.floor(Math.min(scrollTop / ROW_PIXELS, rows.length)) - BEFORE);
		const end = Math.min(rows.length, first + Math.ceil((clientHeight || 600) / ROW_PIXELS) + 2 * BEFORE);
		const until = performance.now() + NEW_MS;
		let isLate = false;
		let to = first;
		for (; to < end && (drawn.has(to) || !isLate); to++) {
			const old = drawn.get(to);
			if (old && (isLate || !stale.has(to)))
				continue;
			isLate = performance.now() > until;
			stale.delete(to);
			drawn.set(to, this.#row(to));
			if (old)
				old.replaceWith(drawn.get(to));
			else if (drawn.has(to - 1))
				drawn.get(to - 1).after(drawn.get(to));
			else
				this.body.prepend(drawn.get(to));
		}
		this.#keep(first, to);
		if (to < end || stale.size)
			this.drawMore();
	}

	#row(i) {
		const row = this.rows[i];
		const cells = this.columns.map(({ text, flagged, part, kind = "", fill }) => {
			const td = make("td", { textContent: text(row), title: text(row),
				className: [kind, flagged?.(row) && "flagged", part && "part"].filter(Boolean).join(" "),
				...(part && { style: `--part: ${part(row)}` }) });
			fill?.(td, row);
			return td;
		});
		const tr = make("tr", {
			"aria-rowindex": String(i + 2),
			onclick: (event) => {
				this.#mark(i);
				if (event.target.closest(".fold"))
					this.options.tree.fold(row);
				else
					this.options.onPick(row, event.ctrlKey || event.metaKey || Boolean(event.target.closest(".tick")));
			},
			oncontextmenu: (event) => {
				event.preventDefault();
				this.options.onMenu?.(row, event.clientX, event.clientY);
			},
		}, ...cells);
		const { tree, isFaint } = this.options;
		tr.classList.toggle("faint", Boolean(isFaint?.(row)));
		if (tree) {
			tr.ariaLevel = String(tree.level(row));
			tr.ariaSelected = String(tree.isChosen(row));
			tr.ariaExpanded = tree.isOpen(row) === undefined ? null : String(tree.isOpen(row));
		}
		tr.ariaCurrent = String(i === this.at);
		return tr;
	}

	/* The row with the outline is another. */
	#mark(to) {
		this.at = to;
		this.name = this.options.nameOf(this.rows[to]);
		this.drawn.forEach((tr, i) => (tr.ariaCurrent = String(i === to)));
	}

	#keys() {
		const { at, rows, options: { onMenu, onPick, tree } } = this;
		const row = rows[at];
		const { left, top } = this.element.getBoundingClientRect();
		const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_PIXELS) - 2);
		const moves = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: rows.length - 1 };
		const fold = (isOpen) => tree?.isOpen(row) === isOpen && (() => tree.fold(row));
		return {
			...Object.fromEntries(Object.entries(moves).map(([key, to]) => [key, () => this.moveTo(to)])),
			...(row !== undefined && {
				Enter: () => onPick(row, false), "Ctrl+Enter": () => onPick(row, true), m: () => onMenu?.(row, left + 40, top + 60),
				ArrowLeft: fold(true), ArrowRight: fold(false),
			}),
		};
	}

	moveTo(to) {
		if (this.rows.length === 0)
			return;
		this.#mark(Math.max(0, Math.min(this.rows.length - 1, to)));
		this.reveal();
		const row = this.rows[this.at];
		const { say, describe = () => this.columns.map(({ label, text }) => `${label} ${text(row)}`).join(", ") } = this.options;
		say(describe(row));
	}
}
