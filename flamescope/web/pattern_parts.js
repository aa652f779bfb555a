/* pattern_parts.js - what a regular expression is made of, and whether the browser's engine may have it */

const MAX_DEPTH = 100; /* of groups */
const MAX_NAME = 4096; /* of a name that a pattern looks at: time goes with the text */
const MAX_TRIES = 1e6; /* of the browser's engine, for one name */

export class Refused extends Error {}

/* --- a pattern's parts --- */

/*
 * {kind: "char", source} | {kind: "edge", source} | {kind: "seq", parts} | {kind: "or", parts} |
 * {kind: "many", part, min, max} | {kind: "back", part}: what cannot run side by side.
 */
export class Parser {
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
export function safety(part) {
	const alternatives = part.kind === "or" ? part.parts : [part];
	const weights = alternatives.map((inner) => weigh(inner));
	return {
		length: Math.floor(Math.min(...weights.map(safeLength)) / Math.max(1, Math.log2(weights.length))),
		back: weights.some(({ back }) => back),
	};
}
