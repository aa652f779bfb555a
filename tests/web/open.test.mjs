/*
 * open.test.mjs - a file that the page reads is what the command makes of it, and hostile ones do no harm
 *
 * WICK is the program.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { inflate } from "../../flamescope/web/models/bytes.js";
import { readPack, readRecording } from "./columns.mjs";
import { pageOf, releaseProfile } from "../../flamescope/web/models/pack.js";
import { folder, golden, packOfCommand } from "./packs.mjs";

const { WICK } = process.env;
const samples = join(golden, "..", "view", "samples");
const seeds = join(golden, "..", "fuzz", "seeds");
const MOST = 2 ** 29;

const open = async (path) => readRecording(await inflate(readFileSync(path), MOST), basename(path));

/* All that is known of a profile but where its file is. */
function allOf(profile) {
	const { files, strings, starts, notes, ...page } = pageOf(profile);
	const { time, weight, thread, stack, cpu, event, nodes } = profile;
	const text = (number) => profile.text(number);
	return {
		...page,
		notes: notes.map((note) => basename(note)),
		frames: { ...page.frames, name: Array.from(page.frames.name, text), module: Array.from(page.frames.module, text) },
		files: files.map(({ bytes, samples: n, bad_lines, cut, unended, lost }) => ({ bytes, n, bad_lines, cut, unended, lost })),
		time, weight, thread, stack, cpu, event, nodes: { ...nodes },
		tags: profile.tags.map(({ name, values, codes }) => ({ name, values, codes })),
		metrics: profile.metrics.map(({ name, unit, kind, values, deltas }) => ({ name, unit, kind, values, deltas })),
	};
}

async function isAsCommandHasIt(path) {
	const page = await open(path);
	const command = readPack(await packOfCommand(path));
	assert.deepEqual(allOf(page), allOf(command), path);
	const { n, sum } = page;
	releaseProfile(page);
	releaseProfile(command);
	return { n, sum };
}

function put(name, bytes) {
	const path = join(folder, name);
	writeFileSync(path, bytes);
	return path;
}

for (const name of ["zoo.comment", "golden", "zoo.inline", "labels"])
	test(`the page reads what the command writes of ${name}`, async () => {
		const perf = join(golden, `${name}.perf`);
		const { sum } = await isAsCommandHasIt(perf);
		for (const end of ["perf", "perf.gz", "folded", "pb.gz", "pb", "speedscope.json", "firefox.json.gz"]) {
			const path = join(folder, `${name}.${end}`);
			execFileSync(WICK, ["convert", "--no-index", "--force", "-o", path, perf], { stdio: "ignore" });
			const read = await isAsCommandHasIt(path);
			if (!end.startsWith("folded"))
				assert.ok(Math.abs(read.sum - sum) <= read.n, `${path}: ${read.sum} of ${sum}`);
		}
	});

test("perf's own text, with all that perf prints, is read alike", async () => {
	for (const file of readdirSync(samples).filter((name) => name.endsWith(".perf") && statSync(join(samples, name)).size < 2e6))
		await isAsCommandHasIt(join(samples, file));
});

const zstd = (data, ...flags) => execFileSync("zstd", ["-qc", ...flags], { input: data, maxBuffer: 2 ** 30 });

/* What a reader passes over (RFC 8878, 3.1.2). */
function skippable(n) {
	const frame = Buffer.alloc(8 + n, 7);
	frame.writeUInt32LE(0x184d2a53, 0);
	frame.writeUInt32LE(n, 4);
	return frame;
}

