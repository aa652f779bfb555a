/*
 * open.mjs - how soon a recording is seen: wick beside speedscope, the Firefox Profiler, FlameScope
 *
 *   open.mjs --wick WICK --npm DIR --scratch DIR [--firefox FILE] [--runs 5] [SIZE...]
 *
 * For texts of 10M, 100M and 1G, as tests/golden/gen_perf_script.py makes them, in the page cache:
 *   wick view         the command, from the text to the page's file; and again, from its index
 *   its page          chromium opens that file: the first paint, the heatmap, all views; and then, from the
 *                     end of a drag over the heatmap to the frame with what it selects, without what is said of
 *                     the cell below the pointer
 *   speedscope        its own page in chromium, from the file's choice to its profile
 *   Firefox Profiler  FILE under node: its src/profile-logic/import/linux-perf without types, as .mjs
 *   FlameScope's way  its expressions in Python over every line, for the heatmap and for a flame graph
 *                     (tests/bench/load.py: a model)
 * Seconds: medians of RUNS runs, or of as many as 30 s have room for.  What cannot read a file says why.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, loadavg } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { countFrames } from "../page/drawn.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const { values: options, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		wick: { type: "string" }, npm: { type: "string" }, scratch: { type: "string" },
		firefox: { type: "string" }, runs: { type: "string", default: "5" },
		import: { type: "string" }, /* of a child: what it imports */
	},
});
const sizes = positionals.length ? positionals : ["10M", "100M", "1G"];
const MOST_S = 30; /* of one figure */
const SELECTIONS = 15;
const LONGEST_MS = 15 * 60 * 1000;

/* A child reads the text and imports it, as the Firefox Profiler does with a file that it is given. */
if (options.import) {
	const { convertPerfScriptProfile } = await import(pathToFileURL(resolve(options.firefox)));
	const profile = convertPerfScriptProfile(readFileSync(options.import, "utf8"));
	console.log(profile.threads.length);
	process.exit(0);
}

const scratch = resolve(options.scratch);
mkdirSync(scratch, { recursive: true });
const env = { ...process.env, XDG_CACHE_HOME: join(scratch, "cache"), DISPLAY: "" };

const seconds = (from) => (performance.now() - from) / 1000;
const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

