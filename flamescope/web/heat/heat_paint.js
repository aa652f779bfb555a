/*
 * heat_paint.js - a heat model as pixels: one pixel a cell, painted once, scaled when it is drawn
 */

import { STEPS } from "wick/parts/colour.js";
import { make } from "wick/parts/dom.js";
import { downOf, rowTop } from "wick/heat/heat_place.js";

const TILE = 1024; /* columns of one picture */
const LEGEND = 160; /* pixels */
const HATCH_STEP = 10; /* pixels from stroke to stroke */
const HATCH_MIN = 5; /* a cell has to be as wide and high to be hatched */

/* Makes CANVAS as large, and FILLs its pixels. */
function putPixels(canvas, width, height, fill) {
	Object.assign(canvas, { width, height });
	const context = canvas.getContext("2d");
	const image = context.createImageData(width, height);
	fill(new Uint32Array(image.data.buffer));
	context.putImageData(image, 0, 0);
	return canvas;
}

/* The value of the fullest colour; only the row of others goes beyond it. */
const mostOf = ({ scale }) => Math.max(Math.abs(scale.min), Math.abs(scale.max)) || 1;

function pixelOf(value, most, { less, much }) {
	return (value < 0 ? less : much)[Math.ceil(Math.min(1, Math.abs(value) / most) * (STEPS - 1))];
}

/* The colour of each cell from column FROM on as one picture. */
function paintTile(heat, colours, from) {
	const width = Math.min(TILE, heat.nColumns - from);
	const most = mostOf(heat);
	return putPixels(make("canvas"), width, heat.nRows, (pixels) => {
		for (let column = 0; column < width; column++) {
			for (let row = 0; row < heat.nRows; row++) {
				const cell = (from + column) * heat.nRows + row;
				pixels[downOf(heat, row) * width + column] = heat.samples[cell] === 0 ? colours.none
					: pixelOf(heat.values[cell], most, colours);
			}
		}
	});
}

/* The pictures of one model in one theme. */
export function makeHeatPicture(heat, colours) {
	const tiles = [];
	return {
		colours,
		/* Draw columns so that column 0 would begin at LEFT and each is WIDTH wide. */
		draw(context, { left, width, height, first, end }) {
			context.imageSmoothingEnabled = width < 1;
			for (let i = Math.floor(first / TILE); i * TILE < end; i++) {
				const tile = tiles[i] ??= paintTile(heat, colours, i * TILE);
				context.drawImage(tile, left + i * TILE * width, 0, tile.width * width, height);
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
	const { left, width, gutter, right } = place;
	const rowHeight = place.height / heat.nRows;
	if (heat.min >= 0 || width < HATCH_MIN || rowHeight < HATCH_MIN)
		return;
	context.beginPath();
	for (let column = Math.floor(place.first); column < place.end; column++) {
		for (let row = 0; row < heat.nRows; row++) {
			if (heat.values[column * heat.nRows + row] >= 0)
				continue;
			const x = left + column * width;
			const y = rowTop(heat, place, row);
			strokesOf(context, Math.max(x, gutter) + 1, Math.min(x + width, right) - 1, y + 1, y + rowHeight - 1);
		}
	}
	context.stroke();
}

/* The scale of colours as a strip of pixels, least to most. */
export function paintLegend(canvas, heat, colours) {
	const from = Math.min(0, heat.scale.min);
	const step = (Math.max(0, heat.scale.max) - from) / (LEGEND - 1);
	putPixels(canvas, LEGEND, 1, (pixels) =>
		pixels.forEach((_, x) => (pixels[x] = pixelOf(from + x * step, mostOf(heat), colours))));
}
