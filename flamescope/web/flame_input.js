/* flame_input.js - a tree on a canvas by pointer and keys */

import { besideNode, panWindow, widestChild, zoomWindow } from "wick/tree_layout.js";

const WHEEL = 0.0018; /* of zoom a pixel of wheel */
const DRAG_STARTS = 4; /* pixels: less is a click */

export const flameKeys = [
	["ArrowUp", "to the caller or callee above"], ["ArrowDown", "to the one below"],
	["ArrowLeft", "to the frame on the left"], ["ArrowRight", "to the frame on the right"],
	["Enter", "zoom to the frame"], ["Backspace", "zoom out to its parent"],
	["Home", "to the root, all of it"], ["+", "zoom in at the frame"], ["-", "zoom out"],
	["Shift+ArrowLeft", "move the window left"], ["Shift+ArrowRight", "move it right"],
	["PageUp", "scroll up"], ["PageDown", "scroll down"], ["m", "what can be done with the frame"],
	["n", "to the next frame that the search matches"],
];

/* What is seen of the child counts, so that the cursor stays in the window. */
function widestSeenChild(layout, node, [from, to]) {
	const { firstChild, next } = layout.tree;
	let best = -1;
	let most = 0;
	for (let c = firstChild[node]; c !== 0; c = next[c]) {
		const seen = Math.min(to, layout.x[c] + layout.width[c]) - Math.max(from, layout.x[c]);
		if (seen > most) {
			most = seen;
			best = c;
		}
	}
	return best < 0 ? widestChild(layout, node) : best;
}

/* The next node after NODE, row by row, whose frame the search matches; NODE if none does. */
function nextMatch({ layout, matches }, node) {
	const { order, tree } = layout;
	const n = layout.rowStart[layout.nRows];
	const start = Math.max(0, order.indexOf(node));
	for (let i = 1; matches && i <= n; i++) {
		const candidate = order[(start + i) % n];
		if (candidate !== 0 && matches[tree.frame[candidate]])
			return candidate;
	}
	return node;
}

/** What the user does with VIEW, a FlameCanvas. */
export function listenFlame(view) {
	const { canvas, element, options } = view;
	let drag = null;

	function unhover() {
		view.shade.hidden = true;
		view.app.tip.hide();
	}

	function choose(node) {
		unhover();
		options.onPick?.(node);
		options.onZoom?.(node);
	}

	function onMove({ clientX, clientY }) {
		if (drag)
			return onDrag(clientX - drag.x, clientY - drag.y);
		const node = view.nodeAtPoint(clientX, clientY);
		if (node < 0)
			return unhover();
		view.frameNode(view.shade, node);
		return view.app.tip.show(clientX, clientY, view.picture.lines(node));
	}

	function onDown({ button, pointerId, clientX, clientY }) {
		if (button !== 0)
			return;
		canvas.setPointerCapture(pointerId);
		drag = { x: clientX, y: clientY, window: view.window, top: element.scrollTop, moved: false };
	}

	function onDrag(dx, dy) {
		if (!drag.moved && Math.hypot(dx, dy) < DRAG_STARTS)
			return;
		drag.moved = true;
		unhover();
		view.setWindow(panWindow(drag.window, -dx / element.clientWidth), false);
		element.scrollTop = drag.top - dy;
	}

	function onUp({ clientX, clientY }) {
		const ended = drag;
		drag = null;
		if (ended?.moved)
			return options.onWindow?.(view.window);
		const node = ended ? view.nodeAtPoint(clientX, clientY) : -1;
		return node >= 0 && choose(node);
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
			view.setWindow(panWindow(view.window, ((event.deltaX || event.deltaY) * pixels) / element.clientWidth));
		else
			view.setWindow(zoomWindow(view.window, from + (event.offsetX / element.clientWidth) * (to - from),
				Math.exp(event.deltaY * pixels * WHEEL)));
	}

	function onMenu(event) {
		const node = view.nodeAtPoint(event.clientX, event.clientY);
		if (!options.onMenu || node <= 0)
			return;
		event.preventDefault();
		unhover();
		options.onMenu(node, event.clientX, event.clientY);
	}

	function menuAt(node) {
		if (node <= 0 || !options.onMenu)
			return;
		const { x, y } = view.boxOf(node);
		const { left, top, width } = canvas.getBoundingClientRect();
		options.onMenu(node, left + Math.min(width - 8, Math.max(0, x)), top + y - element.scrollTop + view.row);
	}

	const firstNode = () => (options.firstRow === 0 ? 0 : widestChild(view.picture.layout, 0));
	const scroll = (part) => (element.scrollTop += element.clientHeight * part);

	function actions() {
		const { layout } = view.picture;
		const at = view.cursor < 0 ? firstNode() : view.cursor;
		const towardsRoot = () => view.moveTo(at === 0 ? 0 : layout.tree.parent[at]);
		const away = () => view.moveTo(widestSeenChild(layout, at, view.window));
		const zoom = (factor) => view.setWindow(zoomWindow(view.window, layout.x[at] + layout.width[at] / 2, factor));
		return {
			ArrowUp: options.up ? away : towardsRoot,
			ArrowDown: options.up ? towardsRoot : away,
			ArrowLeft: () => view.moveTo(besideNode(layout, at, -1)),
			ArrowRight: () => view.moveTo(besideNode(layout, at, 1)),
			"Shift+ArrowLeft": () => view.setWindow(panWindow(view.window, -0.2)),
			"Shift+ArrowRight": () => view.setWindow(panWindow(view.window, 0.2)),
			Enter: () => choose(at),
			" ": () => choose(at),
			Backspace: () => options.onOut?.(),
			Home: () => options.onZoom?.(0),
			"+": () => zoom(0.5),
			"=": () => zoom(0.5),
			"-": () => zoom(2),
			PageUp: () => scroll(-0.8),
			PageDown: () => scroll(0.8),
			m: () => menuAt(at),
			n: () => view.moveTo(nextMatch(view.picture, at)),
		};
	}

	function onKey(event) {
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		const action = actions()[event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key];
		if (!action)
			return;
		event.preventDefault();
		event.stopPropagation();
		action();
	}

	function onFocus() {
		if (view.cursor < 0 && canvas.matches(":focus-visible"))
			view.moveTo(firstNode());
	}

	const heard = { pointermove: onMove, pointerdown: onDown, pointerup: onUp, wheel: onWheel, contextmenu: onMenu,
		keydown: onKey, focus: onFocus, pointercancel: () => (drag = null), pointerleave: unhover,
		blur: () => (view.ring.hidden = true) };
	for (const [type, listener] of Object.entries(heard))
		canvas.addEventListener(type, (event) => view.picture && listener(event), { passive: false });
	element.addEventListener("scroll", () => view.invalidate(), { passive: true });
}
