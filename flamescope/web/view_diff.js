/* view_diff.js - what changed between the baseline B and the selection, and what of it is chance */

import { formatAmount, formatShare } from "wick/amount.js";
import { button, make } from "wick/dom.js";
import { makeLegend } from "wick/flame_legend.js";
import { foundIn } from "wick/frame_search.js";
import { isFlagged, LEVEL, whyNoDiff } from "wick/significance.js";
import { StackView, ZoomedGraph } from "wick/stack_view.js";
import { changeKeys } from "wick/tree_picture.js";
import { layoutTree, widestNodes } from "wick/tree_layout.js";
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

class DiffView extends StackView {
	constructor(element, app) {
		super(element, app);
		this.listKeys();
		this.update();
	}

	get graphs() {
		return this.graph ? [this.graph.canvas] : [];
	}

	onState(state, old) {
		if (this.graph && (state.zoom !== old.zoom || state.window !== old.window))
			this.graph.place();
		if (this.graph && state.sort !== old.sort)
			this.#sortRows();
	}

	show() {
		this.round = {}; /* what counts for an older pair stops */
		const { app } = this;
		const base = app.models.selectionB();
		const now = app.models.selection();
		const why = !base ? "" : whyNoDiff(base, now);
		this.graph?.stop();
		this.graph = null;
		if (!base || why || base.n === 0 || now.n === 0) {
			this.sayEmpty(!base
				? "There is no baseline yet. Select the time to compare with in the heatmap and press *Take this selection as baseline B*; then select another time. `wick view NEW --baseline OLD` compares two recordings."
				: why ? `These cannot be compared: ${why}. Try: another metric.`
					: "One side has no sample. Try: another time, or fewer filters.");
			this.element.replaceChildren(this.#bar(null), this.note);
			this.tellFound(null);
			return;
		}
		this.diff = prepared(app.models.diff(), [base, now]);
		this.#build();
		if (!this.diff.chance)
			this.#test(this.round, this.diff);
	}

	#bar(diff) {
		const { store, baseline } = this.app;
		const { rangesB } = store.state;
		const bar = make("div", { className: "bar diff-bar" },
			button("Take this selection as baseline B", () => store.set({ rangesB: store.state.ranges })));
		if (!baseline)
			bar.append(button("All of the recording as B", () => store.set({ rangesB: [] })));
		if (rangesB)
			bar.append(button("Swap", () => store.set({ ranges: rangesB, rangesB: store.state.ranges })),
				button("No baseline", () => store.set({ rangesB: null })));
		if (!diff)
			return bar;
		this.says = make("span");
		this.progress = make("progress", { "aria-label": "Significance is being computed", hidden: diff.chance !== null });
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
		this.app.say(this.says.textContent);
	}

	#build() {
		const { app } = this;
		const picture = this.#picture();
		const legend = makeLegend();
		this.graph = new ZoomedGraph(app, {
			label: "Difference: width is the mean of both sides, orange and + more now, blue, hatched and − less",
			up: true,
			table: (root) => this.#asText(root),
		});
		this.#makeTable();
		const { crumbs, text, canvas } = this.graph;
		this.element.replaceChildren(this.#bar(this.diff),
			make("div", { className: "bar" }, crumbs.element, legend.element, text.element),
			canvas.element, this.table.element);
		legend.show(picture.keys);
		this.graph.show(picture);
		this.#sortRows();
		this.#sayChance();
		this.tellFound(picture.found);
	}

	#asText(root) {
		const { tree, names } = this.diff;
		const share = (node, which) => formatShare(tree.total[which][node], 1);
		return {
			caption: "Difference, frames of at least 0.5 %",
			head: ["depth", "function", "change", "in B", "now"],
			rows: widestNodes(tree, (node) => tree.width[node], root).map((node) => [
				String(tree.depth[node]), node === 0 ? "all" : names[tree.frame[node]],
				formatPoints(tree.total[1][node] - tree.total[0][node]), share(node, 0), share(node, 1)]),
		};
	}

	#picture() {
		const { app, diff } = this;
		const { tree, layout, names } = diff;
		const search = app.models.search();
		this.searched = search.names;
		const nameOf = (frame) => names[frame];
		const change = (node) => tree.total[1][node] - tree.total[0][node];
		/* Full colour where a frame is new or vanished; 0: neither colour nor sign. */
		const part = (node) => Math.round(8 * Math.max(-1, Math.min(1, change(node) / (2 * tree.width[node] || 1)))) / 8;
		const sign = (node) => (part(node) > 0 ? "+" : part(node) < 0 ? "−" : "=");
		return {
			layout,
			nameOf,
			whole: "both sides",
			...foundIn(search, tree, nameOf, names.length, tree.width),
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
		const { order, names } = this.diff;
		return order.filter((i) => !this.searched || this.searched.has(names[i]));
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

	unmount() {
		this.graph?.stop();
		this.round = {};
		super.unmount();
	}
}

export const diffView = {
	id: "diff",
	label: "Diff",
	title: "Difference",
	mount: (element, app) => new DiffView(element, app),
};
