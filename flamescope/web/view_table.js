/* view_table.js - the functions of the selection, and the callers of the chosen one */

import { formatAmount, formatRate, formatShare } from "wick/amount.js";
import { drawing } from "wick/asked.js";
import { button, make } from "wick/dom.js";
import { openFrameMenu } from "wick/frame_menu.js";
import { selectedNs } from "wick/heat_words.js";
import { fileOf, frameModule, frameName } from "wick/frames.js";
import { StackView, whyEmpty } from "wick/stack_view.js";
import { sayAmount } from "wick/tree_picture.js";
import { VirtualTable } from "wick/virtual_table.js";

const COUNTS = "counts"; /* columns that are shown only when asked for */
const MOST_NEAR = 100; /* callers or callees that are listed */

/** What a row of functions can be sorted by; all but names the greatest first. */
export const sorts = {
	name: (table, i) => table.nameOf(i),
	self: ({ rows }, i) => rows.selfGain[i] + rows.selfLoss[i],
	total: ({ rows }, i) => rows.gain[i] + rows.loss[i],
	net: ({ rows }, i) => Math.abs(rows.gain[i] - rows.loss[i]),
	calls: ({ rows }, i) => rows.calls[i],
	selfsamples: ({ rows }, i) => rows.selfSamples[i],
	samples: ({ rows }, i) => rows.samples[i],
	module: (table, i) => table.moduleOf(i),
};

/** Rows (by number) in the order that "-self" and the like say, of those whose names are among FOUND. */
export function sortedRows(table, sort, found) {
	const ascending = sort.startsWith("-");
	const id = Object.hasOwn(sorts, sort.replace(/^-/, "")) ? sort.replace(/^-/, "") : "self";
	const wanted = [];
	for (let i = 0; i < table.rows.n; i++) {
		if (!found || found.has(table.nameOf(i)))
			wanted.push(i);
	}
	const key = wanted.length ? Array.from({ length: table.rows.n }, (_, i) => sorts[id](table, i)) : [];
	const byText = id === "name" || id === "module";
	const compare = byText ? (a, b) => (key[a] < key[b] ? -1 : key[a] > key[b] ? 1 : a - b)
		: (a, b) => key[b] - key[a] || a - b;
	wanted.sort(ascending ? (a, b) => compare(b, a) : compare);
	return { order: wanted, sorted: { id, descending: byText === ascending } };
}

/** Of a tree around a function: what hangs on it directly, most first. */
export function nearOf(tree) {
	const root = tree.firstChild[0];
	const near = [];
	for (let c = root === 0 ? 0 : tree.firstChild[root]; c !== 0; c = tree.next[c])
		near.push(c);
	const amount = (node) => tree.gain[node] + tree.loss[node];
	return near.sort((a, b) => amount(b) - amount(a)).slice(0, MOST_NEAR);
}

class TableView extends StackView {
	constructor(element, app) {
		super(element, app);
		this.near = make("div", { className: "near-tables" });
		this.counts = make("input", { type: "checkbox", id: "show-counts", onchange: () =>
			app.store.set({ columns: this.counts.checked ? COUNTS : "" }) });
		this.bar = make("div", { className: "bar" }, make("label", {}, this.counts, " columns of sample counts"));
		this.showNear = drawing(() => this.#near());
		this.update();
	}

	onState(state, old) {
		if (state.sort !== old.sort || state.columns !== old.columns)
			this.update();
		else if (state.frame !== old.frame)
			this.showNear();
	}

	#columns(selection) {
		const { rows } = this.model;
		const whole = () => this.whole;
		const amount = (gain, loss, samples) => (i) => sayAmount(selection, rows[gain][i], rows[loss][i], rows[samples][i]);
		const share = (gain, loss) => ({
			text: (i) => formatShare(rows[gain][i] + rows[loss][i], whole()),
			part: (i) => (rows[gain][i] + rows[loss][i]) / (whole() || 1),
		});
		const rate = { id: "total/s", label: "Per second", text: (i) => formatRate(rows.gain[i], selection.unit, this.rateNs) };
		const hasRate = selection.measure === "period" && formatRate(1, selection.unit, this.rateNs) !== "";
		const counts = [
			{ id: "calls", label: "Calls seen", text: (i) => formatAmount(rows.calls[i]) },
			{ id: "selfsamples", label: "Self samples", text: (i) => formatAmount(rows.selfSamples[i]) },
			{ id: "samples", label: "Samples", text: (i) => formatAmount(rows.samples[i]) },
		];
		return [
			{ id: "name", label: "Function", text: (i) => this.model.nameOf(i) },
			{ id: "self", label: "Self", isWide: selection.isSigned, text: amount("selfGain", "selfLoss", "selfSamples") },
			{ id: "self%", label: "Self %", ...share("selfGain", "selfLoss") },
			{ id: "total", label: "Total", isWide: selection.isSigned, text: amount("gain", "loss", "samples") },
			{ id: "total%", label: "Total %", ...share("gain", "loss") },
			...(hasRate ? [rate] : []),
			...(this.app.store.state.columns === COUNTS ? counts : []),
			{ id: "module", label: "Module", isWide: true, text: (i) => fileOf(this.model.moduleOf(i)) },
		];
	}

