/*
 * heat_place.js - where cells are on the canvas, and which cell is where
 *
 * The window is the part of the time that is seen, in nanoseconds since the recording's start.
 */

import { escapePattern, patternOf } from "wick/label_pattern.js";

export const AXIS = 20; /* pixels below the cells */
const SECOND = 1e9;
const PARTS = [1, 2, 5, 10, 20, 50, 100, 200, 500].map((ms) => ms * 1e6); /* each divides a second */
const WHOLE = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400].map((s) => s * SECOND);
const STEPS = [...PARTS, ...WHOLE];
const LEAST_COLUMN = 2; /* pixels */
const SHORT_NS = 16 * SECOND; /* what is longer has enough columns of a second */
const ENOUGH_COLUMNS = 28; /* of what is shorter: thirty, of a recording that is not quite as long as was asked */
const MOST_RANGES = 16; /* that one rectangle becomes */
const TIME_HEIGHT = 300;
const LABEL_HEIGHT = 14;
const MOST_ROW = 64; /* pixels of a row with a name, where there is room */
const MANY_ROWS = 200; /* of which not each has room for its name */

/* The shortest column of a recording: a second, in which bands are seen, or a part of it. */
function leastColumn(lengthNs) {
	if (lengthNs === 0 || lengthNs >= SHORT_NS)
		return SECOND;
	return PARTS.findLast((ns) => lengthNs / ns >= ENOUGH_COLUMNS) ?? PARTS[0];
}

/* The column of a recording of LENGTHNS of which SPANNS are seen in WIDTHPX: two pixels wide at least. */
export function fittingColumn(spanNs, lengthNs, widthPx) {
	const least = leastColumn(lengthNs);
	return STEPS.find((ns) => ns >= least && (spanNs / ns) * LEAST_COLUMN <= widthPx) ?? STEPS.at(-1);
}

/* How high the rows are together: names want to be read. */
export function heightOf(heat) {
	if (!heat.rowLabels)
		return Math.max(TIME_HEIGHT, Math.min(1000, heat.nRows * 3));
	const row = Math.max(4, Math.min(LABEL_HEIGHT + 4, Math.floor(560 / heat.nRows)));
	return Math.max(2 * LABEL_HEIGHT, heat.nRows * row);
}

export function gutterOf(heat, width) {
	return heat.rowLabels ? Math.min(190, Math.round(width * 0.3)) : 52;
}

/* As heightOf(), in a window with room for HEIGHT pixels: rows of time fill it, names may need more. */
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

/* {left, width, top, height, clipLeft, clipRight, ...} of the cells, HEIGHT high on a canvas of WIDTH pixels. */
export function placeOf(heat, window, width, height = heightOf(heat)) {
	const gutter = gutterOf(heat, width);
	const perNs = (width - gutter) / (window.to - window.from);
	return {
		gutter,
		perNs,
		window,
		left: gutter + (heat.originNs - window.from) * perNs,
		width: heat.columnNs * perNs,
		top: 0,
		height,
		axisTop: height, /* of the times: higher up where the rows are higher than their room */
		clipLeft: gutter,
		clipRight: width,
	};
}

export const xOf = (place, ns) => place.gutter + (ns - place.window.from) * place.perNs;
export const timeAt = (place, x) => place.window.from + (x - place.gutter) / place.perNs;

export function rowTop(heat, place, row) {
	return place.top + ((heat.rowLabels ? row : heat.nRows - 1 - row) * place.height) / heat.nRows;
}

/* The cell at (x, y); where beside the cells says on which axis: "cells", "rows", "columns". */
export function cellAt(heat, place, x, y) {
	const column = Math.floor((x - place.left) / place.width);
	const down = Math.floor(((y - place.top) * heat.nRows) / place.height);
	const clamp = (value, n) => Math.max(0, Math.min(n - 1, value));
	const row = clamp(heat.rowLabels ? down : heat.nRows - 1 - down, heat.nRows);
	const part = x < place.gutter ? "rows" : y >= place.axisTop ? "columns" : "cells";
	return { column: clamp(column, heat.nColumns), row, part };
}

/* A distance of labels so that there is one in at most 70 pixels; nanoseconds. */
export function labelStep(place) {
	return STEPS.find((ns) => ns * place.perNs >= 70) ?? STEPS.at(-1);
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
	const range = rectangle(heat, a, b);
	const rows = [Math.min(a.row, b.row), Math.max(a.row, b.row) + 1];
	if (heat.rowLabels || (rows[0] === 0 && rows[1] === heat.nRows))
		return [range];
	const [low, high] = rows.map((row) => Math.min(row * heat.rowNs, heat.columnNs));
	if (heat.columnNs === SECOND)
		return wrapped(low, high, phaseOf(heat), SECOND).map((part) => ({ ...range, rows: part }));
	const first = Math.min(a.column, b.column);
	const n = Math.abs(a.column - b.column) + 1;
	if (n > MOST_RANGES)
		return [range];
	return Array.from({ length: n }, (_, i) => heat.originNs + (first + i) * heat.columnNs)
		.filter((start) => start + high > 0)
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
