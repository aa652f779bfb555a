/*
 * palette.js - what colour frames, cells and changes have: the same numbers as flamescope/draw/colour.h
 *
 * colour.c and colour_frame.c say why; tests/web/colour.test.mjs compares both.
 */

export const HEAT_STEPS = 255;
export const CHANGE_STEPS = 8;
const TONES = 3;
const MIX = 256;
const WHITE = 0xffffff;

const HUES = {
	light: [
		0xfbb867, 0xeac260, 0xf8aa66, 0xeab459, 0x65b0f0, 0x7da9f4, 0x4faae3, 0x69a3e9,
		0xa1f0b8, 0x90f2c8, 0xa0e5a7, 0x8fe8b7, 0xeb7d85, 0xeb806e, 0xdf7489, 0xe17571,
		0xf3c5f8, 0xfbc3ee, 0xe5bdf3, 0xeebbea, 0xb3b6bb, 0xdbdee3,
		0xffbebd, 0xdc8b76, 0xfec2a0, 0xd09559, 0xf5ca7f, 0xb8a251,
		0xd5d785, 0x94af64, 0xace2a1, 0x6ab786, 0x85e8c6, 0x44b8ac,
		0x73e6ec, 0x44b3cc, 0x96dcfe, 0x68aae0, 0xb7d2ff, 0x909ee5,
		0xd0cafe, 0xb292d8, 0xf0bbfc, 0xcc8abd, 0xffb9d9, 0xda879a,
		0x7cd591, 0xf07b51, 0xb4d6f3, 0xa183d4, 0xeada78,
	],
	dark: [
		0x7e4c22, 0x765215, 0x784222, 0x724711, 0x193e7c, 0x31387c, 0x00396f, 0x203374,
		0x266e52, 0x146f5d, 0x266645, 0x116650, 0x6f1d2a, 0x702015, 0x66142b, 0x671519,
		0x714982, 0x794679, 0x64437e, 0x6d4075, 0x424447, 0x323438,
		0x814041, 0x5f2416, 0x7e4624, 0x542f00, 0x71500a, 0x453800,
		0x5a5b13, 0x2f4000, 0x3a6331, 0x004624, 0x00664f, 0x02433d,
		0x056367, 0x02414d, 0x025f7f, 0x003c63, 0x385688, 0x2c3367,
		0x564d85, 0x442b5e, 0x6d4576, 0x54244b, 0x7b405e, 0x5e2133,
		0x246a43, 0x7a291c, 0x223956, 0x663e8e, 0x6c5b12,
	],
};
const MIXES = { light: { light: 20, dark: 12, inlined: 120 }, dark: { light: 5, dark: 14, inlined: 18 } };
const HEATS = {
	light: {
		much: [0xffffff, 0xf9e0c3, 0xf4bf88, 0xf19a4a, 0xe47602, 0xc95c01, 0xad4301, 0x912900, 0x750d00],
		less: [0xffffff, 0xcaeafb, 0x94d4f9, 0x5dbbf7, 0x2da0ed, 0x1e85d4, 0x1369bc, 0x0b4fa3, 0x08348a],
	},
	dark: {
		much: [0x15171b, 0x431c0f, 0x6c2b02, 0x8d4400, 0xad6003, 0xcd7e03, 0xec9f05, 0xfec556, 0xffedc3],
		less: [0x15171b, 0x162946, 0x154273, 0x015e9e, 0x007ebf, 0x039edf, 0x17c0fe, 0x89dcfe, 0xd7f4fe],
	},
};
const CHANGES = { light: [0xdee0e3, 0xf18154, 0x6aaaea], dark: [0x37393c, 0x8f331a, 0x215196] };
export const INK = { light: 0x14171c, dark: 0xf2f4f7 };
export const NO_SAMPLE = { light: 0xd5d8dc, dark: 0x3b4048 };

/* N parts of WHOLE of the way from one colour to another. */
function mix(from, to, n, whole) {
	let rgb = 0;
	for (const shift of [16, 8, 0]) {
		const [a, b] = [(from >> shift) & 255, (to >> shift) & 255];
		rgb |= Math.floor((a * (whole - n) + b * n + (whole >> 1)) / whole) << shift;
	}
	return rgb;
}

