/*
 * model.js - the models in C (flamescope/wasm), called from JavaScript
 *
 * Addresses stay numbers; columns are copied out, for memory that grows moves.  A call that fails
 * throws what C says.  A pattern that C needs is one of pattern.js.
 */

import { makePattern } from "wick/models/pattern.js";
import { modelText } from "wick/model_bytes.js";

const MAX_MESSAGE = 400; /* as flamescope/wasm/host.c has it */
const TYPES = [Uint8Array, Uint16Array, Uint32Array, Int32Array, Float64Array]; /* enum wasm_type */
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); /* a name may begin with one */
const patterns = new Map(); /* by the numbers that C has */
let model = null;
let lastPattern = 0;

const bytesOf = (at, n) => new Uint8Array(model.memory.buffer, at, n);

function textAt(at) {
	const bytes = new Uint8Array(model.memory.buffer);
	return decoder.decode(bytes.subarray(at, bytes.indexOf(0, at)));
}

/* What STEP returns; -1 and its reason at MESSAGE, cut to whole characters, and a NUL. */
function orMessage(message, step) {
	try {
		return step();
	} catch (error) {
		const { written } = encoder.encodeInto(error.message, bytesOf(message, MAX_MESSAGE));
		bytesOf(message, MAX_MESSAGE + 1)[written] = 0;
		return -1;
	}
}

const imports = {
	page: {
		pattern_new: (at, n, message) => orMessage(message, () => {
			patterns.set(++lastPattern, makePattern(decoder.decode(bytesOf(at, n))));
			return lastPattern;
		}),
		pattern_matches: (number, at, n, message) =>
			orMessage(message, () => (patterns.get(number).test(decoder.decode(bytesOf(at, n))) ? 1 : 0)),
		pattern_free(number) {
			patterns.get(number).end();
			patterns.delete(number);
		},
	},
	wasi_snapshot_preview1: {
		random_get(at, n) {
			crypto.getRandomValues(bytesOf(at, n));
			return 0;
		},
		/* There are no files: EBADF. */
		fd_close: () => 8,
		fd_seek: () => 8,
		fd_write: () => 8,
	},
};

/** base64 -> bytes; white space between is fine. */
export function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const letters = atob(text);
	const bytes = new Uint8Array(letters.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = letters.charCodeAt(i);
	return bytes;
}

/** Before anything else of this module: makes the models ready. */
export async function startModel() {
	if (model)
		return;
	const bytes = new Blob([fromBase64(modelText)]).stream().pipeThrough(new DecompressionStream("gzip"));
	const { instance } = await WebAssembly.instantiate(await new Response(bytes).arrayBuffer(), imports);
	model = instance.exports;
	model._initialize();
}

/** A block with BYTES in it; the one that it is given to frees it. */
export function allocate(bytes) {
	const at = model.allocate(bytes.length);
	if (at === 0)
		throw new RangeError("there is no memory for this recording in a page");
	bytesOf(at, bytes.length).set(bytes);
	return at;
}

/** Frees a block of allocate() that nobody else has taken. */
export const release = (block) => model.release(block);

function take(at) {
	const [data, n, type, owned] = new Uint32Array(model.memory.buffer, at, 4);
	const column = new TYPES[type](model.memory.buffer, data, data ? n : 0).slice();
	if (owned)
		model.release(data);
	else if (n && !data)
		throw new RangeError("there is no memory for this in a page");
	return column;
}

/* Calls a function of C; texts and bytes among the arguments are passed as C has them. */
function call(name, args) {
	const blocks = [];
	const given = args.map((arg) => {
		if (typeof arg === "number")
			return arg;
		blocks.push(allocate(typeof arg === "string" ? encoder.encode(`${arg}\0`) : arg));
		return blocks.at(-1);
	});
	try {
		return model[name](...given);
	} finally {
		blocks.forEach((block) => model.release(block));
	}
}

/* The address that a function of C returns; an Error with its reason. */
function addressOf(name, args) {
	const at = call(name, args);
	if (at === 0)
		throw new Error(textAt(model.error_text()));
	return at;
}

/** make("heat", ...): what heat_new() makes. */
export const make = (kind, ...args) => addressOf(`${kind}_new`, args);

export const free = (kind, made) => model[`${kind}_free`](made);

/** using("heat", [selection...], use): what USE makes of it; it is freed. */
export function using(kind, args, use) {
	const made = make(kind, ...args);
	try {
		return use(made);
	} finally {
		free(kind, made);
	}
}

/** column("heat", heat, "samples"): a copy, as a typed array. */
export function column(kind, made, ...args) {
	const at = call(`${kind}_column`, [made, ...args]);
	if (at === 0)
		throw new Error(`there is no column ${args.join(" ")}`);
	return take(at);
}

/** Several of them: {name: column}. */
export const columns = (kind, made, ...names) => Object.fromEntries(names.map((name) => [name, column(kind, made, name)]));

/** facts("heat", heat): what it says of itself. */
export const facts = (kind, ...args) => JSON.parse(textAt(addressOf(`${kind}_facts`, args)));

/** Bytes of a file: ("file", selection, its end: "perf", "pb"...). */
export function fileOf(kind, ...args) {
	const file = make(kind, ...args);
	const bytes = column("file", file);
	free("file", file);
	return bytes;
}

/**
 * The same of a drawing (KIND and OF: flamescope/wasm/wasm_draw.c).  MATCHES, a byte a frame, are what SEARCH
 * finds; frames are coloured BY a word of FRAME_COLOURS.
 */
export const drawingOf = (kind, selection, of, { title = "", around = "", by = "", search = "", matches = [] }) =>
	fileOf("drawing", kind, selection.made, of, [title, around, by, search].map((text) => text.replaceAll("\0", "\ufffd")).join("\0"),
		matches.length ? Uint8Array.from(matches) : 0, matches.length);

/** The part of a comparison's permutations that were tested, N of them now. */
export function testDiff(diff, n) {
	const part = model.diff_test(diff, n);
	if (part < 0)
		throw new RangeError("there is no memory for this in a page");
	return part;
}

/** The text of a string's number. */
export const stringOf = (profile, number) => textAt(model.profile_string(profile, number));

/** Of what zstd has compressed: begin(), add() of bytes after bytes, end() -> the number. */
export const checksum = {
	begin: () => model.checksum_begin(),
	add: (bytes) => call("checksum_add", [bytes, bytes.length]),
	end: () => model.checksum_end() >>> 0,
};

/** OBJECT with properties of MAKERS, {name: () -> its value}, each made when it is first asked for. */
export function lazy(object, makers) {
	for (const [name, makeIt] of Object.entries(makers))
		Object.defineProperty(object, name, {
			configurable: true,
			enumerable: true,
			get() {
				const value = makeIt();
				Object.defineProperty(object, name, { value });
				return value;
			},
		});
	return object;
}
