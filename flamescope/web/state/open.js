/*
 * open.js - the recordings that are open, and files that are dropped on the page or chosen
 *
 * C of the commands reads them, in the worker: they leave the machine as little as the page does.
 */

import { DEFAULTS } from "wick/state/store.js";

const KEPT = ["view", "theme", "colour", "columns", "sort", "split", "details"]; /* of the state, for another file */
export const PLACES = [..."ABCDEFGHIJKL"]; /* as many as a page has (flamescope/serve/serve.h) */

/*
 * What is open is {A: the recording, B: what it is compared with, C...: what is seen beside them}, each
 * {name, data, words}: data as models.open() takes it, words that a server was asked with.  The state's
 * file is its number: undo opens again what was open.  ONFIRST is called for the first.
 */
export function makeOpened(app, say, onFirst) {
	const all = [];
	let now = {};
	let last = Promise.resolve();

	/* One after the other; one that cannot be read is an Error, and leaves all as it was. */
	const inTurn = (step) => (last = last.then(step, step));

	async function open(next, patch = {}) {
		const isFirst = !app.profile;
		const changed = PLACES.filter((which) => next[which] !== now[which]);
		const profiles = await app.models.open(Object.fromEntries(changed.map((which) => [which, next[which]?.data ?? null])));
		now = next;
		for (const which of changed)
			app.opened[which] = next[which] && { name: next[which].name, profile: profiles[which] };
		const { A, B } = app.opened;
		Object.assign(app, { name: A.name, profile: A.profile, baselineName: B?.name ?? "", baseline: B?.profile ?? null,
			recording: next.A.words ?? {} });
		app.models.forget();
		app.store.set(patch);
		app.emit("data");
		if (isFirst)
			await onFirst();
	}

	app.store.subscribe((state, old) => state.file !== old.file && inTurn(() => {
		const next = all[app.store.state.file];
		return next && next !== now && open(next);
	}).catch((error) => say(error.message)));
	return {
		/** Of what is open PARTS are others from now on. */
		replace: (parts) => inTurn(() => open(all[app.store.state.file] = { ...now, ...parts })),
		/** FILES from the place WHICH on, until undo takes them back; of several only A stays.  PATCH is what is seen. */
		add: (which, files, patch) => inTurn(() => {
			const places = PLACES.slice(PLACES.indexOf(which));
			if (files.length > places.length)
				throw new RangeError(`a page shows ${PLACES.length} recordings at most, try: fewer files`);
			const next = files.length > 1 ? { A: now.A } : { ...now };
			files.forEach((file, i) => (next[places[i]] = { name: file.name, data: { file } }));
			return open(next, { ...patch, file: all.push(next) - 1 });
		}),
	};
}

const hasFiles = (event) => Boolean(event.dataTransfer?.types.includes("Files"));

const whichOf = (event) => (event.shiftKey ? "B" : event.target.closest?.("[data-which]")?.dataset.which ?? "A");

export function mountOpen(app, opened, say) {
	const at = (id) => document.getElementById(id);
	const drop = at("drop");
	const input = at("file");
	let which = "A";

	/* What was seen of another recording is not in this one. */
	async function show(area, files) {
		const follow = at("recording-follow");
		const kept = Object.fromEntries(KEPT.map((key) => [key, app.store.state[key]]));
		const isBase = area === "B" && app.profile;
		const names = files.map(({ name }) => name).join(", ");
		app.say(`Opening ${names}`);
		try {
			await opened.add(isBase ? "B" : "A", files, { ...(isBase ? { view: "diff", rangesB: null } : { ...DEFAULTS, ...kept }),
				...(files.length > 1 && { view: "sides" }) });
			say("");
			if (follow?.checked)
				follow.click();
			app.say(`Opened ${names}`);
		} catch (error) {
			say(error.message);
		}
	}

	function choose(next) {
		which = next;
		input.value = ""; /* the same file again is a change, too */
		input.click();
	}
	function over(event) {
		if (!hasFiles(event))
			return;
		event.preventDefault();
		event.dataTransfer.dropEffect = "copy";
		drop.hidden = false;
		for (const area of drop.querySelectorAll("[data-which]"))
			area.classList.toggle("over", area.dataset.which === whichOf(event));
	}
	window.addEventListener("dragenter", over);
	window.addEventListener("dragover", over);
	window.addEventListener("dragleave", (event) => {
		if (!event.relatedTarget)
			drop.hidden = true;
	});
	window.addEventListener("drop", (event) => {
		if (!hasFiles(event))
			return;
		event.preventDefault();
		drop.hidden = true;
		void show(whichOf(event), [...event.dataTransfer.files]);
	});
	input.addEventListener("change", () => input.files.length && show(which, [...input.files]));
	at("open-file").addEventListener("click", () => choose("A"));
	at("open-base").addEventListener("click", () => choose("B"));
	app.keys.add({ key: "o", what: "open a file", run: () => choose("A") });
	app.keys.add({ key: "O", what: "compare with a file", run: () => choose("B") });
}
