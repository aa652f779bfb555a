/* profile_fixture.mjs - a profile as pack.js decodes it, from samples written by hand */
import { fillChance } from "../../flamescope/web/diff.js";

/** What of a difference is chance, counted to the end at once. */
export function chanceOf(diff) {
	const steps = fillChance(diff);
	let step = steps.next();
	while (!step.done)
		step = steps.next();
	return step.value;
}

/*
 * SAMPLES: {time, stack: [names, outermost first], module, thread, weight, tags: {name: value},
 * metrics: {name: [value, delta]}}; all but the stack may be left out.
 */
export function profileOf(samples, { units = {}, isWick = false } = {}) {
	const strings = [""];
	const string = (text) => {
		if (!strings.includes(text))
			strings.push(text);
		return strings.indexOf(text);
	};
	const frames = { n: 0, name: [], module: [], inlined: [], addr: [], offset: [] };
	const frameOf = new Map();
	const nodes = { n: 1, parent: [0], frame: [0] };
	const nodeOf = new Map();
	const threads = [];
	const tagNames = [...new Set(samples.flatMap((s) => Object.keys(s.tags ?? {})))];
	const metricNames = [...new Set(samples.flatMap((s) => Object.keys(s.metrics ?? {})))];

	function frame(name, module) {
		const key = `${name}\n${module}`;
		if (!frameOf.has(key)) {
			frameOf.set(key, frames.n++);
			frames.name.push(string(name));
			frames.module.push(string(module));
			frames.inlined.push(0);
			frames.addr.push(0);
			frames.offset.push(0);
		}
		return frameOf.get(key);
	}
	function stack(names, module) {
		let node = 0;
		for (const name of names) {
			const key = `${node} ${frame(name, module)}`;
			if (!nodeOf.has(key)) {
				nodeOf.set(key, nodes.n++);
				nodes.parent.push(node);
				nodes.frame.push(frame(name, module));
			}
			node = nodeOf.get(key);
		}
		return node;
	}
	function thread(label) {
		if (!threads.some((t) => t.comm === label))
			threads.push({ comm: label, host: "", pid: 1, tid: threads.length + 1 });
		return threads.findIndex((t) => t.comm === label);
	}
	const columns = {
		time: Float64Array.from(samples, (s, i) => s.time ?? i),
		stack: Uint32Array.from(samples, (s) => stack(s.stack, s.module ?? "")),
		thread: Uint32Array.from(samples, (s) => thread(s.thread ?? "main")),
		weight: Float64Array.from(samples, (s) => s.weight ?? 1),
		cpu: new Uint16Array(samples.length).fill(0xffff),
		event: new Uint8Array(samples.length),
	};
	const tags = tagNames.map((name) => {
		const values = ["", ...new Set(samples.map((s) => s.tags?.[name]).filter(Boolean))];
		return { name, values, codes: Uint16Array.from(samples, (s) => values.indexOf(s.tags?.[name] ?? "")) };
	});
	const metrics = metricNames.map((name) => ({
		name,
		unit: units[name] ?? "",
		kind: "gauge",
		values: Float64Array.from(samples, (s) => s.metrics?.[name]?.[0] ?? NaN),
		deltas: Float64Array.from(samples, (s) => s.metrics?.[name]?.[1] ?? NaN),
	}));
	return {
		n: samples.length, meta: {}, strings, startNs: 0n, startSub: 0, startSecond: 0,
		lengthNs: samples.length ? columns.time.at(-1) : 0, epochOffsetNs: 0n, hasEpoch: false,
		isWick, hasTimes: true, hz: 0, command: "", captured: "", events: ["cycles"], files: [],
		frames: { ...frames, name: Uint32Array.from(frames.name), module: Uint32Array.from(frames.module) },
		nodes: { n: nodes.n, parent: Uint32Array.from(nodes.parent), frame: Uint32Array.from(nodes.frame) },
		threads, ...columns, tags, metrics,
	};
}
