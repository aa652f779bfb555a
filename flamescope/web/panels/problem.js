/* problem.js - what is unusual about a recording, and what to do about it */

import { countOf } from "wick/parts/amount.js";
import { drawing } from "wick/state/asked.js";

/* Because of which nothing is shown; "": there is none. */
function problemOf({ problem, n, nAbsent, profile }) {
	if (profile.n === 0)
		return "The recording has no sample.\nTry: `wick record -e wall`, which also records waiting threads; `perf script`, if the file is of `perf record`.";
	if (problem)
		return `${problem}.\nTry: undo, or remove the filter.`;
	return n > 0 ? "" : nAbsent ? "No sample has a value of this metric.\nTry: another metric."
		: "No sample passes the filters.\nTry: fewer filters, or undo.";
}

/* Say it now and whenever the state changes; a live recording has other problems later. */
export function watchProblems(app, say) {
	const update = drawing(() => {
		const selection = app.models.whole();
		const notes = [...app.profile.notes];
		if (selection.nAbsent && selection.n)
			notes.push(`${selection.nAbsent} samples without a value of this metric are left out.`);
		say(problemOf(selection));
		document.getElementById("notes").textContent = notes.join("\n");
		document.getElementById("show-info").textContent = notes.length ? `Info: ${countOf(notes.length, "note")}` : "Info";
	});
	app.store.subscribe(update);
	app.on("data", update);
	update();
}
