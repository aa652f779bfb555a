/* serve.test.mjs - the page of a server: its list, hosts, times of day, a baseline, what grows */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as wick from "./page.mjs";

const folder = join(wick.folder, "recordings");
let server;
let address;

const sample = (second, name) =>
	`app 7/7 [000] ${second}.5: 1 cpu-clock: \n\t10 ${name}+0x1 (/bin/app)\n\t30 main+0x1 (/bin/app)\n\n`;

/* A recording that began AGO seconds ago on HOST, a sample a second. */
function put(name, host, ago, seconds, leaf, frame = sample) {
	const begin = BigInt(Math.floor(Date.now() / 1000) - ago - 100) * 1000000000n;
	const head = `# ========\n# hostname : ${host}\n# wick : {"format":1,"version":"0.1.0","clock":"CLOCK_MONOTONIC",` +
		`"epoch_offset_ns":${begin},"event":"cpu-clock","hz":99,"metrics":[]}\n# ========\n#\n`;
	const text = Array.from({ length: seconds }, (_, i) => frame(100 + i, leaf)).join("");
	writeFileSync(join(folder, name), head + text);
}

/* A program, and a recording that has nothing but the first instruction of its burn(). */
function putProgram() {
	const [source, program] = ["burn.c", "burn"].map((name) => join(wick.folder, name));
	writeFileSync(source, "int burn(int x) { return x * 3; } /* <b>hot</b> */\nint main(void) { return burn(1); }\n");
	execFileSync("cc", ["-g", "-O0", "-o", program, source]);
	const [, addr] = /([0-9a-f]+) T burn\n/.exec(execFileSync("nm", [program], { encoding: "utf8" }));
	put("code.perf", "one", 8000, 10, "burn", (second, name) =>
		`app 7/7 [000] ${second}.5: 1 cpu-clock: \n\t${addr} ${name}+0x0 (${program})\n\n`);
}

wick.inBrowser(async () => {
	mkdirSync(folder);
	putProgram();
	put("old.perf", "one", 7000, 60, "old_work");
	put("new.perf", "two", 100, 30, "new_work");
	server = spawn(process.env.WICK, ["serve", "--no-open", "--source", wick.folder, folder],
		{ env: { ...process.env, XDG_CACHE_HOME: join(wick.folder, "cache") }, stdio: ["ignore", "pipe", "ignore"] });
	address = await new Promise((resolve, reject) => {
		let said = "";
		server.on("exit", () => reject(new Error(`the server ended: ${said}`)));
		server.stdout.on("data", (bytes) => {
			said += bytes;
			const found = /http:\/\/\S+/.exec(said);
			if (found)
				resolve(found[0]);
		});
	});
}, () => {
	server?.removeAllListeners("exit");
	server?.kill();
});

async function openServed(words = "", hash = "view=table") {
	const page = await wick.openPage(address + words, hash);
	page.problems = page.problems.filter((problem) => !problem.startsWith(`asks ${new URL(address).origin}`));
	return page;
}

const shows = (page, what) => wick.until(page,
	(text) => document.querySelector("#view").textContent.includes(text), what);

test("the newest recording is shown, another is chosen, and hosts are told apart", async () => {
	const page = await openServed();
	await shows(page, "new_work");
	await page.select("#recording", "file old.perf");
	await shows(page, "old_work");
	assert.match(page.url(), /file=old\.perf/);
	await page.select("#recording-host", "two");
	await shows(page, "new_work");
	await page.close();
});

test("the last half hour is less than the last three", async () => {
	const page = await openServed("&last=1800");
	await shows(page, "new_work");
	assert.doesNotMatch(await page.$eval("#view", (view) => view.textContent), /old_work/);
	await page.select("#recording", "last 10800");
	await shows(page, "old_work");
	await page.close();
});

test("another recording is the baseline, and stays it in the URL", async () => {
	const page = await openServed("", "view=diff");
	await page.select("#recording-base", "old.perf");
	await shows(page, "old_work");
	assert.match(page.url(), /base=old\.perf/);
	await page.reload();
	await shows(page, "old_work");
	await page.select("#recording-base", "");
	await shows(page, "There is no baseline yet");
	await page.close();
});

test("what grows is followed until it is told to stay", async () => {
	const page = await openServed();
	await shows(page, "new_work");
	appendFileSync(join(folder, "new.perf"), sample(131, "grown_work"));
	await shows(page, "grown_work");
	await page.click("#recording-follow");
	assert.match(page.url(), /follow=0/);
	appendFileSync(join(folder, "new.perf"), sample(132, "later_work"));
	await new Promise((resolve) => setTimeout(resolve, 2500));
	assert.doesNotMatch(await page.$eval("#view", (view) => view.textContent), /later_work/);
	await page.click("#recording-follow");
	await shows(page, "later_work");
	await page.close();
});

test("what is seen up to the end scrolls with a recording that grows", async () => {
	put("live.perf", "three", 50, 20, "live_work");
	const page = await openServed("&file=live.perf", "view=table&brush=15-19");
	await shows(page, "live_work");
	appendFileSync(join(folder, "live.perf"), sample(125, "last_work"));
	await shows(page, "last_work");
	await wick.until(page, () => /brush=21-25/.test(window.location.hash));
	await page.evaluate(() => (window.location.hash = "view=table&brush=3-8"));
	appendFileSync(join(folder, "live.perf"), sample(127, "more_work"));
	await shows(page, "more_work");
	assert.match(await wick.hashOf(page), /brush=3-8/);
	await page.close();
});

test("the details of a function show its hottest line, and say what is missing", async () => {
	const page = await openServed("&file=code.perf", "details=open&frame=burn&view=table");
	const says = (words) => wick.until(page, (text) => document.querySelector("#details .source")?.textContent.includes(text), words);
	await says("return x * 3");
	assert.deepEqual(await page.$eval("#details .source .dearest", (row) => [...row.children].map((cell) => cell.textContent)),
		["1", "100.0 %", "int burn(int x) { return x * 3; } /* <b>hot</b> */"]);
	assert.equal(await page.$("#details .source b"), null);
	await page.select("#recording", "file new.perf");
	await shows(page, "new_work");
	await page.evaluate(() => (location.hash = "details=open&frame=new_work&view=table"));
	await says("/bin/app cannot be read on this machine");
	await page.select("#recording", "last 10800");
	await says("choose a single one");
	await page.close();
});

test("a file that is opened stays, whatever grows at the server", async () => {
	const page = await openServed();
	await shows(page, "work");
	const input = await page.$("#file");
	await input.uploadFile(wick.writeText("opened.folded", "main;opened_work 3\n"));
	await shows(page, "opened_work");
	await wick.until(page, () => document.querySelector("#title").textContent === "opened.folded");
	assert.equal(await page.$eval("#recording-follow", (element) => element.checked), false);
	put("grown.perf", "two", 50, 20, "grown_work");
	await wick.until(page, () => [...document.querySelectorAll("#recording option")].some(({ value }) => value === "file grown.perf"));
	await wick.rest(page);
	assert.equal(await page.$eval("#title", (element) => element.textContent), "opened.folded");
	await page.select("#recording", "file grown.perf");
	await shows(page, "grown_work");
	await page.close();
});
