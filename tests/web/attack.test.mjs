/*
 * attack.test.mjs - names that want to be commands or formulas stay names, wherever they are taken, and
 * compressed files that want all memory or time get neither
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inflate } from "../../flamescope/web/models/bytes.js";
import { startModel } from "../../flamescope/web/models/model.js";
import { commandFor } from "../../flamescope/web/state/command.js";
import { shellWord } from "../../flamescope/web/state/query.js";
import { DEFAULTS } from "../../flamescope/web/state/store.js";

const NAMES = ["a b", "it's", "'; touch owned; '", "$(touch owned)", "`touch owned`", "a\nb; touch owned",
	"\x03\ntouch owned\n", "\x1b[201~touch owned\n", "\u009b31m", "back\\slash'\x07", "!!", "*", "~root",
	"é\u0085", "-rf", "#x", "a;touch owned", "&touch owned&", "%s", ""];

/* What bash makes of the words of COMMAND, which may do nothing but be words. */
function wordsOf(command) {
	const folder = mkdtempSync(join(tmpdir(), "wick-attack-"));
	try {
		const said = execFileSync("bash", ["-c", `wick() { printf '%s\\0' "$@"; }\n${command}\n`],
			{ cwd: folder, encoding: "utf8" });
		assert.deepEqual(readdirSync(folder), [], command);
		return said.split("\0").slice(0, -1);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

test("every name is one word of a shell, and the same name", () => {
	assert.deepEqual(wordsOf(`wick ${NAMES.map(shellWord).join(" ")}`), NAMES);
});

test("no control reaches the terminal that a command is pasted to", () => {
	const state = { ...DEFAULTS, view: "sandwich", around: NAMES.join("") };
	// eslint-disable-next-line no-control-regex
	assert.doesNotMatch(NAMES.map(shellWord).join(" ") + commandFor(state, NAMES), /[\u0000-\u001f\u007f-\u009f]/);
});

test("a file is never taken for a flag", () => {
	assert.deepEqual(wordsOf(commandFor({ ...DEFAULTS, view: "flame" }, ["-o/etc/x", "a"])).slice(0, 3),
		["flamegraph", "./-o/etc/x", "a"]);
	assert.deepEqual(wordsOf(commandFor({ ...DEFAULTS, view: "diff" }, ["-a"], ["--help"])).slice(0, 3),
		["diff", "./--help", "./-a"]);
});

test("what no flag says is said, and run by no shell", () => {
	for (const of of NAMES.filter((name) => name)) {
		const command = commandFor({ ...DEFAULTS, view: "flame", transforms: [{ kind: "hide", of }] }, ["f"]);
		assert.deepEqual(wordsOf(command), ["flamegraph", "f"]);
		/* zsh, where `#` begins no comment at the prompt */
		assert.equal(wordsOf(command.replace(" # ", " '#' "))[3], `without: Hide module ${of}`);
	}
});

/* --- zstd --- */

const MOST = 2 ** 29;
const bytesOf = (hex, ...more) => Buffer.concat([Buffer.from(hex.replaceAll(" ", ""), "hex"), ...more]);
const MAGIC = "28b52ffd";

/* A block of N times the byte X (RFC 8878, 3.1.1.2). */
function run(n, isLast, x = 65) {
	const head = n << 3 | 2 | Number(isLast);
	return Buffer.from([head & 255, head >> 8 & 255, head >> 16, x]);
}

test("what zstd has compressed takes no more memory than a recording may", async () => {
	await startModel();
	const many = (n, size) => Buffer.concat([...Array(n - 1).fill(run(size, false)), run(size, true)]);
	/* What it says of itself: a window of 2 TiB, of 128 MiB and an eighth, one segment of 2^63 bytes; a dictionary. */
	for (const [hex, says] of [["00 ff", /window has 3932160 MiB, and 128 MiB are the most/], ["00 89", /window has 144 MiB/],
		["e0 0000000000000080", /window has \d+ MiB/], ["01 58 07", /with a dictionary/]])
		await assert.rejects(inflate(bytesOf(`${MAGIC}${hex}`, run(8, true)), MOST), says);
	assert.equal((await inflate(bytesOf(`${MAGIC}0088`, run(8, true)), MOST)).length, 8, "128 MiB are fine");
	/* 4 bytes a block become 128 KiB. */
	assert.equal((await inflate(bytesOf(`${MAGIC}0038`, many(512, 131072)), MOST)).length, 2 ** 26);
	await assert.rejects(inflate(bytesOf(`${MAGIC}0038`, many(3000, 131072)), MOST), /more than 500 times as large as it is compressed/);
	assert.equal(await inflate(bytesOf(`${MAGIC}0038`, many(3000, 131072)), 2 ** 20), null, "it is not unpacked any further");
	assert.equal(await inflate(bytesOf(`${MAGIC}0038`, run(8, true), Buffer.alloc(100)), 100), null);
	await assert.rejects(inflate(bytesOf(`${MAGIC}0038`, many(2, 131073)), MOST), /damaged/);
	/* Four bytes a block become one. */
	assert.equal((await inflate(bytesOf(`${MAGIC}0038`, many(200000, 1)), MOST)).length, 200000);
	/* Many frames, each with the largest window. */
	const frames = Buffer.concat(Array(500).fill(bytesOf(`${MAGIC}0088`, run(1, true))));
	const began = performance.now();
	assert.equal((await inflate(frames, MOST)).length, 500);
	assert.ok(performance.now() - began < 60000);
});

test("damaged zstd is an Error in words, never other bytes", async () => {
	await startModel();
	const text = Buffer.from(Array.from({ length: 3000 }, (_, i) => `main;f${i % 7};g${i * 7919 % 100} ${i}\n`).join(""));
	let state = Number(process.env.WICK_SEED ?? 20261128);
	const random = (n) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0, Math.floor((state / 2 ** 32) * n));
	for (const level of ["-1", "-3", "-19"]) {
		const packed = execFileSync("zstd", ["-qc", level], { input: text });
		assert.deepEqual(Buffer.from(await inflate(packed)), text);
		for (let i = 0; i < 300; i++) {
			const bytes = Buffer.from(i % 5 ? packed : packed.subarray(0, 4 + random(packed.length - 4)));
			for (let k = random(4); i % 5 && k >= 0; k--)
				bytes[4 + random(packed.length - 4)] ^= 1 << random(8);
			const began = performance.now();
			if (!bytes.equals(packed))
				await assert.rejects(inflate(bytes, MOST), /^Error: (it is damaged, or ends too early|its window has|it is compressed with a dictionary)/);
			assert.ok(performance.now() - began < 10000);
		}
	}
	for (const bytes of [bytesOf("28b52ffd"), bytesOf("502a4d18ffffffff"), bytesOf("502a4d18 01000000"), bytesOf(`${MAGIC}0038`, run(8, true), Buffer.from("x"))])
		await assert.rejects(inflate(bytes, MOST), /damaged/);
});
