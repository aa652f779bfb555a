/* transforms, search, details, strip, and what is saved, on samples written by hand */
import assert from "node:assert/strict";
import test from "node:test";

import { formatAmount, formatChange, formatLength, formatRate, formatShare, formatStep, formatTotal, unitWord } from "../../flamescope/web/parts/amount.js";
import { commandFor } from "../../flamescope/web/state/command.js";
import { makeFlame, stackColours } from "../../flamescope/web/models/flame.js";
import { foundIn, searchNames } from "../../flamescope/web/models/frame_search.js";
import { amountText, countText, rangesText, selectedNs, valueText } from "../../flamescope/web/heat/heat_words.js";
import { withHeat } from "../../flamescope/web/models/heat.js";
import { drawingOf, facts } from "../../flamescope/web/models/model.js";
import { frameName, numberOfFrames } from "../../flamescope/web/stacks/frames.js";
import { defaultMetric, periodOf } from "../../flamescope/web/state/recording.js";
import { EMPTY_QUERY, parseQuery, parseRange } from "../../flamescope/web/state/query.js";
import { boxText } from "../../flamescope/web/stacks/flame_paint.js";
import { parseHash } from "../../flamescope/web/state/store.js";
import { stripOf as stripBoxes, stripParts } from "../../flamescope/web/models/strip.js";
import { threadTracks } from "../../flamescope/web/models/threads.js";
import { rowsOf } from "../../flamescope/web/threads/thread_track.js";
import * as transforms from "../../flamescope/web/state/transforms.js";
import { makeSelection, readPack } from "./columns.mjs";
import { packOfText } from "./packs.mjs";
import { inRanges, profileOf } from "./profile_fixture.mjs";

const samples = [
	{ stack: ["main", "a", "b", "c"] },
	{ stack: ["main", "a", "a", "a", "c"] },
	{ stack: ["main", "b", "a", "b"] },
	{ stack: ["main"] },
	{ stack: ["main", "c", "a"] },
];

function select(list, metric = "samples", options = {}) {
	return makeSelection(profileOf(list, options), { ...EMPTY_QUERY, metric });
}

/* Each sample's stack as text, in the order of the samples. */
function stacksOf(selection) {
	return Array.from(selection.stacks, (stack) => {
		const names = [];
		for (let node = stack; node !== 0; node = selection.nodes.parent[node])
			names.unshift(frameName(selection, selection.nodes.frame[node]));
		return names.join(";");
	});
}

const withSteps = ({ profile, query }, steps) => makeSelection(profile, query, false, [], steps);

function transformed(...list) {
	const parsed = list.map(transforms.parseTransform);
	return stacksOf(withSteps(select(samples), parsed));
}

test("focus begins stacks at the outermost frame, and leaves others out", () => {
	assert.deepEqual(transformed("focus:a"), ["a;b;c", "a;a;a;c", "a;b", "a"]);
});

test("merge hangs callees on callers", () => {
	assert.deepEqual(transformed("merge:a"), ["main;b;c", "main;c", "main;b;b", "main", "main;c"]);
});

test("collapse makes one frame of a function that calls itself", () => {
	assert.equal(transformed("collapse")[1], "main;a;c");
	assert.equal(transformed("collapse:b")[1], "main;a;a;a;c");
	assert.equal(transformed("merge:a", "collapse:b")[2], "main;b");
});

test("drop leaves samples out, in whatever order steps are done", () => {
	assert.deepEqual(transformed("drop:c"), ["main;b;a;b", "main"]);
	assert.deepEqual(transformed("focus:b", "drop:a"), ["b;c"]);
	assert.deepEqual(transformed("drop:main"), []);
});

test("hide takes a module's frames away", () => {
	const list = [{ stack: ["x", "y"], module: "/lib/one" }, { stack: ["x"], module: "/lib/two" }];
	const parsed = [transforms.parseTransform("hide:/lib/one")];
	assert.deepEqual(stacksOf(withSteps(select(list), parsed)), ["", "x"]);
});

test("a transform is its text and back; what is none is none", () => {
	for (const text of ["focus:a::b(int)", "merge:x", "collapse", "collapse:f", "drop:g", "hide:/lib/a:b"])
		assert.equal(transforms.formatTransform(transforms.parseTransform(text)), text);
	for (const text of ["", "focus", "focus:", "__proto__:x", "constructor", "explode:x"])
		assert.equal(transforms.parseTransform(text), null);
});

