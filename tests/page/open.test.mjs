/* open.test.mjs - files that are dropped on the page, or chosen: shown, compared with, refused */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import * as wick from "./page.mjs";

const { folder } = wick;
const files = {};
let url;

const FOLDED = "main;serve;parse 30\nmain;serve;reply 12\nmain;idle 3\n";

wick.inBrowser(() => {
	url = wick.writePage(wick.writeRecording("first.perf", 600, 3));
	const other = wick.writeRecording("other.perf", 400, 2, ["encode", "decode"]);
	for (const end of ["pb.gz", "speedscope.json", "firefox.json.gz", "folded", "perf"]) {
		files[end] = join(folder, `dropped.${end}`);
		execFileSync(process.env.WICK, ["convert", "--no-index", "-o", files[end], other]);
	}
	for (const [name, bytes] of [["stacks.folded.gz", gzipSync(FOLDED)], ["stacks.folded.zst", execFileSync("zstd", ["-qc"], { input: FOLDED })], ["notes.txt", "nothing\nof a\nrecording\n"],
		["cut.pb", gzipSync(FOLDED).subarray(0, 20)], ["x.perf.zst", Buffer.from("28b52ffd2400", "hex")]])
		writeFileSync(files[name] = join(folder, name), bytes);
});

/* Drags files over the page to where ELEMENT comes to be, and drops it there. */
async function drag(page, paths, area, { shift = false, drop = true } = {}) {
	const session = await page.createCDPSession();
	const send = (type, [x, y]) => session.send("Input.dispatchDragEvent",
		{ type, x, y, modifiers: shift ? 8 : 0, data: { items: [], files: [paths].flat(), dragOperationsMask: 1 } });
	await send("dragEnter", [200, 300]);
	await send("dragOver", [200, 300]);
	await wick.until(page, () => !document.querySelector("#drop").hidden);
	const at = await page.$eval(`#drop [data-which=${area}]`, (element) => {
		const box = element.getBoundingClientRect();
		return [box.left + box.width / 2, box.top + box.height / 2];
	});
	await send("dragOver", at);
	await wick.until(page, () => document.querySelectorAll("#drop .over").length === 1);
	if (drop)
		await send("drop", at);
	else /* of a drag that ends elsewhere the browser under test says nothing */
		await page.evaluate(() => document.querySelector("#drop").dispatchEvent(new DragEvent("dragleave", { bubbles: true })));
	await session.detach();
}

const titleIs = (page, title) => wick.until(page, (text) => document.querySelector("#title").textContent === text, title);
const problem = (page) => page.$eval("#problem", (element) => (element.hidden ? "" : element.textContent));
const summary = (page) => page.$eval("#summary", (element) => element.textContent);

for (const end of ["perf", "pb.gz", "speedscope.json", "firefox.json.gz", "folded"])
	test(`a dropped file is shown: ${end}`, async () => {
		const page = await wick.openPage(url, "view=table&search=stall&time=1-2");
		await drag(page, files[end], "A");
		await titleIs(page, `dropped.${end}`);
		await wick.until(page, () => document.querySelector("#view").textContent.includes("encode"));
		await wick.rest(page);
		assert.match(await summary(page), /400 (samples|stacks)|^\d+ stacks · 400 samples/);
		assert.equal(await problem(page), "");
		/* What was seen of the other recording is gone; how it was looked at is not. */
		assert.equal(await wick.hashOf(page), "#view=table&file=1");
		await wick.isQuiet(page);
	});

test("a file in the other area, or with Shift, is what the recording is compared with", async () => {
	for (const [area, shift] of [["B", false], ["A", true]]) {
		const page = await wick.openPage(url);
		await drag(page, files.folded, area, { shift });
		await wick.until(page, () => document.querySelector("#summary").textContent.includes("baseline dropped.folded"));
		await titleIs(page, "first.perf");
		await wick.rest(page);
		assert.match(await wick.hashOf(page), /view=diff/);
		assert.equal(await problem(page), "");
		await wick.isQuiet(page);
	}
});

test("undo gives back what was open before, and redo what was dropped", async () => {
	const page = await wick.openPage(url, "view=table&search=work");
	const before = await summary(page);
	const isFirst = async () => {
		await titleIs(page, "first.perf");
		await wick.rest(page);
		assert.equal(await wick.hashOf(page), "#view=table&search=work");
		assert.equal(await summary(page), before);
		assert.match(await page.$eval("#view", (view) => view.textContent), /work_10/);
	};
	await drag(page, files.folded, "A");
	await titleIs(page, "dropped.folded");
	await drag(page, files["stacks.folded.gz"], "B");
	await wick.until(page, () => document.querySelector("#summary").textContent.includes("baseline stacks.folded.gz"));
	await page.keyboard.press("u");
	await wick.until(page, () => !document.querySelector("#summary").textContent.includes("baseline"));
	await titleIs(page, "dropped.folded");
	await page.keyboard.press("u");
	await isFirst();
	await page.keyboard.press("U");
	await titleIs(page, "dropped.folded");
	await wick.until(page, () => document.querySelector("#view").textContent.includes("encode"));
	await page.goBack();
	await isFirst();
	/* In a hurry it ends where the state does. */
	for (const key of ["U", "u", "U", "u", "U", "U"])
		await page.keyboard.press(key);
	await wick.until(page, () => document.querySelector("#summary").textContent.includes("baseline stacks.folded.gz"));
	await titleIs(page, "dropped.folded");
	await wick.rest(page);
	assert.equal(await problem(page), "");
	await wick.isQuiet(page);
});

