/*
 * pattern.js - regular expressions that somebody typed, against names that somebody else chose
 *
 * The browser's own engine goes back and tries again: `(a+)+$` on a hostile name takes longer than
 * anybody lives, and nothing can stop it.  So it gets only what cannot take it long: no repetition
 * in another one, and names so short that all that it may try is little.  All else runs here, all
 * alternatives side by side (K. Thompson, "Regular Expression Search Algorithm", CACM 11(6), 1968),
 * in time that goes with pattern times name.
 */
import { Machine } from "wick/pattern_machine.js";
import { Parser, Refused, safety } from "wick/pattern_parts.js";

const MAX_PATTERN = 65536; /* characters: a file of rules is one pattern */
const MAX_NAME = 4096; /* of a name that a pattern looks at: time goes with the text */
const MAX_MS = 2000; /* of matching by one pattern, until it is given up */
const LEAST_NAME = 200; /* a pattern that cannot run side by side has to do for names so long */
const MAX_KNOWN = 64; /* patterns that are kept */
const MAX_REMEMBERED = 1 << 20; /* characters of names, by a pattern */

/* --- a pattern --- */

/* What stands between the | outside of all groups; what refers back to a group is left whole. */
function alternatives(source) {
	const found = [];
	let from = 0;
	let depth = 0;
	let inClass = false;
	for (let i = 0; i < source.length; i++) {
		const c = source[i];
		if (c === "\\") {
			if (/[1-9k]/.test(source[i + 1] ?? ""))
				return [source];
			i++;
		} else if (inClass) {
			inClass = c !== "]";
		} else if (c === "[") {
			inClass = true;
		} else if (c === "(") {
			depth++;
		} else if (c === ")") {
			depth--;
		} else if (c === "|" && depth === 0) {
			found.push(source.slice(from, i));
			from = i + 1;
		}
	}
	return [...found, source.slice(from)];
}

/* Whether a name matches: by the browser's engine where that is safe, else by a Machine. */
function engine(source, regex) {
	const part = new Parser(source, regex.flags.includes("u")).parse();
	const { length, back } = safety(part);
	regex.test(""); /* what is too large for it says so here */
	if (back && length < LEAST_NAME)
		throw new Refused("looking around or back takes too long together with such repetitions");
	if (back)
		return (name) => regex.test(name.slice(0, length));
	let machine = null;
	if (length === 0)
		machine = new Machine(part, regex.flags);
	return (name) => (name.length <= length ? regex.test(name)
		: (machine ??= new Machine(part, regex.flags)).test(name));
}

function regexOf(source, flags) {
	try {
		return new RegExp(source, `${flags}u`);
	} catch {
		return new RegExp(source, flags); /* "\-" and the like, which "u" refuses */
	}
}

const matchers = new Map();

/* Each selection has the same patterns again, of which rules have dozens. */
function known(text, flags, source) {
	const key = `${flags}/${text}`;
	if (!matchers.has(key)) {
		if (matchers.size === MAX_KNOWN)
			matchers.delete(matchers.keys().next().value);
		matchers.set(key, remembering(matcherOf(text, flags, source)));
	}
	return matchers.get(key);
}

/* A recording's names are the same in each selection. */
function remembering(matches) {
	const found = new Map();
	let chars = 0;
	return (name) => {
		let is = found.get(name);
		if (is === undefined) {
			is = matches(name);
			chars += name.length;
			if (chars > MAX_REMEMBERED) {
				found.clear();
				chars = name.length;
			}
			found.set(name, is);
		}
		return is;
	};
}

function matcherOf(text, flags, source) {
	try {
		const whole = regexOf(text, flags); /* says what is wrong with it */
		const engines = alternatives(text).map((part) => engine(part, regexOf(part, whole.flags.replace("u", ""))));
		return engines.length === 1 ? engines[0] : (name) => engines.some((matches) => matches(name));
	} catch (error) {
		throw new Error(`pattern '${source}': ${error.message.replace(/^Invalid regular expression: /, "")}`);
	}
}

/**
 * makePattern - something with test(name), whatever SOURCE is
 * @flags: of a RegExp: i, m, s
 *
 * PCRE's way to say "in any case" at the beginning, `(?i)`, is a flag here.  test() looks at the
 * first 4096 characters of a name, and throws once its names have taken two seconds.
 *
 * Throws what is wrong with it, in words.
 */
export function makePattern(source, flags = "") {
	const match = /^\(\?([ims]+)\)/.exec(source);
	const text = match ? source.slice(match[0].length) : source;
	const asked = [...new Set(flags + (match ? match[1] : ""))].join("");
	if (source.length > MAX_PATTERN)
		throw new Error(`a pattern has at most ${MAX_PATTERN} characters`);
	return limited(known(text, asked, source), source);
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

function limited(matches, source) {
	let spent = 0;
	return {
		test(name) {
			if (spent > MAX_MS)
				throw new Error(`pattern '${source}' takes too long for these names: make it simpler`);
			const before = performance.now();
			const found = matches(name.length > MAX_NAME ? name.slice(0, MAX_NAME) : name);
			spent += performance.now() - before;
			return found;
		},
	};
}