test("the command's pattern matches the name and nothing else", () => {
	const name = "std::vector<int (*)[2]>::operator+=(a|b) $x";
	const [flag, pattern] = transforms.commandOfTransform({ kind: "focus", of: name });
	assert.equal(flag, "--focus");
	assert.ok(new RegExp(pattern).test(name));
	assert.ok(!new RegExp(pattern).test(`${name} `));
	assert.equal(transforms.commandOfTransform({ kind: "hide", of: "/lib/x" }), null);
});

test("what is matched below a match is not counted again", () => {
	const selection = select(samples);
	const tree = makeFlame(selection);
	const nameOf = (f) => frameName(selection, f);
	const names = Array.from({ length: numberOfFrames(selection) }, (_, frame) => nameOf(frame));
	const { found: [matches] } = searchNames("^[ab]$", [names]);
	const { found } = foundIn("", matches, tree);
	assert.deepEqual(found, { nodes: 8, share: "80.00 %" });
	assert.deepEqual([...new Set(tree.frame.slice(1))].filter((f) => matches[f]).map(nameOf).sort(), ["a", "b"]);
	assert.deepEqual(foundIn("", undefined, tree), { matches: undefined, found: null });
	assert.deepEqual(foundIn("no", undefined, tree), { matches: undefined, found: { problem: "no" } });
});

const functionDetails = (selection, name) => facts("details", selection.made, name);

test("details have every metric, the states and the threads", () => {
	const list = [
		{ time: 0, stack: ["m"], thread: "t1" },
		{ time: 10, stack: ["m", "f"], thread: "t1", tags: { state: "running" }, metrics: { heap: [100, 50] } },
		{ time: 20, stack: ["m", "f", "g"], thread: "t2", tags: { state: "sleeping" }, metrics: { heap: [40, -60] } },
		{ time: 30, stack: ["m", "f", "f"], thread: "t1", tags: { state: "running" } },
		{ time: 40, stack: ["m", "g"], thread: "t1", metrics: { heap: [1000, 960] } },
	];
	const details = functionDetails(select(list), "f");
	assert.equal(details.total.samples, 3);
	assert.equal(details.self.samples, 2);
	assert.deepEqual([details.firstNs, details.lastNs], [10, 30]);
	const [heap] = details.metrics;
	assert.deepEqual([heap.mean, heap.min, heap.max, heap.gain, heap.loss], [70, 40, 100, 50, 60]);
	const tag = (name) => details.tags.find((t) => t.name === name).values.map((v) => [v.label, v.amount]);
	assert.deepEqual(tag("state"), [["running", 2], ["sleeping", 1]]);
	assert.deepEqual(tag("thread"), [["t1/1", 2], ["t2/2", 1]]);
	const signed = functionDetails(select(list, "heap:delta"), "f");
	assert.deepEqual(signed.total, { samples: 2, gain: 50, loss: 60 });
	assert.equal(functionDetails(select(list), "nowhere").total.samples, 0);
});

/* The threads of a strip, each with its tree. */
function stripOf(...of) {
	const { boxes, nThreads, threads } = stripBoxes(...of);
	const treeOf = (from, { end, maxDepth }) => ({ n: end - from, maxDepth,
		...Object.fromEntries(Object.entries(boxes).map(([name, column]) => [name, column.subarray(from, end)])) });
	return { nThreads, threads: threads.map((thread, i) => ({ ...thread, tree: treeOf(threads[i - 1]?.end ?? 0, thread) })) };
}

