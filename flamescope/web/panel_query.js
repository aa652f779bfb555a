/* panel_query.js - what is counted, grouped and filtered, and how it is coloured; no reloading */

import { FRAME_COLOURS } from "wick/colour.js";
import { formatShare, grouped, unitWord } from "wick/amount.js";
import { periodOf } from "wick/period.js";
import { parseMetric } from "wick/query.js";
import { classNames, compile, defaultMetric, deltaMetricOf, dimension, dimensionNames, hasIdleThread } from "wick/select.js";

const MEASURES = [
	["", "value"], [":mean", "mean"], [":delta", "change (signed)"],
	[":gain", "what it grew by"], [":loss", "what it shrank by"],
];
const ROWS = [10, 20, 25, 50, 100];
const COLUMNS = [[0, "as fits"], [1e9, "1 s"], [10e9, "10 s"], [60e9, "1 min"], [600e9, "10 min"]];
/* Not dimensions: patterns of functions anywhere in the stack. */
const FUNCTIONS = "functions";
const MAX_SUGGESTED = 100;

function make(tag, properties = {}, ...children) {
	const element = Object.assign(document.createElement(tag), properties);
	element.append(...children);
	return element;
}

function labelled(text, control) {
	return make("label", {}, text, control);
}

function option(value, text) {
	return make("option", { value, textContent: text });
}

function chip(text, what, remove) {
	const button = make("button", { type: "button", textContent: "×" });
	button.setAttribute("aria-label", `Remove ${what}`);
	button.addEventListener("click", remove);
	return make("span", { className: "chip" }, text, button);
}

/* What idle CPUs were sampled with: hidden, and how much that is, or shown. */
function idleChip(app) {
	const { query } = app.store.state;
	if (!hasIdleThread(app.profile))
		return [];
	if (query.idle)
		return [chip("idle CPUs are shown", "what shows idle CPUs",
			() => app.store.setQuery({ idle: false }))];
	const { n, nIdle } = app.models.whole();
	if (nIdle === 0)
		return [];
	const show = make("button", { type: "button", id: "show-idle", textContent: "show" });
	show.setAttribute("aria-label", "Show idle CPUs");
	show.addEventListener("click", () => app.store.setQuery({ idle: true }));
	return [make("span", { className: "chip" },
		`idle CPUs are hidden: ${grouped(nIdle)} samples (${formatShare(nIdle, n + nIdle)})`, show)];
}

/* The filters of a query that has only the event called NAME. */
function onlyEvent(query, name) {
	const pattern = `^${name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`;
	return [...query.filters.filter((filter) => filter.dimension !== "event"),
		{ dimension: "event", pattern, exclude: false }];
}

function metricOptions(profile) {
	const { unit: counted } = periodOf(profile);
	const plain = [option("samples", profile.hasTimes ? "samples" : "stacks"),
		option("period", counted ? unitWord(counted) : "period")];
	const groups = profile.metrics.map(({ name, unit }) => {
		const group = make("optgroup", { label: unit ? `${name} (${unit})` : name });
		group.append(...MEASURES.map(([word, text]) => option(name + word, `${name}: ${text}`)));
		return group;
	});
	return [...plain, ...groups];
}

/* What samples can be told apart by; sizes of metrics by themselves, for there are many. */
function dimensionOptions(profile) {
	const sizes = make("optgroup", { label: "size of" });
	sizes.append(...classNames(profile).map((name) => option(name, name)));
	return [...dimensionNames(profile).map((name) => option(name, name)),
		...(profile.metrics.length ? [sizes] : [])];
}

/* "sign" is for those whose metric is a change. */
function offerSign(select, deltaMetric) {
	const offered = select.querySelector("option[data-delta]");
	if (deltaMetric && !offered) {
		select.append(option("sign", "gain and loss"));
		select.lastElementChild.dataset.delta = "";
	} else if (!deltaMetric) {
		offered?.remove();
	}
}

function filterText({ dimension: name, pattern, exclude }) {
	if (pattern === "")
		return exclude ? `has ${name}` : `no ${name}`;
	return `${name} ${exclude ? "does not match" : "matches"} ${pattern}`;
}

