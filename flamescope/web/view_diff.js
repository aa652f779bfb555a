/* view_diff.js - what changed between the baseline B and the selection, and what of it is chance */

import { formatAmount, formatShare } from "wick/amount.js";
import { drawing } from "wick/asked.js";
import { textEquivalent } from "wick/aria.js";
import { FlameCanvas, flameKeys } from "wick/flame_canvas.js";
import { makeLegend } from "wick/flame_legend.js";
import { compilePattern, matchedAmount, matchFrames } from "wick/frame_search.js";
import { isFlagged, LEVEL, whyNoDiff } from "wick/significance.js";
import { changeKeys } from "wick/tree_picture.js";
import { followPath, layoutTree, pathOf, widestNodes } from "wick/tree_layout.js";
import { emptyNote, makeCrumbs, sameTree, windowKeeper } from "wick/view_flame.js";
import { VirtualTable } from "wick/virtual_table.js";

/** `+5.00 points`: the change of a share. */
export function formatPoints(change) {
	/* a change is no more than what is shown of it: no "−0.000" */
	const points = Math.abs(change) < 5e-6 ? 0 : 100 * change;
	const text = Math.abs(points).toFixed(Math.abs(points) < 0.1 && points !== 0 ? 3 : 2);
	return `${points > 0 ? "+" : points < 0 ? "−" : ""}${text} points`;
}

/* In a table whose head has the unit. */
const pointsOnly = (change) => formatPoints(change).replace(" points", "");

