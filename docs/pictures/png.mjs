/*
 * png.mjs - a picture with few colours: PNG (ISO/IEC 15948) with a palette, a quarter of the bytes
 *
 * Reads what a browser's screenshot is: 8 bits a channel, RGB or RGBA, not interlaced.  Pixels are
 * taken as opaque.
 */
import { deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");
const MOST_COLOURS = 256;

function chunksOf(png) {
	if (!png.subarray(0, 8).equals(SIGNATURE))
		throw new Error("this is no PNG");
	const chunks = [];
	for (let at = 8; at + 12 <= png.length;) {
		const length = png.readUInt32BE(at);
		chunks.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
		at += 12 + length;
	}
	return chunks;
}

/* 9.4: the predictor that is nearest to left + up - corner */
function paeth(left, up, corner) {
	const p = left + up - corner;
	const [toLeft, toUp, toCorner] = [Math.abs(p - left), Math.abs(p - up), Math.abs(p - corner)];
	return toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner;
}

/* 9.2: what each filter adds to a byte */
const filters = [
	() => 0,
	(left) => left,
	(left, up) => up,
	(left, up) => (left + up) >> 1,
	paeth,
];

function readPixels(png) {
	const chunks = chunksOf(png);
	const head = chunks[0].data;
	const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
	const size = { 2: 3, 6: 4 }[head[9]];
	if (head[8] !== 8 || !size || head[12] !== 0)
		throw new Error("not a PNG of a screenshot's kind");
	const bytes = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map(({ data }) => data)));
	const pixels = Buffer.alloc(width * height * size);
	const row = width * size;
	for (let y = 0; y < height; y++) {
		const filter = filters[bytes[y * (row + 1)]];
		for (let x = 0; x < row; x++) {
			const at = y * row + x;
			const left = x >= size ? pixels[at - size] : 0;
			const up = y > 0 ? pixels[at - row] : 0;
			const corner = x >= size && y > 0 ? pixels[at - row - size] : 0;
			pixels[at] = bytes[y * (row + 1) + 1 + x] + filter(left, up, corner);
		}
	}
	return { width, height, size, pixels };
}

function distance(a, b) {
	return ((a >> 16) - (b >> 16)) ** 2 + ((a >> 8 & 255) - (b >> 8 & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;
}

function nearest(palette, colour) {
	let best = 0;
	for (let i = 1; i < palette.length; i++)
		if (distance(palette[i], colour) < distance(palette[best], colour))
			best = i;
	return best;
}

/* The most frequent colours, none of which is nearly another: edges of letters have many shades. */
function paletteOf(counts) {
	const byCount = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([colour]) => colour);
	for (let apart = 0; ; apart += 16) {
		const palette = [];
		for (const colour of byCount)
			if (palette.length <= MOST_COLOURS && palette.every((other) => distance(other, colour) >= apart))
				palette.push(colour);
		if (palette.length <= MOST_COLOURS)
			return palette;
	}
}

/* Annex D: the check of a chunk */
function crc32(bytes) {
	let crc = 0xffffffff;
	for (const byte of bytes) {
		crc ^= byte;
		for (let bit = 0; bit < 8; bit++)
			crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
	}
	return ~crc >>> 0;
}

function chunk(type, data) {
	const out = Buffer.alloc(12 + data.length);
	out.writeUInt32BE(data.length, 0);
	out.write(type, 4, "latin1");
	data.copy(out, 8);
	out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
	return out;
}

/** The same picture with at most 256 colours. */
export function withPalette(png) {
	const { width, height, size, pixels } = readPixels(png);
	const colours = new Uint32Array(width * height);
	const counts = new Map();
	for (let i = 0; i < colours.length; i++) {
		colours[i] = pixels.readUIntBE(i * size, 3);
		counts.set(colours[i], (counts.get(colours[i]) ?? 0) + 1);
	}
	const palette = paletteOf(counts);
	const places = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, colour)]));
	const rows = Buffer.alloc((width + 1) * height); /* filter 0, as 12.8 advises for a palette */
	for (let i = 0; i < colours.length; i++)
		rows[Math.floor(i / width) * (width + 1) + 1 + i % width] = places.get(colours[i]);
	const head = Buffer.alloc(13);
	head.writeUInt32BE(width, 0);
	head.writeUInt32BE(height, 4);
	head.set([8, 3, 0, 0, 0], 8);
	return Buffer.concat([SIGNATURE, chunk("IHDR", head),
		chunk("PLTE", Buffer.from(palette.flatMap((c) => [c >> 16, c >> 8 & 255, c & 255]))),
		chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}
