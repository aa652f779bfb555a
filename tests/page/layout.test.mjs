/* layout.test.mjs - what is seen where, at each size of the window; the bars and menus by mouse and keys */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as wick from "./page.mjs";

const DESKTOPS = [[800, 600], [1280, 800], [1440, 900], [3840, 2160]];
const PHONE = [390, 844];

let recordings;

wick.inBrowser(() => {
	const golden = (name) => new URL(`../golden/${name}`, import.meta.url).pathname;
	recordings = {
		plain: wick.writePage(wick.writeRecording("plain.perf", 4000, 20)),
		short: wick.writePage(wick.writeRecording("short.perf", 600, 3)),
		hour: wick.writePage(wick.writeRecording("hour.perf", 9000, 3600)),
		wall: wick.writePage(golden("labels.perf")),
		metrics: wick.writePage(golden("golden.perf")),
	};
});

async function openAt(size, url, hash = "") {
	const page = await wick.openPage(url, hash, size);
	await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
	return page;
}

/* {left, top, right, bottom} of elements, and what the page would scroll by. */
const measure = (page) => page.evaluate(() => {
	const box = (selector) => {
		const { left, top, right, bottom } = document.querySelector(selector).getBoundingClientRect();
		return { left, top, right, bottom, width: right - left, height: bottom - top };
	};
	const { scrollWidth, scrollHeight } = document.documentElement;
	return { top: box("#top"), tools: box("#tools"), heat: box("#heat canvas"), view: box("#view"),
		flame: document.querySelector("#view .flame-scroll") ? box("#view .flame-scroll") : null,
		splitter: box("#splitter"), over: [scrollWidth - innerWidth, scrollHeight - innerHeight],
		bodyOver: [document.body.scrollWidth - innerWidth, document.body.scrollHeight - innerHeight] };
});

/* The URL waits while something is dragged. */
async function restingHash(page) {
	await new Promise((resolve) => setTimeout(resolve, 600));
	return wick.hashOf(page);
}

for (const size of [...DESKTOPS, PHONE]) {
	test(`at ${size.join("x")} heatmap and flame graph are seen at once, and nothing scrolls`, async () => {
		for (const [name, url] of Object.entries(recordings)) {
			const page = await openAt(size, url);
			const at = await measure(page);
			const say = `${name}: ${JSON.stringify(at)}`;
			assert.deepEqual([at.over, at.bodyOver], [[0, 0], [0, 0]], say);
			assert.ok(at.top.height <= 40 && at.tools.height <= 40, say);
			for (const part of [at.heat, at.flame]) {
				assert.ok(part.left >= 0 && part.right <= size[0] && part.top >= at.tools.bottom && part.bottom <= size[1], say);
				assert.ok(part.height >= 120, say);
			}
			assert.ok(at.heat.bottom <= at.splitter.top + 1 && at.splitter.bottom <= at.flame.top, say); /* pixels are whole in a canvas */
			/* the two fill what is below the toolbar */
			assert.ok(at.flame.bottom >= size[1] - 16 && at.heat.height + at.flame.height >= 0.6 * (size[1] - at.tools.bottom), say);
			await wick.isQuiet(page);
		}
	});
}

test("all views are tabs in a window of 1280 pixels, and in a box where there is less room", async () => {
	const page = await openAt([1280, 800], recordings.plain);
	const shown = () => page.$$eval("#tabs [role=tab]", (tabs) => tabs.filter((tab) => tab.checkVisibility()).length);
	assert.equal(await shown(), 9);
	assert.deepEqual((await measure(page)).over, [0, 0]);
	await page.evaluate(() => (window.location.hash = "without=nothing")); /* its chip has a row of its own */
	await page.waitForSelector(".chip");
	await wick.rest(page);
	assert.equal(await shown(), 9);
	assert.deepEqual((await measure(page)).over, [0, 0]);
	await page.setViewport({ width: 1100, height: 800 });
	await wick.until(page, () => !document.querySelector("#show-tabs").hidden);
	assert.equal(await shown(), 0);
	await wick.isQuiet(page);
});

test("all tools are reached on a phone, without scrolling the page", async () => {
	const page = await openAt(PHONE, recordings.plain);
	for (const button of ["#show-query", "#show-filter", "#show-tabs", "#show-share", "#show-info", "#show-heat-menu"]) {
		await page.$eval(button, (element) => element.scrollIntoView());
		await wick.openBox(page, button);
		const box = await page.evaluate((id) => {
			const { left, right, bottom, width } = document.querySelector(id).popoverTargetElement.getBoundingClientRect();
			return { left, right, bottom, width };
		}, button);
		assert.ok(box.width > 100 && box.left >= 0 && box.right <= PHONE[0] && box.bottom <= PHONE[1], `${button}: ${JSON.stringify(box)}`);
		await page.keyboard.press("Escape");
		await wick.until(page, (id) => document.querySelector(id).getAttribute("aria-expanded") === "false", button);
	}
	await wick.openBox(page, "#show-tabs");
	await page.click("#tab-table");
	await wick.until(page, () => document.querySelector("#view").textContent.includes("parse"));
	assert.deepEqual((await measure(page)).over, [0, 0]);
	await wick.isQuiet(page);
});