test("several files are seen side by side, until undo", async () => {
	const page = await wick.openPage(url, "search=work");
	const sides = () => page.$$eval("#view .graph h2", (heads) => heads.map((head) => head.textContent.split(":")[0]));
	await drag(page, [files.folded, files["stacks.folded.gz"], files["pb.gz"]], "B");
	await wick.until(page, () => document.querySelectorAll("#view .graph").length === 4);
	await wick.rest(page);
	assert.deepEqual(await sides(), ["first.perf", "dropped.folded", "stacks.folded.gz", "dropped.pb.gz"]);
	await titleIs(page, "first.perf");
	await drag(page, [files["stacks.folded.gz"], files.folded, files.perf, files["notes.txt"]], "A");
	await wick.until(page, () => document.querySelector("#problem").textContent.includes("'notes.txt' has no sample"));
	await titleIs(page, "first.perf");
	await wick.rest(page);
	assert.equal((await sides()).length, 4); /* all that was there still is */
	await drag(page, [files["stacks.folded.gz"], files.folded, files.perf], "A");
	await titleIs(page, "stacks.folded.gz");
	await wick.until(page, () => document.querySelectorAll("#view .graph").length === 3);
	await wick.rest(page);
	assert.deepEqual(await sides(), ["stacks.folded.gz", "dropped.folded", "dropped.perf"]);
	await page.keyboard.press("u");
	await page.keyboard.press("u");
	await titleIs(page, "first.perf");
	await wick.rest(page);
	assert.equal(await wick.hashOf(page), "#search=work");
	assert.equal(await problem(page), "");
	await wick.isQuiet(page);
});

test("several files of the command are seen side by side, and a baseline is the second", async () => {
	for (const [args, sides] of [[[files.perf, files.folded], ["dropped.folded", "dropped.perf"]],
		[[files.perf, files.folded, files["stacks.folded.gz"]], ["dropped.perf", "dropped.folded", "stacks.folded.gz"]],
		[[files.perf, files.folded, `--baseline=${files["stacks.folded.gz"]}`], ["dropped.perf", "stacks.folded.gz", "dropped.folded"]]]) {
		const page = await wick.openPage(wick.writePage(...args));
		await wick.until(page, (n) => document.querySelectorAll("#view .graph").length === n, sides.length);
		await wick.rest(page);
		assert.deepEqual(await page.$$eval("#view .graph h2", (heads) => heads.map((head) => head.textContent.split(":")[0])), sides);
		await wick.isQuiet(page);
	}
});

test("a link knows no dropped files", async () => {
	const page = await wick.openPage(url, "view=table&file=3");
	await wick.until(page, () => window.location.hash === "#view=table");
	await titleIs(page, "first.perf");
	await wick.isQuiet(page);
});

test("what cannot be read is said as the command says it, and the recording stays", async () => {
	const page = await wick.openPage(url, "view=table");
	const before = await summary(page);
	for (const [name, says] of [["x.perf.zst", /'x\.perf\.zst' cannot be read \(it is damaged, or ends too early\)/], ["cut.pb", /'cut\.pb' cannot be read/],
		["notes.txt", /'notes\.txt' has no sample/]]) {
		await drag(page, files[name], "A");
		await wick.until(page, (text) => document.querySelector("#problem").textContent.includes(text), name);
		assert.match(await problem(page), says);
		await wick.rest(page);
		assert.equal(await summary(page), before);
		await titleIs(page, "first.perf");
	}
	/* And another one can be read after it. */
	for (const name of ["stacks.folded.gz", "stacks.folded.zst"]) {
		await drag(page, files[name], "A");
		await titleIs(page, name);
		await wick.rest(page);
		assert.equal(await problem(page), "");
		assert.equal(await summary(page), "3 stacks · 45 samples");
	}
	await wick.isQuiet(page);
});

test("a drag that leaves the page, or that has no file, changes nothing", async () => {
	const page = await wick.openPage(url);
	await drag(page, files.folded, "A", { drop: false });
	await wick.until(page, () => document.querySelector("#drop").hidden);
	await page.evaluate(() => window.dispatchEvent(new DragEvent("dragenter", { dataTransfer: new DataTransfer(), bubbles: true })));
	assert.equal(await page.$eval("#drop", (element) => element.hidden), true);
	await titleIs(page, "first.perf");
	await wick.isQuiet(page);
});

test("a file is chosen by key and by button", async () => {
	const page = await wick.openPage(url);
	const choose = async (path, act) => {
		const opened = page.waitForFileChooser();
		await page.evaluate(() => 0); /* the page has been told to wait for it */
		await act();
		await (await opened).accept([path]);
	};
	await choose(files.folded, () => page.keyboard.press("o"));
	await titleIs(page, "dropped.folded");
	await wick.rest(page);
	await wick.openBox(page, "#show-info");
	await choose(files.perf, () => page.click("#open-base"));
	await wick.until(page, () => document.querySelector("#summary").textContent.includes("baseline dropped.perf"));
	await wick.rest(page);
	await wick.isQuiet(page);
});
