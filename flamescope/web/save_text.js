/* save_text.js - drawings and tables as the text of files: SVG and CSV */

import { ROW, rowTop } from "wick/flame_paint.js";
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
	if (chars >= 3) {
		const text = picture.text(node);
		const shown = text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;
		parts.push(`<text x="${number(left + 3)}" y="${y + ROW - 5}" fill="${xmlText(match ? ink.matchText : ink.text)}">${xmlText(shown)}</text>`);
	}
	parts.push("</g>");
	return parts.join("");
}

/**
 * flameSvg - a picture (flame_paint.js) as one SVG file, all of its rows
 * @view: {window, firstRow, up, width, title}
 */
export function flameSvg(picture, ink, view) {
	const { layout } = picture;
	const [x0, x1] = view.window;
	const scale = view.width / (x1 - x0);
	const full = Math.max(1, layout.nRows - view.firstRow) * ROW;
	const boxes = [];
	for (let row = view.firstRow; row < layout.nRows && boxes.length < MOST_BOXES; row++) {
		const y = rowTop(row - view.firstRow, view.up, full) + 2 * ROW;
		visitRow(layout, row, x0, x1, 1 / scale, (node, from, to) =>
			boxes.push(boxSvg(picture, ink, node, Math.max(0, (from - x0) * scale),
				Math.min(view.width, (to - x0) * scale), y)), () => {});
	}
	return [
		'<?xml version="1.0" encoding="UTF-8"?>',
		`<svg xmlns="http://www.w3.org/2000/svg" width="${view.width}" height="${full + 3 * ROW}" viewBox="0 0 ${view.width} ${full + 3 * ROW}" font-family="ui-monospace, 'DejaVu Sans Mono', monospace" font-size="${FONT_PIXELS}">`,
		`<title>${xmlText(view.title)}</title>`,
		`<defs><pattern id="less" width="8" height="8" patternUnits="userSpaceOnUse"><path d="M-4 4L4-4M0 8L8 0M4 12L12 4" stroke="${xmlText(ink.text)}" stroke-opacity=".35" stroke-width="1.5"/></pattern></defs>`,
		`<rect width="100%" height="100%" fill="${xmlText(ink.paper)}"/>`,
		`<text x="6" y="${ROW}" fill="${xmlText(ink.title)}">${xmlText(view.title)}</text>`,
		...boxes,
		"</svg>\n",
	].join("\n");
}

/** One line of CSV (RFC 4180). */
export function csvLine(cells) {
	return `${cells.map((cell) => {
		const text = String(cell);
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
