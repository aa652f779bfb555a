/* panel_query.js - what is counted, grouped and filtered, and how it is coloured; no reloading */

import { FRAME_COLOURS } from "wick/parts/colour.js";
import { formatShare, formatStep, grouped, unitWord } from "wick/parts/amount.js";
import { button, byId, make, option } from "wick/parts/dom.js";
import { drawing } from "wick/state/asked.js";
import { attachBox } from "wick/parts/floating.js";
import { labelsOf, patternOf } from "wick/state/label_pattern.js";
import { EMPTY_QUERY, parseMetric } from "wick/state/query.js";
import { classNames, countsChanges, defaultMetric, hasIdleThread, periodOf } from "wick/state/recording.js";
import { transformKinds } from "wick/state/transforms.js";

const MEASURES = [
	["", "value"], [":mean", "mean"], [":delta", "change (signed)"],
	[":gain", "what it grew by"], [":loss", "what it shrank by"],
];
const ROWS = [0, 10, 20, 25, 50, 100];
const COLUMNS = [0, 10e6, 20e6, 50e6, 100e6, 200e6, 500e6, 1e9, 10e9, 60e9, 600e9]; /* nanoseconds */
const MOST_NAMED = 2; /* values in a chip */
const PATTERNS = [["only", "only stacks with"], ["without", "without stacks with"], ["elide", "left out:"]];

const chip = (text, act) => make("li", { className: "chip" }, make("span", { textContent: text, title: text }), act);

const removable = (text, remove) =>
	chip(text, button("×", remove, { title: "Remove", "aria-label": `Remove ${text}` }));

/* What idle CPUs were sampled with: hidden, and how much that is, or shown. */
function idleChip(app) {
	const { query } = app.store.state;
	if (!hasIdleThread(app.profile))
		return [];
	if (query.idle)
		return [removable("idle CPUs are shown", () => app.store.setQuery({ idle: false }))];
	const { n, nIdle } = app.models.whole();
	if (nIdle === 0)
		return [];
	return [chip(`idle CPUs are hidden: ${grouped(nIdle)} samples (${formatShare(nIdle, n + nIdle)})`,
		button("show", () => app.store.setQuery({ idle: true }), { id: "show-idle", "aria-label": "Show idle CPUs" }))];
}

/* The filters of a query that has only the event called NAME. */
const onlyEvent = (query, name) => [...query.filters.filter((filter) => filter.dimension !== "event"),
	{ dimension: "event", pattern: patternOf([name]), exclude: false }];

/** What can be counted, as options of a menu. */
export function metricOptions(profile) {
	const { unit: counted } = periodOf(profile);
	const plain = [option("samples", profile.hasTimes ? "samples" : "stacks"),
		option("period", counted ? unitWord(counted) : "period")];
	const groups = profile.metrics.map(({ name, unit }) => make("optgroup", { label: unit ? `${name} (${unit})` : name },
		...MEASURES.map(([word, text]) => option(name + word, `${name}: ${text}`))));
	return [...plain, ...groups];
}

/* What samples can be told apart by; sizes of metrics by themselves, for there are many. */
export function dimensionOptions(profile) {
	const sizes = make("optgroup", { label: "size of" }, ...classNames(profile).map((name) => option(name, name)));
	return [...profile.dimensions.map((name) => option(name, name)),
		...(profile.metrics.length ? [sizes] : [])];
}

/* Chosen values are named; a pattern is told as one. */
function filterText({ dimension: name, pattern, exclude }) {
	if (pattern === "")
		return exclude ? `has ${name}` : `no ${name}`;
	const labels = labelsOf(pattern);
	if (!labels)
		return `${name} ${exclude ? "does not match" : "matches"} ${pattern}`;
	const rest = labels.length - MOST_NAMED;
	const named = labels.slice(0, MOST_NAMED).join(", ");
	return `${name}: ${exclude ? "not " : ""}${named}${rest > 0 ? ` and ${rest} more` : ""}`;
}

const everyText = ({ every, from, to }) => `${from / 1e6}–${to / 1e6} ms of every ${formatStep(every)}`;

/* Removable words of what is in force, each with what is left without it. */
function chipsOf(query) {
	const without = (list, i) => list.filter((_, at) => at !== i);
	return [
		...(query.groups.length > 1 ? query.groups : []).map((name, i) => /* one is seen in its menu */
			[`group: ${name}`, { groups: without(query.groups, i) }]),
		...query.filters.map((filter, i) =>
			[filterText(filter), { filters: without(query.filters, i) }]),
		...PATTERNS.flatMap(([key, says]) => query[key].map((pattern, i) =>
			[`${says} ${pattern}`, { [key]: without(query[key], i) }])),
		...(query.focus ? [[`from ${query.focus} on`, { focus: "" }]] : []),
		...(query.truncate ? [[`no further than ${query.truncate}`, { truncate: "" }]] : []),
		...(query.flatten ? [["recursion flattened", { flatten: false }]] : []),
		...(query.every ? [[everyText(query.every), { every: null }]] : []),
	];
}

