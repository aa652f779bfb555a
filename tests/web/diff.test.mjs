/* the difference of two selections, and its significance */
import assert from "node:assert/strict";
import test from "node:test";

import { makeDiff } from "../../flamescope/web/models/diff.js";
import { makeSelection } from "./columns.mjs";
import { EMPTY_QUERY } from "../../flamescope/web/state/query.js";
import { chanceOf, profileOf } from "./profile_fixture.mjs";

function select(profile) {
	return makeSelection(profile, { ...EMPTY_QUERY, metric: "samples" });
}

function generator(seed) {
	let state = seed >>> 0;
	return () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
}

/* SECONDS of a program at 100 Hz whose "slow" takes PART of its time more or less, by second. */
function program(seconds, part, seed) {
	const chance = generator(seed);
	const samples = [];
	for (let s = 0; s < seconds; s++) {
		const now = part + (chance() - 0.5) * 0.06;
		for (let i = 0; i < 100; i++) {
			const leaf = chance() < now ? "slow" : `work${Math.floor(chance() * 30)}`;
			samples.push({ time: s * 1e9 + i * 1e7, stack: ["main", "run", leaf] });
		}
	}
	return select(profileOf(samples));
}

test("shares are of each side's own whole", () => {
	const base = select(profileOf([
		{ time: 0, stack: ["main", "a"] }, { time: 1, stack: ["main", "b"] },
		{ time: 2, stack: ["main", "a", "a"] }, { time: 3, stack: ["main"] }]));
	const now = select(profileOf([{ time: 0, stack: ["main", "b"] }, { time: 9, stack: ["main", "c"] }]));
	const diff = makeDiff(base, now);
	const of = (name) => diff.names.indexOf(name);
	assert.deepEqual([diff.total[0][of("a")], diff.total[1][of("a")]], [0.5, 0]);
	assert.deepEqual([diff.self[0][of("main")], diff.self[1][of("main")]], [0.25, 0]);
	assert.deepEqual([diff.total[0][of("b")], diff.total[1][of("b")]], [0.25, 0.5]);
	assert.equal(diff.total[0][of("c")], 0);
	assert.equal(chanceOf(diff).problem, "one side is a second or less, or has no times");
});

test("a tree of both sides is as wide as their mean, and nothing vanishes", () => {
	const base = select(profileOf([{ time: 0, stack: ["main", "gone"] }, { time: 1, stack: ["main"] }]));
	const now = select(profileOf([{ time: 0, stack: ["main", "new"] }]));
	const diff = makeDiff(base, now);
	const tree = diff.treeOf("");
	const nodes = Object.fromEntries(Array.from({ length: tree.n - 1 }, (_, i) =>
		[diff.names[tree.frame[i + 1]], i + 1]));
	assert.equal(tree.width[0], 1);
	assert.equal(tree.width[nodes.gone], 0.25);
	assert.equal(tree.width[nodes.new], 0.5);
	assert.deepEqual([tree.total[0][nodes.main], tree.total[1][nodes.main]], [1, 1]);
});

test("of what is new, or gone, a tree has that alone and what leads to it", () => {
	const of = (...stacks) => select(profileOf(stacks.map((stack, time) => ({ time, stack }))));
	const diff = makeDiff(of(["main", "a"], ["main", "b", "x"]), of(["main", "a", "n", "m"], ["main", "a"], ["main", "b"], ["o"]));
	const parts = (changes) => {
		const tree = diff.treeOf(changes);
		return Object.fromEntries(Array.from({ length: tree.n - 1 }, (_, i) => [diff.names[tree.frame[i + 1]], tree.width[i + 1]])
			.filter(([, width]) => width > 0));
	};
	assert.deepEqual(parts("new"), { main: 0.5, a: 0.5, n: 0.5, m: 0.5, o: 0.5 });
	assert.deepEqual(parts("gone"), { main: 1, b: 1, x: 1 });
	assert.equal(Object.keys(parts("neither")).length, 7);
	assert.equal(makeDiff(of(["main"]), of(["main"])).treeOf("new").width[0], 0);
});

test("five points more of one function are found among 5,000 samples a side", () => {
	const diff = makeDiff(program(50, 0.20, 1), program(50, 0.25, 2));
	const chance = chanceOf(diff);
	const slow = diff.names.indexOf("slow");
	assert.ok(chance.totalP[slow] < chance.level, `p is ${chance.totalP[slow]}`);
	assert.equal(chance.problem, "");
	for (const name of ["main", "run"])
		assert.equal(chance.totalP[diff.names.indexOf(name)], 1);
});

test("the unchanged program changes nothing", () => {
	for (let seed = 0; seed < 6; seed++) {
		const diff = makeDiff(program(12, 0.2, 100 + seed), program(15, 0.2, 200 + seed));
		const chance = chanceOf(diff);
		for (const p of [...chance.selfP, ...chance.totalP])
			assert.ok(p >= chance.level);
	}
});

test("few seconds: every way to pick them, and what that can show", () => {
	const diff = makeDiff(program(4, 0.2, 5), program(4, 0.9, 6));
	const chance = chanceOf(diff);
	assert.equal(chance.n, 70); /* 8 over 4 */
	assert.ok(Math.abs(chance.smallestP - 2 / 70) < 1e-9);
	assert.equal(chance.selfP[diff.names.indexOf("slow")], 2 / 70);
});

test("what is measured differently is not compared", () => {
	const of = (metric, unit) => makeSelection(profileOf([{ time: 0, stack: ["a"], metrics: { heap: [1, 1] } }],
		{ units: { heap: unit } }), { ...EMPTY_QUERY, metric });
	assert.throws(() => makeDiff(of("heap", "ns"), of("heap", "KiB")), /counts time, another bytes/);
	assert.throws(() => makeDiff(of("heap:mean", "ns"), of("heap:mean", "ns")), /a mean has no whole/);
	assert.equal(makeDiff(of("heap", "ns"), of("heap", "ns")).whole[0], 1);
});
