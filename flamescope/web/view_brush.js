/*
 * view_brush.js - a strip over the whole recording: dragging it says which part the heatmap shows
 */

import { make } from "wick/dom.js";
import { drawing } from "wick/asked.js";
import { rangeText } from "wick/heat_words.js";
import { formatTime } from "wick/amount.js";

const HEIGHT = 24;
const BURST_MS = 400; /* between two turns of the wheel that are one step to undo */
const HANDLE = 6; /* pixels beside an end where it can be taken */
const LEAST_PX = 3; /* what is dragged less was a click */

function drawBars(context, bins, colours, width) {
	const isSigned = bins.loss.some((loss) => loss > 0);
	const middle = isSigned ? HEIGHT / 2 : HEIGHT;
	const scale = (middle - 2) / (bins.most || 1);
	for (const [part, sign, fill] of [["gain", -1, colours.gain(0.7)], ["loss", 1, colours.loss(0.7)]]) {
		context.fillStyle = fill;
		for (let x = 0; x < width; x++) {
			const height = bins[part][x] * scale;
			if (height > 0)
				context.fillRect(x, sign < 0 ? middle - Math.max(1, height) : middle,
					1, Math.max(1, height));
		}
	}
}

export function mountBrush(element, app) {
	const canvas = make("canvas", { tabIndex: 0, role: "slider", "aria-valuemin": "0",
		"aria-label": "The whole recording; the part that the heatmap shows" });
	element.append(canvas);
	let width = 0;
	let drag = null;
	let frame = 0;

	const length = () => Math.max(1, app.profile.lengthNs);
	const window_ = () => {
		const { brush } = app.store.state;
		return brush ? { from: brush.from, to: Math.min(brush.to, length()) } : { from: 0, to: length() };
	};
	const xOf = (ns) => (Math.max(0, Math.min(ns, length())) / length()) * width;
	const timeAt = (x) => Math.round((Math.max(0, Math.min(width, x)) / width) * length());

	const draw = drawing(() => {
		frame = 0;
		width = Math.max(1, Math.round(element.clientWidth));
		const ratio = globalThis.devicePixelRatio || 1;
		if (canvas.width !== Math.round(width * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(HEIGHT * ratio);
			canvas.style.height = `${HEIGHT}px`;
		}
		const bins = app.models.brush(width);
		const context = canvas.getContext("2d");
		const css = app.colours.css;
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.fillStyle = css("raised");
		context.fillRect(0, 0, width, HEIGHT);
		drawBars(context, bins, app.colours, width);
		drawMarks(context, css);
		drawWindow(context, css);
		describe();
	});

	function drawMarks(context, css) {
		const { ranges, rangesB } = app.store.state;
		context.fillStyle = css("select");
		for (const range of ranges)
			context.fillRect(xOf(range.from), HEIGHT - 4, Math.max(2, xOf(range.to) - xOf(range.from)), 4);
		for (const range of rangesB ?? [])
			context.fillRect(xOf(range.from), 0, Math.max(2, xOf(range.to) - xOf(range.from)), 2);
	}

	function drawWindow(context, css) {
		if (!app.store.state.brush)
			return;
		const { from, to } = window_();
		context.globalAlpha = 0.72;
		context.fillStyle = css("paper");
		context.fillRect(0, 0, xOf(from), HEIGHT);
		context.fillRect(xOf(to), 0, width - xOf(to), HEIGHT);
		context.globalAlpha = 1;
		context.strokeStyle = css("accent");
		context.lineWidth = 2;
		context.strokeRect(xOf(from) + 1, 1, Math.max(2, xOf(to) - xOf(from) - 2), HEIGHT - 2);
	}

	function describe() {
		const { from, to } = window_();
		canvas.setAttribute("aria-valuemax", String(Math.round(length() / 1e9)));
		canvas.setAttribute("aria-valuenow", String(Math.round(from / 1e9)));
		canvas.setAttribute("aria-valuetext", app.store.state.brush
			? rangeText({ from, to, rows: null }) : "the whole recording");
	}

	const later = () => (frame ||= requestAnimationFrame(draw));

	function setWindow(from, to, options) {
		const least = Math.min(length(), 1e6);
		const a = Math.max(0, Math.min(from, length() - least));
		const b = Math.min(length(), Math.max(to, a + least));
		const all = a <= 0 && b >= length();
		app.store.set({ brush: all ? null : { from: Math.round(a), to: Math.round(b) } }, options);
	}

	/* What follows at once on another step of this kind is undone with it. */
	let last = { state: null, until: 0 };
	function step(from, to) {
		const now = performance.now();
		setWindow(from, to, { replace: app.store.state === last.state && now < last.until });
		last = { state: app.store.state, until: now + BURST_MS };
	}

	function zoom(factor, at) {
		const { from, to } = window_();
		const middle = at ?? (from + to) / 2;
		step(middle - (middle - from) * factor, middle + (to - middle) * factor);
	}

	/* To where it would begin at START. */
	function move(start) {
		const { from, to } = window_();
		const at = Math.max(0, Math.min(length() - (to - from), start));
		step(at, at + to - from);
	}

	function pan(part) {
		const { from, to } = window_();
		move(from + part * (to - from));
	}
	app.brush = { zoom, pan, move };

	function grab(x) {
		const { from, to } = window_();
		if (app.store.state.brush) {
			if (Math.abs(x - xOf(from)) < HANDLE)
				return { kind: "from", fixed: to };
			if (Math.abs(x - xOf(to)) < HANDLE)
				return { kind: "to", fixed: from };
			if (x > xOf(from) && x < xOf(to))
				return { kind: "move", grip: timeAt(x) - from, span: to - from };
		}
		return { kind: "new", fixed: timeAt(x) };
	}

	canvas.addEventListener("pointerdown", (event) => {
		canvas.setPointerCapture(event.pointerId);
		drag = { ...grab(event.offsetX), x: event.offsetX, changed: false };
	});
	canvas.addEventListener("pointermove", (event) => {
		const at = timeAt(event.offsetX);
		app.tip.show(event.clientX, event.clientY, [formatTime(at)]);
		if (!drag || (!drag.changed && Math.abs(event.offsetX - drag.x) < LEAST_PX))
			return;
		const options = { replace: drag.changed };
		drag.changed = true;
		if (drag.kind === "move") {
			const from = Math.max(0, Math.min(length() - drag.span, at - drag.grip));
			setWindow(from, from + drag.span, options);
		} else {
			setWindow(Math.min(at, drag.fixed), Math.max(at, drag.fixed), options);
		}
	});
	canvas.addEventListener("pointerup", () => (drag = null));
	canvas.addEventListener("pointercancel", () => (drag = null));
	canvas.addEventListener("pointerleave", () => app.tip.hide());
	canvas.addEventListener("dblclick", () => app.store.set({ brush: null }));
	const keys = {
		ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1),
		PageUp: () => pan(-1), PageDown: () => pan(1),
		ArrowUp: () => zoom(0.8), ArrowDown: () => zoom(1.25),
		Home: () => pan(-1e9), End: () => pan(1e9), Escape: () => app.store.set({ brush: null }),
	};
	canvas.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(keys, event.key))
			return;
		event.preventDefault();
		keys[event.key]();
		app.say(app.store.state.brush ? rangeText({ ...window_(), rows: null }) : "the whole recording");
	});
	app.keys.add({ key: "← → ↑ ↓", what: "move and zoom what the heatmap shows", where: "strip" });
	app.keys.add({ key: "+", what: "zoom the heatmap in", run: () => zoom(0.5) });
	app.keys.add({ key: "-", what: "zoom the heatmap out", run: () => zoom(2) });
	app.keys.add({ key: "0", what: "the whole recording", run: () => app.store.set({ brush: null }) });
	app.keys.add({ key: "[", what: "heatmap earlier", run: () => pan(-0.25) });
	app.keys.add({ key: "]", what: "heatmap later", run: () => pan(0.25) });
	/* What is seen up to the end stays at the end of a recording that grows. */
	let before = { name: app.name, length: length() };
	app.on("data", () => {
		const { brush } = app.store.state;
		const grown = length() - before.length;
		if (brush && brush.to >= before.length && grown > 0 && app.name === before.name)
			app.store.set({ brush: { from: brush.from + grown, to: brush.to + grown } }, { replace: true });
		before = { name: app.name, length: length() };
	});
	app.store.subscribe(later);
	for (const event of ["data", "theme", "resize"])
		app.on(event, later);
	draw();
}
