/* state.test.mjs - every state is in the URL: one that comes from it again shows the same */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as wick from "./page.mjs";

let url;
let recording;

wick.inBrowser(() => {
	recording = wick.writeRecording("app.perf", 3000, 20);
	url = wick.writePage(recording);
});

/* The same in each run. */
let seed = 11;
function random(n) {
	seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
	return (seed >> 8) % n;
}
const oneOf = (...values) => values[random(values.length)];
const maybe = (word) => (random(2) ? [word] : []);

/* Words of the URL for which this recording has something to show. */
function randomHash() {
	const from = random(10);
	return [
		`view=${oneOf("flame", "icicle", "reverse", "sandwich", "strip", "threads", "table", "diff")}`,
		...maybe(`time=${from}-${from + 2 + random(8)}`), ...maybe(`b=${random(5)}-${6 + random(6)}`),
		...maybe("brush=2-15"), ...maybe(`group=${oneOf("thread", "cpu")}`), ...maybe("metric=period"),
		...maybe("flatten"), ...maybe("where=cpu!=1"), ...maybe("only=work_[0-4]$"), ...maybe("by=thread"),
		...maybe("colour=module"), ...maybe(`theme=${oneOf("light", "dark")}`), ...maybe("rows=25"),
		...maybe("column=2000000000"), ...maybe("around=work_3"), ...maybe("frame=parse"),
		...maybe("search=or"), ...maybe("sort=name"), ...maybe("t=drop:hash"), ...maybe("threads=2"),
		...maybe(oneOf("window=0.25,0.75", "zoom=main;work_2")), ...maybe("callers=0.1,0.6"),
		...maybe("folds=app%2F7"), ...maybe("every=1s:0-500ms"), ...maybe("split=500"),
		...maybe(`details=${oneOf("open", "closed")}`), ...maybe("phase=140000000"), ...maybe(`changes=${oneOf("new", "gone")}`),
	].join("&");
}

/* What is drawn (as bytes of the canvases), what is written, and the URL, once it rests. */
async function picture(page) {
	return page.evaluate(async () => {
		const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
		const look = () => JSON.stringify({
			hash: decodeURIComponent(window.location.hash).slice(1).split("&").sort(),
			text: document.querySelector("#main").textContent.replaceAll("Significance is being computed…", ""),
			checked: [...document.querySelectorAll("select, input")].map((e) => e.checked || e.value),
			drawn: [...document.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL()),
			theme: document.documentElement.dataset.theme,
		});
		let before = "";
		for (let i = 0; i < 60; i++) {
			const now = look();
			if (now === before && !document.querySelector("progress:not([hidden]), [aria-busy=true]"))
				return now;
			before = now;
			await rest(150);
		}
		return before;
	});
}

test("random states come back from their URL with the same pictures", { timeout: 120000 }, async () => {
	const seen = new Set();
	const page = await wick.openPage(url);
	const second = await wick.openPage(url);
	for (let i = 0; i < 8; i++) {
		const hash = randomHash();
		await page.bringToFront();
		/* Here it is one state after another, there a page that begins with it. */
		await page.evaluate((words) => (window.location.hash = words), hash);
		const one = await picture(page);
		await second.bringToFront();
		await second.goto("about:blank");
		await second.goto(`${url}${await page.evaluate(() => window.location.hash)}`);
		await second.waitForFunction(() => document.documentElement.dataset.ready === "yes");
		const other = await picture(second);
		if (one !== other) {
			const [a, b] = [one, other].map(JSON.parse);
			for (const key of ["hash", "theme", "text", "checked"])
				assert.deepEqual(b[key], a[key], `${key} of ${hash}`);
			assert.fail(`canvases ${a.drawn.map((drawn, k) => (drawn === b.drawn[k] ? "" : k)).filter(String)} of ${hash}`);
		}
		seen.add(one);
	}
	assert.ok(seen.size >= 7, "the states differ");
	assert.deepEqual([page.problems, second.problems], [[], []]);
	await Promise.all([page.close(), second.close()]);
});

test("what the wheel and keys do to time strip and difference is in the URL", async () => {
	const page = await wick.openPage(url, "view=strip");
	await page.focus("#view canvas");
	await page.keyboard.press("+");
	await wick.until(page, () => /brush=/.test(window.location.hash));
	await page.evaluate(() => (window.location.hash = "view=diff&time=16-20&b=0-15"));
	await page.waitForSelector("#view .flame-canvas");
	await page.focus("#view .flame-canvas");
	for (const key of ["ArrowUp", "ArrowUp", "Enter"])
		await page.keyboard.press(key);
	await wick.until(page, () => /zoom=main/.test(window.location.hash));
	await page.keyboard.press("+");
	await wick.until(page, () => /window=/.test(window.location.hash));
	await page.click("#undo");
	await wick.until(page, () => /zoom=main/.test(window.location.hash) && !/window=/.test(window.location.hash));
	assert.deepEqual(page.problems, []);
	await page.close();
});

async function clipboardOf(page, button) {
	await wick.openBox(page, "#show-share");
	await page.click(button);
	await wick.until(page, () => document.querySelector("#live").textContent.includes("copied"));
	return page.evaluate(() => navigator.clipboard.readText());
}

