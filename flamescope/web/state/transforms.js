/* transforms.js - what a reader does to the stacks of a selection, one step after the other */

/** What there is, in the words of the URL, of the chips, and of the command line where it has one. */
export const transformKinds = {
	focus: { says: (of) => `Focus on ${of}`, flag: "--focus" },
	merge: { says: (of) => `Merge ${of} into its callers`, flag: "--elide" },
	collapse: { says: (of) => (of ? `Collapse recursion of ${of}` : "Collapse recursion") },
	drop: { says: (of) => `Drop samples with ${of}`, flag: "--without" },
	hide: { says: (of) => `Hide module ${of}` },
};

/** `kind:of` of the URL; null if it says nothing that is known. */
export function parseTransform(text) {
	const colon = text.indexOf(":");
	const kind = colon < 0 ? text : text.slice(0, colon);
	const of = colon < 0 ? "" : text.slice(colon + 1);
	if (!Object.hasOwn(transformKinds, kind) || (of === "" && kind !== "collapse"))
		return null;
	return { kind, of };
}

export function formatTransform({ kind, of }) {
	return of === "" ? kind : `${kind}:${of}`;
}

/** The command's pattern that matches NAME and nothing else. */
export const exactly = (name) =>
	`^${name.replace(/[\\^$.*+?()[\]{}|#\s-]/g, (c) => (/\s/.test(c) ? "\\s" : `\\${c}`))}$`;

/** The same as words of the command line, or null: it cannot hide a module, or collapse one function alone. */
export function commandOfTransform({ kind, of }) {
	if (kind === "collapse" && of === "")
		return ["--flatten"];
	const { flag } = transformKinds[kind];
	return flag ? [flag, exactly(of)] : null;
}
