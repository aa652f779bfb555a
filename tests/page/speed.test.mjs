/*
 * speed.test.mjs - how soon a page is seen, how soon a selection is, and recordings that are long
 *
 * 100,000 samples, with WICK_LONG 1,000,000, or WICK_SAMPLES.  It prints; with WICK_LONG it holds
 * what it prints against what the page promises.  WICK_PICTURES: a folder for pictures of it.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { makePerf } from "./make_perf.mjs";
import * as wick from "./page.mjs";
import { median, mostOf, traceSteps } from "./trace.mjs";

const LONG = process.env.WICK_LONG === "1";
const N = Number(process.env.WICK_SAMPLES || (LONG ? 1000000 : 100000));
const OPENINGS = LONG ? 7 : 3;
const SELECTIONS = 12;

let url;

function write(name, ...shape) {
	const path = join(wick.folder, name);
	makePerf(path, ...shape);
	return wick.writePage(path);
}

async function picture(page, name) {
	if (process.env.WICK_PICTURES)
		await page.screenshot({ path: join(process.env.WICK_PICTURES, `${name}.png`) });
}

wick.inBrowser(() => {
	url = write("large.perf", N, 600);
});

/* Milliseconds since the navigation began: the browser's own start is not among them. */
const times = (page) => page.evaluate(() => ({
	paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
	heatmap: performance.getEntriesByName("wick-heat")[0].startTime,
	ready: performance.getEntriesByName("wick-ready")[0].startTime,
}));

test("the heatmap is seen before all is read", { timeout: 240000 }, async () => {
	const all = [];
	for (let i = 0; i < OPENINGS; i++) {
		const page = await wick.openPage(url);
		all.push(await times(page));
		assert.deepEqual(page.problems, []);
		await page.close();
	}
	const middle = (what) => median(all.map((one) => one[what]).sort((a, b) => a - b));
	console.log(`opening ${N} samples: first paint ${middle("paint").toFixed(0)} ms, ` +
		`heatmap ${middle("heatmap").toFixed(0)} ms, ready ${middle("ready").toFixed(0)} ms`);
	for (const { paint, heatmap, ready } of all)
		assert.ok(paint <= heatmap && heatmap < ready, `${paint}, ${heatmap}, ${ready}`);
	if (LONG)
		assert.ok(middle("heatmap") < 1000, `the heatmap is seen after ${middle("heatmap")} ms`);
});

async function clickHeat(page, x) {
	const box = await (await page.$("#heat canvas[tabindex]")).boundingBox();
	await page.mouse.click(box.x + box.width * x, box.y + box.height / 2);
}

test("a new selection's flame graph is there soon", { timeout: 240000 }, async () => {
	const page = await wick.openPage(url);
	const work = await traceSteps(page, "selection", SELECTIONS * 2, (i) =>
		clickHeat(page, i % 2 ? 0.9 - i / 99 : 0.1 + i / 99));
	const selections = work.slice(-SELECTIONS); /* each other click only begins one */
	console.log(`a new selection of ${N} samples: median ${median(selections).toFixed(1)} ms, ` +
		`95 % under ${mostOf(selections).toFixed(1)} ms`);
	assert.match(await wick.hashOf(page), /time=/);
	assert.deepEqual(page.problems, []);
	if (LONG)
		assert.ok(mostOf(selections) < 100, `a selection takes ${mostOf(selections)} ms`);
	await page.close();
});

test("a day opens, by the minute and by the second", { timeout: 240000 }, async () => {
	const day = write("day.perf", LONG ? 1000000 : 60000, 86400, { threads: 4 });
	for (const [hash, columns] of [["", 1441], ["column=1000000000", 86401], ["brush=3600-3660", 86401]]) {
		const page = await wick.openPage(day, hash);
		const said = await page.$eval("#heat canvas[tabindex]", (c) => c.getAttribute("aria-label"));
		assert.ok(Number(/of (\d+) columns/.exec(said)[1]) <= columns, said);
		const work = await traceSteps(page, `day ${columns}`, 10, async (i) => {
			await page.focus("#brush canvas");
			await page.keyboard.press(i < 5 ? "ArrowUp" : "ArrowRight");
		});
		console.log(`a day (${hash || "as it opens"}): a step of the strip in ${median(work).toFixed(1)} ms, most ${work.at(-1).toFixed(1)} ms`);
		await picture(page, `day-${hash || "whole"}`);
		assert.deepEqual(page.problems, []);
		await page.close();
	}
});

test("ten thousand threads open", { timeout: 240000 }, async () => {
	const threads = write("threads.perf", LONG ? 1000000 : 60000, 60, { threads: 10000 });
	for (const hash of ["by=thread", "view=strip", "view=threads", "view=table&group=thread", "by=comm&rows=100"]) {
		const page = await wick.openPage(threads, hash);
		console.log(`ten thousand threads, ${hash}: ready ${(await times(page)).ready.toFixed(0)} ms`);
		assert.match(await page.$eval("#facts", (facts) => facts.textContent), /10,000 threads/);
		await wick.openBox(page, "#show-filter"); /* which lists what there is to filter by */
		await picture(page, `threads-${hash}`);
		assert.deepEqual(page.problems, []);
		await page.close();
	}
});

/* What is done with ten thousand threads, step by step: {hash, step(page, i)}. */
const STEPS = {
	"a scroll of the list of threads": { hash: "view=threads", step: (page, i) =>
		page.$eval("#view .scroll-table", (table, top) => (table.scrollTop = top), 120 * (i + 1)) },
	"folding all threads": { hash: "view=threads", step: (page) => page.$eval("#view .fold", (sign) => sign.click()) },
	"a zoom of forty threads' stacks": { hash: "view=strip&threads=40", step: async (page, i) => {
		await page.focus("#view canvas");
		await page.keyboard.press(i % 2 ? "-" : "+");
	} },
};

for (const [name, { hash, step }] of Object.entries(STEPS))
	test(`with ten thousand threads ${name} is one frame`, { timeout: 240000 }, async () => {
		const threads = write("steps.perf", LONG ? 1000000 : 60000, 60, { threads: 10000 });
		const page = await wick.openPage(threads, hash);
		await wick.rest(page);
		const work = await traceSteps(page, name, 20, (i) => step(page, i));
		console.log(`ten thousand threads, ${name}: median ${median(work).toFixed(1)} ms, most ${work.at(-1).toFixed(1)} ms`);
		const drawn = await page.$$eval("#view tbody tr", (rows) => rows.length);
		assert.ok(drawn < 100, `${drawn} rows exist, which is more than are seen`);
		if (LONG)
			assert.ok(median(work) < 20, `${name} takes ${median(work)} ms`);
		assert.deepEqual(page.problems, []);
		await page.close();
	});