/* Removable words of what is in force, each with what is left without it. */
function chipsOf(query) {
	const without = (list, i) => list.filter((_, at) => at !== i);
	return [
		...query.groups.map((name, i) =>
			[`group: ${name}`, { groups: without(query.groups, i) }]),
		...query.filters.map((filter, i) =>
			[filterText(filter), { filters: without(query.filters, i) }]),
		...query.only.map((pattern, i) =>
			[`only stacks with ${pattern}`, { only: without(query.only, i) }]),
		...query.without.map((pattern, i) =>
			[`without stacks with ${pattern}`, { without: without(query.without, i) }]),
		...query.elide.map((pattern, i) =>
			[`left out: ${pattern}`, { elide: without(query.elide, i) }]),
		...(query.focus ? [[`from ${query.focus} on`, { focus: "" }]] : []),
		...(query.truncate ? [[`no further than ${query.truncate}`, { truncate: "" }]] : []),
		...(query.every ? [["every second's part", { every: null }]] : []),
	];
}

/* What samples say in a dimension, in order. */
function valuesOf(dim) {
	const seen = new Uint8Array(dim.n);
	for (let i = 0; i < dim.codes.length; i++)
		seen[dim.codes[i]] = 1;
	const labels = new Set();
	for (let code = 0; code < dim.n; code++)
		if (seen[code] && dim.label(code))
			labels.add(dim.label(code));
	return [...labels].sort();
}

