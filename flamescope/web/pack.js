/*
 * pack.js - a pack's bytes as a profile of typed arrays (flamescope/pack/pack.h says what is where)
 *
 * The bytes may be anybody's: what does not fit is an Error with a reason, never a wrong picture.
 * Columns of 64 bits become Float64Array, made when they are first asked for; a value that a
 * sample has not is NaN.  A column of one element says the same of all samples.
 */

const MAGIC = "wickpack";
const VERSION = 1;
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

function readSections(bytes) {
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
		if (offset % 8 || offset > bytes.length || count * size > bytes.length - offset)
			fail(`section ${name} lies outside`);
		sections.set(name, { offset, count, size });
	}
	return sections;
}

/* A column of 64 bits as doubles: two halves each, without a BigInt for each. */
function wide(bytes, section, isSigned) {
	const at = bytes.byteOffset + section.offset;
	const low = new Uint32Array(bytes.buffer, at, section.count * 2);
	const high = isSigned ? new Int32Array(bytes.buffer, at, section.count * 2) : low;
	const values = new Float64Array(section.count);
	for (let i = 0; i < section.count; i++) {
		const h = high[2 * i + 1];
		values[i] = h * 4294967296 + low[2 * i];
		if (isSigned && h === -0x80000000 && low[2 * i] === 0)
			values[i] = NaN;
	}
	return values;
}

const NARROW = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

class Sections {
	constructor(bytes) {
		/* Arrays are views into the bytes, which so have to begin at a multiple of 8. */
		this.bytes = bytes.byteOffset % 8 ? bytes.slice() : bytes;
		this.sections = readSections(this.bytes);
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
		return new Type(this.bytes.buffer, this.bytes.byteOffset + section.offset, section.count);
	}

	/* A list of numbers of things of which there are BELOW. */
	numbers(name, size, below) {
		const values = this.narrow(name, size);
		for (let i = 0; i < values.length; i++)
			if (values[i] >= below)
				fail(`${name} ${i} points at nothing`);
		return values;
	}

	wide(name, isSigned) {
		return wide(this.bytes, this.find(name, 8), isSigned);
	}

	/* One element a sample, whether the pack has one for all or not. */
	column(name, values, n, below = Infinity) {
		if (values.length !== n && values.length !== 1)
			fail(`section ${name} has ${values.length} elements for ${n} samples`);
		if (below !== Infinity)
			for (let i = 0; i < values.length; i++)
				if (values[i] >= below)
					fail(`${name} of sample ${i} points at nothing`);
		return values.length === n ? values : new values.constructor(n).fill(values[0]);
	}
}

function readMeta(sections) {
	const section = sections.find("meta", 1);
	const text = new TextDecoder().decode(
		sections.bytes.subarray(section.offset, section.offset + section.count));
	let meta;
	try {
		meta = JSON.parse(text);
	} catch {
		fail("its description is no JSON");
	}
	return meta;
}

function readStrings(sections) {
	const section = sections.find("strings", 1);
	const ends = sections.narrow("string_ends", 4);
	const bytes = sections.bytes.subarray(section.offset, section.offset + section.count);
	const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); /* a name may begin with one */
	const strings = new Array(ends.length);
	let from = 0;
	for (let i = 0; i < ends.length; i++) {
		if (ends[i] < from || ends[i] > bytes.length)
			fail(`string ${i} lies outside`);
		strings[i] = decoder.decode(bytes.subarray(from, ends[i])).replace(/\0+$/, "");
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

function readTags(sections, meta, strings, n) {
	return (meta.tags || []).map((described, i) => {
		const values = described.values.map((number) => strings[number] ?? "");
		const tag = { name: strings[described.name] ?? "", values };
		lazy(tag, "codes", () => sections.column(
			`tag${i}`, sections.narrow(`tag${i}`, 2), n));
		return tag;
	});
}

function readMetrics(sections, meta, strings, n) {
	return (meta.metrics || []).map((described, i) => {
		const metric = {
			name: strings[described.name] ?? "",
			unit: strings[described.unit] ?? "",
			kind: described.kind,
		};
		lazy(metric, "values", () => sections.column(
			`value${i}`, sections.wide(`value${i}`, true), n));
		lazy(metric, "deltas", () => sections.column(
			`delta${i}`, sections.wide(`delta${i}`, true), n));
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

/* BYTES (plain) -> a profile; an Error says what is wrong with them. */
export function readPack(bytes) {
	const sections = new Sections(bytes);
	const meta = readMeta(sections);
	const strings = readStrings(sections);
	const threads = readThreads(sections, strings);
	const stackColumn = sections.find("stack", 4);
	const timeColumn = sections.find("time", 8);
	/* A section of one element is for all; times tell how many there are, unless all are at one. */
	const n = Number(meta.n_samples ?? Math.max(timeColumn.count, stackColumn.count,
		sections.find("thread", 4).count, sections.find("weight", 8).count));
	const frameName = sections.numbers("frame_name", 4, strings.length);
	const nodes = readNodes(sections, frameName.length);
	const startNs = BigInt(meta.start_ns ?? 0);
	const profile = {
		n,
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
		command: strings[meta.command] ?? "",
		captured: strings[meta.captured] ?? "",
		events: (meta.events || []).map((number) => strings[number] ?? ""),
		files: meta.files || [],
		frames: {
			n: frameName.length,
			name: frameName,
			module: sections.numbers("frame_module", 4, strings.length),
			inlined: sections.narrow("frame_inlined", 1),
		},
		nodes,
		threads,
		stack: sections.column("stack", sections.narrow("stack", 4), n, nodes.n),
		thread: sections.column("thread", sections.narrow("thread", 4), n, threads.length),
		time: sections.column("time", sections.wide("time", false), n),
		tags: readTags(sections, meta, strings, n),
		metrics: readMetrics(sections, meta, strings, n),
	};
	lazy(profile.frames, "addr", () => sections.wide("frame_addr", false));
	lazy(profile.frames, "offset", () => sections.wide("frame_offset", false));
	lazy(profile, "weight", () => sections.column("weight", sections.wide("weight", false), n));
	lazy(profile, "cpu", () => sections.column("cpu", sections.narrow("cpu", 2), n));
	lazy(profile, "event", () => sections.column("event", sections.narrow("event", 1), n));
	return profile;
}
