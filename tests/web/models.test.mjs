/* models.test.mjs - selections, heatmaps and flame graphs against counting by hand */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { makeSelection, readPack } from "./columns.mjs";
import { EMPTY_QUERY, parseRange } from "../../flamescope/web/state/query.js";
import { frameName } from "../../flamescope/web/stacks/frames.js";
import { rangeBetween, rectangleRanges } from "../../flamescope/web/heat/heat_place.js";
import { dimensionValues } from "../../flamescope/web/models/select.js";
import { makeFlame, makeFunctions } from "../../flamescope/web/models/flame.js";
import { makeSelections } from "../../flamescope/web/models/answers.js";
import { parseHash } from "../../flamescope/web/state/store.js";
import { childrenOf, ownOf } from "../../flamescope/web/stacks/tree_layout.js";
import { inRanges } from "./profile_fixture.mjs";
import { brushBins, makeHeat } from "../../flamescope/web/models/heat.js";
import { golden, packOfFile, packOfSamples, packOfText } from "./packs.mjs";

const query = (patch = {}) => ({ ...EMPTY_QUERY, ...patch });
const made = readPack(packOfSamples(500, "--seconds", "20"));
const zoo = readPack(packOfFile(join(golden, "zoo.comment.perf")));

/* Stacks as words, innermost last: what a slow model can be written about. */
function stackOf(selection, node) {
	const names = [];
	for (let at = node; at !== 0; at = selection.nodes.parent[at])
		names.unshift(frameName(selection, selection.nodes.frame[at]));
	return names;
}

function folded(selection) {
	const sums = new Map();
	for (let i = 0; i < selection.n; i++) {
		const key = stackOf(selection, selection.stacks[i]).join(";");
		sums.set(key, (sums.get(key) ?? 0) + selection.values[i]);
	}
	return Object.fromEntries([...sums].sort());
}

