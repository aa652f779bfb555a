/* canvas.js - what drawings have in common: sharp pixels, what is seen of them, frames, dragging and keys */

const DRAG_PX = 4; /* less is a click */
const FRAME_MS = 3; /* for drawings; the browser's own work has the rest */

/** The context of CANVAS, WIDTH and HEIGHT pixels of the page large, with the pixels that the screen has. */
export function sharpContext(canvas, width, height) {
	const ratio = Math.min(3, globalThis.devicePixelRatio || 1);
	const size = { width: Math.round(width * ratio), height: Math.round(height * ratio) };
	if (canvas.width !== size.width || canvas.height !== size.height)
		Object.assign(canvas, size, { style: `width: ${width}px; height: ${height}px` });
	const context = canvas.getContext("2d");
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return context;
}

const waiting = new Set(); /* steps of inFrame() */
let frame = 0;

/* One step at least; the others in the frames after it, once this one has had its time. */
function runWaiting() {
	const until = performance.now() + FRAME_MS;
	frame = 0;
	try {
		for (const step of [...waiting]) {
			waiting.delete(step);
			step();
			if (performance.now() > until)
				break;
		}
	} finally {
		frame ||= waiting.size && requestAnimationFrame(runWaiting);
	}
}

/** STEP as a function that does it in the next frame that has time, once however often it is called. */
export const inFrame = (step) => () => {
	waiting.add(step);
	frame ||= requestAnimationFrame(runWaiting);
};

/** Calls THEN when nothing waits for a frame any more. */
export const whenDrawn = (then) => requestAnimationFrame(() => (waiting.size ? whenDrawn(then) : then()));

/** A window [from, to] of what is drawn as it fits between two ends: LEAST wide, and not beyond them. */
export function fitWindow([from, to], [first, last], least) {
	const span = Math.min(last - first, Math.max(least, to - from));
	const start = Math.max(first, Math.min(from, last - span));
	return [start, start + span];
}

/** A window FACTOR as wide; the moment AT stays where it is. */
export const zoomedAt = ([from, to], factor, at = (from + to) / 2) => [at - (at - from) * factor, at + (to - at) * factor];

/** A window later by PART of its width. */
export const pannedBy = ([from, to], part) => [from + part * (to - from), to + part * (to - from)];

/**
 * onDrag - what the first button does on ELEMENT
 * @begin: (event) -> {move(event, isFirst), end(event, moved)}; undefined: nothing
 *
 * moved: it was more than a click.  end() has no event where something else took the pointer.
 */
export function onDrag(element, begin) {
	let drag = null;
	function end(event) {
		const ended = drag;
		drag = null;
		ended?.end?.(event, ended.moved);
	}
	element.addEventListener("pointerdown", (event) => {
		const begun = event.button === 0 && begin(event);
		if (!begun)
			return;
		element.setPointerCapture(event.pointerId);
		drag = { ...begun, x: event.clientX, y: event.clientY, moved: false };
	});
	element.addEventListener("pointermove", (event) => {
		if (!drag || (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG_PX))
			return;
		const isFirst = !drag.moved;
		drag.moved = true;
		drag.move?.(event, isFirst);
	});
	element.addEventListener("pointerup", end);
	element.addEventListener("pointercancel", () => end());
}

/**
 * onKeys - what keys do while ELEMENT has the focus
 * @actions: (event) -> {key: () => ...}; "Shift+key" is before the same key alone; with Ctrl it is "Ctrl+key"
 * @after:   is called when one of them has done it
 */
export function onKeys(element, actions, after = () => {}) {
	element.addEventListener("keydown", (event) => {
		if (event.altKey)
			return;
		const known = actions(event);
		const act = event.ctrlKey || event.metaKey ? known[`Ctrl+${event.key}`]
			: (event.shiftKey && known[`Shift+${event.key}`]) || known[event.key];
		if (!act)
			return;
		event.preventDefault();
		event.stopPropagation();
		act();
		after();
	});
}
