/* growth.mjs KIND FILE - the page's modules on one input, so that growth can measure it from outside */

import { readFileSync } from "node:fs";
import { makeFlame } from "../../flamescope/web/models/flame.js";
import { foundIn, searchNames } from "../../flamescope/web/models/frame_search.js";
import { makeHeat } from "../../flamescope/web/models/heat.js";
import { inflate } from "../../flamescope/web/models/bytes.js";
import { drawingOf, facts, fromBase64, startModel } from "../../flamescope/web/models/model.js";
import { makeSelection, readPack } from "../web/columns.mjs";
import { originalName } from "../../flamescope/web/models/pattern.js";
import { EMPTY_QUERY, shellWord } from "../../flamescope/web/state/query.js";
import { hostsOf, ofHost, packOf, parseChoice } from "../../flamescope/web/state/recording_list.js";
import { frameName, numberOfFrames } from "../../flamescope/web/stacks/frames.js";
import { parseHash, stateHash } from "../../flamescope/web/state/store.js";
import { stripOf, stripParts } from "../../flamescope/web/models/strip.js";
import { threadTracks } from "../../flamescope/web/models/threads.js";
import { rowsOf } from "../../flamescope/web/threads/thread_track.js";

/* As main.js takes it out of a page. */
async function profileOf(html) {
	const at = html.indexOf('id="wick-pack-0"');
	await startModel();
	return readPack(await inflate(fromBase64(html.slice(html.indexOf(">", at) + 1, html.indexOf("</script>", at)))));
}

function look(profile) {
	facts("notes", profile.made, 0);
	for (const groups of [[], ["thread"]]) {
		const selection = makeSelection(profile, { ...EMPTY_QUERY, groups, only: ["a|b|f|n|r"] });
		const flame = makeFlame(selection);
		const names = Array.from({ length: numberOfFrames(selection) }, (_, frame) => frameName(selection, frame));
		foundIn("", searchNames("a+b|f", [names]).found[0], flame);
		for (const kind of ["functions.csv", "flame.svg"])
			drawingOf(kind, selection, 0, { by: "package" });
		facts("details", selection.made, "f1");
		makeSelection(profile, selection.query, false, [], [{ kind: "collapse", of: "" }, { kind: "focus", of: "f1" }]);
		makeHeat(selection);
		makeHeat(selection, { by: "thread" });
		rowsOf(threadTracks(selection, selection, 0, profile.lengthNs + 1));
		stripOf(selection, 100, 0, profile.lengthNs + 1, 1280);
		stripParts(selection, 100, 0, profile.lengthNs + 1, 20);
	}
}

const KINDS = {
	page: async (text) => look(await profileOf(text)),
	link: (text) => stateHash(parseHash(`#${text}`)),
	search: (text) => parseChoice(`?${text}`),
	list: (text) => {
		const list = { version: "1", recordings: JSON.parse(text) };
		ofHost(list.recordings, "x");
		hostsOf(list.recordings);
		packOf(parseChoice("?last=60"), list);
	},
	name: (text) => {
		searchNames("(a|f).*(b|c)$", [[text]]);
		originalName(text);
		shellWord(text);
	},
};

await KINDS[process.argv[2]](readFileSync(process.argv[3], "utf8"));
