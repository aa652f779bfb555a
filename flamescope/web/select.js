/*
 * select.js - what a query takes out of a profile: samples, their values and their stacks
 *
 * Made by flamescope/query/query.h: the stacks are a tree of their own, in which groups are
 * outermost frames and what was elided is gone.  A frame number below the profile's is the
 * profile's; above, the label of a group.
 */

import { column, facts, free, lazy, make } from "wick/model.js";
import { parseMetric, queryWords, rangeWord } from "wick/query.js";
import { periodOf } from "wick/period.js";
import { makePattern } from "wick/pattern.js";

const CPU_UNKNOWN = 0xffff;

/* What a pattern of a query matches; the words of the command line are PCRE's. */
export const compile = (pattern) => makePattern(pattern);

/** {codes: one a sample, label(code), labels, n: codes are below} of a dimension. */
export function dimension(profile, name, deltaMetric = "") {
	const made = make("dimension", profile.made, name, deltaMetric);
	const labels = facts("dimension", made);
	const codes = column("dimension", made, profile.made);
	free("dimension", made);
	return { codes, labels, n: labels.length, label: (code) => labels[code] };
}

/* What samples can be told apart by, those that say something first. */
export function dimensionNames(profile) {
	const names = ["thread", "comm"];
	if (profile.threads.some((thread) => thread.pid >= 0))
		names.push("process", "pid");
	if (profile.threads.some((thread) => thread.tid >= 0))
		names.push("tid");
	if (profile.threads.some((thread) => thread.host))
		names.push("host");
	if (profile.cpu.some((cpu) => cpu !== CPU_UNKNOWN))
		names.push("cpu");
	if (profile.events.length > 1)
		names.push("event");
	return [...profile.tags.map((tag) => tag.name), ...names];
}

export const hasIdleThread = (profile) => profile.threads.some(({ comm, tid }) => tid === 0 && comm === "swapper");

export function defaultMetric(profile, event = -1) {
	return periodOf(profile, event).isDefault ? "period" : "samples";
}

/* The metric whose changes a selection (or what parseMetric() says) counts; "": none. */
export function deltaMetricOf({ measure, name }) {
	return ["delta", "gain", "loss"].includes(measure) ? name : "";
}

/* The names of size classes, for the menu. */
export const classNames = (profile) => profile.metrics.map(({ name }) => `${name}:class`);

/*
 * A selection in C's memory, and what the views look at of it.  release() gives the memory back;
 * whoever looks at it again makes it again.
 */
class Selection {
	#made = 0;

	constructor(profile, remake) {
		this.profile = profile;
		this.remake = remake; /* -> its address */
		const said = facts("selection", this.made);
		const { nNodes, ...rest } = said;
		Object.assign(this, rest);
		for (const name of ["samples", "stacks", "values"])
			lazy(this, name, () => column("selection", this.made, name));
		lazy(this, "nodes", () => ({ n: nNodes, parent: column("selection", this.made, "node_parent"),
			frame: column("selection", this.made, "node_frame") }));
	}

	get made() {
		return (this.#made ||= this.remake());
	}

	get isMade() {
		return this.#made !== 0;
	}

	release() {
		if (this.#made)
			free("selection", this.#made);
		this.#made = 0;
	}
}

/** Everything in PROFILE that QUERY is about, in RANGES (none: all of the time); EVERYEVENT: side by side. */
export function makeSelection(profile, query, everyEvent = false, ranges = []) {
	const words = [...ranges.map((range) => ["time", rangeWord(range)]), ...queryWords(query)];
	/* A NUL ends a word of C, and is in no name. */
	const text = words.map(([name, value]) => `${name}\0${value.replaceAll("\0", "\ufffd")}\0`).join("");
	const selection = new Selection(profile,
		() => make("selection", profile.made, text, everyEvent ? 1 : 0));
	return Object.assign(selection, { query, everyEvent, name: parseMetric(query.metric)?.name ?? "" });
}

/** The part of a selection of makeSelection() that is in one of RANGES, and that a FILTER lets pass. */
export function inRanges({ profile, query, everyEvent }, ranges, filter = null) {
	return makeSelection(profile, filter ? { ...query, filters: [...query.filters, filter] } : query,
		everyEvent, ranges);
}

/** A selection with its stacks changed by [{kind, of}], one after the other (transforms.js). */
export function transformSelection(selection, transforms) {
	if (transforms.length === 0)
		return selection;
	const remake = () => {
		const { isMade } = selection;
		let made = selection.made;
		for (const { kind, of } of transforms) {
			const next = make("transform", made, kind, of);
			if (made !== selection.made)
				free("selection", made);
			made = next;
		}
		if (!isMade)
			selection.release();
		return made;
	};
	const { query, everyEvent, name } = selection;
	return Object.assign(new Selection(selection.profile, remake), { query, everyEvent, name });
}

/* Nothing of PROFILE, because of PROBLEM. */
export function emptySelection(profile, query, problem) {
	const none = { ...query, metric: "", groups: [], filters: [], only: [], without: [], elide: [], focus: "", truncate: "" };
	return Object.assign(makeSelection(profile, { ...none, only: [""], without: [""] }), { problem, labels: [] });
}

export function frameName(selection, frame) {
	const { profile, labels } = selection;
	const { n, name } = profile.frames;
	return frame < n ? profile.text(name[frame]) : labels[frame - n];
}

/* "" for groups, for inlined frames and where the file has none. */
export function frameModule({ profile }, frame) {
	const { n, module } = profile.frames;
	return frame < n ? profile.text(module[frame]) : "";
}

export function frameInlined({ profile }, frame) {
	return frame < profile.frames.n && profile.frames.inlined[frame] !== 0;
}

export function isGroupLabel(selection, frame) {
	return frame >= selection.profile.frames.n;
}
