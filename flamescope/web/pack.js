/*
 * pack.js - a pack's bytes as a profile (flamescope/pack/pack.h says what they are)
 *
 * C checks them; what of a profile the views look at is copied out when they first do.  Columns of
 * 64 bits are doubles; a value that a sample has not is NaN.
 */

import { allocate, column, facts, free, lazy, make, periodFacts, release, stringOf } from "wick/model.js";

const CPU_UNKNOWN = 0xffff;
const PALETTE = ["frames", "changes", "more", "less", "ink"]; /* of flamescope/wasm/wasm_draw.c */
const FRAME_COLUMNS = ["name", "module", "inlined", "addr", "offset"];

/* A "# cmdline" as it was typed, on one line; as words_command() in base/words.c. */
const commandLine = (text) => text
	.replace(/%([0-7][0-9A-F])/g, (_, code) => String.fromCharCode(parseInt(code, 16)))
	.replace(/[\0-\x1f\x7f]/g, " ");

/* Each string is decoded once. */
function makeText(profile) {
	const known = [];
	return (number) => (known[number] ??= stringOf(profile.made, number));
}

function readThreads(profile, text) {
	const [comm, host, pid, tid] = ["comm", "host", "pid", "tid"]
		.map((name) => column("profile", profile.made, `thread_${name}`, 0));
	return Array.from(comm, (name, i) => ({ comm: text(name), host: text(host[i]), pid: pid[i] | 0, tid: tid[i] | 0 }));
}

function readFrames(profile, n) {
	const frames = { n };
	for (const name of FRAME_COLUMNS)
		lazy(frames, name, () => column("profile", profile.made, `frame_${name}`, 0));
	return frames;
}

/* The code of samples whose word the loader had no room for is the one after the last. */
function readTag(profile, text, { name, n }, i) {
	const tag = { name: text(name) };
	lazy(tag, "values", () => Array.from(column("profile", profile.made, "tag_values", i), text));
	lazy(tag, "codes", () => column("profile", profile.made, "tag_codes", i).map((code) => Math.min(code, n)));
	return tag;
}

function readMetric(profile, text, { name, unit, kind }, i) {
	const metric = { name: text(name), unit: text(unit), kind };
	lazy(metric, "values", () => column("profile", profile.made, "metric_values", i));
	lazy(metric, "deltas", () => column("profile", profile.made, "metric_deltas", i));
	return metric;
}

/* What says itself of the profile as a whole. */
function describe(said, text) {
	const startNs = BigInt(said.start_ns);
	return {
		startNs,
		/* Of the own clock's second that it starts in: what makes columns whole seconds. */
		startSub: Number(startNs % 1000000000n),
		startSecond: Number(startNs / 1000000000n),
		lengthNs: Number(said.length_ns),
		epochOffsetNs: BigInt(said.epoch_offset_ns),
		hasEpoch: said.has_epoch,
		isWick: said.is_wick,
		hasTimes: said.has_times,
		hz: said.hz,
		command: commandLine(text(said.command)),
		captured: text(said.captured),
		events: said.events.map(text),
		files: said.files,
	};
}

/* The profile in C's memory, until it is released. */
class Held {
	#made;

	constructor(made) {
		this.#made = made;
	}

	get made() {
		if (!this.#made)
			throw new Error("this recording is no longer shown");
		return this.#made;
	}

	release() {
		free("profile", this.#made);
		this.#made = 0;
	}
}

/** BYTES (plain) -> a profile, to releaseProfile(); an Error says what is wrong with them. */
export function readPack(bytes) {
	try {
		return profileOf(make("profile", allocate(bytes), bytes.length));
	} catch (error) {
		throw new Error(`the recording's data is damaged: ${error.message}`);
	}
}

/** The same of a file called NAME, in any format that commands read. */
export function readRecording(bytes, name) {
	const at = allocate(bytes);
	try {
		return profileOf(make("loaded", name, at, bytes.length));
	} finally {
		release(at);
	}
}

function profileOf(made) {
	const held = new Held(made);
	const said = facts("profile", held.made);
	const text = makeText(held);
	const profile = {
		...describe(said, text), held, n: said.n, nNodes: said.nodes, text,
		periods: [-1, ...said.events.keys()].map((event) => periodFacts(held.made, event)),
		get made() {
			return held.made;
		},
		frames: readFrames(held, said.frames),
		tags: said.tags.map((tag, i) => readTag(held, text, tag, i)),
		metrics: said.metrics.map((metric, i) => readMetric(held, text, metric, i)),
	};
	lazy(profile.frames, "family", () => column("family", held.made));
	lazy(profile, "families", () => facts("family", held.made));
	lazy(profile, "states", () => facts("state"));
	lazy(profile, "threads", () => readThreads(held, text));
	lazy(profile, "nodes", () => ({ n: said.nodes, parent: column("profile", held.made, "node_parent", 0),
		frame: column("profile", held.made, "node_frame", 0) }));
	for (const name of ["time", "weight", "thread", "stack", "cpu", "event"])
		lazy(profile, name, () => column("profile", held.made, name, 0));
	lazy(profile, "sum", () => sumOf(profile));
	lazy(profile, "hasCpus", () => profile.cpu.some((cpu) => cpu !== CPU_UNKNOWN));
	lazy(profile, "unknownPart", () => unknownPart(profile));
	return profile;
}

/* What all samples stand for, in the period's unit. */
function sumOf({ weight, periods: [{ multiply, divide }] }) {
	return weight.reduce((sum, one) => sum + (multiply === divide ? one : Math.floor((one * multiply) / divide)), 0);
}

/* The part of the samples whose innermost function is "[unknown]". */
function unknownPart({ n, stack, nodes, frames, text }) {
	const unknown = frames.name.map((name) => (text(name) === "[unknown]" ? 1 : 0));
	const of = stack.reduce((sum, node) => sum + (node !== 0 ? unknown[nodes.frame[node]] : 0), 0);
	return n ? of / n : 0;
}

const SAID = ["n", "startNs", "startSub", "startSecond", "lengthNs", "epochOffsetNs", "hasEpoch", "isWick",
	"hasTimes", "hz", "command", "captured", "events", "files", "threads", "periods", "nNodes", "sum", "hasCpus",
	"unknownPart", "families", "states"];

/** What the page has of a profile, as a message: all but samples and stacks. */
export function pageOf(profile) {
	const strings = column("profile", profile.made, "strings", 0);
	const starts = [0];
	for (let at = strings.indexOf(0); at >= 0; at = strings.indexOf(0, at + 1))
		starts.push(at + 1);
	const palette = (theme) => Object.fromEntries(PALETTE.map((name) => [name, column("palette", theme, name)]));
	const columns = [...FRAME_COLUMNS, "family"].map((name) => [name, profile.frames[name].slice()]);
	return {
		...Object.fromEntries(SAID.map((name) => [name, profile[name]])),
		tags: profile.tags.map(({ name }) => ({ name })),
		metrics: profile.metrics.map(({ name, unit, kind }) => ({ name, unit, kind })),
		frames: { n: profile.frames.n, ...Object.fromEntries(columns) },
		palette: { light: palette(0), dark: palette(1) },
		strings, starts: Uint32Array.from(starts),
	};
}

/** Gives the memory of a profile back; who looks at it from then on gets an Error. */
export const releaseProfile = ({ held }) => held.release();
