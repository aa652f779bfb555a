/*
 * equal.test.mjs - the page's heatmaps and graphs are the command's, cell by cell, frame by frame
 *
 * The pack is taken out of the page that `wick view` writes, the models of the page run over it,
 * and `wick heatmap` and `wick flamegraph` run over the same file with the same words.
 * WICK is the program.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fromBase64, inflate, readPack } from "../../flamescope/web/pack.js";
import { commandFlags } from "../../flamescope/web/query.js";
import { parseHash } from "../../flamescope/web/store.js";
import { frameInlined, frameModule, frameName, inRanges, isGroupLabel, makeSelection } from "../../flamescope/web/select.js";
import { makeFlame } from "../../flamescope/web/flame.js";
import { makeHeat } from "../../flamescope/web/heat.js";
import { folder, golden } from "./packs.mjs";

const { WICK } = process.env;
const files = [join(golden, "zoo.comment.perf"), join(golden, "golden.perf"), join(golden, "zoo.inline.perf"), join(golden, "labels.perf"),
	join(golden, "..", "view", "samples", "xz.perf"), join(golden, "..", "view", "samples", "gzip.perf"),
	join(golden, "..", "view", "samples", "system.perf")];
const queries = ["", "metric=samples", "group=thread", "group=comm,cpu", "flatten", "only=^m", "without=main&metric=period",
	"thread=/40", "where=comm!=^a", "focus=^main$", "truncate=main", "elide=@wrappers", "elide=e$&group=process",
	"time=0-0.5", "time=0-3@0-300ms&time=0.2-0.4", "every=1s:500-900ms", "every=300ms:0-100ms&time=0.1-",
	"idle", "group=event", "idle&group=event,comm", "where=event!=c", "where=event!=c&idle"];
const ofWick = ["metric=cpu_ns:delta", "metric=rss_kib:mean", "metric=rss_kib:gain", "metric=rss_kib_delta", "metric=rss_kib:loss",
	"group=state,wait", "state=sleep&metric=minflt", "wait=", "group=rss_kib:class", "group=state,cpu_ns:class&where=minflt:class!=10s",
	"metric=rss_kib:delta&group=sign", "metric=rss_kib:loss&group=sign,thread", "group=rss_kib:sign"];

const ofLabels = ["group=task,tier", "group=identity", "where=tier=^db$", "where=tier!=db&idle", "group=req",
	"where=trace=", "where=identity=script&group=trace,span", "group=attr_wait"];

function run(...words) {
	const out = join(folder, "out.json");
	execFileSync(WICK, [...words.slice(0, 1), "--no-index", "--force", "-o", out, ...words.slice(1)], { stdio: ["ignore", "ignore", "pipe"] });
	return JSON.parse(readFileSync(out, "utf8"));
}

async function packOf(path) {
	const page = join(folder, "page.html");
	execFileSync(WICK, ["view", "--no-open", "--no-index", "--force", "-o", page, path], { stdio: "ignore" });
	const text = readFileSync(page, "utf8");
	const partOf = (type) => inflate(fromBase64(new RegExp(`<script type="application/x-wick-${type}"[^>]*>([^<]*)<`).exec(text)[1]));
	const profile = readPack(await partOf("pack"), false);
	profile.finish(await partOf("rest"));
	return profile;
}

/* Doubles are exact up to 2^53; above, a part in 10^12 is the same. */
function same(got, wanted, what) {
	const exact = Math.abs(wanted) < 2 ** 53;
	assert.ok(exact ? got === wanted : Math.abs(got - wanted) <= Math.abs(wanted) * 1e-12, `${what}: ${got}, not ${wanted}`);
}

/* Controls and bytes that are no UTF-8 are shown by each as it can. */
const shown = (name) => name.replace(/[\0-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffd]+/g, "\ufffd");

function compareHeat(heat, json, what) {
	assert.deepEqual([heat.nColumns, heat.nRows], [json.columns, json.rows], what);
	assert.deepEqual(heat.rowLabels?.map(shown), json.row_labels?.map(shown), what);
	for (let column = 0; column < heat.nColumns; column++) {
		for (let row = 0; row < heat.nRows; row++) {
			const cell = column * heat.nRows + row;
			if (heat.samples[cell] !== json.samples[column][row] ||
				(heat.samples[cell] === 0) !== (json.values[column][row] === null))
				assert.fail(`${what}: ${heat.samples[cell]} samples at ${column},${row}`);
			if (heat.samples[cell])
				same(heat.values[cell], json.values[column][row], `${what}: ${column},${row}`);
		}
	}
}

