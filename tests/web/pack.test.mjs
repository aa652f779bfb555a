/* pack.test.mjs - a pack's bytes, from any source */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { inflate } from "../../flamescope/web/models/bytes.js";
import { facts, fromBase64 } from "../../flamescope/web/models/model.js";
import { EMPTY_QUERY } from "../../flamescope/web/state/query.js";
import { makeSelection, readPack } from "./columns.mjs";
import { golden, packOfCommandText, packOfFile, packOfText } from "./packs.mjs";

const bytes = packOfFile(join(golden, "zoo.comment.perf"));

/* The same numbers again and again: a failure can be looked at. */
function makeRandom(seed) {
	let state = seed;
	return (below) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
}

test("a recording's columns are as they were written", () => {
	const profile = readPack(packOfText(
		"# hostname : box\na 7/8  [002] 5.250000: 3 cpu-clock: \n\t 10 f+0x1 (/bin/a)\n\t 20 g (inlined)\n\t 30 main+0x2 (/bin/a)\n\n" +
		"# s st=sleeping wait=futex rss_kib=-5,9007199254740991\na 7/8  [003] 6.500000: 1 cpu-clock: \n\t 30 main+0x2 (/bin/a)\n\n"));
	assert.equal(profile.n, 2);
	assert.equal(profile.startNs, 5250000000n);
	assert.equal(profile.startSub, 250000000);
	assert.deepEqual([...profile.time], [0, 1250000000]);
	assert.deepEqual([...profile.weight], [3, 1]);
	assert.deepEqual([...profile.cpu], [2, 3]);
	assert.deepEqual(profile.threads, [{ comm: "a", host: "box", pid: 7, tid: 8 }]);
	assert.deepEqual(profile.events, ["cpu-clock"]);
	assert.deepEqual(profile.tags.map(({ name, values, codes }) => [name, values[codes[0]], values[codes[1]]]),
		[["state", "", "sleeping"], ["wait", "", "futex"]]);
	const [rss] = profile.metrics;
	assert.deepEqual([rss.name, ...rss.values, ...rss.deltas], ["rss_kib", NaN, -5, NaN, 9007199254740991]);
	const names = [];
	for (let node = profile.stack[0]; node !== 0; node = profile.nodes.parent[node])
		names.push(profile.text(profile.frames.name[profile.nodes.frame[node]]));
	assert.deepEqual(names, ["f", "g", "main"]);
	assert.deepEqual([...profile.frames.inlined], [0, 1, 0]);
	const { made } = makeSelection(profile, EMPTY_QUERY);
	assert.deepEqual(["f", "g", "main"].map((name) => facts("details", made, name).places[0]),
		[["/bin/a", "0x10 (+0x1)"], ["inlined", ""], ["/bin/a", "0x30 (+0x2)"]]);
});

test("a command of many lines is shown as one, as it was typed", () => {
	const command = (text) => readPack(packOfText(`# cmdline : ${text}\na 7/8  [002] 5.250000: 3 cpu-clock: \n\t 10 f+0x1 (/bin/a)\n\n`)).command;
	assert.equal(command("sh -c a%0Ab%09%3Cc%3E 100% %2541 %E9"), "sh -c a b <c> 100% %41 %E9");
});

test("base64 and gzip come out as they went in", async () => {
	const text = Buffer.from(gzipSync(bytes)).toString("base64");
	assert.deepEqual(await inflate(fromBase64(text)), bytes);
	const native = Uint8Array.fromBase64;
	try {
		Uint8Array.fromBase64 = undefined;
		for (const part of ["", "a", "ab", "abc", "abcd\u0000é"])
			assert.equal(Buffer.from(fromBase64(Buffer.from(part).toString("base64"))).toString(), part);
	} finally {
		if (native)
			Uint8Array.fromBase64 = native;
		else
			delete Uint8Array.fromBase64;
	}
});

test("steps become times and values again", async () => {
	const pack = await packOfCommandText([[1, "70000,70000"], [4, "500000,500000"], [7, "80000,10000"]].map(([second, heap]) =>
		`# s heap=${heap}\na 7/${second === 4 ? 8 : 7}  [000] ${second}.000000: 1 cpu-clock: \n\t 10 f+0x1 (/bin/a)\n\n`).join(""));
	for (const name of ["time_step", "value0_step"])
		assert.ok(pack.includes(`${name}\0`), name);
	const { time, metrics } = readPack(pack);
	assert.deepEqual([...time], [0, 3e9, 6e9]);
	assert.deepEqual([...metrics[0].values], [70000, 500000, 80000]);
	assert.deepEqual([...metrics[0].deltas], [70000, 500000, 10000]);
});

test("a column wider than it may be, or of three bytes, is refused", () => {
	const list = new TextDecoder("latin1").decode(bytes.subarray(0, 2000));
	const at = list.indexOf("stack\0") + 32;
	for (const size of [3, 8]) {
		const changed = bytes.slice();
		changed[at] = size;
		assert.throws(() => readPack(changed), /of another width/);
	}
});

test("a pack that is cut anywhere is refused with a reason", () => {
	const random = makeRandom(1);
	for (let i = 0; i < 200; i++) {
		const cut = bytes.slice(0, i < 50 ? i : random(bytes.length));
		assert.throws(() => everything(readPack(cut)), /damaged/);
	}
});

/* Ask for every column: the lazy ones too. */
function everything(profile) {
	const columns = [profile.stack, profile.thread, profile.weight, profile.cpu, profile.event, profile.frames.addr, profile.frames.offset,
		...profile.tags.map((tag) => tag.codes), ...profile.metrics.flatMap((m) => [m.values, m.deltas])];
	return columns.reduce((sum, column) => sum + column.length, 0);
}

test("a pack with any byte changed is refused, or read within its bounds", () => {
	const random = makeRandom(2);
	let refused = 0;
	for (let i = 0; i < 600; i++) {
		const changed = bytes.slice();
		/* Half of them where the sections are listed. */
		changed[i % 2 ? random(1200) : random(changed.length)] ^= 1 << random(8);
		try {
			const profile = readPack(changed);
			everything(profile);
			for (let sample = 0; sample < profile.n; sample++)
				for (let node = profile.stack[sample]; node !== 0; node = profile.nodes.parent[node])
					assert.equal(typeof profile.text(profile.frames.name[profile.nodes.frame[node]]), "string");
		} catch (error) {
			assert.ok(error instanceof Error && !(error instanceof assert.AssertionError), String(error));
			refused++;
		}
	}
	assert.ok(refused > 100, `${refused} refused`);
});

test("a newer version says so", () => {
	const newer = bytes.slice();
	newer[8] = 9;
	assert.throws(() => readPack(newer), /another version/);
});
