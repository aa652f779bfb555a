/* heat_words.js - a cell of the heatmap in words */

import {
	countOf, formatAmount, formatRate, formatShare, formatStep, formatTime, formatTotal,
} from "wick/parts/amount.js";
import { phaseOf } from "wick/heat/heat_place.js";
import { secondsWord } from "wick/state/query.js";

function rowText(heat, row) {
	if (heat.rowLabels)
		return heat.rowLabels[row];
	const text = (ns) => String(Math.round(ns / 1e3) / 1e3);
	const later = phaseOf(heat);
	const from = (later + row * heat.rowNs) % (later ? heat.columnNs : Infinity);
	return `+${text(from)}–${text(from + heat.rowNs)} ms`;
}

/* "12.000 s +40–60 ms": when it is, since the recording's start. */
export function whenText(heat, { column, row }) {
	const at = column * heat.columnNs + heat.originNs;
	const { startSecond, startSub } = heat.selection.profile;
	const clock = startSecond + (startSub + at) / 1e9;
	return `${heat.rowLabels ? rowText(heat, row) : formatTime(at)}, ${heat.rowLabels
		? formatTime(at) : rowText(heat, row)} (clock ${Math.round(clock * 1e3) / 1e3} s)`;
}

/* How much of the recording a cell is: one row's part of its column, or all of that. */
export function cellNs(heat) {
	return heat.rowLabels ? heat.columnNs : heat.rowNs;
}

/** How much time of the recording a state selects: its ranges, and of each second what it says. */
export function selectedNs({ ranges, query }, { lengthNs }) {
	const whole = ranges.length ? ranges : [{ from: 0, to: lengthNs, rows: null }];
	const part = query.every ? (query.every.to - query.every.from) / query.every.every : 1;
	return part * whole.reduce((sum, { from, to, rows }) => sum +
		Math.max(0, Math.min(to, lengthNs) - from) * (rows ? (rows[1] - rows[0]) / 1e9 : 1), 0);
}

const counted = (n, { profile }) => countOf(n, profile.hasTimes ? "sample" : "stack");

/* What the cell has: its value, or that it has nothing: "18.0 ms of CPU, 900 ms/s". */
export function valueText(heat, { column, row }) {
	const cell = column * heat.nRows + row;
	if (heat.samples[cell] === 0)
		return "no sample";
	const { selection } = heat;
	const value = heat.values[cell];
	if (selection.measure === "samples")
		return counted(value, selection);
	if (selection.measure !== "period")
		return `${selection.name} ${selection.measure} ${formatAmount(value, selection.unit)}`;
	const rate = formatRate(value, selection.unit, cellNs(heat));
	return `${formatTotal(value, selection)}${rate && `, ${rate}`}`;
}

/* Of how many samples that is; "" where it says so itself. */
export function countText(heat, { column, row }) {
	const n = heat.samples[column * heat.nRows + row];
	return n === 0 || heat.selection.measure === "samples" ? "" : counted(n, heat.selection);
}

/** The cell with most from column FROM to END; null where no sample is. */
export function mostIn({ nRows, samples, values }, from, end) {
	let most = -1;
	for (let cell = from * nRows; cell < end * nRows; cell++)
		if (samples[cell] && (most < 0 || Math.abs(values[cell]) > Math.abs(values[most])))
			most = cell;
	return most < 0 ? null : { column: Math.floor(most / nRows), row: most % nRows };
}

/* How much a selection of WHOLE has: "1.59 s of CPU (28.10 %)". */
export function amountText(selection, whole) {
	if (selection.measure === "mean" || selection.measure === "samples" || selection.isSigned)
		return `${counted(selection.n, selection)} (${formatShare(selection.n, whole.n)})`;
	return `${formatTotal(selection.sum, selection)} (${formatShare(selection.sum, whole.sum)})`;
}

/* A range as it is said: "10–20 s" or "10–20 s, 0–100 ms of each second". */
export function rangeText(range) {
	const word = (ns) => secondsWord(Math.round(ns / 1e6) * 1e6);
	const times = range.to === Infinity ? `${word(range.from)} s to the end` : `${word(range.from)}–${word(range.to)} s`;
	return range.rows
		? `${times}, ${range.rows.map((ns) => ns / 1e6).join("–")} ms of each second` : times;
}

/* Many ranges that are as long as each other, and as far apart: a part of each column; "" if they are not. */
function columnsText(ranges) {
	const [first, second] = ranges;
	const last = ranges.at(-1);
	const length = ({ from, to }) => to - from;
	const period = second.to - first.to;
	const isPart = (range, i) => !range.rows && range.to === first.to + i * period &&
		(length(range) === length(last) || (range.from === 0 && length(range) < length(last))); /* cut by the beginning */
	if (!(period > 0) || !ranges.every(isPart))
		return "";
	const columns = period === 1e9 ? "seconds" : `columns of ${formatStep(period)}`;
	return `${formatStep(length(last))} of each of ${ranges.length} ${columns}, ${rangeText({ ...last, from: ranges[0].from })}`;
}

/** What ranges select; of many how many there are. */
export function rangesText(ranges) {
	if (ranges.length === 0)
		return "all of the time";
	if (ranges.length > 3)
		return columnsText(ranges) || `${ranges.length} ranges`;
	return ranges.map(rangeText).join("; ");
}

