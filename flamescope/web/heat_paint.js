/*
 * heat_paint.js - a heat model as pixels: one pixel a cell, painted once, scaled when it is drawn
 */

import { STEPS } from "wick/colour.js";

const TILE = 1024; /* columns of one picture */
const HATCH_STEP = 10; /* pixels from stroke to stroke */
const HATCH_MIN = 5; /* a cell has to be as wide and high to be hatched */

/* The colour of each cell of columns [from, to) as one picture. */
function paintTile(heat, colours, from, to) {
	const canvas = document.createElement("canvas");
	const width = to - from;
	canvas.width = width;
	canvas.height = heat.nRows;
	const context = canvas.getContext("2d");
	const image = context.createImageData(width, heat.nRows);
	const pixels = new Uint32Array(image.data.buffer);
	const most = mostOf(heat);
	for (let column = from; column < to; column++) {
		for (let row = 0; row < heat.nRows; row++) {
			const cell = column * heat.nRows + row;
			/* Time goes up from the bottom, as in FlameScope; other rows go down. */
			const y = heat.rowLabels ? row : heat.nRows - 1 - row;
			pixels[y * width + column - from] = pixelOf(heat, cell, colours, most);
		}
	}
	context.putImageData(image, 0, 0);
	return canvas;
}

/* The value of the fullest colour. */
function mostOf({ scale }) {
	return Math.max(Math.abs(scale.min), Math.abs(scale.max)) || 1;
}

/* The colour of a cell as a pixel; MOST is the value of the fullest colour. */
function pixelOf(heat, cell, colours, most) {
	if (heat.samples[cell] === 0)
		return colours.none;
	const value = heat.values[cell];
	/* only the row of others goes beyond the scale */
	const step = Math.ceil(Math.min(1, Math.abs(value) / most) * (STEPS - 1));
	return value < 0 ? colours.less[step] : colours.much[step];
}

/* The pictures of one model in one theme. */
export function makeHeatPicture(heat, colours) {
	const tiles = new Map();
	function tile(number) {
		if (!tiles.has(number)) {
			const from = number * TILE;
			tiles.set(number, paintTile(heat, colours, from, Math.min(heat.nColumns, from + TILE)));
		}
		return tiles.get(number);
	}
	return {
		heat,
		colours,
		/* Draw columns so that column 0 would begin at LEFT and each is WIDTH wide. */
		draw(context, { left, width, top, height, clipLeft, clipRight }) {
			const first = Math.max(0, Math.floor((clipLeft - left) / width / TILE));
			const last = Math.min(Math.ceil(heat.nColumns / TILE) - 1,
				Math.floor((clipRight - left) / width / TILE));
			context.imageSmoothingEnabled = width < 1;
			for (let number = first; number <= last; number++) {
				const canvas = tile(number);
				context.drawImage(canvas, left + number * TILE * width, top,
					canvas.width * width, height);
			}
		},
	};
}

/* Beside each other, each as wide as the cell is high. */
function strokesOf(context, left, right, top, bottom) {
	const wide = bottom - top;
	for (let x = left; x < right; x += HATCH_STEP) {
		const end = Math.min(right, x + wide);
		context.moveTo(x, bottom);
		context.lineTo(end, bottom - (end - x));
	}
}

/* Strokes over cells below zero, so that their sign is seen without their colour. */
export function hatchNegative(context, heat, place) {
	const { left, width, top, height, clipLeft, clipRight } = place;
	const rowHeight = height / heat.nRows;
	if (heat.min >= 0 || width < HATCH_MIN || rowHeight < HATCH_MIN)
		return;
	const first = Math.max(0, Math.floor((clipLeft - left) / width));
	const last = Math.min(heat.nColumns - 1, Math.floor((clipRight - left) / width));
	context.beginPath();
	for (let column = first; column <= last; column++) {
		for (let row = 0; row < heat.nRows; row++) {
			if (heat.values[column * heat.nRows + row] >= 0)
				continue;
			const x = left + column * width;
			const y = top + (heat.rowLabels ? row : heat.nRows - 1 - row) * rowHeight;
			strokesOf(context, Math.max(x, clipLeft) + 1, Math.min(x + width, clipRight) - 1, y + 1, y + rowHeight - 1);
		}
	}
	context.stroke();
}

/* The scale of colours as a strip of pixels, least to most. */
export function paintLegend(canvas, heat, colours) {
	canvas.width = 160;
	canvas.height = 1;
	const context = canvas.getContext("2d");
	const image = context.createImageData(160, 1);
	const pixels = new Uint32Array(image.data.buffer);
	const from = Math.min(0, heat.scale.min);
	const to = Math.max(0, heat.scale.max);
	const most = Math.max(-from, to) || 1;
	for (let x = 0; x < 160; x++) {
		const value = from + ((to - from) * x) / 159;
		const step = Math.round((Math.abs(value) / most) * (STEPS - 1));
		pixels[x] = value < 0 ? colours.less[step] : colours.much[step];
	}
	context.putImageData(image, 0, 0);
}
