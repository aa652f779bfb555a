/* save.js - the drawing as PNG or SVG, the numbers as CSV */

import { frameModule, frameName } from "wick/select.js";
import { flameSvg, functionsCsv } from "wick/save_text.js";

const SVG_WIDTH = 1200;

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

function fileName(app, ending) {
	const base = (app.name || "recording").split(/[\\/]/).at(-1).replace(/[^\w.-]+/g, "_");
	return `${base}.${app.store.state.view}.${ending}`;
}

/* Of all canvases of the view one below the other; what is scrolled away is not in it. */
function savePng(app) {
	const drawings = [...document.querySelectorAll("#view canvas")].filter((canvas) => canvas.width && canvas.offsetParent);
	if (drawings.length === 0)
		return app.say("there is no drawing here; the numbers can be saved as CSV");
	const sheet = document.createElement("canvas");
	const gap = 8;
	sheet.width = Math.max(...drawings.map((canvas) => canvas.width));
	sheet.height = drawings.reduce((sum, canvas) => sum + canvas.height + gap, -gap);
	const context = sheet.getContext("2d");
	context.fillStyle = app.colours.css("paper");
	context.fillRect(0, 0, sheet.width, sheet.height);
	let y = 0;
	for (const canvas of drawings) {
		context.drawImage(canvas, 0, y);
		y += canvas.height + gap;
	}
	sheet.toBlob((blob) => download(blob, fileName(app, "png")), "image/png");
	return undefined;
}

function saveSvg(app) {
	const canvas = app.view?.canvas;
	if (!canvas?.picture)
		return app.say("this view has no graph; save it as PNG or CSV");
	const label = document.querySelector("#tabs [aria-selected=true]")?.textContent ?? "";
	const ink = { ...canvas.ink, title: app.colours.css("ink") };
	const text = flameSvg(canvas.picture, ink, {
		window: canvas.window,
		firstRow: canvas.options.firstRow,
		up: canvas.options.up,
		width: SVG_WIDTH,
		title: `${app.name || "recording"}: ${label}`,
	});
	download(new Blob([text], { type: "image/svg+xml" }), fileName(app, "svg"));
	return undefined;
}

function saveCsv(app) {
	const selection = app.models.selection();
	const text = functionsCsv(app.models.functions(), (f) => frameName(selection, f),
		(f) => frameModule(selection, f), selection.unit);
	download(new Blob([text], { type: "text/csv" }), fileName(app, "csv"));
}

export const savePanel = {
	id: "save",
	mount(element, app) {
		const choices = [
			["PNG", "Save the drawing as PNG", savePng],
			["SVG", "Save the graph as SVG", saveSvg],
			["CSV", "Save the functions as CSV", saveCsv],
		];
		const group = document.createElement("span");
		group.setAttribute("role", "group");
		group.setAttribute("aria-label", "Save");
		for (const [label, title, save] of choices) {
			const button = document.createElement("button");
			button.type = "button";
			button.id = `save-${label.toLowerCase()}`;
			button.textContent = label;
			button.title = title;
			button.setAttribute("aria-label", title);
			button.addEventListener("click", () => save(app));
			group.append(button, " ");
		}
		element.replaceChildren(group);
	},
};
