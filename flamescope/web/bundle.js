/* bundle.js - modules of the page as one script, for workers do not know its import map */

const IMPORT = /^import \{([^}]*)\} from ["]wick[/]([\w.]+)";$/gm;
const EXPORT = /^export ((?:async )?function\*? ?|const |class )(\w+)/gm;

const nameOf = (module) => `module_${module.replace(/\W/g, "_")}`;

/* A module as a function that is called at once: it gives what the module exports. */
function asScript(module, text) {
	const names = [...text.matchAll(EXPORT)].map(([, , name]) => name);
	const inner = text
		.replace(IMPORT, (_, what, from) => `const {${what.replaceAll(" as ", ": ")}} = ${nameOf(from)};`)
		.replace(EXPORT, "$1$2");
	return `const ${nameOf(module)} = (() => {\n${inner}\nreturn {${names.join(", ")}};\n})();\n`;
}

/** The text of MODULE and of all that it imports as a script; textOf(module) -> a promise of its text. */
export async function bundle(module, textOf) {
	const scripts = new Map(); /* each behind those that it imports */
	async function add(name) {
		if (scripts.has(name))
			return;
		scripts.set(name, "");
		const text = await textOf(name);
		for (const [, , from] of text.matchAll(IMPORT))
			await add(from);
		scripts.delete(name);
		scripts.set(name, asScript(name, text));
	}
	await add(module);
	return `"use strict";\n${[...scripts.values()].join("")}`;
}
