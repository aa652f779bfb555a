/*
 * heat_input.js - a heatmap by pointer and keys
 *
 * A click says where a range starts and the next one where it ends, as in FlameScope; dragging
 * takes a rectangle; the numbers below take whole columns, those beside whole rows, and dragging
 * these shifts where columns begin.  With Shift a click adds to what is selected, and dragging moves
 * the time that is seen.  The same with keys.
 */

import { formatShare } from "wick/parts/amount.js";
import { onDrag, onKeys } from "wick/parts/canvas.js";
import { cellAt, filterOfRow, rangeBetween, timeAt } from "wick/heat/heat_place.js";
import { countText, valueText, whenText } from "wick/heat/heat_words.js";

const HOVER_MS = 60; /* the functions of a cell are looked up where the pointer rests */
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
	PageUp: [-10, 0], PageDown: [10, 0], Home: [-Infinity, 0], End: [Infinity, 0] };

export const heatKeys = [
	["← → ↑ ↓", "move the cursor; with Shift: a rectangle"],
	["Enter", "start and end of a range; end of a rectangle"],
	["Shift+Enter", "the same, beside what is selected"],
	["c", "select the cursor's column"],
	["r", "select the cursor's row"],
	[", .", "shift where columns begin by a row"],
	["Escape", "forget the start of a range"],
	["Ctrl+wheel", "zoom; Shift+wheel, or drag with Shift: move"],
];

