/*
 * bridge.test.mjs - the page and the command are one C: the same words, ranges and columns
 *
 * Random queries over recordings as the command packs them: what the page's models say must fit
 * the recording's own columns, and of every third query it must be what the command's process
 * says.  WICK is the program; WICK_SEED another seed, for other queries.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeDiff } from "../../flamescope/web/models/diff.js";
import { makeFlame, makeFunctions } from "../../flamescope/web/models/flame.js";
import { frameInlined, frameModule, frameName, isGroupLabel } from "../../flamescope/web/stacks/frames.js";
import { makeHeat } from "../../flamescope/web/models/heat.js";
import { makeSelection, readPack } from "./columns.mjs";
import { periodOf } from "../../flamescope/web/state/recording.js";
import { EMPTY_QUERY, parseMetric } from "../../flamescope/web/state/query.js";
import { dimensionValues } from "../../flamescope/web/models/select.js";
import { childrenOf, ownOf } from "../../flamescope/web/stacks/tree_layout.js";
import { parseHash, stateHash } from "../../flamescope/web/state/store.js";
import { folder, golden, packOfCommand } from "./packs.mjs";
import { chanceOf, inRanges } from "./profile_fixture.mjs";

const { WICK } = process.env;
const SEED = Number(process.env.WICK_SEED ?? 20261128);
const N_QUERIES = 200;
const EACH_OF_COMMAND = 3; /* and so of each recording; three processes each */
const samples = join(golden, "..", "view", "samples");
const files = [...["zoo.comment", "golden", "zoo.inline", "labels"].map((name) => join(golden, `${name}.perf`)),
	...["xz", "gzip", "system", "python"].map((name) => join(samples, `${name}.perf`))];

/* --- random queries --- */

function makeRandom(seed) {
	let state = seed >>> 0;
	const below = (n) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 2 ** 32) * n);
	};
	return { below, pick: (list) => list[below(list.length)], one: (n) => below(n) === 0 };
}

const quoted = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/* Both engines read what is printable in the same way; of a name all, or a part. */
function patternOf(random, names) {
	const name = random.pick(names);
	const from = random.below(name.length);
	switch (random.below(5)) {
	case 0:
		return `^${quoted(name)}$`;
	case 1:
		return `^(${quoted(name)}|${quoted(random.pick(names))})$`;
	case 2:
		return `^${quoted(name[0])}`;
	default:
		return quoted(name.slice(from, from + 1 + random.below(4)));
	}
}

const printable = (names) => names.filter((name) => /^[ -~\u00a1-\u024f]+$/.test(name));

/* What can be asked of a profile. */
function vocabularyOf(profile) {
	const metrics = profile.metrics.map(({ name }) => name);
	const names = [...profile.dimensions, ...metrics.flatMap((name) => [`${name}:class`, `${name}:sign`])];
	const all = makeSelection(profile, EMPTY_QUERY);
	return {
		lengthNs: profile.lengthNs,
		functions: printable(Array.from(profile.frames.name, profile.text)),
		dimensions: names.map((name) => ({ name, labels: printable(dimensionValues(all, name).map(({ label }) => label)) })),
		metrics: ["samples", "period", ...metrics.flatMap((name) => [name, `${name}_delta`,
			...["value", "mean", "delta", "gain", "loss"].map((measure) => `${name}:${measure}`)])],
	};
}

function someOf(random, odds, most, make) {
	return random.one(odds) ? Array.from({ length: 1 + random.below(most) }, make) : [];
}

function randomFilter(random, { dimensions }) {
	const { name, labels } = random.pick(dimensions);
	return { dimension: name, pattern: labels.length && !random.one(8) ? patternOf(random, labels) : "", exclude: random.one(2) };
}

const MS = 1e6;

function randomRange(random, { lengthNs }) {
	const whole = lengthNs + 2e9;
	const from = random.one(4) ? 0 : random.below(whole);
	const row = random.below(900) * MS;
	return { from, to: random.one(4) ? Infinity : from + 1 + random.below(whole),
		rows: random.one(3) ? [row, row + (1 + random.below(1000 - row / MS)) * MS] : null };
}

function randomEvery(random) {
	const every = random.pick([1e9, 300 * MS, 2e9, 7 * MS]);
	const from = random.below(every);
	return { every, from, to: from + 1 + random.below(every - from) };
}

