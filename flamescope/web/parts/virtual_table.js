/*
 * virtual_table.js - a table of any number of rows, of which only those that are seen exist
 *
 * Its head sorts; its rows are walked with the arrow keys.
 */

import { button, make } from "wick/parts/dom.js";

export const ROW_PIXELS = 25;
const BEFORE = 4; /* rows above and below what is seen */

const titleOf = (text) => (text.length > 24 ? text : "");

/* By a key of theirs: numbers the greatest first, texts from a to z; or from the other end. */
function sorted(rows, key, isReversed) {
	const way = isReversed ? -1 : 1;
	return rows.map((row) => [key(row), row])
		.sort(([a], [b]) => way * (typeof a === "number" ? b - a : a < b ? -1 : a > b ? 1 : 0)).map(([, row]) => row);
}

/**
 * VirtualTable
 * @options: {label, columns: [{id, label, isWide, isHidden, kind, text(row), key(row), by, flagged(row), part(row)}],
 *           onSort(word), onPick(row, isAdded), onMenu(row, x, y), describe(row)}; rows are whatever the caller
 *           makes of them; by a key they are sorted, or by that of the column BY; of a cell with a part, 0 to
 *           1, so much is a bar; isAdded: with Ctrl.  A column may have fill(td, row), which puts more into a cell.
 *           Without onSort nothing sorts.  tree: {level(row), isOpen(row), isChosen(row), fold(row)} makes it a
 *           tree, of which rows can be chosen; isOpen() of what has nothing below it is undefined
 */
