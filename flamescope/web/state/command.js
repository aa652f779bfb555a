/* command.js - the command line that says the same as the page's state */

import { FRAME_COLOURS } from "wick/parts/colour.js";
import { commandFlags, rangeWord, shellWord } from "wick/state/query.js";
import { commandOfTransform, exactly, transformKinds } from "wick/state/transforms.js";

/* A name that begins with `-` would be taken for a flag. */
function fileWord(path) {
	return shellWord(path.startsWith("-") ? `./${path}` : path);
}

const coloured = ({ colour }) => (colour && FRAME_COLOURS.some(([by]) => by === colour) ? ["--colour", colour] : []);

/* By view: the verb, its flags, and what none of them says. */
const COMMANDS = {
	table: { verb: "report", flags: ({ sort }) => (sort === "total" ? ["--by", "total"] : []) },
	sandwich: { verb: "report", flags: ({ around }) => (around ? ["--function", exactly(around)] : []) },
	icicle: { flags: (state) => ["--icicle", ...coloured(state)] },
	reverse: { flags: (state) => ["--reverse", ...coloured(state)] },
	threads: { verb: "report", flags: () => ["--per", "thread"] },
	sides: { unsaid: "side by side" },
	metrics: { verb: "heatmap", flags: () => [], unsaid: "several metrics at once" },
	strip: { flags: () => [], unsaid: "the order of time" },
	diff: { verb: "diff", flags: () => [] },
};

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
	const { verb = "flamegraph", flags = coloured, unsaid } = COMMANDS[state.view] ?? {};
	const chips = transformWords(state);
	const words = ["wick", verb];
	if (verb === "diff" && baseline.length)
		words.push(...baseline.map(fileWord));
	words.push(...files.map(fileWord), ...flags(state).map(shellWord));
	if (verb === "diff" && !baseline.length)
		words.push(...(state.rangesB ?? []).flatMap((range) => ["--against", rangeWord(range)]));
	words.push(commandFlags(state.ranges, state.query), ...chips.flags.map(shellWord));
	const not = [...(unsaid ? [unsaid] : []), ...chips.unsaid];
	if (not.length)
		words.push(`# ${shellWord(`without: ${not.join("; ")}`)}`); // zsh has no comments at its prompt
	return words.filter((word) => word !== "").join(" ");
}
