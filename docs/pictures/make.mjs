/*
 * make.mjs WORK TO - takes pictures of WORK/stall.html and writes them to TO, see ./make
 *
 * WORK/stall.json is the heatmap of what stalls alone, in 25 rows: it says what to select.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { withPalette } from "./png.mjs";

const [work, to] = process.argv.slice(2);
const puppeteer = createRequire(join(process.env.WICK_NPM, "package.json"))("puppeteer-core");
const url = pathToFileURL(join(work, "stall.html")).href;
const WIDTH = 1180;

/* The rows, as parts of a second, in which most whole seconds have samples of the stall. */
function stallIn(heat) {
	const seen = Array.from({ length: heat.rows }, (_, row) =>
		heat.values.filter((column) => column[row] !== null).length);
	const most = seen.map((n, row) => [n, row]).filter(([n]) => n >= heat.columns / 4).map(([, row]) => row);
	if (most.length === 0 || most.at(-1) - most[0] >= most.length)
		throw new Error("the stall is in no one band (it may pass over a whole second): record again");
	return [most[0] / heat.rows, (most.at(-1) + 1) / heat.rows];
}

async function open(browser, hash, height) {
	const page = await browser.newPage();
	page.on("pageerror", (error) => {
		throw error;
	});
	await page.setViewport({ width: WIDTH, height });
	await page.goto(`${url}#${hash}`);
	await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", { timeout: 60000 });
	return page;
}

async function take(page, name, height, part = "body") {
	await page.setViewport({ width: WIDTH, height });
	await new Promise((resolve) => setTimeout(resolve, 800)); /* a tip appears, a count ends */
	const of = part === "body" ? page : await page.$(part);
	const png = withPalette(Buffer.from(await of.screenshot({ type: "png" })));
	writeFileSync(join(to, name), png);
	console.log(`${name}: ${Math.ceil(png.length / 1024)} KiB, #${await page.evaluate(() => location.hash.slice(1))}`);
}

/* Drags over the part of each second from the second column to the one before the last. */
async function dragOver(page, [from, until], seconds) {
	await page.mouse.move(0, 0);
	const box = await (await page.$("#heat canvas[tabindex]")).boundingBox();
	const gutter = 52;
	const cells = { width: box.width - gutter, height: box.height - 20 };
	const x = (column) => box.x + gutter + ((column + 0.5) / seconds) * cells.width;
	const y = (part) => box.y + (1 - part) * cells.height;
	const half = 0.5 / 50;
	await page.mouse.move(x(1), y(from + half));
	await page.mouse.down();
	await page.mouse.move(x(seconds / 2), y((from + until) / 2), { steps: 4 });
	await page.mouse.move(x(seconds - 2), y(until - half), { steps: 4 });
	await page.mouse.up();
	await page.waitForFunction(() => location.hash.includes("time="));
}

const heat = JSON.parse(readFileSync(join(work, "stall.json"), "utf8"));
const stall = stallIn(heat);
const browser = await puppeteer.launch({
	executablePath: process.env.CHROMIUM,
	headless: true,
	userDataDir: join(work, "profile"),
	args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"],
});
try {
	for (const theme of ["light", "dark"]) {
		const page = await open(browser, `theme=${theme}`, 930);
		await take(page, `whole-${theme}.png`, 930);
		await page.close();
	}
	const page = await open(browser, "theme=light", 930);
	await dragOver(page, stall, heat.columns);
	await page.mouse.move(0, 0);
	await take(page, "stall.png", 930);
	const time = new URLSearchParams(await page.evaluate(() => location.hash.slice(1))).get("time");
	const [seconds] = time.split("@");
	await page.close();
	const rest = stall.map((part) => Math.round(part * 1000));
	const others = [[0, rest[0]], [rest[1], 1000]].filter(([from, until]) => until > from)
		.map(([from, until]) => `b=${seconds}@${from}-${until}ms`);
	const one = Number(seconds.split("-")[0]) + Math.floor(heat.columns / 2) + stall[0];
	const parts = [
		["difference.png", 1230, "body", `time=${time}&${others.join("&")}&view=diff`],
		["strip.png", 1000, "#view-part", `time=${one - 0.15}-${one + 0.35}&view=strip&search=^flush_log$`],
		["sandwich.png", 1000, "#view-part", "view=sandwich&around=__vfprintf_internal"],
	];
	for (const [name, height, part, hash] of parts) {
		const other = await open(browser, `theme=light&${hash}`, 930);
		await take(other, name, height, part);
		await other.close();
	}
} finally {
	await browser.close();
}
