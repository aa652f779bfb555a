/* bytes.js - compressed bytes to bytes */

import { checksum } from "wick/models/model.js";
import { Decompress } from "wick/vendor/fzstd.js";

/* Of what is compressed no recording is larger (flamescope/text/text.h). */
const FREE_BYTES = 64 * 2 ** 20;
const MOST_TIMES = 500; /* beyond them */

const MOST_WINDOW = 128 * 2 ** 20; /* bytes that may be repeated, as of `zstd -d` */
const MOST_BLOCK = 128 * 1024;
const GZIP = 0x8b1f;
/* Of a frame that has none of it (3.1.2). */
const isPassedOver = (magic) => magic - magic % 16 === 0x184d2a50;
const ZSTD = 0xfd2fb528;
const RUN = 1; /* types of blocks: one byte, so many times */
const COMPRESSED = 2;

async function* gunzip(blob) {
	const reader = blob.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
	try {
		for (let part = await reader.read(); !part.done; part = await reader.read())
			yield part.value;
	} finally {
		reader.cancel().catch(() => {}); /* what is damaged cannot be */
	}
}

/* What is good, but not for a page. */
class Refused extends Error {}

/* {at: of its first block, window, hasChecksum} of the header at AT (RFC 8878, 3.1.1.1). */
function headerAt(view, at) {
	const flags = view.getUint8(at + 4);
	if (flags & 3)
		throw new Refused("it is compressed with a dictionary");
	const isSingle = (flags & 0x20) !== 0;
	const nSize = flags < 0x40 ? Number(isSingle) : 2 ** (flags >> 6);
	const end = at + (isSingle ? 5 : 6) + nSize;
	let window = nSize === 2 ? 256 : 0; /* of a single segment: its size */
	for (let i = 1; i <= nSize; i++)
		window += view.getUint8(end - i) * 2 ** (8 * (nSize - i));
	if (!isSingle)
		window = 2 ** (10 + (view.getUint8(at + 5) >> 3)) * (1 + (view.getUint8(at + 5) & 7) / 8);
	if (window > MOST_WINDOW)
		throw new Refused(`its window has ${Math.ceil(window / 2 ** 20)} MiB, and 128 MiB are the most`);
	return { at: end, window, hasChecksum: (flags & 4) !== 0 };
}

/* {end, isLast, most: of the bytes that it may become} of the block at AT (3.1.1.2). */
function blockAt(view, at) {
	const head = view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
	const [isLast, type, size] = [(head & 1) !== 0, head >> 1 & 3, head >> 3];
	const end = at + 3 + (type === RUN ? 1 : size);
	if (size > MOST_BLOCK || end > view.byteLength)
		throw new Error("a block is too large");
	return { end, isLast, most: type === COMPRESSED ? MOST_BLOCK : size };
}

/* A header for fzstd, which makes the window at once and moves all of it for each block: WINDOW bytes at least. */
function headerOf(window) {
	const header = new Uint8Array(6);
	new DataView(header.buffer).setUint32(0, ZSTD, true);
	header[5] = Math.max(0, Math.ceil(Math.log2(window)) - 10) << 3;
	return header;
}

/* What was compressed into the frame at AT, a block at a time; returns where it ends. */
function* unzstdFrame(bytes, view, at) {
	if (view.getUint32(at, true) !== ZSTD)
		throw new Error("it is no frame");
	const header = headerAt(view, at);
	const parts = [];
	let most = 0;
	for (let block = { end: header.at }; !block.isLast; most += block.most)
		block = blockAt(view, block.end);
	const stream = new Decompress((part) => parts.push(part));
	stream.push(headerOf(Math.min(header.window, most)));
	checksum.begin();
	for (let block = { end: header.at }; !block.isLast; at = block.end) {
		const from = block.end;
		block = blockAt(view, from);
		stream.push(bytes.subarray(from, block.end), block.isLast);
		parts.forEach(checksum.add);
		yield* parts.splice(0);
	}
	if (header.hasChecksum && view.getUint32(at, true) !== checksum.end())
		throw new Error("it is not what was compressed");
	return header.hasChecksum ? at + 4 : at;
}

/* The same of all frames, no more of which is made than is asked for. */
function* unzstd(bytes) {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
	let at = 0;
	try {
		while (at < bytes.length)
			at = isPassedOver(view.getUint32(at, true)) ? at + 8 + view.getUint32(at + 4, true) : yield* unzstdFrame(bytes, view, at);
	} catch (error) {
		throw error instanceof Refused ? error : new Error("it is damaged, or ends too early", { cause: error });
	}
	if (at > bytes.length)
		throw new Error("it is damaged, or ends too early");
}

/**
 * The plain bytes of bytes or a File that gzip or zstd may have compressed; of more than MOST there are none: null.
 * An Error: they are damaged, or (a RangeError) more uniform than a recording is.
 */
export async function inflate(data, most = Infinity) {
	const blob = new Blob([data]);
	const magic = new Uint8Array(await blob.slice(0, 4).arrayBuffer()).reduceRight((sum, byte) => sum * 256 + byte, 0);
	const isGzip = magic % 0x10000 === GZIP;
	if (!isGzip && blob.size > most)
		return null;
	const bytes = isGzip ? null : new Uint8Array(await blob.arrayBuffer());
	if (!isGzip && magic !== ZSTD && !isPassedOver(magic))
		return bytes;
	let all = new Uint8Array(2 * blob.size); /* one block, for parts may be of a byte each */
	let n = 0;
	for await (const part of isGzip ? gunzip(blob) : unzstd(bytes)) {
		const end = n + part.length;
		if (end > most)
			return null;
		if (end > FREE_BYTES + MOST_TIMES * blob.size)
			throw new RangeError(`it is more than ${MOST_TIMES} times as large as it is compressed, which no recording is`);
		if (end > all.length) {
			const grown = new Uint8Array(2 * end);
			grown.set(all.subarray(0, n));
			all = grown;
		}
		all.set(part, n);
		n = end;
	}
	return all.subarray(0, n);
}
