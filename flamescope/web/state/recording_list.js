/*
 * recording_list.js - what a server's list of recordings offers, and which of them a choice is
 *
 * A choice is {file, last, host, base, stays}: one file, or all of the last seconds (0: the newest
 * recording), of a host or of all (""); the file that it is compared with ("": none); whether it
 * stays as it is when it grows.  It is in the URL's query, beside the token.
 */

export const RANGES = Object.freeze([
	{ last: 1800, label: "Last 30 minutes" },
	{ last: 3600, label: "Last hour" },
	{ last: 10800, label: "Last 3 hours" },
]);
const MAX_LAST = 366 * 24 * 3600;

export const ofHost = (recordings, host) => recordings.filter((recording) => !host || recording.host === host);

export const hostsOf = (recordings) => [...new Set(recordings.map(({ host }) => host))].filter((host) => host).sort();

export function parseChoice(search) {
	const words = new URLSearchParams(search);
	const last = Number(words.get("last"));
	return {
		file: words.get("file") ?? "",
		last: Number.isInteger(last) && last > 0 && last <= MAX_LAST ? last : 0,
		host: words.get("host") ?? "",
		base: words.get("base") ?? "",
		stays: words.get("follow") === "0",
	};
}

/* The query of a URL with this choice, "?" included; the token stays. */
export function choiceSearch(choice, token) {
	const { file, last, host, base, stays } = choice;
	const words = Object.entries({ token, file, last, host, base, follow: stays && "0" }).filter(([, value]) => value);
	return words.length ? `?${new URLSearchParams(words)}` : "";
}

/*
 * What to ask /api/pack for: {words, name, stamp}; null when there is none.  The stamp is another
 * one once the answer would be.
 */
export function packOf(choice, list) {
	const candidates = ofHost(list.recordings, choice.host);
	if (choice.last && !choice.file) {
		if (!candidates.length)
			return null;
		const what = RANGES.find(({ last }) => last === choice.last)?.label ?? `Last ${choice.last} s`;
		return {
			words: { last: String(choice.last), ...(choice.host && { host: choice.host }) },
			name: `${what}, ${choice.host || "all hosts"}`,
			stamp: list.version,
		};
	}
	return packOfFile(choice.file ? list.recordings.find(({ file }) => file === choice.file) : candidates[0]);
}

function packOfFile(recording) {
	return recording ? {
		words: { file: recording.file },
		name: recording.file,
		stamp: `${recording.file}\n${recording.bytes}\n${recording.mtime_ns}`,
	} : null;
}

/* The same of what it is compared with; null: with nothing, or with what is not there. */
export const baseOf = (choice, list) => packOfFile(list.recordings.find(({ file }) => file === choice.base));

const LEAST_PAUSE_MS = 1000;
const MOST_PAUSE_MS = 60000;
const PART_OF_TIME = 1 / 10; /* that server and page may spend on a recording that grows */

/* How long to leave a recording that grows alone: it is sent and read as a whole each time. */
export function pauseAfter(workMs) {
	return Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, workMs * (1 / PART_OF_TIME - 1)));
}

/* 2026-11-22 00:56:01, of this machine's zone; "" for none. */
export const momentText = (ns) => ns && new Date(Number(BigInt(ns) / 1000000n)).toLocaleString("sv");
