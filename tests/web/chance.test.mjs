/*
 * chance.test.mjs - the page's differences are the command's, number by number
 *
 * Shares, changes and what chance makes of them: diff.js over the packs of two files, and
 * `wick diff -o x.json` over the same files with the same words.  WICK is the program.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isFlagged, LEAST, LEVEL, makeDiff } from "../../flamescope/web/diff.js";
import { makeRandom } from "../../flamescope/web/diff_chance.js";
import { fromBase64, inflate, readPack } from "../../flamescope/web/pack.js";
import { commandFlags } from "../../flamescope/web/query.js";
import { makeSelection } from "../../flamescope/web/select.js";
import { parseHash } from "../../flamescope/web/store.js";
import { folder, golden } from "./packs.mjs";
import { chanceOf } from "./profile_fixture.mjs";

const { WICK } = process.env;

async function packOf(path) {
	const page = join(folder, "page.html");
	execFileSync(WICK, ["view", "--no-open", "--no-index", "--force", "-o", page, path], { stdio: "ignore" });
	const text = readFileSync(page, "utf8");
	const partOf = (type) => new RegExp(`<script type="application/x-wick-${type}"[^>]*>([^<]*)<`).exec(text)?.[1];
	const rest = partOf("rest");
	const profile = readPack(await inflate(fromBase64(partOf("pack"))), rest === undefined);
	if (rest !== undefined)
		profile.finish(await inflate(fromBase64(rest)));
	return profile;
}

/* SECONDS at 40 Hz in twelve functions of which each second favours one; MORE of them are work_3's. */
function write(name, { seconds, more = 0, rest = 0, seed = 1 }) {
	const random = makeRandom();
	for (let i = 0; i < 97 * seed; i++)
		random.next();
	let text = "";
	let live = 0;
	for (let s = 0; s < seconds; s++) {
		const favourite = random.below(12);
		for (let i = 0; i < 40; i++) {
			let f = random.below(3) === 0 ? favourite : random.below(12);
			if (random.below(1000) < more)
				f = 3;
			const change = (random.below(5000) + 1) * (f % 2 ? 1 : -1);
			live += change;
			text += `# s st=running heap=${live},${change}\n` +
				`app 7/${7 + (f % 2)} [000] ${1000 + s * (1 + rest)}.${String(i * 25).padStart(3, "0")}000: ${1 + random.below(9)} cpu-clock: \n` +
				`\t1000 work_${f}+0x1 (/bin/app)\n${f === 5 ? "\t1000 work_5+0x1 (/bin/app)\n" : ""}` +
				`\t2000 ${f % 3 ? "main" : "[unknown]"}+0x1 (/bin/app)\n\n`;
		}
	}
	const path = join(folder, name);
	writeFileSync(path, text);
	return path;
}

function near(got, wanted, digits, what) {
	assert.ok(Math.abs(got - wanted) <= 0.51 * 10 ** -digits, `${what}: ${got}, not ${wanted}`);
}

function compareFunction(diff, chance, i, wanted) {
	const name = diff.names[i];
	for (const part of ["total", "self"]) {
		const p = part === "self" ? chance.selfP : chance.totalP;
		near(diff[part][0][i], wanted[part].before, 8, `${name} ${part} before`);
		near(diff[part][1][i], wanted[part].after, 8, `${name} ${part} after`);
		near(p[i], wanted[part].p, 6, `${name} ${part} p`);
	}
	assert.equal(isFlagged(diff, i, "self") || isFlagged(diff, i, "total"), wanted.significant, name);
}

