/* page.test.mjs - the page in a browser: clicks, keys, a selection's flame graph, a difference */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as wick from "./page.mjs";

let url;

wick.inBrowser(() => {
	url = wick.writePage(wick.writeRecording("app.perf", 4000, 20));
});

async function place(page, selector, x, y) {
	const box = await (await page.waitForSelector(selector)).boundingBox();
	return [box.x + box.width * x, box.y + box.height * y];
}

test("opens from a file, says what it shows, and sends no request", async () => {
	const page = await wick.openPage(url);
	const text = await page.$eval("#top", (element) => element.textContent);
	assert.match(text, /4,?000/);
	assert.equal(await page.$eval("#problem", (element) => element.hidden), true);
	assert.ok(await page.$("#heat canvas[tabindex]"));
	assert.ok(await page.$("#view canvas"));
	await wick.isQuiet(page);
});

test("two clicks on the heatmap select a range, and the stacks are of it", async () => {
	const page = await wick.openPage(url, "view=table");
	await wick.until(page, () => document.querySelector("#view").textContent.includes("parse"));
	const before = await page.$eval("#view", (element) => element.textContent);
	assert.match(before, /stall/);
	await page.mouse.click(...await place(page, "#heat canvas[tabindex]", 0.15, 0.5));
	await page.mouse.click(...await place(page, "#heat canvas[tabindex]", 0.35, 0.5));
	await wick.until(page, () => window.location.hash.includes("time="));
	await wick.until(page, () => !document.querySelector("#view").textContent.includes("stall"));
	assert.match(await page.$eval("#view", (element) => element.textContent), /parse/);
	await page.click("#undo");
	await wick.until(page, () => document.querySelector("#view").textContent.includes("stall"));
	await wick.isQuiet(page);
});

test("keys alone select a range and go to a view", async () => {
	const page = await wick.openPage(url, "", [1440, 900]); /* where the tabs have room */
	await page.keyboard.press("h");
	for (const key of ["ArrowRight", "Enter", "ArrowRight", "ArrowRight", "ArrowRight", "Enter"])
		await page.keyboard.press(key);
	await wick.until(page, () => window.location.hash.includes("time="));
	await page.keyboard.press("x");
	await wick.until(page, () => !window.location.hash.includes("time="));
	await page.focus("[role=tab][aria-selected=true]");
	await page.keyboard.press("ArrowRight");
	await wick.until(page, () => window.location.hash.includes("view="));
	await page.keyboard.press("?");
	await wick.until(page, () => document.querySelector("#keys").open);
	assert.match(await page.$eval("#keys", (list) => list.textContent), /heatmap is the time.* drag to select.*graph below merges/s);
	await page.keyboard.press("Escape");
	await wick.isQuiet(page);
});

test("a state is in the URL, and comes back from it", async () => {
	const page = await wick.openPage(url, "time=16-20&view=table&search=stall");
	await wick.until(page, () => document.querySelector("#view").textContent.includes("stall"));
	const hash = await wick.hashOf(page);
	assert.match(hash, /time=16/);
	assert.match(hash, /search=stall/);
	await wick.isQuiet(page);
});

/* "weight" is a word of the file's format; golden.perf has a rate. */
test("time is told as time, everywhere", async () => {
	const recording = join(dirname(fileURLToPath(import.meta.url)), "..", "golden", "golden.perf");
	const copy = wick.writeText("golden.perf", readFileSync(recording, "utf8"));
	for (const view of ["flame", "table", "sandwich", "strip", "threads", "diff"]) {
		const page = await wick.openPage(wick.writePage(copy), `time=0-1&b=1-2&view=${view}`);
		await wick.until(page, () => /Selected: 0–1 s: [\d.]+ m?s of CPU \([\d.]+ %\)/.test(document.body.textContent));
		const text = await page.evaluate(() => {
			for (const style of document.querySelectorAll("style, script"))
				style.remove();
			return document.documentElement.outerHTML;
		});
		assert.match(text, /[\d.]+ m?s of CPU/);
		assert.match(text, /<option value="period">time<\/option>/);
		assert.doesNotMatch(text, /weight/i, view);
		await wick.isQuiet(page);
	}
});

test("the difference of two times says what has changed", async () => {
	const page = await wick.openPage(url, "time=16-20&b=0-15&view=diff");
	await wick.until(page, () => document.querySelector("#view").textContent.includes("stall"));
	await wick.isQuiet(page);
});

test("wick diff writes the page, open at the difference of both sides", async () => {
	const base = wick.writeRecording("base.perf", 1000, 20, ["parse", "lost"]);
	const now = wick.writeRecording("now.perf", 1000, 20);
	for (const args of [[base, now], [base, "--time", "16-20", "--against", "0-15"]]) {
		const page = await wick.openPage(wick.writeDiff(...args));
		await wick.until(page, () => document.querySelector(".diff-bar") &&
			document.querySelector("#view").textContent.includes("stall"));
		const text = await page.$eval("#view", (view) => view.textContent);
		assert.equal(text.includes("hash"), args[1] === now, text);
		assert.doesNotMatch(text, /no baseline/);
		await wick.isQuiet(page);
	}
});

test("names are text, whatever they hold", async () => {
	const evil = ["<script>alert(1)</script>", "</script><w1ck>", "\"onload=\"alert(2)",
		"<img/src=x/onerror=alert(3)>", "]]><w1ck>", "&lt;w1ck&gt;"];
	const hostile = wick.writePage(wick.writeRecording("evil.perf", 600, 6, evil));
	for (const view of ["flame", "icicle", "reverse", "sandwich", "table", "strip", "threads"]) {
		const page = await wick.openPage(hostile, `view=${view}`);
		await page.mouse.move(...await place(page, "#view", 0.3, 0.3));
		assert.equal(await page.$("w1ck, img[src=x], [onload], [onerror]"), null);
		await wick.isQuiet(page);
	}
});

for (const theme of ["light", "dark"]) {
	test(`axe finds nothing in the ${theme} theme`, async () => {
		for (const view of ["flame", "table", "threads"]) {
			const page = await wick.openPage(url, `theme=${theme}&view=${view}`);
			await page.evaluate(readFileSync(wick.axePath, "utf8"));
			const found = await page.evaluate(() => globalThis.axe.run());
			assert.deepEqual(found.violations.map(({ id, nodes }) =>
				`${id}: ${nodes.map(({ target }) => target).join(", ")}`), []);
			await wick.isQuiet(page);
		}
	});
}

test("stacks are grouped by a metric's size, and by gain and loss where changes count", async () => {
	const golden = new URL("../golden/golden.perf", import.meta.url).pathname;
	const page = await wick.openPage(wick.writePage(golden), "view=table");
	const offersSign = () => page.$("#group option[value=sign]");
	assert.equal(await offersSign(), null);
	await page.select("#group", "rss_kib:class");
	await wick.until(page, () => document.querySelector("#view").textContent.includes("100s KiB"));
	await page.select("#metric", "rss_kib:delta");
	await wick.rest(page);
	assert.ok(await offersSign());
	await page.select("#group", "sign");
	await wick.until(page, () => document.querySelector("#view").textContent.includes("gain"));
	assert.match(await wick.hashOf(page), /group=rss_kib:class,sign/);
	/* Samples have no sign: the group goes with the metric. */
	await page.select("#metric", "samples");
	await wick.until(page, () => !document.querySelector("#view").textContent.includes("gain"));
	assert.match(await wick.hashOf(page), /group=rss_kib:class(&|$)/);
	assert.equal(await offersSign(), null);
	await wick.isQuiet(page);
});
