/* view_heat.js - the heatmap that says what is looked at, and the bar above it */

import { formatAmount, formatRate, formatStep, formatTime } from "wick/parts/amount.js";
import { textEquivalent } from "wick/parts/aria.js";
import { HeatCanvas } from "wick/heat/heat_canvas.js";
import { heatKeys } from "wick/heat/heat_input.js";
import { mostOf } from "wick/heat/heat_paint.js";
import { amountText, cellNs, mostIn, rangesText, valueText, whenText } from "wick/heat/heat_words.js";
import { mountHeatMenu } from "wick/panels/panel_query.js";

const at = (id) => document.getElementById(id);

const LEGEND_STEPS = 33;

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
		const { app } = this;
		mountHeatMenu(at("show-heat-menu"), at("heat-menu"), app);
		this.text = textEquivalent("The heatmap as text", () => this.#asText());
		bar.append(this.text.element);
		at("whole-recording").onclick = () => app.store.set({ brush: null });
		for (const [id, key, what, run] of [["target", "b", "select the baseline instead, and back", () => this.#toggleTarget()],
			["clear", "x", "clear the selection", () => this.#clear()]]) {
			at(id).onclick = run;
			app.keys.add({ key, what, run });
		}
	}

	#listen() {
		const { app } = this;
		const { later } = this;
		app.store.subscribe(later);
		for (const event of ["theme", "resize"])
			app.on(event, later);
		app.on("data", () => {
			this.pending = null;
			later();
		});
		this.element.addEventListener("scroll", later, { passive: true });
		app.keys.add({ key: "h", what: "go to the heatmap", run: () => this.canvas.focus() });
		for (const [key, what] of heatKeys)
			app.keys.add({ key, what, where: "heatmap" });
	}

	failed(text) {
		at("heat-selection").textContent = text;
	}

	shown(isNew) {
		if (isNew) {
			this.#drawLegend();
			this.text.refresh();
			this.app.emit("heat");
		}
		const { models, store } = this.app;
		const { ranges, rangesB } = store.state;
		const amount = ranges.length ? `: ${amountText(models.selection(), models.allTime())}` : "";
		const b = rangesB ? `; baseline: ${rangesText(rangesB)}` : "";
		const start = this.pending ? "; now click where the range ends" : this.target === "rangesB" ? "; now select the baseline"
			: rangesB && ranges.length === 0 ? "; now select another range: Diff compares it" : "";
		const said = at("heat-selection");
		said.textContent = said.title = `Selected: ${rangesText(ranges)}${amount}${b}${start}`;
		const { columnNs, nColumns, nRows, rowNs, rowLabels } = this.heat;
		at("show-heat-menu").textContent = `Cells: ${rowLabels ? this.by : formatStep(rowNs)} by ${formatStep(columnNs)}`;
		at("whole-recording").hidden = !store.state.brush;
		at("clear").disabled = ranges.length === 0 && !rangesB && !this.pending;
		at("target").setAttribute("aria-pressed", String(this.target === "rangesB"));
		this.canvas.setAttribute("aria-label",
			`Heatmap of ${nColumns} columns of ${columnNs / 1e9} s and ${nRows} rows. ${said.textContent}`);
	}

	#drawLegend() {
		const { heat, app: { colours } } = this;
		const { unit, measure } = heat.selection;
		const [least, most] = [Math.min(0, heat.scale.min), Math.max(0, heat.scale.max)];
		const end = (value, isBeyond) => `${formatAmount(value, unit)}${isBeyond ? " or more" : ""}`;
		const rate = measure === "period" ? formatRate(heat.scale.max, unit, cellNs(heat)) : "";
		at("legend").style.background = `linear-gradient(to right, ${Array.from({ length: LEGEND_STEPS }, (_, i) => {
			const part = (least + (i * (most - least)) / (LEGEND_STEPS - 1)) / mostOf(heat);
			return part < 0 ? colours.loss(-part) : colours.gain(part);
		})})`;
		at("legend-none").style.backgroundColor = colours.noSample;
		at("legend-from").textContent = end(least, heat.min < least);
		at("legend-to").textContent = end(most, heat.max > most);
		at("legend-rate").textContent = ` a cell${rate && `, ${rate}`}`;
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
