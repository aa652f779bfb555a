/* problem.js - what is unusual about a recording, and what to do about it */

import { formatAmount } from "wick/amount.js";
import { drawing } from "wick/asked.js";

const MANY_UNKNOWN = 0.5;

const NS = 1e9;
const MOST_CPUS = 65535;

/* As period_can_be() and period_is_to_come() of flamescope/query/period.h. */
const canBe = (seconds, lengthNs) => seconds <= (lengthNs / NS + 60) * MOST_CPUS;
const isToCome = ({ hasEpoch, epochOffsetNs, startNs, lengthNs }) =>
	hasEpoch && Number(epochOffsetNs + startNs) + lengthNs > (Date.now() / 1000 + 24 * 3600) * NS;

function lostNote(profile, path, lost) {
	if (!canBe(lost / (profile.hz || NS), profile.lengthNs))
		return `${path}: it gives more lost samples than possible: its numbers are damaged or forged.`;
	return `${path}: ${profile.hz ? `samples of ${formatAmount(lost / profile.hz * NS, "ns")}` : `${lost} samples`} were lost while recording, see: wick info.`;
}

function fileNotes(profile) {
	const notes = [];
	for (const file of profile.files) {
		const path = file.path === "-" ? "standard input" : file.path;
		if (file.problem)
			notes.push(`${path}: ${file.problem}. What could be read is shown.`);
		if (file.bad_lines)
			notes.push(`${path}: ${file.bad_lines} lines that cannot be read, skipped (${(file.bad || []).join(", ")}${file.bad_lines > (file.bad || []).length ? "…" : ""}).`);
		if (Number(file.lost))
			notes.push(lostNote(profile, path, Number(file.lost)));
		if (file.cut)
			notes.push(`${path}: a line or stack was too long and was cut.`);
		if (file.unended)
			notes.push(`${path}: the last sample is not whole: still being written?`);
	}
	return notes;
}

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
export function queryProblems(selection) {
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
