/* files.test.mjs - what the page is made of is all there, and asks for nothing from outside */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const web = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "flamescope", "web");
const read = (name) => readFileSync(join(web, name), "utf8");
const listed = /set\(WEB_FILES([^)]*)\)/.exec(read("CMakeLists.txt"))[1].trim().split(/\s+/);
/* What the build makes: the models in C. */
const made = [...read("CMakeLists.txt").matchAll(/list\(APPEND WEB_FILES ([^)]*)\)/g)].map(([, name]) => name);
const modules = readdirSync(web).filter((name) => /\.(js|css|html)$/.test(name));

test("every file of the page is embedded", () => {
	assert.deepEqual([...listed].sort(), modules.sort());
});

test("every module that is asked for is there", () => {
	for (const name of listed.filter((file) => file.endsWith(".js")))
		for (const [, asked] of read(name).matchAll(/(?:\} from|^\tfrom|import\()\s*"([^",]+)"/gm))
			assert.ok(asked.startsWith("wick/") && [...listed, ...made].includes(asked.slice(5)), `${name} asks for ${asked}`);
});

test("names never become markup, and nothing comes from elsewhere", () => {
	for (const name of listed) {
		const text = read(name);
		assert.doesNotMatch(text, /\binnerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(/, name);
		assert.doesNotMatch(text.replaceAll("http://www.w3.org/", ""), /https?:\/\//, name);
	}
	assert.doesNotMatch(read("page.html"), /<script|<style|style=|onclick/);
});
