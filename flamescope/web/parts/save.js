/*
 * save.js - copied texts, drawings as PNG or SVG, numbers as CSV, the selected samples as files of other programs
 *
 * A picture is of the whole drawing, not of what a window happens to show of it; what would be
 * larger than browsers can draw is left out, and that is said.
 */

import { button, byId, make } from "wick/parts/dom.js";
import { placeOf, AXIS, gutterOf, wholeWindow } from "wick/heat/heat_place.js";

const MOST_SIDE = 16000; /* pixels: what every browser draws */
const MOST_PIXELS = 64e6;
const GAP = 8;
const TYPES = { png: "image/png", svg: "image/svg+xml", csv: "text/csv" };
const CELL = 6; /* pixels of a column of the heatmap, where there is room */

/** Copies TEXT, and says that WHAT was copied. */
export async function copy(app, text, what, note = "") {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		/* Pages from file:// may not use the clipboard: a field that is copied from can. */
		const field = make("textarea", { value: text });
		document.body.append(field);
		field.select();
		document.execCommand("copy");
		field.remove();
	}
	app.say(`${what} copied: ${text}${note}`);
	document.getElementById("shared").textContent = `${what} copied${note}`;
}

/* Hands a blob to the browser as a file. */
function download(blob, name) {
	const link = make("a", { href: URL.createObjectURL(blob), download: name });
	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/* Saves what made() gives, {bytes, notes}, and says so, or why there is nothing. */
async function save(app, what, ending, made) {
	const base = (app.name || "recording").split(/[\\/]/).at(-1).replace(/[^\w.-]+/g, "_");
	const name = `${base}.${what}.${ending}`;
	let text;
	try {
		const { bytes, notes = [] } = await made();
		download(new Blob([bytes], { type: TYPES[ending] }), name);
		text = [`Saved ${name}`, ...notes].join("; ");
	} catch (error) {
		text = `Saved nothing; ${error.message}`;
	}
	app.say(text);
	document.getElementById("shared").textContent = text;
}

function emptySheet(app, width, height) {
	const sheet = make("canvas", { width, height });
	const context = sheet.getContext("2d");
	context.fillStyle = app.colours.css("paper");
	context.fillRect(0, 0, width, height);
	return { sheet, context };
}

/* The canvases of the view, each with all of its rows: {sheets, notes}. */
function sheetsOf(app) {
	const graphs = app.view?.graphs ?? [];
	app.view?.drawAll?.(); /* what was not seen yet */
	const most = Math.floor(Math.min(MOST_SIDE, MOST_PIXELS / innerWidth) / Math.max(1, graphs.length));
	const notes = [];
	const sheets = graphs.filter((graph) => graph.picture).map((graph) => {
		const { canvas, nLeftOut } = graph.whole(most);
		if (nLeftOut)
			notes.push(`the ${nLeftOut} rows farthest from the root are not in the picture`);
		return canvas;
	});
	if (sheets.length === 0)
		sheets.push(...[...document.querySelectorAll("#view canvas")].filter((canvas) => canvas.width && canvas.offsetParent));
	return { sheets, notes };
}

/* One below the other, as far as there is room. */
function oneSheet(app, sheets, notes) {
	const height = sheets.reduce((sum, canvas) => sum + canvas.height + GAP, -GAP);
	const width = Math.min(MOST_SIDE, Math.max(...sheets.map((canvas) => canvas.width)));
	const { sheet, context } = emptySheet(app, width, Math.min(MOST_SIDE, Math.floor(MOST_PIXELS / width), height));
	if (sheet.height < height)
		notes.push(`the lowest ${height - sheet.height} of ${height} pixels are not in the picture`);
	let y = 0;
	for (const canvas of sheets) {
		context.drawImage(canvas, 0, y);
		y += canvas.height + GAP;
	}
	return sheet;
}

/* All columns of the heatmap, each wide enough to be seen. */
function heatSheet(app) {
	const { heat, paint, width: shown } = app.heatView;
	const width = Math.min(MOST_SIDE, Math.max(shown, gutterOf(heat, shown) + heat.nColumns * CELL));
	const place = placeOf(heat, wholeWindow(heat), width);
	const { sheet, context } = emptySheet(app, width, place.height + AXIS);
	paint.call(app.heatView, context, place, width);
	return sheet;
}

async function pngOf(app, what) {
	const { sheets, notes } = what === "heatmap" ? { sheets: [heatSheet(app)], notes: [] } : sheetsOf(app);
	if (sheets.length === 0)
		throw new Error("there is no drawing here; the numbers can be saved as CSV");
	const bytes = await new Promise((resolve) => oneSheet(app, sheets, notes).toBlob(resolve, "image/png"));
	return { bytes, notes };
}

/* The same picture or table as the command's, which the worker makes. */
async function textOf(app, what, ending) {
	const hasGraph = what === "heatmap" || app.view?.graphs?.length > 0;
	const label = document.querySelector("#tabs [aria-selected=true]")?.textContent ?? "";
	const { columnNs } = app.heatView.heat;
	return { bytes: await app.models.ask("drawing", `${hasGraph ? what : "functions"}.${ending}`,
		`${app.name || "recording"}: ${what === "heatmap" ? "heatmap" : label}`,
		{ columnNs, phaseNs: app.store.state.phase % columnNs, around: app.view?.around,
			matches: app.view?.graphs?.at(-1)?.picture.matches ?? undefined }) };
}

/* What the command's converter writes of what is selected, by the end of the file's name. */
const FORMATS = [["perf", "perf"], ["pprof", "pb"], ["Folded", "folded"], ["speedscope", "speedscope.json"],
	["Firefox", "firefox.json"]];

/** The part of the share menu that saves: what, and as which kind of file. */
export function mountSave(element, app) {
	const part = () => (what.value === "heatmap" ? "heatmap" : app.store.state.view);
	const pictures = [["PNG", "png", pngOf], ["SVG", "svg", textOf], ["CSV", "csv", textOf]].map(
		([label, ending, made]) => [label, () => save(app, part(), ending, () => made(app, part(), ending))]);
	const samples = FORMATS.map(([label, end]) => [label, () => save(app, "selected", end,
		async () => ({ bytes: await app.models.ask("file", end) }))]);
	const [what] = byId("save-what");
	const buttonOf = ([label, act]) => button(label, act, { id: `save-${label.toLowerCase()}`,
		"aria-label": `Save as ${label}` });
	const buttons = [...pictures, ...samples].map(buttonOf);
	function offer() {
		const hasGraph = app.view?.graphs?.length > 0;
		const lacks = { PNG: !hasGraph && !document.querySelector("#view canvas"), SVG: !hasGraph };
		buttons.forEach((one, i) => {
			const isLacking = what.value === "view" && lacks[one.textContent];
			one.hidden = (what.value === "samples") === i < pictures.length;
			one.disabled = Boolean(isLacking);
			one.title = isLacking ? `This view has no graph: save it as ${lacks.PNG ? "" : "PNG or "}CSV` : one.ariaLabel;
		});
	}
	what.onchange = offer;
	element.append(...buttons);
	element.parentElement.addEventListener("beforetoggle", offer);
	offer();
}
