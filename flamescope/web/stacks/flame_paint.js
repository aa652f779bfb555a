/*
 * flame_paint.js - draws the rows of a laid-out tree that are seen on a canvas
 *
 * Boxes are written as pixels: a row is one line of them, copied down.  Thousands of boxes cost
 * what the pixels cost, where a call of the canvas for each would cost more than a frame has time.
 */

import { pixelOf, pixelOfRgb } from "wick/parts/colour.js";
import { visitRow } from "wick/stacks/tree_layout.js";

export const ROW = 18; /* pixels, each row of the tree where a window is not large */
const FONT = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
const LEAST_TEXT = 28; /* pixels: below that no name is worth its ink */
const LEAST_NUMBERS = 8; /* characters: two blanks and a share */
const FEW_PIXELS = 8;
const LEAST_GAP = 4; /* pixels: narrower boxes touch */

/* Halfway between two pixels, channel by channel. */
function between(a, b) {
	return ((((a >>> 1) & 0x7f7f7f7f) + ((b >>> 1) & 0x7f7f7f7f)) | 0xff000000) >>> 0;
}

let last = null; /* image on the page, which all sheets as large share: each drawing fills it anew */

/** {context, width, height, image, pixels} of a canvas with an INK, as long as it keeps its size. */
export function makeSheet(canvas, { paper }) {
	const { width, height } = canvas;
	const context = canvas.getContext("2d", { alpha: false });
	context.fillStyle = paper; /* until it is drawn */
	context.fillRect(0, 0, width, height);
	const image = last?.width === width && last.height === height ? last : context.createImageData(width, height);
	if (canvas.isConnected)
		last = image; /* of what is saved it would stay for nobody */
	return { context, width, height, image, pixels: new Uint32Array(image.data.buffer) };
}

/** Rows [first, end] of which a part is seen; there may be fewer in the tree. */
export const rowsSeen = ({ firstRow, full, height, row: high, top, up }) => (up
	? [Math.max(0, Math.ceil((full - top - height) / high) - 1), Math.ceil((full - top) / high)]
	: [Math.floor(top / high), Math.ceil((top + height) / high)]).map((row) => row + firstRow);

/**
 * paintTree - what is seen of rows FROM to END of a picture (tree_picture.js) through WINDOW, as far as it is done UNTIL then
 * @picture: it also has ABOVE: nodes that the window is inside of, which are drawn paler
 * @place:   {height, top, up, firstRow, full, row, ratio}: pixels; TOP is how far it is scrolled down,
 *           FULL the height of all rows from FIRSTROW on, each ROW high, UP puts the root at the bottom,
 *           RATIO is the screen's
 * @ink:     {paper, text, crumb, match, matchText}
 *
 * Return: the row that is next.
 */
export function paintTree(sheet, picture, window, place, ink, [from, end], until) {
	const { top, up, firstRow, full, row: high, ratio } = place;
	const { context } = sheet;
	const inks = Object.fromEntries(Object.entries(ink).map(([name, css]) => [name, pixelOf(css)]));
	const pen = { ...inks, sheet, picture, ratio, high, width: sheet.width, window,
		scale: sheet.width / (window[1] - window[0]), labels: [] };
	const topOf = (row) => rowTop(row - firstRow, up, full, high) - top;
	let row = from;
	do
		paintRow(pen, row, topOf(row));
	while (++row < end && performance.now() < until);
	const seen = up ? [topOf(row - 1), topOf(from) + high] : [topOf(from), topOf(row)];
	const [first, last] = seen.map((y) => Math.round(y * ratio));
	context.putImageData(sheet.image, 0, 0, 0, first, sheet.width, last - first);
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.font = `${Math.round((high * 2) / 3)}px ${FONT}`;
	context.textBaseline = "middle";
	const char = context.measureText("mmmmmmmmmm").width / 10;
	for (const label of pen.labels)
		paintText(context, picture, label, char, label.match ? ink.matchText : ink.text);
	return row;
}

