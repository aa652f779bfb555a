/* panel_details.js - one function, or all: its states, its threads, its modules, every metric */

import { formatAmount, formatChange, formatShare, formatTime } from "wick/parts/amount.js";
import { drawing } from "wick/state/asked.js";
import { button, make } from "wick/parts/dom.js";
import { sayAmount } from "wick/stacks/tree_picture.js";

const FIRST = ["state", "wait", "thread"]; /* what is asked for most */

const table = (caption, rows) => make("table", { "aria-label": caption },
	...rows.map(([head, ...cells]) => make("tr", {}, make("th", { scope: "row", textContent: head, title: head }),
		...cells.map((textContent) => make("td", { textContent })))));

const heading = (textContent) => make("h3", { textContent });

function whereRows({ places, nPlaces }) {
	const rows = places.flatMap(([module, address]) => [["module", module || "–"], ...(address ? [["first seen at", address]] : [])]);
	return nPlaces > places.length ? [...rows, ["", `and ${nPlaces - places.length} more of that name`]] : rows;
}

/* Readings of a counter go on from each other: what they add up to says nothing, their change does. */
const metricRows = ({ metrics }) => metrics.map(({ name, unit, mean, min, max, gain, loss }) => {
	const changes = [gain, -loss].filter((change) => change !== 0).map((change) => formatChange(change, unit));
	const change = changes.length ? `, change ${changes.join(" ")}` : "";
	return [name, `mean ${formatAmount(mean, unit)} (${formatAmount(min, unit)} to ${formatAmount(max, unit)})${change}`];
});

function tagPart({ name, values, more, moreAmount }, { total }, unit) {
	const row = (label, amount) => [label, formatAmount(amount, unit), formatShare(amount, total.gain + total.loss)];
	const rows = values.map(({ label, amount }) => row(label || `[no ${name}]`, amount));
	return make("section", {}, heading(name), table(name, more ? [...rows, row(`${more} more`, moreAmount)] : rows));
}

function fill(box, selection, name, details) {
	const { total, self, tags } = details;
	const amount = (what, { gain, loss, samples }) =>
		[what, sayAmount(selection, gain, loss, samples), formatShare(gain + loss, selection.size)];
	const place = (tag) => (FIRST.indexOf(tag.name) + FIRST.length + 1) % (FIRST.length + 1); /* others are last */
	const parts = tags.toSorted((a, b) => place(a) - place(b)).map((tag) => tagPart(tag, details, selection.unit));
	const where = name ? whereRows(details) : [];
	if (where.length)
		parts.splice(tags.filter((tag) => FIRST.includes(tag.name)).length, 0, heading("where"), table("Where", where));
	box.append(table("Amounts", [
		amount("total", total), ...(name ? [amount("self", self)] : []),
		["samples", formatAmount(total.samples), formatShare(total.samples, selection.n)],
		["from", formatTime(details.firstNs), ""],
		["to", formatTime(details.lastNs), ""],
	]), make("p", { className: "faint", textContent: selection.precision }), ...parts);
	if (details.metrics.length)
		box.append(heading("metrics of its samples"), table("Metrics", metricRows(details)));
}

/** Fills PLACE with what is known of the state's function, or of all that is selected. */
export function mountDetails(place, app) {
	let timer = 0;
	place.classList.toggle("wide", Boolean(app.addSource));

	const update = drawing(() => {
		const name = app.store.state.frame;
		const selection = app.models.selection();
		const details = app.models.details(name);
		const title = name || "All that is selected";
		const head = make("div", { className: "bar" }, make("h2", { textContent: title, title }),
			button("All", () => app.store.set({ frame: "" }), { title: "Of all functions", hidden: name === "" }),
			button("×", () => app.store.set({ details: "closed" }), { className: "icon", "aria-label": "Close details" }));
		const box = make("div", { className: "scroll", tabIndex: 0, role: "region",
			"aria-label": `Details of ${name || "all that is selected"}` });
		if (details.total.samples === 0)
			box.append(make("p", { textContent: name ? "No sample of this selection has it in its stack."
				: "No sample is selected." }));
		else
			fill(box, selection, name, details);
		app.addSource?.(box, details.total.samples ? name : "");
		place.replaceChildren(head, box);
	});

	/* After the views: they are what was asked for first. */
	function later() {
		clearTimeout(timer);
		update.stop();
		if (place.hidden)
			place.replaceChildren();
		else
			timer = setTimeout(update, 0);
	}
	app.store.subscribe((state, old) => {
		if (["frame", "ranges", "query", "transforms"].some((key) => state[key] !== old[key]))
			later();
	});
	for (const event of ["data", "details"])
		app.on(event, later);
	later();
}
