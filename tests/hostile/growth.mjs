/* growth.mjs KIND FILE - the page's modules on one input, so that growth can measure it from outside */

import { readFileSync } from "node:fs";
import { functionDetails } from "../../flamescope/web/details.js";
import { makeFlame } from "../../flamescope/web/flame.js";
import { foundIn, searchNames } from "../../flamescope/web/frame_search.js";
import { makeHeat } from "../../flamescope/web/heat.js";
import { fromBase64, inflate } from "../../flamescope/web/bytes.js";
import { drawingOf, startModel } from "../../flamescope/web/model.js";
import { readPack } from "../../flamescope/web/pack.js";
import { originalName } from "../../flamescope/web/pattern.js";
import { problemsOf } from "../../flamescope/web/problem.js";
import { EMPTY_QUERY, shellWord } from "../../flamescope/web/query.js";
import { hostsOf, newestFirst, packOf, parseChoice } from "../../flamescope/web/recording_list.js";
import { frameName } from "../../flamescope/web/frames.js";
import { makeSelection, transformSelection } from "../../flamescope/web/select.js";
import { parseHash, stateHash } from "../../flamescope/web/store.js";
import { stripOf } from "../../flamescope/web/strip.js";

/* As main.js takes it out of a page. */
async function profileOf(html) {
	const at = html.indexOf('id="wick-pack-0"');
	await startModel();
	return readPack(await inflate(fromBase64(html.slice(html.indexOf(">", at) + 1, html.indexOf("</script>", at)))));
}

function look(profile) {
	problemsOf(profile);
	for (const groups of [[], ["thread"]]) {
		const selection = makeSelection(profile, { ...EMPTY_QUERY, groups, only: ["a|b|f|n|r"] });
		const nameOf = (frame) => frameName(selection, frame);
		const flame = makeFlame(selection);
		const { names } = searchNames("a+b|f", Array.from(profile.frames.name, profile.text));
		foundIn({ names }, flame, nameOf, profile.frames.n + selection.labels.length);
		for (const kind of ["functions.csv", "flame.svg"])
			drawingOf(kind, selection, 0, { by: "package" });
		functionDetails(selection, "f1");
		transformSelection(selection, [{ kind: "collapse", of: "" }, { kind: "focus", of: "f1" }]);
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
		newestFirst(list.recordings);
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
