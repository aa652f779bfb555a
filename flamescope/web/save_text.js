/* save_text.js - drawings and tables as the text of files: SVG and CSV */

import { boxText, ROW, rowTop } from "wick/flame_paint.js";
import { pixelOf } from "wick/heat_paint.js";
import { valueText } from "wick/heat_words.js";
import { visitRow } from "wick/tree_layout.js";

const FONT_PIXELS = 12;
const CHAR = 7.25; /* of a monospace font of that size; the text is cut to it */
const MOST_BOXES = 200000;

/** TEXT inside of XML: markup is text, and what XML does not know is U+FFFD. */
export function xmlText(text) {
	return String(text)
		// eslint-disable-next-line no-control-regex
		.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
		.replace(/[&<>"']/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[c]);
}

function boxSvg(picture, ink, node, left, right, y) {
	const { layout } = picture;
	const match = picture.matches?.[layout.tree.frame[node]];
	const width = right - left;
	const number = (x) => String(Math.round(x * 100) / 100);
	const box = (fill) => `<rect x="${number(left)}" y="${y}" width="${number(Math.max(0.3, width - (width > 3 ? 0.6 : 0)))}" height="${ROW - 1}" fill="${xmlText(fill)}"/>`;
	const parts = [`<g><title>${xmlText(picture.lines(node).join("\n"))}</title>`,
		box(match ? ink.match : picture.fill(node))];
	if (picture.striped?.(node))
		parts.push(box("url(#less)"));
	const chars = Math.floor((width - 6) / CHAR);
	if (chars >= 3)
		parts.push(`<text x="${number(left + 3)}" y="${y + ROW - 5}" fill="${xmlText(match ? ink.matchText : ink.text)}">${xmlText(boxText(picture, node, chars))}</text>`);
	parts.push("</g>");
	return parts.join("");
}

/* The boxes of one graph, all of its rows, from Y on. */
function graphSvg({ picture, window, firstRow, up }, ink, width, top, boxes) {
	const { layout } = picture;
	const [x0, x1] = window;
	const scale = width / (x1 - x0);
	const full = Math.max(1, layout.nRows - firstRow) * ROW;
	for (let row = firstRow; row < layout.nRows && boxes.length < MOST_BOXES; row++) {
		const y = rowTop(row - firstRow, up, full) + top;
		visitRow(layout, row, x0, x1, 1 / scale, (node, from, to) =>
			boxes.push(boxSvg(picture, ink, node, Math.max(0, (from - x0) * scale),
				Math.min(width, (to - x0) * scale), y)), () => {});
	}
	return full;
}

/* What the colours mean, in a line below the title. */
function keysSvg(keys, ink) {
	let x = 6;
	return keys.map(({ label, css, isHatched }) => {
		const box = (fill) => `<rect x="${x}" y="${2 * ROW - 11}" width="12" height="12" fill="${fill}"/>`;
		const parts = [box(xmlText(css)), isHatched ? box("url(#less)") : "",
			`<text x="${x + 17}" y="${2 * ROW}" fill="${xmlText(ink.title)}">${xmlText(label)}</text>`];
		x += 34 + Math.ceil(label.length * CHAR);
		return parts.join("");
	});
}

function svgFile(width, height, { title, paper, ink }, parts) {
	return [
		'<?xml version="1.0" encoding="UTF-8"?>',
		`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, 'DejaVu Sans Mono', monospace" font-size="${FONT_PIXELS}">`,
		`<title>${xmlText(title)}</title>`,
		`<rect width="100%" height="100%" fill="${xmlText(paper)}"/>`,
		`<text x="6" y="${ROW}" fill="${xmlText(ink)}">${xmlText(title)}</text>`,
		...parts,
		"</svg>\n",
	].join("\n");
}

/**
 * flameSvg - graphs one below the other as one SVG file, all of their rows
 * @graphs: [{picture (flame_paint.js), window, firstRow, up}]
 * @view:   {width, title}
 */
export function flameSvg(graphs, ink, { width, title }) {
	const boxes = keysSvg(graphs[0].picture.keys ?? [], ink);
	let y = (boxes.length ? 3 : 2) * ROW;
	for (const graph of graphs)
		y += graphSvg(graph, ink, width, y, boxes) + ROW;
	return svgFile(width, y, { title, paper: ink.paper, ink: ink.title }, [
		`<defs><pattern id="less" width="8" height="8" patternUnits="userSpaceOnUse"><path d="M-4 4L4-4M0 8L8 0M4 12L12 4" stroke="${xmlText(ink.text)}" stroke-opacity=".35" stroke-width="1.5"/></pattern></defs>`,
		...boxes]);
}

const CELL_WIDTH = 8;
const CELL_HEIGHT = 6;

/* A pixel of heat_paint.js as a colour of CSS. */
function cssOf(pixel) {
	const hex = (shift) => ((pixel >>> shift) & 255).toString(16).padStart(2, "0");
	return `#${hex(0)}${hex(8)}${hex(16)}`;
}

/** A heatmap as one SVG file: a box a cell that has samples, and its value in words. */
export function heatSvg(heat, colours, look) {
	const gutter = heat.rowLabels ? 190 : 60;
	const high = heat.rowLabels ? ROW : CELL_HEIGHT;
	const top = 2 * ROW;
	const cells = [`<rect x="${gutter}" y="${top}" width="${heat.nColumns * CELL_WIDTH}" height="${heat.nRows * high}" fill="${cssOf(colours.none)}"/>`];
	const place = (row) => top + (heat.rowLabels ? row : heat.nRows - 1 - row) * high;
	for (let cell = 0; cell < heat.values.length; cell++) {
		if (heat.samples[cell] === 0)
			continue;
		const column = Math.floor(cell / heat.nRows);
		const row = cell % heat.nRows;
		const fill = cssOf(pixelOf(heat, cell, colours));
		cells.push(`<rect x="${gutter + column * CELL_WIDTH}" y="${place(row)}" width="${CELL_WIDTH}" height="${high}" fill="${fill}"><title>${xmlText(`${heatWhen(heat, column, row)}: ${valueText(heat, { column, row })}`)}</title></rect>`);
	}
	const label = (row, text) => `<text x="${gutter - 6}" y="${place(row) + high - 4}" text-anchor="end" fill="${xmlText(look.ink)}">${xmlText(text)}</text>`;
	if (heat.rowLabels)
		heat.rowLabels.forEach((text, row) => cells.push(label(row, text.length > 24 ? `${text.slice(0, 23)}…` : text)));
	else
		cells.push(label(0, "0 ms"), label(heat.nRows - 1, `${Math.round((heat.nRows - 1) * heat.rowNs / 1e6)} ms`));
	return svgFile(gutter + heat.nColumns * CELL_WIDTH + 10, top + heat.nRows * high + ROW, look, cells);
}

function heatWhen(heat, column, row) {
	const seconds = (column * heat.columnNs + heat.originNs) / 1e9;
	return `${seconds} s, ${heat.rowLabels ? heat.rowLabels[row] : `+${row * heat.rowNs / 1e6} ms`}`;
}

/** The cells that have samples: when a column begins, which row, and the exact value. */
export function heatCsv(heat) {
	const lines = [csvLine(["from_s", heat.rowLabels ? "row" : "row_ms", "unit", "value", "samples"])];
	for (let cell = 0; cell < heat.values.length; cell++) {
		if (heat.samples[cell] === 0)
			continue;
		const row = cell % heat.nRows;
		lines.push(csvLine([(Math.floor(cell / heat.nRows) * heat.columnNs + heat.originNs) / 1e9,
			heat.rowLabels ? heat.rowLabels[row] : row * heat.rowNs / 1e6, heat.selection.unit,
			heat.values[cell], heat.samples[cell]]));
	}
	return lines.join("");
}

/** What changed, function by function: shares of each side's whole, and how likely by chance. */
export function diffCsv({ names, order, total, self, chance }) {
	const lines = [csvLine(["function", "total_b", "total_now", "total_p", "self_b", "self_now", "self_p"])];
	const p = (key, i) => (chance && !chance.problem ? chance[key][i] : "");
	for (const i of order)
		lines.push(csvLine([names[i], total[0][i], total[1][i], p("totalP", i), self[0][i], self[1][i], p("selfP", i)]));
	return lines.join("");
}

/* A name that a spreadsheet would take for a formula is text by the ' before it. */
function csvText(cell) {
	return typeof cell === "string" && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell);
}

/** One line of CSV (RFC 4180). */
export function csvLine(cells) {
	return `${cells.map((cell) => {
		const text = csvText(cell);
		return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
	}).join(",")}\r\n`;
}

/** The functions of a selection; amounts are exact numbers in the metric's unit. */
export function functionsCsv(rows, nameOf, moduleOf, unit) {
	const lines = [csvLine(["function", "module", "unit", "self_gain", "self_loss", "total_gain",
		"total_loss", "self_samples", "samples", "calls"])];
	for (let i = 0; i < rows.n; i++) {
		lines.push(csvLine([nameOf(rows.frame[i]), moduleOf(rows.frame[i]), unit, rows.selfGain[i],
			rows.selfLoss[i], rows.gain[i], rows.loss[i], rows.selfSamples[i], rows.samples[i], rows.calls[i]]));
	}
	return lines.join("");
}
