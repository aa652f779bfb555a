/* view_diff.js - what changed between the baseline and the selection, and what of it is chance */

import { countOf, formatAmount, formatShare } from "wick/parts/amount.js";
import { button, make, option } from "wick/parts/dom.js";
import { sideNames } from "wick/state/recording.js";
import { GraphView, viewOf } from "wick/stacks/stack_view.js";
import { treePicture } from "wick/stacks/tree_picture.js";
import { VirtualTable } from "wick/parts/virtual_table.js";

const NO_BASELINE = "There is no baseline yet. Select the time to compare with in the heatmap and press " +
	"*Take this selection as baseline*; then select another time. `wick view NEW --baseline OLD` compares two recordings.";
const CHANGES = [["", "All changes"], ["new", "New only"], ["gone", "Gone only"]];

/* `+5.00`: points, the change of a share. */
function pointsOf([before, after], i) {
	const change = after[i] - before[i];
	/* a change is no more than what is shown of it: no "−0.000" */
	const points = Math.abs(change) < 5e-6 ? 0 : 100 * change;
	const text = Math.abs(points).toFixed(Math.abs(points) < 0.1 && points !== 0 ? 3 : 2);
	return `${points > 0 ? "+" : points < 0 ? "−" : ""}${text}`;
}

const formatChance = (p) => (p < 0.001 ? "< 0.001" : p.toFixed(3));

const isLacking = (totals, side, i) => totals[side][i] === 0 && totals[1 - side][i] !== 0;
const shareOf = (totals, side, i) => (isLacking(totals, side, i) ? "–" : formatShare(totals[side][i], 1));

/* The change of all that a function has; of what only one side has, that it is new or gone. */
const changeOf = (totals, i) =>
	`${isLacking(totals, 0, i) ? "new " : isLacking(totals, 1, i) ? "gone " : ""}${pointsOf(totals, i)}`;

/* What was compared, and how sure it is; a run on each side does not say how much runs differ. */
function sayDiff({ names, whole, unit, chance }, nFlagged, [base, now], areRuns) {
	const sides = `${base} ${formatAmount(whole[0], unit)}, ${now} ${formatAmount(whole[1], unit)}; each as shares of its own whole. `;
	if (!chance)
		return `${sides}Significance is being computed…`;
	if (chance.problem)
		return `${sides}No significance: ${chance.problem}.`;
	if (chance.smallestP >= chance.level)
		return `${sides}So few seconds cannot show p < ${chance.level}: the smallest possible is ${formatChance(chance.smallestP)}.`;
	const runs = nFlagged && areRuns ? " Another run may differ by as much: give `wick diff` 5 recordings of each side." : "";
	return `${sides}${countOf(nFlagged, "function")} changed by a point and by more than chance (p < ${chance.level}, ${chance.n} permutations of whole seconds, corrected for ${countOf(names.length, "function")}).${runs}`;
}

class DiffView extends GraphView {
	hint = "width is the mean of both sides, orange and + more now, blue, hatched and − less; Enter zooms";

