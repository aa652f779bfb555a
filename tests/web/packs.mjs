/* packs.mjs - packs for tests, in a folder that goes with the process; the models in C are started */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inflate } from "../../flamescope/web/models/bytes.js";
import { fromBase64, startModel } from "../../flamescope/web/models/model.js";

const here = dirname(fileURLToPath(import.meta.url));
export const golden = join(here, "..", "golden");
export const folder = mkdtempSync(join(tmpdir(), "wick-web-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
await startModel();

let made = 0;

function write(text) {
	const path = join(folder, `${made++}.perf`);
	writeFileSync(path, text);
	return path;
}

/* By pack_from_perf.py, which shares no code with the program. */
function run(...words) {
	const out = join(folder, `${made++}.pack`);
	execFileSync("python3", [join(here, "pack_from_perf.py"), ...words, out]);
	return new Uint8Array(readFileSync(out));
}

/* Of a file, of text, of N made-up samples, of what profileOf() is given. */
export const packOfFile = (path) => run(path);
export const packOfText = (text) => run(write(text));
export const packOfSamples = (n, ...options) => run("--samples", String(n), ...options);
export const packByHand = (about) => run("--json", write(JSON.stringify(about)));

/* Of a file, by the command: what is in the page that it writes.  WICK is the program. */
export async function packOfCommand(path) {
	const page = join(folder, "page.html");
	execFileSync(process.env.WICK, ["view", "--no-open", "--no-index", "--force", "-o", page, path], { stdio: "ignore" });
	const text = readFileSync(page, "utf8");
	return Buffer.from(await inflate(fromBase64(/<script type="application\/x-wick-pack"[^>]*>([^<]*)</.exec(text)[1])));
}

/* The same of text. */
export const packOfCommandText = (text) => packOfCommand(write(text));
