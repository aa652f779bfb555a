/*
 * pattern.js - regular expressions that somebody typed, against names that somebody else chose
 *
 * A pattern means what it means to the command (PCRE2); what a RegExp would read as something else is
 * refused.  A RegExp may take for ever, so only the worker matches: it tells which pattern it is at,
 * and the page ends a worker that does not come back from one (watched.js).
 */

const MAX_PATTERN = 65536; /* characters: a file of rules is one pattern */
const MAX_NAME = 4096; /* of a name that a pattern looks at */
const MAX_MS = 2000; /* of matching by one pattern, until it is given up */
const TELL_MS = 500; /* between two times that a pattern is told of */
const SHOWN = 60; /* characters of a pattern in a message */

/* An escape, a class, a repetition, or a bracket that is none of their parts and so a character. */
const TOKEN = /\\(?:[pP]\{\w+\}|([^]))|\[\^?\]?(?:\\[^]|[^\]\\])*(?:\]|$)|\{\d+(?:,\d*)?\}|[{}\]]/gu;

let tell = () => {};
const refused = new Map(); /* patterns that a worker did not come back from -> all that it was at */

/** LISTENER is called with a pattern that is being matched, and with "" after it. */
export function onMatching(listener) {
	tell = listener;
}

/** PATTERNS, of which one took too long, are none from now on. */
export function refusePatterns(patterns) {
	for (const pattern of patterns)
		refused.set(pattern, patterns);
}

function tooLong(patterns) {
	const names = patterns.map((pattern) => `'${pattern.slice(0, SHOWN)}'`).join(" or ");
	return new Error(`pattern ${names} takes too long on these names, write it without a repetition in a repetition`);
}

/* PCRE2 takes any other character than a letter or a digit as itself. */
function escapeOf(escape, c) {
	if (/[0-9A-Za-z]/.test(c))
		return escape;
	return c > "\x7f" ? c : `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

function classOf(token) {
	if (/^\[\^?\]|.\[[:.=]/s.test(token))
		throw new Error("classes like []a] and [[:alpha:]] are not known to a page, try: [\\]a], [a-z], \\w");
	return token.replace(/\\([^])/gu, escapeOf);
}

/* SOURCE as a RegExp's: the same for both engines, or a RegExp refuses it. */
const translate = (source) => source.replace(TOKEN, (token, c) => {
	if (c)
		return escapeOf(token, c);
	if (token[0] === "[")
		return classOf(token);
	return token.length === 1 ? `\\${token}` : token;
});

/**
 * makePattern - something with test(name), and end() once that is not called any more
 * @flags: of a RegExp: i, m, s; a pattern may begin with them, too: `(?i)`
 *
 * test() looks at the first 4096 characters of a name, and throws once its names have taken two seconds.
 *
 * Throws what is wrong with it, in words.
 */
export function makePattern(source, flags = "") {
	if (source.length > MAX_PATTERN)
		throw new Error(`a pattern has at most ${MAX_PATTERN} characters`);
	if (refused.has(source))
		throw tooLong(refused.get(source));
	const [head, asked] = /^\(\?([ims]+)\)/.exec(source) ?? ["", ""];
	let regex;
	try {
		regex = new RegExp(translate(source.slice(head.length)), [...new Set(`u${flags}${asked}`)].join(""));
	} catch (error) {
		const why = error.message.replace(/^Invalid regular expression: [^]*\/\w*: /, "");
		throw new Error(`pattern '${source.slice(0, SHOWN)}': ${why}`);
	}
	let told = -TELL_MS;
	let spent = 0;
	return {
		test(name) {
			const before = performance.now();
			if (spent > MAX_MS)
				throw tooLong([source]);
			if (before - told >= TELL_MS) {
				told = before;
				tell(source);
			}
			const found = regex.test(name.slice(0, MAX_NAME));
			spent += performance.now() - before;
			return found;
		},
		end: () => tell(""),
	};
}

const COPY_MARKS = /(?:\.(?:constprop|isra|part|cold|lto_priv|llvm)(?:\.\d+)*)+/g;

/** The function that a compiler's copy is of, as base/function_name.h has it: "f" for "f.constprop.0". */
export function originalName(name) {
	if (!name.includes("."))
		return name;
	const last = [...name.matchAll(COPY_MARKS)].at(-1);
	return last?.index > 0 && last.index + last[0].length === name.length ? name.slice(0, last.index) : name;
}

/** Whether a pattern matches a function, or the one that it is a copy of. */
export function matchesFunction(pattern, name) {
	if (pattern.test(name))
		return true;
	const original = originalName(name);
	return original !== name && pattern.test(original);
}
