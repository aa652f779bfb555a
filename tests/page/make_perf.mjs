/*
 * make_perf.mjs - large recordings for the tests of the page, of whatever shape they ask for
 *
 * Written a piece at a time: a million samples are more text than one string may hold.
 */
import { closeSync, openSync, writeSync } from "node:fs";

const PIECE = 20000; /* samples */

/* Numbers that look random and are the same each time (xorshift). */
function makeRandom() {
	let state = 2463534242;
	return (below) => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		return (state >>> 0) % below;
	};
}

/* The text of STACKS different stacks, innermost frame first, which share callers as real ones do. */
function makeStacks(random, n, depth) {
	const stacks = [];
	for (let i = 0; i < n; i++) {
		const lines = [];
		const deep = 3 + random(depth - 3);
		for (let level = deep; level > 0; level--)
			lines.push(`\t${(0x1000 + level).toString(16)} ` +
				`work_${level}_${i % (2 + level * level * level)}+0x1 (/bin/app)\n`);
		lines.push("\t10 main+0x1 (/bin/app)\n");
		stacks.push(lines.join(""));
	}
	return stacks;
}

/**
 * makePerf - a recording of N samples in SECONDS, of THREADS threads and STACKS stacks
 *
 * Its times are as uneven as timers are.
 */
export function makePerf(path, n, seconds, { threads = 8, stacks = 5000, depth = 24 } = {}) {
	const random = makeRandom();
	const texts = makeStacks(random, stacks, depth);
	const step = seconds * 1e6 / n; /* us */
	const file = openSync(path, "w");
	let parts = [];
	for (let i = 0; i < n; i++) {
		const us = Math.floor(i * step + random(Math.max(1, Math.floor(step))));
		const thread = i < threads ? i : random(threads); /* each has one at least */
		parts.push(`app_${thread % 40} 7/${7 + thread} [00${thread % 8}] ${100 + Math.floor(us / 1e6)}.` +
			`${String(us % 1e6).padStart(6, "0")}: ${1 + random(3)} cpu-clock: \n`,
		texts[random(stacks)], "\n");
		if (parts.length >= PIECE * 3 || i + 1 === n) {
			writeSync(file, parts.join(""));
			parts = [];
		}
	}
	closeSync(file);
}
