/* amount.js - numbers as people read them: the same words as flamescope/draw and base/words.h */

const TIME = [["ns", 1000], ["us", 1000], ["ms", 1000], ["s", 3600], ["h", Infinity]];
const BYTES = [["B", 1024], ["KiB", 1024], ["MiB", 1024], ["GiB", 1024], ["TiB", 1024], ["PiB", Infinity]];
const SCALES = {
	ns: TIME, nanoseconds: TIME, us: TIME.slice(1), B: BYTES, byte: BYTES, bytes: BYTES,
	KiB: BYTES.slice(1), kib: BYTES.slice(1),
};
const STEP_UNITS = [[3600e9, "h"], [60e9, "min"], [1e9, "s"], [1e6, "ms"]];

/** `12.3 ms`, `−4.00 MiB`, `1,234 page-faults`. */
export function formatAmount(value, unit = "") {
	if (!Number.isFinite(value))
		return "–";
	const scale = Object.hasOwn(SCALES, unit) ? SCALES[unit] : null;
	if (scale)
		return value === 0 && unit !== "" && "nu".includes(unit[0]) ? "0 s" : scaled(value, scale);
	const count = minus(grouped(decimals(value)));
	return unit === "" || unit === "1" ? count : `${count} ${unit}`;
}

/* A count is whole, a mean of counts is not. */
function decimals(value) {
	return Number.isInteger(value) ? String(value || 0) : value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}

/* What was written in whole numbers has no decimals. */
function scaled(value, scale) {
	let size = Math.abs(value);
	let i = 0;
	for (; size >= scale[i][1]; i++)
		size /= scale[i][1];
	const text = size.toFixed(i === 0 ? 0 : size < 10 ? 2 : 1);
	return `${value < 0 ? "−" : ""}${grouped(text)} ${scale[i][0]}`;
}

/**
 * 1234567.8 -> 1,234,567.8, of text
 *
 * The browser's own toLocaleString() takes a tenth of a second when it is first asked, which is
 * when the heatmap is waited for.
 */
export function grouped(number) {
	const [whole, part] = String(number).split(".");
	const text = whole.replace(/\B(?=(\d{3})+$)/g, ",");
	return part === undefined ? text : `${text}.${part}`;
}

/** `1 function`, `2 functions`. */
export const countOf = (n, noun) => `${grouped(n)} ${noun}${n === 1 ? "" : "s"}`;

/** `12.34 %`; nothing of nothing is `–`. */
export function formatShare(part, whole) {
	return whole > 0 ? `${minus(((100 * part) / whole).toFixed(2))} %` : "–";
}

/** `909 ms/s`: so much time in each second of NS; "" where time is not what is counted. */
export function formatRate(value, unit, ns) {
	const scale = SCALES[unit];
	if (!(ns > 0) || (scale !== TIME && unit !== "us"))
		return "";
	const ms = ((unit === "us" ? value * 1000 : value) / ns) * 1000;
	return ms < 999.5 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms/s` /* no finer than samples are */
		: `${grouped((ms / 1000).toFixed(ms < 10000 ? 2 : 1))} s/s`;
}

/** What there are shares of: `time`, `bytes`, `samples`, `page-faults`. */
export function unitWord(unit) {
	return { ns: "time", us: "time", B: "bytes", KiB: "bytes", "": "values", 1: "values" }[unit] ?? unit;
}

/** What a selection's samples count together: `5.66 s of CPU`, `560.8 MiB`. */
export function formatTotal(total, { unit, noun }) {
	/* of occurrences the unit is the noun */
	return noun && noun !== unit ? `${formatAmount(total, unit)} ${noun}` : formatAmount(total, unit);
}

/** As formatAmount, with its sign: `+3`, `−2`. */
export const formatChange = (value, unit = "") => `${value > 0 ? "+" : ""}${formatAmount(value, unit)}`;

const minus = (text) => text.replace(/^-/, "−");

/** How long something went on: `12.345 s`, `5 min 20 s`, `23 h 59 min`; never more than it was. */
export function formatLength(ns) {
	const seconds = Math.floor(ns / 1e9);
	const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
	if (hours > 0)
		return `${grouped(hours)} h ${minutes} min`;
	return minutes > 0 ? `${minutes} min ${seconds % 60} s` : formatTime(ns);
}

/** A length that was chosen, without the digits that it does not have: `20 ms`, `1 s`, `1.5 min`. */
export function formatStep(ns) {
	const [unit, name] = STEP_UNITS.find(([least]) => ns >= least) ?? STEP_UNITS.at(-1);
	return `${Math.round((ns / unit) * 1e3) / 1e3} ${name}`;
}

/** A moment of a recording in seconds. */
export const formatTime = (ns) => `${(ns / 1e9).toFixed(3)} s`;
