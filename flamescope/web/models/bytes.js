/* bytes.js - text and compressed bytes to bytes */

/** base64 -> bytes; white space between is fine. */
export function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const letters = atob(text);
	const bytes = new Uint8Array(letters.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = letters.charCodeAt(i);
	return bytes;
}

/* Of what is compressed no recording is larger (flamescope/text/text.h). */
const FREE_BYTES = 64 * 2 ** 20;
const MOST_TIMES = 500; /* beyond them */

/**
 * The plain bytes of bytes or a File that gzip may have compressed; of more than MOST there are none: null.
 * An Error: they are damaged, or more uniform than a recording is.
 */
export async function inflate(data, most = Infinity) {
	const blob = new Blob([data]);
	const [first, second] = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
	if (first !== 0x1f || second !== 0x8b)
		return blob.size > most ? null : new Uint8Array(await blob.arrayBuffer());
	const reader = blob.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
	const parts = [];
	let n = 0;
	for (let part = await reader.read(); !part.done; part = await reader.read()) {
		parts.push(part.value);
		n += part.value.length;
		if (n > most) {
			void reader.cancel();
			return null;
		}
		if (n > FREE_BYTES + MOST_TIMES * blob.size) {
			void reader.cancel();
			throw new RangeError(`it is more than ${MOST_TIMES} times as large as it is compressed, which no recording is`);
		}
	}
	const bytes = new Uint8Array(n);
	parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
	return bytes;
}
