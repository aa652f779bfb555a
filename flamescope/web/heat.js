/*
 * heat.js - how much in which moment: a grid of cells
 *
 * The same as flamescope/heat/heat.h: columns begin at the whole second of the profile's clock that
 * its first sample is in; a cell without a sample is not one whose values add up to 0.
 */

import { deltaMetricOf } from "wick/metric_dimension.js";
import { dimension } from "wick/select.js";

export const MAX_CELLS = 16 * 1024 * 1024;
export const MAX_ROWS = 1000;
const SECOND = 1e9;

/* What occurs of a dimension: {label, first: its lowest code, samples, amount}, most first. */
function rankValues(selection, dim) {
	const values = new Map();
	const ofCode = new Map();
	for (let i = 0; i < selection.n; i++) {
		const code = dim.codes[selection.samples[i]];
		let value = ofCode.get(code);
		if (!value) {
			const label = dim.label(code);
			value = values.get(label) ?? { label, first: code, samples: 0, amount: 0 };
			value.first = Math.min(value.first, code);
			values.set(label, value);
			ofCode.set(code, value);
		}
		value.samples++;
		value.amount += Math.abs(selection.values[i]);
	}
	const ranked = [...values.values()].sort((a, b) =>
		b.amount - a.amount || b.samples - a.samples || a.first - b.first);
	return { ranked, ofCode };
}

/* The row of each of the selection's samples by a dimension, and the rows' labels, most first. */
function rowsBy(selection, name, maxRows) {
	const dim = dimension(selection.profile, name, deltaMetricOf(selection));
	if (!dim)
		throw new Error(`there is no '${name}' to tell samples apart by`);
	const { ranked, ofCode } = rankValues(selection, dim);
	const n = Math.min(maxRows, ranked.length);
	ranked.forEach((value, i) => (value.row = Math.min(i, n - 1)));
	const rows = new Uint32Array(selection.n);
	for (let i = 0; i < rows.length; i++)
		rows[i] = ofCode.get(dim.codes[selection.samples[i]]).row;
	const labels = ranked.slice(0, n).map(({ label }) => label || `[no ${name}]`);
	const hasOthers = ranked.length > n;
	if (hasOthers)
		labels[n - 1] = `[${ranked.length - n + 1} others]`;
	return { rows, labels, nNamed: hasOthers ? n - 1 : n, values: ranked.map(({ label, row }) => ({ label, row })) };
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
	const { nRows, columnNs, rowNs } = heat;
	for (let i = 0; i < selection.n; i++) {
		const at = startSub + time[samples[i]];
		const column = Math.floor(at / columnNs);
		const row = rowOf ? rowOf[i]
			: Math.floor((at - column * columnNs) / rowNs);
		const cell = column * nRows + row;
		heat.values[cell] += values[i];
		heat.samples[cell]++;
	}
}

/* To the nearest whole number; halves away from 0. */
function meanOf(sum, n) {
	return Math.sign(sum) * Math.round(Math.abs(sum) / n);
}

/* Of the cells with samples in the first N rows; null: there are none. */
function extremes({ nRows, values, samples }, n) {
	let min = Infinity;
	let max = -Infinity;
	for (let i = 0; i < values.length; i++) {
		if (samples[i] === 0 || (n < nRows && i % nRows >= n))
			continue;
		min = Math.min(min, values[i]);
		max = Math.max(max, values[i]);
	}
	return min <= max ? { min, max } : null;
}

function takeMeans({ values, samples }) {
	for (let i = 0; i < values.length; i++)
		if (samples[i])
			values[i] = meanOf(values[i], samples[i]);
}

/*
 * {nColumns, nRows, columnNs, originNs, values, samples, rowLabels, min, max, scale}: values and
 * samples by [column * nRows + row]; originNs is column 0's start relative to the recording's (0 or
 * less); scale {min, max} is what colours go from and to: without the row of others, beside which
 * all rows are pale.
 */
export function makeHeat(selection, { columnNs = 0, nRows = 0, by = "" } = {}) {
	const { profile } = selection;
	const grouped = by ? rowsBy(selection, by, nRows || MAX_ROWS) : null;
	const rows = grouped ? Math.max(1, grouped.labels.length) : nRows || 50;
	const column = fittingColumn(columnNs || SECOND, rows, profile.startSub + profile.lengthNs);
	const end = profile.startSub + profile.lengthNs;
	const nColumns = Math.max(1, Math.floor(end / column) + 1);
	const heat = {
		nColumns,
		nRows: rows,
		columnNs: column,
		rowNs: Math.ceil(column / rows),
		originNs: -profile.startSub,
		values: new Float64Array(nColumns * rows),
		samples: new Uint32Array(nColumns * rows),
		rowLabels: grouped ? grouped.labels : null,
		rowValues: grouped ? grouped.values : null, /* {label, row} of all that occur */
		selection,
	};
	count(heat, selection, grouped ? grouped.rows : null);
	if (selection.measure === "mean")
		takeMeans(heat);
	const all = extremes(heat, rows) ?? { min: 0, max: 0 };
	const scale = grouped && grouped.nNamed < rows ? extremes(heat, grouped.nNamed) ?? all : all;
	return Object.assign(heat, all, { scale });
}

/* The ranges of a selection of cells from (column, row) A to B, as FlameScope's clicks do. */
export function rangeBetween(heat, a, b) {
	const time = (cell, after) => {
		if (heat.rowLabels)
			return (cell.column + after) * heat.columnNs;
		return cell.column * heat.columnNs + Math.min((cell.row + after) * heat.rowNs, heat.columnNs);
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
			: rows.map((row) => Math.min(row * heat.rowNs, heat.columnNs)),
	};
}
