/*
 * colour.js - what colour things are, in both themes
 *
 * Colour is never the only channel: what is negative is hatched, too, and every value is said in
 * words where the pointer or the cursor is.  Red (vermilion), green (bluish) and blue are those of
 * Okabe and Ito, which differ for colour-blind eyes: a metric's gains and losses are red and green,
 * what a difference has more and less of is red and blue, as in the pictures that commands draw.
 */

export const FRAME_COLOURS = [
	["", "name"], ["module", "module"], ["kind", "kind of code"], ["none", "one colour"],
];

/* From few to much, as [red, green, blue] at equal distances. */
const SCALES = {
	light: {
		much: [[255, 255, 255], [254, 224, 190], [253, 164, 98], [213, 94, 0], [110, 34, 4]],
		less: [[255, 255, 255], [190, 236, 219], [88, 196, 160], [0, 132, 96], [0, 62, 46]],
		fewer: [[255, 255, 255], [205, 227, 248], [118, 178, 236], [0, 114, 178], [0, 52, 92]],
	},
	dark: {
		much: [[12, 14, 18], [84, 40, 16], [168, 74, 12], [240, 132, 48], [255, 226, 178]],
		less: [[12, 14, 18], [8, 66, 52], [0, 122, 90], [58, 192, 152], [196, 250, 228]],
		fewer: [[12, 14, 18], [14, 52, 92], [24, 96, 164], [86, 164, 233], [206, 230, 252]],
	},
};
const NULL_CELL = { light: [213, 216, 220], dark: [59, 64, 72] };
export const STEPS = 256;

function packed([red, green, blue]) {
	return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0; /* as bytes: r g b a */
}

function mix(stops, part) {
	const at = part * (stops.length - 1);
	const i = Math.min(stops.length - 2, Math.floor(at));
	return stops[i].map((from, c) => Math.round(from + (stops[i + 1][c] - from) * (at - i)));
}

/* STEPS colours as pixels. */
function ramp(stops) {
	return Uint32Array.from({ length: STEPS }, (_, i) => packed(mix(stops, i / (STEPS - 1))));
}

function hash(text) {
	let h = 0x811c9dc5;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
	return (h ^ (h >>> 15)) >>> 0;
}

/* The kind of code that a frame is, by its module. */
export function kindOf(module, inlined = false) {
	if (inlined)
		return "inlined";
	if (/^\[(kernel|guest)|vmlinux|\.ko(\.[a-z]+)?$/.test(module) ||
		(/^\[.+\]$/.test(module) && !/^\[(unknown|vdso|vsyscall|heap|stack|anon)/.test(module)))
		return "kernel";
	if (/\/perf-\d+\.map$|^\[anon|^\/\/anon|jit/i.test(module))
		return "jit";
	if (/\.so(\.|$)/.test(module))
		return "library";
	return module === "" || module === "[unknown]" ? "unknown" : "program";
}

const KIND_HUES = { kernel: 24, jit: 90, library: 200, program: 52, inlined: 170, unknown: 0 };

function hslOf(name, module, by, inlined) {
	const h = hash(by === "module" ? module : name);
	if (by === "none")
		return [32, 70, 0];
	if (by === "module")
		return [h % 360, 55, (h >>> 9) % 8];
	if (by === "kind") {
		const kind = kindOf(module, inlined);
		return [KIND_HUES[kind], kind === "unknown" ? 0 : 62, h % 8];
	}
	return [8 + (h % 50), 72, (h >>> 9) % 10];
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
		/* A frame's fill; text in `frameInk` on it has a contrast of 4.5 at least. */
		frame(name, module = "", by = app.store.state.colour, inlined = false) {
			const key = `${by}\0${module}\0${by === "module" ? "" : name}\0${inlined}`;
			let fill = frames.get(key);
			if (fill === undefined) {
				const [hue, saturation, shade] = hslOf(name, module, by, inlined);
				fill = theme === "dark"
					? `hsl(${hue} ${saturation * 0.6}% ${22 + shade}%)`
					: `hsl(${hue} ${saturation}% ${84 - shade}%)`;
				if (frames.size > 100000)
					frames.clear();
				frames.set(key, fill);
			}
			return fill;
		},
		get frameInk() {
			return theme === "dark" ? "#f2f4f7" : "#14171c";
		},
		/* {much, less: STEPS pixels each, none: a pixel} for a heatmap */
		heat: () => ({
			much: ramp(SCALES[theme].much),
			less: ramp(SCALES[theme].less),
			none: packed(NULL_CELL[theme]),
		}),
		gain: (part = 0.75) => `rgb(${mix(SCALES[theme].much, part).join(" ")})`,
		loss: (part = 0.75) => `rgb(${mix(SCALES[theme].less, part).join(" ")})`,
		/* Of a difference. */
		fewer: (part = 0.75) => `rgb(${mix(SCALES[theme].fewer, part).join(" ")})`,
	};
	apply();
	return colours;
}
