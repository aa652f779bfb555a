/* recordings.test.mjs - which of a server's recordings, which are the newest first, a choice is */

import assert from "node:assert/strict";
import test from "node:test";
import { baseOf, choiceSearch, hostsOf, ofHost, packOf, parseChoice, pauseAfter }
	from "../../flamescope/web/state/recording_list.js";

const at = (second) => String(1795000000000000000n + BigInt(second) * 1000000000n);
const list = {
	version: "a1",
	recordings: [
		{ file: "b.perf", bytes: 20, mtime_ns: at(5), host: "two", from_ns: at(10), to_ns: at(20) },
		{ file: "<b>.perf", bytes: 30, mtime_ns: at(15), host: "", from_ns: "", to_ns: "" },
		{ file: "a.perf", bytes: 10, mtime_ns: at(900), host: "one", from_ns: at(0), to_ns: at(10) },
	],
};
const NOTHING = { file: "", last: 0, host: "", base: "", stays: false };

test("a host has its own, in their order", () => {
	assert.deepEqual(ofHost(list.recordings, "").map((row) => row.file), ["b.perf", "<b>.perf", "a.perf"]);
	assert.deepEqual(ofHost(list.recordings, "one").map((row) => row.file), ["a.perf"]);
	assert.deepEqual(hostsOf(list.recordings), ["one", "two"]);
});

test("a choice survives the URL, with the token beside it", () => {
	for (const choice of [NOTHING, { ...NOTHING, file: "x/<b>&=# .perf", host: "h&h" },
		{ ...NOTHING, last: 1800, base: "a&b.perf", stays: true }])
		assert.deepEqual(parseChoice(choiceSearch(choice, "T")), choice);
	assert.equal(choiceSearch(NOTHING, "T"), "?token=T");
	assert.equal(choiceSearch(NOTHING, ""), "");
	for (const last of ["-1", "1.5", "x", "1e99", ""])
		assert.equal(parseChoice(`?last=${last}`).last, 0);
});

test("what is asked for is one file, or all of a time", () => {
	assert.deepEqual(packOf(NOTHING, list).words, { file: "b.perf" });
	assert.deepEqual(packOf({ ...NOTHING, file: "a.perf" }, list).words, { file: "a.perf" });
	assert.deepEqual(packOf({ ...NOTHING, last: 1800, host: "one" }, list),
		{ words: { last: "1800", host: "one" }, name: "Last 30 minutes, one", stamp: "a1" });
	assert.equal(packOf({ ...NOTHING, file: "gone.perf" }, list), null);
	assert.equal(packOf({ ...NOTHING, host: "three" }, list), null);
	assert.equal(packOf(NOTHING, { version: "", recordings: [] }), null);
});

test("a recording that has grown has another stamp, one that has not the same", () => {
	const grown = structuredClone(list);
	const before = packOf(NOTHING, list).stamp;
	grown.version = "b2";
	grown.recordings[2].bytes++;
	assert.equal(packOf(NOTHING, grown).stamp, before);
	grown.recordings[0].bytes++;
	assert.notEqual(packOf(NOTHING, grown).stamp, before);
});

test("what it is compared with is a file of any host, or nothing", () => {
	assert.deepEqual(baseOf({ ...NOTHING, host: "two", base: "a.perf" }, list).words, { file: "a.perf" });
	assert.equal(baseOf(NOTHING, list), null);
	assert.equal(baseOf({ ...NOTHING, base: "gone.perf" }, list), null);
});

test("what grows is left alone the longer the more work it is", () => {
	assert.equal(pauseAfter(0), 1000);
	assert.equal(pauseAfter(500), 4500);
	assert.equal(pauseAfter(1e9), 60000);
});
