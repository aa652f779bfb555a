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
