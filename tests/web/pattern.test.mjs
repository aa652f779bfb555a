/* pattern.test.mjs - patterns of users: what they mean to the command, and never for long */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { searchNames } from "../../flamescope/web/models/frame_search.js";
import { makePattern, onMatching, originalName, refusePatterns } from "../../flamescope/web/models/pattern.js";

/* Numbers that are the same in each run. */
function makeRandom(seed) {
	let state = seed;
	return (n) => {
		state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
		return (state >> 8) % n;
	};
}

const ATOMS = ["a", "b", ".", "[ab]", "[^a]", "\\w", "é", "\\x61", ":", "\\.", "[\\]a-]", "\\d", "[[]", "]", "{", "}", "\\-",
	"\\é", "\\#", "[\\-\\[]", "[\\w:]", "\\p{Lu}", "a{,2}", "[[]a]]"];
/* What RegExp does not know, or knows as something else. */
const ODD = ["\\pL", "[[:alpha:]]", "[]a]", "[^]a]", "\\Aa", "a\\z", "\\Qa\\E", "\\h", "a++", "(?>a)", "\\x{61}"];
const EDGES = ["\\b", "^", "$", "\\B"];
const REPEATS = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "*?"];
const NAMES = ["a", "b", "ab", "Aba", "é", "aé", "a:b", "]", "[a]", "{a}", "{a#1}", "a-b", "a{", "b}a", "AB", "1", "a.b", "É", "_a", "a{,2}"];

function randomPattern(random, depth) {
	let pattern = "";
	for (let i = random(3); i >= 0; i--) {
		const kind = random(12);
		if (kind === 0)
			pattern += EDGES[random(EDGES.length)];
		else if (kind < 9 || depth === 0)
			pattern += (random(12) ? ATOMS[random(ATOMS.length)] : ODD[random(ODD.length)]) + REPEATS[random(REPEATS.length)];
		else
			pattern += `(${kind < 10 ? "?:" : ""}${randomPattern(random, depth - 1)}|${randomPattern(random, depth - 1)})${REPEATS[random(REPEATS.length)]}`;
	}
	return pattern;
}

const NOTHING_LEFT = 8; /* exit status */
const folder = mkdtempSync(join(tmpdir(), "wick-pattern-"));
const recording = join(folder, "names.folded");
writeFileSync(recording, NAMES.map((name) => `${name} 1\n`).join(""));
after(() => rmSync(folder, { recursive: true }));

/* The names that the command takes; null: the pattern is none. */
function namesOfCommand(pattern) {
	const { status, stdout } = spawnSync(process.env.WICK, ["convert", "--no-index", recording, `--only=${pattern}`, "--format", "folded", "-o", "-"], { encoding: "utf8" });
	if (status !== 0)
		return status === NOTHING_LEFT ? [] : null;
	return stdout.trimEnd().split("\n").map((line) => line.slice(0, line.lastIndexOf(" "))).sort();
}

function namesOfPage(pattern) {
	try {
		const made = makePattern(pattern);
		return NAMES.filter((name) => made.test(name)).sort();
	} catch {
		return null;
	}
}

test("a pattern is refused, or finds what the command finds", () => {
	const random = makeRandom(7);
	let [found, refused] = [0, 0];
	for (let i = 0; i < 400; i++) {
		const pattern = randomPattern(random, 1);
		const page = namesOfPage(pattern);
		refused += page === null;
		if (!page)
			continue;
		assert.deepEqual(page, namesOfCommand(pattern), pattern);
		found += page.length > 0;
	}
	assert.ok(found > 100 && refused > 40, `${found} found something, ${refused} were refused`);
});

test("what a RegExp does not know, or knows as something else, is refused, and says why", () => {
	for (const pattern of ODD)
		assert.throws(() => makePattern(pattern), /^Error: pattern '/, pattern);
	for (const [pattern, why] of [["[[:alpha:]]", /try: .*\[a-z\]/], ["(", /^pattern '\(': [^/]*$/], ["a**", /^pattern/],
		["a".repeat(70000), /at most 65536 characters/]])
		assert.throws(() => makePattern(pattern), ({ message }) => why.test(message) && message.length < 200, pattern.slice(0, 40));
});

test("whatever somebody typed is read at once", () => {
	for (const part of ["[", "[]", "{1", "\\p{", "(", "\\", "[\\", "((a{1000}){1000}){1000}", "a?"]) {
		const before = performance.now();
		try {
			makePattern(part.repeat(65536 / part.length));
		} catch { /* many are none */ }
		assert.ok(performance.now() - before < 1000, `${part}: ${performance.now() - before} ms`);
	}
});

test("many names that each take a while are given up together", () => {
	const slow = makePattern("a*a*b");
	const before = performance.now();
	assert.throws(() => {
		for (let i = 0; i < 1000000; i++)
			slow.test(`${"a".repeat(1000)}!${i}`);
	}, /takes too long on these names/);
	assert.ok(performance.now() - before < 10000);
	const { problem } = searchNames("A*A*B", [Array.from({ length: 100000 }, (_, i) => `${"A".repeat(1000)}!${i}`)]);
	assert.match(problem, /takes too long/);
});

test("of a name its first 4096 characters count", () => {
	const pattern = makePattern("b$");
	assert.deepEqual(["a".repeat(4095), "a".repeat(4096)].map((name) => pattern.test(`${name}b`)), [true, false]);
});

test("who listens knows which pattern is matched, and when it is over", () => {
	const heard = [];
	onMatching((pattern) => heard.push(pattern));
	searchNames("a+", [NAMES]);
	searchNames("(", [NAMES]);
	onMatching(() => {});
	assert.deepEqual(heard, ["a+", ""]);
});

test("a pattern that is refused is none any more, also one of several", () => {
	refusePatterns(["(r+)+$"]);
	refusePatterns(["(s+)+$", "t"]);
	assert.throws(() => makePattern("(r+)+$"), /pattern '\(r\+\)\+\$' takes too long/);
	assert.throws(() => makePattern("t"), /'\(s\+\)\+\$' or 't' takes too long/);
	assert.equal(makePattern("r").test("r"), true);
});

test("a search minds the case only of a pattern that has some, and finds what a function is a copy of", () => {
	const names = ["xFOO", "foo", "Foo", "foo.constprop.0", "foo.bar"];
	const found = (text) => names.filter((_, i) => searchNames(text, [["x"], names]).found[1][i]);
	assert.deepEqual(found("^foo"), ["foo", "Foo", "foo.constprop.0", "foo.bar"]);
	assert.deepEqual(found("Foo"), ["Foo"]);
	assert.deepEqual(found("^foo$"), ["foo", "Foo", "foo.constprop.0"]);
	assert.match(searchNames("(", [names]).problem, /pattern '\('/);
	assert.equal(makePattern("(?i)foo").test("FOO"), true);
	assert.equal(originalName("a.part.1.cold"), "a");
});