const text = (samples) => samples.map(([seconds, stack, facts = "", thread = "a 1/1"]) =>
	`${facts ? `# s ${facts}\n` : ""}${thread}  [000] ${seconds}: 1 cpu-clock: \n${stack.split(";").reverse()
		.map((name) => `\t 10 ${name} (/bin/a)\n`).join("")}\n`).join("");

const small = readPack(packOfText(text([
	["10.000000", "main;f;g", "st=running rss_kib=10,5"],
	["10.500000", "main;f;f;g", "st=sleeping wait=futex rss_kib=8,-2"],
	["11.019999", "main;h;std;g", "st=running"],
	["12.000000", "main;h", "st=running rss_kib=8,0", "b 1/2"],
])));

const SYSTEM = join(golden, "..", "view", "samples", "system.perf");

test("of several events the first is counted, and idle CPUs are hidden", () => {
	const profile = readPack(packOfFile(SYSTEM));
	const counts = (patch, everyEvent) => {
		const { n, nIdle, nOthers, event } = makeSelection(profile, query(patch), everyEvent);
		return [n, nIdle, nOthers, event];
	};
	const pages = { dimension: "event", pattern: "^page", exclude: false };
	assert.deepEqual(counts({}), [17, 12, 9, 0]);
	assert.deepEqual(counts({ idle: true }), [29, 0, 9, 0]);
	assert.deepEqual(counts({ filters: [pages] }), [6, 3, 0, 1]);
	assert.deepEqual(counts({ filters: [{ ...pages, exclude: true }] }), [17, 12, 0, 0]);
	assert.deepEqual(counts({ filters: [{ ...pages, pattern: "nothing" }] }), [0, 0, 0, 2]);
	assert.deepEqual(counts({ groups: ["event"] }), [23, 15, 0, -1]);
	assert.deepEqual(counts({ idle: true }, true), [38, 0, 0, -1]);
});

test("everything is selected, and counted once", () => {
	const selection = makeSelection(small, query());
	assert.deepEqual(folded(selection), { "main;f;f;g": 1, "main;f;g": 1, "main;h": 1, "main;h;std;g": 1 });
	assert.equal(selection.measure, "samples");
});

test("patterns of functions take and leave whole stacks", () => {
	assert.deepEqual(folded(makeSelection(small, query({ only: ["^h$"] }))), { "main;h": 1, "main;h;std;g": 1 });
	assert.deepEqual(folded(makeSelection(small, query({ only: ["^h$", "std"] }))), { "main;h;std;g": 1 });
	assert.deepEqual(folded(makeSelection(small, query({ without: ["^g$"] }))), { "main;h": 1 });
	assert.throws(() => makeSelection(small, query({ only: ["("] })), /pattern '\('/);
});

test("focus, elide, truncate and flatten change stacks", () => {
	assert.deepEqual(folded(makeSelection(small, query({ focus: "^f$" }))), { "f;f;g": 1, "f;g": 1 });
	assert.deepEqual(folded(makeSelection(small, query({ elide: ["^std$"] }))),
		{ "main;f;f;g": 1, "main;f;g": 1, "main;h": 1, "main;h;g": 1 });
	assert.deepEqual(folded(makeSelection(small, query({ truncate: "^[fh]$" }))), { "main;f": 2, "main;h": 2 });
	assert.deepEqual(folded(makeSelection(small, query({ flatten: true }))),
		{ "main;f;g": 2, "main;h": 1, "main;h;std;g": 1 });
});

test("@wrappers are the rules that the command has", () => {
	const called = readPack(packOfText(text([["1.000000", "_start;main;void std::__invoke_impl<void, f>(std::x);f"]])));
	assert.deepEqual(folded(makeSelection(called, query({ elide: ["@wrappers"] }))), { "main;f": 1 });
	assert.throws(() => makeSelection(called, query({ elide: ["@mine"] })), /rules of 'mine' are not in this page/);
});

test("filters and groups tell samples apart", () => {
	const running = makeSelection(small, query({ filters: [{ dimension: "state", pattern: "run", exclude: false }] }));
	assert.equal(running.n, 3);
	const nothing = makeSelection(small, query({ filters: [{ dimension: "wait", pattern: "", exclude: false }] }));
	assert.equal(nothing.n, 3);
	assert.deepEqual(folded(makeSelection(small, query({ groups: ["wait", "comm"] }))), {
		"[no wait];a;main;f;g": 1, "[no wait];a;main;h;std;g": 1, "[no wait];b;main;h": 1, "futex;a;main;f;f;g": 1,
	});
	assert.throws(() => makeSelection(small, query({ groups: ["colour"] })), /no 'colour'/);
});

test("a signed metric is summed apart by sign, and absent is not zero", () => {
	const selection = makeSelection(small, query({ metric: "rss_kib:delta" }));
	assert.deepEqual([selection.n, selection.nAbsent, selection.isSigned], [3, 1, true]);
	const flame = makeFlame(selection);
	assert.deepEqual([flame.gain[0], flame.loss[0], flame.samples[0]], [5, 2, 3]);
	assert.equal(makeSelection(small, query({ metric: "rss_kib:gain" })).values.reduce((a, b) => a + b), 5);
	assert.equal(makeSelection(small, query({ metric: "rss_kib:loss" })).values.reduce((a, b) => a + b), 2);
	assert.throws(() => makeSelection(small, query({ metric: "nothing" })), /no metric 'nothing'/);
});

test("what cannot be asked for selects nothing, and says why", () => {
	const profile = readPack(packOfText(text([["10.500000", "main;f"]]) + "a 1/1  [000] 11.000000: 1 cpu-clock: \n\n"));
	const heat = makeHeat(makeSelection(profile, query()));
	const before = rangeBetween(heat, { column: 0, row: 1 }, { column: 0, row: 3 }); /* of a column that begins earlier */
	const of = (hash, ranges) => makeSelections({ A: profile, B: null }).selection({ ...parseHash(hash), ...ranges });
	assert.equal(of("").n, 2);
	for (const [hash, ranges] of [["only=("], ["only=(&time=0-1&t=collapse"], ["metric=none"], ["group=none"], ["elide=@none"],
		["time=99999999999999999999-"], ["", { ranges: [before] }]]) {
		const selection = of(hash, ranges);
		assert.deepEqual([selection.n, makeFlame(selection).samples[0]], [0, 0], hash);
	}
	assert.match(of("only=(").problem, /pattern '\('/);
});

test("a word with a NUL is that word, and no more words", () => {
	assert.equal(makeSelection(small, parseHash("only=main%00b").query).n, 0);
	assert.equal(makeSelection(small, parseHash("only=main%00flatten%00%00without%00main").query).n, 0);
	assert.equal(makeSelection(small, parseHash("without=main%00without%00main").query).n, 4);
});

test("ranges are half open, add up, and a sample counts once", () => {
	const all = makeSelection(small, query());
	const within = (...words) => inRanges(all, words.map((word) => parseRange(word))).n;
	assert.equal(within("0-0.5"), 1);
	assert.equal(within("0-500000001ns"), 2);
	assert.equal(within("0-0.6", "0.4-1.5"), 3);
	assert.equal(within("0-3@0-20ms"), 3);
	assert.equal(within("0-3@500-600ms"), 1);
	assert.equal(within("5-"), 0);
});

/* Every stack of the selection against the tree, by walking it from the root. */
function checkFlame(selection, order) {
	const flame = makeFlame(selection, order);
	const sums = new Map();
	for (let i = 0; i < selection.n; i++) {
		const stack = stackOf(selection, selection.stacks[i]);
		if (order === "reverse")
			stack.reverse();
		for (let depth = 0; depth <= stack.length; depth++) {
			const key = stack.slice(0, depth).join("\n");
			const sum = sums.get(key) ?? { gain: 0, loss: 0, samples: 0, self: 0 };
			const value = selection.values[i];
			sum.gain += Math.max(0, value);
			sum.loss += Math.max(0, -value);
			sum.samples++;
			sum.self += depth === stack.length ? 1 : 0;
			sums.set(key, sum);
		}
	}
	const seen = new Map();
	const visit = (node, path) => {
		const sum = seen.get(path.join("\n")) ?? { gain: 0, loss: 0, samples: 0, self: 0 };
		sum.gain += flame.gain[node];
		sum.loss += flame.loss[node];
		sum.samples += flame.samples[node];
		sum.self += ownOf(flame, node).samples;
		seen.set(path.join("\n"), sum);
		let before = "";
		for (let [child, end] = childrenOf(flame, node); child < end; child++) {
			const name = frameName(selection, flame.frame[child]);
			assert.ok(before <= name, `${before} before ${name}`);
			before = name;
			assert.ok(child > node);
			visit(child, [...path, name]);
		}
	};
	visit(0, []);
	assert.deepEqual(new Map([...seen].sort()), new Map([...sums].sort()));
}

for (const order of ["calls", "reverse"]) {
	test(`the tree of ${order} has every stack's sums`, () => {
		for (const profile of [small, made, zoo])
			for (const patch of [{}, { metric: "period" }, { groups: ["state"] }, { flatten: true }])
				checkFlame(makeSelection(profile, query(patch)), order);
		checkFlame(makeSelection(made, query({ metric: "heap_live_bytes:delta" })), order);
	});
}

