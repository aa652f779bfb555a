/*
 * model_bytes.mjs - node --import: "wick/model_bytes.js", the models in C, which the build makes
 *
 * WICK_MODEL is that module; what it imports of the page is the page's own.
 */

import { register } from "node:module";
import { pathToFileURL } from "node:url";

if (!process.env.WICK_MODEL)
	throw new Error("WICK_MODEL is not set: it is the build's flamescope/wasm/model_bytes.js");

const urls = JSON.stringify({
	"wick/model_bytes.js": pathToFileURL(process.env.WICK_MODEL).href,
	"wick/bytes.js": new URL("../../flamescope/web/bytes.js", import.meta.url).href,
});
register(`data:text/javascript,${encodeURIComponent(`
const urls = ${urls};
export const resolve = (name, context, next) =>
	(Object.hasOwn(urls, name) ? { url: urls[name], format: "module", shortCircuit: true } : next(name, context));`)}`);