/** Where a row begins: row 0 is the lowest one of a graph that grows up. */
export function rowTop(row, up, full, high = ROW) {
	return up ? full - (row + 1) * high : row * high;
}

function paintRow(pen, row, y) {
	const { pixels, height } = pen.sheet;
	const first = Math.max(0, Math.round(y * pen.ratio));
	const below = Math.min(height, Math.round((y + pen.high) * pen.ratio));
	const end = Math.min(height, below - 1);
	pixels.fill(pen.paper, first * pen.width, below * pen.width);
	if (first >= end || row > pen.picture.tree.maxDepth)
		return;
	const line = { base: first * pen.width, y, first, end, extras: [] };
	visitRow(pen.picture.tree, row, pen.window, 1 / pen.scale,
		(node, from, to) => paintBox(pen, line, node, from, to),
		(from, to) => fillPart(pen, line, pen.crumb, leftOf(pen, from), rightOf(pen, leftOf(pen, from), to)));
	for (let at = first + 1; at < end; at++)
		pixels.copyWithin(at * pen.width, line.base, line.base + pen.width);
	for (const extra of line.extras)
		extra();
}

/* The first pixel of a box, and the end of them: one at least is seen. */
const leftOf = ({ width, window, scale }, from) => Math.min(width - 1, Math.max(0, Math.round((from - window[0]) * scale)));
const rightOf = ({ width, window, scale }, left, to) => Math.min(width, Math.max(left + 1, Math.round((to - window[0]) * scale)));

function fillPart({ sheet: { pixels } }, { base }, pixel, left, right) {
	if (right - left > FEW_PIXELS)
		pixels.fill(pixel, base + left, base + right);
	else
		for (let x = left; x < right; x++)
			pixels[base + x] = pixel; /* a call for each would take most of the time */
}

function paintBox(pen, line, node, from, to) {
	const { picture, ratio } = pen;
	const left = leftOf(pen, from);
	const right = rightOf(pen, left, to);
	const match = node > 0 && picture.matches?.[picture.tree.frame[node]];
	const end = right - left > LEAST_GAP * ratio ? right - 1 : right;
	let pixel = match ? pen.match : pixelOfRgb(picture.fill(node));
	if (picture.above?.has(node))
		pixel = between(pixel, pen.paper);
	fillPart(pen, line, pixel, left, end);
	if (picture.striped?.(node))
		line.extras.push(() => paintStripes(pen, line, left, end, between(pixel, pen.text)));
	if (match)
		line.extras.push(() => paintUnderline(pen, line, left, end));
	if (right - left >= LEAST_TEXT * ratio)
		pen.labels.push({ node, match, middle: line.y + pen.high / 2,
			x: left / ratio + 3, room: (right - left) / ratio - 6 });
}

/* Over what shrank: the sign is seen without its colour. */
function paintStripes(pen, line, left, right, pixel) {
	const { pixels } = pen.sheet;
	for (let y = line.first; y < line.end; y++) {
		const shift = (8 - ((left + y) & 7)) & 7;
		for (let x = left + shift; x < right; x += 8)
			pixels[y * pen.width + x] = pixel;
	}
}

/* Below what the search matches, for the same reason. */
function paintUnderline(pen, line, left, right) {
	for (let y = Math.max(line.first, line.end - 3); y < line.end - 1; y++)
		pen.sheet.pixels.fill(pen.matchText, y * pen.width + left, y * pen.width + right);
}

/** What a box of so many characters says: the name, and as many of its numbers as fit whole. */
export function boxText(picture, node, chars) {
	let text = picture.text(node);
	if (text.length > chars)
		return `${text.slice(0, Math.max(1, chars - 1))}…`;
	if (text.length + LEAST_NUMBERS > chars)
		return text;
	for (const number of picture.numbers?.(node) ?? []) {
		if (text.length + 2 + number.length > chars)
			break;
		text += `  ${number}`;
	}
	return text;
}

function paintText(context, picture, { node, x, room, middle }, char, ink) {
	context.fillStyle = ink;
	context.fillText(boxText(picture, node, Math.floor(room / char)), x, middle, room);
}