test("a file that zstd has compressed is read like the plain one, whatever it is made of", async () => {
	const text = readFileSync(join(golden, "golden.perf"));
	const plain = put("golden.plain.perf", text);
	const half = text.length >> 1;
	const known = join(folder, "known.zst"); /* its frame says how long it is */
	execFileSync("zstd", ["-qf", "-o", known, plain]);
	const packed = {
		fast: zstd(text, "-1"), usual: zstd(text), best: zstd(text, "-19"), far: zstd(text, "--long=27"), unchecked: zstd(text, "--no-check"),
		known: readFileSync(known), parts: Buffer.concat([zstd(text.subarray(0, half)), zstd(Buffer.alloc(0)), zstd(text.subarray(half), "--no-check")]),
		skipped: Buffer.concat([skippable(0), zstd(text), skippable(1000)]),
	};
	for (const [name, bytes] of Object.entries(packed)) {
		assert.deepEqual(Buffer.from(await inflate(bytes, MOST)), text, name);
		await isAsCommandHasIt(put(`${name}.perf.zst`, bytes));
	}
	for (const bytes of [Buffer.alloc(0), Buffer.from("a"), Buffer.alloc(1e6, "ab\n"), Buffer.alloc(300000, 0), crypto.getRandomValues(new Uint8Array(65536))])
		assert.deepEqual(Buffer.from(await inflate(zstd(bytes), MOST)), Buffer.from(bytes));
});

/* --- files of other programs, by their own definitions --- */

function varint(value) {
	const bytes = [];
	for (let left = BigInt.asUintN(64, BigInt(value)); ; left >>= 7n) {
		bytes.push(Number(left & 0x7fn) | (left > 0x7fn ? 0x80 : 0));
		if (left <= 0x7fn)
			return bytes;
	}
}

const number = (field, value) => [...varint(field << 3), ...varint(value)];
const bytes = (field, ...parts) => [...varint(field << 3 | 2), ...varint(parts.flat().length), ...parts.flat()];
const string = (text) => bytes(6, [...new TextEncoder().encode(text)]);

/* As runtime/pprof writes it: two types, a place with an inlined call, ids that are no indexes. */
const heap = [
	bytes(1, number(1, 1), number(2, 2)), bytes(1, number(1, 3), number(2, 4)),
	bytes(2, bytes(1, varint(90), varint(7)), bytes(2, varint(3), varint(4096)), bytes(3, number(1, 9), number(2, 10))),
	bytes(2, number(1, 7), number(2, 1), number(2, 1000)),
	bytes(3, number(1, 5), number(5, 8)),
	bytes(4, number(1, 90), number(2, 5), bytes(4, number(1, 31)), bytes(4, number(1, 32))),
	bytes(4, number(1, 7), number(2, 5), bytes(4, number(1, 33))),
	bytes(5, number(1, 31), number(2, 5)), bytes(5, number(1, 32), number(2, 6)), bytes(5, number(1, 33), number(2, 7)),
	...["", "alloc_objects", "count", "inuse_space", "bytes", "inner", "outer", "main.main", "/bin/app", "tenant", "acme"].map(string),
].flat();

test("pprof: the last type is shown, the others are metrics, and inlined calls are frames", async () => {
	const path = put("heap.pb", Buffer.from(heap));
	assert.deepEqual(await isAsCommandHasIt(path), { n: 2, sum: 5096 });
	const profile = await open(path);
	const names = [];
	for (let node = profile.stack[0]; node; node = profile.nodes.parent[node])
		names.push(profile.text(profile.frames.name[profile.nodes.frame[node]]));
	assert.deepEqual(names, ["inner", "outer", "main.main"]);
	assert.deepEqual([...profile.frames.inlined].sort(), [0, 0, 1]);
	assert.equal(profile.periods[0].unit, "B");
	assert.deepEqual(profile.metrics.map(({ name, deltas }) => [name, ...deltas]), [["alloc_objects", 3, 1]]);
	assert.deepEqual(profile.tags.map(({ name, values }) => [name, values.at(-1)]), [["tenant", "acme"]]);
	releaseProfile(profile);
	/* The type that the file says. */
	await assert.doesNotReject(async () => {
		const chosen = await open(put("chosen.pb", Buffer.from([...heap, ...number(14, 1)])));
		assert.deepEqual([chosen.sum, chosen.metrics[0].name], [4, "inuse_space"]);
		releaseProfile(chosen);
	});
});

