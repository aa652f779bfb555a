/*
 * colour.js - the palette in the page's theme, and what legends say of it
 *
 * Colour is never the only channel: what is negative is hatched, too, and every value is said in
 * words where the pointer or the cursor is.  Orange is more and blue is less, of a metric's changes
 * and of a difference.
 */

import {
	changeRgb, cssOf, FAMILIES, FAMILY_WORDS, familyNumber, familyOf, fileOf, frameNumber, heatRgb,
	HEAT_STEPS, INK, NO_SAMPLE, packageOf, rgbOf, STATES, stateNumber,
} from "wick/palette.js";

export const FRAME_COLOURS = [
	["", "kind of code"], ["module", "module"], ["package", "namespace or package"],
	["name", "function"], ["state", "state"], ["none", "one colour"],
];
export const STEPS = HEAT_STEPS + 1;
const MOST_KEPT = 100000;
const MOST_KEYS = 8; /* of a legend */

/* 0xRRGGBB as a pixel of ImageData, whose bytes are r g b a. */
function pixelOf(rgb) {
	return ((255 << 24) | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}

/* STEPS colours as pixels. */
function ramp(side, theme) {
	return Uint32Array.from({ length: STEPS }, (_, step) => pixelOf(heatRgb(step, side, theme)));
}

/* What a frame is called in the legend of BY; "": nothing. */
function labelOf({ name, module, state, isGroup }, by) {
	if (isGroup)
		return "";
	switch (by) {
	case "module":
		return fileOf(module);
	case "package":
		return packageOf(name);
	case "state":
		return STATES.includes(state) ? state : "";
	case "name":
	case "none":
		return "";
	default:
		return FAMILY_WORDS[FAMILIES.indexOf(familyOf(module))];
	}
}

/* Those that families and states have stand in the palette's order. */
function keyNumber(key, by, frame) {
	if (by === "state")
		return stateNumber(key);
	return by === "module" || by === "package" ? frameNumber({ ...frame, inlined: false }, by)
		: familyNumber(FAMILIES[FAMILY_WORDS.indexOf(key)]);
}

export function makeColours(app) {
	const media = window.matchMedia("(prefers-color-scheme: dark)");
	const root = document.documentElement;
	const frames = new Map();
	let theme = "light";

	function apply() {
		const asked = app.store.state.theme;
		theme = asked === "dark" || asked === "light" ? asked : media.matches ? "dark" : "light";
		if (root.dataset.theme === theme)
			return;
		root.dataset.theme = theme;
		frames.clear();
		app.emit("theme");
	}
	app.store.subscribe(apply);
	media.addEventListener("change", apply);
	const colours = {
		get theme() {
			return theme;
		},
		/* --NAME of page.css */
		css: (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim(),
		get ink() {
			return theme === "dark" ? "#e6e9ee" : "#1b1f24";
		},
		/* A frame's fill (palette.js); text in `frameInk` on it has a contrast of 4.5 at least. */
		frame(frame, by = app.store.state.colour) {
			const key = `${by}\0${frame.module}\0${frame.name}\0${frame.state ?? ""}\0${frame.inlined}${frame.isGroup}`;
			let fill = frames.get(key);
			if (fill === undefined) {
				fill = cssOf(rgbOf(frameNumber(frame, by), theme));
				if (frames.size > MOST_KEPT)
					frames.clear();
				frames.set(key, fill);
			}
			return fill;
		},
		get frameInk() {
			return cssOf(INK[theme]);
		},
		/* What the colour of a frame means: {label, number}; the label of what means nothing else is "". */
		key(frame, by = app.store.state.colour) {
			const label = labelOf(frame, by);
			return { label, number: label === "" ? 0 : keyNumber(label, by, frame) };
		},
		/**
		 * What the colours of frames mean: [{label, css}], those of most amount, as few as are read.
		 * AMOUNTS: [key, amount] of all.
		 */
		keys(amounts, by = app.store.state.colour) {
			const sums = new Map();
			for (const [{ label, number }, amount] of amounts) {
				if (label === "")
					continue;
				const sum = sums.get(label) ?? { label, amount: 0, number };
				sum.amount += amount;
				sums.set(label, sum);
			}
			const most = [...sums.values()].sort((a, b) => b.amount - a.amount).slice(0, MOST_KEYS);
			if (by !== "module" && by !== "package")
				most.sort((a, b) => a.number - b.number);
			return most.map(({ label, number }) => ({ label, css: cssOf(rgbOf(number, theme)) }));
		},
		get noSample() {
			return cssOf(NO_SAMPLE[theme]);
		},
		/* {much, less: STEPS pixels each, none: a pixel} for a heatmap */
		heat: () => ({
			much: ramp("much", theme),
			less: ramp("less", theme),
			none: pixelOf(NO_SAMPLE[theme]),
		}),
		/* What grew, and what shrank, where no text is on it. */
		gain: (part) => cssOf(heatRgb(Math.round(part * HEAT_STEPS), "much", theme)),
		loss: (part) => cssOf(heatRgb(Math.round(part * HEAT_STEPS), "less", theme)),
		/* Of a box of which a part grew or shrank, -1 to 1. */
		change: (part) => cssOf(changeRgb(part, theme)),
	};
	apply();
	return colours;
}
