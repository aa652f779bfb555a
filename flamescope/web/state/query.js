/*
 * query.js - a query, and its words: the same as the command line's
 *
 * A query says which samples, which part of their stacks, and what they count for.  It is plain
 * data; a word of the URL is a flag of the command without its dashes (`group=state`, `--group
 * state`), so that a link and a command say the same.
 */

const SECOND = 1e9;
const UNITS = { s: SECOND, ms: 1e6, us: 1e3, ns: 1, m: 60 * SECOND, min: 60 * SECOND, h: 3600 * SECOND };
/* Words that are short for `where=WORD=PATTERN`. */
const DIMENSION_WORDS = ["thread", "comm", "process", "state", "wait", "event"];
export const MAX_RANGES = 64;
const MAX_PATTERNS = 32; /* of a kind, as the command line has it (query.h) */
const MAX_GROUPS = 8;

/* Seconds as short as they can be without losing a nanosecond: 10, 1.5, 0.000000001. */
export function secondsWord(ns) {
	const whole = Math.floor(ns / SECOND);
	const rest = Math.round(ns - whole * SECOND);
	if (rest === 0)
		return String(whole);
	return `${whole}.${String(rest).padStart(9, "0").replace(/0+$/, "")}`;
}

/* Of a part of something: its first end, 0, has the unit of the last. */
function shortWord(ns) {
	const unit = ["s", "ms", "us", "ns"].find((name) => ns % UNITS[name] === 0);
	return ns === 0 ? "0" : `${ns / UNITS[unit]}${unit}`;
}

/* `10s`, `1.5`, `20ms` as nanoseconds; NaN if it is none. */
function parseTime(text, unit) {
	const match = /^\+?(\d+(?:\.\d+)?)(h|min|m|s|ms|us|ns)?$/.exec(text);
	if (!match)
		return NaN;
	return Math.round(Number(match[1]) * UNITS[match[2] || unit]);
}

/* `10s-20s`, `0-100ms` -> [from, to]; what has no unit has that of the other end, else seconds. */
function parseSpan(text, end) {
	const at = text.indexOf("-");
	if (at < 0 || text === "-")
		return null;
	const first = text.slice(0, at);
	const last = text.slice(at + 1);
	const unitOf = (time) => time.replace(/^[+\d.]*/, "");
	const unit = unitOf(last) || unitOf(first) || "s";
	const from = first === "" ? 0 : parseTime(first, unit);
	const to = last === "" ? end : parseTime(last, unit);
	return from >= 0 && to > from ? [from, to] : null;
}

/* Rows are a part of each EVERY. */
function parseRows(text, every) {
	const rows = parseSpan(text, every);
	return rows && rows[1] <= every ? rows : null;
}

/*
 * `10s-20s`, `10-20@0-100ms` -> {from, to, rows} in nanoseconds since the recording's start, or
 * null.  An end that is left out is the recording's: 0 and Infinity.  An end without a unit has
 * that of the other.
 */
export function parseRange(text) {
	const [times, rowsText] = text.split("@");
	const rows = rowsText === undefined ? null : parseRows(rowsText, SECOND);
	const span = parseSpan(times, Infinity);
	if (!span || (rowsText !== undefined && !rows))
		return null;
	return { from: span[0], to: span[1], rows };
}

export function rangeWord(range) {
	const to = range.to === Infinity ? "" : secondsWord(range.to);
	const rows = range.rows ? `@${range.rows.map(shortWord).join("-")}` : "";
	return `${secondsWord(range.from)}-${to}${rows}`;
}

/* `1s:0-100ms` -> {every, from, to} */
export function parseEvery(text) {
	const at = text.indexOf(":");
	const every = parseTime(at < 0 ? "" : text.slice(0, at), "s");
	const rows = at < 0 || !(every > 0) ? null : parseRows(text.slice(at + 1), every);
	return rows ? { every, from: rows[0], to: rows[1] } : null;
}

function everyWord(every) {
	return `${shortWord(every.every)}:${shortWord(every.from)}-${shortWord(every.to)}`;
}

/* `state!=running` -> {dimension, pattern, exclude}, or null */
function parseWhere(text) {
	const match = /^([A-Za-z0-9_.:-]+)(!?=)(.*)$/s.exec(text);
	return match && { dimension: match[1], pattern: match[3], exclude: match[2] === "!=" };
}

/* `rss_kib:mean` -> {name, measure}; `cpu_ns` is its value, cpu_ns_delta cpu_ns:delta. */
export function parseMetric(text) {
	if (text === "samples" || text === "period")
		return { name: "", measure: text };
	if (text === "weight") /* an old word for it */
		return { name: "", measure: "period" };
	const match = /^([A-Za-z0-9_.-]+?)(?::(value|mean|delta|gain|loss)|_(delta))?$/.exec(text);
	return match && { name: match[1], measure: match[2] ?? match[3] ?? "value" };
}

