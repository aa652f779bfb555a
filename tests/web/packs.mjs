/* packs.mjs - packs for tests, made by pack_from_perf.py in a folder that goes with the process */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
export const golden = join(here, "..", "golden");
export const folder = mkdtempSync(join(tmpdir(), "wick-web-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

let made = 0;

function run(...words) {
	const out = join(folder, `${made++}.pack`);
	execFileSync("python3", [join(here, "pack_from_perf.py"), ...words, out]);
	return new Uint8Array(readFileSync(out));
}

/* Of a file, of text, or of N made-up samples. */
export const packOfFile = (path) => run(path);
export const packOfSamples = (n, ...options) => run("--samples", String(n), ...options);
export function packOfText(text) {
	const path = join(folder, `${made++}.perf`);
	writeFileSync(path, text);
	return run(path);
}