function randomState(random, vocabulary) {
	const { functions, dimensions, metrics } = vocabulary;
	const pattern = () => patternOf(random, functions);
	const query = {
		...EMPTY_QUERY,
		filters: someOf(random, 3, 2, () => randomFilter(random, vocabulary)),
		only: someOf(random, 5, 2, pattern),
		without: someOf(random, 6, 2, pattern),
		groups: someOf(random, 3, 2, () => random.pick(dimensions).name),
		elide: someOf(random, 6, 2, () => (random.one(3) ? "@wrappers" : pattern())),
		metric: random.one(2) ? random.pick(metrics) : "",
		flatten: random.one(4),
		idle: random.one(3),
		focus: random.one(8) ? pattern() : "",
		truncate: random.one(8) ? pattern() : "",
		every: random.one(8) ? randomEvery(random) : null,
	};
	const state = { ...parseHash(""), query, ranges: someOf(random, 2, 3, () => randomRange(random, vocabulary)) };
	assert.deepEqual(parseHash(stateHash(state)), state); /* a link says the same */
	return { ...state, by: random.one(2) ? random.pick(dimensions).name : "" };
}

/* --- the page's models against the recording's columns --- */

/* Doubles are exact up to 2^53; above, a part in 10^12 is the same. */
function same(got, wanted, what) {
	const exact = Math.abs(wanted) < 2 ** 53;
	assert.ok(exact ? got === wanted : Math.abs(got - wanted) <= Math.abs(wanted) * 1e-12, `${what}: ${got}, not ${wanted}`);
}

