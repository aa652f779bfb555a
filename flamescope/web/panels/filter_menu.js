/* filter_menu.js - the box that adds a filter: values are chosen from a list, or a pattern is typed */

import { formatShare } from "wick/parts/amount.js";
import { drawing } from "wick/state/asked.js";
import { byId, make, option } from "wick/parts/dom.js";
import { attachBox } from "wick/parts/floating.js";
import { labelsOf, patternOf } from "wick/state/label_pattern.js";
import { dimensionOptions } from "wick/panels/panel_query.js";
import { makePattern } from "wick/models/pattern.js";

/* Not a dimension: patterns of functions anywhere in the stack. */
const FUNCTIONS = "functions";
const WRAPPERS = "@wrappers"; /* rules that come with wick */

/* FILTERS in which LABEL of a dimension is among those that are chosen, or is not any more. */
export function toggleLabel(filters, name, label, exclude, isChosen) {
	const at = filters.findIndex((filter) => filter.dimension === name && filter.exclude === exclude &&
		labelsOf(filter.pattern));
	const before = at < 0 ? [] : labelsOf(filters[at].pattern);
	/* "has none" is a pattern of its own */
	const others = before.filter((other) => other !== label && (!isChosen || (other === "") === (label === "")));
	const labels = isChosen ? [...others, label] : others;
	const filter = labels.length ? [{ dimension: name, pattern: patternOf(labels), exclude }] : [];
	return at < 0 ? [...filters, ...filter] : filters.toSpliced(at, 1, ...filter);
}

/* The labels of a dimension that a query chooses. */
export function chosenLabels({ filters }, name, exclude) {
	return new Set(filters.filter((filter) => filter.dimension === name && filter.exclude === exclude)
		.flatMap((filter) => labelsOf(filter.pattern) ?? []));
}

/** Whether a filter chooses threads; what leaves some out is another matter. */
export const choosesThreads = ({ dimension, exclude }) => !exclude && (dimension === "thread" || dimension === "process");

/**
 * choose - the filters after a click on LABEL, a thread or a process (NAME)
 *
 * It is chosen alone, or ISADDED to others of its kind; what is chosen already is not any more.
 */
export function choose(query, name, label, isAdded) {
	const chosen = chosenLabels(query, name, false);
	const isChosen = chosen.has(label) && (isAdded || chosen.size === 1);
	const kept = query.filters.filter((filter) => !choosesThreads(filter) || (filter.dimension === name && (isAdded || isChosen)));
	return toggleLabel(kept, name, label, false, !isChosen);
}

/** The filter menu of the toolbar: BUTTON opens BOX. */
export function mountFilterMenu(button, box, app) {
	const [where, how, pattern, list, more, flatten, wrappers] =
		byId("where", "how", "pattern", "values", "values-more", "flatten", "wrappers");
	const chosen = () => chosenLabels(app.store.state.query, where.value, how.value === "not");

	const row = ({ label, share }, chosen) => make("label", { className: "value" },
		make("input", { type: "checkbox", checked: chosen.has(label), onchange: ({ target }) => app.store.setQuery({
			filters: toggleLabel(app.store.state.query.filters, where.value, label, how.value === "not", target.checked) }) }),
		make("span", { className: "name", textContent: label || `[no ${where.value}]`, title: label }),
		make("span", { className: "part", textContent: formatShare(share, 1),
			style: `--part: ${share}` }));

	/* What the typed text is part of; all of it while nothing is typed. */
	const showList = drawing(() => {
		const { n, values } = where.value === FUNCTIONS ? { n: 0, values: [] } : app.models.values(where.value, pattern.value);
		const isChosen = chosen();
		list.replaceChildren(...values.map((value) => row(value, isChosen)));
		more.textContent = where.value === FUNCTIONS ? "Stacks with a function that matches the pattern."
			: n > values.length ? `${n - values.length} more: type a part of the name`
				: n === 0 ? "No value has this in it; it can be added as a pattern." : "";
		more.hidden = more.textContent === "";
		list.hidden = n === 0;
	});

	function fill() {
		const was = where.value || "thread";
		where.replaceChildren(...dimensionOptions(app.profile), option(FUNCTIONS, "functions"));
		where.selectedIndex = Math.max(0, [...where.options].findIndex(({ value }) => value === was));
		if (box.matches(":popover-open"))
			showList();
	}

	function show() {
		const { query } = app.store.state;
		flatten.checked = query.flatten;
		wrappers.checked = query.elide.includes(WRAPPERS);
		const isChosen = chosen();
		for (const label of list.children)
			label.firstChild.checked = isChosen.has(label.children[1].title);
	}

	function addFilter() {
		const { query } = app.store.state;
		const exclude = how.value === "not";
		const said = pattern.value;
		makePattern(said); /* an Error if it is none */
		if (where.value !== FUNCTIONS)
			return { filters: [...query.filters, { dimension: where.value, pattern: said, exclude }] };
		if (said === "")
			throw new Error("which functions?");
		return exclude ? { without: [...query.without, said] } : { only: [...query.only, said] };
	}

	pattern.form.addEventListener("submit", (event) => {
		event.preventDefault();
		pattern.setCustomValidity("");
		try {
			app.store.setQuery(addFilter());
			pattern.value = "";
			showList();
		} catch (error) {
			pattern.setCustomValidity(error.message);
			pattern.reportValidity();
		}
	});
	pattern.addEventListener("input", () => {
		pattern.setCustomValidity("");
		showList();
	});
	where.onchange = showList;
	how.onchange = showList;
	flatten.onchange = () => app.store.setQuery({ flatten: flatten.checked });
	wrappers.onchange = () => {
		const others = app.store.state.query.elide.filter((word) => word !== WRAPPERS);
		app.store.setQuery({ elide: wrappers.checked ? [...others, WRAPPERS] : others });
	};
	attachBox(button, box, showList);
	app.keys.add({ key: "f", what: "filter by a value or a pattern", run: () => box.showPopover() });
	app.store.subscribe(show);
	app.on("data", fill);
	fill();
	show();
}
