/*
 * frames.test.mjs - how long a frame of a pan or zoom takes, in chromium's own trace
 *
 * 100,000 samples, with WICK_LONG 1,000,000, or WICK_SAMPLES; script, style, layout and paint of the page's thread
 * are added up between two frames.  It prints; with WICK_LONG it holds them against 20 ms.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { makePerf } from "./make_perf.mjs";
import * as wick from "./page.mjs";
import { median, mostOf, traceSteps } from "./trace.mjs";

const LONG = process.env.WICK_LONG === "1";
const N = Number(process.env.WICK_SAMPLES || (LONG ? 1000000 : 100000));
const STEPS = 60;

let url;

wick.inBrowser(() => {
	const path = join(wick.folder, "large.perf");
	makePerf(path, N, 600);
	url = wick.writePage(path);
});

async function trace(page, name, step) {
	const work = await traceSteps(page, name, STEPS, step);
	const p95 = mostOf(work);
	console.log(`${name}, ${N} samples: median ${median(work).toFixed(1)} ms, ` +
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
		const page = await wick.openPage(url);
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
