/*
 * pack.js - a pack's bytes as a profile of typed arrays (flamescope/pack/pack.h says what is where)
 *
 * The bytes may be anybody's: what does not fit is an Error with a reason, never a wrong picture.
 * Columns of 64 bits become Float64Array, made when they are first asked for; a value that a
 * sample has not is NaN.  A column of one element says the same of all samples.  Narrower ones stay
 * as narrow as the pack has them.
 */

import { orderStacks, ranksOf } from "wick/node_table.js";

const MAGIC = "wickpack";
const VERSION = 4;
const MAX_SECTIONS = 256;

/* base64 -> bytes; white space between is fine. */
export function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const codes = new Uint8Array(128).fill(255);
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (let i = 0; i < 64; i++)
		codes[alphabet.charCodeAt(i)] = i;
	const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
	let n = 0;
	let bits = 0;
	let held = 0;
	for (let i = 0; i < text.length; i++) {
		const code = codes[text.charCodeAt(i) & 127];
		if (code === 255)
			continue;
		held = (held << 6) | code;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			bytes[n++] = held >>> bits;
			held &= (1 << bits) - 1;
		}
	}
	return bytes.subarray(0, n);
}

/* gzip or plain bytes -> plain bytes */
export async function inflate(bytes) {
	if (bytes[0] !== 0x1f || bytes[1] !== 0x8b)
		return bytes;
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fail(what) {
	throw new Error(`the recording's data is damaged: ${what}`);
}

function checkPlace(name, { offset, count, size }, end) {
	if (offset % 8 || offset > end || count * size > end - offset)
		fail(`section ${name} lies outside`);
}

function readSections(bytes, isWhole) {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const ascii = new TextDecoder("latin1");
	if (bytes.length < 24 || ascii.decode(bytes.subarray(0, 8)) !== MAGIC)
		fail("it is no pack");
	const version = view.getUint32(8, true);
	if (version !== VERSION)
		fail(`it is of version ${version}, this page reads version ${VERSION}`);
	const n = view.getUint32(12, true);
	if (n > MAX_SECTIONS || 24 + 40 * n > bytes.length)
		fail("its list of sections ends early");
	const sections = new Map();
	for (let i = 0; i < n; i++) {
		const at = 24 + 40 * i;
		const name = ascii.decode(bytes.subarray(at, at + 16)).replace(/\0.*$/s, "");
		const offset = Number(view.getBigUint64(at + 16, true));
		const count = Number(view.getBigUint64(at + 24, true));
		const size = view.getUint32(at + 32, true);
		checkPlace(name, { offset, count, size }, isWhole ? bytes.length : Infinity);
		sections.set(name, { offset, count, size });
	}
	return sections;
}

/* 64 bits each as doubles: two halves each, without a BigInt for each. */
function wide(bytes) {
	const halves = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
	const values = new Float64Array(halves.length / 2);
	for (let i = 0; i < values.length; i++)
		values[i] = halves[2 * i + 1] * 4294967296 + halves[2 * i];
	return values;
}

/* 64 bits each, folded as pack.h says; 0, which says that there is none, becomes NaN. */
function wideFolded(bytes) {
	const halves = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
	const values = new Float64Array(halves.length / 2);
	for (let i = 0; i < values.length; i++) {
		const low = halves[2 * i];
		const high = halves[2 * i + 1];
		if (low === 0 && high === 0) {
			values[i] = NaN;
			continue;
		}
		/* one less, then its half: exact as long as the value is */
		const less = (low - 1) >>> 0;
		const half = (low === 0 ? high - 1 : high) * 2147483648 + (less >>> 1);
		values[i] = less & 1 ? -half - 1 : half;
	}
	return values;
}

function narrowFolded(numbers) {
	const values = new Float64Array(numbers.length);
	for (let i = 0; i < numbers.length; i++) {
		const less = numbers[i] - 1;
		const half = less >>> 1;
		values[i] = less < 0 ? NaN : less & 1 ? -half - 1 : half;
	}
	return values;
}

const NARROW = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

/* Arrays are views into the bytes, which so have to begin at a multiple of 8. */
const alignedBytes = (bytes) => (bytes.byteOffset % 8 ? bytes.slice() : bytes);

/* The sections of a pack, of which the first ones may be there before the rest is. */
class Sections {
	constructor(bytes, isWhole) {
		this.first = alignedBytes(bytes);
		this.rest = new Uint8Array(0);
		this.isWhole = isWhole;
		this.sections = readSections(this.first, isWhole);
	}

	add(rest) {
		this.rest = alignedBytes(rest);
		this.isWhole = true;
		const end = this.first.length + this.rest.length;
		for (const [name, section] of this.sections)
			checkPlace(name, section, end);
	}

	/* The bytes of a section. */
	bytesOf({ offset, count, size }) {
		const length = count * size;
		if (offset + length <= this.first.length)
			return this.first.subarray(offset, offset + length);
		const at = offset - this.first.length;
		if (at < 0 || at + length > this.rest.length)
			fail(this.isWhole ? "a section lies outside" : "its rest is not there yet");
		return this.rest.subarray(at, at + length);
	}

	find(name, size) {
		const section = this.sections.get(name);
		if (!section)
			fail(`section ${name} is missing`);
		if (section.size !== size)
			fail(`section ${name} has elements of ${section.size} bytes`);
		return section;
	}

	narrow(name, size, isSigned = false) {
		const section = this.find(name, size);
		const Type = isSigned ? Int32Array : NARROW[size];
		const bytes = this.bytesOf(section);
		return new Type(bytes.buffer, bytes.byteOffset, section.count);
	}

	/* A list of numbers of things of which there are BELOW. */
	numbers(name, size, below) {
		const values = this.narrow(name, size);
		for (let i = 0; i < values.length; i++)
			if (values[i] >= below)
				fail(`${name} ${i} points at nothing`);
		return values;
	}

	wide(name) {
		return wide(this.bytesOf(this.find(name, 8)));
	}

	has(name) {
		return this.sections.has(name);
	}

	/* The section of a column of samples, whose elements may have up to SIZE bytes. */
	findColumn(name, size, n) {
		const section = this.sections.get(name);
		if (!section)
			fail(`section ${name} is missing`);
		if (section.size > size || (section.size !== 8 && !NARROW[section.size]))
			fail(`section ${name} has elements of ${section.size} bytes`);
		if (section.count !== n && section.count !== 1)
			fail(`section ${name} has ${section.count} elements for ${n} samples`);
		return section;
	}

	/* One element a sample, whether the pack has one for all or not. */
	column(name, size, n, below = Infinity) {
		const section = this.findColumn(name, size, n);
		const values = section.size === 8 ? wide(this.bytesOf(section)) : this.narrow(name, section.size);
		if (below !== Infinity)
			for (let i = 0; i < values.length; i++)
				if (values[i] >= below)
					fail(`${name} of sample ${i} points at nothing`);
		return spread(values, n);
	}

	/* The same as doubles. */
	doubles(name, n) {
		const values = this.column(name, 8, n);
		return values instanceof Float64Array ? values : new Float64Array(values);
	}

	/* The same of signed numbers. */
	folded(name, n) {
		const section = this.findColumn(name, 8, n);
		return spread(section.size === 8 ? wideFolded(this.bytesOf(section)) :
			narrowFolded(this.narrow(name, section.size)), n);
	}
}

function spread(values, n) {
	return values.length === n ? values : new values.constructor(n).fill(values[0]);
}

function readTimes(sections, n) {
	if (sections.has("time"))
		return sections.doubles("time", n);
	const times = sections.doubles("time_step", n);
	for (let i = 1; i < n; i++)
		times[i] += times[i - 1];
	return times;
}

/* Each value is its thread's last one, the sample's delta and a step, if it is not there as such. */
function readValues(sections, i, metric, profile) {
	const { n, thread, threads } = profile;
	if (sections.has(`value${i}`))
		return sections.folded(`value${i}`, n);
	const values = sections.folded(`value${i}_step`, n);
	const last = new Float64Array(threads.length);
	const { deltas } = metric;
	for (let sample = 0; sample < n; sample++) {
		const step = values[sample];
		if (Number.isNaN(step))
			continue;
		const delta = deltas[sample];
		values[sample] = last[thread[sample]] += (Number.isNaN(delta) ? 0 : delta) + step;
	}
	return values;
}

function readMeta(sections) {
	const text = new TextDecoder().decode(sections.narrow("meta", 1));
	let meta;
	try {
		meta = JSON.parse(text);
	} catch {
		fail("its description is no JSON");
	}
	return meta;
}

/* Most recordings have no other letters, and one decoding of all is far less than one for each. */
function isAscii(bytes) {
	for (let i = 0; i < bytes.length; i++)
		if (bytes[i] >= 0x80 || bytes[i] === 0)
			return false;
	return true;
}

/* Without the zeros at its end; /\0+$/ would begin at each zero that is not there. */
function withoutZeros(bytes) {
	let end = bytes.length;
	while (end > 0 && bytes[end - 1] === 0)
		end--;
	return bytes.subarray(0, end);
}

function readStrings(sections) {
	const ends = sections.narrow("string_ends", 4);
	const bytes = sections.narrow("strings", 1);
	const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); /* a name may begin with one */
	const all = isAscii(bytes) ? decoder.decode(bytes) : null;
	const strings = new Array(ends.length);
	let from = 0;
	for (let i = 0; i < ends.length; i++) {
		if (ends[i] < from || ends[i] > bytes.length)
			fail(`string ${i} lies outside`);
		strings[i] = all !== null ? all.slice(from, ends[i])
			: decoder.decode(withoutZeros(bytes.subarray(from, ends[i])));
		from = ends[i];
	}
	return strings;
}

