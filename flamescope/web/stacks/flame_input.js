/* flame_input.js - a tree on a canvas by pointer and keys */

import { onDrag, onKeys } from "wick/parts/canvas.js";
import { besideNode, panWindow, widestChild, zoomWindow } from "wick/stacks/tree_layout.js";

const WHEEL = 0.0018; /* of zoom a pixel of wheel */

function zoom(view, at, factor) {
	const { x, width } = view.picture.tree;
	view.setWindow(zoomWindow(view.window, x[at] + width[at] / 2, factor));
}

const pan = (view, part) => view.setWindow(panWindow(view.window, part));
const beside = (view, at, step) => view.moveTo(besideNode(view.picture.tree, at, step));
const scroll = ({ element }, part) => (element.scrollTop += element.clientHeight * part);

/* One row up or down: towards the root, or to the child that is seen. */
function climb(view, at, isUp) {
	const { tree } = view.picture;
	view.moveTo(isUp === Boolean(view.options.up) ? widestChild(tree, at, view.window) : tree.parent[at]);
}

/* The next node, row by row, whose frame the search matches; NODE if none does. */
function nextMatch({ tree, matches }, node) {
	for (let i = 1; matches && i <= tree.n; i++) {
		const at = (node + i) % tree.n;
		if (at > 0 && tree.width[at] > 0 && matches[tree.frame[at]])
			return at;
	}
	return node;
}

/* Keys, what they do, and how with the node that the cursor is at. */
const KEYS = [
	["ArrowUp", "to the caller or callee above", (view, at) => climb(view, at, true)],
	["ArrowDown", "to the one below", (view, at) => climb(view, at, false)],
	["ArrowLeft", "to the frame on the left", (view, at) => beside(view, at, -1)],
	["ArrowRight", "to the frame on the right", (view, at) => beside(view, at, 1)],
	["Enter", "zoom to the frame", choose],
	["Backspace", "zoom out to its parent", ({ options }) => options.onOut()],
	["Home", "to the root, all of it", ({ options }) => options.onZoom(0)],
	["+", "zoom in at the frame", (view, at) => zoom(view, at, 0.5)],
	["-", "zoom out", (view, at) => zoom(view, at, 2)],
	["Shift+ArrowLeft", "move the window left", (view) => pan(view, -0.2)],
	["Shift+ArrowRight", "move it right", (view) => pan(view, 0.2)],
	["PageUp", "scroll up", (view) => scroll(view, -0.8)],
	["PageDown", "scroll down", (view) => scroll(view, 0.8)],
	["m", "what can be done with the frame", menuAt],
	["n", "to the next frame that the search matches", (view, at) => view.moveTo(nextMatch(view.picture, at))],
];

/** Of them for the list of all keys: [key, what]. */
export const flameKeys = KEYS.map(([key, what]) => [key, what]);

function choose(view, node) {
	view.unhover();
	view.options.onZoom(node);
}

function menuAt(view, node) {
	const { x, y } = view.boxOf(node);
	const { left, top, width } = view.canvas.getBoundingClientRect();
	if (node > 0)
		view.options.onMenu(node, left + Math.min(width - 8, Math.max(0, x)), top + y - view.element.scrollTop + view.row);
}

/** What the user does with VIEW, a FlameCanvas. */
export function listenFlame(view) {
	const { canvas, element, options } = view;

	onDrag(canvas, ({ clientX, clientY }) => {
		const { window: seen, element: { scrollTop } } = view;
		return view.picture && {
			move(event) {
				view.unhover();
				view.setWindow(panWindow(seen, (clientX - event.clientX) / element.clientWidth), false);
				element.scrollTop = scrollTop + clientY - event.clientY;
			},
			end(event, moved) {
				const node = event ? view.nodeAtPoint(event.clientX, event.clientY) : -1;
				if (moved)
					options.onWindow(view.window, true);
				else if (node >= 0)
					choose(view, node);
			},
		};
	});

	function onMove({ buttons, clientX, clientY }) {
		const node = buttons ? -1 : view.nodeAtPoint(clientX, clientY);
		if (node < 0)
			return view.unhover();
		view.frameNode(view.shade, node);
		return view.app.tip.show(clientX, clientY, view.picture.lines(node));
	}

	/* With the focus the wheel zooms; without it the page scrolls, as over any picture. */
	function onWheel(event) {
		const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
		if (!(event.ctrlKey || sideways || document.activeElement === canvas))
			return;
		event.preventDefault();
		const pixels = event.deltaMode === 1 ? 16 : 1;
		const [from, to] = view.window;
		if (sideways)
			pan(view, ((event.deltaX || event.deltaY) * pixels) / element.clientWidth);
		else
			view.setWindow(zoomWindow(view.window, from + (event.offsetX / element.clientWidth) * (to - from),
				Math.exp(event.deltaY * pixels * WHEEL)));
	}

	function onMenu(event) {
		const node = view.nodeAtPoint(event.clientX, event.clientY);
		if (node <= 0)
			return;
		event.preventDefault();
		view.unhover();
		options.onMenu(node, event.clientX, event.clientY);
	}

	const firstNode = () => (options.firstRow === 0 ? 0 : widestChild(view.picture.tree, 0, [0, 1]));

	function onFocus() {
		if (view.cursor < 0 && canvas.matches(":focus-visible"))
			view.moveTo(firstNode());
	}

	const heard = { pointermove: onMove, wheel: onWheel, contextmenu: onMenu, focus: onFocus,
		pointerleave: () => view.unhover(), blur: () => (view.ring.hidden = true) };
	for (const [type, listener] of Object.entries(heard))
		canvas.addEventListener(type, (event) => view.picture && listener(event), { passive: false });
	const acts = Object.fromEntries(KEYS.map(([key, , act]) => [key, () => act(view, view.cursor < 0 ? firstNode() : view.cursor)]));
	onKeys(canvas, () => (view.picture ? { ...acts, " ": acts.Enter, "=": acts["+"] } : {}));
	element.addEventListener("scroll", () => view.invalidate(), { passive: true });
}
