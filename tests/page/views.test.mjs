/* views.test.mjs - keys through all views, bombs, odd inputs, and the .svg of wick flamegraph */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import * as wick from "./page.mjs";

let url;
let recording;

wick.inBrowser(() => {
	recording = wick.writeRecording("app.perf", 2000, 20, ["parse", "sort", "hash", `${"a".repeat(60)}!`]);
	url = wick.writePage(recording);
});

test("keys alone go through all views and everything that is drawn", async () => {
	const page = await wick.openPage(url, "time=16-20&b=0-15");
	const drawn = { 1: 1, 2: 1, 3: 1, 4: 2, 5: 0, 6: 0, 7: 1, 8: 2, 9: 1 };
	for (const [key, n] of Object.entries(drawn)) {
		await page.evaluate(() => document.activeElement.blur());
		await page.keyboard.press(key);
		await wick.until(page, (k) => document.querySelector(`#tabs [role=tab]:nth-child(${k})`)
			.getAttribute("aria-selected") === "true", key);
		await wick.rest(page);
		assert.equal((await page.$$("#view canvas")).length, n, key);
		const reached = new Set();
		await page.focus("[role=tab][aria-selected=true]");
		for (let i = 0; i < 60; i++) {
			await page.keyboard.press("Tab");
			const at = await page.evaluate(() => {
				const places = [...document.querySelectorAll("#view canvas, #view .scroll-table")];
				return places.indexOf(document.activeElement);
			});
			if (at >= 0)
				reached.add(at);
		}
		assert.equal(reached.size, await page.$$eval("#view canvas, #view .scroll-table", (all) => all.length), key);
	}
	await wick.isQuiet(page);
});

test("hovering says time, value and the top functions", async () => {
	const page = await wick.openPage(url);
	const box = await (await page.$("#heat canvas[tabindex]")).boundingBox();
	await page.mouse.move(box.x + box.width / 2, box.y + box.height / 3);
	await wick.until(page, () => /\d samples?/.test(document.querySelector("#tip").textContent) &&
		/ s, /.test(document.querySelector("#tip").textContent) &&
		/% (parse|sort|hash|a+!|stall)/.test(document.querySelector("#tip").textContent));
	await wick.isQuiet(page);
});

test("a legend says what the colours mean", async () => {
	const legend = () => [...document.querySelectorAll("#view .flame-legend span")].map((key) => key.textContent);
	for (const [hash, labels] of [["", ["program"]], ["colour=module", ["app"]], ["colour=name", []],
		["view=sandwich", ["program"]], ["view=diff&b=0-15&time=16-20", ["− less than before", "+ more than before"]]]) {
		const page = await wick.openPage(url, hash);
		await page.waitForSelector("#view canvas");
		assert.deepEqual(await page.evaluate(legend), labels, hash);
		await wick.isQuiet(page);
	}
});

test("samples are counted when asked for, shares are bars", async () => {
	const page = await wick.openPage(url, "view=table");
	const heads = () => page.$$eval("#view thead th", (all) => all.map((head) => head.textContent.replace(/ [▾▴]$/, "")));
	const plain = ["Function", "Self", "Self %", "Total", "Total %", "Module"]; /* no rate: this recording counts samples */
	assert.deepEqual(await heads(), plain);
	await page.click("#show-counts");
	await wick.until(page, () => /columns=counts/.test(window.location.hash));
	await wick.rest(page);
	assert.deepEqual(await heads(), plain.toSpliced(5, 0, "Calls seen", "Self samples", "Samples"));
	const [share, bar] = await page.$eval("#view tbody tr td:nth-child(3)", (cell) =>
		[cell.textContent, getComputedStyle(cell).backgroundImage]);
	const end = /gradient\(to left, rgb\([^)]*\) ([\d.]+)%/.exec(bar)?.[1];
	assert.ok(Math.abs(Number(end) - parseFloat(share)) < 0.01, `${share}: ${bar}`);
	await wick.isQuiet(page);
});

test("what was done to the stacks is taken back chip by chip", async () => {
	const page = await wick.openPage(url, "view=table&t=drop:hash&t=merge:parse");
	await wick.until(page, () => document.querySelectorAll("#chips .chip").length === 2);
	assert.doesNotMatch(await page.$eval("#view", (view) => view.textContent), /hash|parse/);
	await page.click("#chips .chip button");
	await wick.until(page, () => document.querySelector("#view").textContent.includes("hash"));
	assert.doesNotMatch(await page.$eval("#view", (view) => view.textContent), /parse/);
	await wick.isQuiet(page);
});

/* How many samples each second of the heatmap has. */
const secondsOf = (page) => page.$eval("#heat-bar .as-text", (details) => {
	details.open = true;
	return new Promise((resolve) => setTimeout(resolve)).then(() =>
		[...details.querySelectorAll("tbody tr")].map((row) => Number(row.cells[2].textContent)));
});