	show() {
		const { app } = this;
		const selection = app.models.selection();
		const rows = app.models.functions();
		const tree = app.models.flame("calls", "");
		this.whole = tree.gain[0] + tree.loss[0];
		this.rateNs = selectedNs(app.store.state, selection.profile);
		this.model = {
			rows,
			nameOf: (i) => frameName(selection, rows.frame[i]),
			moduleOf: (i) => frameModule(selection, rows.frame[i]),
		};
		const columns = this.#columns(selection);
		const top = this.table?.element.scrollTop ?? 0;
		this.table = new VirtualTable({
			label: "Functions",
			columns,
			say: app.say,
			describe: (i) => columns.map((column) => `${column.label} ${column.text(i)}`).join(", "),
			onSort: (id) => this.#sort(id.replace(/%|\/s$/, "")), /* beside what they are of */
			onPick: (i) => app.store.set({ frame: this.model.nameOf(i) }),
			onMenu: (i, x, y) => openFrameMenu(app, x, y, selection, rows.frame[i], this.table.element),
		});
		const { names, problem } = app.models.search();
		const { order, sorted } = sortedRows(this.model, app.store.state.sort || "self", names);
		const empty = rows.n === 0;
		this.sayEmpty(empty ? whyEmpty(app, selection) : "");
		this.element.replaceChildren(this.note, this.bar, this.table.element, this.near);
		this.bar.hidden = this.table.element.hidden = empty;
		this.counts.checked = app.store.state.columns === COUNTS;
		this.table.show(order, sorted);
		this.table.element.scrollTop = top;
		this.tellFound(problem ? { problem } : names ? { nodes: order.length, share: "" } : null);
		this.showNear();
	}

	#sort(id) {
		const now = this.app.store.state.sort || "self";
		this.app.store.set({ sort: now === id ? `-${id}` : id });
	}

	#near() {
		const { frame } = this.app.store.state;
		this.near.replaceChildren(...(frame ? [
			this.#list(`Callers of ${frame}`, this.app.models.flame("reverse", frame)),
			this.#list(`Callees of ${frame}`, this.app.models.flame("calls", frame))] : []));
	}

	#list(title, tree) {
		const { selection } = tree;
		const items = nearOf(tree).map((node) => {
			const frame = frameName(selection, tree.frame[node]);
			const share = formatShare(tree.gain[node] + tree.loss[node], tree.gain[0] + tree.loss[0]);
			const amount = `${sayAmount(selection, tree.gain[node], tree.loss[node], tree.samples[node])} (${share})`;
			const open = button("", () => this.app.store.set({ frame }));
			open.append(...[frame, amount].map((textContent) => make("span", { textContent })));
			return make("li", {}, open);
		});
		return make("section", {}, make("h2", { textContent: title }), items.length
			? make("ul", { "aria-label": title }, ...items) : make("p", { textContent: "none" }));
	}

	unmount() {
		this.showNear.stop();
		super.unmount();
	}
}

export const tableView = {
	id: "table",
	label: "Table",
	mount: (element, app) => new TableView(element, app),
};
