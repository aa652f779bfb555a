/* problem.js - what is unusual about a recording, and what to do about it */

import { formatAmount } from "wick/amount.js";

const MANY_UNKNOWN = 0.5;

/* How much of the samples have a name only for "[unknown]". */
function unknownPart(profile) {
	const { frames, nodes, strings } = profile;
	const unknown = new Uint8Array(frames.n);
	for (let i = 0; i < frames.n; i++)
		unknown[i] = strings[frames.name[i]] === "[unknown]" ? 1 : 0;
	let n = 0;
	for (let i = 0; i < profile.n; i++)
		n += profile.stack[i] !== 0 && unknown[nodes.frame[profile.stack[i]]];
	return profile.n ? n / profile.n : 0;
}

const NS = 1e9;
const MOST_CPUS = 65535;

/* As period_can_be() and period_is_to_come() of flamescope/query/period.h. */
const canBe = (seconds, lengthNs) => seconds <= (lengthNs / NS + 60) * MOST_CPUS;
const isToCome = ({ hasEpoch, epochOffsetNs, startNs, lengthNs }) =>
	hasEpoch && Number(epochOffsetNs + startNs) + lengthNs > (Date.now() / 1000 + 24 * 3600) * NS;

function lostNote(profile, path, lost) {
	if (!canBe(lost / (profile.hz || NS), profile.lengthNs))
		return `${path}: what it says was lost is more than can be: its numbers are damaged or forged.`;
	return `${path}: the recorder lost ${profile.hz ? `samples of ${formatAmount(lost / profile.hz * NS, "ns")}` : `${lost} samples`}.`;
}

function fileNotes(profile) {
	const notes = [];
	for (const file of profile.files) {
		const path = file.path === "-" ? "standard input" : file.path;
		if (file.problem)
			notes.push(`${path}: ${file.problem}. What could be read of it is shown.`);
		if (file.bad_lines)
			notes.push(`${path}: ${file.bad_lines} lines are not of a recording and were passed over (line ${(file.bad || []).join(", ")}${file.bad_lines > (file.bad || []).length ? "…" : ""}).`);
		if (Number(file.lost))
			notes.push(lostNote(profile, path, Number(file.lost)));
		if (file.cut)
			notes.push(`${path}: some line or stack was longer than is kept, and was cut.`);
		if (file.unended)
			notes.push(`${path}: its last sample may not be whole (is it still being written?).`);
	}
	return notes;
}

/* Problems (that keep one from seeing anything) and notes, as texts. */
export function problemsOf(profile) {
	const problems = [];
	const notes = fileNotes(profile);
	if (profile.n === 0)
		problems.push("There is no sample in this recording.\nWhat to do: did the program use any CPU time? `wick record -e wall` records threads that wait, too; a file of `perf record` has to go through `perf script` first.");
	else if (profile.n === 1)
		notes.push("There is one sample only: a longer recording or a higher rate (`wick record -F 999`) shows more.");
	else if (!profile.hasTimes)
		notes.push("Folded stacks have no times: the heatmap shows one moment.");
	if (profile.n && isToCome(profile))
		notes.push("The recording says that it is from the future: its clock is wrong, or forged.");
	if (profile.n && profile.nodes.n === 1)
		notes.push("The samples have no stacks: `perf record -g` records them.");
	else if (profile.n && unknownPart(profile) > MANY_UNKNOWN)
		notes.push("Most functions have no name: install the program's debug symbols, or give `wick record --symbol-dir DIR` where they are.");
	return { problems, notes };
}

/* What of it is because of the query. */
export function queryProblems(selection) {
	if (selection.problem)
		return [`${selection.problem}.\nWhat to do: undo, or remove the filter.`];
	if (selection.n === 0 && selection.profile.n > 0)
		return [selection.nAbsent
			? "No sample has a value of this metric.\nWhat to do: choose another metric."
			: "No sample passes the filters.\nWhat to do: remove one of them, or undo."];
	return [];
}

/* Say it now and whenever the state changes; a live recording has other problems later. */
export function watchProblems(app, say) {
	let known = null;
	let found = null;
	function update() {
		if (known !== app.profile) {
			known = app.profile;
			found = problemsOf(app.profile);
		}
		const selection = app.models.whole();
		const notes = [...found.notes];
		if (selection.nAbsent && selection.n)
			notes.push(`${selection.nAbsent} samples have no value of this metric and are left out.`);
		say([...found.problems, ...queryProblems(selection)].join("\n"));
		document.getElementById("notes").textContent = notes.join("\n");
	}
	app.store.subscribe(update);
	app.on("data", update);
	update();
}