test("the heatmap shows when a function runs, by a step or by the menu of a frame", async () => {
	const page = await wick.openPage(url, "view=reverse&t=focus:stall");
	await wick.rest(page);
	const focused = await secondsOf(page);
	assert.ok(focused.slice(0, 16).every((n) => n === 0) && focused.slice(16).some((n) => n > 0), `${focused}`);
	await page.click("#chips .chip button");
	await wick.rest(page);
	assert.ok((await secondsOf(page)).slice(0, 16).every((n) => n > 0));
	await page.focus("#view canvas");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("m");
	const name = await (await page.waitForSelector("#frame-menu")).evaluate((menu) => menu.getAttribute("aria-label"));
	await page.evaluate(() => [...document.querySelectorAll("#frame-menu button")]
		.find((button) => button.textContent === "Show only when this runs").click());
	await wick.rest(page);
	assert.match(await wick.hashOf(page), new RegExp(`only=\\^${name}\\$`));
	const [shown, all] = [await secondsOf(page), 2000];
	const n = shown.reduce((a, b) => a + b);
	assert.ok(n > 0 && n < all, `${n} samples with ${name}`);
	await wick.isQuiet(page);
});

test("idle CPUs are hidden by a chip that shows them, and an event is chosen", async () => {
	const path = join(wick.folder, "system.perf");
	copyFileSync(new URL("../view/samples/system.perf", import.meta.url), path);
	const system = wick.writePage(path);
	const page = await wick.openPage(system);
	const chips = () => page.$eval("#chips", (element) => element.textContent);
	assert.match(await chips(), /idle CPUs are hidden: 12 samples \(41\.38 %\)/);
	assert.equal(await page.$eval("#event", (select) => select.selectedOptions[0].textContent), "cycles");
	await page.click("#show-idle");
	await wick.until(page, () => window.location.hash.includes("idle"));
	await wick.rest(page);
	assert.match(await chips(), /idle CPUs are shown/);
	await page.select("#event", "1");
	await wick.until(page, () => /event: page-faults/.test(document.querySelector("#chips").textContent));
	await page.click("#chips .chip button");
	await wick.until(page, () => /idle CPUs are hidden: 3 samples/.test(document.querySelector("#chips").textContent));
	await wick.isQuiet(page);
	const plain = await wick.openPage(url);
	assert.equal(await plain.$eval("#event", (select) => select.parentElement.hidden), true);
	assert.doesNotMatch(await plain.$eval("#chips", (element) => element.textContent), /idle/);
	await wick.isQuiet(plain);
});

test("a pattern that would never end hangs nothing, and is given up with a reason", async () => {
	const name = `${"a".repeat(60)}!`;
	const hostile = wick.writePage(wick.writeText("hostile.perf",
		`app 7/7 [000] 100.5: 1 cpu-clock: \n\t10 ${name}+0x1 (/bin/app)\n\n`.repeat(9)));
	for (const words of ["only=(a%2B)%2B$", "elide=(a|a)*$"]) {
		const page = await wick.openPage(hostile, words);
		assert.match(await page.$eval("#problem", (element) => element.textContent), /takes too long on these names/, words);
		await page.click("#chips button");
		await wick.rest(page);
		assert.equal(await page.$eval("#problem", (element) => element.textContent), "");
		await wick.isQuiet(page);
	}
	const page = await wick.openPage(hostile);
	await wick.rest(page);
	await page.type("#search input", "(a|aa)+$");
	await wick.until(page, () => document.querySelector("main").getAttribute("aria-busy") === "true");
	await page.keyboard.press("Escape"); /* the page answers while the worker does not */
	await page.click("#show-share");
	await page.waitForSelector("#share:popover-open");
	await page.type("#search input", "(a|aa)+$");
	await wick.until(page, () => /takes too long/.test(document.querySelector("#search output").textContent));
	await page.$eval("#search input", (input) => (input.value = ""));
	await page.type("#search input", "^a");
	await wick.until(page, () => /1 frame$/.test(document.querySelector("#search output").textContent));
	await wick.isQuiet(page);
});

