/*
 * view_heat.js - the heatmap: what to look at is chosen here
 *
 * A click says where a range starts and the next one where it ends, as in FlameScope; dragging
 * takes a rectangle; the numbers beside and below take whole rows and columns.  Shift adds to what
 * is selected.  The same with keys.
 */

import { textEquivalent } from "wick/aria.js";
import { hatchNegative, makeHeatPicture, paintLegend } from "wick/heat_paint.js";
import { drawAxes, drawCell, drawRanges } from "wick/heat_marks.js";
import { AXIS, cellAt, filterOfRow, fittingColumn, placeOf, wholeWindow } from "wick/heat_place.js";
import { amountText, cellSelection, rangesText, topFrames, valueText, whenText } from "wick/heat_words.js";
import { rangeBetween, rectangle } from "wick/heat.js";
import { MAX_RANGES } from "wick/query.js";
import { formatAmount } from "wick/amount.js";

const DRAG_PX = 4;
const HOVER_MS = 60; /* the functions of a cell are looked up where the pointer rests */

function make(tag, properties = {}, ...children) {
	const element = Object.assign(document.createElement(tag), properties);
	element.append(...children);
	return element;
}

class HeatView {
	constructor(element, app) {
		this.app = app;
		this.element = element;
		app.heatView = this; /* save.js asks it for its drawing */
		this.target = "ranges";
		this.pending = null; /* the cell of the first click */
		this.cursor = null; /* of the keyboard */
		this.drag = null;
		this.frame = 0;
		this.picture = null;
		this.build();
		this.listen();
		this.listKeys();
		this.draw();
	}

	build() {
		this.canvas = make("canvas", { tabIndex: 0 });
		this.canvas.role = "application";
		this.canvas.setAttribute("aria-roledescription", "heatmap");
		this.said = make("span", { id: "heat-selection" });
		this.legend = make("canvas", {});
		this.legendFrom = make("span");
		this.legendTo = make("span");
		this.targetButton = make("button", { type: "button", textContent: "Select baseline B" });
		this.targetButton.setAttribute("aria-pressed", "false");
		this.clearButton = make("button", { type: "button", textContent: "Clear selection" });
		this.text = textEquivalent("The heatmap as text", () => this.asText());
		this.element.append(
			make("div", { className: "heat-bar" }, this.said,
				make("span", { className: "legend" }, this.legendFrom, this.legend, this.legendTo),
				make("span", { className: "legend", textContent: "grey: no sample" }),
				this.targetButton, this.clearButton),
			make("div", { className: "heat-scroll" }, this.canvas), this.text.element);
		this.legend.setAttribute("aria-hidden", "true");
	}

	listen() {
		const { app, canvas } = this;
		const later = () => this.later();
		app.store.subscribe(later);
		for (const event of ["theme", "resize", "whole"])
			app.on(event, later);
		app.on("data", () => {
			this.pending = null;
			later();
		});
		canvas.addEventListener("pointerdown", (event) => this.onDown(event));
		canvas.addEventListener("pointermove", (event) => this.onMove(event));
		canvas.addEventListener("pointerup", (event) => this.onUp(event));
		canvas.addEventListener("pointercancel", () => this.stopDrag());
		canvas.addEventListener("pointerleave", () => {
			clearTimeout(this.hoverTimer);
			app.tip.hide();
		});
		canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
		canvas.addEventListener("keydown", (event) => this.onKey(event));
		canvas.addEventListener("blur", () => later());
		canvas.addEventListener("focus", () => later());
		this.targetButton.addEventListener("click", () => this.toggleTarget());
		this.clearButton.addEventListener("click", () => this.clear());
	}

	listKeys() {
		const { keys } = this.app;
		const where = "heatmap";
		keys.add({ key: "h", what: "go to the heatmap", run: () => this.canvas.focus() });
		keys.add({ key: "b", what: "select the baseline B instead, and back", run: () => this.toggleTarget() });
		keys.add({ key: "x", what: "clear the selection", run: () => this.clear() });
		keys.add({ key: "← → ↑ ↓", what: "move the cursor; with Shift: a rectangle", where });
		keys.add({ key: "Enter", what: "start and end of a range; end of a rectangle", where });
		keys.add({ key: "Shift+Enter", what: "the same, beside what is selected", where });
		keys.add({ key: "c", what: "select the cursor's column", where });
		keys.add({ key: "r", what: "select the cursor's row", where });
		keys.add({ key: "Escape", what: "forget the start of a range", where });
		keys.add({ key: "Ctrl+wheel", what: "zoom; Shift+wheel: move", where });
	}

