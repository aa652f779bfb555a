/* transforms.js - what a reader does to the stacks of a selection, one step after the other */

/** What there is, in the words of the URL and of the chips. */
export const transformKinds = {
	focus: { of: "function", says: (of) => `Focus on ${of}` },
	merge: { of: "function", says: (of) => `Merge ${of} into its callers` },
	collapse: { of: "function", says: (of) => (of ? `Collapse recursion of ${of}` : "Collapse recursion") },
	drop: { of: "function", says: (of) => `Drop samples with ${of}` },
	hide: { of: "module", says: (of) => `Hide module ${of}` },
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

/**
 * commandOfTransform - the same as words of the command line, or null if it has none
 *
 * The command has no flag that hides a module or collapses one function alone.
 */
export function commandOfTransform({ kind, of }) {
	const pattern = `^${of.replace(/[\\^$.*+?()[\]{}|#\s-]/g, (c) => (/\s/.test(c) ? "\\s" : `\\${c}`))}$`;
	switch (kind) {
	case "focus":
		return ["--focus", pattern];
	case "merge":
		return ["--elide", pattern];
	case "drop":
		return ["--without", pattern];
	case "collapse":
		return of === "" ? ["--flatten"] : null;
	default:
		return null;
	}
}
