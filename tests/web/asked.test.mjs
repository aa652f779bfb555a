/* asked.test.mjs - what the page asks its worker, and the worker as a script */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { makeModels, drawing } from "../../flamescope/web/state/asked.js";
import { makeStore } from "../../flamescope/web/state/store.js";
import { watched } from "../../flamescope/web/state/watched.js";
import { packOfSamples } from "./packs.mjs";
import { there } from "./there.mjs";

const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

/* A worker that answers by hand: {asked: [message], say(value), fail(problem)}. */
function byHand(state = "") {
	let listen;
	const hand = { asked: [], say: (value) => listen({ data: { value } }), fail: (problem) => listen({ data: { problem } }) };
	const app = { store: makeStore(state), profile: { name: "A" }, baseline: null };
	hand.app = app;
	hand.models = makeModels(app, {
		addEventListener: (_, listener) => (listen = listener),
		postMessage: (message) => hand.asked.push(message),
	});
	return hand;
}

test("a drawing is made again when its answer has come, and once", async () => {
	const hand = byHand();
	const drawn = [];
	const draw = drawing(() => drawn.push(hand.models.functions()));
	draw();
	draw();
	await turn();
	assert.deepEqual([drawn, hand.asked.map(({ question }) => question)], [[], ["functions"]]);
	hand.say({ n: 1 });
	await turn();
	assert.deepEqual(drawn, [{ n: 1 }]);
	draw();
	assert.deepEqual(drawn, [{ n: 1 }, { n: 1 }]);
	assert.equal(hand.asked.length, 1);
});

test("what waits while the state changes is not asked", async () => {
	const hand = byHand();
	const draw = drawing(() => hand.models.functions());
	hand.app.store.subscribe(draw);
	draw();
	await turn();
	for (let i = 1; i < 9; i++)
		hand.app.store.set({ ranges: [{ from: 0, to: i * 1e9, rows: null }] });
	await turn();
	hand.say({ n: 0 });
	await turn();
	await turn();
	assert.deepEqual(hand.asked.map(({ state }) => state.ranges[0]?.to), [undefined, 8e9]);
});

test("a drawing that is stopped is not made", async () => {
	const hand = byHand();
	let n = 0;
	const draw = drawing(() => (hand.models.functions(), n++));
	draw();
	await turn();
	draw.stop();
	hand.say({ n: 1 });
	await turn();
	assert.equal(n, 0);
});

test("an answer that is an error is one for each who asks, and is asked once", async () => {
	const hand = byHand();
	const first = there(() => hand.models.details("f"));
	await turn();
	hand.fail("no memory");
	await assert.rejects(first, /no memory/);
	await assert.rejects(there(() => hand.models.details("f")), /no memory/);
	const second = hand.models.ask("file", "pb");
	await turn();
	hand.fail("no file");
	await assert.rejects(second, /no file/);
	assert.equal(hand.asked.length, 2);
});

test("an answer about a recording that is gone is nobody's", async () => {
	const hand = byHand();
	const drawn = [];
	const draw = drawing(() => drawn.push(hand.models.whole().profile));
	draw();
	await turn();
	hand.app.profile = { name: "another" };
	hand.models.forget();
	hand.say({ n: 1 });
	await turn();
	await turn();
	assert.equal(drawn.length, 0);
	hand.say({ n: 2 });
	await turn();
	assert.deepEqual(drawn, [{ name: "another" }]);
});

test("idle is when nothing waits", async () => {
	const hand = byHand();
	let idle = false;
	const asked = [hand.models.ask("values", "a"), hand.models.ask("values", "b")];
	hand.models.idle().then(() => (idle = true));
	await turn();
	hand.say([]);
	await turn();
	assert.equal(idle, false);
	await turn();
	hand.say([]);
	await Promise.all(asked);
	await turn();
	assert.equal(idle, true);
});

