/*
 * heat.js - how much in which moment: a grid of cells
 *
 * The same as flamescope/heat/heat.h: columns begin at the whole second of the profile's clock that
 * its first sample is in; a cell without a sample is not one whose values add up to 0.
 */

import { dimension } from "wick/select.js";

export const MAX_CELLS = 16 * 1024 * 1024;
export const MAX_ROWS = 1000;
const SECOND = 1e9;

/* The row of each of the selection's samples by a dimension, and the rows' labels, most first. */
function rowsBy(selection, name) {
	const dim = dimension(selection.profile, name);
	if (!dim)
		throw new Error(`there is no '${name}' to tell samples apart by`);
	const numbers = new Map();
	const ofCode = new Map();
	const totals = [];
	const rows = new Uint32Array(selection.n);
	for (let i = 0; i < selection.n; i++) {
		const code = dim.codes[selection.samples[i]];
		let row = ofCode.get(code);
		if (row === undefined) {
			const label = dim.label(code);
			row = numbers.get(label);
			if (row === undefined) {
				row = numbers.size;
				numbers.set(label, row);
				totals.push(0);
			}
			ofCode.set(code, row);
		}
		rows[i] = row;
		totals[row] += Math.abs(selection.values[i]);
	}
	const labels = [...numbers.keys()];
	const order = labels.map((_, row) => row).sort((a, b) =>
		totals[b] - totals[a] || (labels[a] < labels[b] ? -1 : 1));
	const place = new Uint32Array(order.length);
	order.forEach((row, i) => (place[row] = Math.min(i, MAX_ROWS - 1)));
	for (let i = 0; i < rows.length; i++)
		rows[i] = place[rows[i]];
	const shown = order.slice(0, MAX_ROWS).map((row) => labels[row]);
	if (order.length > MAX_ROWS)
		shown[MAX_ROWS - 1] = `[${order.length - MAX_ROWS + 1} others]`;
	return { rows, labels: shown };
}

/* A column of at least COLUMN_NS so that the grid is no larger than a page can hold. */
function fittingColumn(columnNs, nRows, lengthNs) {
	const most = Math.max(1, Math.floor(MAX_CELLS / nRows));
	const least = Math.ceil((lengthNs + columnNs) / most / SECOND) * SECOND;
	return (lengthNs + columnNs) / columnNs > most ? Math.max(columnNs, least) : columnNs;
}

function count(heat, selection, rowOf) {
	const { profile, samples, values } = selection;
	const { time, startSub } = profile;
	const { nRows, columnNs } = heat;
	for (let i = 0; i < selection.n; i++) {
		const at = startSub + time[samples[i]];
		const column = Math.floor(at / columnNs);
		const row = rowOf ? rowOf[i]
			: Math.min(nRows - 1, Math.floor(((at - column * columnNs) * nRows) / columnNs));
		const cell = column * nRows + row;
		heat.values[cell] += values[i];
		heat.samples[cell]++;
	}
}

/*
 * {nColumns, nRows, columnNs, originNs, values, samples, rowLabels, min, max}: values and samples
 * by [column * nRows + row]; originNs is column 0's start relative to the recording's (0 or less).
 */
export function makeHeat(selection, { columnNs = 0, nRows = 0, by = "" } = {}) {
	const { profile } = selection;
	const grouped = by ? rowsBy(selection, by) : null;
	const rows = grouped ? Math.max(1, grouped.labels.length) : nRows || 50;
	const column = fittingColumn(columnNs || SECOND, rows, profile.startSub + profile.lengthNs);
	const end = profile.startSub + profile.lengthNs;
	const nColumns = Math.max(1, Math.floor(end / column) + 1);
	const heat = {
		nColumns,
		nRows: rows,
		columnNs: column,
		originNs: -profile.startSub,
		values: new Float64Array(nColumns * rows),
		samples: new Uint32Array(nColumns * rows),
		rowLabels: grouped ? grouped.labels : null,
		min: 0,
		max: 0,
		selection,
	};
	count(heat, selection, grouped ? grouped.rows : null);
	let min = Infinity;
	let max = -Infinity;
	for (let i = 0; i < heat.values.length; i++) {
		if (heat.samples[i] === 0)
			continue;
		if (selection.measure === "mean")
			heat.values[i] = Math.round(heat.values[i] / heat.samples[i]);
		min = Math.min(min, heat.values[i]);
		max = Math.max(max, heat.values[i]);
	}
	if (min <= max)
		Object.assign(heat, { min, max });
	return heat;
}

/* The ranges of a selection of cells from (column, row) A to B, as FlameScope's clicks do. */
export function rangeBetween(heat, a, b) {
	const time = (cell, after) => {
		if (heat.rowLabels)
			return (cell.column + after) * heat.columnNs;
		return cell.column * heat.columnNs + ((cell.row + after) * heat.columnNs) / heat.nRows;
	};
	const [first, last] = time(a, 0) <= time(b, 0) ? [a, b] : [b, a];
	return {
		from: Math.max(0, Math.round(time(first, 0) + heat.originNs)),
		to: Math.round(time(last, 1) + heat.originNs),
		rows: null,
	};
}

/* The rectangle from A to B: its columns, and of each second its rows. */
export function rectangle(heat, a, b) {
	const columns = [Math.min(a.column, b.column), Math.max(a.column, b.column) + 1];
	const rows = [Math.min(a.row, b.row), Math.max(a.row, b.row) + 1];
	const whole = heat.rowLabels || (rows[0] === 0 && rows[1] === heat.nRows) ||
		heat.columnNs !== SECOND;
	return {
		from: Math.max(0, columns[0] * heat.columnNs + heat.originNs),
		to: columns[1] * heat.columnNs + heat.originNs,
		rows: whole ? null
			: rows.map((row) => Math.round((row * heat.columnNs) / heat.nRows)),
	};
}