test("a file takes memory by its size: what grows far more is refused, and the next one is read", async () => {
	const types = Array.from({ length: 15 }, (_, i) => bytes(1, number(1, i + 1), number(2, i + 1)));
	const names = ["", ...types.map((_, i) => `t${i}`)].map(string);
	const place = [bytes(4, number(1, 1), bytes(4, number(1, 1))), bytes(5, number(1, 1), number(2, 1))];
	const last = bytes(2, number(1, 1), bytes(2, types.map(() => 1))); /* all samples have a place for its values */
	const sparse = (n) => Buffer.concat([Buffer.from([types, names, place].flat(2)), Buffer.alloc(2 * n, Uint8Array.of(0x12, 0)), Buffer.from(last)]);
	await assert.rejects(open(put("sparse.pb", sparse(2 ** 20))), /need more than 320 MiB of memory, try: fewer files/);
	assert.deepEqual(await isAsCommandHasIt(put("few.pb", sparse(1000))), { n: 1001, sum: 1 });
	const text = Array.from({ length: 2 ** 18 }, (_, i) => `${(i + 46656).toString(36)} 1\n`).join("");
	const profile = await open(put("names.folded", text)); /* nothing that is real takes more than these */
	assert.deepEqual([profile.n, profile.frames.n], [2 ** 18, 2 ** 18]);
	releaseProfile(profile);
});

test("speedscope: sampled and evented profiles, with times where values are times", async () => {
	const path = put("events.json", JSON.stringify({
		$schema: "https://www.speedscope.app/file-format-schema.json",
		shared: { frames: [{ name: "a" }, { name: "b \u{1f600}\n\"x\"", file: "lib.so" }] },
		profiles: [
			{ type: "evented", name: "main pid: 7 tid: 8", unit: "milliseconds", startValue: 1, endValue: 10.5, events: [
				{ type: "O", frame: 0, at: 1 }, { type: "O", frame: 1, at: 2.25 }, { type: "C", frame: 1, at: 4 }, { type: "C", frame: 0, at: 10.5 }] },
			{ type: "sampled", name: "other", unit: "milliseconds", startValue: 0, endValue: 3, samples: [[0], [0, 1], []], weights: [1, 1.5, 0.5] },
		],
	}));
	assert.deepEqual(await isAsCommandHasIt(path), { n: 6, sum: 12.5e6 });
	const profile = await open(path);
	assert.deepEqual([...profile.time], [0, 1e6, 1e6, 2.25e6, 2.5e6, 4e6]);
	assert.deepEqual([...profile.weight], [1e6, 1.25e6, 1.5e6, 1.75e6, 0.5e6, 6.5e6]);
	assert.ok(profile.hasTimes);
	assert.ok(Array.from(profile.frames.name, profile.text).includes("b \u{1f600}\n\"x\""));
	assert.deepEqual(profile.threads.map(({ comm, pid, tid }) => [comm, pid, tid]), [["other", -1, -1], ["main", 7, 8]]);
	releaseProfile(profile);
});

const firefox = (shared, own) => JSON.stringify({
	meta: { startTime: 1700000000000.5, interval: 1 }, shared,
	threads: [{ name: "GeckoMain", pid: "12", tid: 34, ...own, samples: { length: 3, stack: [1, 0, null], timeDeltas: [0, 2, 0.5], weight: null, weightType: "samples" } }],
});