/** A number of the palette as 0xRRGGBB. */
export function rgbOf(number, theme) {
	const mixes = MIXES[theme];
	const tone = (number >> 1) % TONES;
	let rgb = HUES[theme][Math.floor((number >> 1) / TONES)];
	if (tone === 1)
		rgb = mix(rgb, WHITE, mixes.light, MIX);
	else if (tone === 2)
		rgb = mix(rgb, 0, mixes.dark, MIX);
	return number & 1 ? mix(rgb, WHITE, mixes.inlined, MIX) : rgb;
}

/** Of -1 (all of it shrank, or is gone) to 1 (grew, or is new). */
export function changeRgb(part, theme) {
	const ends = CHANGES[theme];
	const step = Math.min(CHANGE_STEPS, Math.floor(Math.abs(part) * CHANGE_STEPS + 0.5));
	return mix(ends[0], ends[part < 0 ? 2 : 1], step, CHANGE_STEPS);
}

/** A cell of a heatmap: 0 to HEAT_STEPS; SIDE is `much`, or `less` below zero. */
export function heatRgb(step, side, theme) {
	const stops = HEATS[theme][side];
	const at = step * (stops.length - 1);
	const i = Math.floor(at / HEAT_STEPS);
	return i >= stops.length - 1 ? stops[i] : mix(stops[i], stops[i + 1], at % HEAT_STEPS, HEAT_STEPS);
}

export function cssOf(rgb) {
	return `#${rgb.toString(16).padStart(6, "0")}`;
}

/* Where the parts of the list begin. */
const HUES_A_FAMILY = 4;
const HUE_UNKNOWN = 20;
const HUE_GROUP = 21;
const HUE_WORDS = 22;
const N_WORDS = 24;
const HUE_STATES = 46;

export const FAMILIES = ["program", "library", "libc", "kernel", "jit", "unknown", "group"];
export const FAMILY_WORDS = ["program", "libraries", "libc", "kernel", "JIT code", "unknown", "group"];
export const FRAME_BYS = ["module", "package", "name", "state", "none"];
export const STATES = ["running", "runnable", "sleeping", "disk", "stopped"];

const encoder = new TextEncoder();

/* FNV-1a of the UTF-8. */
function hash(text) {
	// eslint-disable-next-line no-control-regex
	const bytes = /[^\0-\x7f]/.test(text) ? encoder.encode(text) : null;
	let h = 2166136261;
	for (let i = 0; i < (bytes ?? text).length; i++)
		h = Math.imul(h ^ (bytes ? bytes[i] : text.charCodeAt(i)), 16777619);
	return (h ^ (h >>> 15)) >>> 0;
}

/** Of a path, where there is little room: paths begin alike. */
export function fileOf(module) {
	return /\/([^/]+)$/.exec(module)?.[1] ?? module;
}

const SO = /\.so(?=$|[. ])/;

const known = new Map(); /* of modules, which are few: {family, hash} */
const MOST_KNOWN = 10000;

function factsOf(module) {
	let facts = known.get(module);
	if (!facts) {
		if (known.size > MOST_KNOWN)
			known.clear();
		facts = { family: findFamily(module), hash: 0 };
		facts.hash = facts.family === "jit" ? 0 : moduleHash(module);
		known.set(module, facts);
	}
	return facts;
}

/** Whose code a module is, by its path: a word of FAMILIES. */
export const familyOf = (module) => factsOf(module).family;

