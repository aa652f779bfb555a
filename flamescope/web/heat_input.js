/*
 * heat_input.js - the heatmap by pointer and keys
 *
 * A click says where a range starts and the next one where it ends, as in FlameScope; dragging
 * takes a rectangle; the numbers below take whole columns, those beside whole rows, and dragging
 * these shifts where columns begin.  With Shift a click adds to what is selected, and dragging moves
 * the time that is seen.  The same with keys.
 */

import { formatShare } from "wick/amount.js";
import { cellAt, timeAt } from "wick/heat_place.js";
import { countText, partOfCell, valueText, whenText } from "wick/heat_words.js";

const DRAG_PX = 4;
const HOVER_MS = 60; /* the functions of a cell are looked up where the pointer rests */
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
	PageUp: [-10, 0], PageDown: [10, 0], Home: [-Infinity, 0], End: [Infinity, 0] };
const KEYS = [
	["← → ↑ ↓", "move the cursor; with Shift: a rectangle"],
	["Enter", "start and end of a range; end of a rectangle"],
	["Shift+Enter", "the same, beside what is selected"],
	["c", "select the cursor's column"],
	["r", "select the cursor's row"],
	[", .", "shift where columns begin by a row"],
	["Escape", "forget the start of a range"],
	["Ctrl+wheel", "zoom; Shift+wheel, or drag with Shift: move"],
];

class HeatInput {
	constructor(view) {
		this.view = view;
		this.app = view.app;
		this.canvas = view.canvas;
		this.shift = null; /* {kind, ...} of a drag that is no rectangle */
		this.listen();
		this.listKeys();
	}

	listen() {
		const { app, canvas } = this;
		canvas.addEventListener("pointerdown", (event) => this.onDown(event));
		canvas.addEventListener("pointermove", (event) => this.onMove(event));
		canvas.addEventListener("pointerup", (event) => this.onUp(event));
		canvas.addEventListener("pointercancel", () => this.stopDrag());
		canvas.addEventListener("pointerleave", () => {
			this.forgetHover();
			app.tip.hide();
		});
		canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
		canvas.addEventListener("keydown", (event) => this.onKey(event));
	}

	listKeys() {
		const { keys } = this.app;
		keys.add({ key: "h", what: "go to the heatmap", run: () => this.canvas.focus() });
		keys.add({ key: "b", what: "select the baseline B instead, and back", run: () => this.view.toggleTarget() });
		keys.add({ key: "x", what: "clear the selection", run: () => this.view.clear() });
		for (const [key, what] of KEYS)
			keys.add({ key, what, where: "heatmap" });
	}

	cellAt(event) {
		return cellAt(this.view.heat, this.view.place, event.offsetX, event.offsetY);
	}

	/* --- pointer --- */

	onDown(event) {
		if (event.button !== 0)
			return;
		const { heat, place } = this.view;
		this.canvas.setPointerCapture(event.pointerId);
		const cell = this.cellAt(event);
		this.view.drag = { from: cell, to: cell, part: cell.part, x: event.offsetX, y: event.offsetY, moved: false };
		this.shift = null;
		if (cell.part === "rows" && !heat.rowLabels)
			this.shift = { kind: "phase", from: this.app.store.state.phase };
		else if (event.shiftKey)
			this.shift = { kind: "time", from: place.window.from };
	}