test("the strip shows each pixel's heaviest stack, and nothing where nothing is known", () => {
	const list = [];
	for (let i = 0; i < 10; i++)
		list.push({ time: i * 10, stack: ["m", i < 5 ? "a" : "b"], thread: "one" });
	list.push({ time: 500, stack: ["m", "c"], thread: "one" }, { time: 505, stack: ["m"], thread: "two" });
	const selection = select(list);
	const strip = (n, ...seen) => stripOf(selection, n, ...seen);
	const { nThreads, threads } = strip(8, 0, 600, 60);
	assert.deepEqual([nThreads, threads.map(({ label, nSamples, amount }) => [label, nSamples, amount])],
		[2, [["one/1", 11, 11], ["two/2", 1, 1]]]);
	const whole = selection.profile.lengthNs + 1;
	const boxesOf = ({ tree }) => Array.from({ length: tree.n }, (_, i) => [tree.depth[i], i && frameName(selection, tree.frame[i]),
		tree.parent[i], Math.round(tree.x[i] * whole), Math.round(tree.width[i] * whole)]);
	assert.deepEqual(boxesOf(threads[0]), [[0, 0, 0, 0, whole], [1, "m", 0, 0, 120], [1, "m", 0, 500, 30],
		[2, "a", 1, 0, 50], [2, "b", 1, 50, 70], [2, "c", 2, 500, 30]]);
	const [{ tree }] = threads;
	assert.deepEqual([tree.maxDepth, selection.nodes.frame[tree.node[5]]], [2, tree.frame[5]]);
	assert.deepEqual(boxesOf(threads[1]), [[0, 0, 0, 0, whole], [1, "m", 0, 500, 10]]);
	/* What is seen begins between two samples: the one before goes on. */
	assert.deepEqual(boxesOf(strip(1, 45, 55, 2).threads[0]), [[0, 0, 0, 0, whole], [1, "m", 0, 45, 10], [2, "a", 1, 45, 5], [2, "b", 1, 50, 5]]);
	assert.deepEqual(strip(1, 200, 300, 10).threads.map(({ tree: { n } }) => n), [1]);
	assert.deepEqual([strip(0, 0, 600, 60).threads.length, strip(0, 0, 600, 60).nThreads], [0, 2]);
});

test("the strip in words: what each part of the time is spent in, no sample left out", () => {
	const list = [{ time: 0, stack: ["m", "a"] }, { time: 10, stack: ["n", "a"] }, { time: 20, stack: ["b"], weight: 9 },
		{ time: 90, stack: [] }, { time: 100, stack: ["a"] }];
	const selection = select(list, "period");
	const parts = (window, n) => stripParts(selection, 1, ...window, n)[0].parts;
	const functions = (...of) => parts(...of)[0].functions.map(({ name, amount }) => [name, amount]);
	assert.deepEqual(parts([0, 101], 1).map(({ samples }) => samples), [5]);
	assert.deepEqual(parts([0, 100], 4).map(({ to, samples }) => [to, samples]), [[25, 3], [50, 0], [75, 0], [100, 1]]);
	assert.deepEqual(functions([0, 15], 1), [["a", 2]]);
	assert.deepEqual(functions([0, 25], 1), [["b", 9], ["a", 2]]);
	assert.deepEqual(parts([25, 50], 1), [{ to: 50, samples: 0, amount: 0, functions: [] }]);
	assert.deepEqual(functions([75, 100], 1), [["[no stack]", 1]]);
	assert.deepEqual(functions([0, 101], 1), [["b", 9], ["a", 3], ["[no stack]", 1]]);
	assert.deepEqual(stripParts(selection, 8, 0, 101, 2).map(({ label, parts: { length } }) => [label, length]), [["main/1", 2]]);
});

test("the strip of random stacks is what its samples are, deeper ones as far as it has rows", () => {
	let seed = 7;
	const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
	const list = Array.from({ length: 400 }, (_, i) => ({ time: i * 10 + (i && random(10)), thread: `t${random(3)}`, weight: 1 + random(50),
		stack: Array.from({ length: random(9) + (random(40) ? 0 : 300) }, () => "abc"[random(3)]) }));
	const selection = select(list, "period");
	const [from, to, n] = [500, 3500, 90];
	const step = (to - from) / n;
	for (const { label, tree } of stripOf(selection, 8, from, to, n).threads) {
		const mine = list.filter(({ thread }) => label.startsWith(`${thread}/`));
		const distances = mine.slice(1).map(({ time }, i) => time - mine[i].time).sort((a, b) => a - b);
		const gap = 2 * distances[distances.length >> 1];
		for (let c = 0; c < n; c++) {
			const [start, end] = [from + c * step, from + (c + 1) * step];
			const within = mine.filter(({ time }) => time >= start && time < end);
			const heaviest = within.reduce((best, one) => (best && best.weight >= one.weight ? best : one), null);
			const before = mine.findLast(({ time }) => time < start);
			const { stack = [] } = heaviest ?? (before && start - before.time <= gap ? before : {});
			const at = (start + step / 2) / (selection.profile.lengthNs + 1);
			const shown = Array.from({ length: tree.n }, (_, i) => i).slice(1).filter((i) => tree.x[i] <= at && at < tree.x[i] + tree.width[i]);
			assert.deepEqual(shown.map((i) => frameName(selection, tree.frame[i])), stack.slice(0, 256), `${label} at ${start}`);
			shown.forEach((i, row) => assert.equal(tree.parent[i], row ? shown[row - 1] : 0));
		}
	}
});