function findFamily(module) {
	const file = fileOf(module);
	if (module === "" || module.startsWith("[unknown]"))
		return "unknown";
	if (module.startsWith("["))
		return /^\[(vdso|vsyscall)/.test(module) ? "libc"
			: /^\[(anon|heap|stack|JIT)/.test(module) ? "jit" : "kernel";
	if (file.startsWith("vmlinux") || /\.ko(?=$|[. ])/.test(file))
		return "kernel";
	if (/^(\/\/anon|\/memfd:|anon_inode:|\/dev\/zero)/.test(module) || /^jitted-|^perf-.*\.map/s.test(file))
		return "jit";
	if (!SO.test(file))
		return "program";
	return /^(ld-|ld(64)?\.so|libc[.-]|libm[.-]|libmvec|libpthread|libdl[.-]|librt[.-]|libresolv|libnss_)/.test(file)
		? "libc" : "library";
}

/* What of a module stays the same from version to version, and from process to process. */
function moduleHash(module) {
	const file = fileOf(module);
	const end = file.search(SO);
	return hash(end < 0 ? file : file.slice(0, end));
}

/* Before `::`: the outermost name, without what stands before it. */
function scopeOf(name) {
	const anonymous = "(anonymous namespace)";
	let start = 0;
	for (let at = 0; at < name.length; at++) {
		if (name.startsWith(anonymous, at)) {
			at += anonymous.length - 1;
			start = at + 1;
		} else if (name.startsWith("::", at)) {
			if (at > start)
				return name.slice(start, at);
			start = at + 2;
			at++;
		} else if (name[at] === "(" || (name[at] === "<" && at > start)) {
			return ""; /* arguments have scopes of their own */
		} else if (" <&*,[".includes(name[at])) {
			start = at + 1;
		}
	}
	return "";
}

/* `Ljava/util/HashMap;` is a class of java/util. */
function javaScope(scope) {
	if (!/^L.+;$/s.test(scope))
		return scope;
	const slash = scope.lastIndexOf("/");
	return slash > 0 ? scope.slice(1, slash) : scope.slice(1, -1);
}

/* Of a script: `py::run:/app/job.py`, `JS:*emit node:events:466:35`. */
function scriptOf(name) {
	const at = name.startsWith("py::") ? name.indexOf(":", 4)
		: /^(JS|LazyCompile|Function|Script|Eval):/.test(name) ? name.lastIndexOf(" ") : -1;
	return at < 0 ? "" : name.slice(at + 1).replace(/:\d+$/, "").replace(/:\d+$/, "");
}

const COPY = /^($|\d|constprop|part|isra|cold|llvm|lto_priv|localalias|clone)/;

/* `net/http.(*conn).serve` of Go, `java.util.HashMap.get` of Java. */
function dottedOf(name) {
	const path = name.split("(", 1)[0];
	const from = path.lastIndexOf("/") + 1;
	const end = from + name.slice(from).search(/[.(]|$/);
	if (end === from || name[end] !== "." || COPY.test(name.slice(end + 1)))
		return "";
	const deeper = from === 0 ? /^((?:\.[a-z][^.(]*)+)\.[A-Z]/.exec(name.slice(end)) : null;
	return name.slice(0, end + (deeper?.[1].length ?? 0));
}

/** The C++ namespace, Rust crate, Go or Java package, or script of a function; "": it has none. */
export function packageOf(name) {
	const script = scriptOf(name);
	if (script)
		return script;
	const scope = scopeOf(name);
	return scope ? javaScope(scope) : name.startsWith("[") ? "" : dottedOf(name);
}

const numberOf = (hue, tone, inlined) => (hue * TONES + tone) * 2 + inlined;

function stateHue(state) {
	const i = STATES.indexOf(state);
	return i < 0 ? HUE_UNKNOWN : HUE_STATES + i;
}

function familyHue(family, ofModule) {
	const i = FAMILIES.indexOf(family);
	return family === "group" ? HUE_GROUP
		: family === "unknown" ? HUE_UNKNOWN : i * HUES_A_FAMILY + ofModule % HUES_A_FAMILY;
}

function hueOf({ name, module, state }, by) {
	const word = (h) => HUE_WORDS + h % N_WORDS;
	switch (by) {
	case "module":
		return familyOf(module) === "unknown" ? HUE_UNKNOWN : word(factsOf(module).hash);
	case "package": {
		const found = packageOf(name);
		return found ? word(hash(found)) : HUE_UNKNOWN;
	}
	case "name":
		return word(hash(name));
	case "state":
		return stateHue(state);
	case "none":
		return 0;
	default:
		return familyHue(familyOf(module), factsOf(module).hash);
	}
}

/**
 * frameNumber - a frame's number in the palette
 * @frame: {name, module, state, inlined, isGroup}; an inlined frame has the module of its caller
 * @by:    "" or "family", "module", "package", "name", "state", "none"
 */
export function frameNumber(frame, by) {
	if (frame.isGroup && by === "state" && STATES.includes(frame.name))
		return stateNumber(frame.name);
	if (frame.isGroup)
		return numberOf(HUE_GROUP, 0, 0);
	return numberOf(hueOf(frame, by), (hash(frame.name) >>> 8) % TONES, frame.inlined ? 1 : 0);
}

/** Those that stand for a family and a state in a legend. */
export const familyNumber = (family) => numberOf(familyHue(family, 0), 0, 0);
export const stateNumber = (state) => numberOf(stateHue(state), 0, 0);