export function mountQuery(element, app) {
	const metric = make("select", { id: "metric" });
	const event = make("select", { id: "event" });
	const group = make("select", { id: "group" });
	const colour = make("select", { id: "colour" });
	const by = make("select", { id: "by" });
	const rows = make("select", { id: "rows" });
	const column = make("select", { id: "column" });
	const flatten = make("input", { type: "checkbox", id: "flatten" });
	const wrappers = make("input", { type: "checkbox", id: "wrappers" });
	const where = make("select", { id: "where" });
	const how = make("select", { id: "how" }, option("", "matches"), option("not", "does not match"));
	const pattern = make("input", { id: "pattern", type: "text", size: 18, autocomplete: "off",
		spellcheck: false, placeholder: "regular expression" });
	const suggestions = make("datalist", { id: "pattern-values" });
	const form = make("form", { className: "controls filters" },
		labelled("Filter", where), how, pattern, suggestions,
		make("button", { type: "submit", textContent: "Add filter" }));
	const chips = make("div", { className: "controls filters", id: "query-chips" });

	how.setAttribute("aria-label", "whether it matches");
	pattern.setAttribute("aria-label", "pattern");
	pattern.setAttribute("list", "pattern-values");
	colour.append(...FRAME_COLOURS.map(([value, text]) => option(value, text)));
	rows.append(...ROWS.map((n) => option(n === 50 ? 0 : n, `${n}`)));
	column.append(...COLUMNS.map(([ns, text]) => option(ns, text)));
	element.append(
		make("div", { className: "controls" },
			labelled("Event", event), labelled("Metric", metric), labelled("Group by", group),
			labelled("Colour by", colour), labelled("Heatmap rows", by),
			labelled("in", rows), labelled("columns of", column),
			labelled("", flatten), labelled("", wrappers)),
		form, chips);
	flatten.parentElement.append("one frame for direct recursion");
	wrappers.parentElement.append("leave out wrappers");

	function fill() {
		metric.replaceChildren(...metricOptions(app.profile));
		event.parentElement.hidden = app.profile.events.length < 2;
		event.replaceChildren(...app.profile.events.map((name, i) => option(i, name || "(no name)")));
		group.replaceChildren(option("", "nothing"), ...dimensionOptions(app.profile));
		by.replaceChildren(option("", "time"), ...dimensionOptions(app.profile));
		where.replaceChildren(...dimensionOptions(app.profile), option(FUNCTIONS, "functions"));
		show();
	}

	function suggest() {
		const labels = where.value === FUNCTIONS ? [] : valuesOf(dimension(app.profile, where.value));
		suggestions.replaceChildren(...labels.slice(0, MAX_SUGGESTED).map((label) =>
			option(label.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), label)));
	}

	/* "" also where the words of the address name a metric that is not there. */
	function deltaMetricNow() {
		const asked = parseMetric(app.store.state.query.metric || defaultMetric(app.profile, app.models.whole().event));
		return asked ? deltaMetricOf(asked) : "";
	}

	function show() {
		const { query, colour: coloured, by: rowsBy, rows: nRows, column: ns } = app.store.state;
		metric.value = query.metric || defaultMetric(app.profile, app.models.whole().event);
		offerSign(group, deltaMetricNow());
		group.value = query.groups.length === 1 ? query.groups[0] : "";
		colour.value = coloured;
		by.value = rowsBy;
		rows.value = String(nRows);
		column.value = String(ns);
		flatten.checked = query.flatten;
		wrappers.checked = query.elide.includes("@wrappers");
		if (app.profile.events.length > 1)
			event.value = String(app.models.whole().event);
		chips.replaceChildren(...idleChip(app), ...chipsOf(query).map(([text, patch]) =>
			chip(text, text, () => app.store.setQuery(patch))));
		chips.hidden = chips.childElementCount === 0;
	}

	function addFilter() {
		const { query } = app.store.state;
		const exclude = how.value === "not";
		compile(pattern.value);
		if (where.value !== FUNCTIONS)
			return { filters: [...query.filters,
				{ dimension: where.value, pattern: pattern.value, exclude }] };
		if (pattern.value === "")
			throw new Error("which functions?");
		return exclude ? { without: [...query.without, pattern.value] }
			: { only: [...query.only, pattern.value] };
	}

	metric.addEventListener("change", () => {
		const { groups } = app.store.state.query;
		const signed = deltaMetricOf(parseMetric(metric.value)) !== "";
		app.store.setQuery({ metric: metric.value,
			groups: signed ? groups : groups.filter((name) => name !== "sign") });
		app.say(`Metric: ${metric.value}`);
	});
	event.addEventListener("change", () => {
		const name = app.profile.events[Number(event.value)];
		app.store.setQuery({ filters: onlyEvent(app.store.state.query, name) });
		app.say(`Event: ${name}`);
	});
	group.addEventListener("change", () => {
		const { groups } = app.store.state.query;
		const name = group.value;
		app.store.setQuery({ groups: name === "" ? [] : [...groups.filter((g) => g !== name), name] });
		app.say(`Grouped by ${app.store.state.query.groups.join(", ") || "nothing"}`);
	});
	colour.addEventListener("change", () => app.store.set({ colour: colour.value }));
	by.addEventListener("change", () => app.store.set({ by: by.value }));
	rows.addEventListener("change", () => app.store.set({ rows: Number(rows.value) }));
	column.addEventListener("change", () => app.store.set({ column: Number(column.value) }));
	flatten.addEventListener("change", () => app.store.setQuery({ flatten: flatten.checked }));
	wrappers.addEventListener("change", () => {
		const others = app.store.state.query.elide.filter((word) => word !== "@wrappers");
		app.store.setQuery({ elide: wrappers.checked ? [...others, "@wrappers"] : others });
	});
	pattern.addEventListener("focus", suggest);
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		pattern.setCustomValidity("");
		try {
			app.store.setQuery(addFilter());
			pattern.value = "";
		} catch (error) {
			pattern.setCustomValidity(error.message);
			pattern.reportValidity();
		}
	});
	pattern.addEventListener("input", () => pattern.setCustomValidity(""));
	app.keys.add({ key: "f", what: "filter by a pattern", run: () => pattern.focus() });
	app.keys.add({ key: "m", what: "metric", run: () => metric.focus() });
	app.keys.add({ key: "g", what: "group", run: () => group.focus() });
	app.store.subscribe(show);
	app.on("data", fill);
	app.on("whole", fill); /* then it is known whether there are CPUs */
	fill();
}