	constructor(element, app) {
		const { store } = app;
		const act = (text, patch) => button(text, () => store.set(patch(store.state)));
		const whole = act("All of the recording as baseline", () => ({ rangesB: [] }));
		const swap = act("Swap", ({ ranges, rangesB }) => ({ ranges: rangesB, rangesB: ranges }));
		const none = act("No baseline", () => ({ rangesB: null }));
		const changes = make("select", { id: "diff-changes", ariaLabel: "Which changes are shown",
			onchange: () => store.set({ changes: changes.value }) }, ...CHANGES.map((one) => option(...one)));
		const says = make("span");
		const progress = make("progress", { "aria-label": "Significance is being computed" });
		super(element, app);
		Object.assign(this, { whole, swap, none, changes, says, progress, table: this.#makeTable() });
		element.prepend(make("div", { className: "bar diff-bar" },
			act("Take this selection as baseline", ({ ranges }) => ({ rangesB: ranges })), whole, swap, none, changes, says, progress));
		element.append(this.table.element);
		this.offs.push(() => (this.round = null));
	}

	onState(state, old) {
		super.onState(state, old);
		if (this.diff && state.sort !== old.sort)
			this.#showRows();
	}

	show() {
		const { app } = this;
		const { state } = app.store;
		const round = this.round = {}; /* what counts for an older pair stops */
		const base = app.models.selectionB();
		const now = app.models.selection();
		const isEmpty = base && (base.n === 0 || now.n === 0);
		const made = base && !isEmpty ? app.models.diff() : { problem: "" };
		const why = !base ? NO_BASELINE : isEmpty ? "One side has no sample. Try: another time, or fewer filters."
			: `These cannot be compared: ${made.problem}. Try: another metric.`;
		const diff = made.names ? made : null;
		this.whole.hidden = Boolean(app.baseline);
		this.swap.hidden = this.none.hidden = !state.rangesB;
		this.changes.hidden = this.says.hidden = this.bar.hidden = this.table.element.hidden = !diff;
		this.progress.hidden = true;
		if (!diff) {
			this.tellFound(null);
			this.hide(why);
			return;
		}
		const [word, label] = CHANGES.find(([one]) => one === state.changes) ?? CHANGES[0];
		this.changes.value = word;
		this.diff = Object.assign(diff, { unit: now.unit });
		this.draw([{ picture: this.#picture(diff), label: "Difference", up: true, key: "window" }],
			diff.tree.width[0] > 0 ? "" : `${label}: there is none in these stacks.`);
		this.#showChance(diff);
		if (!diff.chance)
			this.#test(round, diff);
	}

	/* Slice by slice, between which the worker answers other questions. */
	async #test(round, diff) {
		while (!diff.chance) {
			const { part, chance } = await this.app.models.ask("chance");
			if (this.round !== round)
				return;
			diff.chance = chance;
			this.progress.value = part ?? 1;
		}
		this.#showChance(diff);
		this.app.say(this.says.textContent);
	}

	#showChance(diff) {
		const nFlagged = diff.names.filter((_, i) => diff.chance?.selfFlag?.[i] || diff.chance?.totalFlag?.[i]).length;
		this.progress.hidden = Boolean(diff.chance);
		this.says.textContent = this.says.title = sayDiff(diff, nFlagged, sideNames(this.app), Boolean(this.app.baseline));
		this.#showRows();
	}

	#picture(diff) {
		const { tree, names } = diff;
		const [base, now] = sideNames(this.app);
		const change = (node) => tree.total[1][node] - tree.total[0][node];
		const share = (side, node) => shareOf(tree.total, side, node);
		const points = (node) => `${changeOf(tree.total, node)} points`;
		/* Full colour where a frame is new or vanished; 0: neither colour nor sign. */
		const part = (node) => Math.round(8 * Math.max(-1, Math.min(1, change(node) / (2 * tree.mean[node] || 1)))) / 8;
		const chanceOf = (frame) => (!diff.chance || diff.chance.problem || !(frame in names) ? []
			: [`the function as a whole: p ${formatChance(diff.chance.totalP[frame])}${diff.chance.totalFlag[frame] ? ", more than chance" : ""}`]);
		const picture = treePicture(this.app, tree, { nameOf: (frame) => names[frame], search: this.app.models.search("diff") }, {
			part,
			sign: (node) => (part(node) > 0 ? "+" : part(node) < 0 ? "−" : "="),
			labels: this.app.baseline ? [`less than in ${base}`, `more than in ${base}`] : ["less than before", "more than before"],
		}, {
			lines: (node) => [picture.name(node), `${points(node)}: ${base} ${share(0, node)}, ${now} ${share(1, node)}`, ...chanceOf(tree.frame[node])],
			numbers: (node) => [points(node)],
			head: ["depth", "function", "change", base, now],
			cells: (node) => [points(node), share(0, node), share(1, node)],
			whole: "both sides",
		});
		return picture;
	}

	#makeTable() {
		const { app } = this;
		const share = (id, side) => ({ id, get label() {
			return sideNames(app)[side];
		}, text: (i) => shareOf(this.diff.total, side, i),
		part: (i) => this.diff.total[side][i], key: (i) => this.diff.total[side][i] });
		const points = (part, say = pointsOf) => ({ text: (i) => say(this.diff[part], i), key: (i) => Math.abs(this.diff[part][1][i] - this.diff[part][0][i]) });
		const chance = (part) => {
			const flagged = (i) => this.diff.chance?.[`${part}Flag`]?.[i];
			const p = (i) => this.diff.chance?.[`${part}P`][i];
			return { flagged, key: (i) => -(p(i) ?? 0),
				text: (i) => (!this.diff.chance ? "…" : this.diff.chance.problem ? "–" : `${formatChance(p(i))}${flagged(i) ? " !" : ""}`) };
		};
		const name = (i) => this.diff.names[i];
		return new VirtualTable({
			label: "Changes",
			columns: [
				{ id: "name", label: "Function", text: name, key: name },
				{ id: "change", label: "Total, points", ...points("total", changeOf) },
				share("b", 0),
				share("now", 1),
				{ id: "p", label: "p", ...chance("total") },
				{ id: "self", label: "Self, points", ...points("self") },
				{ id: "selfp", label: "p", ...chance("self") },
			],
			say: app.say,
			nameOf: name,
			name: app.store.state.frame,
			onSort: (sort) => app.store.set({ sort }),
			onPick: (i) => app.store.set({ frame: this.diff.names[i] }),
		});
	}

	/* In the order that the state says; by default what changed most comes first. */
	#showRows() {
		const { changes, sort } = this.app.store.state;
		const { names, total } = this.diff;
		const lacking = { new: total[0], gone: total[1] }[changes];
		const [found] = this.app.models.search("diff").found;
		this.table.show([...names.keys()].filter((i) => !(lacking?.[i]) && (!found || found[i])), sort);
	}
}

export const diffView = viewOf(DiffView, "diff", "Diff", "Difference");
