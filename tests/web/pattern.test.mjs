/* pattern.test.mjs - patterns of users: as the browser's own, but never for long */

import assert from "node:assert/strict";
import { test } from "node:test";
import { compilePattern } from "../../flamescope/web/frame_search.js";
import { makePattern } from "../../flamescope/web/pattern.js";

/* Numbers that are the same in each run. */
function makeRandom(seed) {
	let state = seed;
	return (n) => {
		state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
		return (state >> 8) % n;
	};
}

const ATOMS = ["a", "b", ".", "[ab]", "[^a]", "\\w", "é", "\\x61", " ", "\\.", "[\\]a-]", "\\d", "\\u00e9"];
const EDGES = ["\\b", "^", "$", "\\B"];
const REPEATS = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "*?"];

function randomPattern(random, depth) {
	let pattern = "";
	for (let i = random(4); i >= 0; i--) {
		const kind = random(12);
		if (kind === 0)
			pattern += EDGES[random(EDGES.length)];
		else if (kind < 7 || depth === 0)
			pattern += ATOMS[random(ATOMS.length)] + REPEATS[random(REPEATS.length)];
		else
			pattern += `(${kind < 9 ? "?:" : ""}${randomPattern(random, depth - 1)}|${randomPattern(random, depth - 1)})${REPEATS[random(REPEATS.length)]}`;
	}
	return pattern;
}

function randomText(random) {
	let text = "";
	for (let i = random(8); i > 0; i--)
		text += "abéAB .\n1"[random(9)];
	return text;
}

test("finds what the browser's engine finds, whichever of the two engines has to do it", () => {
	const random = makeRandom(7);
	let found = 0;
	for (let i = 0; i < 1500; i++) {
		/* What stands before it changes nothing but that it has to run side by side. */
		const pattern = (i & 1 ? "(?:(?:x?)*)" : "") + randomPattern(random, 1);
		const flags = ["", "i", "m", "is"][random(4)];
		const mine = makePattern(pattern, flags);
		const theirs = new RegExp(pattern, `${flags}u`);
		for (let k = 0; k < 6; k++) {
			const text = randomText(random);
			assert.equal(mine.test(text), theirs.test(text), `${pattern} ${flags} ${JSON.stringify(text)}`);
			found += theirs.test(text);
		}
	}
	assert.ok(found > 1500 && found < 8000, "both answers are asked for");
});

test("no pattern takes long, whatever the name", () => {
	const names = [`${"a".repeat(5000)}!`, `${"a".repeat(60)}!`, "a!".repeat(2000), `${"ab".repeat(1500)}c`];
	for (const pattern of ["(a+)+$", "(a|a)*$", "(a|ab)*(b|ba)*$", "a*a*a*a*a*a*b", "(a?){40}a{40}$", "((a*)*)*$",
		"(.*)(.*)(.*)(.*)(.*)x", "^(?!b)a*$", "(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)x",
		"a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?x", "[ab]*[ab]*c$", "(){1000000000}"]) {
		const before = performance.now();
		const mine = makePattern(pattern);
		for (const name of names)
			mine.test(name);
		assert.ok(performance.now() - before < 1500, `${pattern}: ${performance.now() - before} ms`);
	}
});

test("what would take too long whatever is done is refused, and says why", () => {
	for (const [pattern, why] of [["(?=a+)+b", /takes too long/], ["(a+)+\\1$", /takes too long/],
		["((a{1000}){1000}){1000}", /too (much|large)/i], ["((){4000}){40000}", /too (much|large)/i],
		["(", /pattern '\('/], ["a**", /pattern/], ["a".repeat(70000), /characters/]])
		assert.throws(() => makePattern(pattern), why, pattern.slice(0, 40));
});

test("many names that each take a while are given up together", () => {
	const slow = makePattern("(a|b|ab)*(a|b|ab)*(a|b|ab)*(a|b|ab)*$");
	const before = performance.now();
	assert.throws(() => {
		for (let i = 0; i < 1000000; i++)
			slow.test(`${"ab".repeat(1990)}!${i}`);
	}, /takes too long for these names/);
	assert.ok(performance.now() - before < 5000);
});

test("a search that is given up matches nothing from then on, and says why", () => {
	const { regex } = compilePattern("(A|B|AB)*(A|B|AB)*(A|B|AB)*(A|B|AB)*$");
	for (let i = 0; i < 1000000 && !regex.problem; i++)
		regex.test(`${"AB".repeat(1990)}!${i}`);
	assert.match(regex.problem, /takes too long/);
	assert.equal(regex.test("AB"), false);
	assert.match(compilePattern("(A|B|AB)*(A|B|AB)*(A|B|AB)*(A|B|AB)*$").problem, /takes too long/);
	assert.equal(compilePattern("[").regex, null);
});

test("a search minds the case only of a pattern that has some", () => {
	assert.equal(compilePattern("foo").regex.test("xFOO"), true);
	assert.equal(compilePattern("Foo").regex.test("xFOO"), false);
	assert.equal(makePattern("(?i)foo").test("FOO"), true);
});
