/* flame_legend.js - what the colours of a graph mean, in words beside each of them */

/** A legend: show([{label, css, isHatched}]) fills it, and hides it without keys. */
export function makeLegend() {
	const element = document.createElement("p");
	element.className = "flame-legend";
	element.hidden = true;
	let shown = "";
	return {
		element,
		show(keys) {
			const word = JSON.stringify(keys);
			if (word === shown)
				return; /* and nothing is laid out anew */
			shown = word;
			element.hidden = keys.length === 0;
			element.replaceChildren(...keys.map(({ label, css, isHatched }) => {
				const key = document.createElement("span");
				const colour = document.createElement("i");
				colour.style.backgroundColor = css;
				colour.className = isHatched ? "hatched" : "";
				key.append(colour, label);
				return key;
			}));
		},
	};
}