test("every tool and the whole share menu are in the window, at each of its sizes", async () => {
	for (const size of [[1280, 800], [800, 600], PHONE]) {
		const page = await openAt(size, recordings.plain, "brush=2-9&thread=app/7&time=2-9");
		await wick.openBox(page, "#show-share");
		await page.select("#save-what", "samples");
		const beyond = await page.$$eval("#head button, #heat-bar button, #heat-bar .legend", (all) => all.filter((element) => {
			const { left, right, bottom } = element.getBoundingClientRect();
			return element.checkVisibility() && !(left >= 0 && right <= innerWidth && bottom <= innerHeight);
		}).map((element) => element.id || element.textContent));
		assert.deepEqual(beyond, [], size.join("x"));
		await page.keyboard.press("Escape");
		await page.click("#whole-recording");
		await wick.until(page, () => document.querySelector("#whole-recording").hidden && !/brush/.test(window.location.hash));
		await wick.isQuiet(page);
	}
});

test("tables of a phone show names and numbers beside each other", async () => {
	for (const view of ["view=table", "view=diff&time=16-20&b=0-15"]) {
		const page = await openAt(PHONE, recordings.plain, view);
		await page.waitForSelector("#view tbody tr");
		const seen = () => page.$$eval("#view thead th", (all) => all.filter((th) => {
			const { left, right } = th.getBoundingClientRect();
			return left >= 0 && right <= innerWidth;
		}).length);
		assert.ok(await seen() >= 4, view);
		const [table] = await page.$$("#view .scroll-table");
		const last = await table.evaluate((element) => {
			element.scrollLeft = element.scrollWidth;
			const [name, ...cells] = [...element.querySelector("tbody tr").cells].map((cell) => cell.getBoundingClientRect());
			return name.left >= 0 && cells.at(-1).right <= innerWidth; /* the name stays */
		});
		assert.ok(last, view);
		await wick.isQuiet(page);
	}
});

test("all of what a difference says is seen on a phone", async () => {
	const page = await openAt(PHONE, recordings.plain, "view=diff&time=16-20&b=0-15");
	await wick.until(page, () => document.querySelector(".diff-bar progress").hidden);
	await wick.rest(page);
	const over = await page.$$eval("#view .diff-bar, #view .diff-bar > span", (all) => all.map((element) =>
		[element.scrollWidth - element.clientWidth, element.scrollHeight - element.clientHeight]));
	assert.deepEqual(over, [[0, 0], [0, 0]]);
	await wick.isQuiet(page);
});

test("the splitter is dragged and moved by keys, is in the URL, and is undone", async () => {
	const page = await openAt([1280, 800], recordings.plain);
	const before = await measure(page);
	const y = (before.splitter.top + before.splitter.bottom) / 2;
	await page.mouse.move(640, y);
	await page.mouse.down();
	await page.mouse.move(640, y + 60, { steps: 3 });
	await page.mouse.move(640, y + 120, { steps: 3 });
	await page.mouse.up();
	await wick.until(page, () => /split=\d/.test(window.location.hash));
	const after = await measure(page);
	assert.ok(Math.abs(after.splitter.top - before.splitter.top - 120) <= 2, `${after.splitter.top} after ${before.splitter.top}`);
	assert.ok(after.heat.height > before.heat.height + 100 && after.flame.height < before.flame.height - 100);
	const hash = await restingHash(page);
	const other = await openAt([1280, 800], recordings.plain, hash.slice(1));
	assert.deepEqual((await measure(other)).splitter, after.splitter);
	await wick.isQuiet(other);
	await page.bringToFront();
	await page.focus("#splitter");
	const value = () => page.$eval("#splitter", (element) => Number(element.getAttribute("aria-valuenow")));
	const now = await value();
	await page.keyboard.press("ArrowUp");
	assert.equal(await value(), now - 2);
	await page.keyboard.press("End");
	assert.equal(await value(), 85);
	for (let i = 0; i < 3; i++)
		await page.click("#undo");
	await wick.until(page, () => window.location.hash === "");
	assert.deepEqual((await measure(page)).splitter, before.splitter);
	await wick.isQuiet(page);
});

