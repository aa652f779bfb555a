/* panel_details.js - one function, or all: its states, its threads, its modules, every metric */

import { formatAmount, formatChange, formatShare, formatTime } from "wick/parts/amount.js";
import { drawing } from "wick/state/asked.js";
import { button, make } from "wick/parts/dom.js";
import { frameModule, frameInlined } from "wick/stacks/frames.js";
import { sayAmount } from "wick/stacks/tree_picture.js";

const MOST_MODULES = 4;
const FIRST = ["state", "wait", "thread"]; /* what is asked for most */

const table = (caption, rows) => make("table", { "aria-label": caption },
	...rows.map(([head, ...cells]) => make("tr", {}, make("th", { scope: "row", textContent: head, title: head }),
		...cells.map((textContent) => make("td", { textContent })))));

const heading = (textContent) => make("h3", { textContent });

function whereRows(selection, details) {
	const { frames } = selection.profile;
	const rows = [];
	for (const frame of details.frames.slice(0, MOST_MODULES)) {
		if (frame >= frames.n)
			continue;
		const addr = frames.addr[frame];
		const offset = frames.offset[frame];
		rows.push(["module", frameInlined(selection, frame) ? "inlined" : frameModule(selection, frame) || "–"]);
		if (addr)
			rows.push(["first seen at", `0x${addr.toString(16)}${offset ? ` (+0x${offset.toString(16)})` : ""}`]);
	}
	if (details.frames.length > MOST_MODULES)
		rows.push(["", `and ${details.frames.length - MOST_MODULES} more of that name`]);
	return rows;
}

/* Readings of a counter go on from each other: what they add up to says nothing, their change does. */
function metricRows(details) {
	return details.metrics.map((m) => {
		const changes = [m.gain, -m.loss].filter((change) => change !== 0)
			.map((change) => formatChange(change, m.unit));
		const change = changes.length ? `, change ${changes.join(" ")}` : "";
		return [m.name, `mean ${formatAmount(m.mean, m.unit)} (${formatAmount(m.min, m.unit)} to ${formatAmount(m.max, m.unit)})${change}`];
	});
}

function tagPart(tag, details, unit) {
	const whole = details.total.gain + details.total.loss;
	const row = (label, amount) => [label, formatAmount(amount, unit), formatShare(amount, whole)];
	const rows = tag.values.map(({ label, amount }) => row(label === "" ? `[no ${tag.name}]` : label, amount));
	if (tag.more > 0)
		rows.push(row(`${tag.more} more`, tag.moreAmount));
	return make("section", {}, heading(tag.name), table(tag.name, rows));
}

function fill(box, app, selection, details) {
	const { size: whole } = selection;
	const { total, self } = details;
	box.append(table("Amounts", [
		["total", sayAmount(selection, total.gain, total.loss, details.samples), formatShare(total.gain + total.loss, whole)],
		...(details.name ? [["self", sayAmount(selection, self.gain, self.loss, details.selfSamples), formatShare(self.gain + self.loss, whole)]] : []),
		["samples", formatAmount(details.samples), formatShare(details.samples, selection.n)],
		["from", formatTime(details.firstNs), ""],
		["to", formatTime(details.lastNs), ""],
	]));
	box.append(make("p", { className: "faint", textContent: selection.precision }));
	const tags = details.tags.filter((tag) => tag.says);
	const addTags = (isFirst) => tags.filter(({ name }) => FIRST.includes(name) === isFirst)
		.sort((a, b) => FIRST.indexOf(a.name) - FIRST.indexOf(b.name))
		.forEach((tag) => box.append(tagPart(tag, details, selection.unit)));
	addTags(true);
	const where = details.name ? whereRows(selection, details) : [];
	if (where.length)
		box.append(heading("where"), table("Where", where));
	addTags(false);
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
		if (details.samples === 0)
			box.append(make("p", { textContent: name ? "No sample of this selection has it in its stack."
				: "No sample is selected." }));
		else
			fill(box, app, selection, details);
		app.addSource?.(box, details.samples ? name : "");
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
