/*
 * frames.test.mjs - how long a frame of a pan or zoom takes, in chromium's own trace
 *
 * 100,000 samples, with WICK_LONG 1,000,000; script, style, layout and paint of the page's thread
 * are added up between two frames.  It prints; with WICK_LONG it holds them against 20 ms.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as wick from "./page.mjs";

const LONG = process.env.WICK_LONG === "1";
const N = LONG ? 1000000 : 100000;
const STEPS = 60;

let browser;
let url;

before(async () => {
	url = wick.writePage(wick.writeRecording("large.perf", N, 600));
	browser = await wick.openBrowser();
});

after(async () => {
	await browser?.close();
	wick.cleanUp();
});

/* Milliseconds of the renderer's main thread for each step: between two of its marks. */
function workOfSteps(events) {
	const marks = events.filter(({ name }) => name === "TimeStamp" || name === "wick-step")
		.sort((a, b) => a.ts - b.ts);
	const main = marks[0];
	const tasks = events.filter((event) => event.pid === main.pid && event.tid === main.tid &&
		event.ph === "X" && event.name === "RunTask");
	return marks.slice(1).map((mark, i) => tasks
		.filter(({ ts }) => ts >= marks[i].ts && ts < mark.ts)
		.reduce((sum, { dur }) => sum + dur, 0) / 1000);
}

async function trace(page, name, step) {
	const path = join(wick.folder, `${name}.json`);
	await page.tracing.start({ path, categories: ["devtools.timeline", "toplevel",
		"disabled-by-default-devtools.timeline"] });
	for (let i = 0; i <= STEPS; i++) {
		await page.evaluate(() => console.timeStamp("wick-step"));
		await step(i);
		await page.evaluate(() => new Promise((resolve) =>
			requestAnimationFrame(() => requestAnimationFrame(resolve))));
	}
	await page.tracing.stop();
	const work = workOfSteps(JSON.parse(readFileSync(path, "utf8")).traceEvents)
		.sort((a, b) => a - b);
	assert.ok(work.length >= STEPS - 1, `${work.length} steps in the trace`);
	assert.ok(work.at(-1) > 0, "the trace holds no work");
	const p95 = work[Math.floor(work.length * 0.95)];
	console.log(`${name}, ${N} samples: median ${work[work.length >> 1].toFixed(1)} ms, ` +
		`95 % under ${p95.toFixed(1)} ms, most ${work.at(-1).toFixed(1)} ms`);
	if (LONG)
		assert.ok(p95 < 20, `95 % of ${name} under ${p95.toFixed(1)} ms, not 20`);
}

async function middle(page, selector) {
	const box = await (await page.waitForSelector(selector)).boundingBox();
	await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
}

for (const [name, selector] of [["heatmap", "#heat canvas[tabindex]"],
	["flame graph", "#view canvas"]]) {
	test(`zooms and pans the ${name}`, { timeout: 240000 }, async () => {
		const page = await wick.openPage(browser, url);
		await middle(page, selector);
		await page.keyboard.down("Control");
		await trace(page, `zoom of the ${name}`, (i) =>
			page.mouse.wheel({ deltaY: i < STEPS / 2 ? -100 : 100 }));
		await page.mouse.wheel({ deltaY: -300 });
		await page.keyboard.up("Control");
		await page.keyboard.down("Shift");
		await trace(page, `pan of the ${name}`, (i) =>
			page.mouse.wheel({ deltaY: i < STEPS / 2 ? 100 : -100 }));
		await page.keyboard.up("Shift");
		assert.deepEqual(page.problems, []);
		await page.close();
	});
}
