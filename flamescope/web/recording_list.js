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

/* Their end, or when they were written if they do not say it; nanoseconds as BigInt. */
function endOf(recording) {
	return BigInt(recording.to_ns || recording.mtime_ns);
}

function ofHost(recordings, host) {
	return host ? recordings.filter((recording) => recording.host === host) : recordings;
}

/* Newest first. */
export function newestFirst(recordings, host = "") {
	return [...ofHost(recordings, host)].sort((a, b) => {
		const [endA, endB] = [endOf(a), endOf(b)];
		if (endA !== endB)
			return endA < endB ? 1 : -1;
		return a.file < b.file ? 1 : -1;
	});
}

export function hostsOf(recordings) {
	return [...new Set(recordings.map((recording) => recording.host))]
		.filter((host) => host).sort();
}

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
	const words = new URLSearchParams();
	if (token)
		words.set("token", token);
	if (choice.file)
		words.set("file", choice.file);
	if (choice.last)
		words.set("last", String(choice.last));
	if (choice.host)
		words.set("host", choice.host);
	if (choice.base)
		words.set("base", choice.base);
	if (choice.stays)
		words.set("follow", "0");
	const text = words.toString();
	return text ? `?${text}` : "";
}

/*
 * What to ask /api/pack for: {words, name, stamp}; null when there is none.  The stamp is another
 * one once the answer would be.
 */
export function packOf(choice, list) {
	const candidates = newestFirst(list.recordings, choice.host);
	if (choice.last && !choice.file) {
		if (!candidates.length)
			return null;
		const range = RANGES.find((row) => row.last === choice.last);
		const what = range?.label ?? `Last ${choice.last} s`;
		return {
			words: { last: String(choice.last), ...(choice.host && { host: choice.host }) },
			name: `${what}, ${choice.host || "all hosts"}`,
			stamp: list.version,
		};
	}
	const one = choice.file
		? list.recordings.find((recording) => recording.file === choice.file)
		: candidates[0];
	if (!one)
		return null;
	return packOfFile(one);
}

function packOfFile(recording) {
	return {
		words: { file: recording.file },
		name: recording.file,
		stamp: `${recording.file}\n${recording.bytes}\n${recording.mtime_ns}`,
	};
}

/* The same of what it is compared with; null: with nothing, or with what is not there. */
export function baseOf(choice, list) {
	const recording = choice.base && list.recordings.find(({ file }) => file === choice.base);
	return recording ? packOfFile(recording) : null;
}

const LEAST_PAUSE_MS = 1000;
const MOST_PAUSE_MS = 60000;
const PART_OF_TIME = 1 / 10; /* that server and page may spend on a recording that grows */

/* How long to leave a recording that grows alone: it is sent and read as a whole each time. */
export function pauseAfter(workMs) {
	return Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, workMs * (1 / PART_OF_TIME - 1)));
}

/* 2026-11-22 00:56:01, of this machine's zone; "" for none. */
export function momentText(ns) {
	if (!ns)
		return "";
	const date = new Date(Number(BigInt(ns) / 1000000n));
	const two = (n) => String(n).padStart(2, "0");
	return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} `
		+ `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function bytesText(bytes) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let unit = 0;
	while (bytes >= 1024 && unit + 1 < units.length) {
		bytes /= 1024;
		unit++;
	}
	return `${unit && bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)} ${units[unit]}`;
}