	later() {
		this.frame ||= requestAnimationFrame(() => {
			this.frame = 0;
			this.draw();
		});
	}

	/* The model and where it is; false while the query says something that is not there. */
	prepare() {
		const { app } = this;
		this.width = Math.max(200, Math.round(this.element.clientWidth));
		const { brush, by } = app.store.state;
		const span = brush ? Math.min(brush.to, app.profile.lengthNs) - brush.from : app.profile.lengthNs;
		try {
			this.heat = app.models.heat(fittingColumn(Math.max(span, 1), this.width - 60));
			this.by = by;
		} catch (error) {
			this.said.textContent = error.message;
			return false;
		}
		const window = brush ? { from: brush.from, to: brush.from + Math.max(1, span) } : wholeWindow(this.heat);
		this.place = placeOf(this.heat, window, this.width);
		const { theme } = app.colours;
		if (this.picture?.heat !== this.heat || this.theme !== theme) {
			this.picture = makeHeatPicture(this.heat, app.colours.heat());
			this.theme = theme;
			this.drawLegend();
			this.text.refresh();
		}
		return true;
	}

	draw() {
		if (!this.prepare())
			return;
		const { canvas, place } = this;
		const ratio = globalThis.devicePixelRatio || 1;
		const height = place.height + AXIS;
		if (canvas.width !== Math.round(this.width * ratio) || canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(this.width * ratio);
			canvas.height = Math.round(height * ratio);
			canvas.style.height = `${height}px`;
		}
		const context = canvas.getContext("2d");
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, this.width, height);
		this.paint(context, place, this.width);
		this.describe();
	}

	/* All that is drawn at a PLACE, whose drawing is WIDTH wide. */
	paint(context, place, width) {
		const { app, heat } = this;
		context.save();
		context.beginPath();
		context.rect(place.clipLeft, 0, width - place.clipLeft, place.height);
		context.clip();
		this.picture.draw(context, place);
		context.strokeStyle = app.colours.ink;
		context.lineWidth = 1;
		hatchNegative(context, heat, place);
		context.restore();
		this.drawMarks(context, place);
		drawAxes(context, heat, place, app.colours.css("faint"));
	}

	drawMarks(context, place) {
		const { heat, app } = this;
		const { ranges, rangesB } = app.store.state;
		const stroke = app.colours.css("select");
		drawRanges(context, heat, place, ranges, { stroke, dashed: false });
		drawRanges(context, heat, place, rangesB ?? [], { stroke: app.colours.css("faint"), dashed: true });
		if (this.drag?.moved || this.stretched())
			drawRanges(context, heat, place, [this.rectangleRange()], { stroke, dashed: true });
		if (this.pending)
			drawCell(context, heat, place, this.pending, stroke, "start");
		if (this.cursor && document.activeElement === this.canvas)
			drawCell(context, heat, place, this.cursor, app.colours.ink);
	}

	drawLegend() {
		const { heat } = this;
		paintLegend(this.legend, heat, this.picture.colours);
		const end = (value, isBeyond) => `${formatAmount(value, heat.selection.unit)}${isBeyond ? " or more" : ""}`;
		this.legendFrom.textContent = end(Math.min(0, heat.scale.min), heat.min < Math.min(0, heat.scale.min));
		this.legendTo.textContent = `${end(Math.max(0, heat.scale.max), heat.max > Math.max(0, heat.scale.max))} a cell`;
	}

	/* How much of the recording is selected; counted when that is another. */
	amount() {
		const { models } = this.app;
		const selection = models.selection();
		if (this.amountOf !== selection) {
			this.amountOf = selection;
			this.amountSaid = amountText(selection, models.whole());
		}
		return `: ${this.amountSaid}`;
	}

	describe() {
		const { ranges, rangesB } = this.app.store.state;
		const amount = ranges.length ? this.amount() : "";
		const b = rangesB ? `; baseline B: ${rangesText(rangesB)}` : "";
		const start = this.pending ? "; now click where the range ends" : "";
		this.said.textContent = `Selected: ${rangesText(ranges)}${amount}${b}${start}`;
		this.clearButton.disabled = ranges.length === 0 && !rangesB && !this.pending;
		this.targetButton.setAttribute("aria-pressed", String(this.target === "rangesB"));
		this.canvas.setAttribute("aria-label", `Heatmap of ${this.heat.nColumns} columns of ${this.heat.columnNs / 1e9} s and ${this.heat.nRows} rows. ${this.said.textContent}`);
	}

	/* --- selecting --- */

	toggleTarget() {
		this.target = this.target === "ranges" ? "rangesB" : "ranges";
		this.app.say(this.target === "rangesB" ? "Selecting baseline B" : "Selecting");
		this.later();
	}

	clear() {
		this.pending = null;
		this.app.store.set({ ranges: [], rangesB: null });
		this.app.say("Selection cleared");
		this.later();
	}

	select(range, add) {
		const before = add ? this.app.store.state[this.target] ?? [] : [];
		if (before.length >= MAX_RANGES) {
			this.app.say(`No more than ${MAX_RANGES} ranges`);
			return;
		}
		this.pending = null;
		this.app.store.set({ [this.target]: [...before, range] });
		this.app.say(`Selected ${rangesText(this.app.store.state[this.target])}`);
		this.later();
	}

	click(cell, add) {
		if (!this.pending) {
			this.pending = cell;
			this.app.say(`Range starts at ${whenText(this.heat, cell)}`);
			this.later();
			return;
		}
		this.select(rangeBetween(this.heat, this.pending, cell), add);
	}

	selectRow(row, add) {
		const { heat, app, by } = this;
		if (heat.rowLabels) {
			if (row < heat.rowLabels.length)
				app.store.setQuery({ filters: [...app.store.state.query.filters, filterOfRow(heat, by, row)] });
			return;
		}
		this.select(rectangle(heat, { column: 0, row }, { column: heat.nColumns - 1, row }), add);
	}

	selectColumn(column, add) {
		const last = this.heat.nRows - 1;
		this.select(rectangle(this.heat, { column, row: 0 }, { column, row: last }), add);
	}

	/* What dragging, or the cursor with Shift, spans. */
	rectangleRange() {
		const { heat } = this;
		const { from, to, part } = this.drag?.moved ? this.drag : { ...this.stretch, part: "cells" };
		if (part === "cells")
			return rectangle(heat, from, to);
		const last = { column: heat.nColumns - 1, row: heat.nRows - 1 };
		return part === "columns"
			? rectangle(heat, { ...from, row: 0 }, { ...to, row: last.row })
			: rectangle(heat, { ...from, column: 0 }, { ...to, column: last.column });
	}

	stretched() {
		return this.stretch && (this.stretch.from.column !== this.stretch.to.column ||
			this.stretch.from.row !== this.stretch.to.row);
	}

	/* --- pointer --- */

	onDown(event) {
		if (event.button !== 0)
			return;
		this.canvas.setPointerCapture(event.pointerId);
		const cell = cellAt(this.heat, this.place, event.offsetX, event.offsetY);
		this.drag = { from: cell, to: cell, part: cell.part, x: event.offsetX, y: event.offsetY, moved: false };
	}

	onMove(event) {
		const cell = cellAt(this.heat, this.place, event.offsetX, event.offsetY);
		if (this.drag) {
			const far = Math.hypot(event.offsetX - this.drag.x, event.offsetY - this.drag.y);
			this.drag.moved ||= far >= DRAG_PX;
			this.drag.to = cell;
			this.later();
		}
		this.hover(cell, event.clientX, event.clientY);
	}

	onUp(event) {
		const { drag } = this;
		if (!drag)
			return;
		const add = event.shiftKey;
		if (drag.moved && !(drag.part === "rows" && this.heat.rowLabels))
			this.select(this.rectangleRange(), add);
		else if (drag.part === "rows")
			this.selectRow(drag.from.row, add);
		else if (drag.part === "columns")
			this.selectColumn(drag.from.column, add);
		else
			this.click(drag.from, add);
		this.stopDrag();
	}

	stopDrag() {
		this.drag = null;
		this.later();
	}

	onWheel(event) {
		if (!event.ctrlKey && !event.shiftKey)
			return; /* the page scrolls */
		event.preventDefault();
		const { brush } = this.app;
		const at = this.place.window.from + (event.offsetX - this.place.gutter) / this.place.perNs;
		if (event.ctrlKey)
			brush.zoom(event.deltaY > 0 ? 1.25 : 0.8, at);
		else
			brush.pan(Math.sign(event.deltaY || event.deltaX) * 0.1);
	}

	hover(cell, x, y) {
		const { app, heat } = this;
		clearTimeout(this.hoverTimer);
		if (cell.part !== "cells") {
			const text = heat.rowLabels && cell.part === "rows" ? heat.rowLabels[cell.row] : whenText(heat, cell);
			app.tip.show(x, y, [text, `click: the whole ${cell.part === "rows" ? "row" : "column"}`]);
			return;
		}
		const lines = [valueText(heat, cell), whenText(heat, cell)];
		app.tip.show(x, y, lines);
		this.hoverTimer = setTimeout(() => {
			if (!heat.samples[cell.column * heat.nRows + cell.row])
				return;
			const selection = cellSelection(heat, cell, this.by);
			app.tip.show(x, y, [...lines, ...topFrames(selection)]);
			selection.release();
		}, HOVER_MS);
	}

	/* --- keys --- */

	onKey(event) {
		const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1],
			PageUp: [-10, 0], PageDown: [10, 0], Home: [-Infinity, 0], End: [Infinity, 0] };
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		this.cursor ||= this.firstSeen();
		if (Object.hasOwn(moves, event.key))
			this.moveCursor(moves[event.key], event.shiftKey);
		else if (event.key === "Enter" || event.key === " ")
			this.enter(event.shiftKey);
		else if (event.key === "c")
			this.selectColumn(this.cursor.column, false);
		else if (event.key === "r")
			this.selectRow(this.cursor.row, false);
		else if (event.key === "Escape" && (this.pending || this.stretch))
			this.pending = this.stretch = null;
		else
			return;
		event.preventDefault();
		this.later();
	}

	firstSeen() {
		const { heat, place } = this;
		const column = Math.floor((place.clipLeft - place.left) / place.width);
		return { column: Math.max(0, Math.min(heat.nColumns - 1, column)), row: 0 };
	}

	moveCursor([columns, rows], stretching) {
		const { heat, app } = this;
		const clamp = (value, n) => Math.max(0, Math.min(n - 1, value));
		const down = heat.rowLabels ? -rows : rows;
		const from = stretching ? this.stretch?.from ?? this.cursor : null;
		this.cursor = { column: clamp(this.cursor.column + columns, heat.nColumns),
			row: clamp(this.cursor.row + down, heat.nRows) };
		this.stretch = from ? { from, to: this.cursor } : null;
		this.showCursor();
		app.say(`${whenText(heat, this.cursor)}: ${valueText(heat, this.cursor)}`);
	}

	/* The window follows a cursor that leaves it. */
	showCursor() {
		const { place, app } = this;
		const x = place.left + this.cursor.column * place.width;
		const wide = (place.clipRight - place.clipLeft) || 1;
		if (x < place.clipLeft - 1)
			app.brush.pan((x - place.clipLeft) / wide - 0.1);
		else if (x + place.width > place.clipRight + 1)
			app.brush.pan((x + place.width - place.clipRight) / wide + 0.1);
	}

	enter(add) {
		if (this.stretched()) {
			const range = this.rectangleRange();
			this.stretch = null;
			this.select(range, add);
		} else {
			this.click(this.cursor, add);
		}
	}

	/* --- text --- */

	asText() {
		const { heat } = this;
		const rows = [];
		for (let column = 0; column < heat.nColumns; column++) {
			let value = 0;
			let n = 0;
			let best = -1;
			for (let row = 0; row < heat.nRows; row++) {
				const cell = column * heat.nRows + row;
				value += heat.values[cell];
				n += heat.samples[cell];
				if (heat.samples[cell] && (best < 0 || Math.abs(heat.values[cell]) > Math.abs(heat.values[column * heat.nRows + best])))
					best = row;
			}
			const at = (column * heat.columnNs + heat.originNs) / 1e9;
			rows.push([`${at.toFixed(3)} s`, n ? formatAmount(value, heat.selection.unit) : "no sample", String(n),
				best < 0 ? "" : `${whenText(heat, { column, row: best })}: ${valueText(heat, { column, row: best })}`]);
		}
		return { caption: "Each column of the heatmap", head: ["from", "sum", "samples", "most"], rows };
	}
}

export function mountHeat(element, app) {
	return new HeatView(element, app);
}