/* The track of a row as [bin, state, amount]. */
function trackOf({ from, to, bins, values, nStates }, row) {
	return [...bins.subarray(from[row], to[row])].map((at, i) => [Math.floor(at / nStates), at % nStates, values[from[row] + i]]);
}

test("processes and threads have what their samples are, most first, and when", () => {
	const line = (who, ms, n) => `${who} [000] 100.${String(ms).padStart(6, "0")}: ${n} page-faults: \n\t10 f+0x1 (/bin/f)\n\n`;
	const profile = readPack(packOfText(line("main 7/7", 0, 1) + line("single 9/9", 100, 20) + line("helper 7/8", 500, 3) +
		line("helper 7/8", 1000, 4) + line("main 7/7", 1999, 30)));
	const whole = makeSelection(profile, { ...EMPTY_QUERY, metric: "period" });
	const part = inRanges(whole, [{ from: 0, to: 1500e3, rows: null }]);
	const tracks = threadTracks(whole, part, 0, 2000e3);
	assert.deepEqual(rowsOf(tracks).map(({ label, level, amount, nThreads }) => [label, level, amount, nThreads]),
		[["single/9", 1, 20, 0], ["main/7", 1, 8, 2], ["helper/8", 2, 7, 0], ["main/7", 2, 1, 0]]);
	assert.deepEqual([tracks.total, tracks.most, tracks.states.length > 1, tracks.isLanes], [28, [0, 30, 30], false, false]);
	assert.deepEqual(trackOf(tracks, 0), [[10, 5, 20]]);
	assert.deepEqual(trackOf(tracks, 1), [[0, 5, 1], [50, 5, 3], [100, 5, 4], [199, 5, 30]], "of all of the time");
	assert.deepEqual(trackOf(threadTracks(whole, whole, 500e3, 700e3), 2), [[0, 5, 3]], "no more than the window");
});

test("a sample of wall time is the end of what it stands for, in a state", () => {
	const at = (ms, state, weight) => ({ time: ms * 1e6, stack: ["f"], weight, tags: { state } });
	const profile = profileOf([at(0, "running", 1), at(100, "sleeping", 40), at(200, "flying", 1), at(400, "disk", 90)],
		{ events: ["wall-clock"], isWick: true, hz: 1000 });
	const whole = makeSelection(profile, { ...EMPTY_QUERY, metric: "period" });
	const tracks = threadTracks(whole, whole, 0, 4000e6); /* a bin is 20 ms */
	assert.deepEqual([tracks.isLanes, tracks.states.length > 1, tracks.total], [true, true, 132e6]);
	assert.equal(tracks.running[0], 1e6);
	const ms = trackOf(tracks, 0).map(([bin, state, amount]) => [bin, state, Math.round(amount / 1e3) / 1e3]);
	assert.deepEqual(ms, [[3, 2, 20], [4, 2, 20], [9, 5, 1], [15, 3, 10], [16, 3, 20], [17, 3, 20], [18, 3, 20], [19, 3, 20]]);
	const late = trackOf(threadTracks(whole, whole, 0, 80e6), 0).reduce((sum, [, , amount]) => sum + amount, 0);
	assert.equal(Math.round(late / 1e6), 20, "what began in the window and ended after it");
});

test("names are text in what is saved", () => {
	const name = '<script>alert("1")</script>&\u202e,"';
	const selection = select([{ stack: [name, "=1+1", "+2", "@x"], module: "-m" }]);
	const text = (kind) => new TextDecoder().decode(drawingOf(kind, selection, 0, { title: name }));
	for (const kind of ["flame.svg", "icicle.svg", "reverse.svg"]) {
		const svg = text(kind);
		assert.equal(svg.match(/<script/g).length, 1, kind); /* the picture's own */
		assert.match(svg, /&lt;script&gt;alert/);
		assert.match(svg, /<\/svg>\s*$/);
	}
	const lines = text("functions.csv").trim().split("\n");
	assert.equal(lines[0], "function,module,self gain,self loss,total gain,total loss,self samples,samples,calls");
	assert.ok(lines.some((line) => line.startsWith('"<script>alert(""1"")</script>')), lines.join("\n"));
	for (const formula of ["=1+1", "+2", "@x"])
		assert.ok(lines.some((line) => line.startsWith(`"'${formula}","'-m",`)), `${formula} in ${lines}`);
	assert.match(text("functions.csv"), /^[^\r]*$/);
});

