/* panel_search.js - the pattern that frames are searched by, and how much of the whole they are */

const AFTER_MS = 120; /* of rest after a key, until it is searched for */

export const searchPanel = {
	id: "search",
	mount(element, app) {
		const label = document.createElement("label");
		label.textContent = "Search ";
		const input = document.createElement("input");
		input.type = "search";
		input.placeholder = "pattern (/)";
		input.spellcheck = false;
		label.append(input);
		const found = document.createElement("output");
		found.setAttribute("aria-live", "polite");
		element.replaceChildren(label, found);

		let timer = 0;
		let typing = false;
		const take = () => {
			clearTimeout(timer);
			/* One step to undo for a word, not for each letter. */
			app.store.set({ search: input.value }, { replace: typing });
			typing = true;
		};
		input.addEventListener("input", () => {
			clearTimeout(timer);
			timer = setTimeout(take, AFTER_MS);
		});
		input.addEventListener("blur", () => (typing = false));
		input.addEventListener("keydown", (event) => {
			if (event.key === "Enter") {
				take();
				document.querySelector("#view canvas, #view .scroll-table")?.focus();
			} else if (event.key === "Escape") {
				input.value = "";
				take();
				input.blur();
			} else {
				return;
			}
			event.preventDefault();
			event.stopPropagation();
		});
		app.keys.add({ key: "/", what: "search for functions by a pattern", run: () => input.select() });

		const show = () => {
			const { search } = app.store.state;
			if (document.activeElement !== input)
				input.value = search;
			const result = app.found;
			found.className = result?.problem ? "problem" : "";
			if (!search || !result)
				found.textContent = "";
			else if (result.problem)
				found.textContent = result.problem;
			else
				found.textContent = `${result.share ? `matched ${result.share}, ` : ""}${result.nodes} ${result.share ? "frames" : "functions"}`;
			input.setAttribute("aria-invalid", String(Boolean(search && result?.problem)));
		};
		app.on("found", show);
		app.store.subscribe(show);
		show();
	},
};