function readNodes(sections, nFrames) {
	const parent = sections.narrow("node_parent", 4);
	const frame = sections.narrow("node_frame", 4);
	if (parent.length !== frame.length || parent.length === 0)
		fail("its stacks are not whole");
	for (let i = 1; i < parent.length; i++)
		if (parent[i] >= i || frame[i] >= nFrames)
			fail(`stack ${i} points at nothing`);
	return { n: parent.length, parent, frame };
}

function lazy(object, name, make) {
	Object.defineProperty(object, name, {
		configurable: true,
		enumerable: true,
		get() {
			const value = make();
			Object.defineProperty(object, name, { value });
			return value;
		},
	});
}

/* The code of values that the loader had no room for becomes the one after the last. */
function tagCodes(codes, nValues) {
	return codes.some((code) => code >= nValues) ? Uint32Array.from(codes, (code) => Math.min(code, nValues))
		: codes;
}

function readTags(sections, meta, strings, n) {
	return (meta.tags || []).map((described, i) => {
		const tag = { name: strings[described.name] ?? "" };
		lazy(tag, "values", () =>
			Array.from(sections.narrow(`tag${i}_word`, 4), (number) => strings[number] ?? ""));
		lazy(tag, "codes", () => tagCodes(sections.column(`tag${i}`, 4, n), tag.values.length));
		return tag;
	});
}