function formatChance(p) {
	return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

/* What is made of a comparison once: the order of its rows, and where its boxes are. */
function prepared(diff, sides) {
	diff.sides = sides;
	diff.order ??= [...diff.names.keys()];
	diff.layout ??= layoutTree(diff.tree, diff.tree.width);
	return diff;
}

class DiffView {
	constructor(element, app) {
		this.app = app;
		app.view = this; /* the one that is seen: save.js asks it for its graphs */
		this.element = element;
		this.keeper = windowKeeper(app, "window");
		this.update = drawing(() => this.#show());
		this.offs = [
			app.store.subscribe((state, old) => this.#onState(state, old)),
			app.on("data", () => this.update()),
			app.on("theme", () => this.update()),
			app.on("resize", () => {
				this.canvas?.invalidate();
				this.table?.draw();
			}),
			...flameKeys.map(([key, what]) => app.keys.add({ key, what, where: "in a graph" })),
		];
		this.update();
	}

	#onState(state, old) {
		if (!sameTree(state, old))
			return this.update();
		if (this.canvas && (state.zoom !== old.zoom || state.window !== old.window))
			this.#place();
		if (this.canvas && state.sort !== old.sort)
			this.#sortRows();
		return undefined;
	}

	#show() {
		this.round = {}; /* what counts for an older pair stops */
		const { app } = this;
		const base = app.models.selectionB();
		const now = app.models.selection();
		const why = !base ? "" : whyNoDiff(base, now);
		this.canvas = null;
		app.found = null;
		if (!base || why || base.n === 0 || now.n === 0) {
			const note = emptyNote();
			note.hidden = false;
			note.textContent = !base
				? "There is no baseline yet. Select the time to compare with in the heatmap and press *Take this selection as baseline B*; then select another time. `wick view NEW --baseline OLD` compares two recordings."
				: why ? `These cannot be compared: ${why}. Try: another metric.`
					: "One side has no sample. Try: another time, or fewer filters.";
			this.element.replaceChildren(this.#bar(null), note);
			app.emit("found");
			return;
		}
		this.diff = prepared(app.models.diff(), [base, now]);
		this.#build();
		if (!this.diff.chance)
			this.#test(this.round, this.diff);
	}

	#button(label, act) {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = label;
		button.addEventListener("click", act);
		return button;
	}

	#bar(diff) {
		const { store, baseline } = this.app;
		const bar = document.createElement("div");
		bar.className = "bar diff-bar";
		bar.append(this.#button("Take this selection as baseline B",
			() => store.set({ rangesB: store.state.ranges })));
		if (!baseline)
			bar.append(this.#button("All of the recording as B", () => store.set({ rangesB: [] })));
		if (store.state.rangesB)
			bar.append(this.#button("Swap", () => store.set({ ranges: store.state.rangesB, rangesB: store.state.ranges })),
				this.#button("No baseline", () => store.set({ rangesB: null })));
		if (!diff)
			return bar;
		this.says = document.createElement("span");
		this.progress = document.createElement("progress");
		this.progress.setAttribute("aria-label", "Significance is being computed");
		this.progress.hidden = diff.chance !== null;
		bar.append(this.says, this.progress);
		return bar;
	}

	#sayChance() {
		const { diff } = this;
		const { unit } = diff.sides[0];
		const sides = `B ${formatAmount(diff.whole[0], unit)}, now ${formatAmount(diff.whole[1], unit)}; each as shares of its own whole. `;
		if (!diff.chance)
			this.says.textContent = `${sides}Significance is being computed…`;
		else if (diff.chance.problem)
			this.says.textContent = `${sides}No significance: ${diff.chance.problem}.`;
		else if (diff.chance.smallestP >= LEVEL)
			this.says.textContent = `${sides}So few seconds cannot show p < ${LEVEL}: the smallest possible is ${formatChance(diff.chance.smallestP)}.`;
		else
			this.says.textContent = `${sides}${this.#flagged()} functions changed by a point and by more than chance (p < ${LEVEL}, ${diff.chance.n} permutations of whole seconds, corrected for ${diff.names.length} functions).`;
	}

	#flagged() {
		const { diff } = this;
		return diff.order.filter((i) => isFlagged(diff, i, "self") || isFlagged(diff, i, "total")).length;
	}

	/* Slice by slice, between which the worker answers other questions. */
	async #test(round, diff) {
		let slice = await this.app.models.ask("chance");
		while (this.round === round && !slice.chance) {
			this.progress.value = slice.part;
			slice = await this.app.models.ask("chance");
		}
		if (this.round !== round)
			return;
		diff.chance = slice.chance;
		this.progress.hidden = true;
		this.#sayChance();
		this.#sortRows();
		this.canvas.invalidate();
		this.app.say(this.says.textContent);
	}

	#build() {
		const { app } = this;
		this.canvas = new FlameCanvas(app, {
			label: "Difference: width is the mean of both sides, orange and + more now, blue, hatched and − less",
			up: true,
			onZoom: (node) => this.#zoomTo(node),
			onOut: () => app.store.set({ zoom: app.store.state.zoom.slice(0, -1), window: null }),
			onWindow: this.keeper.keep,
		});
		this.crumbs = makeCrumbs((names) => app.store.set({ zoom: names, window: null }));
		this.text = textEquivalent("This graph as a table", () => this.#asText());
		const bar = this.#bar(this.diff);
		this.#makeTable();
		const legend = makeLegend();
		const path = document.createElement("div");
		path.className = "bar";
		path.append(this.crumbs.element, legend.element, this.text.element);
		this.element.replaceChildren(bar, path, this.canvas.element, this.table.element);
		const picture = this.#picture();
		legend.show(picture.keys);
		this.canvas.show(picture);
		this.#place();
		this.#sortRows();
		this.#sayChance();
		app.found = picture.found;
		app.emit("found");
	}

	#nameOf(node) {
		return this.diff.names[this.diff.tree.frame[node]];
	}

	#zoomTo(node) {
		const names = pathOf(this.diff.tree, node).map((at) => this.#nameOf(at));
		this.app.store.set({ zoom: names, window: null, frame: names.at(-1) ?? "" });
	}

	/* Where the state's zoom and window are in this tree. */
	#place() {
		const { layout, tree, names } = this.diff;
		const { zoom, window } = this.app.store.state;
		this.zoomed = followPath(tree, zoom, (frame) => names[frame]);
		const path = pathOf(tree, this.zoomed);
		this.canvas.picture.above = new Set([0, ...path.slice(0, -1)]);
		this.crumbs.show(path.map((node) => this.#nameOf(node)));
		const from = layout.x[this.zoomed];
		this.canvas.setWindow(window ?? [from, from + (layout.width[this.zoomed] || 1)], false);
		this.text.refresh();
	}

	#asText() {
		const { tree } = this.diff;
		const share = (node, which) => formatShare(tree.total[which][node], 1);
		return {
			caption: "Difference, frames of at least 0.5 %",
			head: ["depth", "function", "change", "in B", "now"],
			rows: widestNodes(tree, (node) => tree.width[node], this.zoomed).map((node) => [
				String(tree.depth[node]), node === 0 ? "all" : this.#nameOf(node),
				formatPoints(tree.total[1][node] - tree.total[0][node]), share(node, 0), share(node, 1)]),
		};
	}

	#picture() {
		const { app, diff } = this;
		const { tree, layout, names } = diff;
		const { regex, problem } = compilePattern(app.store.state.search);
		const matches = regex ? matchFrames(tree, regex, (f) => names[f], names.length) : null;
		const wrong = problem ?? regex?.problem; /* known once it was matched */
		const found = matches && matchedAmount(tree, matches, tree.width);
		const change = (node) => tree.total[1][node] - tree.total[0][node];
		/* Full colour where a frame is new or vanished; 0: neither colour nor sign. */
		const part = (node) => Math.round(8 * Math.max(-1, Math.min(1, change(node) / (2 * tree.width[node] || 1)))) / 8;
		const sign = (node) => (part(node) > 0 ? "+" : part(node) < 0 ? "−" : "=");
		return {
			layout,
			matches,
			found: wrong ? { problem: wrong } : found && { nodes: found.nodes, share: formatShare(found.amount, tree.width[0]) },
			fill: (node) => app.colours.change(part(node)),
			striped: (node) => part(node) < 0,
			text: (node) => (node === 0 ? "all" : `${sign(node)} ${names[tree.frame[node]]}`),
			keys: changeKeys(app, ["less than in B", "more than in B"]),
			numbers: (node) => [formatPoints(change(node))],
			lines: (node) => this.#lines(node),
		};
	}

	#lines(node) {
		const { tree, names, chance } = this.diff;
		const share = (which) => formatShare(tree.total[which][node], 1);
		const lines = [
			node === 0 ? "all" : names[tree.frame[node]],
			`${formatPoints(tree.total[1][node] - tree.total[0][node])}: B ${share(0)}, now ${share(1)}`,
		];
		if (node > 0 && chance && !chance.problem) {
			const p = chance.totalP[tree.frame[node]];
			lines.push(`the function as a whole: p ${formatChance(p)}${isFlagged(this.diff, tree.frame[node], "total") ? ", more than chance" : ""}`);
		}
		return lines;
	}

	#rows() {
		const { regex } = compilePattern(this.app.store.state.search);
		const { order, names } = this.diff;
		return order.filter((i) => !regex || regex.test(names[i]));
	}

	#makeTable() {
		const { diff, app } = this;
		const share = (column, which) => (i) => formatShare(column[which][i], 1);
		const flagged = (part) => (i) => isFlagged(diff, i, part);
		const p = (key, part) => (i) => (!diff.chance ? "…" : diff.chance.problem ? "–"
			: `${formatChance(diff.chance[key][i])}${isFlagged(diff, i, part) ? " !" : ""}`);
		const columns = [
			{ id: "name", label: "Function", text: (i) => diff.names[i] },
			{ id: "change", label: "Total, points", text: (i) => pointsOnly(diff.total[1][i] - diff.total[0][i]) },
			{ id: "b", label: "in B", text: share(diff.total, 0), part: (i) => diff.total[0][i] },
			{ id: "now", label: "now", text: share(diff.total, 1), part: (i) => diff.total[1][i] },
			{ id: "p", label: "p", text: p("totalP", "total"), flagged: flagged("total") },
			{ id: "self", label: "Self, points", text: (i) => pointsOnly(diff.self[1][i] - diff.self[0][i]) },
			{ id: "selfp", label: "p", text: p("selfP", "self"), flagged: flagged("self") },
		];
		this.table = new VirtualTable({
			label: "Changes",
			columns,
			say: app.say,
			describe: (i) => columns.map((column) => `${column.label} ${column.text(i)}`).join(", "),
			onSort: (id) => app.store.set({ sort: id }),
			onPick: (i) => app.store.set({ frame: diff.names[i] }),
		});
	}

	/* In the order that the state says; by default what changed most comes first. */
	#sortRows() {
		const { diff } = this;
		const p = (key) => (i) => (diff.chance && !diff.chance.problem ? -diff.chance[key][i] : 0);
		const keys = {
			name: null, change: (i) => Math.abs(diff.total[1][i] - diff.total[0][i]),
			b: (i) => diff.total[0][i], now: (i) => diff.total[1][i], p: p("totalP"),
			self: (i) => Math.abs(diff.self[1][i] - diff.self[0][i]), selfp: p("selfP"),
		};
		const { sort } = this.app.store.state;
		const id = Object.hasOwn(keys, sort) ? sort : "change";
		const key = keys[id];
		const rows = this.#rows();
		if (sort)
			rows.sort(key ? (a, b) => key(b) - key(a)
				: (a, b) => (diff.names[a] < diff.names[b] ? -1 : 1));
		this.table.show(rows, { id, descending: key !== null && !id.endsWith("p") });
	}

	/* What save.js makes pictures of. */
	get graphs() {
		return this.canvas ? [this.canvas] : [];
	}

	unmount() {
		this.update.stop();
		this.keeper.stop();
		this.round = {};
		this.app.tip.hide();
		for (const off of this.offs)
			off();
	}
}

export const diffView = {
	id: "diff",
	label: "Diff",
	title: "Difference",
	mount: (element, app) => new DiffView(element, app),
};