/* The script that the build has made, in a thread, with what a worker of a browser has. */
test("the worker answers what the page asks, and errors are answers", async () => {
	const script = readFileSync(join(dirname(process.env.WICK_MODEL), "..", "web", "worker.js"), "utf8");
	const worker = new Worker(`const { parentPort } = require("node:worker_threads");
globalThis.self = { postMessage: (value, transfer) => parentPort.postMessage(value, transfer),
	addEventListener: (_, listen) => parentPort.on("message", (data) => listen({ data })) };
${script}`, { eval: true });
	const app = { store: makeStore("metric=samples"), profile: null, baseline: null };
	const models = makeModels(app, watched(() => ({
		addEventListener: (_, listen) => worker.on("message", (data) => listen({ data })),
		postMessage: (message) => worker.postMessage(message),
	})));
	await assert.rejects(models.open({ A: { buffer: Uint8Array.from([1, 2, 3]).buffer } }), /damaged/);
	await assert.rejects(models.open({ A: { text: gzipSync("a pack").subarray(0, 20).toString("base64") } }), /ends too early/);
	const bytes = packOfSamples(1000, "--seconds", "10");
	const text = Buffer.from(bytes).toString("base64");
	app.profile = (await models.open({ A: { text } })).A;
	assert.equal(app.profile.n, 1000);
	/* One that cannot be read leaves the others as they were. */
	await assert.rejects(models.open({ A: null, C: { text }, D: { text: "H4sI" } }), /ends too early/);
	app.opened = { A: { profile: app.profile }, C: (({ C }) => ({ profile: C }))(await models.open({ C: { text } })) };
	const sides = await there(() => models.sides());
	assert.deepEqual(sides.map(({ which, tree }) => [which, tree.samples[0], tree.selection.profile === app.opened[which].profile]),
		[["A", 1000, true], ["C", 1000, true]]);
	const selection = await there(() => models.selection());
	assert.deepEqual([selection.n, selection.sum, selection.profile], [1000, 1000, app.profile]);
	const tree = await there(() => models.flame("calls", ""));
	assert.equal(tree.samples[0], 1000);
	assert.equal(app.profile.text(app.profile.frames.name[tree.frame[1]]).length > 0, true);
	for (const ask of [() => models.heat(1e9, 0), () => models.strip(8, 0, 1e9, 100), () => models.stripParts(8, 0, 1e9, 10), () => models.stackColours(), () => models.details(""),
		() => models.threads(app.store.state.query, 0, 1e9),
		() => models.brush(10), () => models.values("thread", ""), () => models.functions()]) {
		assert.ok(await there(ask));
		assert.ok(await there(ask));
	}
	assert.equal((await there(() => models.brush(10))).gain.reduce((sum, one) => sum + one, 0), 1000);
	app.store.set({ rangesB: [{ from: 0, to: 5e9, rows: null }], ranges: [{ from: 5e9, to: Infinity, rows: null }] });
	const diff = await there(() => models.diff());
	assert.ok(diff.names.length > 1);
	app.store.set({ changes: "new" });
	assert.ok((await there(() => models.diff())).tree.width.some((width, node) => node && width === 0), "another tree");
	app.store.set({ changes: "" });
	let slice = await models.ask("chance");
	while (!slice.chance)
		slice = await models.ask("chance");
	assert.equal(slice.chance.selfP.length, diff.names.length);
	assert.ok((await models.ask("file", "folded")).length > 0);
	for (const kind of ["flame.svg", "sandwich.svg", "functions.csv", "heatmap.svg", "heatmap.csv", "diff.svg", "diff.csv"])
		assert.ok((await models.ask("drawing", kind, "a title", { columnNs: 1e9, phaseNs: 0 })).length > 100, kind);
	app.store.set({ ranges: [{ from: 6e9, to: 9e9, rows: null }] });
	const picture = Buffer.from(await models.ask("drawing", "diff.svg", "a title")).toString();
	assert.match(picture, /id="reverse"[^]*<\/svg>\s*$/);
	app.store.set({ query: { ...app.store.state.query, metric: "none" } });
	assert.match((await there(() => models.whole())).problem, /no metric 'none'/);
	await worker.terminate();
});
