/*
 * heat.js - how much in which moment: a grid of cells, of flamescope/heat/heat.h
 *
 * Columns begin at the whole second of the profile's clock that its first sample is in, or phaseNs
 * later; a cell
 * without a sample is not one whose values add up to 0.
 */

import { column, facts, free, make } from "wick/model.js";

export const MAX_CELLS = 16 * 1024 * 1024;
export const MAX_ROWS = 1000;
const SECOND = 1e9;

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
