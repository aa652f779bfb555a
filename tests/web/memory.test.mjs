/* memory.test.mjs - what is forgotten is given back: WebAssembly's memory only grows */

import assert from "node:assert/strict";
import { test } from "node:test";
import { readPack, withStacks } from "./columns.mjs";
import { parseHash } from "../../flamescope/web/state/store.js";
import { makeSelections } from "../../flamescope/web/models/answers.js";
import { makeFunctions } from "../../flamescope/web/models/flame.js";
import { makeHeat } from "../../flamescope/web/models/heat.js";

/* The memory is model.js's own: it is seen where that asks for it, before packs.mjs starts it. */
let memory = null;
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (...args) => {
	const started = await instantiate(...args);
	if (args[1]?.page) /* node has modules of its own */
		memory = started.instance.exports.memory;
	return started;
};
const { packOfSamples } = await import("./packs.mjs");

const MIB = 2 ** 20;
const N_SAMPLES = 200000;
const N_SELECTIONS = 300;
const bytes = () => memory.buffer.byteLength;

const made = packOfSamples(N_SAMPLES, "--seconds", "60");

/* Their arrays alone are 16 bytes a sample: were all of them kept, it would be this. */
const KEPT = N_SELECTIONS * N_SAMPLES * 16;

/* All samples, in words that differ each time, and what the views ask of them. */
const stateOf = (i) => parseHash(`where=cpu!=none_${i}&metric=${["samples", "period", "cpu_ns"][i % 3]}` +
	`${i % 4 === 0 ? "&t=collapse&t=merge:main" : ""}${i % 5 === 0 ? "&time=0-59" : ""}`);

test(`${N_SELECTIONS} selections in a row have the memory of those that are kept`, () => {
	const selections = makeSelections({ A: readPack(made), B: null });
	const look = (i) => {
		const selection = selections.selection(stateOf(i));
		const { n, stacks, values } = withStacks(selection);
		assert.ok(n > 0.9 * N_SAMPLES && stacks.length === n && values.length === n);
		if (i % 10 === 0)
			assert.ok(makeFunctions(selection).n > 0 && makeHeat(selections.whole(stateOf(i))).samples.length > 0);
	};
	const start = bytes();
	for (let i = 0; i < N_SELECTIONS / 3; i++)
		look(i);
	const some = bytes();
	for (let i = N_SELECTIONS / 3; i < N_SELECTIONS; i++)
		look(i);
	assert.ok(some - start < KEPT / 4, `${(some - start) / MIB} MiB for the first`);
	assert.ok(bytes() - some <= (some - start) / 8, `${(bytes() - some) / MIB} MiB more, after ${(some - start) / MIB}`);
	selections.forget();
	for (let i = 0; i < 24; i++)
		look(i);
	assert.ok(bytes() - some <= (some - start) / 8, `${(bytes() - some) / MIB} MiB more when all was forgotten`);
});

test("a pack that is refused is given back", () => {
	const pack = made.slice(0, -8);
	assert.throws(() => readPack(pack), /cut short/);
	const before = bytes();
	for (let i = 0; i < 20; i++)
		assert.throws(() => readPack(pack), /cut short/);
	assert.ok(bytes() - before < 2 * pack.length, `${(bytes() - before) / MIB} MiB`);
});