function readMetrics(sections, meta, strings, profile) {
	return (meta.metrics || []).map((described, i) => {
		const metric = {
			name: strings[described.name] ?? "",
			unit: strings[described.unit] ?? "",
			kind: described.kind,
		};
		lazy(metric, "values", () => readValues(sections, i, metric, profile));
		lazy(metric, "deltas", () => sections.folded(`delta${i}`, profile.n));
		return metric;
	});
}

function readThreads(sections, strings) {
	const comm = sections.numbers("thread_comm", 4, strings.length);
	const host = sections.numbers("thread_host", 4, strings.length);
	const pid = sections.narrow("thread_pid", 4, true);
	const tid = sections.narrow("thread_tid", 4, true);
	if (host.length !== comm.length || pid.length !== comm.length || tid.length !== comm.length)
		fail("its threads are not whole");
	return Array.from(comm, (name, i) =>
		({ comm: strings[name], host: strings[host[i]], pid: pid[i], tid: tid[i] }));
}

function readFrames(sections, strings) {
	const name = sections.numbers("frame_name", 4, strings.length);
	const frames = {
		n: name.length,
		name,
		module: sections.numbers("frame_module", 4, strings.length),
		inlined: sections.narrow("frame_inlined", 1),
	};
	lazy(frames, "addr", () => sections.wide("frame_addr"));
	lazy(frames, "offset", () => sections.wide("frame_offset"));
	return frames;
}

