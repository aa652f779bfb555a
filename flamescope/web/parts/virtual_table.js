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
		const { label, tree } = options;
		this.rows = [];
		this.columns = [];
		this.drawn = new Map(); /* the elements of rows, by their numbers, */
		this.kept = [0, 0]; /* from the first to the last, */
		this.stale = new Set(); /* and those that are of other rows by now */
		this.sort = "";
		this.at = -1; /* the row with the outline, which is called `name` */
		this.placed = () => {};
		this.body = make("tbody");
		this.table = make("table", { "aria-label": label, ...(tree && { role: "treegrid", "aria-multiselectable": "true" }) });
		this.room = make("div", {}, this.table); /* all rows have it, also those that do not exist */
		this.element = make("div", { className: "scroll-table", tabIndex: 0, role: "region",
			"aria-label": `${label}: arrow keys walk the rows` }, this.room);
		this.element.addEventListener("scroll", () => this.drawMore(), { passive: true });
		this.drawMore = inFrame(() => this.draw());
		this.drawLater = inFrame(() => this.#drawAfresh());
		onKeys(this.element, ({ target }) => (target === this.element ? this.#keys() : {})); /* heads have keys of their own */
		this.change(options);
	}

	/** Other columns and what else OPTIONS say, but for the label and whether it is a tree; show() has to follow. */
	change(options) {
		const shapeOf = (columns) => columns.map(({ id, isWide }) => `${id} ${isWide}`).join();
		const before = shapeOf(this.columns);
		this.options = options;
		this.name = options.name;
		this.columns = options.columns.filter(({ isHidden }) => !isHidden);
		if (before === shapeOf(this.columns))
			return;
		this.heads = new Map(this.columns.map(({ id, key, by = key && id, kind = "" }) => [id,
			make("th", { scope: "col", className: kind }, by
				? button("", () => this.options.onSort(this.sort === by ? `-${by}` : by)) : make("span"))]));
		const widths = this.columns.map(({ isWide, kind }, i) =>
			make("col", { className: kind ?? (i === 0 ? "name" : isWide ? "wide" : "") }));
		this.table.style.setProperty("--columns", this.columns.length);
		this.table.replaceChildren(make("colgroup", {}, ...widths), make("thead", {}, make("tr", {}, ...this.heads.values())), this.body);
	}

	/**
	 * Other rows, sorted by a word: a column's id, with "-" before it from the other end; by USUAL if no column has
	 * it; "": as they are.  PLACED() is called when they have their room.
	 */
	show(rows, sort, usual = "", placed = this.placed) {
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
				Object.assign(th.firstChild, { textContent: label, title: column.label }); /* else nothing is laid out before the rows are */
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
		this.placed = () => {};
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
		if (!this.element.isConnected)
			return;
		const { body, drawn, kept, rows, stale } = this;
		const { scrollTop, clientHeight } = this.element;
		const first = Math.max(0, Math.floor(Math.min(scrollTop / ROW_PIXELS, rows.length)) - BEFORE);
		const end = Math.min(rows.length, first + Math.ceil((clientHeight || 600) / ROW_PIXELS) + 2 * BEFORE);
		const until = performance.now() + NEW_MS;
		const hasTime = () => performance.now() < until;
		let [from, to] = [Math.max(first, kept[0]), Math.min(end, kept[1])];
		if (from >= to)
			from = to = first; /* none of them is seen */
		this.#keep(from, to);
		const renew = (i) => drawn.set(i, this.#row(i)).get(i);
		for (const i of stale) {
			drawn.get(i).replaceWith(renew(i));
			stale.delete(i);
			if (!hasTime())
				break;
		}
		while (from > first && hasTime())
			body.prepend(renew(--from));
		while (to < end && hasTime())
			body.append(renew(to++));
		this.#keep(from, to);
		if (from > first || to < end || stale.size)
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
				this.#mark(row);
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
	#mark(row) {
		this.at = this.rows.indexOf(row);
		this.name = this.options.nameOf(row);
		this.drawn.forEach((tr, i) => (tr.ariaCurrent = String(i === this.at)));
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
		this.#mark(this.rows[Math.max(0, Math.min(this.rows.length - 1, to))]);
		this.reveal();
		const row = this.rows[this.at];
		const { say, describe = () => this.columns.map(({ label, text }) => `${label} ${text(row)}`).join(", ") } = this.options;
		say(describe(row));
	}
}