test("the splitter follows a finger", async () => {
	const page = await openAt(PHONE, recordings.plain);
	const { splitter } = await measure(page);
	const y = (splitter.top + splitter.bottom) / 2;
	await page.touchscreen.touchStart(200, y);
	await page.touchscreen.touchMove(200, y + 40);
	await page.touchscreen.touchMove(200, y + 80);
	await page.touchscreen.touchEnd();
	assert.match(await restingHash(page), /split=\d/);
	assert.ok(Math.abs((await measure(page)).splitter.top - splitter.top - 80) <= 2);
	await wick.isQuiet(page);
});

test("details have a room of their own, which choosing a frame does not change", async () => {
	const page = await openAt([1280, 800], recordings.plain);
	const click = async () => {
		const box = (await measure(page)).flame;
		await page.mouse.click(box.left + box.width / 2, box.bottom - 30);
		await wick.until(page, () => /frame=main/.test(window.location.hash));
	};
	const before = await measure(page);
	await click();
	assert.deepEqual(await measure(page), before, "closed they stay closed");
	await page.keyboard.press("d");
	await wick.until(page, () => /main/.test(document.querySelector("#details").textContent));
	const open = await measure(page);
	assert.ok(open.flame.width < before.flame.width - 200);
	await page.click("#details .bar button");
	await wick.until(page, () => /All that is selected/.test(document.querySelector("#details").textContent));
	await click();
	assert.deepEqual(await measure(page), open);
	await page.click("#details [aria-label='Close details']");
	assert.deepEqual(await measure(page), before);
	await wick.isQuiet(page);
});

test("threads are chosen from a list, and each filter has a cross", async () => {
	const page = await openAt([1280, 800], recordings.plain, "view=table");
	await page.keyboard.press("f");
	await wick.until(page, () => document.activeElement.id === "pattern"); /* what is typed narrows the list */
	await page.select("#where", "thread");
	const values = () => page.$$eval("#filter .value", (all) => all.map((label) => label.textContent));
	assert.deepEqual((await values()).map((text) => text.replace(/\d\d\.\d\d %/, "")).sort(), ["app/7", "app/8", "app/9"]);
	await page.click("#filter .value:nth-child(1)");
	await page.click("#filter .value:nth-child(3)");
	await wick.until(page, () => /thread=\^\(app\/\d\|app\/\d\)\$/.test(decodeURIComponent(window.location.hash)));
	assert.match(await page.$eval("#chips", (list) => list.textContent), /thread: app\/7, app\/9/);
	await page.type("#pattern", "pp/8");
	await wick.rest(page);
	assert.equal((await values()).length, 1);
	await page.keyboard.press("Enter");
	await wick.until(page, () => /thread=pp\/8/.test(decodeURIComponent(window.location.hash)));
	await page.keyboard.press("Escape");
	await page.click("#chips .chip:nth-child(2) button");
	await page.click("#chips .chip:nth-child(1) button");
	await wick.until(page, () => !/thread/.test(window.location.hash));
	await wick.isQuiet(page);
});

const columnsOf = (page) => page.$eval("#heat canvas", (canvas) =>
	/of (\d+) columns of ([\d.]+) s/.exec(canvas.getAttribute("aria-label")).slice(1).map(Number));

test("columns fit the recording, and may be chosen", async () => {
	for (const [name, column, n] of [["short", 0.1, 31], ["plain", 1, 20], ["hour", 10, 361]]) {
		const page = await openAt([1280, 800], recordings[name]);
		const [columns, seconds] = await columnsOf(page);
		assert.equal(seconds, column, name);
		assert.ok(Math.abs(columns - n) <= 10, `${name}: ${columns}`);
		const rows = await page.$$eval("#rows option", (options) => options.map(({ textContent }) => textContent));
		assert.equal(rows[2], { short: "20 of 5 ms", plain: "20 of 50 ms", hour: "20 of 500 ms" }[name], "they say how long they are");
		await page.select("#column", "500000000");
		await wick.until(page, () => / columns of 0.5 s/.test(document.querySelector("#heat canvas").getAttribute("aria-label")));
		assert.match(await wick.hashOf(page), /column=500000000/);
		await wick.isQuiet(page);
	}
});