/** What the user does with VIEW, a HeatCanvas that has been drawn. */
export function listenHeat(view) {
	const { app, canvas } = view;
	let timer = 0; /* until the functions of a cell are looked up */

	const cellOf = (event) => cellAt(view.heat, view.place, event.offsetX, event.offsetY + view.top);
	const adds = ({ shiftKey, ctrlKey, metaKey }) => shiftKey || ctrlKey || metaKey;

	/* What was asked of a cell where the pointer is no more is not shown. */
	function unhover() {
		clearTimeout(timer);
		timer = 0;
		app.tip.hide();
	}

	function hover(event) {
		const { heat } = view;
		const cell = cellOf(event);
		const tell = (lines) => app.tip.show(event.clientX, event.clientY, lines);
		unhover();
		if (cell.part !== "cells") {
			const text = heat.rowLabels && cell.part === "rows" ? heat.rowLabels[cell.row] : whenText(heat, cell);
			const drag = cell.part === "rows" && !heat.rowLabels ? "; drag: shift where columns begin" : "";
			return tell([text, `click: the whole ${cell.part === "rows" ? "row" : "column"}${drag}`]);
		}
		const { isSigned, measure, sum } = heat.selection;
		const number = cell.column * heat.nRows + cell.row;
		const share = heat.samples[number] && !isSigned && ["samples", "period"].includes(measure)
			? `, ${formatShare(heat.values[number], sum)} of all` : "";
		const lines = [(view.name ? `${view.name}: ` : "") + valueText(heat, cell) + share, whenText(heat, cell),
			countText(heat, cell)].filter(Boolean);
		tell(lines);
		if (!heat.samples[number])
			return undefined;
		const mine = timer = setTimeout(async () => {
			const filter = heat.rowLabels ? filterOfRow(heat, view.by, cell.row) : null;
			const frames = await app.models.ask("cell", rangeBetween(heat, cell, cell), filter, view.metric);
			if (mine === timer)
				tell([...lines, ...frames]);
		}, HOVER_MS);
		return undefined;
	}

	function setPhase(ns, options) {
		const { columnNs } = view.heat;
		const phase = ((ns % columnNs) + columnNs) % columnNs;
		app.store.set({ phase }, options);
		app.say(phase ? `Columns begin ${phase / 1e6} ms later` : "Columns begin at whole times");
	}

	/* What dragging from there shifts, if anything. */
	function shiftFrom(down, { part }) {
		const { heat, place } = view;
		const { phase } = app.store.state;
		if (part === "rows" && !heat.rowLabels)
			return (event, isFirst) => setPhase(phase + heat.rowNs *
				Math.round(((event.clientY - down.clientY) * heat.nRows) / place.height), { replace: !isFirst });
		return down.shiftKey && ((event) => app.brush.show([place.window.from, place.window.to]
			.map((ns) => ns - (event.clientX - down.clientX) / place.perNs)));
	}

	function begin(down) {
		const from = cellOf(down);
		const shift = shiftFrom(down, from);
		view.drawn = null;
		return {
			move(event, isFirst) {
				if (shift) {
					unhover();
					shift(event, isFirst);
				} else if (from.part !== "rows") {
					view.drawn = { from, to: cellOf(event), part: from.part };
					view.later();
				}
			},
			end(event, moved) {
				if (event && !moved)
					choose(from, adds(event));
				else if (event && view.drawn)
					selectDrawn(adds(event));
				view.drawn = null;
				view.later();
			},
		};
	}

	function choose({ part, column, row }, add) {
		if (part === "rows")
			view.selectRow(row, add);
		else if (part === "columns")
			view.selectColumn(column, add);
		else
			view.click({ column, row }, add);
	}

	function selectDrawn(add) {
		const ranges = view.drawnRanges();
		view.drawn = null;
		view.select(ranges, add);
	}

	function onWheel(event) {
		if (!event.ctrlKey && !event.shiftKey)
			return; /* rows that are higher than the window scroll */
		event.preventDefault();
		if (event.ctrlKey)
			app.brush.zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(view.place, event.offsetX));
		else
			app.brush.pan(Math.sign(event.deltaY || event.deltaX) * 0.1);
	}

	function moveCursor([columns, rows], isStretching) {
		const { heat, cursor } = view;
		const clamp = (value, n) => Math.max(0, Math.min(n - 1, value));
		const from = view.drawn?.from ?? cursor;
		const to = { column: clamp(cursor.column + columns, heat.nColumns),
			row: clamp(cursor.row + (heat.rowLabels ? -rows : rows), heat.nRows) };
		const isOne = from.column === to.column && from.row === to.row;
		view.cursor = to;
		view.drawn = isStretching && !isOne ? { from, to, part: "cells" } : null;
		showCursor();
		app.say(`${whenText(heat, to)}: ${valueText(heat, to)}`);
	}

	/* The window follows a cursor that leaves it. */
	function showCursor({ first, end } = view.place) {
		const { column } = view.cursor;
		if (column + 0.01 < first)
			app.brush.pan((column - first) / (end - first) - 0.1);
		else if (column + 0.99 > end)
			app.brush.pan((column + 1 - end) / (end - first) + 0.1);
	}

	function keysOf({ shiftKey }) {
		view.cursor ||= { column: Math.floor(view.place.first), row: 0 };
		const { heat, cursor } = view;
		const { phase } = app.store.state;
		const enter = () => (view.drawn ? selectDrawn(shiftKey) : view.click(cursor, shiftKey));
		return {
			...Object.fromEntries(Object.entries(MOVES).map(([key, by]) => [key, () => moveCursor(by, shiftKey)])),
			Enter: enter, " ": enter,
			c: () => view.selectColumn(cursor.column),
			r: () => view.selectRow(cursor.row),
			",": !heat.rowLabels && (() => setPhase(phase - heat.rowNs)),
			".": !heat.rowLabels && (() => setPhase(phase + heat.rowNs)),
			Escape: (view.pending || view.drawn) && (() => (view.pending = view.drawn = null)),
		};
	}

	canvas.addEventListener("pointermove", hover); /* before dragging, which may hide what it says */
	canvas.addEventListener("pointerleave", unhover);
	canvas.addEventListener("wheel", onWheel, { passive: false });
	onDrag(canvas, begin);
	onKeys(canvas, keysOf, () => view.later());
}
