/* floating.js - what lies over the page: the text beside the pointer, and boxes that a button opens */

import { onKeys } from "wick/parts/canvas.js";
import { make } from "wick/parts/dom.js";

const GAP = 4; /* pixels */
const EDGE = 8;

/* show() places lines of text (the first is the title) so that they stay inside the window. */
export function makeTip(element) {
	return {
		show(x, y, lines) {
			element.replaceChildren(...lines.map((line) => make("p", { textContent: line })));
			element.hidden = false;
			const box = element.getBoundingClientRect();
			const left = x + 14 + box.width > window.innerWidth ? x - 14 - box.width : x + 14;
			const top = y + 18 + box.height > window.innerHeight ? y - 12 - box.height : y + 18;
			element.style.left = `${Math.max(GAP, left)}px`;
			element.style.top = `${Math.max(GAP, top)}px`;
		},
		hide: () => (element.hidden = true),
	};
}

/* Below the button, within the window. */
function placeBelow(box, button) {
	const at = button.getBoundingClientRect();
	box.style.display = "flex"; /* else it has no width yet */
	const left = Math.min(at.left, window.innerWidth - EDGE - box.offsetWidth);
	box.style.display = "";
	box.style.top = `${at.bottom + GAP}px`;
	box.style.left = `${Math.max(EDGE, left)}px`;
	box.style.maxHeight = `${window.innerHeight - at.bottom - GAP - EDGE}px`;
}

/** The arrow keys, Home and End in a box of buttons. */
export function walkBox(box) {
	onKeys(box, ({ target }) => {
		const all = [...box.querySelectorAll("button, input, select, [tabindex]")]
			.filter((element) => element.offsetParent && !element.disabled);
		const at = all.indexOf(target);
		const to = (i) => () => all.at(i).focus();
		return target.matches("button, input[type=checkbox]")
			? { ArrowDown: to((at + 1) % all.length), ArrowUp: to(at - 1), Home: to(0), End: to(-1) } : {};
	});
}

/*
 * BUTTON opens BOX below it; Escape, a click elsewhere or the button again close it.  onOpen() is
 * called before it is seen.
 */
export function attachBox(button, box, onOpen = () => {}) {
	box.popover = "auto";
	button.popoverTargetElement = box;
	button.setAttribute("aria-expanded", "false");
	box.addEventListener("beforetoggle", ({ newState }) => {
		if (newState !== "open")
			return;
		onOpen();
		placeBelow(box, button);
	});
	box.addEventListener("toggle", ({ newState }) => {
		button.setAttribute("aria-expanded", String(newState === "open"));
		if (newState === "open")
			(box.querySelector("[autofocus], [aria-selected=true]") ?? box.querySelector("button, input, select"))?.focus();
	});
	walkBox(box);
}

/* What puts ELEMENT into a box that BUTTON opens, where there is no room (true), or back into its place. */
export function makeCollapsible(button, element) {
	attachBox(button, element);
	return (isNarrow) => {
		if (isNarrow !== (element.popover === "auto"))
			element.popover = isNarrow ? "auto" : null;
		button.hidden = !isNarrow;
	};
}
