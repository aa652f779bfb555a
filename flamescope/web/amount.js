/* amount.js - numbers as people read them */

const TIME = [[1e9 * 3600, "h"], [1e9 * 60, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
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
	case "bytes":
	case "byte":
	case "B":
		return scaled(value, BYTES);
	case "KiB":
	case "kib":
		return scaled(value * 1024, BYTES);
	default:
		return unit === "" ? scaled(value, COUNT) : `${scaled(value, COUNT)} ${unit}`;
	}
}

function scaled(value, steps) {
	const size = Math.abs(value);
	const last = steps[steps.length - 1];
	const [least, name, by = least] = steps.find((step) => size >= step[0]) ?? last;
	const number = value / by || 0; /* and -0 is 0 */
	const digits = Number.isInteger(number) || Math.abs(number) >= 1000 ? 0
		: Math.abs(number) >= 100 ? 1 : 2;
	return `${minus(number.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }))}${name && ` ${name}`}`.trim();
}

/** `12.3 %`; nothing of nothing is `–`. */
export function formatShare(part, whole) {
	if (!(whole > 0))
		return "–";
	const percent = (100 * part) / whole;
	const digits = Math.abs(percent) >= 10 ? 1 : Math.abs(percent) >= 0.1 || percent === 0 ? 2 : 3;
	return `${minus(percent.toFixed(digits))} %`;
}

/** As formatAmount, with its sign: `+3`, `−2`. */
export function formatChange(value, unit = "") {
	return value > 0 ? `+${formatAmount(value, unit)}` : formatAmount(value, unit);
}

function minus(text) {
	return text.replace(/^-/, "−");
}

/** A moment of a recording in seconds. */
export function formatTime(ns) {
	return `${(ns / 1e9).toFixed(3)} s`;
}
