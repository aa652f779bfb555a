/*
 * colour.js - the palette of flamescope/draw/colour.h in the page's theme
 *
 * Colour is never the only channel: what is negative is hatched, too, and every value is said in
 * words where the pointer or the cursor is.  Orange is more and blue is less, of a metric's changes
 * and of a difference.  The recording that is shown brings the palette (pack.js).
 */

export const FRAME_COLOURS = [
	["", "kind of code"], ["module", "module"], ["package", "namespace or package"],
	["name", "function"], ["state", "state"], ["none", "one colour"],
];
export const STEPS = 256;
const CHANGE_STEPS = 8;

/* 0xRRGGBB as a pixel of ImageData, whose bytes are r g b a. */
export const pixelOfRgb = (rgb) => ((255 << 24) | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;

/** The same of "#rrggbb", which all colours of the page are. */
export const pixelOf = (css) => pixelOfRgb(parseInt(css.slice(1), 16));

const cssOf = (rgb) => `#${rgb.toString(16).padStart(6, "0")}`;

export function makeColours(app) {
	const media = window.matchMedia("(prefers-color-scheme: dark)");
	const root = document.documentElement;
	let theme = "light";

	function apply() {
		const asked = app.store.state.theme;
		theme = asked === "dark" || asked === "light" ? asked : media.matches ? "dark" : "light";
		if (root.dataset.theme === theme)
			return;
		root.dataset.theme = theme;
		app.emit("theme");
	}
	app.store.subscribe(apply);
	media.addEventListener("change", apply);
	const palette = () => app.profile.palette[theme];
	const frameRgb = (number) => palette().frames[number];
	const frame = (number) => cssOf(frameRgb(number));
	const changeRgb = (part) => palette().changes[CHANGE_STEPS +
		Math.sign(part) * Math.min(CHANGE_STEPS, Math.floor(Math.abs(part) * CHANGE_STEPS + 0.5))];
	const heat = (side, part) => cssOf(palette()[side][Math.round(part * (STEPS - 1))]);
	apply();
	return {
		get theme() {
			return theme;
		},
		/* --NAME of page.css */
		css: (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim(),
		/* A frame's fill by its number; text in `frameInk` on it has a contrast of 4.5 at least. */
		frame,
		frameRgb,
		get frameInk() {
			return cssOf(palette().ink[0]);
		},
		/* What the colours of frames mean: [{label, css}] of [{label, number}]. */
		keys: (legend) => legend.map(({ label, number }) => ({ label, css: frame(number) })),
		get noSample() {
			return cssOf(palette().ink[1]);
		},
		/* {much, less: STEPS pixels each, none: a pixel} for a heatmap */
		heat: () => ({
			much: palette().more.map(pixelOfRgb),
			less: palette().less.map(pixelOfRgb),
			none: pixelOfRgb(palette().ink[1]),
		}),
		/* What grew, and what shrank, where no text is on it. */
		gain: (part) => heat("more", part),
		loss: (part) => heat("less", part),
		/* Of a box of which a part grew or shrank, -1 to 1. */
		change: (part) => cssOf(changeRgb(part)),
		changeRgb,
	};
}
