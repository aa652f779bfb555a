/* heat_marks.js - what lies over the cells: selections, the cursor, the axes */

import { AXIS, labelStep, phaseOf, rowTop, wrapped, xOf } from "wick/heat/heat_place.js";

const FONT = '11px system-ui, "DejaVu Sans", sans-serif';
const SECOND = 1e9;

/* The outline of a range on the grid: a path of rectangles, one a column where rows differ. */
function rangePath(heat, place, range) {
	const path = new Path2D();
	/* of columns from FROM to END the part of their time from LOW to HIGH */
	const add = (from, end, low = 0, high = 1) => {
		const [left, right] = [from, end].map((column) => xOf(place, heat.originNs + column * heat.columnNs));
		const x = Math.max(place.gutter, left);
		const width = Math.min(place.right, right) - x;
		if (width > 0)
			path.rect(x, place.height * (1 - high), width, place.height * (high - low));
	};
	const [from, to] = [range.from, range.to].map((ns) => Math.min(heat.nColumns, (ns - heat.originNs) / heat.columnNs));
	const [first, last] = [Math.floor(from), Math.ceil(to) - 1];
	if (heat.rowLabels || place.width < 2) {
		add(from, to);
	} else if (range.rows && heat.columnNs === SECOND) {
		for (const part of wrapped(...range.rows, (SECOND - phaseOf(heat)) % SECOND, SECOND)) {
			const [low, high] = part.map((ns) => ns / SECOND);
			const middle = (low + high) / 2; /* is in the range, in those columns */
			add(Math.max(0, Math.ceil(from - middle)), Math.ceil(to - middle), low, high);
		}
	} else if (first === last) {
		add(first, first + 1, from - first, to - first);
	} else {
		add(first, first + 1, from - first);
		add(first + 1, last);
		add(last, last + 1, 0, to - last);
	}
	return path;
}

export function drawRanges(context, heat, place, ranges, { stroke, dashed }) {
	for (const range of ranges) {
		const path = rangePath(heat, place, range);
		context.globalAlpha = 0.25;
		context.fillStyle = stroke;
		context.fill(path);
		context.globalAlpha = 1;
		context.strokeStyle = stroke;
		context.lineWidth = 2;
		context.setLineDash(dashed ? [5, 4] : []);
		context.stroke(path);
	}
	context.setLineDash([]);
}

export function drawCell(context, heat, place, { column, row }, stroke, label = "") {
	const x = place.left + column * place.width;
	const y = rowTop(heat, place, row);
	const width = Math.max(3, place.width);
	const height = Math.max(3, place.height / heat.nRows);
	context.strokeStyle = stroke;
	context.lineWidth = 2;
	context.strokeRect(x, y, width, height);
	if (label) {
		context.font = FONT;
		context.fillStyle = stroke;
		context.textBaseline = "bottom";
		context.textAlign = "left";
		context.fillText(label, Math.min(x, place.right - 30), Math.max(12, y - 1));
	}
}

function timeText(ns, step) {
	const seconds = Math.round(ns / 1e6) / 1e3;
	if (step < 60 * SECOND)
		return `${step < SECOND ? seconds.toFixed(step < 10e6 ? 3 : step < 100e6 ? 2 : 1) : seconds} s`;
	const h = Math.floor(seconds / 3600);
	const m = String(Math.floor((seconds % 3600) / 60)).padStart(2, "0");
	return h ? `${h}:${m} h` : `${m}:${String(seconds % 60).padStart(2, "0")}`;
}

function drawTimes(context, place, baseline) {
	const step = labelStep(place);
	const first = Math.max(0, Math.ceil(place.window.from / step));
	context.textBaseline = "top";
	context.textAlign = "left";
	for (let i = first; i * step < place.window.to; i++) {
		const x = xOf(place, i * step);
		context.fillRect(x, baseline, 1, 4);
		if (x + 40 < place.right)
			context.fillText(timeText(i * step, step), x + 2, baseline + 5);
	}
}

/* Cut in the middle, where names of threads differ least. */
function fit(context, text, width) {
	const keep = Math.max(2, Math.floor((text.length * width) / context.measureText(text).width));
	const half = Math.ceil((keep - 1) / 2);
	return keep >= text.length ? text : `${text.slice(0, half)}…${text.slice(half + 1 - keep || text.length)}`;
}

function drawRowLabels(context, heat, place) {
	const rowHeight = place.height / heat.nRows;
	context.textBaseline = "middle";
	context.textAlign = "right";
	if (heat.rowLabels) {
		const every = Math.max(1, Math.ceil(12 / rowHeight));
		for (let row = 0; row < heat.nRows && row < heat.rowLabels.length; row += every)
			context.fillText(fit(context, heat.rowLabels[row], place.gutter - 8),
				place.gutter - 4, rowTop(heat, place, row) + rowHeight / 2, place.gutter - 8);
		return;
	}
	const columnMs = heat.columnNs / 1e6;
	const later = phaseOf(heat) / 1e6;
	for (let part = 0; part <= 4; part++) {
		const y = place.height * (1 - part / 4);
		const at = later + (columnMs * part) / 4;
		const ms = Math.round((at > columnMs ? at - columnMs : at) * 10) / 10;
		const text = columnMs > 1000 ? `${ms / 1000} s` : `${ms} ms`;
		context.fillText(text, place.gutter - 4, Math.max(7, Math.min(place.height - 6, y)));
	}
}

export function drawAxes(context, heat, place, { ink, paper }) {
	context.font = FONT;
	context.fillStyle = ink;
	drawRowLabels(context, heat, place);
	if (place.axisTop < place.height) {
		context.fillStyle = paper;
		context.fillRect(0, place.axisTop, place.right, place.height - place.axisTop + AXIS);
		context.fillStyle = ink;
	}
	drawTimes(context, place, place.axisTop);
}
