/*
 * pattern.js - regular expressions that somebody typed, against names that somebody else chose
 *
 * The browser's own engine goes back and tries again: `(a+)+$` on a hostile name takes longer than
 * anybody lives, and nothing can stop it.  So it gets only what cannot take it long: no repetition
 * in another one, and names so short that all that it may try is little.  All else runs here, all
 * alternatives side by side (K. Thompson, "Regular Expression Search Algorithm", CACM 11(6), 1968),
 * in time that goes with pattern times name.
 */

const MAX_PATTERN = 65536; /* characters: a file of rules is one pattern */
const MAX_STATES = 20000;
const MAX_NAME = 4096; /* of a name that a pattern looks at: time goes with the text */
const MAX_DEPTH = 100; /* of groups */
const MAX_MS = 2000; /* of matching by one pattern, until it is given up */
const MAX_TRIES = 1e6; /* of the browser's engine, for one name */
const LEAST_NAME = 200; /* a pattern that cannot run side by side has to do for names so long */
const MAX_KNOWN = 200; /* patterns that are kept */
const NONE = -1;

class Refused extends Error {}

/* --- a pattern's parts --- */

/*
 * {kind: "char", source} | {kind: "edge", source} | {kind: "seq", parts} | {kind: "or", parts} |
 * {kind: "many", part, min, max} | {kind: "back", part}: what cannot run side by side.
 */
class Parser {
	constructor(source, isUnicode) {
		this.source = source;
		this.isUnicode = isUnicode;
		this.at = 0;
		this.depth = 0;
	}

	parse() {
		const part = this.#alternatives();
		if (this.at < this.source.length)
			throw new Refused("unmatched )"); /* RegExp has said so before */
		return part;
	}

	#alternatives() {
		if (++this.depth > MAX_DEPTH)
			throw new Refused("too many groups in each other");
		const parts = [this.#sequence()];
		while (this.source[this.at] === "|") {
			this.at++;
			parts.push(this.#sequence());
		}
		this.depth--;
		return parts.length === 1 ? parts[0] : { kind: "or", parts };
	}

	#sequence() {
		const parts = [];
		while (this.at < this.source.length && !"|)".includes(this.source[this.at]))
			parts.push(this.#repeated(this.#atom()));
		return { kind: "seq", parts };
	}

	#repeated(part) {
		const match = /^(?:([*+?])|\{(\d+)(,(\d*))?\})\??/.exec(this.source.slice(this.at, this.at + 40));
		if (!match)
			return part;
		this.at += match[0].length;
		if (match[1])
			return { kind: "many", part, min: match[1] === "+" ? 1 : 0, max: match[1] === "?" ? 1 : Infinity };
		const min = Number(match[2]);
		return { kind: "many", part, min, max: !match[3] ? min : match[4] ? Number(match[4]) : Infinity };
	}

	#atom() {
		const { source } = this;
		const c = source[this.at];
		if (c === "(")
			return this.#group();
		if (c === "[")
			return this.#take(this.#classLength(), "char");
		if (c === "\\")
			return this.#escape();
		if (c === "^" || c === "$")
			return this.#take(1, "edge");
		return this.#take(this.isUnicode ? String.fromCodePoint(source.codePointAt(this.at)).length : 1, "char");
	}

	#take(length, kind) {
		const source = this.source.slice(this.at, this.at + length);
		this.at += length;
		return { kind, source };
	}

	#group() {
		const head = /^\((?:\?(?:[a-z-]*:|<(?![=!])[^>]*>|<?[=!]))?/.exec(this.source.slice(this.at))[0];
		this.at += head.length;
		const inside = this.#alternatives();
		this.at++; /* RegExp has seen its ")" */
		return /[=!]$|[a-z-]:$/.test(head) ? { kind: "back", part: inside } : inside;
	}

	#classLength() {
		let end = this.at + 1;
		while (end < this.source.length && this.source[end] !== "]")
			end += this.source[end] === "\\" ? 2 : 1;
		return end + 1 - this.at;
	}

	#escape() {
		const rest = this.source.slice(this.at);
		if (/^\\(?:[1-9]|k<)/.test(rest)) {
			this.at += /^\\(?:\d+|k<[^>]*>)/.exec(rest)[0].length;
			return { kind: "back" };
		}
		if (/^\\[bB]/.test(rest))
			return this.#take(2, "edge");
		const match = /^\\(?:x[0-9A-Fa-f]{2}|u\{[0-9A-Fa-f]+\}|u[Dd][89ABab]..\\u[Dd][C-Fc-f]..|u[0-9A-Fa-f]{4}|[pP]\{[^}]*\}|c[A-Za-z]|[0-7]{1,3}|[^])/u.exec(rest);
		return this.#take(match[0].length, "char");
	}
}

/* --- may the browser's engine have it? --- */

/*
 * {many, choices, nested, back} of a part: what there is to try again in it.  A name of n characters
 * is tried at n places, in n ways for each repetition and in two for each choice.
 */
function weigh(part, inMany = false) {
	const sum = { many: 0, choices: 0, nested: false, back: part.kind === "back" };
	if (part.kind === "or") {
		sum.choices += part.parts.length - 1;
		sum.nested ||= inMany;
	}
	if (part.kind === "many") {
		const isOption = part.min === 0 && part.max === 1;
		sum.choices += isOption ? 1 : 0;
		sum.many += isOption || part.min === part.max ? 0 : 1;
		sum.nested ||= inMany;
	}
	for (const inner of part.parts ?? (part.part ? [part.part] : [])) {
		const found = weigh(inner, inMany || part.kind === "many");
		sum.many += found.many;
		sum.choices += found.choices;
		sum.nested ||= found.nested;
		sum.back ||= found.back;
	}
	return sum;
}

