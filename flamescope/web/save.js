/*
 * save.js - drawings as PNG or SVG, numbers as CSV, the selected samples as files of other programs
 *
 * A picture is of the whole drawing, not of what a window happens to show of it; what would be
 * larger than browsers can draw is left out, and that is said.
 */

import { button, make, option, select } from "wick/dom.js";
import { placeOf, AXIS, gutterOf, wholeWindow } from "wick/heat_place.js";

const MOST_SIDE = 16000; /* pixels: what every browser draws */
const MOST_PIXELS = 64e6;
const GAP = 8;
const CELL = 6; /* pixels of a column of the heatmap, where there is room */

/** Hands a blob to the browser as a file. */
export function download(blob, name) {
	const link = make("a", { href: URL.createObjectURL(blob), download: name });
	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function fileName(app, what, ending) {
	const base = (app.name || "recording").split(/[\\/]/).at(-1).replace(/[^\w.-]+/g, "_");
	return `${base}.${what}.${ending}`;
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
	const sheet = make("canvas");
	const height = sheets.reduce((sum, canvas) => sum + canvas.height + GAP, -GAP);
	sheet.width = Math.min(MOST_SIDE, Math.max(...sheets.map((canvas) => canvas.width)));
	sheet.height = Math.min(MOST_SIDE, Math.floor(MOST_PIXELS / sheet.width), height);
	if (sheet.height < height)
		notes.push(`the lowest ${height - sheet.height} of ${height} pixels are not in the picture`);
	const context = sheet.getContext("2d");
	context.fillStyle = app.colours.css("paper");
	context.fillRect(0, 0, sheet.width, sheet.height);
	let y = 0;
	for (const canvas of sheets) {
		context.drawImage(canvas, 0, y);
		y += canvas.height + GAP;
	}
	return sheet;
}

/* All columns of the heatmap, each wide enough to be seen. */
function heatSheet(app) {
	const { heat, paint } = app.heatView;
	const canvas = make("canvas");
	const gutter = gutterOf(heat, app.heatView.width);
	canvas.width = Math.min(MOST_SIDE, Math.max(app.heatView.width, gutter + heat.nColumns * CELL));
	const place = placeOf(heat, wholeWindow(heat), canvas.width);
	canvas.height = place.height + AXIS;
	const context = canvas.getContext("2d");
	context.fillStyle = app.colours.css("paper");
	context.fillRect(0, 0, canvas.width, canvas.height);
	paint.call(app.heatView, context, place, canvas.width);
	return canvas;
}

function said(app, name, notes) {
	const text = notes.length ? `Saved ${name}; ${notes.join("; ")}` : `Saved ${name}`;
	app.say(text);
	document.getElementById("shared").textContent = text;
}

function savePng(app, what) {
	const { sheets, notes } = what === "heatmap" ? { sheets: [heatSheet(app)], notes: [] } : sheetsOf(app);
	if (sheets.length === 0)
		return said(app, "nothing", ["there is no drawing here; the numbers can be saved as CSV"]);
	const name = fileName(app, what, "png");
	oneSheet(app, sheets, notes).toBlob((blob) => {
		download(blob, name);
		said(app, name, notes);
	}, "image/png");
	return undefined;
}

/* The same picture or table as the command's, which the worker makes. */
async function saveText(app, what, ending) {
	const { phase } = app.store.state;
	const hasGraph = what === "heatmap" || app.view?.graphs?.length > 0;
	if (ending === "svg" && !hasGraph)
		return said(app, "nothing", ["this view has no graph; save it as PNG or CSV"]);
	const label = document.querySelector("#tabs [aria-selected=true]")?.textContent ?? "";
	const title = `${app.name || "recording"}: ${what === "heatmap" ? "heatmap" : label}`;
	const name = fileName(app, what, ending);
	try {
		const { columnNs } = app.heatView.heat;
		const bytes = await app.models.ask("drawing", `${hasGraph ? what : "functions"}.${ending}`, title,
			{ columnNs, phaseNs: phase % columnNs, around: app.view?.around });
		download(new Blob([bytes], { type: ending === "svg" ? "image/svg+xml" : "text/csv" }), name);
		return said(app, name, []);
	} catch (error) {
		return said(app, "nothing", [error.message]);
	}
}

/* What the command's converter writes of what is selected, by the end of the file's name. */
const FORMATS = [["perf", "perf"], ["pprof", "pb"], ["Folded", "folded"], ["speedscope", "speedscope.json"],
	["Firefox", "firefox.json"]];

async function saveSamples(app, end) {
	const name = fileName(app, "selected", end);
	download(new Blob([await app.models.ask("file", end)]), name);
	said(app, name, []);
}

/** The part of the share menu that saves: what, and as which kind of file. */
export function mountSave(element, app) {
	const part = () => (what.value === "heatmap" ? "heatmap" : app.store.state.view);
	const pictures = [["PNG", () => savePng(app, part())],
		...["SVG", "CSV"].map((label) => [label, () => saveText(app, part(), label.toLowerCase())])];
	const samples = FORMATS.map(([label, end]) => [label, () => saveSamples(app, end)]);
	const what = select("save-what", option("view", "Save stacks"), option("heatmap", "Save heatmap"),
		option("samples", "Save selected samples"));
	what.setAttribute("aria-label", "What is saved");
	const buttonOf = ([label, save]) => button(label, save, { id: `save-${label.toLowerCase()}`,
		title: `Save it as ${label}`, "aria-label": `Save as ${label}` });
	const offer = () => element.replaceChildren(what,
		...(what.value === "samples" ? samples : pictures).map(buttonOf));
	what.addEventListener("change", () => {
		offer();
		what.focus(); /* it was put in anew */
	});
	offer();
}
