/* heat_canvas.js - a heatmap on a canvas: what is seen of it, and what is selected in it (heat_input.js) */

import { drawing } from "wick/state/asked.js";
import { inFrame, sharpContext } from "wick/parts/canvas.js";
import { make } from "wick/parts/dom.js";
import { listenHeat } from "wick/heat/heat_input.js";
import { drawAxes, drawCell, drawRanges } from "wick/heat/heat_marks.js";
import { hatchNegative, makeHeatPicture } from "wick/heat/heat_paint.js";
import {
	AXIS, everyOfRow, filterOfRow, fittingColumn, heightIn, placeOf, rangeBetween, rectangleRanges, wholeWindow,
} from "wick/heat/heat_place.js";
import { rangesText, whenText } from "wick/heat/heat_words.js";
import { MAX_RANGES } from "wick/state/query.js";

const LEAST_WIDTH = 200; /* pixels */
const LABELS = 60; /* of the width, beside the cells */

/**
 * HeatCanvas - one heatmap
 * @metric: what it counts instead of what the state says; "": that
 * @height: pixels of the cells; 0: what ELEMENT has room for
 *
 * A kind of it has shown(isNew), after it was drawn, maybe of another model or in another theme; and
 * failed(text), which says why it was not.
 */
export class HeatCanvas {
	constructor(app, element, { metric = "", height = 0 } = {}) {
		Object.assign(this, { app, element, metric, height });
		this.draw = drawing(() => this.#draw());
		this.later = inFrame(() => this.draw());
		this.canvas = make("canvas", { tabIndex: 0, role: "application", "aria-roledescription": "heatmap",
			onblur: this.later, onfocus: this.later });
		this.pending = null; /* the cell of the first click */
		this.cursor = null; /* of the keyboard */
		this.drawn = null; /* {from, to: cells, part} of a rectangle that is not selected yet */
		this.space = make("div", { className: "heat-space" }, this.canvas); /* is as high as all rows, the canvas as what is seen */
		element.append(this.space);
	}

	/* Its model and what is seen of it; false while the query says something that is not there. */
	#prepare() {
		const { app, element } = this;
		const { brush, by, column, phase } = app.store.state;
		const { lengthNs } = app.profile;
		this.width = Math.max(LEAST_WIDTH, element.clientWidth);
		const span = brush ? Math.max(1, Math.min(brush.to, lengthNs) - brush.from) : lengthNs;
		const fitting = fittingColumn(app.profile, span, this.width - LABELS);
		try {
			this.heat = app.models.heat(fitting, phase % (column || fitting), this.metric);
			this.by = by;
		} catch (error) {
			if (!(error instanceof Error))
				throw error; /* the answer is still to come */
			this.failed(error.message);
			return false;
		}
		const room = element.clientHeight - AXIS;
		this.top = this.height ? 0 : element.scrollTop; /* how far it is scrolled down, pixels */
		const window = brush ? { from: brush.from, to: brush.from + span } : wholeWindow(this.heat);
		this.place = placeOf(this.heat, window, this.width, this.height || heightIn(this.heat, room));
		if (!this.height)
			this.place.axisTop = Math.min(this.place.height, this.top + room);
		return true;
	}

	#draw() {
		if (!this.#prepare())
			return;
		const { app, canvas, heat, picture, place, width } = this;
		const isNew = picture?.heat !== heat || picture.theme !== app.colours.theme;
		if (isNew)
			this.picture = { heat, theme: app.colours.theme, ...makeHeatPicture(heat, app.colours.heat()) };
		if (!picture)
			listenHeat(this);
		const full = place.height + AXIS;
		const height = this.height ? full : Math.min(full, this.element.clientHeight);
		this.space.style.height = `${full}px`;
		const context = sharpContext(canvas, width, height);
		context.translate(0, -this.top);
		context.clearRect(0, this.top, width, height);
		this.paint(context, place, width);
		this.shown(isNew);
	}

	/* All that is drawn at a PLACE, whose drawing is WIDTH wide. */
	paint(context, place, width) {
		const { app, heat } = this;
		context.save();
		context.beginPath();
		context.rect(place.gutter, 0, width - place.gutter, place.height);
		context.clip();
		this.picture.draw(context, place);
		hatchNegative(context, heat, place, app.colours.css("ink"));
		this.#drawMarks(context, place);
		context.restore();
		drawAxes(context, heat, place, { ink: app.colours.css("faint"), paper: app.colours.css("paper") });
	}

	#drawMarks(context, place) {
		const { heat, app } = this;
		const { ranges, rangesB } = app.store.state;
		const stroke = app.colours.css("select");
		drawRanges(context, heat, place, ranges, { stroke, dashed: false });
		drawRanges(context, heat, place, rangesB ?? [], { stroke: app.colours.css("faint"), dashed: true });
		if (this.drawn)
			drawRanges(context, heat, place, this.drawnRanges(), { stroke, dashed: true });
		if (this.pending)
			drawCell(context, heat, place, this.pending, stroke, "start");
		if (this.cursor && document.activeElement === this.canvas)
			drawCell(context, heat, place, this.cursor, app.colours.css("ink"));
	}

	/* What dragging, or the cursor with Shift, spans. */
	drawnRanges() {
		const { from, to, part } = this.drawn;
		return part === "cells" ? rectangleRanges(this.heat, from, to) : this.#columns(from.column, to.column);
	}

	#columns(from, to) {
		return rectangleRanges(this.heat, { column: from, row: 0 }, { column: to, row: this.heat.nRows - 1 });
	}

	select(ranges, add = false) {
		const { app } = this;
		const { target } = app.heatView;
		const before = add ? app.store.state[target] ?? [] : [];
		if (before.length + ranges.length > MAX_RANGES) {
			app.say(`No more than ${MAX_RANGES} ranges`);
			return;
		}
		this.pending = null;
		app.store.set({ [target]: [...before, ...ranges] });
		if (!add)
			app.heatView.target = "ranges"; /* a baseline is compared with what is selected next */
		app.say(`Selected ${rangesText(app.store.state[target])}`);
		this.later();
	}

	click(cell, add) {
		if (this.pending)
			return this.select([rangeBetween(this.heat, this.pending, cell)], add);
		this.pending = cell;
		this.app.say(`Range starts at ${whenText(this.heat, cell)}`);
		return this.later();
	}

	selectRow(row, add) {
		const { heat, app, by } = this;
		const every = everyOfRow(heat, row);
		if (heat.rowLabels)
			app.store.setQuery({ filters: [...app.store.state.query.filters, filterOfRow(heat, by, row)] });
		else if (every)
			app.store.setQuery({ every });
		else
			this.select(rectangleRanges(heat, { column: 0, row }, { column: heat.nColumns - 1, row }), add);
	}

	selectColumn(column, add) {
		this.select(this.#columns(column, column), add);
	}
}
