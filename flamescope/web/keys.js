/*
 * keys.js - all keys of the page, and the list of them
 *
 * A key is named as in KeyboardEvent.key with modifiers before it: "z", "Shift+ArrowLeft",
 * "Ctrl+z".  Those of a drawing are handled by it while it has the focus; they are only listed.
 */

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

function cell(tag, text) {
	const element = document.createElement(tag);
	element.textContent = text;
	return element;
}

function fillDialog(dialog, keys) {
	const title = cell("h2", "Keys");
	title.id = "keys-title";
	const table = document.createElement("table");
	for (const key of keys) {
		const tr = document.createElement("tr");
		const name = document.createElement("th");
		name.scope = "row";
		name.append(cell("kbd", key.key === " " ? "Space" : key.key));
		tr.append(name, cell("td", key.where ? `${key.what} (${key.where})` : key.what));
		table.append(tr);
	}
	const close = cell("button", "Close");
	close.type = "button";
	close.className = "close";
	close.addEventListener("click", () => dialog.close());
	dialog.replaceChildren(close, title, table);
}

export function makeKeys() {
	const keys = [];
	const dialog = document.getElementById("keys");

	function show() {
		fillDialog(dialog, keys);
		dialog.showModal();
	}

	document.addEventListener("keydown", (event) => {
		if (event.defaultPrevented || dialog.open)
			return;
		const name = keyName(event);
		if (isTyping(event.target) && !name.startsWith("Ctrl+") && name !== "Escape")
			return;
		if (isTyping(event.target) && (name === "Ctrl+z" || name === "Ctrl+Shift+z"))
			return; /* the field's own undo */
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
		show,
	};
	api.add({ key: "?", what: "this list", run: show });
	return api;
}