test("around a function: what it calls and what calls it", () => {
	const selection = makeSelection(small, query());
	const flame = makeFlame(selection, "calls", "f");
	const names = (model) => Array.from({ length: model.n - 1 }, (_, i) =>
		[model.depth[i + 1], frameName(selection, model.frame[i + 1]), model.samples[i + 1]].join(" ")).sort();
	assert.deepEqual(names(flame), ["1 f 2", "2 f 1", "2 g 1", "3 g 1"]);
	assert.deepEqual(names(makeFlame(selection, "reverse", "g")), ["1 g 3", "2 f 2", "2 std 1", "3 f 1", "3 h 1", "3 main 1", "4 main 1", "4 main 1"]);
	assert.equal(makeFlame(selection, "calls", "nowhere").n, 1);
});

test("a function's total counts a sample once", () => {
	const selection = makeSelection(small, query());
	const rows = makeFunctions(selection);
	const found = Object.fromEntries(Array.from({ length: rows.n }, (_, i) => [frameName(selection, rows.frame[i]),
		[rows.samples[i], rows.selfSamples[i], rows.calls[i]]]));
	assert.deepEqual(found, { main: [4, 0, 0], g: [3, 3, 3], f: [2, 0, 3], h: [2, 1, 2], std: [1, 0, 1] });
	assert.equal(frameName(selection, rows.frame[0]), "main");
});

