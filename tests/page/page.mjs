/*
 * page.mjs - chromium with a page that wick has written, for the tests beside it
 *
 * WICK: the program; WICK_NPM: where node_modules with puppeteer-core is; CHROMIUM: the browser.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { countFrames } from "./drawn.mjs";

const require = createRequire(join(process.env.WICK_NPM, "package.json"));
const puppeteer = require("puppeteer-core");
export const axePath = require.resolve("axe-core/axe.min.js");

export const folder = mkdtempSync(join(tmpdir(), "wick-page-"));

export let browser;

/* The tests of a file have a browser; BEGIN makes what they look at, and END ends it. */
export function inBrowser(begin, end = () => {}) {
	before(async () => {
		await begin();
		browser = await puppeteer.launch({
			executablePath: process.env.CHROMIUM,
			headless: true,
			userDataDir: join(folder, "profile"),
			args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
		});
	});
	after(async () => {
		await browser?.close();
		end();
		rmSync(folder, { recursive: true, force: true });
	});
}

/* A recording of N samples in SECONDS; what "stall" does is only seen in the last fifth. */
export function writeRecording(name, n, seconds, names = ["parse", "sort", "hash", "copy"]) {
	const parts = [];
	for (let i = 0; i < n; i++) {
		const ns = Math.floor(i / n * seconds * 1e9);
		const leaf = i > n * 0.8 && i % 3 === 0 ? "stall" : names[(i * 7 + (i >> 4)) % names.length];
		const time = `${100 + Math.floor(ns / 1e9)}.${String(Math.floor(ns / 1e3) % 1e6).padStart(6, "0")}`;
		parts.push(`app 7/${7 + i % 3} [00${i % 2}] ${time}: 1 cpu-clock: \n\t10 ${leaf}+0x1 (/bin/app)\n` +
			`\t20 work_${i % 11}+0x1 (/bin/app)\n\t30 main+0x1 (/bin/app)\n\n`);
	}
	return writeText(name, parts.join(""));
}

export function writeText(name, text) {
	const path = join(folder, name);
	writeFileSync(path, text);
	return path;
}

/* The page that VERB makes of ARGUMENTS, of which the first is a recording. */
function makePage(verb, ...args) {
	const path = join(folder, `${basename(args[0])}.${verb}.html`); /* not beside it: it may be a golden one */
	execFileSync(process.env.WICK, [verb, "--no-index", "--force", "-o", path, ...args],
		{ stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, DISPLAY: "" } });
	return pathToFileURL(path).href;
}

export const writePage = (...recordings) => makePage("view", ...recordings);
export const writeDiff = (...args) => makePage("diff", ...args);

/* An open page; whatever it complains of, or asks of a network, is in page.problems. */
export async function openPage(url, hash = "", [width, height] = [1280, 900]) {
	const page = await browser.newPage();
	page.problems = [];
	page.on("pageerror", (error) => page.problems.push(`error: ${error.message}`));
	page.on("console", (message) => {
		if (message.type() === "error" || message.type() === "warn")
			page.problems.push(`console: ${message.text()}`);
	});
	page.on("dialog", (dialog) => {
		page.problems.push(`dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	page.on("request", (request) => {
		if (!/^(file|data|blob):/.test(request.url()))
			page.problems.push(`asks ${request.url()}`);
	});
	await page.evaluateOnNewDocument(countFrames);
	await page.setViewport({ width, height });
	await page.goto(hash ? `${url}#${hash}` : url);
	await page.waitForFunction(() => document.documentElement.dataset.ready === "yes" ||
		document.querySelector("#problem")?.textContent, { timeout: 60000 });
	return page;
}

/* It has complained of nothing, and is closed. */
export async function isQuiet(page) {
	assert.deepEqual(page.problems, []);
	await page.close();
}

/* The box that BUTTON opens is open. */
export async function openBox(page, button) {
	if (await page.$eval(button, (element) => element.getAttribute("aria-expanded") !== "true"))
		await page.click(button);
	await page.waitForFunction((id) => document.querySelector(id).getAttribute("aria-expanded") === "true", {}, button);
}

/* Until what FUNCTION says in the page holds. */
export function until(page, body, ...values) {
	return page.waitForFunction(body, { timeout: 10000, polling: 50 }, ...values);
}

/* Until what was done is seen: nothing is asked of the worker any more, and all drawings are made. */
export async function rest(page) {
	const drawn = async () => {
		await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
		await page.waitForFunction(() => window.isDrawn(), { polling: "raf" });
	};
	await drawn();
	await page.waitForFunction(() => document.querySelector("main").getAttribute("aria-busy") === "false");
	await drawn();
}

/* The address, which follows what is done a tenth of a second later. */
export const hashOf = (page) => page.evaluate(() => new Promise((resolve) =>
	setTimeout(() => resolve(decodeURIComponent(window.location.hash)), 200)));