/* What both make of two files; returns the command's. */
async function compare(base, now, words) {
	const state = parseHash(words);
	const flags = commandFlags([], state.query).split(" ").filter((flag) => flag).map((flag) => flag.replace(/'/g, ""));
	const out = join(folder, "diff.json");
	execFileSync(WICK, ["diff", "--no-index", "--force", "--all", "-o", out, ...flags, base, now], { stdio: ["ignore", "ignore", "pipe"] });
	const json = JSON.parse(readFileSync(out, "utf8"));
	const sides = [];
	for (const path of [base, now])
		sides.push(makeSelection(await packOf(path), state.query));
	const diff = makeDiff(...sides);
	const chance = chanceOf(diff);
	assert.deepEqual([LEVEL, LEAST], [json.level, json.least]);
	assert.deepEqual([sides[0].n, sides[1].n], [json.before.samples, json.after.samples]);
	assert.deepEqual(diff.matrix.nBlocks, [json.before.blocks, json.after.blocks]);
	assert.deepEqual(diff.matrix.whole, [json.before.whole, json.after.whole]);
	assert.equal(diff.matrix.blockNs, json.block_ns);
	assert.equal(chance.n, json.permutations);
	near(chance.smallestP, json.smallest_p, 6, "the smallest p");
	assert.equal(chance.problem, json.no_significance ?? "");
	assert.equal(diff.names.length, json.functions.length);
	for (const wanted of json.functions)
		compareFunction(diff, chance, diff.names.indexOf(wanted.name), wanted);
	return json;
}

const flaggedOf = (json) => json.functions.filter((f) => f.significant).map((f) => f.name);

test("few seconds: every way to deal them out", async () => {
	const base = write("a4.perf", { seconds: 5 });
	const json = await compare(base, write("b4.perf", { seconds: 5, more: 700, seed: 2 }), "");
	assert.equal(json.permutations, 252);
	assert.ok(flaggedOf(json).includes("work_3"));
	assert.equal((await compare(base, write("b3.perf", { seconds: 3, seed: 3 }), "")).permutations, 56);
});

test("more seconds: ways that are drawn, in two directions, by each measure", async () => {
	const base = write("a.perf", { seconds: 16 });
	const now = write("b.perf", { seconds: 13, more: 500, seed: 2 });
	for (const words of ["", "metric=period", "metric=heap:gain", "metric=heap:delta", "group=thread", "only=main", "flatten"]) {
		const json = await compare(base, now, words);
		assert.equal(json.permutations, 4999);
		assert.equal((await compare(now, base, words)).permutations, 4999);
	}
	assert.deepEqual(flaggedOf(await compare(base, now, "metric=samples")).slice(0, 1), ["work_3"]);
});

test("hours, and seconds without a sample", async () => {
	const json = await compare(write("along.perf", { seconds: 60 }), write("blong.perf", { seconds: 45, rest: 9, seed: 4 }), "");
	assert.equal(json.block_ns, 4e9);
	assert.ok(json.before.blocks + json.after.blocks <= 64);
});

test("one second, or none of a metric, has no significance", async () => {
	const one = write("one.perf", { seconds: 1 });
	assert.match((await compare(one, write("two.perf", { seconds: 2 }), "")).no_significance, /a second/);
});

test("real recordings with names of all kinds", async () => {
	const samples = join(golden, "..", "view", "samples");
	await compare(join(samples, "gzip.perf"), join(samples, "xz.perf"), "metric=samples");
	await compare(join(samples, "python.perf"), join(samples, "perl.perf"), "metric=samples");
	await compare(join(golden, "golden.perf"), join(golden, "golden.perf"), "");
});

test("what differs is noticed", async () => {
	const base = write("a5.perf", { seconds: 5 });
	const diff = makeDiff(...[await packOf(base), await packOf(base)].map((profile) => makeSelection(profile, parseHash("").query)));
	const chance = chanceOf(diff);
	const wanted = { name: diff.names[0], significant: false };
	for (const part of ["total", "self"])
		wanted[part] = { before: diff[part][0][0], after: diff[part][1][0], p: 1 };
	compareFunction(diff, chance, 0, wanted);
	wanted.self.p -= 1e-5;
	assert.throws(() => compareFunction(diff, chance, 0, wanted), assert.AssertionError);
});