test("the heatmap's cells are as counted one by one", () => {
	for (const profile of [small, made, zoo]) {
		const selection = makeSelection(profile, query());
		for (const nRows of [50, 7, 20]) {
			const heat = makeHeat(selection, { nRows });
			const cells = new Map();
			for (let i = 0; i < profile.n; i++) {
				const ns = profile.startNs + BigInt(profile.time[i]);
				const second = ns / 1000000000n - profile.startNs / 1000000000n;
				const row = (ns % 1000000000n) / BigInt(Math.ceil(1e9 / nRows));
				const key = `${second} ${row}`;
				cells.set(key, (cells.get(key) ?? 0) + 1);
			}
			let n = 0;
			for (let column = 0; column < heat.nColumns; column++) {
				for (let row = 0; row < nRows; row++) {
					const count = heat.samples[column * nRows + row];
					if (count !== (cells.get(`${column} ${row}`) ?? 0))
						assert.fail(`${count} samples at ${column}, ${row}`);
					n += count;
				}
			}
			assert.equal(n, profile.n);
			assert.equal(heat.nColumns, Number((profile.startNs + BigInt(profile.lengthNs)) / 1000000000n - profile.startNs / 1000000000n) + 1);
		}
	}
});

test("a cell that adds up to nothing is no cell without samples", () => {
	const profile = readPack(packOfText(text([
		["1.000000", "main", "rss_kib=1,5"], ["1.001000", "main", "rss_kib=1,-5"], ["3.500000", "main", "rss_kib=1,-1"]])));
	const heat = makeHeat(makeSelection(profile, query({ metric: "rss_kib:delta" })));
	assert.deepEqual([heat.samples[0], heat.values[0], heat.samples[1], heat.min, heat.max], [2, 0, 0, -1, 0]);
});

test("rows may be a dimension's values, most first, the rest as one", () => {
	const heat = makeHeat(makeSelection(made, query()), { by: "thread", nRows: 4 });
	assert.deepEqual([heat.nRows, heat.rowLabels.length, heat.rowLabels[3]], [4, 4, "[13 others]"]);
	assert.equal(heat.samples.reduce((a, b) => a + b), made.n);
	const named = heat.values.filter((_, cell) => cell % 4 < 3);
	assert.equal(heat.scale.max, Math.max(...named));
	assert.ok(heat.max > heat.scale.max);
	const states = makeHeat(makeSelection(small, query()), { by: "state" });
	assert.deepEqual(states.scale, { min: states.min, max: states.max });
	assert.deepEqual(states.rowLabels, ["running", "sleeping"]);
	assert.deepEqual(makeHeat(makeSelection(small, query()), { by: "wait" }).rowLabels, ["[no wait]", "futex"]);
});

test("two clicks are the time between them, a rectangle has rows", () => {
	const heat = makeHeat(makeSelection(made, query()), { nRows: 50 });
	const range = rangeBetween(heat, { column: 3, row: 10 }, { column: 2, row: 49 });
	assert.deepEqual(range, { from: 2e9 - made.startSub + 0.98e9, to: 3e9 - made.startSub + 0.22e9, rows: null });
	const ranges = rectangleRanges(heat, { column: 4, row: 5 }, { column: 2, row: 1 });
	assert.deepEqual(ranges, [{ from: 2e9 - made.startSub, to: 5e9 - made.startSub, rows: [20e6, 120e6] }]);
	const selection = inRanges(heat.selection, ranges);
	let n = 0;
	for (let column = 2; column <= 4; column++)
		for (let row = 1; row <= 5; row++)
			n += heat.samples[column * heat.nRows + row];
	assert.equal(selection.n, n);
	assert.ok(n > 0);
});

