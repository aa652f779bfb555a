/* view_metrics.js - heatmaps of several metrics over the same time, with one selection for all */

import { formatAmount, unitWord } from "wick/parts/amount.js";
import { textEquivalent } from "wick/parts/aria.js";
import { button, make } from "wick/parts/dom.js";
import { HeatCanvas } from "wick/heat/heat_canvas.js";
import { mostIn, valueText, whenText } from "wick/heat/heat_words.js";
import { metricOptions } from "wick/panels/panel_query.js";
import { defaultMetric, periodOf } from "wick/state/recording.js";
import { StackView, viewOf } from "wick/stacks/stack_view.js";
import { MAX_METRICS } from "wick/state/store.js";

const MOST_AT_FIRST = 6;
const HEIGHT = 96; /* pixels of the cells */

/* What is shown until somebody chooses: what samples stand for, readings as means, counters as changes. */
function firstMetrics(profile) {
	const own = profile.metrics.map(({ name, kind }) => `${name}:${kind === "gauge" ? "mean" : "delta"}`);
	return [defaultMetric(profile), ...own].slice(0, MOST_AT_FIRST);
}

/* As the menu calls it. */
function nameOf(profile, metric) {
	const { unit } = periodOf(profile);
	return metric === "period" && unit ? unitWord(unit) : metric;
}

/* One metric's heatmap. */
class Small extends HeatCanvas {
	constructor(view, metric) {
		super(view.app, make("section", { className: "small-heat" }), { metric, height: HEIGHT });
		this.name = nameOf(this.app.profile, metric);
		this.scale = make("span", { className: "faint" });
		this.element.prepend(make("h2", {},
			button(this.name, () => this.app.store.setQuery({ metric }), { title: `Count ${this.name} everywhere` }), this.scale,
			button("×", () => view.choose(view.metrics.filter((other) => other !== metric)),
				{ className: "icon", title: "Do not show it", "aria-label": `Do not show ${this.name}` })));
	}

	failed(text) {
		this.scale.textContent = text;
		this.canvas.setAttribute("aria-label", `Heatmap of ${this.name}: ${text}`);
	}

	shown() {
		const { scale, selection } = this.heat;
		const [least, most] = [scale.min, scale.max].map((value) => formatAmount(value, selection.unit));
		this.failed(selection.problem ?? `${least} to ${most} a cell`);
	}

	/* The moment with most of it, for readers of text. */
	row() {
		const { heat, name } = this;
		const cell = heat && mostIn(heat, 0, heat.nColumns);
		return cell ? [name, valueText(heat, cell), whenText(heat, cell)] : [name, "no sample", ""];
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

export const metricsView = viewOf(MetricsView, "metrics", "Metrics", "Several metrics over time");
