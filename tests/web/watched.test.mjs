/* watched.test.mjs - a worker that a pattern keeps busy, and the one that comes in its place */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { makeModels } from "../../flamescope/web/state/asked.js";
import { EMPTY_QUERY } from "../../flamescope/web/state/query.js";
import { makeStore } from "../../flamescope/web/state/store.js";
import { watched } from "../../flamescope/web/state/watched.js";
import { packByHand } from "./packs.mjs";
import { there } from "./there.mjs";

/* Workers that answer by hand, the newest last: {asked: [message], ended, say(message)}. */
function byHand() {
	const workers = [];
	const heard = [];
	const worker = watched(() => {
		const made = { asked: [], ended: false };
		workers.push(made);
		return {
			addEventListener: (_, listen) => (made.say = (data) => listen({ data })),
			postMessage: (question) => made.asked.push(question),
			terminate: () => (made.ended = true),
		};
	});
	worker.addEventListener("message", ({ data }) => heard.push(data));
	return { workers, heard, worker };
}

/* Time goes on only when it is told to. */
function withClock(t) {
	t.mock.timers.enable(["setTimeout"]);
	return async (ms) => {
		t.mock.timers.tick(ms);
		for (let i = 0; i < 9; i++)
			await null;
	};
}

const open = { question: "open", words: [{ A: { text: "A" } }] };
const search = { question: "search", words: [] };

test("a worker that says nothing more of a pattern is ended, and another one has its question", async (t) => {
	const go = withClock(t);
	const { workers, heard, worker } = byHand();
	worker.postMessage(open);
	await go(0);
	workers[0].say({ value: 1 });
	worker.postMessage(search);
	await go(0);
	for (const matching of ["a", "", "b", "c"])
		workers[0].say({ matching });
	await go(4999);
	workers[0].say({ matching: "b" }); /* it goes on */
	await go(4999);
	assert.equal(workers[0].ended, false);
	await go(1);
	assert.equal(workers[0].ended, true);
	assert.deepEqual(workers[1].asked, [{ question: "refuse", words: [["b", "c"]] }, open, search]);
	workers[0].say({ value: "late" });
	for (const value of ["refused", "opened", "found"])
		workers[1].say({ value });
	assert.deepEqual(heard, [{ value: 1 }, { value: "found" }]);
	/* The next one knows of all patterns. */
	worker.postMessage(search);
	await go(0);
	workers[1].say({ matching: "d" });
	await go(5000);
	assert.deepEqual(workers[2].asked.map(({ words }) => words), [[["b", "c"]], [["d"]], open.words, []]);
});

test("one that has answered, or that matches no pattern, has all the time", async (t) => {
	const go = withClock(t);
	const { workers, heard, worker } = byHand();
	worker.postMessage(search);
	await go(60000);
	workers[0].say({ matching: "a" });
	workers[0].say({ matching: "" });
	await go(60000);
	workers[0].say({ matching: "a" });
	workers[0].say({ problem: "none" });
	await go(60000);
	assert.deepEqual([workers.length, heard], [1, [{ problem: "none" }]]);
});

test("a recording that could not be opened is not opened again", async (t) => {
	const go = withClock(t);
	const { workers, worker } = byHand();
	worker.postMessage(open);
	await go(0);
	workers[0].say({ problem: "damaged" });
	worker.postMessage(search);
	await go(0);
	workers[0].say({ matching: "a" });
	await go(5000);
	assert.deepEqual(workers[1].asked.map(({ question }) => question), ["refuse", "search"]);
});

test("a file that takes too long is given up, and what was open is still there", async (t) => {
	const go = withClock(t);
	const { workers, heard, worker } = byHand();
	const file = { question: "open", words: [{ A: { file: { size: 2 ** 21 } }, B: null }] };
	worker.postMessage(open);
	await go(60000);
	workers[0].say({ value: 1 });
	worker.postMessage(file);
	await go(31999);
	assert.equal(workers[0].ended, false);
	await go(1);
	assert.equal(workers[0].ended, true);
	assert.match(heard[1].problem, /longer than 32 s to open, try: wick view FILE/);
	assert.deepEqual(workers[1].asked, [open]);
	/* The next one has its time from when the worker is at it. */
	worker.postMessage(file);
	await go(40000);
	workers[1].say({ value: "opened again" });
	await go(31999);
	workers[1].say({ value: 2 });
	await go(60000);
	assert.deepEqual([workers.length, heard.length, heard[2]], [2, 3, { value: 2 }]);
	worker.postMessage(search);
	await go(60000);
	assert.equal(workers.length, 2);
});

test("a worker that cannot be started says why", async () => {
	const worker = watched(() => Promise.reject(new Error("no worker")));
	const said = new Promise((resolve) => worker.addEventListener("message", ({ data }) => resolve(data)));
	worker.postMessage(search);
	assert.deepEqual(await said, { problem: "no worker" });
});

test("a pattern that would never end is given up, of a recording that is still there", { timeout: 60000 }, async (t) => {
	const script = readFileSync(join(dirname(process.env.WICK_MODEL), "..", "web", "worker.js"), "utf8");
	const workers = [];
	t.after(() => Promise.all(workers.map((worker) => worker.terminate())));
	const app = { store: makeStore(`only=${encodeURIComponent("(a+)+$")}`), profile: null, baseline: null };
	const models = makeModels(app, watched(() => {
		const worker = new Worker(`const { parentPort } = require("node:worker_threads");
globalThis.self = { postMessage: (value, transfer) => parentPort.postMessage(value, transfer),
	addEventListener: (_, listen) => parentPort.on("message", (data) => listen({ data })) };
${script}`, { eval: true });
		workers.push(worker);
		return {
			addEventListener: (_, listen) => worker.on("message", (data) => listen({ data })),
			postMessage: (message) => worker.postMessage(message),
			terminate: () => worker.terminate(),
		};
	}));
	const stack = [`${"a".repeat(60)}!`];
	const pack = packByHand({ samples: [{ stack }, { stack }], units: {}, events: ["cycles"], isWick: false, hasTimes: true, hz: 0 });
	app.profile = (await models.open({ A: { text: Buffer.from(pack).toString("base64") } })).A;
	assert.match((await there(() => models.whole())).problem, /'\(a\+\)\+\$' takes too long on these names/);
	assert.match((await there(() => models.selection())).problem, /takes too long/);
	app.store.set({ query: EMPTY_QUERY, search: "(A+)+$|(a|aa)+$" });
	assert.match((await there(() => models.search())).problem, /takes too long/);
	app.store.set({ search: "^a" });
	assert.deepEqual((await there(() => models.search())).found, [Uint8Array.of(1)]);
	assert.equal((await there(() => models.whole())).n, 2);
	assert.equal(workers.length, 3);
});
