/*
 * view_brush.js - a strip over the whole recording: dragging it says which part the heatmap shows
 */

import { formatTime } from "wick/parts/amount.js";
import { drawing } from "wick/state/asked.js";
import { fitWindow, inFrame, onDrag, onKeys, pannedBy, sharpContext, zoomedAt } from "wick/parts/canvas.js";
import { make } from "wick/parts/dom.js";
import { rangeText } from "wick/heat/heat_words.js";

const HEIGHT = 24;
const BURST_MS = 400; /* between two turns of the wheel that are one step to undo */
const HANDLE = 6; /* pixels beside an end where it can be taken */
const LEAST_NS = 1000;
const DRAWN = ["brush", "ranges", "rangesB", "query", "transforms", "theme"]; /* of a state */

function drawBars(context, bins, colours, width) {
	const isSigned = bins.loss.some((loss) => loss > 0);
	const middle = isSigned ? HEIGHT / 2 : HEIGHT;
	const scale = (middle - 2) / (bins.most || 1);
	for (const [part, sign, fill] of [["gain", -1, colours.gain(0.7)], ["loss", 1, colours.loss(0.7)]]) {
		context.fillStyle = fill;
		for (let x = 0; x < width; x++)
			if (bins[part][x] > 0)
				context.fillRect(x, middle, 1, sign * Math.max(1, bins[part][x] * scale));
	}
}

export function mountBrush(element, app) {
	const canvas = make("canvas", { tabIndex: 0, role: "slider", "aria-valuemin": "0",
		"aria-label": "The whole recording; the part that the heatmap shows" });
	element.append(canvas);
	let width = 0;

	const length = () => Math.max(1, app.profile.lengthNs);
	const seen = () => {
		const { brush } = app.store.state;
		return brush ? [brush.from, Math.min(brush.to, length())] : [0, length()];
	};
	const xOf = (ns) => (Math.max(0, Math.min(ns, length())) / length()) * width;
	const timeAt = ({ offsetX }) => Math.round((Math.max(0, Math.min(width, offsetX)) / width) * length());
	const said = () => (app.store.state.brush ? rangeText({ from: seen()[0], to: seen()[1], rows: null }) : "the whole recording");

	const draw = drawing(() => {
		width = Math.max(1, Math.round(element.clientWidth));
		const bins = app.models.brush(width);
		const context = sharpContext(canvas, width, HEIGHT);
		const { css } = app.colours;
		context.fillStyle = css("raised");
		context.fillRect(0, 0, width, HEIGHT);
		drawBars(context, bins, app.colours, width);
		drawMarks(context, css);
		drawWindow(context, css);
		for (const [name, value] of [["max", Math.round(length() / 1e9)], ["now", Math.round(seen()[0] / 1e9)], ["text", said()]])
			canvas.setAttribute(`aria-value${name}`, value);
	});

	function drawMarks(context, css) {
		const { ranges, rangesB } = app.store.state;
		context.fillStyle = css("select");
		for (const [marked, y, height] of [[ranges, HEIGHT - 4, 4], [rangesB ?? [], 0, 2]])
			for (const { from, to } of marked)
				context.fillRect(xOf(from), y, Math.max(2, xOf(to) - xOf(from)), height);
	}

	function drawWindow(context, css) {
		if (!app.store.state.brush)
			return;
		const [from, to] = seen().map(xOf);
		context.globalAlpha = 0.72;
		context.fillStyle = css("paper");
		context.fillRect(0, 0, from, HEIGHT);
		context.fillRect(to, 0, width - to, HEIGHT);
		context.globalAlpha = 1;
		context.strokeStyle = css("accent");
		context.lineWidth = 2;
		context.strokeRect(from + 1, 1, Math.max(2, to - from - 2), HEIGHT - 2);
	}

	function setWindow(window, options) {
		const [from, to] = fitWindow(window, [0, length()], Math.min(length(), LEAST_NS)).map(Math.round);
		app.store.set({ brush: from <= 0 && to >= length() ? null : { from, to } }, options);
	}
	const showAll = () => app.store.set({ brush: null });

	/* What follows at once on another step of this kind is undone with it. */
	let last = { state: null, until: 0 };
	function show(window) {
		const now = performance.now();
		setWindow(window, { replace: app.store.state === last.state && now < last.until });
		last = { state: app.store.state, until: now + BURST_MS };
	}
	const zoom = (factor, at) => show(zoomedAt(seen(), factor, at));
	const pan = (part) => show(pannedBy(seen(), part));
	app.brush = { zoom, pan, show };

	/* What dragging from there does: (time) -> the window. */
	function grab(event) {
		const [from, to] = seen();
		const start = timeAt(event);
		const x = event.offsetX;
		const between = (fixed) => (at) => [Math.min(at, fixed), Math.max(at, fixed)];
		if (!app.store.state.brush)
			return between(start);
		if (Math.abs(x - xOf(from)) < HANDLE)
			return between(to);
		if (Math.abs(x - xOf(to)) < HANDLE)
			return between(from);
		return start > from && start < to ? (at) => [from + at - start, to + at - start] : between(start);
	}
	onDrag(canvas, (down) => {
		const windowOf = grab(down);
		return { move: (event, isFirst) => setWindow(windowOf(timeAt(event)), { replace: !isFirst }) };
	});
	canvas.addEventListener("pointermove", (event) =>
		app.tip.show(event.clientX, event.clientY, [formatTime(timeAt(event))]));
	canvas.addEventListener("pointerleave", () => app.tip.hide());
	canvas.addEventListener("dblclick", showAll);
	const keys = {
		ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1),
		PageUp: () => pan(-1), PageDown: () => pan(1),
		ArrowUp: () => zoom(0.8), ArrowDown: () => zoom(1.25),
		Home: () => pan(-1e9), End: () => pan(1e9), Escape: showAll,
	};
	onKeys(canvas, () => keys, () => app.say(said()));
	app.keys.add({ key: "← → ↑ ↓", what: "move and zoom what the heatmap shows", where: "strip" });
	for (const [key, what, run] of [["+", "zoom the heatmap in", () => zoom(0.5)], ["-", "zoom the heatmap out", () => zoom(2)],
		["0", "the whole recording", showAll], ["[", "heatmap earlier", () => pan(-0.25)], ["]", "heatmap later", () => pan(0.25)]])
		app.keys.add({ key, what, run });
	/* What is seen up to the end stays at the end of a recording that grows. */
	let before = { name: app.name, length: length() };
	app.on("data", () => {
		const { brush } = app.store.state;
		const grown = length() - before.length;
		if (brush && brush.to >= before.length && grown > 0 && app.name === before.name)
			app.store.set({ brush: { from: brush.from + grown, to: brush.to + grown } }, { replace: true });
		before = { name: app.name, length: length() };
	});
	const later = inFrame(draw);
	app.store.subscribe((state, old) => DRAWN.some((key) => state[key] !== old[key]) && later());
	for (const event of ["data", "theme", "resize"])
		app.on(event, later);
	draw();
}