/* What the page says of the functions, by its CSV: {name: [self, total]}. */
async function pageNumbers(page) {
	const text = await saved(page, "#save-csv", /\.csv$/);
	const rows = text.toString().trim().split("\n").slice(1).map((line) => line.split(","));
	return Object.fromEntries(rows.map((row) => [JSON.parse(row[0]), [Number(row[2]), Number(row[4])]]));
}

/* The file that a click on BUTTON saves. */
async function saved(page, button, name) {
	const cdp = await page.createCDPSession();
	const into = join(wick.folder, `saved-${Date.now()}`);
	await cdp.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: into });
	await wick.openBox(page, "#show-share");
	await page.click(button);
	for (let i = 0; i < 100; i++) {
		await new Promise((resolve) => setTimeout(resolve, 50));
		const file = existsSync(into) && readdirSync(into).find((candidate) => name.test(candidate));
		if (file)
			return readFileSync(join(into, file));
	}
	return assert.fail(`${button} saves nothing`);
}

async function clipboardPage(hash) {
	const cdp = await wick.browser.target().createCDPSession();
	await cdp.send("Browser.grantPermissions",
		{ permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"] });
	return wick.openPage(url, hash);
}

test("a copied link opens the same, a copied command counts the same", { timeout: 60000 }, async () => {
	const hash = "time=3-17@100ms-800ms&where=cpu!=1&only=work_[0-6]$&elide=^work_4$&view=table&t=drop:hash";
	const page = await clipboardPage(hash);
	const link = await clipboardOf(page, "#copy-link");
	assert.equal(decodeURIComponent(link), `${url}#${hash}`);
	const numbers = await pageNumbers(page);
	assert.ok(Object.keys(numbers).length > 5 && !("hash" in numbers) && !("work_4" in numbers));
	const command = await clipboardOf(page, "#copy-command");
	assert.match(command, /^wick report /);
	const script = `wick() { "$WICK" "$@"; }; ${command} --json --no-index`;
	const report = JSON.parse(execFileSync("sh", ["-c", script], { encoding: "utf8" }));
	const functions = Object.fromEntries(report.functions.map((row) => [row.name, [row.self_gain, row.gain]]));
	assert.deepEqual(functions, numbers);
	assert.deepEqual(page.problems, []);
	await page.close();
});

test("a link ends in a letter, and of a file it says that the file is needed", async () => {
	const page = await clipboardPage("search=^work|sort$&only=f(x)");
	const link = await clipboardOf(page, "#copy-link");
	assert.match(link, /[A-Za-z0-9]$/);
	assert.doesNotMatch(link, /[\^|$]/);
	assert.equal(decodeURIComponent(new URL(link).hash), await wick.hashOf(page));
	assert.match(await page.$eval("#shared", (said) => said.textContent), /^Link copied\..* send \S+\.html with it$/);
	await wick.isQuiet(page);
});

/* Width and height of a PNG. */
const pngSize = (png) => [png.readUInt32BE(16), png.readUInt32BE(20)];

test("pictures are of the whole drawing, and numbers of every cell", { timeout: 60000 }, async () => {
	const stacks = Array.from({ length: 300 }, (_, i) => `\t10 level_${299 - i}+0x1 (/bin/app)\n`).join("");
	const deep = wick.writeText("deep.perf", Array.from({ length: 20 }, (_, i) =>
		`app 7/7 [000] ${100 + i}.5: 1 cpu-clock: \n${stacks}\n`).join(""));
	const page = await wick.openPage(wick.writePage(deep), "theme=light");
	const [, seen] = await page.$eval("#view canvas", (canvas) => [canvas.width, canvas.height]);
	const [, height] = pngSize(await saved(page, "#save-png", /\.png$/));
	assert.ok(height >= 128 * 18 && height > 2 * seen, `${height} of ${seen} pixels that are seen`);
	const svg = (await saved(page, "#save-svg", /\.svg$/)).toString();
	assert.match(svg, />level_0  100\.00 %/);
	assert.match(svg, />level_120  100\.00 %/);
	assert.match(svg, />program</); /* of the legend */
	await page.select("#save-what", "samples");
	const perf = (await saved(page, "#save-perf", /selected\.perf$/)).toString();
	assert.match(perf, /^# ========\n/);
	assert.match(perf, / cpu-clock: /);
	assert.equal((await saved(page, "#save-pprof", /selected\.pb$/))[0], 0x0a);
	await page.select("#save-what", "heatmap");
	assert.ok(pngSize(await saved(page, "#save-png", /heatmap\.png$/))[0] >= 200);
	assert.match((await saved(page, "#save-svg", /heatmap\.svg$/)).toString(), /data-columns="20"/);
	const cells = (await saved(page, "#save-csv", /heatmap\.csv$/)).toString();
	assert.equal(cells.trim().split("\n").length, 21);
	execFileSync(process.env.WICK, ["heatmap", "--no-index", "-o", `${deep}.csv`, deep]);
	assert.equal(cells, readFileSync(`${deep}.csv`, "utf8"));
	assert.deepEqual(page.problems, []);
	await page.close();
});
