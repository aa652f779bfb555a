/* flame_legend.js - what the colours of a graph mean, in words beside each of them */

import { make } from "wick/parts/dom.js";

/** A legend: show([{label, css, isHatched}]) fills it, and hides it without keys. */
export function makeLegend() {
	const element = make("p", { className: "flame-legend", hidden: true });
	return {
		element,
		show(keys) {
			element.hidden = keys.length === 0;
			element.replaceChildren(...keys.map(({ label, css, isHatched }) => make("span", {},
				make("i", { className: isHatched ? "hatched" : "", style: `background-color: ${css}` }), label)));
		},
	};
}