/* Frames of one name, module and kind are one, in the order of the graph. */
function compareFlame(flame, json, what) {
	const { selection } = flame;
	const keyOf = ({ name, module, inlined }) => `${shown(name)}\n${shown(module)}\n${inlined}`;
	const visit = (node, wanted, path) => {
		for (const [column, key] of [["gain", "gain"], ["loss", "loss"], ["samples", "samples"], ["selfGain", "self_gain"],
			["selfLoss", "self_loss"], ["selfSamples", "self_samples"]])
			same(flame[column][node], wanted[key], `${what}: ${path} ${key}`);
		const children = new Map();
		const names = [];
		for (let child = flame.firstChild[node]; child !== 0; child = flame.next[child]) {
			const frame = flame.frame[child];
			/* What is no wider than nothing is not drawn, and the command leaves it out. */
			if (flame.gain[child] + flame.loss[child] === 0 && selection.measure !== "mean")
				continue;
			const label = isGroupLabel(selection, frame);
			const key = keyOf({ name: frameName(selection, frame), module: label ? "" : frameModule(selection, frame),
				inlined: frameInlined(selection, frame) });
			assert.ok(!children.has(key), `${what}: ${path} has ${key} twice`);
			children.set(key, child);
			names.push(shown(frameName(selection, frame)));
		}
		assert.deepEqual(names, wanted.children.map(({ name }) => shown(name)), `${what}: ${path}`);
		for (const child of wanted.children) {
			assert.ok(children.has(keyOf(child)), `${what}: ${path} lacks ${child.name}`);
			visit(children.get(keyOf(child)), child, `${path};${child.name}`);
		}
	};
	visit(0, json.root, "");
}

/* What the command says about a selection of nothing is its own affair: a status, no file. */
function compare(profile, path, words) {
	const state = parseHash(words);
	const flags = commandFlags(state.ranges, state.query).split(" ").filter((flag) => flag)
		.map((flag) => flag.replace(/'/g, ""));
	const selection = inRanges(makeSelection(profile, state.query), state.ranges);
	const what = `${path} ${words}`;
	if (selection.n === 0) {
		assert.throws(() => run("heatmap", ...flags, path), (error) => error.status > 0, what);
		return 0;
	}
	/* Of a recording of hours the columns are longer: the test is about cells, not about JSON. */
	const columnNs = profile.lengthNs > 1e12 ? 100e9 : 1e9;
	const column = `--column=${columnNs / 1e9}s`;
	compareHeat(makeHeat(selection, { columnNs }), run("heatmap", column, ...flags, path), what);
	compareHeat(makeHeat(selection, { columnNs, by: "thread" }),
		run("heatmap", column, "--by", "thread", ...flags, path), `${what} by thread`);
	if (profile.metrics.length)
		compareHeat(makeHeat(selection, { columnNs, by: "rss_kib:class" }),
			run("heatmap", column, "--by", "rss_kib:class", ...flags, path), `${what} by rss_kib:class`);
	if (profile.tags.some(({ name }) => name === "tier"))
		for (const by of ["identity", "req", "task"])
			compareHeat(makeHeat(selection, { columnNs, by }), run("heatmap", column, "--by", by, ...flags, path), `${what} by ${by}`);
	const flame = makeFlame(selection);
	if (flame.gain[0] + flame.loss[0] === 0 && selection.measure !== "mean")
		assert.throws(() => run("flamegraph", ...flags, path), /there is nothing to draw/, what);
	else
		compareFlame(flame, run("flamegraph", ...flags, path), what);
	return selection.n;
}

for (const path of files) {
	test(`${path.replace(/.*\//, "")}: the same in the page and in the command`, async () => {
		const profile = await packOf(path);
		assert.ok(profile.n > 0);
		let n = 0;
		const ofTags = profile.tags.some(({ name }) => name === "tier") ? ofLabels : [];
		for (const words of profile.metrics.length ? [...queries, ...ofWick, ...ofTags] : queries)
			n += compare(profile, path, words);
		assert.ok(n > profile.n);
	});
}

test("what differs is noticed", async () => {
	const profile = await packOf(files[0]);
	profile.weight[3] += 1;
	assert.throws(() => compare(profile, files[0], ""), assert.AssertionError);
});
