/*
 * save.js - drawings as PNG or SVG, numbers as CSV, the selected samples as files of other programs
 *
 * A picture is of the whole drawing, not of what a window happens to show of it; what would be
 * larger than browsers can draw is left out, and that is said.
 */

import { there } from "wick/asked.js";
import { placeOf, AXIS, gutterOf, wholeWindow } from "wick/heat_place.js";
import { frameModule, frameName } from "wick/frames.js";
import { diffCsv, flameSvg, functionsCsv, heatCsv, heatSvg } from "wick/save_text.js";

const SVG_WIDTH = 1200;
const MOST_SIDE = 16000; /* pixels: what every browser draws */
const MOST_PIXELS = 64e6;
const MOST_SVG_CELLS = 400000;
const GAP = 8;
const CELL = 6; /* pixels of a column of the heatmap, where there is room */

/** Hands a blob to the browser as a file. */
export function download(blob, name) {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
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
	const sheet = document.createElement("canvas");
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
	const canvas = document.createElement("canvas");
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

function svgOf(app, what, title) {
	const notes = [];
	if (what === "heatmap") {
		const { heat } = app.heatView;
		if (heat.values.length > MOST_SVG_CELLS)
			return { notes: [`${heat.values.length} cells are too many for SVG; save it as PNG or CSV`] };
		return { text: heatSvg(heat, app.heatView.picture.colours,
			{ title, ink: app.colours.css("ink"), paper: app.colours.css("paper") }), notes };
	}
	const graphs = (app.view?.graphs ?? []).filter((graph) => graph.picture);
	if (graphs.length === 0)
		return { notes: ["this view has no graph; save it as PNG or CSV"] };
	const ink = { ...graphs[0].ink, title: app.colours.css("ink") };
	return { notes, text: flameSvg(graphs.map((graph) => ({ picture: graph.picture, window: graph.window,
		firstRow: graph.options.firstRow, up: graph.options.up })), ink, { width: SVG_WIDTH, title }) };
}

function saveSvg(app, what) {
	const label = document.querySelector("#tabs [aria-selected=true]")?.textContent ?? "";
	const title = `${app.name || "recording"}: ${what === "heatmap" ? "heatmap" : label}`;
	const { text, notes } = svgOf(app, what, title);
	if (text === undefined)
		return said(app, "nothing", notes);
	const name = fileName(app, what, "svg");
	download(new Blob([text], { type: "image/svg+xml" }), name);
	return said(app, name, notes);
}

async function csvOf(app, what) {
	if (what === "heatmap")
		return heatCsv(app.heatView.heat);
	if (what === "diff" && app.view.diff && app.view.canvas)
		return diffCsv(app.view.diff);
	const [selection, functions] = await there(() => [app.models.selection(), app.models.functions()]);
	return functionsCsv(functions, (f) => frameName(selection, f),
		(f) => frameModule(selection, f), selection.unit);
}

async function saveCsv(app, what) {
	const name = fileName(app, what, "csv");
	download(new Blob([await csvOf(app, what)], { type: "text/csv" }), name);
	said(app, name, []);
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
	const pictures = [["PNG", savePng], ["SVG", saveSvg], ["CSV", saveCsv]]
		.map(([label, save]) => [label, () => save(app, part())]);
	const samples = FORMATS.map(([label, end]) => [label, () => saveSamples(app, end)]);
	const what = document.createElement("select");
	what.id = "save-what";
	what.setAttribute("aria-label", "What is saved");
	for (const [value, label] of [["view", "Save stacks"], ["heatmap", "Save heatmap"], ["samples", "Save selected samples"]])
		what.append(new Option(label, value));
	const buttonOf = ([label, save]) => {
		const button = document.createElement("button");
		button.type = "button";
		button.id = `save-${label.toLowerCase()}`;
		button.textContent = label;
		button.title = `Save it as ${label}`;
		button.setAttribute("aria-label", `Save as ${label}`);
		button.addEventListener("click", save);
		return button;
	};
	const offer = () => element.replaceChildren(what,
		...(what.value === "samples" ? samples : pictures).map(buttonOf));
	what.addEventListener("change", () => {
		offer();
		what.focus(); /* it was put in anew */
	});
	offer();
}
