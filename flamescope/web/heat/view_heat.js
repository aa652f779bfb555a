/* view_heat.js - the heatmap that says what is looked at, and the bar above it */

import { formatAmount, formatRate, formatStep, formatTime } from "wick/parts/amount.js";
import { textEquivalent } from "wick/parts/aria.js";
import { button, make } from "wick/parts/dom.js";
import { HeatCanvas } from "wick/heat/heat_canvas.js";
import { heatKeys } from "wick/heat/heat_input.js";
import { paintLegend } from "wick/heat/heat_paint.js";
import { amountText, cellNs, mostIn, rangesText, valueText, whenText } from "wick/heat/heat_words.js";
import { mountHeatMenu } from "wick/panels/panel_query.js";

/* What of the state it shows. */
const SHOWN = ["query", "by", "cell", "rows", "column", "phase", "brush", "ranges", "rangesB", "transforms"];

class HeatView extends HeatCanvas {
	constructor(bar, element, app) {
		super(app, element);
		app.heatView = this; /* save.js asks it for its drawing */
		this.target = "ranges"; /* or "rangesB": what is selected by pointer and keys */
		this.#build(bar);
		this.#listen();
		this.draw();
	}

	#build(bar) {
		this.said = make("span", { id: "heat-selection", className: "says" });
		this.legend = make("canvas", { "aria-hidden": "true" });
		this.legendFrom = make("span");
		this.legendTo = make("span");
		this.legendRate = make("span", { className: "rate" });
		this.legendNone = make("span", { className: "none" });
		this.wholeButton = button("Whole recording", () => this.app.store.set({ brush: null }),
			{ id: "whole-recording", title: "Show all of it again (0)" });
		this.targetButton = button("Baseline", () => this.#toggleTarget(),
			{ title: "Select the baseline of a difference instead (b)", "aria-pressed": "false" });
		this.clearButton = button("Clear", () => this.#clear(),
			{ title: "Clear the selection (x)", "aria-label": "Clear selection" });
		this.menu = button("", null, { id: "show-heat-menu", className: "opens", title: "Rows and columns" });
		const box = make("div", { id: "heat-menu", className: "box", role: "group",
			"aria-label": "Rows and columns of the heatmap" });
		mountHeatMenu(this.menu, box, this.app);
		this.text = textEquivalent("The heatmap as text", () => this.#asText());
		bar.append(this.said, this.clearButton, this.targetButton, this.wholeButton,
			make("span", { className: "legend end" }, this.legendFrom, this.legend, this.legendTo, this.legendRate,
				this.legendNone, make("span", { textContent: "no sample" })),
			this.menu, box, this.text.element);
	}

	#listen() {
		const { app } = this;
		const later = () => this.later();
		app.store.subscribe((state, old) => SHOWN.some((key) => state[key] !== old[key]) && later());
		for (const event of ["theme", "resize"])
			app.on(event, later);
		app.on("data", () => {
			this.pending = null;
			later();
		});
		this.element.addEventListener("scroll", later, { passive: true });
		app.keys.add({ key: "h", what: "go to the heatmap", run: () => this.canvas.focus() });
		app.keys.add({ key: "b", what: "select the baseline instead, and back", run: () => this.#toggleTarget() });
		app.keys.add({ key: "x", what: "clear the selection", run: () => this.#clear() });
		for (const [key, what] of heatKeys)
			app.keys.add({ key, what, where: "heatmap" });
	}

	failed(text) {
		this.said.textContent = text;
	}

	shown(isNew) {
		if (isNew) {
			this.#drawLegend();
			this.text.refresh();
		}
		const { models, store } = this.app;
		const { ranges, rangesB } = store.state;
		const amount = ranges.length ? `: ${amountText(models.selection(), models.allTime())}` : "";
		const b = rangesB ? `; baseline: ${rangesText(rangesB)}` : "";
		const start = this.pending ? "; now click where the range ends" : this.target === "rangesB" ? "; now select the baseline"
			: rangesB && ranges.length === 0 ? "; now select another range: Diff compares it" : "";
		this.said.textContent = this.said.title = `Selected: ${rangesText(ranges)}${amount}${b}${start}`;
		const { columnNs, nColumns, nRows, rowNs, rowLabels } = this.heat;
		this.menu.textContent = `Cells: ${rowLabels ? this.by : formatStep(rowNs)} by ${formatStep(columnNs)}`;
		this.wholeButton.hidden = !store.state.brush;
		this.clearButton.disabled = ranges.length === 0 && !rangesB && !this.pending;
		this.targetButton.setAttribute("aria-pressed", String(this.target === "rangesB"));
		this.canvas.setAttribute("aria-label",
			`Heatmap of ${nColumns} columns of ${columnNs / 1e9} s and ${nRows} rows. ${this.said.textContent}`);
	}

	#drawLegend() {
		const { heat } = this;
		const { unit, measure } = heat.selection;
		const [least, most] = [Math.min(0, heat.scale.min), Math.max(0, heat.scale.max)];
		const end = (value, isBeyond) => `${formatAmount(value, unit)}${isBeyond ? " or more" : ""}`;
		const rate = measure === "period" ? formatRate(heat.scale.max, unit, cellNs(heat)) : "";
		paintLegend(this.legend, heat, this.picture.colours);
		this.legendNone.style.backgroundColor = this.app.colours.noSample;
		this.legendFrom.textContent = end(least, heat.min < least);
		this.legendTo.textContent = end(most, heat.max > most);
		this.legendRate.textContent = ` a cell${rate && `, ${rate}`}`;
	}

	#toggleTarget() {
		this.target = this.target === "ranges" ? "rangesB" : "ranges";
		this.app.say(this.target === "rangesB" ? "Selecting the baseline" : "Selecting");
		this.later();
	}

	#clear() {
		this.pending = null;
		this.app.store.set({ ranges: [], rangesB: null });
		this.app.say("Selection cleared");
		this.later();
	}

	#asText() {
		const { heat } = this;
		const { columnNs, nRows, originNs, samples, selection, values } = heat;
		const sum = (cells, column) => cells.subarray(column * nRows, (column + 1) * nRows).reduce((all, one) => all + one, 0);
		const rows = Array.from({ length: heat.nColumns }, (_, column) => {
			const most = mostIn(heat, column, column + 1);
			return [formatTime(column * columnNs + originNs),
				most ? formatAmount(sum(values, column), selection.unit) : "no sample", String(sum(samples, column)),
				most ? `${whenText(heat, most)}: ${valueText(heat, most)}` : ""];
		});
		return { caption: "Each column of the heatmap", head: ["from", "sum", "samples", "most"], rows };
	}
}

export function mountHeat(bar, element, app) {
	return new HeatView(bar, element, app);
}
