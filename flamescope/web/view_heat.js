/* view_heat.js - the heatmap: what to look at is chosen here, by what heat_input.js hears */

import { drawing } from "wick/asked.js";
import { button, make } from "wick/dom.js";
import { textEquivalent } from "wick/aria.js";
import { hatchNegative, makeHeatPicture, paintLegend } from "wick/heat_paint.js";
import { drawAxes, drawCell, drawRanges } from "wick/heat_marks.js";
import { listenHeat } from "wick/heat_input.js";
import { AXIS, everyOfRow, filterOfRow, fittingColumn, heightIn, placeOf, rangeBetween, rectangle, rectangleRanges, wholeWindow } from "wick/heat_place.js";
import { amountText, cellNs, rangesText, valueText, whenText } from "wick/heat_words.js";
import { mountHeatMenu } from "wick/panel_query.js";
import { MAX_RANGES } from "wick/query.js";
import { formatAmount, formatRate, formatStep } from "wick/amount.js";

const LEAST_WIDTH = 200; /* pixels */
const LABELS = 60; /* of the width, beside the cells */

class HeatView {
	constructor(bar, element, app) {
		this.app = app;
		this.bar = bar;
		this.element = element;
		app.heatView = this; /* save.js asks it for its drawing */
		this.target = "ranges";
		this.pending = null; /* the cell of the first click */
		this.cursor = null; /* of the keyboard */
		this.drag = null; /* {from, to: cells, part, moved} of a rectangle that is being drawn */
		this.stretch = null; /* {from, to} of the keyboard's */
		this.frame = 0;
		this.picture = null;
		this.draw = drawing(() => this.drawNow());
		this.build();
		this.listen();
		this.listens = false;
		this.draw();
	}

	build() {
		this.canvas = make("canvas", { tabIndex: 0, role: "application", "aria-roledescription": "heatmap" });
		this.said = make("span", { id: "heat-selection", className: "says" });
		this.legend = make("canvas", { "aria-hidden": "true" });
		this.legendFrom = make("span");
		this.legendTo = make("span");
		this.legendNone = make("span", { className: "none" });
		this.targetButton = button("Baseline B", () => this.toggleTarget(),
			{ title: "Select the baseline of a difference instead (b)", "aria-pressed": "false" });
		this.clearButton = button("Clear", () => this.clear(),
			{ title: "Clear the selection (x)", "aria-label": "Clear selection" });
		const menu = this.menu = button("", null, { id: "show-heat-menu", className: "opens", title: "Rows and columns" });
		const box = make("div", { id: "heat-menu", className: "box", role: "group",
			"aria-label": "Rows and columns of the heatmap" });
		mountHeatMenu(menu, box, this.app);
		this.text = textEquivalent("The heatmap as text", () => this.asText());
		this.bar.append(this.said, this.clearButton, this.targetButton,
			make("span", { className: "legend end" }, this.legendFrom, this.legend, this.legendTo,
				this.legendNone, make("span", { textContent: "no sample" })),
			menu, box, this.text.element);
		this.element.append(this.canvas);
	}

	listen() {
		const { app, canvas } = this;
		const later = () => this.later();
		app.store.subscribe(later);
		for (const event of ["theme", "resize"])
			app.on(event, later);
		app.on("data", () => {
			this.pending = null;
			later();
		});
		this.element.addEventListener("scroll", later, { passive: true });
		canvas.addEventListener("blur", later);
		canvas.addEventListener("focus", later);
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
		const { brush, by, column, phase } = app.store.state;
		const length = app.profile.lengthNs;
		this.width = Math.max(LEAST_WIDTH, this.element.clientWidth);
		const span = brush ? Math.max(1, Math.min(brush.to, length) - brush.from) : length;
		try {
			const fitting = fittingColumn(span, length, this.width - LABELS);
			this.heat = app.models.heat(fitting, phase % (column || fitting));
			this.by = by;
		} catch (error) {
			if (!(error instanceof Error))
				throw error; /* the answer is still to come */
			this.said.textContent = error.message;
			return false;
		}
		const window = brush ? { from: brush.from, to: brush.from + span } : wholeWindow(this.heat);
		this.place = placeOf(this.heat, window, this.width, heightIn(this.heat, this.element.clientHeight - AXIS));
		this.place.axisTop = Math.min(this.place.height, this.element.scrollTop + this.element.clientHeight - AXIS);
		const { theme } = app.colours;
		if (this.picture?.heat !== this.heat || this.theme !== theme) {
			this.picture = makeHeatPicture(this.heat, app.colours.heat());
			this.theme = theme;
			this.total = this.heat.values.reduce((sum, value) => sum + value, 0);
			this.drawLegend();
			this.text.refresh();
		}
		return true;
	}

