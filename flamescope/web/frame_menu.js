/* frame_menu.js - what can be done with a frame: transforms, search, details, copy */

import { button, make } from "wick/dom.js";
import { frameModule, frameName, isGroupLabel } from "wick/frames.js";
import { patternOf } from "wick/label_pattern.js";

function addTransform(app, kind, of) {
	const { transforms } = app.store.state;
	app.store.set({ transforms: [...transforms, { kind, of }], zoom: [], window: null });
}

function actionsFor(app, selection, frame) {
	const name = frameName(selection, frame);
	const module = frameModule(selection, frame);
	const pattern = patternOf([name]);
	const { query } = app.store.state;
	const actions = [
		["Details", () => app.store.set({ frame: name, details: "open" })],
		["Callers and callees", () => app.store.set({ view: "sandwich", around: name, frame: name })],
		["Show only when this runs", () => app.store.setQuery({ only: [...new Set([...query.only, pattern])] })],
		["Focus: only stacks from here on", () => addTransform(app, "focus", name)],
		["Merge into its callers", () => addTransform(app, "merge", name)],
		["Collapse its recursion", () => addTransform(app, "collapse", name)],
		["Collapse all recursion", () => addTransform(app, "collapse", "")],
		["Drop samples with it", () => addTransform(app, "drop", name)],
	];
	if (module)
		actions.push([`Hide module ${module}`, () => addTransform(app, "hide", module)]);
	actions.push(["Search for it", () => app.store.set({ search: pattern })]);
	actions.push(["Copy its name", () => copyName(app, name)]);
	return isGroupLabel(selection, frame) ? actions.slice(3) : actions;
}

async function copyName(app, name) {
	try {
		await navigator.clipboard.writeText(name);
		app.say("copied");
	} catch {
		app.say("the browser did not let the page copy");
	}
}

/**
 * openFrameMenu - a menu at a place of the window; keys: arrows, Enter, Escape
 * @back: what has the focus again when it closes
 */
export function openFrameMenu(app, x, y, selection, frame, back) {
	document.getElementById("frame-menu")?.remove();
	const menu = make("div", { id: "frame-menu", role: "menu", "aria-label": frameName(selection, frame) });
	let closed = false;
	const close = (refocus) => {
		if (closed)
			return;
		closed = true;
		menu.remove();
		if (refocus && back.isConnected)
			back.focus();
	};
	const items = actionsFor(app, selection, frame).map(([label, act]) => button(label, () => {
		close(true);
		act();
	}, { role: "menuitem" }));
	menu.append(...items);
	menu.addEventListener("keydown", (event) => onMenuKey(event, items, () => close(true)));
	menu.addEventListener("focusout", (event) => {
		if (!menu.contains(event.relatedTarget))
			close(false);
	});
	document.body.append(menu);
	const box = menu.getBoundingClientRect();
	menu.style.left = `${Math.max(4, Math.min(x, innerWidth - box.width - 4))}px`;
	menu.style.top = `${Math.max(4, Math.min(y, innerHeight - box.height - 4))}px`;
	items[0].focus();
}

function onMenuKey(event, items, close) {
	const at = items.indexOf(document.activeElement);
	const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
	if (to !== undefined)
		items[(to + items.length) % items.length].focus();
	else if (event.key === "Escape" || event.key === "Tab")
		close();
	else
		return;
	event.preventDefault();
	event.stopPropagation();
}
