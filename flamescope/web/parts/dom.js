/* dom.js - elements, each made in one expression; texts become text only */

/** make("a", {href, "aria-label"}, ...children): what is not a property of the element is an attribute. */
export function make(tag, properties = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(properties)) {
		if (name in element)
			element[name] = value;
		else
			element.setAttribute(name, value);
	}
	element.append(...children);
	return element;
}

/** A button that says TEXT and does ACT. */
export const button = (text, act, properties = {}) =>
	make("button", { type: "button", textContent: text, onclick: act, ...properties });

export const option = (value, text) => make("option", { value, textContent: text });

/** The elements of the page with these IDS. */
export const byId = (...ids) => ids.map((id) => document.getElementById(id));
