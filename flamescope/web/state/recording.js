/* recording.js - what a recording says of itself: what its samples stand for and can be told apart by */

/** {unit, noun, isDefault, multiply, divide} of an event's samples; -1: of all (flamescope/query/query.h). */
export const periodOf = ({ periods }, event = -1) => periods[event + 1];

/** What a state counts that names no metric. */
export const defaultMetric = (profile, event = -1) => (periodOf(profile, event).isDefault ? "period" : "samples");

/* The names of size classes, for the menu. */
export const classNames = ({ metrics }) => metrics.map(({ name }) => `${name}:class`);

export const hasIdleThread = ({ threads }) => threads.some(({ comm, tid }) => tid === 0 && comm === "swapper");

/** Whether a selection, or what parseMetric() says, counts changes of a metric. */
export const countsChanges = ({ measure }) => ["delta", "gain", "loss"].includes(measure);

export const lastPart = (path) => path.slice(path.lastIndexOf("/") + 1);

/** A short name of a recording: that of its file, for commands are long and paths begin alike. */
export function shortName(profile, name) {
	if (profile.files.length > 1)
		return name || `${profile.files.length} recordings`;
	const file = profile.files[0]?.path ?? "";
	return lastPart(file === "-" || file === "" ? name : file) || "recording";
}

const MOST_NAMED = 32; /* characters of a name in a sentence */

const shortened = (name) => (name.length > MOST_NAMED
	? `${name.slice(0, MOST_NAMED / 2 - 1)}…${name.slice(-MOST_NAMED / 2)}` : name);

/** What the sides of a difference are called: two recordings by their names, and else before and now. */
export function sideNames({ baseline, baselineName, profile, name }) {
	const [base, now] = baseline ? [shortName(baseline, baselineName), shortName(profile, name)].map(shortened) : [];
	return base === now ? ["before", "now"] : [base, now];
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const BLOCK = 256; /* strings that are decoded at once, which costs little more than one */

/** Texts that end with a NUL each. */
export const textsOf = (bytes) => decoder.decode(bytes).split("\0").slice(0, -1);

/** A message of pageOf() as a profile without samples; text(number) is that of a string. */
export function readPage({ strings, starts, ...profile }) {
	const known = {}; /* texts of a block, by the number of its first */
	return { ...profile, text(number) {
		const first = number - number % BLOCK;
		known[first] ??= textsOf(strings.subarray(starts[first], starts[Math.min(first + BLOCK, starts.length - 1)]));
		return known[first][number % BLOCK];
	} };
}
