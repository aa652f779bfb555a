/* frame_menu.js - what can be done with a frame: transforms, search, details, copy */

import { button, make } from "wick/parts/dom.js";
import { copy } from "wick/parts/save.js";
import { walkBox } from "wick/parts/floating.js";
import { frameModule, frameName, isGroupLabel } from "wick/stacks/frames.js";
import { patternOf } from "wick/state/label_pattern.js";

/* The filters of a query that has only LABEL of a DIMENSION. */
const onlyLabel = ({ filters }, dimension, label) => [
	...filters.filter((filter) => filter.exclude || filter.dimension !== dimension),
	{ dimension, pattern: patternOf([label === `[no ${dimension}]` ? "" : label]), exclude: false }];

function actionsFor(app, selection, frame, dimension) {
	const { store } = app;
	const name = frameName(selection, frame);
	const module = frameModule(selection, frame);
	const pattern = patternOf([name]);
	const transform = (kind, of) => () =>
		store.set({ transforms: [...store.state.transforms, { kind, of }], zoom: [], window: null });
	const actions = [
		["Details", () => store.set({ frame: name, details: "open" })],
		["Callers and callees", () => store.set({ view: "sandwich", around: name, frame: name })],
		["Show only when this runs", () => store.setQuery({ only: [...new Set([...store.state.query.only, pattern])] })],
		["Focus: only stacks from here on", transform("focus", name)],
		["Merge into its callers", transform("merge", name)],
		["Collapse its recursion", transform("collapse", name)],
		["Collapse all recursion", transform("collapse", "")],
		["Drop samples with it", transform("drop", name)],
		...(module ? [[`Hide module ${module}`, transform("hide", module)]] : []),
		["Search for it", () => store.set({ search: pattern })],
		["Copy its name", () => copy(app, name, "Name")],
	];
	if (!isGroupLabel(selection, frame))
		return actions;
	const only = () => store.setQuery({ filters: onlyLabel(store.state.query, dimension, name) });
	return [...(dimension && dimension !== "sign" ? [[`Only this ${dimension}`, only]] : []), ...actions.slice(3)];
}

/**
 * openFrameMenu - a menu at a place of the window; keys: arrows, Enter, Escape
 *
 * What had the focus has it again when it closes.  DIMENSION: of a label that groups, what it is of.
 */
export function openFrameMenu(app, x, y, selection, frame, dimension = "") {
	document.getElementById("frame-menu")?.remove();
	const menu = make("div", { id: "frame-menu", popover: "auto", role: "menu", "aria-label": frameName(selection, frame) });
	menu.append(...actionsFor(app, selection, frame, dimension).map(([label, act]) => button(label, () => {
		menu.hidePopover();
		act();
	}, { role: "menuitem" })));
	menu.addEventListener("toggle", ({ newState }) => newState === "closed" && menu.remove());
	menu.addEventListener("keydown", (event) => event.key === "Tab" && menu.hidePopover());
	walkBox(menu);
	document.body.append(menu);
	menu.showPopover();
	menu.style.left = `${Math.max(4, Math.min(x, innerWidth - menu.offsetWidth - 4))}px`;
	menu.style.top = `${Math.max(4, Math.min(y, innerHeight - menu.offsetHeight - 4))}px`;
	menu.firstChild.focus();
}
