/* attack.test.mjs - names that want to be commands or formulas stay names, wherever they are taken */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { commandFor } from "../../flamescope/web/state/command.js";
import { shellWord } from "../../flamescope/web/state/query.js";
import { DEFAULTS } from "../../flamescope/web/state/store.js";

const NAMES = ["a b", "it's", "'; touch owned; '", "$(touch owned)", "`touch owned`", "a\nb; touch owned",
	"\x03\ntouch owned\n", "\x1b[201~touch owned\n", "\u009b31m", "back\\slash'\x07", "!!", "*", "~root",
	"é\u0085", "-rf", "#x", "a;touch owned", "&touch owned&", "%s", ""];

/* What bash makes of the words of COMMAND, which may do nothing but be words. */
function wordsOf(command) {
	const folder = mkdtempSync(join(tmpdir(), "wick-attack-"));
	try {
		const said = execFileSync("bash", ["-c", `wick() { printf '%s\\0' "$@"; }\n${command}\n`],
			{ cwd: folder, encoding: "utf8" });
		assert.deepEqual(readdirSync(folder), [], command);
		return said.split("\0").slice(0, -1);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

test("every name is one word of a shell, and the same name", () => {
	assert.deepEqual(wordsOf(`wick ${NAMES.map(shellWord).join(" ")}`), NAMES);
});

test("no control reaches the terminal that a command is pasted to", () => {
	const state = { ...DEFAULTS, view: "sandwich", around: NAMES.join("") };
	// eslint-disable-next-line no-control-regex
	assert.doesNotMatch(NAMES.map(shellWord).join(" ") + commandFor(state, NAMES), /[\u0000-\u001f\u007f-\u009f]/);
});

test("a file is never taken for a flag", () => {
	assert.deepEqual(wordsOf(commandFor({ ...DEFAULTS, view: "flame" }, ["-o/etc/x", "a"])).slice(0, 3),
		["flamegraph", "./-o/etc/x", "a"]);
	assert.deepEqual(wordsOf(commandFor({ ...DEFAULTS, view: "diff" }, ["-a"], ["--help"])).slice(0, 3),
		["diff", "./--help", "./-a"]);
});

test("what no flag says is said, and run by no shell", () => {
	for (const of of NAMES.filter((name) => name)) {
		const command = commandFor({ ...DEFAULTS, view: "flame", transforms: [{ kind: "hide", of }] }, ["f"]);
		assert.deepEqual(wordsOf(command), ["flamegraph", "f"]);
		/* zsh, where `#` begins no comment at the prompt */
		assert.equal(wordsOf(command.replace(" # ", " '#' "))[3], `without: Hide module ${of}`);
	}
});
