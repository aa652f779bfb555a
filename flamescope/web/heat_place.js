/*
 * heat_place.js - where cells are on the canvas, and which cell is where
 *
 * The window is the part of the time that is seen, in nanoseconds since the recording's start.
 */

export const AXIS = 20; /* pixels below the cells */
const NICE = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400];
const TIME_HEIGHT = 300;
const LABEL_HEIGHT = 14;

/* The narrowest whole seconds with which a column is a pixel at least. */
export function fittingColumn(lengthNs, widthPx) {
	const seconds = NICE.find((n) => lengthNs / (n * 1e9) <= widthPx) ?? NICE[NICE.length - 1];
	return seconds * 1e9;
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

/* Everything that there is to see, whole columns. */
export function wholeWindow(heat) {
	return { from: heat.originNs, to: heat.originNs + heat.nColumns * heat.columnNs };
}

/* {left, width, top, height, clipLeft, clipRight, ...} of the cells on a canvas of WIDTH pixels. */
export function placeOf(heat, window, width) {
	const gutter = gutterOf(heat, width);
	const perNs = (width - gutter) / (window.to - window.from);
	return {
		gutter,
		perNs,
		window,
		left: gutter + (heat.originNs - window.from) * perNs,
		width: heat.columnNs * perNs,
		top: 0,
		height: heightOf(heat),
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
	const part = x < place.gutter ? "rows" : y >= place.top + place.height ? "columns" : "cells";
	return { column: clamp(column, heat.nColumns), row, part };
}

/* A distance of labels so that there is one in at most 70 pixels. */
export function labelStep(place) {
	return NICE.find((seconds) => seconds * 1e9 * place.perNs >= 70) ?? NICE[NICE.length - 1];
}

const escapePattern = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/* A filter that says "what is in this row"; of the row of all others: "none of the rows above". */
export function filterOfRow(heat, by, row) {
	const patternOf = (label) => (label === `[no ${by}]` ? "" : escapePattern(label));
	if (!heat.hasOthers || row < heat.nRows - 1) {
		const pattern = patternOf(heat.rowLabels[row]);
		return { dimension: by, exclude: false, pattern: pattern && `^${pattern}$` };
	}
	const shown = heat.rowLabels.slice(0, -1).map(patternOf);
	return { dimension: by, exclude: true, pattern: `^(${shown.join("|")})$` };
}