/* How long a name may be for the browser's engine. */
function safeLength({ many, choices, nested }) {
	if (nested)
		return 0;
	return Math.min(MAX_NAME, Math.floor((MAX_TRIES / 2 ** choices) ** (1 / (many + 1))));
}

/* Of alternatives at the outside only one is tried at a time: the worst of them counts. */
function safety(part) {
	const alternatives = part.kind === "or" ? part.parts : [part];
	const weights = alternatives.map((inner) => weigh(inner));
	return {
		length: Math.floor(Math.min(...weights.map(safeLength)) / Math.max(1, Math.log2(weights.length))),
		back: weights.some(({ back }) => back),
	};
}

/* --- all alternatives side by side --- */

/*
 * States by number: one that TESTs the next character and goes on to `next`, an EDGE that holds
 * or not between two characters, or one that goes on to two at once.
 */
class Machine {
	constructor(part, flags) {
		this.flags = flags;
		this.isUnicode = flags.includes("u");
		this.tests = []; /* of a character, or null */
		this.edges = []; /* "^", "$", "\b", "\B" or "" */
		this.next = [];
		this.other = [];
		this.known = new Map();
		this.steps = 0;
		this.word = new RegExp("^\\w$", flags);
		this.end = this.#state();
		this.start = this.#compile(part, this.end);
		this.marks = new Uint32Array(this.next.length);
		this.round = 0;
	}

	#state(next = NONE, other = NONE, test = null, edge = "") {
		if (this.next.length >= MAX_STATES)
			throw new Refused("it repeats too much");
		this.next.push(next);
		this.other.push(other);
		this.tests.push(test);
		this.edges.push(edge);
		return this.next.length - 1;
	}

	/* From the end to the beginning: what comes after is there already. */
	#compile(part, then) {
		if (++this.steps > 4 * MAX_STATES)
			throw new Refused("it repeats too much"); /* even if it repeats nothing */
		switch (part.kind) {
		case "char":
			return this.#state(then, NONE, this.#testOf(part.source));
		case "edge":
			return this.#state(then, NONE, null, part.source);
		case "seq":
			return part.parts.reduceRight((next, inner) => this.#compile(inner, next), then);
		case "or":
			return part.parts.map((inner) => this.#compile(inner, then))
				.reduceRight((other, next) => this.#state(next, other));
		default:
			return this.#many(part, then);
		}
	}

	#many({ part, min, max }, then) {
		let start = then;
		if (min > MAX_STATES)
			throw new Refused("it repeats too much");
		if (max === Infinity) {
			start = this.#state(NONE, then);
			this.next[start] = this.#compile(part, start);
		} else {
			for (let i = min; i < max; i++)
				start = this.#state(this.#compile(part, start), then);
		}
		for (let i = 0; i < min; i++)
			start = this.#compile(part, start);
		return start;
	}

	/* Whether one character is it: the browser's engine says, once for each. */
	#testOf(source) {
		let test = this.known.get(source);
		if (!test) {
			const regex = new RegExp(`^(?:${source})$`, this.flags.replace("m", ""));
			const ascii = new Uint8Array(128); /* 1: no, 2: yes */
			const others = new Map();
			test = (c, code) => {
				if (code < 128)
					return (ascii[code] ||= regex.test(c) ? 2 : 1) === 2;
				if (!others.has(c))
					others.set(c, regex.test(c));
				return others.get(c);
			};
			this.known.set(source, test);
		}
		return test;
	}

	#holds(edge, before, after) {
		const newline = /[\n\r\u2028\u2029]/;
		const isMany = this.flags.includes("m");
		if (edge === "^")
			return before === "" || (isMany && newline.test(before));
		if (edge === "$")
			return after === "" || (isMany && newline.test(after));
		return (this.word.test(before) !== this.word.test(after)) === (edge === "\\b");
	}

	/* STATE and all that it goes on to without a character, into LIST; true at the end. */
	#enter(state, list, before, after) {
		const stack = [state];
		while (stack.length) {
			const at = stack.pop();
			if (this.marks[at] === this.round)
				continue;
			this.marks[at] = this.round;
			if (at === this.end)
				return true;
			if (this.tests[at])
				list.push(at);
			else if (!this.edges[at])
				stack.push(this.other[at], this.next[at]);
			else if (this.#holds(this.edges[at], before, after))
				stack.push(this.next[at]);
		}
		return false;
	}

	test(text) {
		const chars = this.isUnicode ? [...text] : text.split("");
		let now = [];
		for (let i = 0; i <= chars.length; i++) {
			const before = chars[i - 1] ?? "";
			const after = chars[i] ?? "";
			const entered = [];
			this.#nextRound();
			for (const state of now)
				if (this.#enter(this.next[state], entered, before, after))
					return true;
			if (this.#enter(this.start, entered, before, after))
				return true;
			const code = after === "" ? 0 : after.codePointAt(0);
			now = after === "" ? [] : entered.filter((state) => this.tests[state](after, code));
		}
		return false;
	}

	#nextRound() {
		if (++this.round === 0xffffffff) {
			this.marks.fill(0);
			this.round = 1;
		}
	}
}

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
		matchers.set(key, matcherOf(text, flags, source));
	}
	return matchers.get(key);
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
