/*
 * keys.js - all keys of the page, and the list of them
 *
 * A key is named as in KeyboardEvent.key with modifiers before it: "z", "Shift+ArrowLeft",
 * "Ctrl+z".  Those of a drawing are handled by it while it has the focus; they are only listed.
 */

import { make } from "wick/parts/dom.js";

function keyName(event) {
	const parts = [];
	if (event.ctrlKey || event.metaKey)
		parts.push("Ctrl");
	if (event.altKey)
		parts.push("Alt");
	if (event.shiftKey && (event.key.length > 1 || event.ctrlKey || event.metaKey))
		parts.push("Shift");
	const key = event.key.length === 1 && event.ctrlKey ? event.key.toLowerCase() : event.key;
	return [...parts, key].join("+");
}

function isTyping(target) {
	return target instanceof Element &&
		(target.matches("input:not([type=checkbox]):not([type=button]), textarea") ||
		target.isContentEditable);
}

export function makeKeys() {
	const keys = [];
	const dialog = document.getElementById("keys");

	function show() {
		dialog.querySelector("table").replaceChildren(...keys.map(({ key, what, where }) => make("tr", {},
			make("th", { scope: "row" }, make("kbd", { textContent: key === " " ? "Space" : key })),
			make("td", { textContent: where ? `${what} (${where})` : what }))));
		dialog.showModal();
	}

	document.addEventListener("keydown", (event) => {
		if (event.defaultPrevented || dialog.open)
			return;
		const name = keyName(event);
		/* Ctrl+z is the field's own undo. */
		if (isTyping(event.target) && !/^(Ctrl\+(?!(Shift\+)?z$)|Escape$)/.test(name))
			return;
		const key = keys.find((candidate) => candidate.run && candidate.key === name);
		if (key && key.run(event) !== false)
			event.preventDefault();
	});
	const api = {
		/* run() may return false: "not mine now".  Without run the key is only listed. */
		add(key) {
			keys.push(key);
			return () => keys.splice(keys.indexOf(key), 1);
		},
	};
	api.add({ key: "?", what: "this list", run: show });
	document.getElementById("show-keys").onclick = show;
	return api;
}