test("a day and ten thousand threads have room", () => {
	const day = readPack(packOfSamples(20000, "--seconds", "86400", "--threads", "10000"));
	const selection = makeSelection(day, query({ groups: ["thread"] }));
	assert.equal(selection.labels.length, 10000);
	const heat = makeHeat(selection);
	const threads = makeHeat(selection, { by: "thread" });
	assert.ok(heat.nColumns >= 86390);
	assert.equal(threads.nRows, 1000);
	assert.ok(threads.nRows * threads.nColumns <= 16 * 1024 * 1024);
});

test("dimensions are those that the samples have", () => {
	assert.deepEqual(small.dimensions, ["state", "wait", "thread", "comm", "process", "pid", "tid", "cpu"]);
	const all = makeSelection(small, query());
	assert.deepEqual(dimensionValues(all, "thread"), [{ label: "a/1", amount: 3, share: 0.75 }, { label: "b/2", amount: 1, share: 0.25 }]);
	assert.throws(() => dimensionValues(all, "nothing"), /no 'nothing'/);
});

test("shares of a dimension are of what is counted, most first", () => {
	const waits = readPack(packOfText(`# wick perf-script/1\n${text([
		["10.000000", "main;f", "st=running"], ["10.100000", "main;f", "st=running"],
		["10.500000", "main;g", "st=sleeping"], ["10.600000", "main;h", "st=disk"],
	]).replace("10.500000: 1", "10.500000: 6")}`));
	const shares = (patch) => dimensionValues(makeSelection(waits, query(patch)), "state").map(({ label, share }) => [label, share]);
	assert.deepEqual(shares({ metric: "period" }), [["sleeping", 2 / 3], ["running", 2 / 9], ["disk", 1 / 9]]);
	assert.deepEqual(shares({ metric: "samples" }), [["running", 0.5], ["disk", 0.25], ["sleeping", 0.25]]);
	assert.deepEqual(shares({ metric: "period", only: ["f"] }), [["running", 1], ["disk", 0], ["sleeping", 0]]);
	assert.deepEqual(shares({ only: ["nothing"] }).map(([, share]) => share), [0, 0, 0]);
});

test("a wait is in all parts of the overview that it lasted for", () => {
	const waits = readPack(packOfFile(join(golden, "labels.perf")));
	const selection = makeSelection(waits, query());
	const bins = brushBins(selection, 100);
	const sum = bins.gain.reduce((a, b) => a + b);
	assert.ok(Math.abs(sum - selection.sum) < 1, `${sum}, not ${selection.sum}`);
	assert.ok(selection.values.some((value) => value > waits.lengthNs / 100));
	assert.ok(bins.most <= (waits.threads.length * waits.lengthNs) / 100 + 2 * 10101010, `${bins.most}`);
	const moments = brushBins(makeSelection(waits, query({ metric: "samples" })), 100);
	assert.equal(moments.gain.reduce((a, b) => a + b), selection.n);
});

test("all of the time is without what steps drop, and no part of it", () => {
	const selections = makeSelections({ A: small, B: null });
	const of = (hash) => selections.allTime(parseHash(hash)).n;
	assert.deepEqual(["", "t=focus:f", "t=drop:f", "t=drop:f&time=0-1", "t=merge:f", "t=focus:f&t=drop:std"].map(of),
		[4, 2, 2, 2, 4, 2]);
	const heat = makeHeat(selections.allTime(parseHash("t=focus:f")));
	assert.deepEqual(heat.samples, makeHeat(makeSelection(small, query({ focus: "^f$" }))).samples, "as `wick heatmap --focus`");
	assert.equal(selections.whole(parseHash("t=focus:f")).n, 4);
	assert.equal(selections.selection(parseHash("t=drop:f&time=0-1.5")).n, 1);
	assert.match(selections.allTime(parseHash("only=(&t=focus:f")).problem, /pattern '\('/);
});
