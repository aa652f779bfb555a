/* problem.js - what is unusual about a recording, and what to do about it */

import { formatAmount } from "wick/parts/amount.js";
import { drawing } from "wick/state/asked.js";

const MANY_UNKNOWN = 0.5;

const NS = 1e9;
const MOST_CPUS = 65535;

/* As period_can_be() and period_is_to_come() of flamescope/query/period.h. */
const canBe = (seconds, lengthNs) => seconds <= (lengthNs / NS + 60) * MOST_CPUS;
const isToCome = ({ hasEpoch, epochOffsetNs, startNs, lengthNs }) =>
	hasEpoch && Number(epochOffsetNs + startNs) + lengthNs > (Date.now() / 1000 + 24 * 3600) * NS;

function lostText({ hz, lengthNs }, lost) {
	if (!canBe(lost / (hz || NS), lengthNs))
		return "it gives more lost samples than possible: its numbers are damaged or forged.";
	return `${hz ? `samples of ${formatAmount(lost / hz * NS, "ns")}` : `${lost} samples`} were lost while recording, see: wick info.`;
}

const fileNotes = (profile) => profile.files.flatMap(({ path, problem, bad_lines: nBad, bad, lost, cut, unended }) => [
	problem && `${problem}. What could be read is shown.`,
	nBad && `${nBad} lines that cannot be read, skipped (${(bad ?? []).join(", ")}${nBad > (bad ?? []).length ? "…" : ""}).`,
	Number(lost) && lostText(profile, Number(lost)),
	cut && "a line or stack was too long and was cut.",
	unended && "the last sample is not whole: still being written?",
].filter((text) => text).map((text) => `${path === "-" ? "standard input" : path}: ${text}`));

/* Problems (because of which nothing is shown) and notes, as texts. */
export function problemsOf(profile) {
	const problems = [];
	const notes = fileNotes(profile);
	if (profile.n === 0)
		problems.push("The recording has no sample.\nTry: `wick record -e wall`, which also records waiting threads; `perf script`, if the file is of `perf record`.");
	else if (profile.n === 1)
		notes.push("The recording has one sample only, try: a longer recording or a higher rate (`wick record -F 999`).");
	else if (!profile.hasTimes)
		notes.push("The recording has no times: the heatmap shows one moment.");
	if (profile.n && isToCome(profile))
		notes.push("The recording's date is in the future: the clock was wrong, or the date is forged.");
	if (profile.n && profile.nNodes === 1)
		notes.push("No sample has a stack, try: `perf script` with ip, sym and dso in -F, after `perf record -g`.");
	else if (profile.n && profile.unknownPart > MANY_UNKNOWN)
		notes.push("More than half of the samples are in functions without a name, try: `wick symbolize FILE`, or the programs' debugging symbols.");
	return { problems, notes };
}

/* Problems that the query causes. */
function queryProblems(selection) {
	if (selection.problem)
		return [`${selection.problem}.\nTry: undo, or remove the filter.`];
	if (selection.n === 0 && selection.profile.n > 0)
		return [selection.nAbsent
			? "No sample has a value of this metric.\nTry: another metric."
			: "No sample passes the filters.\nTry: fewer filters, or undo."];
	return [];
}

/* Say it now and whenever the state changes; a live recording has other problems later. */
export function watchProblems(app, say) {
	let known = null;
	let found = null;
	const update = drawing(() => {
		if (known !== app.profile) {
			known = app.profile;
			found = problemsOf(app.profile);
		}
		const selection = app.models.whole();
		const notes = [...found.notes];
		if (selection.nAbsent && selection.n)
			notes.push(`${selection.nAbsent} samples without a value of this metric are left out.`);
		say([...found.problems, ...queryProblems(selection)].join("\n"));
		document.getElementById("notes").textContent = notes.join("\n");
		document.getElementById("show-info").textContent = notes.length === 0 ? "Info"
			: `Info: ${notes.length} note${notes.length === 1 ? "" : "s"}`;
	});
	app.store.subscribe(update);
	app.on("data", update);
	update();
}
