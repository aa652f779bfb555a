/*
 * models.js - what follows from the recordings and the state, made once for as long as it holds
 *
 * A state changes little at a time: zooming makes nothing anew, a new range only what is in it.
 */

import { emptySelection, inRanges, makeSelection, transformSelection } from "wick/select.js";
import { makeFlame, makeFunctions } from "wick/flame.js";
import { makeHeat } from "wick/heat.js";

const MAX_KEPT = 24;

function makeMemo() {
	const kept = new Map();
	return {
		get(key, make) {
			if (kept.has(key)) {
				const value = kept.get(key);
				kept.delete(key); /* and is the newest again */
				kept.set(key, value);
				return value;
			}
			const value = make();
			kept.set(key, value);
			if (kept.size > MAX_KEPT) {
				const [oldest, old] = kept.entries().next().value;
				kept.delete(oldest);
				old.release?.();
			}
			return value;
		},
		forget() {
			for (const value of kept.values())
				value.release?.();
			kept.clear();
		},
	};
}

export function makeModels(app) {
	const memo = makeMemo();
	const word = (...parts) => JSON.stringify(parts, (_, value) =>
		(value === Infinity ? "end" : value));

	/*
	 * All of the time of a profile, by the query: what the heatmap counts.  Of a query that asks
	 * for what is not there it is nothing, and says why.
	 */
	function whole(which = "A", everyEvent = false) {
		const { query } = app.store.state;
		const profile = which === "A" ? app.profile : app.baseline;
		return memo.get(word("whole", which, query, everyEvent), () => {
			try {
				return makeSelection(profile, query, everyEvent);
			} catch (error) {
				return emptySelection(profile, query, error.message);
			}
		});
	}

	/* Each step is kept, for what is not kept is not released. */
	function part(which, ranges, transforms = app.store.state.transforms) {
		const { query } = app.store.state;
		return memo.get(word("part", which, query, ranges, transforms), () => {
			if (transforms.length)
				return transformSelection(part(which, ranges, []), transforms);
			const all = whole(which);
			if (ranges.length === 0 || all.problem)
				return all;
			try {
				return inRanges(all, ranges);
			} catch (error) {
				return emptySelection(all.profile, query, error.message);
			}
		});
	}

	const models = {
		whole,
		selection: () => part("A", app.store.state.ranges),
		/* The baseline: other ranges of this recording, else the other recording; else null. */
		selectionB() {
			const { rangesB } = app.store.state;
			if (app.baseline)
				return part("B", rangesB ?? []);
			return rangesB ? part("A", rangesB) : null;
		},
		/* All of the recording; columnNs where the state leaves it open, which begin phaseNs later. */
		heat(columnNs = 0, phaseNs = 0) {
			const { query, by, rows, column } = app.store.state;
			const ns = column || columnNs;
			return memo.get(word("heat", query, by, rows, ns, phaseNs), () =>
				makeHeat(whole("A", by === "event"), { columnNs: ns, phaseNs, nRows: rows, by }));
		},
		flame: (order = "calls", around = "") => flameOf("A", models.selection(), order, around),
		flameB(order = "calls", around = "") {
			const selection = models.selectionB();
			return selection && flameOf("B", selection, order, around);
		},
		functions: () => functionsOf("A", models.selection()),
		functionsB() {
			const selection = models.selectionB();
			return selection && functionsOf("B", selection);
		},
		forget: memo.forget,
	};

	function stateWord(which) {
		const { query, ranges, rangesB, transforms } = app.store.state;
		return word(which, query, which === "A" ? ranges : rangesB, transforms);
	}
	function flameOf(which, selection, order, around) {
		return memo.get(word("flame", stateWord(which), order, around),
			() => makeFlame(selection, order, around));
	}
	function functionsOf(which, selection) {
		return memo.get(word("functions", stateWord(which)), () => makeFunctions(selection));
	}
	return models;
}
