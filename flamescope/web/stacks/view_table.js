/* view_table.js - the functions of the selection, and the callers of the chosen one */

import { formatAmount, formatRate, formatShare } from "wick/parts/amount.js";
import { drawing } from "wick/state/asked.js";
import { button, make } from "wick/parts/dom.js";
import { openFrameMenu } from "wick/stacks/frame_menu.js";
import { selectedNs } from "wick/heat/heat_words.js";
import { frameModule, frameName } from "wick/stacks/frames.js";
import { lastPart } from "wick/state/recording.js";
import { StackView, viewOf, whyEmpty } from "wick/stacks/stack_view.js";
import { saySelf, sayTotal } from "wick/stacks/tree_picture.js";
import { childrenOf } from "wick/stacks/tree_layout.js";
import { VirtualTable } from "wick/parts/virtual_table.js";

const COUNTS = "counts"; /* columns that are shown only when asked for */
const MOST_NEAR = 100; /* callers or callees that are listed */

class TableView extends StackView {
	constructor(element, app) {
		super(element, app);
		this.near = make("div", { className: "near-tables" });
		this.counts = make("input", { type: "checkbox", id: "show-counts", onchange: () =>
			app.store.set({ columns: this.counts.checked ? COUNTS : "" }) });
		this.precision = make("span", { className: "says" });
		this.bar = make("div", { className: "bar" }, make("label", {}, this.counts, " columns of sample counts"), this.precision);
		this.table = new VirtualTable({ label: "Functions", columns: [] });
		element.replaceChildren(this.note, this.bar, this.table.element, this.near);
		this.showNear = drawing(() => this.#near());
		this.offs.push(this.showNear.stop);
	}

	onState(state, old) {
		if (state.sort !== old.sort || state.columns !== old.columns)
			this.update();
		else if (state.frame !== old.frame)
			this.showNear();
	}

	#columns(selection, rows, nameOf) {
		const { state } = this.app.store;
		const ns = selectedNs(state, selection.profile);
		const self = (i) => rows.selfGain[i] + rows.selfLoss[i];
		const total = (i) => rows.gain[i] + rows.loss[i];
		const share = (amount) => ({ text: (i) => formatShare(amount(i), selection.size),
			part: (i) => amount(i) / (selection.size || 1) });
		const moduleOf = (i) => frameModule(selection, rows.frame[i]);
		const count = (id, label, counts) => ({ id, label, isHidden: state.columns !== COUNTS,
			text: (i) => formatAmount(counts[i]), key: (i) => counts[i] });
		return [
			{ id: "name", label: "Function", text: nameOf, key: nameOf },
			{ id: "self", label: "Self", isWide: selection.isSigned, text: (i) => saySelf(selection, rows, i), key: self },
			{ id: "self%", label: "Self %", by: "self", ...share(self) },
			{ id: "total", label: "Total", isWide: selection.isSigned, text: (i) => sayTotal(selection, rows, i), key: total },
			{ id: "total%", label: "Total %", by: "total", ...share(total) },
			{ id: "rate", label: "Per second", by: "total", text: (i) => formatRate(rows.gain[i], selection.unit, ns),
				isHidden: selection.measure !== "period" || formatRate(1, selection.unit, ns) === "" },
			{ id: "net", isHidden: true, key: (i) => Math.abs(rows.gain[i] - rows.loss[i]) },
			count("calls", "Calls seen", rows.calls),
			count("selfsamples", "Self samples", rows.selfSamples),
			count("samples", "Samples", rows.samples),
			{ id: "module", label: "Module", isWide: true, text: (i) => lastPart(moduleOf(i)), key: moduleOf },
		];
	}

	show() {
		const { app, table } = this;
		const selection = app.models.selection();
		const rows = app.models.functions();
		const { problem, found: [matches] } = app.models.search();
		const nameOf = (i) => frameName(selection, rows.frame[i]);
		const found = [...rows.frame.keys()].filter((i) => !matches || matches[rows.frame[i]]);
		table.change({
			columns: this.#columns(selection, rows, nameOf),
			say: app.say,
			nameOf,
			name: app.store.state.frame,
			onSort: (sort) => app.store.set({ sort }),
			onPick: (i) => app.store.set({ frame: nameOf(i) }),
			onMenu: (i, x, y) => openFrameMenu(app, x, y, selection, rows.frame[i]),
		});
		this.sayEmpty(rows.n === 0 ? whyEmpty(app, selection) : "");
		this.bar.hidden = table.element.hidden = rows.n === 0;
		this.precision.textContent = selection.precision;
		this.counts.checked = app.store.state.columns === COUNTS;
		table.show(found, app.store.state.sort, "self", table.rows.length ? undefined : () => table.reveal());
		this.tellFound(problem ? { problem } : matches ? { nodes: found.length, share: "" } : null);
		this.showNear();
	}

	#near() {
		const { frame } = this.app.store.state;
		this.near.replaceChildren(...(frame ? [
			this.#list(`Callers of ${frame}`, this.app.models.flame("reverse", frame)),
			this.#list(`Callees of ${frame}`, this.app.models.flame("calls", frame))] : []));
	}

	/* What hangs directly on the function that a tree is around, most first. */
	#list(title, tree) {
		const { selection, width } = tree;
		const [first, end] = tree.n > 1 ? childrenOf(tree, 1) : [0, 0];
		const near = Array.from({ length: end - first }, (_, i) => first + i).sort((a, b) => width[b] - width[a]);
		const items = near.slice(0, MOST_NEAR).map((node) => {
			const frame = frameName(selection, tree.frame[node]);
			const amount = `${sayTotal(selection, tree, node)} (${formatShare(width[node], width[0])})`;
			const open = button("", () => this.app.store.set({ frame }));
			open.append(...[frame, amount].map((textContent) => make("span", { textContent })));
			return make("li", {}, open);
		});
		return make("section", {}, make("h2", { textContent: title }), items.length
			? make("ul", { "aria-label": title }, ...items) : make("p", { textContent: "none" }));
	}
}

export const tableView = viewOf(TableView, "table", "Table");
