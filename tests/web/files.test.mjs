/* files.test.mjs - what the page is made of is all there, and asks for nothing from outside */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const web = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "flamescope", "web");
const read = (name) => readFileSync(join(web, name), "utf8");
const files = readdirSync(web, { recursive: true }).filter((name) => /\.(js|css|html)$/.test(name));

/* The MODULES that neither script needs; textOf(module) -> its text. */
function unneeded(modules, textOf) {
	const needed = new Set(["main.js", "worker.js"]);
	for (const name of needed) /* also those that are added meanwhile */
		for (const [, from] of textOf(name).matchAll(/^import [^;]* from "wick[/]([\w./]+)";$/gm))
			if (modules.includes(from))
				needed.add(from);
	return modules.filter((name) => !needed.has(name));
}

test("each module is part of a script", () => {
	assert.deepEqual(unneeded(files.filter((name) => name.endsWith(".js")), read), []);
	const texts = { "main.js": 'import { a } from "wick/a.js";\n', "worker.js": "", "a.js": "", "b.js": "" };
	assert.deepEqual(unneeded(Object.keys(texts), (name) => texts[name]), ["b.js"]);
});

test("names never become markup, and nothing comes from elsewhere", () => {
	for (const name of files.filter((file) => !file.startsWith("vendor/"))) {
		const text = read(name);
		assert.doesNotMatch(text, /\binnerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(/, name);
		assert.doesNotMatch(text.replaceAll("http://www.w3.org/", ""), /https?:\/\//, name);
	}
	assert.doesNotMatch(read("page.html"), /<script|<style|style=|onclick/);
});
