/*
 * heat.js - how much in which moment: a grid of cells, of flamescope/heat/heat.h
 *
 * Columns begin at the whole second of the profile's clock that its first sample is in, or phaseNs
 * later; a cell without a sample is not one whose values add up to 0.
 */

import { makeFunctions } from "wick/models/flame.js";
import { frameName } from "wick/stacks/frames.js";
import { column, columns, facts, using } from "wick/models/model.js";

const TOP_FRAMES = 3;

/* What USE makes of a heatmap of C. */
export const withHeat = (selection, { columnNs = 0, phaseNs = 0, nRows = 0, by = "", cell = "" }, use) =>
	using("heat", [selection.made, columnNs, phaseNs, nRows, by, cell === "max" ? 1 : 0], use);

/*
 * {nColumns, nRows, columnNs, rowNs, originNs, values, samples, rowLabels, hasOthers, min, max,
 * scale}: values (sums; CELL "max": the largest) and samples by [column * nRows + row]; originNs is
 * column 0's start relative to the recording's (0 or less); scale {min, max} is what colours go from
 * and to: without the row of others, beside which all rows are pale.
 */
export const makeHeat = (selection, options = {}) => withHeat(selection, options, (made) =>
	({ ...facts("heat", made), ...columns("heat", made, "values", "samples"), selection }));

/** Sums of the selection in N equal parts of the recording, apart by sign. */
export function brushBins({ made }, n) {
	const [gain, loss] = ["gain", "loss"].map((name) => column("bins", made, n, name));
	return { gain, loss, most: [...gain, ...loss].reduce((most, one) => Math.max(most, one), 0) };
}

/* The innermost functions of a part of a selection, most first, as text. */
export function topFrames(selection) {
	const { frame, selfGain, selfLoss } = makeFunctions(selection);
	const own = Array.from(frame, (one, i) => [frameName(selection, one), selfGain[i] + selfLoss[i]]);
	const rest = selection.size - own.reduce((sum, [, one]) => sum + one, 0);
	return [...own, ...(rest > 0 ? [["[no stack]", rest]] : [])].sort((a, b) => b[1] - a[1]).slice(0, TOP_FRAMES)
		.map(([name, sum]) => `${selection.size ? `${Math.round((100 * sum) / selection.size)} % ` : ""}${name}`);
}