	drawNow() {
		if (!this.prepare())
			return;
		if (!this.listens)
			listenHeat(this);
		this.listens = true;
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
		drawAxes(context, heat, place, { ink: app.colours.css("faint"), paper: app.colours.css("paper") });
	}

	drawMarks(context, place) {
		const { heat, app } = this;
		const { ranges, rangesB } = app.store.state;
		const stroke = app.colours.css("select");
		drawRanges(context, heat, place, ranges, { stroke, dashed: false });
		drawRanges(context, heat, place, rangesB ?? [], { stroke: app.colours.css("faint"), dashed: true });
		if (this.drag?.moved || this.stretched())
			drawRanges(context, heat, place, this.drawnRanges(), { stroke, dashed: true });
		if (this.pending)
			drawCell(context, heat, place, this.pending, stroke, "start");
		if (this.cursor && document.activeElement === this.canvas)
			drawCell(context, heat, place, this.cursor, app.colours.ink);
	}

	drawLegend() {
		const { heat } = this;
		paintLegend(this.legend, heat, this.picture.colours);
		this.legendNone.style.backgroundColor = this.app.colours.noSample;
		const { unit, measure } = heat.selection;
		const end = (value, isBeyond) => `${formatAmount(value, unit)}${isBeyond ? " or more" : ""}`;
		this.legendFrom.textContent = end(Math.min(0, heat.scale.min), heat.min < Math.min(0, heat.scale.min));
		const rate = measure === "period" ? formatRate(heat.scale.max, unit, cellNs(heat)) : "";
		this.legendTo.textContent = `${end(Math.max(0, heat.scale.max), heat.max > Math.max(0, heat.scale.max))} a cell${rate && `, ${rate}`}`;
	}

	describe() {
		const { models, store } = this.app;
		const { ranges, rangesB } = store.state;
		const amount = ranges.length ? `: ${amountText(models.selection(), models.allTime())}` : "";
		const b = rangesB ? `; baseline B: ${rangesText(rangesB)}` : "";
		const start = this.pending ? "; now click where the range ends" : "";
		this.said.textContent = this.said.title = `Selected: ${rangesText(ranges)}${amount}${b}${start}`;
		const { columnNs, rowNs, rowLabels } = this.heat;
		this.menu.textContent = `Cells: ${rowLabels ? this.by : formatStep(rowNs)} by ${formatStep(columnNs)}`;
		this.clearButton.disabled = ranges.length === 0 && !rangesB && !this.pending;
		this.targetButton.setAttribute("aria-pressed", String(this.target === "rangesB"));
		this.canvas.setAttribute("aria-label", `Heatmap of ${this.heat.nColumns} columns of ${columnNs / 1e9} s and ${this.heat.nRows} rows. ${this.said.textContent}`);
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

	select(ranges, add) {
		const before = add ? this.app.store.state[this.target] ?? [] : [];
		if (before.length + ranges.length > MAX_RANGES) {
			this.app.say(`No more than ${MAX_RANGES} ranges`);
			return;
		}
		this.pending = null;
		this.app.store.set({ [this.target]: [...before, ...ranges] });
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
		this.select([rangeBetween(this.heat, this.pending, cell)], add);
	}

	selectRow(row, add) {
		const { heat, app, by } = this;
		if (heat.rowLabels) {
			if (row < heat.rowLabels.length)
				app.store.setQuery({ filters: [...app.store.state.query.filters, filterOfRow(heat, by, row)] });
			return;
		}
		const every = everyOfRow(heat, row);
		if (every)
			app.store.setQuery({ every });
		else
			this.select(rectangleRanges(heat, { column: 0, row }, { column: heat.nColumns - 1, row }), add);
	}

	selectColumn(column, add) {
		const last = this.heat.nRows - 1;
		this.select([rectangle(this.heat, { column, row: 0 }, { column, row: last })], add);
	}

	/* What dragging, or the cursor with Shift, spans. */
	drawnRanges() {
		const { heat } = this;
		const { from, to, part } = this.drag?.moved ? this.drag : { ...this.stretch, part: "cells" };
		if (part === "cells")
			return rectangleRanges(heat, from, to);
		return [rectangle(heat, { ...from, row: 0 }, { ...to, row: heat.nRows - 1 })];
	}

	stretched() {
		return this.stretch && (this.stretch.from.column !== this.stretch.to.column ||
			this.stretch.from.row !== this.stretch.to.row);
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

export function mountHeat(bar, element, app) {
	return new HeatView(bar, element, app);
}