/* What was done to the stacks, step by step. */
function transformChips(app) {
	const { transforms } = app.store.state;
	return transforms.map(({ kind, of }, i) => removable(transformKinds[kind].says(of), () =>
		app.store.set({ transforms: transforms.filter((_, at) => at !== i), zoom: [], window: null })));
}

/* What is in force, each to be taken back; the focus stays among them. */
function mountChips(list, app) {
	const show = drawing(() => {
		const { query } = app.store.state;
		const at = [...list.children].findIndex((item) => item.contains(document.activeElement));
		const chips = [...idleChip(app), ...transformChips(app), ...chipsOf(query).map(([text, patch]) =>
			removable(text, () => app.store.setQuery(patch)))];
		if (chips.length > 1) {
			chips.push(make("li", {}, button("Clear all", () => app.store.set({ transforms: [], zoom: [], window: null,
				query: { ...EMPTY_QUERY, metric: query.metric, idle: query.idle } }))));
		}
		list.replaceChildren(...chips);
		if (at >= 0)
			list.children[Math.min(at, chips.length - 1)]?.querySelector("button").focus();
	});
	app.store.subscribe((state, old) => {
		show();
		const { kind, of } = state.transforms.at(-1) ?? {};
		if (state.transforms !== old.transforms)
			app.say(state.transforms.length > old.transforms.length ? transformKinds[kind].says(of)
				: "a step was taken back");
	});
	app.on("data", show);
	show();
}

/* The heatmap's rows and columns; BUTTON opens BOX. */
export function mountHeatMenu(button, box, app) {
	/* Each is called as what of the state it shows. */
	const [by, rows, column, cell, phase] = byId("by", "rows", "column", "cell", "phase");
	function fill() {
		by.replaceChildren(option("", "time"), ...dimensionOptions(app.profile));
		show();
	}
	function show() {
		const { state } = app.store;
		const columnNs = state.column || app.heatView?.heat?.columnNs;
		rows.parentElement.hidden = state.by !== "";
		rows.replaceChildren(...ROWS.map((n) => option(n, n && columnNs ? `${n} of ${formatStep(columnNs / n)}` : "as fits")));
		column.replaceChildren(...[...new Set([...COLUMNS, state.column])].map((ns) =>
			option(ns, ns ? formatStep(ns) : "as fits")));
		for (const menu of [by, rows, column, cell])
			menu.value = state[menu.id];
		phase.value = state.phase / 1e6;
	}
	for (const menu of [by, cell])
		menu.onchange = () => app.store.set({ [menu.id]: menu.value });
	rows.onchange = () => app.store.set({ rows: Number(rows.value) });
	column.onchange = () => app.store.set({ column: Number(column.value), phase: 0 });
	phase.onchange = () => app.store.set({ phase: Math.max(0, Math.round(Number(phase.value) * 1e6)) });
	attachBox(button, box);
	app.store.subscribe(show);
	app.on("heat", show);
	app.on("data", fill);
	fill();
}

/* The menus of the toolbar, and the chips beside them. */
export function mountQuery(element, chips, app) {
	const [metric, event, group, colour] = byId("metric", "event", "group", "colour");
	const sign = option("sign", "gain and loss"); /* of a metric that is a change */
	colour.append(...FRAME_COLOURS.map(([value, label]) => option(value, label)));

	function fill() {
		metric.replaceChildren(...metricOptions(app.profile));
		event.parentElement.hidden = app.profile.events.length < 2;
		event.replaceChildren(...app.profile.events.map((name, i) => option(i, name || "(no name)")));
		group.replaceChildren(option("", "none"), ...dimensionOptions(app.profile));
		show();
	}

	/* Also of what the words of the address name that is no metric. */
	const isChange = (name) => countsChanges(parseMetric(name) ?? {});

	const show = drawing(() => {
		const { query, colour: coloured } = app.store.state;
		const { event: counted } = app.models.whole();
		metric.value = query.metric || defaultMetric(app.profile, counted);
		sign.remove();
		if (isChange(query.metric))
			group.append(sign);
		group.value = query.groups.at(-1) ?? "";
		colour.value = coloured;
		event.value = String(counted);
	});

	metric.onchange = () => {
		const { groups } = app.store.state.query;
		app.store.setQuery({ metric: metric.value,
			groups: isChange(metric.value) ? groups : groups.filter((name) => name !== "sign") });
		app.say(`Metric: ${metric.value}`);
	};
	event.onchange = () => {
		const name = app.profile.events[Number(event.value)];
		app.store.setQuery({ filters: onlyEvent(app.store.state.query, name) });
		app.say(`Event: ${name}`);
	};
	group.onchange = () => {
		const { groups } = app.store.state.query;
		const name = group.value;
		app.store.setQuery({ groups: name === "" ? [] : [...groups.filter((other) => other !== name), name] });
		app.say(`Grouped by ${app.store.state.query.groups.join(", ") || "nothing"}`);
	};
	colour.onchange = () => app.store.set({ colour: colour.value });
	for (const [key, menu] of [["m", metric], ["g", group]])
		app.keys.add({ key, what: menu.id, run: () => {
			if (element.popover === "auto")
				element.showPopover();
			menu.focus();
		} });
	app.store.subscribe(show);
	app.on("data", fill);
	fill();
	mountChips(chips, app);
}