test("Firefox: tables of a thread, and those that all threads share", async () => {
	const strings = { stringArray: ["root", "leaf", "libxul.so"] };
	const tables = {
		stackTable: { length: 2, frame: [0, 1], prefix: [null, 0] }, frameTable: { length: 2, func: [1, 0], inlineDepth: [0, 0] },
		funcTable: { length: 2, name: [1, 0], resource: [0, -1] }, resourceTable: { length: 1, name: [2] },
	};
	const own = put("own.json", firefox({}, { ...strings, ...tables }));
	const shared = put("shared.json", firefox({ ...strings, ...tables }, {}));
	const mixed = put("mixed.json", firefox(strings, tables));
	const found = [];
	for (const path of [own, shared, mixed]) {
		assert.deepEqual(await isAsCommandHasIt(path), { n: 3, sum: 3 });
		const profile = await open(path);
		found.push({ ...allOf(profile), files: 0 });
		assert.equal(Number(profile.startNs + profile.epochOffsetNs), 1700000000000.5e6);
		assert.deepEqual([...profile.time], [0, 2e6, 2.5e6]);
		releaseProfile(profile);
	}
	assert.deepEqual(found[1], found[0]);
	assert.deepEqual(found[2], found[0]);
	const raw = JSON.stringify({ meta: {}, threads: [{ samples: { schema: { stack: 0 }, data: [] } }] });
	await assert.rejects(open(put("raw.json", raw)), /'raw\.json': it is a profile as Firefox records it, try: open it on profiler/);
});

/* --- what is no recording --- */

test("what cannot be read is an Error that says why, and what to do", async () => {
	for (const [name, content, says] of [
		["empty.perf", "", /'empty\.perf' is empty/],
		["x.perf.zst", Buffer.from("28b52ffd2400", "hex"), /^Error: it is damaged, or ends too early$/],
		["perf.data", "PERFILE2xxxxxxxx", /perf's own file, not its text, try: perf script/],
		["other.json", '{"a": 1}', /'other\.json': it is JSON, but neither of speedscope nor/],
		["cut.json", '{"profiles": [', /'cut\.json': it is JSON that is damaged, or ends in the middle/],
		["plain.txt", "nothing\n", /'plain\.txt' has no sample/],
	])
		await assert.rejects(open(put(name, content)), says);
	await assert.rejects(inflate(gzipSync("main;a 1\n").subarray(0, 12), MOST));
	assert.equal(await inflate(gzipSync(Buffer.alloc(1e6)), 1e5), null, "it is not unpacked any further");
	assert.equal(await inflate("main;a 1\n", 8), null);
	const uniform = gzipSync(Buffer.alloc(160 * 2 ** 20));
	await assert.rejects(inflate(uniform, MOST), /more than 500 times as large as it is compressed/);
	assert.equal((await inflate(gzipSync(Buffer.alloc(64 * 2 ** 20)), MOST)).length, 64 * 2 ** 20);
});

function makeRandom(seed) {
	let state = seed >>> 0;
	return (n) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0, Math.floor((state / 2 ** 32) * n));
}

/* Whatever the bytes are: a profile that can be read to its end, or an Error with a message. */
test("hostile bytes are read or refused, in bounded time", async () => {
	const random = makeRandom(Number(process.env.WICK_SEED ?? 20261128));
	const seedFiles = readdirSync(seeds, { recursive: true }).map((name) => join(seeds, name))
		.filter((path) => statSync(path).isFile() && statSync(path).size < 1e5 && /load|perf_text/.test(path));
	const texts = [...seedFiles, ...["heap.pb", "events.json", "own.json", "shared.json", "golden.pb", "golden.speedscope.json", "golden.folded"]
		.map((name) => join(folder, name))].map((path) => readFileSync(path));
	assert.ok(texts.length > 7);
	let read = 0, refused = 0;
	for (const text of texts) {
		for (let i = 0; i < 40; i++) {
			const damaged = Buffer.from(text.subarray(0, i % 4 === 0 ? random(text.length + 1) : text.length));
			for (let k = random(8); i > 0 && k > 0 && damaged.length; k--)
				damaged[random(damaged.length)] = i % 3 ? random(256) : "{}[],:\"\\\n;0-9e."[random(15)].charCodeAt(0);
			const began = performance.now();
			try {
				const profile = readRecording(new Uint8Array(damaged), "x");
				allOf(profile);
				releaseProfile(profile);
				read++;
			} catch (error) {
				assert.ok(error instanceof Error && !(error instanceof WebAssembly.RuntimeError) && error.message, String(error));
				refused++;
			}
			assert.ok(performance.now() - began < 5000);
		}
	}
	assert.ok(read > 0 && refused > 0, `${read} were read, ${refused} refused`);
});
