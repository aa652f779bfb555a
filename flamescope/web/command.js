/* command.js - the command line that says the same as the page's state */

import { FRAME_COLOURS } from "wick/colour.js";
import { commandFlags, rangeWord, shellWord } from "wick/query.js";
import { commandOfTransform, transformKinds } from "wick/transforms.js";

/* A name that begins with `-` would be taken for a flag. */
function fileWord(path) {
	return shellWord(path.startsWith("-") ? `./${path}` : path);
}

function exactly(name) {
	return commandOfTransform({ kind: "focus", of: name })[1];
}

/* {verb, flags, unsaid} of the view that is seen. */
function viewWords({ view, around, sort, colour }) {
	const coloured = colour && FRAME_COLOURS.some(([by]) => by === colour) ? ["--colour", colour] : [];
	switch (view) {
	case "table":
		return { verb: "report", flags: sort === "total" ? ["--by", "total"] : [] };
	case "sandwich":
		return { verb: "report", flags: around ? ["--function", exactly(around)] : [] };
	case "icicle":
		return { verb: "flamegraph", flags: ["--icicle", ...coloured] };
	case "reverse":
		return { verb: "flamegraph", flags: ["--reverse", ...coloured] };
	case "sides":
		return { verb: "flamegraph", flags: coloured, unsaid: "side by side" };
	case "metrics":
		return { verb: "heatmap", flags: [], unsaid: "several metrics at once" };
	case "strip":
		return { verb: "flamegraph", flags: [], unsaid: "the order of time" };
	default:
		return view === "diff" ? { verb: "diff", flags: [] } : { verb: "flamegraph", flags: coloured };
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
 * commandFor - `wick flamegraph FILE --time=10-20 ...`; what no flag says follows after a `#`
 * @files:    paths of the recording
 * @baseline: paths of the second recording; empty: none
 */
export function commandFor(state, files, baseline = []) {
	const { verb, flags, unsaid } = viewWords(state);
	const chips = transformWords(state);
	const words = ["wick", verb];
	if (verb === "diff" && baseline.length)
		words.push(...baseline.map(fileWord));
	words.push(...files.map(fileWord), ...flags.map(shellWord));
	if (verb === "diff" && !baseline.length)
		words.push(...(state.rangesB ?? []).flatMap((range) => ["--against", rangeWord(range)]));
	words.push(commandFlags(state.ranges, state.query), ...chips.flags.map(shellWord));
	const not = [...(unsaid ? [unsaid] : []), ...chips.unsaid];
	if (not.length)
		words.push(`# ${shellWord(`without: ${not.join("; ")}`)}`); // zsh has no comments at its prompt
	return words.filter((word) => word !== "").join(" ");
}