function readStacks(sections, { n, frames, strings }) {
	const nodes = readNodes(sections, frames.n);
	return orderStacks(nodes, sections.column("stack", 4, n, nodes.n),
		ranksOf(Array.from(frames.name, (name) => strings[name])));
}

function countSamples(sections) {
	const section = sections.sections.get("stack") ?? fail("section stack is missing");
	sections.findColumn("stack", 4, section.count);
	return section.count;
}

/* A "# cmdline" as it was typed, on one line; as words_command() in base/words.c. */
const commandLine = (text) => text
	.replace(/%([0-7][0-9A-F])/g, (_, code) => String.fromCharCode(parseInt(code, 16)))
	.replace(/[\0-\x1f\x7f]/g, " ");

/* What says itself of the profile as a whole. */
function describe(meta, strings) {
	const startNs = BigInt(meta.start_ns ?? 0);
	return {
		meta,
		strings,
		startNs,
		/* Of the own clock's second that it starts in: what makes columns whole seconds. */
		startSub: Number(startNs % 1000000000n),
		startSecond: Number(startNs / 1000000000n),
		lengthNs: Number(meta.length_ns ?? 0),
		epochOffsetNs: BigInt(meta.epoch_offset_ns ?? 0),
		hasEpoch: Boolean(meta.has_epoch),
		isWick: Boolean(meta.is_wick),
		hasTimes: meta.has_times !== false,
		hz: Number(meta.hz ?? 0),
		command: commandLine(strings[meta.command] ?? ""),
		captured: strings[meta.captured] ?? "",
		events: (meta.events || []).map((number) => strings[number] ?? ""),
		files: meta.files || [],
	};
}

/*
 * BYTES (plain) -> a profile; an Error says what is wrong with them.  Not whole: they are what
 * pack.h says stands first, and finish() takes the rest; until then there are times and weights.
 */
export function readPack(bytes, isWhole = true) {
	const sections = new Sections(bytes, isWhole);
	const meta = readMeta(sections);
	const strings = readStrings(sections);
	const threads = readThreads(sections, strings);
	const n = countSamples(sections);
	const profile = {
		...describe(meta, strings), n, threads, time: readTimes(sections, n),
		tags: readTags(sections, meta, strings, n),
		get isWhole() {
			return sections.isWhole;
		},
		/* Throws when what is there now is damaged. */
		finish(rest) {
			sections.add(rest);
			profile.nodes;
			profile.thread;
		},
	};
	profile.metrics = readMetrics(sections, meta, strings, profile);
	lazy(profile, "frames", () => readFrames(sections, strings));
	lazy(profile, "stacks", () => readStacks(sections, profile));
	lazy(profile, "nodes", () => profile.stacks.nodes);
	lazy(profile, "stack", () => profile.stacks.stack);
	lazy(profile, "thread", () => sections.column("thread", 4, n, threads.length));
	lazy(profile, "weight", () => sections.doubles("weight", n));
	lazy(profile, "cpu", () => sections.column("cpu", 2, n));
	lazy(profile, "event", () => sections.column("event", 1, n));
	if (isWhole)
		profile.finish(new Uint8Array(0));
	return profile;
}
