/* view_metrics.js - heatmaps of several metrics over the same time, with one selection for all */

import { formatAmount, unitWord } from "wick/amount.js";
import { textEquivalent } from "wick/aria.js";
import { drawing } from "wick/asked.js";
import { button, make } from "wick/dom.js";
import { drawAxes, drawRanges } from "wick/heat_marks.js";
import { hatchNegative, makeHeatPicture } from "wick/heat_paint.js";
import { AXIS, cellAt, fittingColumn, placeOf, rectangleRanges, wholeWindow } from "wick/heat_place.js";
import { rangesText, valueText, whenText } from "wick/heat_words.js";
import { metricOptions } from "wick/panel_query.js";
import { defaultMetric, periodOf } from "wick/recording.js";
import { StackView } from "wick/stack_view.js";
import { MAX_METRICS } from "wick/store.js";

const MOST_AT_FIRST = 6;
const HEIGHT = 96; /* pixels of the cells */
const LABELS = 60; /* of the width, beside the cells */
const DRAG_PX = 4;

/** What is shown until somebody chooses: what samples stand for, readings as means, counters as changes. */
export function firstMetrics(profile) {
	const own = profile.metrics.map(({ name, kind }) => `${name}:${kind === "gauge" ? "mean" : "delta"}`);
	return [defaultMetric(profile), ...own].slice(0, MOST_AT_FIRST);
}

/* As the menu calls it. */
function nameOf(profile, metric) {
	const { unit } = periodOf(profile);
	return metric === "period" && unit ? unitWord(unit) : metric;
}

/* One metric's heatmap. */
class Small {
	constructor(view, metric) {
		this.view = view;
		this.app = view.app;
		this.metric = metric;
		this.name = nameOf(view.app.profile, metric);
		this.drag = null;
		this.canvas = make("canvas", { tabIndex: 0, role: "img" });
		this.scale = make("span", { className: "faint" });
		const use = button(this.name, () => this.app.store.setQuery({ metric }), { title: `Count ${this.name} everywhere` });
		const remove = button("×", () => view.choose(view.metrics.filter((other) => other !== metric)),
			{ className: "icon", title: "Do not show it", "aria-label": `Do not show ${this.name}` });
		this.element = make("section", { className: "small-heat" },
			make("h2", {}, use, this.scale, remove), this.canvas);
		this.draw = drawing(() => this.drawNow());
		this.listen();
	}

	drawNow() {
		const { app, canvas } = this;
		const { brush, phase, column } = app.store.state;
		const { lengthNs } = app.profile;
		const width = Math.max(200, this.element.clientWidth);
		const span = brush ? Math.max(1, Math.min(brush.to, lengthNs) - brush.from) : lengthNs;
		const fitting = fittingColumn(span, lengthNs, width - LABELS);
		try {
			this.heat = app.models.heat(fitting, phase % (column || fitting), this.metric);
		} catch (error) {
			if (!(error instanceof Error))
				throw error; /* the answer is still to come */
			this.scale.textContent = error.message;
			return;
		}
		const { heat } = this;
		const { unit } = heat.selection;
		const ratio = globalThis.devicePixelRatio || 1;
		const window = brush ? { from: brush.from, to: brush.from + span } : wholeWindow(heat);
		this.place = placeOf(heat, window, width, HEIGHT);
		this.picture = makeHeatPicture(heat, app.colours.heat());
		this.scale.textContent = heat.selection.problem ?? `${formatAmount(heat.scale.min, unit)} to ${formatAmount(heat.scale.max, unit)} a cell`;
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round((HEIGHT + AXIS) * ratio);
		canvas.style.height = `${HEIGHT + AXIS}px`;
		canvas.setAttribute("aria-label", `Heatmap of ${this.name}: ${this.scale.textContent}`);
		this.paint(ratio);
	}

	paint(ratio) {
		const { app, heat, place } = this;
		const context = this.canvas.getContext("2d");
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.save();
		context.beginPath();
		context.rect(place.clipLeft, 0, place.clipRight - place.clipLeft, HEIGHT);
		context.clip();
		this.picture.draw(context, place);
		context.strokeStyle = app.colours.ink;
		hatchNegative(context, heat, place);
		context.restore();
		const stroke = app.colours.css("select");
		drawRanges(context, heat, place, this.drag ? this.drawn() : app.store.state.ranges, { stroke, dashed: Boolean(this.drag) });
		drawAxes(context, heat, place, { ink: app.colours.css("faint"), paper: app.colours.css("paper") });
	}

