/*
 * aria.js - texts for screen readers
 *
 * A drawing is a canvas with a name, a live region says what the cursor is on, and a table behind
 * a <details> holds the same as the drawing.
 */

import { make } from "wick/parts/dom.js";
import { drawing } from "wick/state/asked.js";

const SAY_AFTER_MS = 120; /* keys that repeat: only where one comes to rest is said */
const MAX_ROWS = 200;

export function makeAria() {
	const live = document.getElementById("live");
	let timer = 0;
	return {
		say(text) {
			clearTimeout(timer);
			timer = setTimeout(() => (live.textContent = text), SAY_AFTER_MS);
		},
	};
}

const row = (cells, tag) => make("tr", {}, ...cells.map((textContent) =>
	make(tag, { textContent, ...(tag === "th" && { scope: "col" }) })));

/*
 * A <details> with a table of what a drawing shows, which lies over the page while it is open;
 * content() -> {caption, head, rows} is asked when it is opened, and again by refresh() while it is open.
 */
export function textEquivalent(label, content) {
	const table = make("table");
	const summary = make("summary", { textContent: "As text", title: label, "aria-label": `As text: ${label}` });
	const details = make("details", { className: "as-text" }, summary,
		make("div", { className: "as-text-box", tabIndex: 0, role: "region", "aria-label": label }, table));
	details.addEventListener("keydown", (event) => {
		if (event.key !== "Escape" || !details.open)
			return;
		event.stopPropagation();
		details.open = false;
		summary.focus();
	});
	const refresh = drawing(() => {
		if (!details.open || !details.isConnected)
			return;
		const { caption, head, rows } = content();
		const more = rows.length > MAX_ROWS ? ` (the first ${MAX_ROWS} of ${rows.length} rows)` : "";
		table.replaceChildren(make("caption", { textContent: caption + more }),
			make("thead", {}, row(head, "th")),
			make("tbody", {}, ...rows.slice(0, MAX_ROWS).map((cells) => row(cells, "td"))));
	});
	details.addEventListener("toggle", refresh);
	return { element: details, refresh };
}
