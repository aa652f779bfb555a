/* panel_tabs.js - which view of the stacks is seen */

import { views } from "wick/views.js";

export function mountTabs(tabs, element, app) {
	let mounted = null;
	let shown = null;
	const buttons = new Map();

	function show() {
		const view = views.find(({ id }) => id === app.store.state.view) ?? views[0];
		if (!view || view === shown)
			return;
		mounted?.unmount();
		element.replaceChildren();
		shown = view;
		for (const [id, button] of buttons) {
			button.setAttribute("aria-selected", String(id === view.id));
			button.tabIndex = id === view.id ? 0 : -1;
		}
		element.setAttribute("aria-labelledby", `tab-${view.id}`);
		mounted = view.mount(element, app);
	}

	function go(index) {
		const view = views[(index + views.length) % views.length];
		app.store.set({ view: view.id });
		app.say(view.label);
		return view;
	}

	views.forEach((view, i) => {
		const button = document.createElement("button");
		button.type = "button";
		button.id = `tab-${view.id}`;
		button.role = "tab";
		button.textContent = view.label;
		button.setAttribute("aria-controls", "view");
		button.setAttribute("aria-selected", "false");
		button.addEventListener("click", () => go(i));
		button.addEventListener("keydown", (event) => {
			const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
			if (!step)
				return;
			event.preventDefault();
			buttons.get(go(i + step).id).focus();
		});
		buttons.set(view.id, button);
		tabs.append(button);
		if (i < 9)
			app.keys.add({ key: String(i + 1), what: view.label, run: () => void go(i) });
	});
	app.store.subscribe(show);
	show();
}
