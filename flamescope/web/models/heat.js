/*
 * heat.js - how much in which moment: a grid of cells, of flamescope/heat/heat.h
 *
 * Columns begin at the whole second of the profile's clock that its first sample is in, or phaseNs
 * later; a cell without a sample is not one whose values add up to 0.
 */

import { makeFunctions } from "wick/models/flame.js";
import { frameName } from "wick/stacks/frames.js";
import { column, facts, free, make } from "wick/models/model.js";

const MAX_CELLS = 16 * 1024 * 1024;
export const MAX_ROWS = 1000;
const SECOND = 1e9;
const TOP_FRAMES = 3;

/* A column of at least COLUMN_NS so that the grid is no larger than a page can hold. */
function fittingColumn(columnNs, nRows, lengthNs) {
	const most = Math.max(1, Math.floor(MAX_CELLS / nRows));
	const least = Math.ceil((lengthNs + columnNs) / most / SECOND) * SECOND;
	return (lengthNs + columnNs) / columnNs > most ? Math.max(columnNs, least) : columnNs;
}

/* What USE makes of a heatmap of C. */
export function withHeat(selection, { columnNs = 0, phaseNs = 0, nRows = 0, by = "", cell = "" }, use) {
	const { profile } = selection;
	const rows = nRows || (by ? MAX_ROWS : 0); /* 0: as the samples are dense, at most 50 */
	const fitting = fittingColumn(columnNs || SECOND, rows || 50, profile.startSub + profile.lengthNs);
	const made = make("heat", selection.made, fitting, phaseNs, rows, by, cell === "max" ? 1 : 0);
	try {
		return use(made);
	} finally {
		free("heat", made);
	}
}

/*
 * {nColumns, nRows, columnNs, rowNs, originNs, values, samples, rowLabels, hasOthers, min, max,
 * scale}: values (sums; CELL "max": the largest) and samples by [column * nRows + row]; originNs is
 * column 0's start relative to the recording's (0 or less); scale {min, max} is what colours go from
 * and to: without the row of others, beside which all rows are pale.
 */
export function makeHeat(selection, options = {}) {
	const heat = withHeat(selection, options, (made) => ({
		...facts("heat", made),
		values: column("heat", made, "values"),
		samples: column("heat", made, "samples"),
		selection,
	}));
	return Object.assign(heat, { rowNs: Math.ceil(heat.columnNs / heat.nRows) });
}

/* Sums of the selection in N equal parts of the recording, apart by sign. */
export function brushBins(selection, n) {
	const { profile, samples, values, spans } = selection;
	const scale = n / Math.max(1, profile.lengthNs);
	const bins = { gain: new Float64Array(n), loss: new Float64Array(n), most: 0 };
	for (let i = 0; i < selection.n; i++) {
		const to = spans.to.length ? Math.max(0, spans.to[i] * scale) : profile.time[samples[i]] * scale;
		const from = spans.from.length ? Math.max(0, spans.from[i] * scale) : to;
		const last = Math.min(n - 1, Math.floor(to));
		for (let at = Math.min(last, Math.floor(from)); at <= last; at++) {
			const part = to > from ? (Math.min(to, at + 1) - Math.max(from, at)) / (to - from) : 1;
			(values[i] < 0 ? bins.loss : bins.gain)[at] += part * Math.abs(values[i]);
		}
	}
	for (let i = 0; i < n; i++)
		bins.most = Math.max(bins.most, bins.gain[i], bins.loss[i]);
	return bins;
}

/* The innermost functions of a part of a selection, most first, as text. */
export function topFrames(selection) {
	const { frame, selfGain, selfLoss } = makeFunctions(selection);
	const own = Array.from(frame, (one, i) => [frameName(selection, one), selfGain[i] + selfLoss[i]]);
	const rest = selection.size - own.reduce((sum, [, one]) => sum + one, 0);
	return [...own, ...(rest > 0 ? [["[no stack]", rest]] : [])].sort((a, b) => b[1] - a[1]).slice(0, TOP_FRAMES)
		.map(([name, sum]) => `${selection.size ? `${Math.round((100 * sum) / selection.size)} % ` : ""}${name}`);
}
