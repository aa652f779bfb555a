// speedscope_page.mjs NODE_MODULES FILE... - what speedscope makes of files, as its export has it
//
// Opens speedscope's own page in chromium, hands it each file as a user would, and lets it export
// what it has understood.  Prints one JSON object a file: {"file", "profiles": [{"name", "unit",
// "total", "frames": {"NAME": {"self", "total"}}}]} or {"file", "error"}.
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const [modules, ...files] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, "x.js"));
const puppeteer = require("puppeteer-core");
const page_path = path.resolve(modules, "speedscope/dist/release/index.html");
const browser_path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
  .find((name) => existsSync(name));

// Sums by the names of frames, as any reader of the file would have them.
function sums(group, profile) {
  const frames = {};
  const of = (index) => (frames[group.shared.frames[index].name] ??= { self: 0, total: 0 });
  let total = 0;

  function add(stack, weight) {
    const names = new Set(stack.map((index) => group.shared.frames[index].name));
    for (const name of names)
      (frames[name] ??= { self: 0, total: 0 }).total += weight;
    if (stack.length) {
      of(stack[stack.length - 1]).self += weight;
      total += weight;
    }
  }

  if (profile.type === "sampled") {
    profile.samples.forEach((stack, i) => add(stack, profile.weights[i]));
  } else {
    const stack = [];
    let at = profile.startValue;

    for (const event of profile.events) {
      if (event.at > at)
        add(stack, event.at - at);
      at = event.at;
      if (event.type === "O")
        stack.push(event.frame);
      else
        stack.pop();
    }
  }
  return { name: profile.name, unit: profile.unit, total, frames };
}

async function export_of(browser, file) {
  const page = await browser.newPage();
  const errors = [];

  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("dialog", (dialog) => { errors.push(dialog.message()); dialog.dismiss(); });
  page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
  // What is downloaded is kept for us.
  await page.evaluateOnNewDocument(() => {
    const original = URL.createObjectURL;
    window.exported = [];
    URL.createObjectURL = (blob) => { window.exported.push(blob); return original.call(URL, blob); };
    HTMLAnchorElement.prototype.click = () => {};
  });
  await page.goto(pathToFileURL(page_path).href, { waitUntil: "load" });
  const input = await page.waitForSelector("input[type=file]", { timeout: 20000 });
  await input.uploadFile(file);
  // The name of the first profile appears when the import is done.
  const deadline = Date.now() + 15000;
  let text = null;
  while (!text && Date.now() < deadline && !errors.length) {
    await page.keyboard.down("Control");
    await page.keyboard.press("s");
    await page.keyboard.up("Control");
    await new Promise((resolve) => setTimeout(resolve, 100));
    text = await page.evaluate(async () => {
      for (const blob of window.exported) {
        const text = await blob.text();
        if (text.startsWith("{") && text.includes('"profiles"'))
          return text;
      }
      return null;
    });
  }
  await page.close();
  if (!text)
    return { file, error: errors.join("; ") || "it shows nothing" };
  const group = JSON.parse(text);
  return { file, profiles: group.profiles.map((profile) => sums(group, profile)) };
}

const browser = await puppeteer.launch({
  executablePath: browser_path,
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"],
});
try {
  for (const file of files)
    console.log(JSON.stringify(await export_of(browser, file)));
} finally {
  await browser.close();
}
