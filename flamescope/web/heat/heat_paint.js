/*
 * heat_paint.js - a heat model as pixels: one pixel a cell, painted once, scaled when it is drawn
 */

import { STEPS } from "wick/parts/colour.js";
import { make } from "wick/parts/dom.js";
import { downOf, rowTop } from "wick/heat/heat_place.js";

const TILE = 1024; /* columns of one picture */
const HATCH_STEP = 10; /* pixels from stroke to stroke */
const HATCH_MIN = 5; /* a cell has to be as wide and high to be hatched */

/** The value of the fullest colour; only the row of others goes beyond it. */
export const mostOf = ({ scale }) => Math.max(Math.abs(scale.min), Math.abs(scale.max)) || 1;

function pixelOf(value, most, { less, much }) {
	return (value < 0 ? less : much)[Math.ceil(Math.min(1, Math.abs(value) / most) * (STEPS - 1))];
}

/* The colour of each cell from column FROM on as one picture. */
function paintTile(heat, colours, from) {
	const width = Math.min(TILE, heat.nColumns - from);
	const most = mostOf(heat);
	const canvas = make("canvas", { width, height: heat.nRows });
	const context = canvas.getContext("2d");
	const image = context.createImageData(width, heat.nRows);
	const pixels = new Uint32Array(image.data.buffer);
	for (let column = 0; column < width; column++) {
		for (let row = 0; row < heat.nRows; row++) {
			const cell = (from + column) * heat.nRows + row;
			pixels[downOf(heat, row) * width + column] = heat.samples[cell] === 0 ? colours.none
				: pixelOf(heat.values[cell], most, colours);
		}
	}
	context.putImageData(image, 0, 0);
	return canvas;
}

/* The pictures of one model in one theme. */
export function makeHeatPicture(heat, colours) {
	const tiles = [];
	return {
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

/* Strokes of a colour, to be filled with. */
function strokesOf(context, ink) {
	const tile = make("canvas", { width: HATCH_STEP, height: HATCH_STEP });
	const pen = tile.getContext("2d");
	pen.strokeStyle = ink;
	pen.moveTo(0, HATCH_STEP);
	pen.lineTo(HATCH_STEP, 0);
	pen.stroke();
	return context.createPattern(tile, "repeat");
}

/** Strokes over cells below zero, so that their sign is seen without their colour. */
export function hatchNegative(context, heat, place, ink) {
	const { left, width } = place;
	const rowHeight = place.height / heat.nRows;
	if (heat.min >= 0 || width < HATCH_MIN || rowHeight < HATCH_MIN)
		return;
	context.fillStyle = strokesOf(context, ink);
	for (let column = Math.floor(place.first); column < place.end; column++)
		for (let row = 0; row < heat.nRows; row++)
			if (heat.values[column * heat.nRows + row] < 0)
				context.fillRect(left + column * width + 1, rowTop(heat, place, row) + 1, width - 2, rowHeight - 2);
}
