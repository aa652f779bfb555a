/*
 * aria.js - texts for screen readers
 *
 * A drawing is a canvas with a name, a live region says what the cursor is on, and a table behind
 * a <details> holds the same as the drawing.
 */

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

function row(cells, tag) {
	const tr = document.createElement("tr");
	for (const cell of cells) {
		const element = document.createElement(tag);
		if (tag === "th")
			element.scope = "col";
		element.textContent = cell;
		tr.append(element);
	}
	return tr;
}

/*
 * A <details> with a table of what a drawing shows, which lies over the page while it is open;
 * make() -> {caption, head, rows} is asked when it is opened, and again by refresh() while it is open.
 */
export function textEquivalent(label, make) {
	const details = document.createElement("details");
	const summary = document.createElement("summary");
	const box = document.createElement("div");
	const table = document.createElement("table");
	summary.textContent = "As text";
	summary.title = label;
	summary.setAttribute("aria-label", `As text: ${label}`);
	box.className = "as-text-box";
	box.tabIndex = 0;
	box.setAttribute("role", "region");
	box.setAttribute("aria-label", label);
	box.append(table);
	details.className = "as-text";
	details.append(summary, box);
	details.addEventListener("keydown", (event) => {
		if (event.key !== "Escape" || !details.open)
			return;
		event.stopPropagation();
		details.open = false;
		summary.focus();
	});
	function refresh() {
		if (!details.open)
			return;
		const { caption, head, rows } = make();
		const title = document.createElement("caption");
		title.textContent = rows.length > MAX_ROWS
			? `${caption} (the first ${MAX_ROWS} of ${rows.length} rows)` : caption;
		const thead = document.createElement("thead");
		const tbody = document.createElement("tbody");
		thead.append(row(head, "th"));
		tbody.append(...rows.slice(0, MAX_ROWS).map((cells) => row(cells, "td")));
		table.replaceChildren(title, thead, tbody);
	}
	details.addEventListener("toggle", refresh);
	return { element: details, refresh };
}
