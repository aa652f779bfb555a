/*
 * heat_place.js - where cells are on the canvas, and which cell is where
 *
 * The window is the part of the time that is seen, in nanoseconds since the recording's start.
 */

import { escapePattern, patternOf } from "wick/state/label_pattern.js";

export const AXIS = 20; /* pixels below the cells */
const SECOND = 1e9;
/* Seconds between labels. */
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
	7200, 21600, 86400];
const LEAST_COLUMN = 2; /* pixels */
const MOST_RANGES = 16; /* that one rectangle becomes */
const HEIGHT = 300; /* pixels of a picture's rows */
const LABEL_HEIGHT = 14;
const MOST_ROW = 64; /* pixels of a row with a name, where there is room */
const MANY_ROWS = 200; /* of which not each has room for its name */

/* The column of a recording of which SPANNS are seen in WIDTHPX: two pixels wide at least. */
export const fittingColumn = ({ columns }, spanNs, widthPx) =>
	columns.find((ns) => (spanNs / ns) * LEAST_COLUMN <= widthPx) ?? columns.at(-1);

export function gutterOf(heat, width) {
	return heat.rowLabels ? Math.min(190, Math.round(width * 0.3)) : 52;
}

/* How high the rows are together where there is room for HEIGHT pixels: rows of time fill it, names may need more. */
export function heightIn(heat, height) {
	if (!heat.rowLabels)
		return Math.max(heat.nRows, height);
	return Math.max(Math.min(height, heat.nRows * MOST_ROW), heat.nRows * (heat.nRows > MANY_ROWS ? 4 : LABEL_HEIGHT));
}

/* Everything that there is to see, from the column with the recording's start: whole columns. */
export function wholeWindow(heat) {
	const first = Math.max(0, Math.floor(-heat.originNs / heat.columnNs));
	return { from: heat.originNs + first * heat.columnNs, to: heat.originNs + heat.nColumns * heat.columnNs };
}

/*
 * Where cells are, HEIGHT high on a canvas of WIDTH pixels: column 0 begins at LEFT, each is WIDTH wide, and
 * they are seen from GUTTER to RIGHT, which is from column FIRST to END (maybe parts of them).
 */
export function placeOf(heat, window, right, height = heightIn(heat, HEIGHT)) {
	const gutter = gutterOf(heat, right);
	const perNs = (right - gutter) / (window.to - window.from);
	const left = gutter + (heat.originNs - window.from) * perNs;
	const width = heat.columnNs * perNs;
	return {
		gutter, right, perNs, window, left, width, height,
		first: Math.max(0, (gutter - left) / width),
		end: Math.min(heat.nColumns, (right - left) / width),
		axisTop: height, /* of the times: higher up where the rows are higher than their room */
	};
}

export const xOf = (place, ns) => place.gutter + (ns - place.window.from) * place.perNs;
export const timeAt = (place, x) => place.window.from + (x - place.gutter) / place.perNs;

/** Which row from the top: time goes up from the bottom, as in FlameScope; other rows go down. */
export const downOf = ({ rowLabels, nRows }, row) => (rowLabels ? row : nRows - 1 - row);

export const rowTop = (heat, place, row) => (downOf(heat, row) * place.height) / heat.nRows;

/* The cell at (x, y); where beside the cells says on which axis: "cells", "rows", "columns". */
export function cellAt(heat, place, x, y) {
	const column = Math.floor((x - place.left) / place.width);
	const down = Math.floor((y * heat.nRows) / place.height);
	const clamp = (value, n) => Math.max(0, Math.min(n - 1, value));
	const row = clamp(downOf(heat, down), heat.nRows);
	const part = x < place.gutter ? "rows" : y >= place.axisTop ? "columns" : "cells";
	return { column: clamp(column, heat.nColumns), row, part };
}

/* A distance of labels so that there is one in at most 70 pixels; nanoseconds. */
export function labelStep(place) {
	return (STEPS.find((s) => s * SECOND * place.perNs >= 70) ?? STEPS.at(-1)) * SECOND;
}

/* How long after their whole time columns begin: 0, unless the state shifts them. */
export function phaseOf({ columnNs, originNs, selection }) {
	const at = (originNs + selection.profile.startSub) % columnNs;
	return at < 0 ? at + columnNs : at;
}

/* The part [from, to) of a period, LATER, as parts of it: two where it crosses the period's edge. */
export function wrapped(from, to, later, period) {
	const [a, b] = [from + later, to + later];
	if (a >= period)
		return [[a - period, b - period]];
	return b <= period ? [[a, b]] : [[a, period], [0, b - period]];
}

/* What selects a row of columns that are not seconds: {every, from, to}; null: ranges can. */
export function everyOfRow(heat, row) {
	if (heat.rowLabels || heat.columnNs === SECOND)
		return null;
	const end = Math.min((row + 1) * heat.rowNs, heat.columnNs);
	const parts = wrapped(row * heat.rowNs, end, phaseOf(heat), heat.columnNs);
	const [from, to] = parts[0]; /* of a row across the edge the part before it */
	return { every: heat.columnNs, from, to };
}

/*
 * The ranges of the rectangle of cells from A to B.  Ranges know parts of whole seconds: what crosses
 * a second's edge is two of them, and of other columns each is one of its own, as long as these are
 * few; else they are whole columns.
 */
export function rectangleRanges(heat, a, b) {
	const first = Math.min(a.column, b.column);
	const n = Math.abs(a.column - b.column) + 1;
	const rows = [Math.min(a.row, b.row), Math.max(a.row, b.row) + 1];
	const startOf = (column) => column * heat.columnNs + heat.originNs;
	const range = { from: Math.max(0, startOf(first)), to: startOf(first + n), rows: null };
	const [low, high] = rows.map((row) => Math.min(row * heat.rowNs, heat.columnNs));
	if (heat.rowLabels || (rows[0] === 0 && rows[1] === heat.nRows))
		return [range];
	if (heat.columnNs === SECOND)
		return wrapped(low, high, phaseOf(heat), SECOND).map((part) => ({ ...range, rows: part }));
	if (n > MOST_RANGES)
		return [range];
	return Array.from({ length: n }, (_, i) => startOf(first + i)).filter((start) => start + high > 0)
		.map((start) => ({ from: Math.max(0, start + low), to: start + high, rows: null }));
}

/* A filter that says "what is in this row"; of the row of all others: "none of the rows above". */
export function filterOfRow(heat, by, row) {
	const labels = heat.rowLabels.map((label) => (label === `[no ${by}]` ? "" : label));
	if (!heat.hasOthers || row < heat.nRows - 1)
		return { dimension: by, exclude: false, pattern: patternOf([labels[row]]) };
	const shown = labels.slice(0, -1).map(escapePattern);
	return { dimension: by, exclude: true, pattern: `^(${shown.join("|")})$` };
}

/* The range of a selection of cells from (column, row) A to B, as FlameScope's clicks do. */
export function rangeBetween(heat, a, b) {
	const time = ({ column, row }, after) => heat.originNs + (heat.rowLabels ? (column + after) * heat.columnNs
		: column * heat.columnNs + Math.min((row + after) * heat.rowNs, heat.columnNs));
	const [first, last] = time(a, 0) <= time(b, 0) ? [a, b] : [b, a];
	return { from: Math.max(0, Math.round(time(first, 0))), to: Math.round(time(last, 1)), rows: null };
}
