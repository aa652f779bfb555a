/* panel_chips.js - what was done to the stacks, step by step, each to be taken back */

import { formatTransform, transformKinds } from "wick/transforms.js";

function chip(app, transform, i) {
	const item = document.createElement("li");
	item.className = "chip";
	const text = document.createElement("span");
	text.textContent = transformKinds[transform.kind].says(transform.of);
	const remove = document.createElement("button");
	remove.type = "button";
	remove.textContent = "×";
	remove.setAttribute("aria-label", `Take back: ${text.textContent}`);
	remove.dataset.transform = formatTransform(transform);
	remove.addEventListener("click", () => {
		const { transforms } = app.store.state;
		app.store.set({ transforms: transforms.filter((_, k) => k !== i), zoom: [], window: null });
	});
	item.append(text, remove);
	return item;
}

export const chipsPanel = {
	id: "chips",
	mount(element, app) {
		const update = () => {
			const { transforms } = app.store.state;
			if (transforms.length === 0) {
				element.replaceChildren();
				return;
			}
			const list = document.createElement("ul");
			list.className = "chip-list";
			list.setAttribute("aria-label", "What was done to the stacks");
			list.append(...transforms.map((transform, i) => chip(app, transform, i)));
			if (transforms.length > 1) {
				const all = document.createElement("button");
				all.type = "button";
				all.textContent = "Take all back";
				all.addEventListener("click", () => app.store.set({ transforms: [], zoom: [], window: null }));
				const item = document.createElement("li");
				item.append(all);
				list.append(item);
			}
			const hadFocus = element.contains(document.activeElement);
			element.replaceChildren(list);
			if (hadFocus)
				list.querySelector("button").focus();
		};
		app.store.subscribe((state, old) => {
			if (state.transforms === old.transforms)
				return;
			update();
			app.say(state.transforms.length > old.transforms.length
				? transformKinds[state.transforms.at(-1).kind].says(state.transforms.at(-1).of)
				: "a step was taken back");
		});
		update();
	},
};
