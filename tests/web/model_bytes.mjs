/* model_bytes.mjs - node --import: the module with the models in C, which is made by the build */

import { register } from "node:module";
import { pathToFileURL } from "node:url";

const place = JSON.stringify(pathToFileURL(process.env.WICK_MODEL).href);
register(`data:text/javascript,${encodeURIComponent(`
export const resolve = (name, context, next) => (name === "wick/model_bytes.js"
	? { url: ${place}, shortCircuit: true }
	: next(name, name === "wick/bytes.js" ? { ...context, parentURL: ${JSON.stringify(new URL("../../flamescope/web/main.js", import.meta.url).href)} } : context));`)}`);
