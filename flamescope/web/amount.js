/* amount.js - numbers as people read them */

const TIME = [[1e9 * 3600, "h"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const BYTES = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];
const COUNT = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k", 1e3], [1, ""]];

/** `12.3 ms`, `-4.00 MiB`, `1,234 samples`. */
export function formatAmount(value, unit = "") {
	if (!Number.isFinite(value))
		return "–";
	switch (unit) {
	case "ns":
	case "nanoseconds":
		return scaled(value, TIME);
	case "us":
		return scaled(value * 1000, TIME);
	case "bytes":
	case "byte":
	case "B":
		return scaled(value, BYTES);
	case "KiB":
	case "kib":
		return scaled(value * 1024, BYTES);
	default:
		return unit === "" || unit === "1" ? scaled(value, COUNT) : `${scaled(value, COUNT)} ${unit}`;
	}
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

function scaled(value, steps) {
	const size = Math.abs(value);
	if (size === 0 && steps === TIME)
		return "0 s";
	const last = steps[steps.length - 1];
	const [least, name, by = least] = steps.find((step) => size >= step[0]) ?? last;
	const number = value / by || 0; /* and -0 is 0 */
	const digits = Number.isInteger(number) || Math.abs(number) >= 1000 ? 0
		: Math.abs(number) >= 100 ? 1 : 2;
	return `${minus(grouped(number.toFixed(digits)))}${name && ` ${name}`}`.trim();
}

/** `12.3 %`; nothing of nothing is `–`. */
export function formatShare(part, whole) {
	if (!(whole > 0))
		return "–";
	const percent = (100 * part) / whole;
	const digits = Math.abs(percent) >= 10 ? 1 : Math.abs(percent) >= 0.1 || percent === 0 ? 2 : 3;
	return `${minus(percent.toFixed(digits))} %`;
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
export function formatChange(value, unit = "") {
	return value > 0 ? `+${formatAmount(value, unit)}` : formatAmount(value, unit);
}

function minus(text) {
	return text.replace(/^-/, "−");
}

/** How long something went on: `12.345 s`, `5 min 20 s`, `23 h 59 min`; never more than it was. */
export function formatLength(ns) {
	const seconds = Math.floor(ns / 1e9);
	const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
	if (hours > 0)
		return `${grouped(hours)} h ${minutes} min`;
	return minutes > 0 ? `${minutes} min ${seconds % 60} s` : formatTime(ns);
}

/** A moment of a recording in seconds. */
export function formatTime(ns) {
	return `${(ns / 1e9).toFixed(3)} s`;
}
