/* growth.mjs KIND FILE - the page's modules on one input, so that growth can measure it from outside */

import { readFileSync } from "node:fs";
import { makeFlame } from "../../flamescope/web/models/flame.js";
import { foundIn, searchNames } from "../../flamescope/web/models/frame_search.js";
import { makeHeat } from "../../flamescope/web/models/heat.js";
import { inflate } from "../../flamescope/web/models/bytes.js";
import { drawingOf, facts, fromBase64, startModel } from "../../flamescope/web/models/model.js";
import { readPack } from "../../flamescope/web/models/pack.js";
import { originalName } from "../../flamescope/web/models/pattern.js";
import { EMPTY_QUERY, shellWord } from "../../flamescope/web/state/query.js";
import { hostsOf, ofHost, packOf, parseChoice } from "../../flamescope/web/state/recording_list.js";
import { frameName } from "../../flamescope/web/stacks/frames.js";
import { makeSelection } from "../../flamescope/web/models/select.js";
import { parseHash, stateHash } from "../../flamescope/web/state/store.js";
import { stripOf } from "../../flamescope/web/models/strip.js";

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
		const nameOf = (frame) => frameName(selection, frame);
		const flame = makeFlame(selection);
		const { names } = searchNames("a+b|f", Array.from(profile.frames.name, profile.text));
		foundIn({ names }, flame, nameOf, profile.frames.n + selection.labels.length);
		for (const kind of ["functions.csv", "flame.svg"])
			drawingOf(kind, selection, 0, { by: "package" });
		facts("details", selection.made, "f1");
		makeSelection(profile, selection.query, false, [], [{ kind: "collapse", of: "" }, { kind: "focus", of: "f1" }]);
		makeHeat(selection);
		makeHeat(selection, { by: "thread" });
		stripOf(selection);
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
		searchNames("(a|f).*(b|c)$", [text]);
		originalName(text);
		shellWord(text);
	},
};

await KINDS[process.argv[2]](readFileSync(process.argv[3], "utf8"));
