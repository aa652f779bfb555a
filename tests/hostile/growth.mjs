/* growth.mjs KIND FILE - the page's modules on one input, so that growth can measure it from outside */

import { readFileSync } from "node:fs";
import { functionDetails } from "../../flamescope/web/details.js";
import { makeFlame, makeFunctions } from "../../flamescope/web/flame.js";
import { compilePattern, matchFrames } from "../../flamescope/web/frame_search.js";
import { makeHeat } from "../../flamescope/web/heat.js";
import { fromBase64, inflate, joined } from "../../flamescope/web/bytes.js";
import { startModel } from "../../flamescope/web/model.js";
import { readPack } from "../../flamescope/web/pack.js";
import { originalName } from "../../flamescope/web/pattern.js";
import { problemsOf } from "../../flamescope/web/problem.js";
import { EMPTY_QUERY, shellWord } from "../../flamescope/web/query.js";
import { hostsOf, newestFirst, packOf, parseChoice } from "../../flamescope/web/recording_list.js";
import { csvLine, functionsCsv, xmlText } from "../../flamescope/web/save_text.js";
import { frameModule, frameName, makeSelection, transformSelection } from "../../flamescope/web/select.js";
import { parseHash, stateHash } from "../../flamescope/web/store.js";
import { stripThreads } from "../../flamescope/web/strip.js";
import { layoutTree } from "../../flamescope/web/tree_layout.js";

/* As main.js takes it out of a page: two members, each in an element of its own. */
async function profileOf(html) {
	const parts = ["pack", "rest"].map((what) => {
		const at = html.indexOf(`id="wick-${what}-0"`);
		return at < 0 ? new Uint8Array(0) : fromBase64(html.slice(html.indexOf(">", at) + 1, html.indexOf("</script>", at)));
	});
	await startModel();
	return readPack(joined(await Promise.all(parts.map((part) => (part.length ? inflate(part) : part)))));
}

function look(profile) {
	problemsOf(profile);
	for (const groups of [[], ["thread"]]) {
		const selection = makeSelection(profile, { ...EMPTY_QUERY, groups, only: ["a|b|f|n|r"] });
		const nameOf = (frame) => frameName(selection, frame);
		const flame = makeFlame(selection);
		layoutTree(flame, flame.gain);
		matchFrames(flame, compilePattern("(a+)+b").regex, nameOf, profile.frames.n + selection.labels.length);
		functionsCsv(makeFunctions(selection), nameOf, (frame) => frameModule(selection, frame), "");
		functionDetails(selection, "f1");
		transformSelection(selection, [{ kind: "collapse", of: "" }, { kind: "focus", of: "f1" }]);
		makeHeat(selection);
		makeHeat(selection, { by: "thread" });
		stripThreads(selection, () => "");
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
		const { regex } = compilePattern("(a+)+(b|c)$");
		regex.test(text);
		originalName(text);
		shellWord(text);
		csvLine([text]);
		xmlText(text);
	},
};

await KINDS[process.argv[2]](readFileSync(process.argv[3], "utf8"));