/* Of large numbers of both signs what is left is as exact as the largest were. */
function near(got, wanted, whole, what) {
	assert.ok(Math.abs(got - wanted) <= (whole < 2 ** 53 ? 0 : whole * 1e-12), `${what}: ${got}, not ${wanted}`);
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
const sizeOf = (values) => sum(values.map(Math.abs));

function isIn(profile, ranges, ns) {
	const ofSecond = (profile.startSub + ns) % 1e9;
	return ranges.some(({ from, to, rows }) => ns >= from && ns < to && (!rows || (ofSecond >= rows[0] && ofSecond < rows[1])));
}

/* What one sample of the selection has to count for. */
function countsOf(selection) {
	const { profile, measure } = selection;
	const { name } = parseMetric(selection.query.metric) ?? {};
	const metric = profile.metrics.find((one) => one.name === name);
	switch (measure) {
	case "samples":
		return () => 1;
	case "period": {
		const { multiply, divide } = periodOf(profile, selection.event);
		const one = (weight) => (multiply === divide ? weight : Math.floor((weight * multiply) / divide));
		return (sample) => one(profile.weight[sample]);
	}
	case "value":
	case "mean":
		return (sample) => metric.values[sample];
	case "gain":
		return (sample) => Math.max(0, metric.deltas[sample]);
	case "loss":
		return (sample) => Math.max(0, -metric.deltas[sample]);
	default:
		return (sample) => metric.deltas[sample];
	}
}

/* Of wall time, a part of the time has its part of a sample: tests/view/reference.py has them all. */
const hasParts = ({ noun, query }, ranges) => noun === "of wall time" && (ranges.length > 0 || query.every !== null);

function checkSelection(whole, selection, ranges) {
	const { profile } = selection;
	const parts = hasParts(selection, ranges);
	if (!parts)
		assert.deepEqual(selection.samples, ranges.length
			? whole.samples.filter((sample) => isIn(profile, ranges, profile.time[sample])) : whole.samples, "the samples of the ranges");
	assert.deepEqual([selection.samples.length, selection.stacks.length, selection.values.length], [selection.n, selection.n, selection.n]);
	const counts = countsOf(selection);
	for (let i = 0; i < selection.n; i++) {
		const [value, all, what] = [selection.values[i], counts(selection.samples[i]), `${selection.measure} of sample ${selection.samples[i]}`];
		if (parts)
			assert.ok(value >= 0 && value <= all, what);
		else
			same(value, all, what);
	}
	assert.ok(selection.stacks.every((stack) => stack < selection.nodes.n));
}

/* Where no word changes stacks, they are the recording's. */
function checkStacks({ profile, query, stacks, samples: numbers, nodes }) {
	if (query.groups.length || query.elide.length || query.flatten || query.focus || query.truncate)
		return;
	const framesOf = (tree, node) => {
		const frames = [];
		for (let at = node; at !== 0; at = tree.parent[at])
			frames.push(tree.frame[at]);
		return frames;
	};
	for (let i = 0; i < stacks.length; i += 7)
		assert.deepEqual(framesOf(nodes, stacks[i]), framesOf(profile.nodes, profile.stack[numbers[i]]));
}

function checkSums(selection) {
	const size = sizeOf(selection.values);
	for (const order of ["calls", "reverse"]) {
		const flame = makeFlame(selection, order);
		assert.equal(flame.samples[0], selection.n, order);
		near(flame.gain[0] - flame.loss[0], sum(selection.values), size, order);
		const own = Array.from({ length: flame.n }, (_, node) => ownOf(flame, node));
		near(sum(own.map(({ gain, loss }) => gain + loss)), size, size, order);
		assert.ok(own.every(({ gain, loss, samples }) => Math.min(gain, loss, samples) >= 0), order);
		assert.equal(sum(own.map(({ samples }) => samples)), selection.n, order);
	}
	const functions = makeFunctions(selection);
	assert.equal(sum(functions.selfSamples) + selection.stacks.filter((stack) => stack === 0).length, selection.n, "functions");
	assert.ok(functions.samples.every((n) => n <= selection.n), "functions");
}

/* A heatmap of hours has longer columns: the test is about cells, not about JSON. */
const columnOf = (profile) => (profile.lengthNs > 1e12 ? 100e9 : 1e9);

function checkHeat(selection, by) {
	const heat = makeHeat(selection, { columnNs: columnOf(selection.profile), by });
	/* one that stands for a time of its thread is in all cells of it */
	const n = sum(heat.samples);
	assert.ok(selection.noun === "of wall time" ? n >= selection.n : n === selection.n, `heat: ${n} of ${selection.n}`);
	if (selection.measure !== "mean")
		near(sum(heat.values), sum(selection.values), sizeOf(selection.values), "heat");
	return heat;
}

/* --- the page's models against the command --- */

function run(command, ...words) {
	const out = join(folder, "out.json");
	execFileSync(WICK, [command, "--no-index", "--force", "-o", out, ...words], { stdio: ["ignore", "ignore", "pipe"] });
	return JSON.parse(readFileSync(out, "utf8"));
}

const timesOf = ({ from, to }) => `${from}ns-${to === Infinity ? "" : `${to}ns`}`;

/* A state in the command's own words: not by query.js, whose words are what is tested. */
function flagsOf({ ranges, query }) {
	const { filters, only, without, elide, groups, focus, truncate, metric, every, flatten, idle } = query;
	const all = (name, list) => list.map((value) => `--${name}=${value}`);
	return [
		...all("time", ranges.map((range) => timesOf(range) + (range.rows ? `@${timesOf({ from: range.rows[0], to: range.rows[1] })}` : ""))),
		...all("every", every ? [`${every.every}ns:${timesOf(every)}`] : []),
		...all("where", filters.map(({ dimension: name, exclude, pattern }) => `${name}${exclude ? "!" : ""}=${pattern}`)),
		...all("only", only), ...all("without", without), ...all("elide", elide),
		...all("focus", focus ? [focus] : []), ...all("truncate", truncate ? [truncate] : []),
		...all("group", groups.length ? [groups.join(",")] : []), ...all("metric", metric ? [metric] : []),
		...(flatten ? ["--flatten"] : []), ...(idle ? ["--idle"] : []),
	];
}

/* Controls and bytes that are no UTF-8 are shown by each as it can. */
const shown = (name) => name.replace(/[\0-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffd]+/g, "\ufffd");

const SUMS = [["gain", "gain"], ["loss", "loss"], ["samples", "samples"], ["selfGain", "self_gain"], ["selfLoss", "self_loss"],
	["selfSamples", "self_samples"]];

function compareFunctions(selection, json) {
	const rows = makeFunctions(selection);
	assert.equal(rows.n, json.n_functions);
	assert.equal(selection.n, json.samples);
	const width = (i) => rows.gain[i] + rows.loss[i];
	/* of a mean, the command's order is that of the means */
	for (let i = 0; selection.measure !== "mean" && i < Math.min(20, rows.n); i++)
		same(width(i), json.functions[i].gain + json.functions[i].loss, `function ${i}`);
	const known = new Map();
	for (let i = 0; i < rows.n; i++) {
		const frame = rows.frame[i];
		const key = JSON.stringify([shown(frameName(selection, frame)), ...SUMS.map(([column]) => rows[column][i]), rows.calls[i]]);
		known.set(key, (known.get(key) ?? 0) + 1);
	}
	for (const wanted of json.functions) {
		const key = JSON.stringify([shown(wanted.name), ...SUMS.map(([, name]) => wanted[name]), wanted.calls]);
		assert.ok(known.get(key) > 0, `the page lacks ${key}`);
		known.set(key, known.get(key) - 1);
	}
}

/* Siblings of one name are told apart by module and kind; what is no wider than nothing is not drawn. */
function compareFlame(selection, json) {
	const flame = makeFlame(selection);
	const keyOf = ({ name, module, inlined }) => `${shown(name)}\n${shown(module)}\n${inlined}`;
	const visit = (node, wanted, path) => {
		const own = ownOf(flame, node);
		for (const name of ["gain", "loss", "samples"]) {
			same(flame[name][node], wanted[name], `${path} ${name}`);
			same(own[name], wanted[`self_${name}`], `${path} self ${name}`);
		}
		const children = [];
		for (let [child, end] = childrenOf(flame, node); child < end; child++)
			if (flame.gain[child] + flame.loss[child] !== 0 || selection.measure === "mean")
				children.push(child);
		const keys = children.map((child) => flame.frame[child]).map((frame) => keyOf({ name: frameName(selection, frame),
			module: isGroupLabel(selection, frame) ? "" : frameModule(selection, frame), inlined: frameInlined(selection, frame) }));
		assert.deepEqual(keys, wanted.children.map(keyOf), path);
		wanted.children.forEach((child, i) => visit(children[i], child, `${path};${child.name}`));
	};
	assert.equal(flame.samples[0], json.total.samples);
	visit(0, json.root, "");
}

function compareHeat(heat, json) {
	assert.deepEqual([heat.nColumns, heat.nRows, String(heat.columnNs)], [json.columns, json.rows, json.column_ns]);
	assert.deepEqual(heat.rowLabels?.map(shown), json.row_labels?.map(shown));
	assert.deepEqual([...heat.samples], json.samples.flat());
	const values = json.values.flat();
	for (let cell = 0; cell < values.length; cell++)
		if (heat.samples[cell])
			same(heat.values[cell], values[cell], `cell ${cell}`);
	same(heat.min, json.min, "min");
	same(heat.max, json.max, "max");
}

/* What the command says about a selection of nothing is its own affair: a status, no file. */
function compareWithCommand(state, path, selection, heat) {
	const flags = flagsOf(state);
	const refuses = (command) => assert.throws(() => run(command, ...flags, path), (error) => error.status > 0, command);
	if (!selection || selection.n === 0)
		return refuses("heatmap");
	const by = state.by ? [`--by=${state.by}`] : [];
	compareHeat(heat, run("heatmap", `--column=${columnOf(selection.profile) / 1e9}s`, ...by, ...flags, path));
	compareFunctions(selection, run("report", "--by=total", "--top=0", ...flags, path));
	if (sizeOf(selection.values) === 0 && selection.measure !== "mean")
		return refuses("flamegraph");
	return compareFlame(selection, run("flamegraph", ...flags, path));
}

/* --- the queries --- */

/* null: it asks for what the recording has not. */
function select(profile, state) {
	try {
		const whole = makeSelection(profile, state.query);
		return { whole, selection: inRanges(whole, state.ranges) };
	} catch (error) {
		assert.match(error.message, /^samples have no|takes too long/);
		return null;
	}
}

/* Events that are rows are side by side. */
const ofHeat = (selection, { by, query, ranges }) => (by === "event"
	? inRanges({ profile: selection.profile, query, everyEvent: true }, ranges) : selection);

/* How many samples there were to check. */
function check(profile, path, state, withCommand) {
	const found = select(profile, state);
	let heat = null;
	if (found) {
		const { whole, selection } = found;
		checkSelection(whole, selection, state.ranges);
		checkStacks(selection);
		checkSums(selection);
		heat = selection.n ? checkHeat(ofHeat(selection, state), state.by) : null;
	}
	if (withCommand)
		compareWithCommand(state, path, found?.selection, heat);
	const n = found?.selection.n ?? 0;
	found?.whole.release();
	found?.selection.release();
	return n;
}

test(`${N_QUERIES} random queries, seed ${SEED}`, async (t) => {
	const random = makeRandom(SEED);
	const recordings = [];
	for (const path of files) {
		const profile = readPack(await packOfCommand(path));
		recordings.push({ path, profile, vocabulary: vocabularyOf(profile) });
	}
	let empty = 0;
	for (let i = 0; i < N_QUERIES; i++) {
		const { path, profile, vocabulary } = recordings[i % recordings.length];
		const state = randomState(random, vocabulary);
		try {
			empty += check(profile, path, state, i % EACH_OF_COMMAND === 0) === 0;
		} catch (error) {
			error.message = `query ${i} of seed ${SEED}: wick heatmap ${flagsOf(state).map((flag) => `'${flag}'`).join(" ")} ${path} (by '${state.by}'): ${error.message}`;
			throw error;
		}
	}
	t.diagnostic(`${empty} of ${N_QUERIES} queries select nothing`);
	assert.ok(empty < N_QUERIES / 2);
});

/* --- comparisons --- */

/* SECONDS at 40 Hz in twelve functions of which each second favours one; MORE of them are work_3's. */
function write(name, { seconds, more = 0, seed = 1 }) {
	const { below } = makeRandom(seed);
	let text = "";
	let live = 0;
	for (let s = 0; s < seconds; s++) {
		const favourite = below(12);
		for (let i = 0; i < 40; i++) {
			let f = below(3) === 0 ? favourite : below(12);
			if (below(1000) < more)
				f = 3;
			const change = (below(5000) + 1) * (f % 2 ? 1 : -1);
			live += change;
			text += `# s st=running heap=${live},${change}\n` +
				`app 7/${7 + (f % 2)} [000] ${1000 + s}.${String(i * 25).padStart(3, "0")}000: ${1 + below(9)} cpu-clock: \n` +
				`\t1000 work_${f}+0x1 (/bin/app)\n${f === 5 ? "\t1000 work_5+0x1 (/bin/app)\n" : ""}` +
				`\t2000 ${f % 3 ? "main" : "[unknown]"}+0x1 (/bin/app)\n\n`;
		}
	}
	const path = join(folder, name);
	writeFileSync(path, text);
	return path;
}

function digits(got, wanted, n, what) {
	assert.ok(Math.abs(got - wanted) <= 0.51 * 10 ** -n, `${what}: ${got}, not ${wanted}`);
}

function compareFunction(diff, i, wanted) {
	const name = diff.names[i];
	assert.equal(shown(name), shown(wanted.name));
	for (const part of ["total", "self"]) {
		digits(diff[part][0][i], wanted[part].before, 8, `${name} ${part} before`);
		digits(diff[part][1][i], wanted[part].after, 8, `${name} ${part} after`);
		digits(diff.chance[`${part}P`][i], wanted[part].p, 6, `${name} ${part} p`);
	}
	assert.equal(Boolean(diff.chance.selfFlag[i] || diff.chance.totalFlag[i]), wanted.significant, name);
}

/* What both make of two files; returns the command's. */
async function compareDiff(base, now, words = "") {
	const { query } = parseHash(words);
	const json = run("diff", "--all", ...flagsOf({ ranges: [], query }), base, now);
	const sides = [];
	for (const path of [base, now])
		sides.push(makeSelection(readPack(await packOfCommand(path)), query));
	const diff = makeDiff(...sides);
	sides.forEach((side) => side.release()); /* as it may happen while chance is computed */
	chanceOf(diff);
	assert.deepEqual([diff.chance.level, diff.chance.least], [json.level, json.least]);
	assert.deepEqual([sides[0].n, sides[1].n], [json.before.samples, json.after.samples]);
	assert.deepEqual(diff.whole, [json.before.whole, json.after.whole]);
	assert.equal(diff.chance.n, json.permutations);
	digits(diff.chance.smallestP, json.smallest_p, 6, "the smallest p");
	assert.equal(diff.chance.problem, json.no_significance ?? "");
	assert.equal(diff.names.length, json.functions.length);
	json.functions.forEach((wanted, i) => compareFunction(diff, i, wanted));
	return json;
}

test("a difference of few seconds is the command's", async () => {
	const json = await compareDiff(write("a5.perf", { seconds: 5 }), write("b5.perf", { seconds: 5, more: 700, seed: 2 }));
	assert.equal(json.permutations, 252);
	assert.ok(json.functions.some(({ name, significant }) => name === "work_3" && significant));
	const one = write("one.perf", { seconds: 1 });
	assert.match((await compareDiff(one, write("two.perf", { seconds: 2 }))).no_significance, /a second/);
});

test("a difference of more seconds is the command's, by each measure", async () => {
	const base = write("a.perf", { seconds: 16 });
	const now = write("b.perf", { seconds: 13, more: 500, seed: 2 });
	for (const words of ["metric=samples", "metric=heap:delta", "metric=heap:gain&group=thread&flatten"])
		assert.equal((await compareDiff(base, now, words)).permutations, 4999);
});

test("a difference of recordings with names of all kinds is the command's", async () => {
	await compareDiff(join(samples, "python.perf"), join(samples, "perl.perf"), "metric=samples");
	await compareDiff(join(golden, "golden.perf"), join(golden, "golden.perf"));
});
