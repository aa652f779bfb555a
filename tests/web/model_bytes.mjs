/* model_bytes.mjs - node --import: "wick/model_bytes.js", the models in C, is the build's: WICK_MODEL */

import { register } from "node:module";
import { pathToFileURL } from "node:url";

if (!process.env.WICK_MODEL)
	throw new Error("WICK_MODEL is not set: it is the build's flamescope/wasm/model_bytes.js");

const url = JSON.stringify(pathToFileURL(process.env.WICK_MODEL).href);
register(`data:text/javascript,${encodeURIComponent(`
export const resolve = (name, context, next) => (name === "wick/model_bytes.js"
	? { url: ${url}, format: "module", shortCircuit: true } : next(name, context));`)}`);