export class VirtualTable {
	constructor(options) {
		this.options = options;
		this.columns = options.columns.filter(({ isHidden }) => !isHidden);
		this.rows = [];
		this.drawn = new Map(); /* the elements of rows, by their numbers */
		this.sort = "";
		this.at = -1;
		this.body = make("tbody");
		this.heads = new Map(this.columns.map(({ id, by = id, label, kind = "" }) => [id, make("th", { scope: "col", className: kind },
			options.onSort ? button(label, () => options.onSort(this.sort === by ? `-${by}` : by), { title: titleOf(label) })
				: make("span", { textContent: label, title: titleOf(label) }))]));
		const widths = this.columns.map(({ isWide, kind }, i) =>
			make("col", { className: kind ?? (i === 0 ? "name" : isWide ? "wide" : "") }));
		this.table = make("table", { style: `--columns: ${this.columns.length}`, "aria-label": options.label,
			...(options.tree && { role: "treegrid", "aria-multiselectable": "true" }) },
		make("colgroup", {}, ...widths), make("thead", {}, make("tr", {}, ...this.heads.values())), this.body);
		this.room = make("div", {}, this.table); /* all rows have it, also those that do not exist */
		this.element = make("div", { className: "scroll-table", tabIndex: 0, role: "region",
			"aria-label": `${options.label}: arrow keys walk the rows` }, this.room);
		this.element.addEventListener("scroll", () => this.#ask(), { passive: true });
		this.element.addEventListener("keydown", (event) => this.#onKey(event));
	}

	/** Other rows, sorted by a word: a column's id, with "-" before it from the other end; "": as they are. */
	show(rows, sort = "") {
		const [, sign, id] = /^(-?)(.*)$/s.exec(sort);
		const key = this.options.columns.find((column) => column.id === id)?.key;
		this.rows = key ? sorted(rows, key, sign !== "") : rows;
		this.sort = sort;
		this.at = Math.min(this.at, rows.length - 1);
		const isDown = (typeof (rows.length && key?.(rows[0])) === "number") === (sign === "");
		for (const column of this.columns) {
			const th = this.heads.get(column.id);
			const isSorted = column.id === id;
			th.ariaSort = isSorted ? (isDown ? "descending" : "ascending") : null;
			const label = isSorted ? `${column.label} ${isDown ? "▾" : "▴"}` : column.label;
			if (th.firstChild.textContent !== label)
				th.firstChild.textContent = label; /* else nothing is laid out before the rows are */
		}
		this.table.ariaRowCount = String(rows.length + 1);
		this.draw(true);
	}

	#ask() {
		this.asked ??= requestAnimationFrame(() => this.draw());
	}

	/** The rows that are seen; AFRESH: also those that were seen before. */
	draw(afresh = false) {
		cancelAnimationFrame(this.asked);
		this.asked = undefined;
		const { rows, drawn } = this;
		const { scrollTop, clientHeight } = this.element;
		const first = Math.max(0, Math.floor(Math.min(scrollTop / ROW_PIXELS, rows.length)) - BEFORE);
		const end = Math.min(rows.length, first + Math.ceil((clientHeight || 600) / ROW_PIXELS) + 2 * BEFORE);
		for (const [i, tr] of drawn) {
			if (!afresh && i >= first && i < end)
				continue;
			tr.remove();
			drawn.delete(i);
		}
		for (let i = first; i < end; i++) {
			if (drawn.has(i))
				continue;
			drawn.set(i, this.#row(i));
			if (drawn.has(i - 1))
				drawn.get(i - 1).after(drawn.get(i));
			else
				this.body.prepend(drawn.get(i));
		}
		this.room.style.padding = `${first * ROW_PIXELS}px 0 ${(rows.length - end) * ROW_PIXELS}px`;
	}

	#row(i) {
		const row = this.rows[i];
		const cells = this.columns.map(({ text, flagged, part, kind = "", fill }) => {
			const td = make("td", { textContent: text(row), title: titleOf(text(row)),
				className: [kind, flagged?.(row) && "flagged", part && "part"].filter(Boolean).join(" "),
				...(part && { style: `--part: ${part(row)}` }) });
			fill?.(td, row);
			return td;
		});
		const tr = make("tr", {
			"aria-rowindex": String(i + 2),
			onclick: (event) => {
				this.at = i;
				if (event.target.closest(".fold"))
					this.options.tree.fold(row);
				else
					this.options.onPick(row, event.ctrlKey || event.metaKey || Boolean(event.target.closest(".tick")));
				this.drawn.forEach((tr, n) => this.#mark(tr, n));
			},
			oncontextmenu: (event) => {
				event.preventDefault();
				this.options.onMenu?.(row, event.clientX, event.clientY);
			},
		}, ...cells);
		this.#mark(tr, i);
		return tr;
	}

	/* What it says of itself beside its cells. */
	#mark(tr, i) {
		const { tree } = this.options;
		const row = this.rows[i];
		tr.classList.toggle("at", i === this.at);
		if (!tree) {
			tr.ariaSelected = i === this.at ? "true" : null;
			return;
		}
		tr.ariaLevel = String(tree.level(row));
		tr.ariaSelected = String(tree.isChosen(row));
		tr.ariaExpanded = tree.isOpen(row) === undefined ? null : String(tree.isOpen(row));
	}

	#onKey(event) {
		const isAdded = (event.ctrlKey || event.metaKey) && event.key === "Enter";
		if (event.target !== this.element || (!isAdded && (event.ctrlKey || event.metaKey)) || event.altKey)
			return;
		const { left, top } = this.element.getBoundingClientRect();
		const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_PIXELS) - 2);
		const to = {
			ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page,
			PageUp: this.at - page, Home: 0, End: this.rows.length - 1,
		}[event.key];
		const row = this.rows[this.at];
		if (to !== undefined)
			this.moveTo(to);
		else if (row === undefined)
			return;
		else if (event.key === "Enter")
			this.options.onPick(row, isAdded);
		else if (/^Arrow(Left|Right)$/.test(event.key) && this.options.tree?.isOpen(row) === (event.key === "ArrowLeft"))
			this.options.tree.fold(row);
		else if (event.key === "m")
			this.options.onMenu?.(row, left + 40, top + 60);
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	moveTo(to) {
		if (this.rows.length === 0)
			return;
		const marked = [this.at, this.at = Math.max(0, Math.min(this.rows.length - 1, to))];
		const top = this.at * ROW_PIXELS;
		const { scrollTop, clientHeight } = this.element;
		this.element.scrollTop = Math.min(top, Math.max(scrollTop, top + 3 * ROW_PIXELS - clientHeight));
		if (this.element.scrollTop !== scrollTop)
			this.draw();
		for (const i of marked)
			if (this.drawn.has(i))
				this.#mark(this.drawn.get(i), i);
		const row = this.rows[this.at];
		const { say, describe = () => this.columns.map(({ label, text }) => `${label} ${text(row)}`).join(", ") } = this.options;
		say(describe(row));
	}
}
