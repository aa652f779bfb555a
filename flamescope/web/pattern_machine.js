/*
 * pattern_machine.js - a regular expression with all alternatives side by side
 *
 * K. Thompson, "Regular Expression Search Algorithm", CACM 11(6), 1968: in time that goes with
 * pattern times name, whatever they are.
 */

import { Refused } from "wick/pattern_parts.js";

const MAX_STATES = 20000;
const NONE = -1;

/*
 * States by number: one that TESTs the next character and goes on to `next`, an EDGE that holds
 * or not between two characters, or one that goes on to two at once.
 */
export class Machine {
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
