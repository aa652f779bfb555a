/* flame_paint.js - draws the rows of a laid-out tree that are seen on a canvas */

import { visitRow } from "wick/tree_layout.js";

export const ROW = 18; /* pixels, each row of the tree */
const FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
const LEAST_TEXT = 28; /* pixels: below that no name is worth its ink */

const charWidths = new WeakMap();

function charWidth(context) {
	let width = charWidths.get(context);
	if (!width) {
		context.font = FONT;
		width = context.measureText("mmmmmmmmmm").width / 10;
		charWidths.set(context, width);
	}
	return width;
}

/* Stripes over what shrank: the sign is seen without its colour. */
export function stripes(context, ink) {
	const tile = document.createElement("canvas");
	tile.width = tile.height = 8;
	const pen = tile.getContext("2d");
	pen.strokeStyle = ink;
	pen.globalAlpha = 0.35;
	pen.lineWidth = 1.5;
	for (const x of [-8, 0, 8]) {
		pen.moveTo(x, 8);
		pen.lineTo(x + 8, 0);
	}
	pen.stroke();
	return context.createPattern(tile, "repeat");
}

/**
 * paintTree - what is seen of PICTURE.layout through WINDOW
 * @picture: {layout, firstRow, fill(node) -> css, text(node), matches (a byte a frame) or null,
 *           striped(node), above: nodes that the window is inside of, which are drawn paler}
 * @place:   {width, height, top, up, full}: pixels; TOP is how far it is scrolled down, FULL the
 *           height of all rows, UP puts the root at the bottom
 * @ink:     {paper, text, crumb, match, matchText, stripes}
 */
export function paintTree(context, picture, window, place, ink) {
	const { layout, firstRow } = picture;
	const { width, height, top, up, full } = place;
	context.fillStyle = ink.paper;
	context.fillRect(0, 0, width, height);
	context.font = FONT;
	context.textBaseline = "middle";
	const pen = { context, picture, ink, width, char: charWidth(context), x0: window[0],
		scale: width / (window[1] - window[0]) };
	for (let row = firstRow; row < layout.nRows; row++) {
		const y = rowTop(row - firstRow, up, full) - top;
		if (y + ROW < 0 || y > height)
			continue;
		visitRow(layout, row, window[0], window[1], 1 / pen.scale,
			(node, from, to) => paintBox(pen, node, from, to, y),
			(from, to) => paintCrumb(pen, from, to, y));
	}
}

/** Where a row begins: row 0 is the lowest one of a graph that grows up. */
export function rowTop(row, up, full) {
	return up ? full - (row + 1) * ROW : row * ROW;
}

function paintCrumb(pen, from, to, y) {
	const x = (from - pen.x0) * pen.scale;
	pen.context.fillStyle = pen.ink.crumb;
	pen.context.fillRect(x, y, Math.max(0.5, (to - from) * pen.scale), ROW - 1);
}

function paintBox(pen, node, from, to, y) {
	const { context, picture, ink } = pen;
	const left = Math.max(-1, (from - pen.x0) * pen.scale);
	const right = Math.min(pen.width + 1, (to - pen.x0) * pen.scale);
	const gap = right - left > 3 ? 0.6 : 0;
	const match = picture.matches?.[picture.layout.tree.frame[node]];
	const pale = from < pen.x0 && right > pen.width && picture.above?.has(node);
	context.globalAlpha = pale ? 0.5 : 1;
	context.fillStyle = match ? ink.match : picture.fill(node);
	context.fillRect(left, y, right - left - gap, ROW - 1);
	if (picture.striped?.(node)) {
		context.fillStyle = ink.stripes;
		context.fillRect(left, y, right - left - gap, ROW - 1);
	}
	if (match) {
		context.fillStyle = ink.matchText;
		context.fillRect(left, y + ROW - 4, right - left - gap, 2);
	}
	context.globalAlpha = 1;
	const start = Math.max(0, left);
	if (right - start >= LEAST_TEXT)
		paintText(pen, picture.text(node), start + 3, right - start - 6, y, match);
}

function paintText(pen, text, x, room, y, match) {
	const { context, ink } = pen;
	const chars = Math.floor(room / pen.char);
	const shown = text.length <= chars ? text : `${text.slice(0, Math.max(1, chars - 1))}…`;
	context.fillStyle = match ? ink.matchText : ink.text;
	context.fillText(shown, x, y + ROW / 2, room);
}
