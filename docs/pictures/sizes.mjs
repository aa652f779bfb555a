/*
 * sizes.mjs WORK TO - for each page WORK/NAME.html the sheets TO/NAME-light.png and TO/NAME-dark.png: the
 * page at five sizes of the window, see ./make
 */
import { readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { withPalette } from "./png.mjs";

const [work, to] = process.argv.slice(2);
const puppeteer = createRequire(join(process.env.WICK_NPM, "package.json"))("puppeteer-core");
const SIZES = [[800, 600], [1280, 800], [1440, 900], [3840, 2160], [390, 844]];
const HIGH = 236; /* pixels of a window on the sheet */

async function shot(browser, url, [width, height], theme) {
	const page = await browser.newPage();
	page.on("pageerror", (error) => {
		throw error;
	});
	await page.setViewport({ width, height });
	await page.goto(`${url}#theme=${theme}`);
	await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", { timeout: 60000 });
	const png = await page.screenshot({ type: "png", encoding: "base64" });
	await page.close();
	return png;
}

async function sheet(browser, url, theme) {
	const shots = [];
	for (const size of SIZES)
		shots.push(`<figure><img src="data:image/png;base64,${await shot(browser, url, size, theme)}" height="${HIGH}">` +
			`<figcaption>${size.join(" × ")}</figcaption></figure>`);
	const page = await browser.newPage();
	await page.setContent("<!doctype html><style>body{margin:8px;font:13px sans-serif;width:max-content;display:flex;gap:8px;background:#ddd}" +
		`figure{margin:0}img{display:block}</style>${shots.join("")}`);
	const png = withPalette(Buffer.from(await (await page.$("body")).screenshot({ type: "png" })));
	await page.close();
	return png;
}

const browser = await puppeteer.launch({
	executablePath: process.env.CHROMIUM,
	headless: true,
	userDataDir: join(work, "profile"),
	args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"],
});
try {
	for (const name of readdirSync(work).filter((file) => file.endsWith(".html"))) {
		for (const theme of ["light", "dark"]) {
			const png = await sheet(browser, pathToFileURL(join(work, name)).href, theme);
			writeFileSync(join(to, name.replace(/\.html$/, `-${theme}.png`)), png);
			console.log(`${name}, ${theme}: ${Math.ceil(png.length / 1024)} KiB`);
		}
	}
} finally {
	await browser.close();
}