/* Seconds that a process takes; an Error says why it did not end well. */
function timeOf(program, args) {
	const start = performance.now();
	const { status, signal, stderr } = spawnSync(program, args,
		{ env, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"], maxBuffer: 2 ** 26 });
	const took = seconds(start);
	if (status !== 0)
		throw new Error(/(?:Error|error): .*/.exec(stderr)?.[0] ?? signal ?? stderr);
	return took;
}

function textOf(size) {
	const path = join(scratch, `${size}.perf`);
	if (!existsSync(path)) {
		execFileSync("/usr/bin/python3", [join(here, "../golden/gen_perf_script.py"), size, `${path}.part`,
			"--comments"], { stdio: "ignore" });
		renameSync(`${path}.part`, path);
		utimesSync(path, 1e9, 1e9); /* an index is only made of what has not changed just now */
	}
	execFileSync("cat", [path], { stdio: "ignore" }); /* into the page cache */
	return path;
}

const pageOf = (path) => `${path}.html`;
const view = (path) => timeOf(options.wick, ["view", "--no-open", "-f", "-o", pageOf(path), path]);

const require = createRequire(join(resolve(options.npm), "package.json"));
const puppeteer = require("puppeteer-core");
const executablePath = process.env.CHROMIUM ??
	["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));

/* What LOOK finds out in a page of a browser of its own. */
async function inBrowser(look) {
	const browser = await puppeteer.launch({
		executablePath, headless: true, protocolTimeout: LONGEST_MS,
		args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--allow-file-access-from-files"],
	});
	try {
		const page = await browser.newPage();
		const failed = new Promise((_, reject) => {
			page.on("dialog", (dialog) => reject(new Error(dialog.message())));
			page.on("pageerror", reject);
			page.on("error", reject); /* it has crashed */
		});
		return await Promise.race([look(page), failed]);
	} finally {
		await browser.close();
	}
}

async function open(page, path) {
	await page.evaluateOnNewDocument(countFrames);
	await page.goto(pathToFileURL(pageOf(path)).href);
	await page.waitForFunction(() => performance.getEntriesByName("wick-ready").length, { timeout: LONGEST_MS });
}

/* From the beginning of the navigation on. */
const markOf = (path, name) => inBrowser(async (page) => {
	await open(page, path);
	return page.evaluate((mark) => performance.getEntriesByName(mark)[0].startTime / 1000, name);
});

/* Seconds of each of SELECTIONS drags. */
const selections = (path) => inBrowser(async (page) => {
	await open(page, path);
	await page.evaluate(() => {
		const main = document.querySelector("main");
		window.addEventListener("pointerup", () => Object.assign(window, { began: performance.now(), ended: 0 }), true);
		new MutationObserver(() => main.getAttribute("aria-busy") === "false" &&
			requestAnimationFrame(function drawn() {
				if (window.isDrawn())
					setTimeout(() => (window.ended ||= performance.now()));
				else
					requestAnimationFrame(drawn);
			}))
			.observe(main, { attributeFilter: ["aria-busy"] });
	});
	const box = await (await page.$("#heat canvas[tabindex]")).boundingBox();
	const at = (x, y) => [box.x + box.width * x, box.y + box.height * y];
	const all = [];
	for (let i = 0; i < SELECTIONS; i++) {
		await page.mouse.move(...at(0.2 + i / 50, 0.3));
		await page.mouse.down();
		await page.mouse.move(...at(0.5 + i / 60, 0.6), { steps: 3 });
		await page.mouse.up();
		await page.waitForFunction(() => window.ended && performance.now() > window.ended + 300, { polling: 20 });
		all.push(await page.evaluate(() => (window.ended - window.began) / 1000));
	}
	return median(all);
});

const speedscope = (path) => inBrowser(async (page) => {
	await page.goto(pathToFileURL(join(dirname(require.resolve("speedscope/package.json")), "dist/release/index.html")).href);
	const input = await page.waitForSelector("input[type=file]");
	const start = performance.now();
	await input.uploadFile(path);
	await page.waitForFunction(() => document.title.includes(" - speedscope"), { timeout: LONGEST_MS });
	return seconds(start);
});

const methods = [
	["wick view, text to page", (path) => {
		rmSync(env.XDG_CACHE_HOME, { recursive: true, force: true });
		return view(path);
	}],
	["wick view, from its index", view],
	["  its page: first paint", (path) => markOf(path, "first-contentful-paint")],
	["  its page: heatmap", (path) => markOf(path, "wick-heat")],
	["  its page: all", (path) => markOf(path, "wick-ready")],
	["  its page: a selection", selections],
	["speedscope", speedscope],
	...(options.firefox ? [["Firefox Profiler, importer", (path) => timeOf(process.execPath,
		["--max-old-space-size=16384", fileURLToPath(import.meta.url), "--firefox", options.firefox, "--import", path])]] : []),
	["FlameScope's way", (path) => timeOf("/usr/bin/python3", [join(here, "load.py"), "--model", path])],
];

async function figure(method, path) {
	const start = performance.now();
	const runs = [];
	try {
		do
			runs.push(await method(path));
		while (runs.length < Number(options.runs) && seconds(start) * (1 + 1 / runs.length) < MOST_S);
		return `${median(runs).toFixed(3)} s`;
	} catch (error) {
		return error.message.split("\n")[0];
	}
}

console.log(`${cpus().length} CPUs, load ${loadavg()[0].toFixed(2)}`);
for (const size of sizes) {
	const path = textOf(size);
	console.log(`\n${size}`);
	for (const [name, method] of methods)
		console.log(`${name.padEnd(30)}${await figure(method, path)}`);
}
