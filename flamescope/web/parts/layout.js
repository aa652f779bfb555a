/*
 * layout.js - who has how much of the window: the heatmap, the view below it, the details beside it
 *
 * Heights are shares (thousandths), so that a link looks alike in windows of another size.
 */

import { inFrame, onDrag, onKeys } from "wick/parts/canvas.js";
import { makeCollapsible } from "wick/parts/floating.js";

const HIGH = 1200; /* pixels of both: there the heatmap has more, as stacks are only so deep */
const SHARES = { high: 550, usual: 420 };
const LEAST = 150; /* thousandths that the heatmap and the view have at least */
const STEPS = { ArrowUp: -20, ArrowDown: 20, PageUp: -100, PageDown: 100, Home: -1000, End: 1000 };
const WIDE = 1600; /* pixels: there the details are open from the start */
const NARROW = "(max-width: 900px)"; /* where the details lie over the view */

const clamp = (share) => Math.max(LEAST, Math.min(1000 - LEAST, Math.round(share)));

/** The part that the heatmap has of HEIGHT pixels, in thousandths; SPLIT: of the state, 0: as fits. */
export const heatShare = (split, height) => clamp(split || (height >= HIGH ? SHARES.high : SHARES.usual));

/* The bar between heatmap and view: dragged, or moved by keys. */
export function mountSplitter(splitter, main, app) {
	let shown = 0;
	const set = (share, options) => app.store.set({ split: share && clamp(share) }, options);

	function show() {
		const share = heatShare(app.store.state.split, main.clientHeight);
		if (share === shown)
			return;
		shown = share;
		main.style.setProperty("--heat-share", `${share}fr`);
		main.style.setProperty("--view-share", `${1000 - share}fr`);
		splitter.setAttribute("aria-valuenow", String(Math.round(share / 10)));
		splitter.setAttribute("aria-valuetext", `${Math.round(share / 10)} % of the height`);
		app.emit("resize");
	}

	onDrag(splitter, ({ offsetY: grip }) => ({
		move({ clientY }, isFirst) {
			const { top } = splitter.previousElementSibling.getBoundingClientRect();
			const { bottom } = splitter.nextElementSibling.getBoundingClientRect();
			set(((clientY - grip - top) / (bottom - top - splitter.offsetHeight)) * 1000, { replace: !isFirst });
		},
	}));
	splitter.addEventListener("dblclick", () => set(0));
	onKeys(splitter, ({ key }) => ({ Enter: () => set(0), ...(key in STEPS && { [key]: () => set(Math.max(1, shown + STEPS[key])) }) }));
	app.keys.add({ key: "↑ ↓", what: "make the heatmap lower or higher; Enter: as it was", where: "bar below the heatmap" });
	app.store.subscribe(show);
	window.addEventListener("resize", show);
	show();
}

/* BUTTON opens and closes PANEL, whose room beside the view is its own. */
export function mountDetailsRoom(button, panel, app) {
	const narrow = window.matchMedia(NARROW);
	const isOpen = () => {
		const { details } = app.store.state;
		return details === "open" || (details === "" && window.innerWidth >= WIDE);
	};
	const toggle = () => app.store.set({ details: isOpen() ? "closed" : "open" });
	function show() {
		const open = isOpen();
		button.setAttribute("aria-expanded", String(open));
		panel.classList.toggle("over", narrow.matches);
		if (panel.hidden === !open)
			return;
		panel.hidden = !open;
		app.emit("details");
		app.emit("resize");
	}
	button.addEventListener("click", toggle);
	app.keys.add({ key: "d", what: "details of a function, or of all", run: toggle });
	app.store.subscribe((state, old) => {
		const hadFocus = panel.contains(document.activeElement);
		show();
		if (hadFocus && panel.hidden && state.details !== old.details)
			button.focus();
	});
	window.addEventListener("resize", show);
	show();
}

/*
 * One row of tools: what has no room in it is in a box, the views first, then what is counted.  Chips fold nothing:
 * without room they are a row of their own.
 */
export function fitTools(tools, parts, app) {
	const collapse = parts.map(({ button, element }) => makeCollapsible(button, element));
	function fit() {
		if (tools.querySelector(":popover-open"))
			return;
		for (const one of collapse)
			one(false);
		const [was] = tools.classList;
		tools.className = "fits"; /* chips have no width */
		for (const one of collapse)
			if (tools.scrollWidth > tools.clientWidth)
				one(true);
		tools.className = "";
		if (tools.classList.toggle("wraps", tools.scrollWidth > tools.clientWidth) !== (was === "wraps"))
			app.emit("resize");
	}
	const later = inFrame(fit);
	app.store.subscribe((state, old) => {
		if (state.query !== old.query || state.transforms !== old.transforms)
			later();
	});
	for (const event of ["data", "found", "resize"])
		app.on(event, later);
	fit();
}