test("a saved graph is around a function, and a heatmap has all of its cells", () => {
	const selection = select([{ time: 0, stack: ["main", "f", "g"] }, { time: 2e9, stack: ["main", "h"] }]);
	const text = (kind, of = 0, around = "") =>
		new TextDecoder().decode(drawingOf(kind, selection, of, { title: "a title", around, by: "module" }));
	assert.match(text("flame.svg"), /main[^]*h/);
	assert.doesNotMatch(text("sandwich.svg", 0, "f"), />h </);
	withHeat(selection, {}, (heat) => {
		assert.equal(text("heatmap.csv", heat).trim().split("\n").length, 3);
		assert.match(text("heatmap.svg", heat), /^<[^]*a title[^]*<\/svg>\s*$/);
	});
});

test("a saved graph of a search has its marks, with and without a script", () => {
	const selection = select([{ stack: ["main", "f", 'a"<b>'] }]);
	const matches = [0, 1, 2].map((frame) => (frameName(selection, frame) === "f" ? 1 : 0));
	const svg = (words) => new TextDecoder().decode(drawingOf("flame.svg", selection, 0, words));
	const marked = svg({ search: '^f$|"<', matches });
	const hits = [...marked.matchAll(/<g class="[^"]* hit"[^>]*><title>([^\n]*)/g)].map(([, name]) => name);
	assert.deepEqual(hits, ["f", "f"]); /* in both of its graphs */
	assert.match(marked, /data-search="\^f\$\|&quot;&lt;"/);
	assert.doesNotMatch(svg({}), /data-search=| hit"/);
	assert.doesNotMatch(svg({ search: "f", matches: [] }), / hit"/);
});

test("a box says as many of its numbers as fit whole", () => {
	const picture = { text: () => "main", numbers: () => ["12.34 %", "1.50 s"] };
	assert.deepEqual([3, 4, 12, 13, 20, 21].map((chars) => boxText(picture, 0, chars)),
		["ma…", "main", "main", "main  12.34 %", "main  12.34 %", "main  12.34 %  1.50 s"]);
});

/* {name: the number of its colour} */
function numbersOf(selection, order, by) {
	const { n, frame, colours } = makeFlame(selection, order, "", by);
	return Object.fromEntries(Array.from({ length: n - 1 }, (_, i) => [frameName(selection, frame[i + 1]), colours.numbers[i + 1]]));
}

test("a frame goes by the state that most of it is in", () => {
	const list = [{ stack: ["m", "f"], tags: { state: "running" } }, { stack: ["m", "f"], tags: { state: "running" } },
		{ stack: ["m", "g"], tags: { state: "sleeping" } }, { stack: ["m"], tags: {} }];
	const selection = select(list);
	assert.deepEqual(makeFlame(selection, "calls", "", "state").colours.legend.map(({ label }) => label), ["running", "sleeping"]);
	const numbers = numbersOf(selection, "calls", "state");
	const hue = (number) => Math.floor(number / 6); /* of three tones, each plain and inlined */
	assert.equal(hue(numbers.m), hue(numbers.f));
	assert.notEqual(hue(numbers.m), hue(numbers.g));
	assert.deepEqual(makeFlame(select(samples), "calls", "", "state").colours.legend, []);
	const ofStacks = stackColours(selection, "state");
	assert.equal(ofStacks.length, selection.nodes.n);
	assert.deepEqual(new Set(ofStacks.slice(1)), new Set(Object.values(numbers)));
});

test("an inlined frame has the colour of the module that it is in", () => {
	const profile = readPack(packOfText("app 7/7 [000] 1.5: 1 cpu-clock: \n\t10 g (inlined)\n\t10 f (inlined)\n\t10 main+0x1 (/bin/app)\n\n"));
	const selection = makeSelection(profile, { ...EMPTY_QUERY, metric: "samples" });
	const hue = (number) => Math.floor(number / 6);
	for (const order of ["calls", "reverse"]) {
		const numbers = numbersOf(selection, order, "module");
		assert.deepEqual(new Set(Object.values(numbers).map(hue)).size, 1, order);
		assert.deepEqual([numbers.main & 1, numbers.f & 1, numbers.g & 1], [0, 1, 1], order);
	}
});

/* The same cases as in query_selection_test.c: weights of 30,000 and LEAST. */
test("what a sample stands for is told in a unit that people know", () => {
	const cases = [
		[["cpu-clock"], { isWick: true, hz: 100 }, 1, "ns", "of CPU", true, 3e11],
		[["cpu-clock"], { isWick: true, hz: 99 }, 1, "ns", "of CPU", true, 303030303030],
		[["wall-clock"], { isWick: true, hz: 100 }, 1, "ns", "of wall time", true, 3e11],
		[["cpu-clock", "wall-clock"], { isWick: true, hz: 100 }, 1, "ns", "of time", true, 3e11],
		[["cpu-clock"], { isWick: true }, 1, "periods", "periods", true, 30000],
		[["alloc"], { isWick: true }, 1, "B", "allocated", true, 30000],
		[["lock"], { isWick: true }, 1, "us", "waited for locks", true, 30000],
		[["cpu-clock", "alloc"], { isWick: true }, 1, "", "", true, 30000],
		[["page-faults"], { isWick: true }, 1, "page-faults", "page-faults", true, 30000],
		[["cpu-clock"], {}, 10000, "ns", "of CPU", true, 30000],
		[["cpu-clock:u"], {}, 10000, "ns", "of CPU", true, 30000],
		[["task-clock:ppp"], {}, 10000, "ns", "of CPU", true, 30000],
		[["cpu-clock"], {}, 9999, "periods", "periods", false, 30000],
		[["cpu-clocks"], {}, 10000, "cpu-clocks", "cpu-clocks", false, 30000],
		[["wall-clock"], {}, 10000, "wall-clock", "wall-clock", false, 30000],
		[["cycles"], {}, 10000, "cycles", "cycles", false, 30000],
		[["cycles", "cpu-clock"], {}, 10000, "", "", false, 30000],
		[[""], { hasTimes: false }, 1, "samples", "samples", true, 30000],
	];
	for (const [events, kind, least, unit, noun, isDefault, value] of cases) {
		const profile = profileOf([{ stack: ["m"], weight: 30000 }, { stack: ["m"], weight: least }], { events, ...kind });
		const period = periodOf(profile);
		assert.deepEqual([period.unit, period.noun, period.isDefault], [unit, noun, isDefault], events.join());
		assert.equal(defaultMetric(profile), isDefault ? "period" : "samples");
		assert.equal(makeSelection(profile, { ...EMPTY_QUERY, metric: "period" }).values[0], value);
	}
	assert.equal(parseQuery([["metric", "weight"]]).metric, "period"); /* an old link */
});

test("a cell, a selection and its stacks are told as time", () => {
	const profile = profileOf([{ time: 0, stack: ["m"], weight: 3 }, { time: 1e9, stack: ["m"] }],
		{ isWick: true, events: ["cpu-clock"], hz: 100 });
	const whole = makeSelection(profile, EMPTY_QUERY);
	const part = inRanges(whole, [{ from: 0, to: 5e8, rows: null }]);
	assert.equal(amountText(part, whole), "30.0 ms of CPU (75.00 %)");
	const heat = { selection: whole, nRows: 1, rowNs: 2e7, columnNs: 2e7, rowLabels: null, samples: [1], values: [3e7] };
	assert.equal(valueText(heat, { column: 0, row: 0 }), "30.0 ms of CPU, 1.50 s/s");
	assert.equal(valueText({ ...heat, rowLabels: ["a"], columnNs: 1e9 }, { column: 0, row: 0 }), "30.0 ms of CPU, 30 ms/s");
	assert.equal(countText(heat, { column: 0, row: 0 }), "1 sample");
	assert.equal(formatTotal(5.66e9, whole), "5.66 s of CPU");
	assert.equal(formatTotal(43131, { unit: "page-faults", noun: "page-faults" }), "43,131 page-faults");
	assert.deepEqual(["ns", "us", "B", "cycles", ""].map(unitWord), ["time", "time", "bytes", "cycles", "values"]);
});

test("a rate is of the time that is selected", () => {
	const of = (hash) => selectedNs(parseHash(hash), { lengthNs: 20e9 });
	assert.equal(of(""), 20e9);
	assert.equal(of("time=1-3&time=5-6"), 3e9);
	assert.equal(of("time=15-40"), 5e9);
	assert.equal(of("time=1-3@100ms-600ms"), 1e9);
	assert.equal(of("every=1s:0-100ms"), 2e9);
});

test("numbers are said with their unit and sign", () => {
	assert.equal(formatAmount(1536, "bytes"), "1.50 KiB");
	assert.equal(formatAmount(-2048, "KiB"), "−2.00 MiB");
	assert.equal(formatAmount(1.5e9, "ns"), "1.50 s");
	assert.equal(formatAmount(-0, "ns"), "0 s");
	assert.equal(formatAmount(0, "B"), "0 B");
	assert.equal(formatAmount(214.25, "1"), "214.3");
	assert.equal(formatAmount(12345678, "ns"), "12.3 ms");
	assert.equal(formatAmount(7200e9, "ns"), "2.00 h");
	assert.equal(formatAmount(999, "ns"), "999 ns");
	assert.equal(formatAmount(2 ** 51, "B"), "2.00 PiB");
	assert.equal(formatRate(2.5e7, "ns", 2e7), "1.25 s/s");
	assert.equal(formatRate(9e6, "ns", 1e9), "9.0 ms/s");
	assert.equal(formatRate(999.4e6, "ns", 1e9), "999 ms/s");
	assert.equal(formatRate(2.5e7, "us", 1e9), "25.0 s/s");
	assert.equal(formatRate(12, "B", 1e9), "");
	assert.deepEqual([20e6, 1.2e6, 33333334, 1e9, 90e9, 86400e9, 0].map(formatStep),
		["20 ms", "1.2 ms", "33.333 ms", "1 s", "1.5 min", "24 h", "0 ms"]);
	assert.equal(formatLength(12345678901), "12.346 s");
	assert.equal(formatLength(320999e6), "5 min 20 s");
	assert.equal(formatLength(86398895e6), "23 h 59 min");
	assert.equal(formatLength(3600e9), "1 h 0 min");
	assert.equal(formatChange(3, ""), "+3");
	assert.equal(formatShare(1, 3), "33.33 %");
	assert.equal(formatShare(1, 0), "–");
});

test("many ranges as long and as far apart as each other are a part of each column", () => {
	const of = (...words) => rangesText(words.map(parseRange));
	const columns = (change) => of("1.02-1.06", "1.22-1.26", change, "1.62-1.66");
	assert.equal(columns("1.42-1.46"), "40 ms of each of 4 columns of 200 ms, 1.02–1.66 s");
	assert.equal(columns("1.42-1.47"), "4 ranges");
	assert.equal(columns("1.43-1.47"), "4 ranges");
	assert.equal(of("0-0.4", "1.2-1.4", "2.2-2.4", "3.2-3.4"), "4 ranges");
	assert.equal(of("0-0.1", "0.9-1.1", "1.9-2.1", "2.9-3.1"), "200 ms of each of 4 seconds, 0–3.1 s", "cut by the beginning");
	assert.equal(of("1-2", "1-2", "1-2", "1-2"), "4 ranges");
});

test("the command says the same, or says what it does not say", () => {
	const of = (hash, baseline) => commandFor(parseHash(hash, 1e12), ["a file.perf"], baseline);
	assert.equal(of("time=10-20&group=state"), "wick flamegraph 'a file.perf' --time=10-20 --group=state");
	assert.equal(of("view=reverse"), "wick flamegraph 'a file.perf' --reverse");
	assert.equal(of("view=icicle&colour=package"), "wick flamegraph 'a file.perf' --icicle --colour package");
	assert.equal(of("view=table&colour=module"), "wick report 'a file.perf'");
	assert.equal(of("colour=odd"), "wick flamegraph 'a file.perf'");
	assert.equal(of("view=threads"), "wick report 'a file.perf' --per thread");
	assert.equal(of("view=table&sort=total"), "wick report 'a file.perf' --by total");
	assert.equal(of("view=sandwich&around=f"), "wick report 'a file.perf' --function '^f$'");
	assert.equal(of("view=diff&time=5-9&b=0-4"), "wick diff 'a file.perf' --against 0-4 --time=5-9");
	assert.equal(of("view=diff", ["old.perf"]), "wick diff old.perf 'a file.perf'");
	assert.equal(of("t=focus:f&t=drop:g&t=focus:h&t=hide:/lib/x"),
		"wick flamegraph 'a file.perf' --focus '^f$' --without '^g$' # 'without: Focus on h; Hide module /lib/x'");
});
