/* trace.mjs - what chromium's own trace says of steps that a test takes in a page */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { folder } from "./page.mjs";

const CATEGORIES = ["devtools.timeline", "toplevel", "disabled-by-default-devtools.timeline"];

/*
 * Milliseconds of the tasks of the renderer's main thread in each step: between two of its marks.  They
 * are of its CPU where the trace has that: what else the machine does is not the page's.
 */
function tasksOfSteps(events) {
	const marks = events.filter(({ name }) => name === "TimeStamp" || name === "wick-step")
		.sort((a, b) => a.ts - b.ts);
	const main = marks[0];
	const tasks = events.filter((event) => event.pid === main.pid && event.tid === main.tid &&
		event.ph === "X" && event.name === "RunTask");
	return marks.slice(1).map((mark, i) => tasks
		.filter(({ ts }) => ts >= marks[i].ts && ts < mark.ts)
		.map(({ tdur, dur }) => (tdur ?? dur) / 1000));
}

/** Milliseconds of each task of N steps, in which the page does script, style, layout and paint. */
export async function traceTasks(page, name, n, step) {
	const path = join(folder, `${name.replaceAll(" ", "-")}.json`);
	await page.tracing.start({ path, categories: CATEGORIES });
	for (let i = 0; i <= n; i++) {
		await page.evaluate(() => console.timeStamp("wick-step"));
		await step(i);
		await page.evaluate(() => new Promise((resolve) =>
			requestAnimationFrame(() => requestAnimationFrame(resolve))));
	}
	await page.tracing.stop();
	const tasks = tasksOfSteps(JSON.parse(readFileSync(path, "utf8")).traceEvents);
	assert.ok(tasks.length >= n - 1, `${tasks.length} steps in the trace`);
	return tasks;
}

/** Milliseconds of all of them together of each of N steps, sorted. */
export async function traceSteps(...of) {
	const tasks = await traceTasks(...of);
	const work = tasks.map((all) => all.reduce((sum, ms) => sum + ms, 0)).sort((a, b) => a - b);
	assert.ok(work.at(-1) > 0, "the trace holds no work");
	return work;
}

/** The middle of sorted numbers, and what 95 % of them are under. */
export const median = (sorted) => sorted[sorted.length >> 1];
export const mostOf = (sorted) => sorted[Math.floor(sorted.length * 0.95)];
