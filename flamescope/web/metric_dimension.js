/*
 * metric_dimension.js - samples told apart by a metric: by the size of its value, by gain and loss
 *
 * The same as in flamescope/query/dimension.h.
 */

const LADDERS = {
	B: [1024, [" B", " KiB", " MiB", " GiB", " TiB"]],
	KiB: [1024, [" KiB", " MiB", " GiB", " TiB"]],
	ns: [1000, [" ns", " us", " ms", " s"]],
};
const COUNTS = [1000, ["", " k", " M", " G", " T"]];

/* The power of ten that a value lies in: 1s KiB, 10s MiB, -100s B, 0; as output/text/groups.c. */
export function sizeClass(value, unit) {
	const [step, units] = Object.hasOwn(LADDERS, unit) ? LADDERS[unit] : COUNTS;
	let left = Math.abs(value);
	let i = 0;
	if (value === 0)
		return "0";
	for (; left >= step && i + 1 < units.length; i++)
		left = Math.floor(left / step);
	const decade = left >= 1000 && i + 1 === units.length ? "1000s"
		: left < 10 ? "1s" : left < 100 ? "10s" : "100s";
	return `${value < 0 ? "-" : ""}${decade}${units[i]}`;
}

function signWord(delta) {
	return delta > 0 ? "gain" : delta < 0 ? "loss" : "unchanged";
}

const made = new WeakMap(); /* of a column: a filter, a group and the rows are often of one */

/* Each value's word; samples that have none say nothing. */
function columnDimension(column, wordOf) {
	if (!made.has(column)) {
		const numbers = new Map([["", 0]]);
		const codes = Uint8Array.from(column, (value) => {
			const word = value !== value ? "" : wordOf(value);
			if (!numbers.has(word))
				numbers.set(word, numbers.size);
			return numbers.get(word);
		});
		const words = [...numbers.keys()];
		made.set(column, { codes, n: words.length, label: (code) => words[code] });
	}
	return made.get(column);
}

/* METRIC:class, METRIC:sign, or the sign of the metric whose changes are counted; null: none. */
export function metricDimension(profile, name, deltaMetric) {
	const [, metricName, part] = name === "sign" ? [name, deltaMetric, name]
		: /^(.+):(class|sign)$/.exec(name) ?? [];
	const metric = profile.metrics.find((candidate) => candidate.name === metricName);
	if (!metric)
		return null;
	return part === "sign" ? columnDimension(metric.deltas, signWord)
		: columnDimension(metric.values, (value) => sizeClass(value, metric.unit));
}

/* The metric whose changes a selection (or what measureOf() says) counts; "": none. */
export function deltaMetricOf({ measure, name }) {
	return ["delta", "gain", "loss"].includes(measure) ? name : "";
}

/* The names of size classes, for the menu. */
export function classNames(profile) {
	return profile.metrics.map(({ name }) => `${name}:class`);
}
