/* command.js - the command line that says the same as the page's state */

import { commandFlags, rangeWord } from "wick/query.js";
import { commandOfTransform, transformKinds } from "wick/transforms.js";

/** A word of a shell, quoted where it has to be. */
export function shellWord(text) {
	return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function exactly(name) {
	return commandOfTransform({ kind: "focus", of: name })[1];
}

/* {verb, flags, unsaid} of the view that is seen. */
function viewWords({ view, around, sort }) {
	switch (view) {
	case "table":
		return { verb: "report", flags: sort === "total" ? ["--by", "total"] : [] };
	case "sandwich":
		return { verb: "report", flags: around ? ["--function", exactly(around)] : [] };
	case "icicle":
		return { verb: "flamegraph", flags: ["--icicle"] };
	case "reverse":
		return { verb: "flamegraph", flags: ["--reverse"] };
	case "strip":
		return { verb: "flamegraph", flags: [], unsaid: "the order of time" };
	default:
		return { verb: view === "diff" ? "diff" : "flamegraph", flags: [] };
	}
}

/* The flags of the chips; --focus can be said once only. */
function transformWords({ query, transforms }) {
	const flags = [];
	const unsaid = [];
	let focused = query.focus !== "";
	for (const transform of transforms) {
		const words = commandOfTransform(transform);
		if (!words || (transform.kind === "focus" && focused))
			unsaid.push(transformKinds[transform.kind].says(transform.of));
		else
			flags.push(...words);
		focused ||= transform.kind === "focus";
	}
	return { flags, unsaid };
}

/**
 * commandFor - `wick flamegraph FILE --time=10-20 ...`; what no flag says follows behind a `#`
 * @files:    paths of the recording
 * @baseline: paths of the second recording; empty: none
 */
export function commandFor(state, files, baseline = []) {
	const { verb, flags, unsaid } = viewWords(state);
	const chips = transformWords(state);
	const words = ["wick", verb];
	if (verb === "diff" && baseline.length)
		words.push(...baseline.map(shellWord));
	words.push(...files.map(shellWord), ...flags.map(shellWord));
	if (verb === "diff" && !baseline.length)
		words.push(...(state.rangesB ?? []).flatMap((range) => ["--against", rangeWord(range)]));
	words.push(commandFlags(state.ranges, state.query), ...chips.flags.map(shellWord));
	const not = [...(unsaid ? [unsaid] : []), ...chips.unsaid];
	if (not.length)
		words.push(`# without: ${not.join("; ").replace(/[\r\n]+/g, " ")}`);
	return words.filter((word) => word !== "").join(" ");
}