/*
 * Kinds of properties, of a query and of a state (store.js): what one is where nothing is said of it;
 * read(text of a word, what was read before) -> what it is; write(what it is, its word) -> [word, text] pairs.
 */

export const text = (none = "") => ({
	none,
	read: (said) => said,
	write: (value, word) => (value === none ? [] : [[word, value]]),
});

/** What parse() makes of a text, and format() a text of: null without one. */
export const optional = (parse, format) => ({
	none: null,
	read: parse,
	write: (value, word) => (value ? [[word, format(value)]] : []),
});

/** As many as there are words, up to MAX: what a link says too often is passed over, for each costs time. */
export const list = (max, parse = (said) => said, format = (one) => one) => ({
	none: Object.freeze([]),
	read(said, before) {
		const one = parse(said);
		return one === null || before.length === max ? before : [...before, one];
	},
	write: (all, word) => all.map((one) => [word, format(one)]),
});

const flag = { none: false, read: () => true, write: (is, word) => (is ? [[word, ""]] : []) };

/* In the order of the command line. */
const PROPERTIES = {
	every: optional(parseEvery, everyWord),
	filters: {
		...list(MAX_PATTERNS, parseWhere),
		word: "where",
		write: (filters, word) => filters.map(({ dimension, pattern, exclude }) =>
			(!exclude && DIMENSION_WORDS.includes(dimension) ? [dimension, pattern]
				: [word, `${dimension}${exclude ? "!" : ""}=${pattern}`])),
	},
	only: list(MAX_PATTERNS),
	without: list(MAX_PATTERNS),
	elide: list(MAX_PATTERNS),
	focus: text(),
	truncate: text(),
	flatten: flag,
	idle: flag,
	groups: {
		none: Object.freeze([]),
		word: "group",
		read: (said, before) => [...before, ...said.split(",").filter((name) => name)].slice(0, MAX_GROUPS),
		write: (groups, word) => (groups.length ? [[word, groups.join(",")]] : []),
	},
	metric: { ...text(), read: (said) => (!parseMetric(said) ? "" : said === "weight" ? "period" : said) },
};

/** The properties of a table of kinds by their words, and what they are where nothing is said. */
export const byWord = (table) => new Map(Object.entries(table).map(([name, { word = name }]) => [word, name]));
export const nothingSaid = (table) =>
	Object.freeze(Object.fromEntries(Object.entries(table).map(([name, { none }]) => [name, none])));
export const wordsOf = (table, values) =>
	Object.entries(table).flatMap(([name, { word = name, write }]) => write(values[name], word));

const WORDS = byWord(PROPERTIES);
export const EMPTY_QUERY = nothingSaid(PROPERTIES);

/** The words of a query as pairs; no `time`: ranges are the selection's, of which a state has two. */
export const queryWords = (query) => wordsOf(PROPERTIES, query);

/** The query that WORDS (pairs) say; words that are no query's are passed over. */
export function parseQuery(words) {
	const query = { ...EMPTY_QUERY };
	for (const [word, said] of words) {
		const isShort = DIMENSION_WORDS.includes(word);
		const name = isShort ? "filters" : WORDS.get(word);
		if (name)
			query[name] = PROPERTIES[name].read(isShort ? `${word}=${said}` : said, query[name]);
	}
	return query;
}

/* Everything that a terminal might obey when it is pasted there (ISO 6429). */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/g;

/* Its bytes in UTF-8, of which those above 0x7f have two. */
const octal = (control) => `${control > "\x7f" ? "\\302" : ""}\\${control.charCodeAt(0).toString(8).padStart(3, "0")}`;

/**
 * shellWord - a word of a shell, quoted where it has to be
 *
 * Controls are written out: terminals obey them before a shell sees its quotes.
 */
export function shellWord(text) {
	if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(text))
		return text;
	if (text.search(CONTROLS) >= 0)
		return `$'${text.replace(/[\\']/g, "\\$&").replace(CONTROLS, octal)}'`;
	return `'${text.replaceAll("'", "'\\''")}'`;
}

/* The flags that say RANGES and QUERY on a command line, quoted for a shell. */
export function commandFlags(ranges, query) {
	const flags = ranges.map((range) => ["time", rangeWord(range)]);
	return [...flags, ...queryWords(query)]
		.map(([key, value]) => (value === "" && ["flatten", "idle"].includes(key)
			? `--${key}` : `--${key}=${shellWord(value)}`))
		.join(" ");
}