test("Ctrl and the wheel zoom time under the pointer, Shift and dragging move it; both are undone", async () => {
	const page = await openAt([1280, 800], recordings.plain);
	const brush = async () => /brush=([\d.]+)-([\d.]+)/.exec(await restingHash(page))?.slice(1).map(Number);
	const { heat } = await measure(page);
	const x = heat.left + 52 + (heat.width - 52) * 0.75;
	await page.mouse.move(x, heat.top + 40);
	await page.keyboard.down("Control");
	for (let i = 0; i < 6; i++)
		await page.mouse.wheel({ deltaY: -100 });
	await page.keyboard.up("Control");
	await wick.until(page, () => /brush=/.test(window.location.hash));
	const [from, to] = await brush();
	assert.ok(to - from < 8, `${from} to ${to}`);
	assert.ok(Math.abs(from + 0.75 * (to - from) - 15) < 0.5, `15 s stay where they were: ${from} to ${to}`);
	await page.keyboard.down("Shift");
	await page.mouse.down();
	await page.mouse.move(x + 50, heat.top + 40);
	await page.mouse.move(x + 100, heat.top + 40);
	await page.mouse.up();
	await page.keyboard.up("Shift");
	await wick.until(page, (old) => !window.location.hash.includes(old), `brush=${from}`);
	const [moved, end] = await brush();
	assert.ok(Math.abs(from - moved - (100 * (to - from)) / (heat.width - 52)) < 0.05, `${from} to ${moved}`);
	assert.ok(Math.abs((end - moved) - (to - from)) < 1e-6);
	assert.doesNotMatch(await wick.hashOf(page), /time=/, "nothing was selected");
	await page.click("#undo");
	await wick.until(page, (old) => window.location.hash.includes(old), `brush=${from}`);
	await page.click("#undo");
	await wick.until(page, () => window.location.hash === "");
	await wick.isQuiet(page);
});

test("dragging the vertical axis says where columns begin, in the URL, and is undone", async () => {
	const page = await openAt([1280, 800], recordings.plain);
	const { heat } = await measure(page);
	const row = (heat.height - 20) / 50;
	await page.mouse.move(heat.left + 20, heat.top + 40);
	await page.mouse.down();
	await page.mouse.move(heat.left + 20, heat.top + 40 + 5 * row, { steps: 4 });
	await page.mouse.move(heat.left + 20, heat.top + 40 + 10 * row, { steps: 4 });
	await page.mouse.up();
	await wick.until(page, () => /phase=200000000/.test(window.location.hash));
	assert.equal(await page.$eval("#phase", (input) => input.value), "200");
	await page.focus("#heat canvas");
	await page.keyboard.press(",");
	await wick.until(page, () => /phase=180000000/.test(window.location.hash));
	await page.click("#undo");
	await page.click("#undo");
	await wick.until(page, () => window.location.hash === "");
	await wick.isQuiet(page);
});

test("the command stands once, under Info, and notes are announced there", async () => {
	const page = await openAt([1280, 800], recordings.wall);
	const times = () => page.evaluate(() => document.querySelector("#head").textContent.split("wick record").length - 1);
	assert.equal(await times(), 1);
	assert.doesNotMatch(await page.$eval("#top", (top) => top.textContent), /wick record/);
	await page.keyboard.press("i");
	await wick.until(page, () => document.querySelector("#info").matches(":popover-open"));
	await wick.isQuiet(page);
	const odd = await openAt([1280, 800], wick.writePage(wick.writeText("unknown.perf",
		"app 7/7 [000] 100.5: 1 cpu-clock: \n\t10 [unknown] (/bin/app)\n\n".repeat(9))));
	assert.match(await odd.$eval("#show-info", (button) => button.textContent), /1 note/);
	await wick.isQuiet(odd);
});

for (const theme of ["light", "dark"]) {
	test(`axe finds nothing in open menus, panels and filters of the ${theme} theme`, { timeout: 120000 }, async () => {
		const source = readFileSync(wick.axePath, "utf8");
		const states = [
			["1280x800", `time=16-20&thread=app/7&t=drop:hash&frame=parse&details=open&b=1-2`, "#show-filter"],
			["1280x800", "view=diff&time=16-20&b=0-15", "#show-share"],
			["1280x800", "view=sandwich&search=parse", "#show-info"],
			["1280x800", "view=strip&by=thread", "#show-heat-menu"],
			["390x844", "view=table&frame=parse&details=open", "#show-tabs"],
			["390x844", "view=flame", "#show-query"],
		];
		for (const [size, hash, button] of states) {
			const page = await openAt(size.split("x").map(Number), recordings.plain, `theme=${theme}&${hash}`);
			await page.$eval(button, (element) => element.scrollIntoView());
			await wick.openBox(page, button);
			await page.evaluate(source);
			const found = await page.evaluate(() => globalThis.axe.run());
			assert.deepEqual(found.violations.map(({ id, nodes }) =>
				`${id}: ${nodes.map(({ target }) => target).join(", ")}`), [], `${size} ${hash}`);
			await wick.isQuiet(page);
		}
	});
}