const ODD = {
	"one sample": ["app 7/7 [000] 100.5: 1 cpu-clock: \n\t10 main+0x1 (/bin/app)\n\n", /one sample only[^]*record -F/],
	"no symbols": ["app 7/7 [000] 100.5: 1 cpu-clock: \n\t10 [unknown] (/bin/app)\n\n".repeat(9), /without a name, try: /],
	"bad lines": [`${"app 7/7 [000] 100.5: 1 cpu-clock: \n\t10 main+0x1 (/bin/app)\n\n".repeat(9)}\nthis is no sample\n\n`, /cannot be read, skipped \(\d/],
};

for (const [name, [text, says]] of Object.entries(ODD)) {
	test(`${name}: the page says what it is, and what to do`, async () => {
		const odd = wick.writeText(`${name.replace(" ", "-")}.perf`, text);
		const page = await wick.openPage(wick.writePage(odd));
		assert.match(await page.$eval("body", (body) =>
			`${body.querySelector("#problem").textContent}\n${body.querySelector("#notes").textContent}`), says);
		await wick.isQuiet(page);
	});
}

test("of a file without a sample the command says what it is, and what to do", () => {
	const empty = wick.writeText("empty.perf", "# ========\n# hostname : box\n# ========\n#\n");
	for (const words of [["view", "-o", `${empty}.html`], ["flamegraph"], ["report"], ["heatmap"]]) {
		const { status, stderr } = spawnSync(process.env.WICK, [...words, "--no-index", empty], { encoding: "utf8" });
		assert.notEqual(status, 0, words[0]);
		assert.match(stderr, /no sample[^]*try: /, words[0]);
	}
});

test("the time strip is a table, too, of the time that is seen", async () => {
	const page = await wick.openPage(url, "view=strip");
	await page.click("#view details.as-text summary");
	await wick.rest(page);
	const rows = await page.$$eval("#view details.as-text tbody tr", (all) =>
		all.map((row) => [...row.cells].map((cell) => cell.textContent)));
	assert.equal(rows.length, 60);
	assert.equal(rows.reduce((sum, row) => sum + Number(row[3]), 0), 2000);
	assert.match(rows[0][4], /% (parse|sort|hash|a+!)/);
	assert.doesNotMatch(rows[0][4], /stall/);
	assert.match(rows[19][4], /stall/);
	await wick.isQuiet(page);
});

/* The rows of the list of threads: [level, whether open, whether chosen, name]. */
function threadRows(page) {
	return page.$$eval("#view tbody tr[aria-level]", (rows) => rows.map((row) => [row.ariaLevel, row.ariaExpanded,
		row.ariaSelected, row.cells[0].textContent.replace(/[▾▸☐☑]/g, "")].join(" ").trim()));
}

test("threads are chosen in the list of them, which goes on showing all", async () => {
	const page = await wick.openPage(url, "view=threads");
	const all = ["1 true false app/7", "2  false app/7", "2  false app/8", "2  false app/9"];
	const chosen = (...rows) => all.map((row, i) => (rows.includes(i) ? row.replace("false", "true") : row));
	assert.deepEqual(await threadRows(page), all);
	const step = async (act, hash, rows) => {
		await act();
		await wick.rest(page);
		assert.equal((await wick.hashOf(page)).slice(1).split("&").filter((word) => word !== "view=threads").join("&"), hash);
		assert.deepEqual(await threadRows(page), rows);
	};
	const click = (row, what = "td + td") => () => page.click(`#view tbody tr:nth-child(${row + 1}) ${what}`);
	const press = (...keys) => async () => {
		for (const key of keys)
			await page.keyboard.press(key);
	};
	const add = async () => {
		await page.keyboard.down("Control");
		await page.keyboard.press("Enter");
		await page.keyboard.up("Control");
	};
	await step(click(2), "thread=^app/8$", chosen(2));
	assert.match(await page.$eval("#chips", (chips) => chips.textContent), /thread: app\/8/);
	await step(click(3), "thread=^app/9$", chosen(3));
	await step(click(2, ".tick"), "thread=^(app/9|app/8)$", chosen(2, 3));
	await step(click(3, ".tick"), "thread=^app/8$", chosen(2));
	await step(press("Enter"), "thread=^app/9$", chosen(3));
	await step(press("Enter"), "", all);
	await step(press("u"), "thread=^app/9$", chosen(3));
	await press("ArrowUp")();
	await step(add, "thread=^(app/9|app/8)$", chosen(2, 3));
	await step(press("ArrowUp", "ArrowUp", "Enter"), "process=^app/7$", chosen(0));
	await step(press("ArrowLeft"), "process=^app/7$&folds=app/7", ["1 false true app/7 (3 threads)"]);
	await step(press("ArrowRight"), "process=^app/7$", chosen(0));
	await step(click(0, ".fold"), "process=^app/7$&folds=app/7", ["1 false true app/7 (3 threads)"]);
	await step(press("Enter"), "folds=app/7", ["1 false false app/7 (3 threads)"]);
	await wick.isQuiet(page);
});

test("tracks of threads say what they are of, in words, too", async () => {
	const recording = join(import.meta.dirname, "..", "golden", "labels.perf");
	const page = await wick.openPage(wick.writePage(wick.writeText("labels.perf", readFileSync(recording))), "view=threads");
	const box = await (await page.$("#view td.track svg")).boundingBox();
	const first = await page.$eval("#view td.track path", (path) => Number(/M(\d+)/.exec(path.getAttribute("d"))[1]));
	await page.mouse.move(box.x + (box.width * (first + 0.5)) / 200, box.y + box.height / 2);
	await wick.until(page, () => /s to [\d.]+ s: [\d.]+ m?s of wall time[\d.]+ % (running|sleeping|runnable|disk)/
		.test(document.querySelector("#tip").textContent));
	const keys = await page.$eval("#view .flame-legend", (legend) => legend.textContent);
	assert.match(keys, /running.*sleeping/);
	const text = await page.evaluate(() => {
		const details = document.querySelector("#view details.as-text");
		details.open = true;
		details.dispatchEvent(new Event("toggle"));
		return [...details.querySelectorAll("tbody tr")].map((row) => row.textContent);
	});
	assert.match(text[0], /% running.*% sleeping/);
	await page.setViewport({ width: 390, height: 844 });
	await wick.rest(page);
	const cut = await page.$$eval("#view tr:first-child :is(td, th > *)", (cells) =>
		cells.filter((cell) => cell.closest(".narrow") && cell.scrollWidth > cell.clientWidth).map(({ textContent }) => textContent));
	assert.deepEqual(cut, [], "a phone has room for the numbers");
	assert.equal((await page.$$eval("#view th.narrow", (heads) => heads.map(({ textContent }) => textContent))).includes("Running"), true);
	await wick.isQuiet(page);
});

test("a click on a track chooses its thread alone, and dragging on it the time", async () => {
	const page = await wick.openPage(url, "view=threads");
	/* Rows are sorted by what they have of the selected time: it is found by its name. */
	const place = async (part) => {
		const { x, y, width, height } = await page.evaluate(() => [...document.querySelectorAll("#view tbody tr[aria-level='2']")]
			.find((row) => row.textContent.includes("app/8")).querySelector("svg").getBoundingClientRect().toJSON());
		return [x + width * part, y + height / 2];
	};
	const click = async (part, hash) => {
		await page.mouse.click(...await place(part));
		await wick.rest(page);
		assert.equal(await wick.hashOf(page), hash);
	};
	await click(0.252, "#thread=^app/8$&view=threads");
	await click(0.752, "#view=threads");
	await page.mouse.move(...await place(0.25));
	await page.mouse.down();
	await page.mouse.move(...await place(0.4), { steps: 3 });
	await page.mouse.move(...await place(0.5), { steps: 3 });
	await page.mouse.up();
	await wick.rest(page);
	const times = /time=([\d.]+)-([\d.]+)/.exec(await wick.hashOf(page))?.slice(1).map(Number);
	assert.ok(times?.every((at, i) => Math.abs(at - [5, 10.1][i]) < 0.11), `${times}`);
	assert.doesNotMatch(await wick.hashOf(page), /thread=/);
	await page.click("#undo");
	await wick.until(page, () => window.location.hash === "#view=threads");
	await click(0.252, "#thread=^app/8$&view=threads");
	await wick.isQuiet(page);
});

test("the heads of the list of threads sort processes, and the threads of each", async () => {
	const page = await wick.openPage(url, "view=threads");
	const sortedBy = async (head, hash, sort, rows) => {
		await page.evaluate((text) => [...document.querySelectorAll("#view th button")].find((button) => button.textContent.startsWith(text)).click(), head);
		await wick.rest(page);
		assert.equal(await wick.hashOf(page), hash);
		assert.deepEqual(await page.$$eval("#view th[aria-sort]", (heads) => heads.map(({ ariaSort, textContent }) => [textContent, ariaSort])), sort);
		assert.deepEqual((await threadRows(page)).map((row) => row.split(" ").at(-1)), rows);
	};
	assert.equal(await page.$eval("#view th[aria-sort]", (head) => head.textContent), "Samples ▾");
	await sortedBy("Process", "#view=threads&sort=name", [["Process and thread ▴", "ascending"]], ["app/7", "app/7", "app/8", "app/9"]);
	await sortedBy("Process", "#view=threads&sort=-name", [["Process and thread ▾", "descending"]], ["app/7", "app/9", "app/8", "app/7"]);
	await page.reload();
	await page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
	assert.equal((await threadRows(page)).at(-1).split(" ").at(-1), "app/7");
	await sortedBy("%", "#view=threads&sort=amount", [["Samples ▾", "descending"]], ["app/7", "app/7", "app/8", "app/9"]);
	await wick.isQuiet(page);
});

test("a search says which threads it finds, and the others are paler", async () => {
	const page = await wick.openPage(url, "view=threads&search=8$");
	const found = () => page.evaluate(() => [document.querySelector("#search output").textContent,
		...[...document.querySelectorAll("#view tr.faint")].map((row) => row.cells[0].textContent.slice(-5))]);
	assert.deepEqual(await found(), ["2 rows", "app/7", "app/9"], "the process of what is found is found, too");
	await page.evaluate(() => (window.location.hash = "view=threads"));
	await wick.rest(page);
	assert.deepEqual(await found(), [""]);
	await page.evaluate(() => (window.location.hash = "view=threads&search=("));
	await wick.rest(page);
	assert.match((await found())[0], /pattern/);
	await wick.isQuiet(page);
});

test("what was chosen has its outline in a page that is opened by a link", async () => {
	for (const [hash, name] of [["view=table&frame=hash", "hash"], ["view=table&frame=hash&sort=name", "hash"],
		["view=diff&time=16-20&b=0-15&frame=stall", "stall"], ["view=threads&thread=^app/8$", "app/8"]]) {
		const page = await wick.openPage(url, hash);
		const outlined = () => page.$$eval("#view tr[aria-current=true]", (rows) => rows.map((row) => row.cells[0].textContent.replace(/[☑☐]/g, "")));
		assert.deepEqual(await outlined(), [name], hash);
		await page.click("#view th button");
		await wick.rest(page);
		assert.deepEqual(await outlined(), [name], `${hash}, sorted`);
		await wick.isQuiet(page);
	}
});

test("from the list of threads a button leads to their stacks, and back", async () => {
	const page = await wick.openPage(url, "view=threads&thread=app/8");
	const press = (text) => page.evaluate((words) =>
		[...document.querySelectorAll("#view button")].find((button) => button.textContent === words).click(), text);
	await press("Stacks in the order of time");
	await wick.rest(page);
	assert.equal((await page.$$("#view .strip-row canvas")).length, 1);
	assert.equal(await page.$eval("#tab-threads", (tab) => tab.ariaSelected), "true");
	await press("Back to the list");
	await wick.rest(page);
	assert.equal((await threadRows(page)).length, 4);
	await wick.isQuiet(page);
});

async function openSvg() {
	const svg = `${recording}.svg`;
	execFileSync(process.env.WICK, ["flamegraph", "--no-index", "--force", "-o", svg, recording]);
	const page = await wick.browser.newPage();
	page.problems = [];
	page.on("pageerror", (error) => page.problems.push(error.message));
	page.on("request", (request) => /^(file|data):/.test(request.url()) || page.problems.push(request.url()));
	await page.goto(pathToFileURL(svg).href);
	return page;
}

/* Of all samples those with a function that the pattern matches, counted in the recording's text. */
function shareOf(pattern) {
	const samples = readFileSync(recording, "utf8").split("\n\n").filter((sample) => sample.trim());
	const names = (sample) => sample.split("\n").slice(1).map((line) => /^\t\S+ (.*)\+0x/.exec(line)?.[1] ?? "");
	return (100 * samples.filter((sample) => names(sample).some((name) => pattern.test(name))).length) / samples.length;
}

test("the .svg of wick flamegraph says how much a search matches, in both of its graphs", async () => {
	const page = await openSvg();
	const matched = async (text) => {
		await page.$eval("input", (box) => {
			box.value = "";
		});
		await page.focus("input");
		await page.keyboard.type(text);
		return page.$eval("#line", (line) => line.textContent);
	};
	const percent = (line) => Number(/^matched ([0-9.]+) %/.exec(line)?.[1]);
	const hits = (id) => page.$$eval(`#${id} .hit`, (all) => all.length);
	for (const id of ["calls", "reverse"]) {
		assert.equal(await page.$eval(`#${id}`, (group) => group.getAttribute("visibility") ?? "visible"), "visible");
		for (const pattern of ["^stall$", "^work_[13]$", "main|parse", "o"])
			assert.ok(Math.abs(percent(await matched(pattern)) - shareOf(new RegExp(pattern, "u"))) < 0.02,
				`${id}: ${pattern}: ${await matched(pattern)}, not ${shareOf(new RegExp(pattern, "u"))}`);
		assert.equal(percent(await matched("nobody")), 0);
		assert.equal(await hits(id), 0);
		assert.match(await matched("(("), /no regular expression/);
		await matched("^stall$");
		assert.ok(await hits(id) > 0);
		await page.evaluate(() => document.activeElement.blur());
		await page.$eval("[role=button]", (button) => button.dispatchEvent(new MouseEvent("click", { bubbles: true })));
	}
	assert.deepEqual(page.problems, []);
	await page.close();
});

test("the .svg of wick flamegraph has the graph of leaves first, by a button and by a key", async () => {
	const page = await openSvg();
	const seen = () => page.evaluate(() => ["calls", "reverse"].filter((id) =>
		getComputedStyle(document.getElementById(id)).visibility === "visible"));
	/* The names in the row beside the root's, widest first. */
	const first = (id) => page.evaluate((graph) => [...document.querySelectorAll(`#${graph} g[data-d="1"]`)]
		.sort((a, b) => b.querySelector("rect").width.baseVal.value - a.querySelector("rect").width.baseVal.value)
		.map((g) => g.querySelector("title").textContent.split("\n")[0].replace(/ \(.*/, "")), id);
	assert.deepEqual(await seen(), ["calls"]);
	assert.deepEqual(await first("calls"), ["main"]);
	await page.$eval("[role=button]", (button) => button.dispatchEvent(new MouseEvent("click", { bubbles: true })));
	assert.deepEqual(await seen(), ["reverse"]);
	assert.deepEqual(new Set(await first("reverse")),
		new Set(["parse", "sort", "hash", `${"a".repeat(60)}!`, "stall"]));
	await page.keyboard.press("r");
	assert.deepEqual(await seen(), ["calls"]);
	assert.deepEqual(page.problems, []);
	await page.close();
});

test("the .svg of wick flamegraph zooms where it is clicked, and sends no request", async () => {
	const page = await openSvg();
	const width = () => page.evaluate(() => {
		const title = [...document.querySelectorAll("#calls title")].find((t) => /^work_3\b/.test(t.textContent));
		return title.parentNode.getBoundingClientRect().width;
	});
	const before = await width();
	await page.evaluate(() => {
		const title = [...document.querySelectorAll("#calls title")].find((t) => /^work_3\b/.test(t.textContent));
		title.parentNode.querySelector("rect").dispatchEvent(new MouseEvent("click", { bubbles: true }));
	});
	assert.ok(await width() > 3 * before, `${before} to ${await width()}`);
	assert.deepEqual(page.problems, []);
	await page.close();
});

/* The SVG that the page saves, in a page of its own. */
async function openSaved(page) {
	await page.evaluate(() => {
		const make = URL.createObjectURL.bind(URL);
		URL.createObjectURL = (blob) => {
			window.saved = blob.text();
			return make(blob);
		};
	});
	await wick.openBox(page, "#show-share");
	await page.click("#save-svg");
	await wick.until(page, () => window.saved);
	const text = await page.evaluate(() => window.saved);
	const saved = await wick.browser.newPage();
	await saved.goto(pathToFileURL(wick.writeText("saved.svg", text)).href);
	return { text, saved };
}

test("a saved graph shows what the search has found, also without a script", async () => {
	for (const [hash, label] of [["search=STALL", "none"], ["search=^st", "stall"], ["view=diff&time=16-20&b=0-15&search=^st", "stall"]]) {
		const page = await wick.openPage(url, hash);
		await wick.rest(page);
		const { text, saved } = await openSaved(page);
		const marked = text.match(/<g class="[^"]* hit"[^>]*><title>[^\n]*/g) ?? [];
		assert.equal(marked.length > 0, label !== "none", hash);
		assert.ok(marked.every((title) => title.endsWith(">stall")), marked.join());
		assert.equal(await saved.$eval("input", (box) => box.value), hash.split("search=")[1]);
		assert.equal(await saved.$$eval("#calls .hit, #reverse .hit", (all) => all.length), marked.length, hash);
		assert.match(await saved.$eval("#line", (line) => line.textContent), /^matched /);
		await saved.close();
		await wick.isQuiet(page);
	}
});

/* Names in the table of changes, and in that of the picture. */
async function changesShown(page) {
	await wick.rest(page);
	return page.evaluate(() => {
		const details = document.querySelector("#view details.as-text");
		details.open = true;
		details.dispatchEvent(new Event("toggle"));
		const names = (rows, cell) => [...new Set([...document.querySelectorAll(rows)].map((row) => row.cells[cell].textContent))].sort();
		return [names("#view .scroll-table tbody tr", 0), names("#view details.as-text tbody tr", 1)]
			.map((all) => all.filter((name) => !/^work_/.test(name)).join());
	});
}

test("what is new, or gone, is shown alone, and is in the URL", async () => {
	const base = wick.writeRecording("old.perf", 1000, 20, ["parse", "lost"]);
	const now = wick.writeRecording("new.perf", 1000, 20, ["parse", "sort"]);
	const page = await wick.openPage(wick.writeDiff(base, now));
	assert.deepEqual(await changesShown(page), ["lost,main,parse,sort,stall", "all,lost,main,parse,sort,stall"]);
	const cells = (name) => page.$$eval("#view tbody tr", (all, wanted) => all.map((tr) => [...tr.cells].map((td) => td.textContent))
		.find(([first]) => first === wanted).slice(1, 4), name);
	const isOf = (found, ...patterns) => patterns.forEach((pattern, i) => assert.match(found[i], pattern));
	isOf(await cells("sort"), /^new \+/, /^–$/, / %$/);
	isOf(await cells("lost"), /^gone −/, / %$/, /^–$/);
	await page.select("#diff-changes", "new");
	await wick.until(page, () => /changes=new/.test(window.location.hash));
	assert.deepEqual(await changesShown(page), ["sort", "all,main,sort"]);
	await page.select("#diff-changes", "gone");
	assert.deepEqual(await changesShown(page), ["lost", "all,lost,main"]);
	await page.click("#undo");
	assert.deepEqual(await changesShown(page), ["sort", "all,main,sort"]);
	await page.evaluate(() => (window.location.hash = "view=diff&changes=new&only=parse"));
	await wick.until(page, () => /New only: there is none/.test(document.querySelector("#view .view-empty").textContent));
	await wick.isQuiet(page);
});

test("a label that groups is chosen alone in its menu", async () => {
	const page = await wick.openPage(url, "group=thread,cpu");
	await page.focus("#view canvas");
	for (const key of ["ArrowUp", "ArrowUp", "m"])
		await page.keyboard.press(key);
	assert.equal(await page.evaluate(() => document.activeElement.textContent), "Only this cpu");
	await page.keyboard.press("Enter");
	await wick.until(page, () => /&?where=cpu=\^[01]\$/.test(decodeURIComponent(window.location.hash)));
	await wick.rest(page);
	assert.equal(await page.$eval("#view .view-empty", (note) => note.hidden), true);
	await wick.isQuiet(page);
});

test("details begin with the states, end with the metrics, and follow the zoom", async () => {
	const states = await wick.openPage(wick.writePage(new URL("../golden/labels.perf", import.meta.url).pathname), "details=open");
	await wick.until(states, () => document.querySelector("#details h3"));
	const heads = await states.$$eval("#details h3", (all) => all.map((head) => head.textContent));
	assert.deepEqual([heads[0], heads.at(-1)], ["state", "metrics of its samples"]);
	await wick.isQuiet(states);
	const page = await wick.openPage(url, "details=open&zoom=main&frame=main");
	await wick.until(page, () => document.querySelector("#details h2")?.textContent === "main");
	await page.click("#view .crumbs button");
	await wick.until(page, () => document.querySelector("#details h2")?.textContent === "All that is selected");
	await wick.isQuiet(page);
});

test("a page of two recordings opens on what differs, and calls them by their names", async () => {
	const page = await wick.openPage(wick.writePage(wick.writeRecording("new.perf", 1000, 20, ["parse", "sort"]), "--baseline",
		wick.writeRecording("old.perf", 1000, 20, ["parse", "lost"])));
	await wick.until(page, () => /more than chance/.test(document.querySelector(".diff-bar > span").textContent));
	assert.equal(await page.$eval("[role=tab][aria-selected=true]", (tab) => tab.textContent), "Diff");
	const said = await page.$eval("#view", (view) => view.textContent);
	for (const text of ["old.perf 1,000 samples", "less than in old.perf", "Another run may differ by as much"])
		assert.ok(said.includes(text), `${text}: ${said}`);
	assert.deepEqual(await page.$$eval("#view thead th", (all) => all.slice(2, 4).map((th) => th.textContent)), ["old.perf", "new.perf"]);
	assert.doesNotMatch(said, /\bB\b/);
	await wick.isQuiet(page);
});

test("a frame has a menu, which keys walk", async () => {
	const page = await wick.openPage(url);
	const at = () => page.evaluate(() => document.activeElement.textContent || document.activeElement.className);
	await page.focus("#view canvas");
	for (const key of ["ArrowUp", "m"])
		await page.keyboard.press(key);
	const items = await page.$$eval("#frame-menu [role=menuitem]", (all) => all.map((item) => item.textContent));
	assert.deepEqual([items.length, await at()], [11, "Details"]);
	for (const [key, item] of [["ArrowDown", items[1]], ["ArrowUp", items[0]], ["ArrowUp", items.at(-1)], ["Home", items[0]], ["End", items.at(-1)]]) {
		await page.keyboard.press(key);
		assert.equal(await at(), item, key);
	}
	await page.keyboard.press("Escape");
	await wick.until(page, () => !document.querySelector("#frame-menu"));
	assert.equal(await at(), "flame-canvas");
	await page.keyboard.press("m");
	for (const key of ["ArrowUp", "ArrowUp", "Enter"])
		await page.keyboard.press(key);
	await wick.until(page, () => decodeURIComponent(window.location.hash) === "#search=^main$");
	await wick.rest(page);
	assert.equal(await page.$eval("#search output", (output) => output.textContent), "100.00 %, 1 frame");
	await page.keyboard.press("m");
	await page.mouse.click(600, 5);
	await wick.until(page, () => !document.querySelector("#frame-menu"));
	await wick.isQuiet(page);
});

test("callers are of what is searched for, else of what was chosen, and a part of a name finds a function", async () => {
	const around = (page) => page.$eval(".sandwich-function", (input) => input.value);
	const page = await wick.openPage(url, "view=sandwich&search=^work_&frame=hash");
	await wick.rest(page);
	assert.match(await around(page), /^work_\d+$/);
	await page.evaluate(() => (window.location.hash = "view=sandwich&frame=hash"));
	await wick.until(page, () => document.querySelector(".sandwich-function").value === "hash");
	await page.evaluate(() => (window.location.hash = "view=sandwich&frame=nothing"));
	await wick.until(page, () => document.querySelector(".sandwich-function").value !== "hash");
	assert.match(await around(page), /^(parse|sort|hash|stall|a+!)$/); /* it has most of its own */
	await page.$eval(".sandwich-function", (input) => (input.value = ""));
	await page.type(".sandwich-function", "TAL");
	await page.keyboard.press("Enter");
	await wick.until(page, () => /around=stall/.test(window.location.hash));
	assert.ok((await page.$$eval("#sandwich-functions option", (all) => all.map((option) => option.value))).includes("main"));
	await wick.isQuiet(page);
});

test("table and details say how sure shares are, as the report does", async () => {
	const report = execFileSync(process.env.WICK, ["report", "--no-index", recording], { encoding: "utf8" });
	const [said] = /shares are right within [\d.]+ points \(95 %\)/.exec(report);
	const page = await wick.openPage(url, "view=table&details=open");
	await wick.rest(page);
	assert.equal(await page.$eval("#view .bar .says", (text) => text.textContent), said);
	assert.ok((await page.$eval("#details", (panel) => panel.textContent)).includes(said));
	await wick.isQuiet(page);
});

test("a picture is offered where there is one", async () => {
	const page = await wick.openPage(url, "view=table");
	const offered = async () => {
		await wick.openBox(page, "#show-share");
		return page.$$eval("#save button", (all) => all.filter((one) => !one.hidden && !one.disabled).map((one) => one.textContent));
	};
	assert.deepEqual(await offered(), ["CSV"]);
	await page.select("#save-what", "heatmap");
	assert.deepEqual(await offered(), ["PNG", "SVG", "CSV"]);
	await page.select("#save-what", "view");
	await page.keyboard.press("Escape");
	await page.click("#tab-flame");
	await wick.rest(page);
	assert.deepEqual(await offered(), ["PNG", "SVG", "CSV"]);
	await wick.isQuiet(page);
});

test("the baseline is selected first, and then what it is compared with", async () => {
	const page = await wick.openPage(url);
	const says = (text) => wick.until(page, (part) => document.querySelector("#heat-selection").textContent.includes(part), text);
	await page.keyboard.press("b");
	await says("now select the baseline");
	await page.focus("#heat canvas[tabindex]");
	await page.keyboard.press("Home");
	await page.keyboard.press("c");
	await says("now select another range: Diff compares it");
	await page.keyboard.press("End");
	await page.keyboard.press("c");
	await wick.until(page, () => /time=/.test(window.location.hash) && /b=/.test(window.location.hash));
	assert.doesNotMatch(await page.$eval("#heat-selection", (text) => text.textContent), /now select/);
	await wick.isQuiet(page);
});

test("a table is sorted by its heads, and its rows are chosen with keys", async () => {
	for (const view of ["view=table", "view=diff&time=16-20&b=0-15"]) {
		const page = await wick.openPage(url, view, [1280, 1600]); /* all rows are seen */
		await wick.rest(page);
		const names = () => page.$$eval("#view .scroll-table tbody td:first-child", (all) => all.map((cell) => cell.textContent));
		const head = "#view .scroll-table thead th:first-child";
		const sortedBy = async (word) => {
			await page.click(`${head} button`);
			await wick.until(page, (sort) => window.location.hash.includes(`sort=${sort}`), word);
			await wick.rest(page);
			return page.$eval(head, (th) => th.ariaSort);
		};
		assert.equal(await sortedBy("name"), "ascending");
		const sorted = await names();
		assert.deepEqual(sorted, [...sorted].sort());
		assert.equal(await sortedBy("-name"), "descending");
		assert.deepEqual(await names(), sorted.toReversed());
		await page.focus("#view .scroll-table");
		await page.keyboard.press("End");
		await page.keyboard.press("Enter");
		await wick.until(page, (name) => decodeURIComponent(window.location.hash).includes(`frame=${name}`), sorted[0]);
		await page.evaluate((hash) => (window.location.hash = hash), `${view}&sort=total`);
		await wick.rest(page);
		await page.focus("#view .scroll-table");
		await page.keyboard.press("Home");
		await page.keyboard.press("Enter"); /* the first function is number 0 */
		await wick.until(page, () => /frame=/.test(window.location.hash));
		await wick.isQuiet(page);
	}
});

test("several metrics are side by side, and a part of one is selected in all", async () => {
	const path = wick.writeText("metrics.perf", Array.from({ length: 200 }, (_, i) =>
		`app 1/1 [000] ${10 + Math.floor(i / 20)}.${String((i % 20) * 50000).padStart(6, "0")}: 1 cpu-clock: \n` +
		`# s m1=${i * 1000} m2=${i % 7}\n\t10 main+0x1 (/bin/app)\n\n`).join(""));
	const page = await wick.openPage(wick.writePage(path), "view=metrics&show=samples&show=period");
	assert.equal((await page.$$("#view canvas")).length, 2);
	const box = await (await page.$("#view canvas")).boundingBox();
	await page.mouse.move(box.x + box.width / 3, box.y + 20);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width / 2, box.y + 60, { steps: 4 });
	await page.mouse.up();
	await wick.until(page, () => /time=/.test(window.location.hash));
	assert.match(await page.$eval("#heat-selection", (said) => said.textContent), /^Selected: /);
	await page.select("#view select", "samples");
	await page.click("#view .small-heat:last-child h2 button:last-child");
	await wick.until(page, () => document.querySelectorAll("#view canvas").length === 1);
	assert.match(await wick.hashOf(page), /show=samples/);
	await page.click("#undo");
	await wick.until(page, () => document.querySelectorAll("#view canvas").length === 2);
	await wick.isQuiet(page);
});

test("selections are side by side, and zoomed together", async () => {
	const page = await wick.openPage(url, "view=sides");
	assert.match(await page.$eval("#view .view-empty", (note) => note.textContent), /one selection only/);
	await page.evaluate(() => (window.location.hash = "view=sides&b=0-4&time=4-8&time=8-12"));
	await wick.until(page, () => document.querySelectorAll("#view canvas").length === 3);
	assert.deepEqual(await page.$$eval("#view .graph h2", (all) => all.map((head) => head.textContent.split(":").slice(0, -1).join(":"))),
		["before: 0–4 s", "4–8 s", "8–12 s"]);
	await page.evaluate(() => (window.location.hash = "view=sides&b=0-4&time=4-8&time=8-12&zoom=main;work_3"));
	await wick.until(page, () => document.querySelectorAll("#view .crumbs button").length === 3);
	await page.evaluate(() => (window.location.hash = "view=sides&b=0-4&time=4-8&time=16-20"));
	await wick.until(page, () => document.querySelectorAll("#view .crumbs button").length === 1);
	await page.focus("#view .graph:last-child canvas");
	for (const key of ["ArrowUp", "Enter"])
		await page.keyboard.press(key);
	await wick.until(page, () => decodeURIComponent(window.location.hash).includes("zoom=main"));
	assert.deepEqual(await page.$$eval("#view .crumbs button", (all) => all.map((crumb) => crumb.textContent)), ["all", "main"]);
	await page.keyboard.press("Backspace");
	await wick.until(page, () => !window.location.hash.includes("zoom="));
	await wick.isQuiet(page);
});

test("a cell is its largest value when that is asked for", async () => {
	const page = await wick.openPage(url, "cell=max&metric=period");
	const legend = () => page.$eval("#heat-bar .legend", (element) => element.textContent);
	const largest = await legend();
	assert.match(largest, /^0 periods1 periods a cell/);
	await page.evaluate(() => (window.location.hash = "metric=period"));
	await wick.until(page, (was) => document.querySelector("#heat-bar .legend").textContent !== was, largest);
	await wick.isQuiet(page);
});
