/* bytes.js - text and compressed bytes to bytes */

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

/** The plain bytes of a file that may be compressed by gzip; of more than MOST there are none: null. */
export async function fileBytes(file, most) {
	const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
	const isGzip = first === 0x1f && second === 0x8b;
	if (!isGzip)
		return file.size > most ? null : new Uint8Array(await file.arrayBuffer());
	const reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
	const parts = [];
	let left = most;
	for (let part = await reader.read(); !part.done; part = await reader.read()) {
		parts.push(part.value);
		left -= part.value.length;
		if (left < 0) {
			void reader.cancel();
			return null;
		}
	}
	return joined(parts);
}

/* Parts of bytes, one behind the other. */
function joined(parts) {
	const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
	let at = 0;
	for (const part of parts) {
		bytes.set(part, at);
		at += part.length;
	}
	return bytes;
}