	drawn() {
		return rectangleRanges(this.heat, this.drag.from, this.drag.to);
	}

	listen() {
		const { canvas, app } = this;
		const at = (event) => cellAt(this.heat, this.place, event.offsetX, event.offsetY);
		canvas.addEventListener("pointerdown", (event) => {
			if (event.button !== 0 || !this.heat)
				return;
			canvas.setPointerCapture(event.pointerId);
			this.drag = { from: at(event), to: at(event), x: event.offsetX, y: event.offsetY };
		});
		canvas.addEventListener("pointermove", (event) => {
			if (!this.heat)
				return;
			const cell = at(event);
			app.tip.show(event.clientX, event.clientY, [`${this.name}: ${valueText(this.heat, cell)}`, whenText(this.heat, cell)]);
			if (this.drag) {
				this.drag.to = cell;
				this.draw();
			}
		});
		canvas.addEventListener("pointerup", (event) => {
			const { drag } = this;
			if (!drag)
				return;
			const ranges = this.drawn();
			this.drag = null;
			if (Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) >= DRAG_PX)
				this.select(ranges);
			else
				this.draw();
		});
		canvas.addEventListener("pointercancel", () => (this.drag = null));
		canvas.addEventListener("pointerleave", () => app.tip.hide());
	}

	select(ranges) {
		this.app.store.set({ ranges });
		this.app.say(`Selected ${rangesText(ranges)}`);
	}

	/* The moment with most of it, for readers of text. */
	row() {
		const { heat, name } = this;
		let most = -1;
		for (let cell = 0; cell < (heat?.values.length ?? 0); cell++)
			if (heat.samples[cell] && (most < 0 || Math.abs(heat.values[cell]) > Math.abs(heat.values[most])))
				most = cell;
		if (most < 0)
			return [name, "no sample", ""];
		const cell = { column: Math.floor(most / heat.nRows), row: most % heat.nRows };
		return [name, valueText(heat, cell), whenText(heat, cell)];
	}
}

class MetricsView extends StackView {
	constructor(element, app) {
		super(element, app);
		this.grid = make("div", { className: "small-heats" });
		this.choice = make("select", { "aria-label": "Show another metric",
			onchange: () => this.choose([...this.metrics, this.choice.value]) });
		this.text = textEquivalent("These heatmaps as a table", () => ({ caption: "Where each metric is largest",
			head: ["metric", "most in a cell", "when"], rows: this.smalls.map((small) => small.row()) }));
		element.replaceChildren(make("div", { className: "bar" }, this.choice, this.text.element), this.grid);
		this.smalls = [];
		this.offs.push(app.on("resize", () => this.draw()));
		this.update();
	}

	get metrics() {
		const { metrics } = this.app.store.state;
		return metrics.length ? metrics : firstMetrics(this.app.profile);
	}

	choose(metrics) {
		this.app.store.set({ metrics: [...new Set(metrics)].slice(0, MAX_METRICS) });
	}

	onState(state, old) {
		if (state.metrics === old.metrics)
			this.draw();
		else
			this.update();
	}

	show() {
		const { metrics } = this;
		this.smalls.forEach((small) => small.draw.stop());
		this.smalls = metrics.map((metric) => new Small(this, metric));
		this.grid.replaceChildren(...this.smalls.map((small) => small.element));
		this.choice.replaceChildren(new Option("Show another metric…", ""), ...metricOptions(this.app.profile));
		this.choice.disabled = metrics.length >= MAX_METRICS;
		this.tellFound(null);
		this.draw();
	}

	draw() {
		for (const small of this.smalls)
			small.draw();
		this.text.refresh();
	}

	unmount() {
		this.smalls.forEach((small) => small.draw.stop());
		super.unmount();
	}
}

export const metricsView = {
	id: "metrics",
	label: "Metrics",
	title: "Several metrics over time",
	mount: (element, app) => new MetricsView(element, app),
};