	onMove(event) {
		const { view, shift } = this;
		const { drag } = view;
		const cell = this.cellAt(event);
		if (!drag)
			return this.hover(cell, event.clientX, event.clientY);
		const wasMoved = drag.moved;
		drag.moved ||= Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) >= DRAG_PX;
		drag.to = cell;
		if (drag.moved && shift) {
			this.app.tip.hide();
			if (shift.kind === "phase")
				this.setPhase(shift.from + this.rowsOf(event.offsetY - drag.y) * view.heat.rowNs, { replace: wasMoved });
			else
				this.app.brush.move(shift.from - (event.offsetX - drag.x) / view.place.perNs);
			return undefined;
		}
		view.later();
		return this.hover(cell, event.clientX, event.clientY);
	}

	/* How many rows PIXELS are. */
	rowsOf(pixels) {
		const { heat, place } = this.view;
		return Math.round((pixels * heat.nRows) / place.height);
	}

	setPhase(ns, options) {
		const { heat } = this.view;
		const phase = ((ns % heat.columnNs) + heat.columnNs) % heat.columnNs;
		this.app.store.set({ phase }, options);
		this.app.say(phase ? `Columns begin ${phase / 1e6} ms later` : "Columns begin at whole times");
	}

	onUp(event) {
		const { view } = this;
		const { drag } = view;
		if (!drag)
			return;
		const add = event.shiftKey || event.ctrlKey || event.metaKey;
		if (drag.moved && !this.shift && drag.part !== "rows")
			view.select(view.drawnRanges(), add);
		else if (!drag.moved && drag.part === "rows")
			view.selectRow(drag.from.row, add);
		else if (!drag.moved && drag.part === "columns")
			view.selectColumn(drag.from.column, add);
		else if (!drag.moved)
			view.click(drag.from, add);
		this.stopDrag();
	}

	stopDrag() {
		this.view.drag = this.shift = null;
		this.view.later();
	}

	onWheel(event) {
		if (!event.ctrlKey && !event.shiftKey)
			return; /* rows that are higher than the window scroll */
		event.preventDefault();
		const { brush } = this.app;
		if (event.ctrlKey)
			brush.zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(this.view.place, event.offsetX));
		else
			brush.pan(Math.sign(event.deltaY || event.deltaX) * 0.1);
	}

	hover(cell, x, y) {
		const { app } = this;
		const { heat, by, total } = this.view;
		this.forgetHover();
		if (cell.part !== "cells") {
			const text = heat.rowLabels && cell.part === "rows" ? heat.rowLabels[cell.row] : whenText(heat, cell);
			const drag = cell.part === "rows" && !heat.rowLabels ? "; drag: shift where columns begin" : "";
			app.tip.show(x, y, [text, `click: the whole ${cell.part === "rows" ? "row" : "column"}${drag}`]);
			return;
		}
		const { measure, isSigned } = heat.selection;
		const number = cell.column * heat.nRows + cell.row;
		const share = heat.samples[number] && !isSigned && ["samples", "period"].includes(measure)
			? `, ${formatShare(heat.values[number], total)} of all` : "";
		const lines = [valueText(heat, cell) + share, whenText(heat, cell), countText(heat, cell)].filter(Boolean);
		app.tip.show(x, y, lines);
		if (!heat.samples[number])
			return;
		const timer = this.hoverTimer = setTimeout(async () => {
			const { range, filter } = partOfCell(heat, cell, by);
			const frames = await app.models.ask("cell", range, filter);
			if (timer === this.hoverTimer)
				app.tip.show(x, y, [...lines, ...frames]);
		}, HOVER_MS);
	}

	/* What was asked of a cell where the pointer is no more is not shown. */
	forgetHover() {
		clearTimeout(this.hoverTimer);
		this.hoverTimer = 0;
	}

	/* --- keys --- */

	onKey(event) {
		const { view } = this;
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		view.cursor ||= this.firstSeen();
		const phaseBy = view.heat.rowLabels ? 0 : { ",": -1, ".": 1 }[event.key];
		if (Object.hasOwn(MOVES, event.key))
			this.moveCursor(MOVES[event.key], event.shiftKey);
		else if (event.key === "Enter" || event.key === " ")
			this.enter(event.shiftKey);
		else if (event.key === "c")
			view.selectColumn(view.cursor.column, false);
		else if (event.key === "r")
			view.selectRow(view.cursor.row, false);
		else if (phaseBy)
			this.setPhase(this.app.store.state.phase + phaseBy * view.heat.rowNs);
		else if (event.key === "Escape" && (view.pending || view.stretch))
			view.pending = view.stretch = null;
		else
			return;
		event.preventDefault();
		view.later();
	}

	firstSeen() {
		const { heat, place } = this.view;
		const column = Math.floor((place.clipLeft - place.left) / place.width);
		return { column: Math.max(0, Math.min(heat.nColumns - 1, column)), row: 0 };
	}

	moveCursor([columns, rows], stretching) {
		const { view, app } = this;
		const { heat, cursor } = view;
		const clamp = (value, n) => Math.max(0, Math.min(n - 1, value));
		const down = heat.rowLabels ? -rows : rows;
		const from = stretching ? view.stretch?.from ?? cursor : null;
		view.cursor = { column: clamp(cursor.column + columns, heat.nColumns), row: clamp(cursor.row + down, heat.nRows) };
		view.stretch = from ? { from, to: view.cursor } : null;
		this.showCursor();
		app.say(`${whenText(heat, view.cursor)}: ${valueText(heat, view.cursor)}`);
	}

	/* The window follows a cursor that leaves it. */
	showCursor() {
		const { app } = this;
		const { place, cursor } = this.view;
		const x = place.left + cursor.column * place.width;
		const wide = (place.clipRight - place.clipLeft) || 1;
		if (x < place.clipLeft - 1)
			app.brush.pan((x - place.clipLeft) / wide - 0.1);
		else if (x + place.width > place.clipRight + 1)
			app.brush.pan((x + place.width - place.clipRight) / wide + 0.1);
	}

	enter(add) {
		const { view } = this;
		if (view.stretched()) {
			const ranges = view.drawnRanges();
			view.stretch = null;
			view.select(ranges, add);
		} else {
			view.click(view.cursor, add);
		}
	}
}

export function listenHeat(view) {
	return new HeatInput(view);
}
