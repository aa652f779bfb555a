/*
 * open.js - files that are dropped on the page or chosen, to be shown or compared with
 *
 * C of the commands reads them, in the worker: they leave the machine as little as the page does.
 */

import { make } from "wick/dom.js";

const AREAS = [["A", "Open", "Drop a recording here to see it"],
	["B", "Compare", "Drop it here, or with Shift, to see what differs from it"]];

const hasFiles = (event) => Boolean(event.dataTransfer?.types.includes("Files"));

/* What is seen while a file is over the page; its areas by what a file becomes there. */
function makeAreas(element) {
	const areas = AREAS.map(([which, title, text]) => {
		const area = make("div", {}, make("h2", { textContent: title }), make("p", { textContent: text }));
		area.dataset.which = which;
		return area;
	});
	element.replaceChildren(...areas, make("p", { textContent:
		"wick, perf script, folded stacks, pprof, speedscope, Firefox Profiler; also as .gz" }));
}

const whichOf = (event) => (event.shiftKey ? "B" : event.target.closest?.("[data-which]")?.dataset.which ?? "A");

/** onFile("A" or "B", a File) is called for each that is dropped on the page or chosen. */
export function mountOpen(app, onFile) {
	const at = (id) => document.getElementById(id);
	const drop = at("drop");
	const input = at("file");
	let which = "A";
	makeAreas(drop);

	function choose(next) {
		which = next;
		input.value = ""; /* the same file again is a change, too */
		input.click();
	}
	function over(event) {
		if (!hasFiles(event))
			return;
		event.preventDefault();
		event.dataTransfer.dropEffect = "copy";
		drop.hidden = false;
		for (const area of drop.querySelectorAll("[data-which]"))
			area.classList.toggle("over", area.dataset.which === whichOf(event));
	}
	window.addEventListener("dragenter", over);
	window.addEventListener("dragover", over);
	window.addEventListener("dragleave", (event) => {
		if (!event.relatedTarget)
			drop.hidden = true;
	});
	window.addEventListener("drop", (event) => {
		if (!hasFiles(event))
			return;
		event.preventDefault();
		drop.hidden = true;
		onFile(whichOf(event), event.dataTransfer.files[0]);
	});
	input.addEventListener("change", () => input.files.length && onFile(which, input.files[0]));
	at("open-file").addEventListener("click", () => choose("A"));
	at("open-base").addEventListener("click", () => choose("B"));
	app.keys.add({ key: "o", what: "open a file", run: () => choose("A") });
	app.keys.add({ key: "O", what: "compare with a file", run: () => choose("B") });
}
