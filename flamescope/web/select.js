/*
 * select.js - what a query takes out of a profile: samples, their values and their stacks
 *
 * The same as flamescope/query/selection.h: the stacks are a tree of their own, in which groups
 * are outermost frames and what was elided is gone.  A frame number below the profile's is the
 * profile's; above, the label of a group.
 */

import { deltaMetricOf, metricDimension } from "wick/metric_dimension.js";
import { parseMetric } from "wick/query.js";
import { NodeTable } from "wick/node_table.js";
import { periodOf, periodValues } from "wick/period.js";
import { makePattern, matchesFunction } from "wick/pattern.js";
import { wrappers } from "wick/wrappers.js";

const OUT = 0xffffffff;
const CPU_UNKNOWN = 0xffff;
const MAX_PLACES = 1 << 25; /* of stacks below groups, as arrays: 128 MiB */

export const THREAD_DIMENSIONS = ["thread", "comm", "process", "tid", "pid", "host"];

/* What a pattern of a query matches; the words of the command line are PCRE's. */
export const compile = (pattern) => makePattern(pattern);

/* The name of each process is what its main thread is called in most samples, else any of them. */
function processLabels({ threads, thread: ofSample }, atHost) {
	const own = new Uint32Array(threads.length);
	for (const number of ofSample)
		own[number]++;
	const counts = new Map();
	const names = new Map();
	const keyOf = ({ pid, host }) => `${pid} ${host}`;
	const countOf = (thread) => `${keyOf(thread)} ${thread.comm}`;
	threads.forEach((thread, i) => counts.set(countOf(thread), (counts.get(countOf(thread)) ?? 0) + own[i]));
	threads.forEach((thread, i) => {
		const isMain = thread.pid === thread.tid;
		const n = isMain ? own[i] : counts.get(countOf(thread));
		const known = names.get(keyOf(thread));
		if (!known || (isMain === known.isMain ? n > known.n : isMain))
			names.set(keyOf(thread), { comm: thread.comm, isMain, n });
	});
	return threads.map((thread) => (thread.pid < 0 ? ""
		: `${names.get(keyOf(thread)).comm}/${thread.pid}${atHost(thread.host)}`));
}

function threadLabels(profile, name) {
	const { threads } = profile;
	const several = threads.some(({ host }) => host !== threads[0].host);
	const atHost = (host) => (several && host ? `@${host}` : "");
	if (name === "thread")
		return threads.map(({ comm, host, tid }) =>
			`${comm}${tid < 0 ? "" : `/${tid}`}${atHost(host)}`);
	if (name === "process")
		return processLabels(profile, atHost);
	if (name === "tid" || name === "pid")
		return threads.map((thread) => (thread[name] < 0 ? "" : String(thread[name])));
	return threads.map((thread) => thread[name]);
}

/* {codes: one a sample, label(code), n: codes are below} of a dimension; null: there is none. */
export function dimension(profile, name, deltaMetric = "") {
	if (THREAD_DIMENSIONS.includes(name)) {
		const labels = threadLabels(profile, name);
		return { codes: profile.thread, n: labels.length, label: (code) => labels[code] };
	}
	if (name === "cpu")
		return {
			codes: profile.cpu,
			n: CPU_UNKNOWN + 1,
			label: (code) => (code === CPU_UNKNOWN ? "" : String(code)),
		};
	if (name === "event")
		return {
			codes: profile.event,
			n: 256,
			label: (code) => profile.events[code] ?? "",
		};
	const tagNamed = (wanted) => profile.tags.find((candidate) => candidate.name === wanted);
	const tag = tagNamed(name) ?? (name === "req" ? tagNamed("span") : undefined);
	return tag ? {
		codes: tag.codes,
		n: tag.values.length + 1,
		label: (code) => (code < tag.values.length ? tag.values[code] : "[other]"),
	} : metricDimension(profile, name, deltaMetric);
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
	if (profile.isWhole !== false && profile.cpu.some((cpu) => cpu !== CPU_UNKNOWN))
		names.push("cpu");
	if (profile.events.length > 1)
		names.push("event");
	return [...profile.tags.map((tag) => tag.name), ...names];
}

function needDimension(profile, name, deltaMetric) {
	const found = dimension(profile, name, deltaMetric);
	if (!found && name === "sign")
		throw new Error("what is counted has no sign: choose a metric's change");
	if (!found)
		throw new Error(`there is no '${name}' to tell samples apart by; there is ${dimensionNames(profile).join(", ")}`);
	return found;
}

/* One byte a code that is used: whether what it stands for is what FN says. */
function perCode(dim, fn) {
	const known = new Uint8Array(dim.n); /* 1: no, 2: yes */
	return (i) => {
		const code = dim.codes[i];
		if (known[code] === 0)
			known[code] = fn(dim.label(code)) ? 2 : 1;
		return known[code] === 2;
	};
}

function filterTest(profile, { dimension: name, pattern, exclude }, deltaMetric) {
	const dim = needDimension(profile, name, deltaMetric);
	if (pattern === "")
		return perCode(dim, (label) => (label === "") !== exclude);
	const regex = compile(pattern);
	return perCode(dim, (label) => regex.test(label) !== exclude);
}

/* --- what is hidden unless it is asked for --- */

/* FlameScope's list of what CPUs that have nothing to do are in; query/idle.c has the same. */
const IDLE = /cpuidle|cpu_idle|cpu_bringup_and_idle|native_safe_halt|xen_hypercall_sched_op|xen_hypercall_vcpu_op/;

const isIdleThread = ({ comm, tid }) => tid === 0 && comm === "swapper";

export const hasIdleThread = (profile) => profile.threads.some(isIdleThread);

/* Whether a sample is of an idle CPU; null where no thread is the kernel's idle one. */
function idleTest(profile) {
	if (!hasIdleThread(profile))
		return null;
	const { nodes, frames, strings, thread, stack } = profile;
	const threads = profile.threads.map(isIdleThread);
	const functions = Array.from(frames.name, (name) => IDLE.test(strings[name]));
	const idle = new Uint8Array(nodes.n);
	for (let i = 1; i < nodes.n; i++)
		idle[i] = idle[nodes.parent[i]] | (functions[nodes.frame[i]] ? 1 : 0);
	return (i) => threads[thread[i]] && idle[stack[i]] === 1;
}

/*
 * Of several events the first that the filters let pass; -1: all, as groups or rows tell them
 * apart.  Numbers of different events mean different things: they are not added up.
 */
function eventOf({ events }, query, everyEvent) {
	if (everyEvent || events.length < 2 || query.groups.includes("event"))
		return -1;
	const filters = query.filters.filter(({ dimension: name }) => name === "event");
	const passes = (label) => filters.every(({ pattern, exclude }) =>
		(pattern === "" ? label === "" : compile(pattern).test(label)) !== exclude);
	const first = events.findIndex(passes);
	return first < 0 ? events.length : first;
}

/* --- values --- */

const MEASURE_OF = {
	value: (metric) => metric.values,
	mean: (metric) => metric.values,
	delta: (metric) => metric.deltas,
	gain: (metric) => metric.deltas.map((delta) => (delta < 0 ? 0 : delta)),
	loss: (metric) => metric.deltas.map((delta) => (delta > 0 ? 0 : -delta)),
};

export function defaultMetric(profile, event = -1) {
	return periodOf(profile, event).isDefault ? "period" : "samples";
}

/*
 * {measure, unit, noun, values, name}; values null: each counts 1; NaN: has none.  The noun stands
 * after the amount of all: `5.66 s of CPU`.
 */
export function measureOf(profile, text, event = -1) {
	const asked = parseMetric(text || defaultMetric(profile, event));
	if (!asked)
		throw new Error(`'${text}' is no metric`);
	if (asked.measure === "samples")
		return { measure: "samples", unit: "samples", noun: "", values: null, name: "" };
	if (asked.measure === "period") {
		const { unit, noun } = periodOf(profile, event);
		return { measure: "period", unit, noun, values: periodValues(profile, event), name: "" };
	}
	const metric = profile.metrics.find(({ name }) => name === asked.name);
	const { measure } = asked;
	if (!metric)
		throw new Error(`there is no metric '${asked.name}'; there is ${["samples", "period", ...profile.metrics.map(({ name }) => name)].join(", ")}`);
	return { measure, unit: metric.unit, noun: "", values: MEASURE_OF[measure](metric), name: metric.name };
}

/* --- stacks --- */

/* `@wrappers` stands for all of its rules. */
function elideRules(words) {
	return words.flatMap((word) => {
		if (!word.startsWith("@"))
			return [word];
		if (word !== "@wrappers")
			throw new Error(`the rules of '${word}' are not in this page; @wrappers are`);
		return wrappers;
	});
}

/* One byte a frame: whether its name matches. */
function framesMatching(profile, pattern) {
	const regex = compile(pattern);
	const { frames, strings } = profile;
	const found = new Uint8Array(frames.n);
	for (let i = 0; i < frames.n; i++)
		found[i] = matchesFunction(regex, strings[frames.name[i]]) ? 1 : 0;
	return found;
}

/* One byte a node: whether its stack passes --only and --without. */
function stacksWanted(profile, query) {
	const { nodes } = profile;
	const wanted = new Uint8Array(nodes.n).fill(1);
	const seen = new Uint8Array(nodes.n);
	for (const [patterns, want] of [[query.only, 1], [query.without, 0]]) {
		for (const pattern of patterns) {
			const found = framesMatching(profile, pattern);
			for (let i = 0; i < nodes.n; i++) {
				seen[i] = i === 0 ? 0 : seen[nodes.parent[i]] | found[nodes.frame[i]];
				wanted[i] &= seen[i] === want ? 1 : 0;
			}
		}
	}
	return wanted;
}

function anyOf(profile, patterns) {
	const any = new Uint8Array(profile.frames.n);
	for (const pattern of patterns) {
		const found = framesMatching(profile, pattern);
		for (let i = 0; i < any.length; i++)
			any[i] |= found[i];
	}
	return any;
}

function hasRules(query) {
	return query.only.length || query.without.length || query.elide.length ||
		query.focus || query.truncate || query.flatten;
}

/*
 * The tree that a query makes of the profile's: {now: node -> new node or OUT, tree}; now is
 * null where nothing changes.  What a node
 * becomes follows from what its caller became, and parents come first.
 */
function rebuild(profile, query) {
	const { nodes } = profile;
	const { parent, frame } = nodes;
	if (!hasRules(query))
		return { now: null, tree: nodes };
	const wanted = stacksWanted(profile, query);
	const elided = anyOf(profile, elideRules(query.elide));
	const focused = query.focus ? framesMatching(profile, query.focus) : null;
	const cut = query.truncate ? framesMatching(profile, query.truncate) : null;
	const table = new NodeTable(nodes.n);
	const now = new Uint32Array(nodes.n);
	const inside = new Uint8Array(nodes.n); /* a frame of the focus is in its stack */
	const ended = new Uint8Array(nodes.n); /* a frame of --truncate is in its stack */

	inside[0] = focused ? 0 : 1;
	for (let i = 1; i < nodes.n; i++) {
		const above = parent[i];
		const f = frame[i];
		inside[i] = inside[above] | (focused ? focused[f] : 0);
		ended[i] = ended[above];
		if (!inside[i] || ended[i] || elided[f]) {
			now[i] = now[above];
		} else if (query.flatten && now[above] !== 0 && table.frame[now[above]] === f) {
			now[i] = now[above];
		} else {
			now[i] = table.child(now[above], f);
		}
		if (cut && inside[i] && cut[f])
			ended[i] = 1;
	}
	for (let i = 0; i < nodes.n; i++)
		if (!wanted[i] || !inside[i])
			now[i] = OUT;
	return { now, tree: table.finish() };
}

/* The frames that groups put outermost: {number(sample) of a combination, roots}. */
function makeGroups(profile, names, deltaMetric, table, labels) {
	const dims = names.map((name) => {
		const dim = needDimension(profile, name, deltaMetric);
		const frames = new Uint32Array(dim.n).fill(OUT);
		const numbers = new Map();
		function labelFrame(text) {
			if (!numbers.has(text)) {
				numbers.set(text, profile.frames.n + labels.length);
				labels.push(text || `[no ${name}]`);
			}
			return numbers.get(text);
		}
		return (i) => {
			const code = dim.codes[i];
			if (frames[code] === OUT)
				frames[code] = labelFrame(dim.label(code));
			return frames[code];
		};
	});
	const nodes = new Map(); /* of a group's frame below another group's node */
	return (i) => {
		let node = 0;
		for (const frameOf of dims) {
			const key = node * 2 ** 26 + frameOf(i);
			let below = nodes.get(key);
			if (below === undefined) {
				below = table.child(node, frameOf(i));
				nodes.set(key, below);
			}
			node = below;
		}
		return node;
	};
}

/* Numbers by (root, node), 0 at first: arrays for few roots, a table for many. */
function makePlaces(nNodes) {
	const rows = new Map();
	const pairs = new NodeTable(1024);
	let grown = new Uint32Array(1024);
	let lastRoot = 0;
	let lastRow = null;
	function rowOf(root) {
		if (root === lastRoot)
			return lastRow;
		let row = rows.get(root);
		if (!row && (rows.size + 1) * nNodes <= MAX_PLACES) {
			row = new Uint32Array(nNodes);
			rows.set(root, row);
		}
		lastRoot = root;
		lastRow = row ?? null;
		return lastRow;
	}
	function pairOf(root, node) {
		const pair = pairs.child(root, node);
		if (pair >= grown.length) {
			const larger = new Uint32Array(grown.length * 2);
			larger.set(grown);
			grown = larger;
		}
		return pair;
	}
	return {
		get(root, node) {
			const row = rowOf(root);
			return row ? row[node] : grown[pairOf(root, node)];
		},
		set(root, node, place) {
			const row = rowOf(root);
			if (row)
				row[node] = place;
			else
				grown[pairOf(root, node)] = place;
		},
	};
}

/* What a stack of TREE becomes below a group's node; each pair is made once. */
function makeGrafter(tree, table) {
	const places = makePlaces(tree.n);
	const path = [];
	/* Up to what the group has already, and down again. */
	return (root, node) => {
		let now = root;
		path.length = 0;
		for (let at = node; at !== 0; at = tree.parent[at]) {
			const place = places.get(root, at);
			if (place !== 0) {
				now = place;
				break;
			}
			path.push(at);
		}
		for (let i = path.length - 1; i >= 0; i--) {
			now = table.child(now, tree.frame[path[i]]);
			places.set(root, path[i], now);
		}
		return now;
	};
}

/* --- the selection --- */

function everyTest(profile, every) {
	return (i) => {
		const at = (profile.startSub + profile.time[i]) % every.every;
		return at >= every.from && at < every.to;
	};
}

/* The stack of sample I in the selection's tree, or OUT. */
function makeStackOf(profile, query, deltaMetric, labels) {
	const { now, tree } = rebuild(profile, query);
	const { stack } = profile;
	const ruled = now ? (i) => now[stack[i]] : (i) => stack[i];
	if (query.groups.length === 0)
		return { stackOf: ruled, finish: () => tree };
	const table = new NodeTable(tree.n);
	const groupOf = makeGroups(profile, query.groups, deltaMetric, table, labels);
	const graft = makeGrafter(tree, table);
	return {
		stackOf: (i) => {
			const node = ruled(i);
			return node === OUT ? OUT : graft(groupOf(i), node);
		},
		finish: () => table.finish(),
	};
}

/* All samples, each with its own stack: what most look at first, and soonest. */
function wholeSelection(profile, { measure, unit, noun, values: column, name }) {
	const { n } = profile;
	const samples = new Uint32Array(n);
	for (let i = 0; i < n; i++)
		samples[i] = i;
	return {
		profile, n, labels: [], measure, unit, noun, name, nAbsent: 0, nIdle: 0, nOthers: 0, event: -1,
		isSigned: false, samples,
		values: column ?? new Float64Array(n).fill(1),
		get stacks() {
			return profile.stack; /* which nobody needs for a heatmap */
		},
		get nodes() {
			return profile.nodes;
		},
	};
}

/* Everything in PROFILE that QUERY is about, at any time; EVERYEVENT: side by side. */
export function makeSelection(profile, query, everyEvent = false) {
	const event = eventOf(profile, query, everyEvent);
	const measured = measureOf(profile, query.metric, event);
	const isIdle = query.idle ? null : idleTest(profile);
	if (event < 0 && !isIdle && query.filters.length + query.groups.length === 0 && !query.every && !hasRules(query) &&
		measured.name === "")
		return wholeSelection(profile, measured);
	const deltaMetric = deltaMetricOf(measured);
	const tests = query.filters.map((filter) => filterTest(profile, filter, deltaMetric));
	if (query.every)
		tests.push(everyTest(profile, query.every));
	const { measure, unit, noun, values: column, name } = measured;
	const labels = [];
	const { stackOf, finish } = makeStackOf(profile, query, deltaMetric, labels);
	const samples = new Uint32Array(profile.n);
	const stacks = new Uint32Array(profile.n);
	const values = new Float64Array(profile.n);
	let n = 0;
	let nAbsent = 0;
	let nIdle = 0;
	let nOthers = 0;
	let least = 0;
	for (let i = 0; i < profile.n; i++) {
		let wanted = true;
		for (let test = 0; wanted && test < tests.length; test++)
			wanted = tests[test](i);
		if (wanted && event >= 0 && profile.event[i] !== event) {
			nOthers++;
			continue;
		}
		if (wanted && isIdle?.(i)) {
			nIdle++;
			continue;
		}
		const stack = wanted ? stackOf(i) : OUT;
		if (stack === OUT)
			continue;
		const value = column ? column[i] : 1;
		if (value !== value) { /* NaN: has none */
			nAbsent++;
			continue;
		}
		if (value < least)
			least = value;
		samples[n] = i;
		stacks[n] = stack;
		values[n++] = value;
	}
	return {
		profile, n, labels, measure, unit, noun, name, nAbsent, nIdle, nOthers, event,
		isSigned: measure === "delta" || least < 0,
		samples: samples.subarray(0, n),
		stacks: stacks.subarray(0, n),
		values: values.subarray(0, n),
		nodes: finish(),
	};
}

/* Nothing of PROFILE, because of PROBLEM. */
export function emptySelection(profile, problem) {
	return {
		profile, problem, n: 0, labels: [], measure: "samples", unit: "samples", noun: "", name: "",
		nAbsent: 0, nIdle: 0, nOthers: 0, event: -1, isSigned: false,
		samples: new Uint32Array(0), stacks: new Uint32Array(0), values: new Float64Array(0),
		nodes: { n: 1, parent: new Uint32Array(1), frame: new Uint32Array(1) },
	};
}

/* The first of the selection's samples (from LOW on) that is not before NS. */
function firstAt(selection, ns, low = 0) {
	const { time } = selection.profile;
	let high = selection.n;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (time[selection.samples[middle]] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

function markRange(selection, range, marks) {
	const { time, startSub } = selection.profile;
	const first = firstAt(selection, range.from);
	const last = range.to === Infinity ? selection.n : firstAt(selection, range.to, first);
	if (!range.rows) {
		marks.fill(1, first, last);
		return;
	}
	const [from, to] = range.rows;
	for (let i = first; i < last; i++) {
		const at = (startSub + time[selection.samples[i]]) % 1e9;
		if (at >= from && at < to)
			marks[i] = 1;
	}
}

/* One time, of which all samples are beside each other. */
function between(selection, range) {
	const first = firstAt(selection, range.from);
	const last = range.to === Infinity ? selection.n : firstAt(selection, range.to, first);
	const part = (column) => column.subarray(first, last);
	return { ...selection, n: last - first, samples: part(selection.samples),
		stacks: part(selection.stacks), values: part(selection.values) };
}

/* The part of a selection that is in one of RANGES; no ranges: all of it. */
export function inRanges(selection, ranges) {
	if (ranges.length === 0)
		return selection;
	if (ranges.length === 1 && !ranges[0].rows)
		return between(selection, ranges[0]);
	const marks = new Uint8Array(selection.n);
	for (const range of ranges)
		markRange(selection, range, marks);
	let n = 0;
	for (let i = 0; i < marks.length; i++)
		n += marks[i];
	const samples = new Uint32Array(n);
	const stacks = new Uint32Array(n);
	const values = new Float64Array(n);
	let to = 0;
	for (let i = 0; i < marks.length; i++) {
		if (!marks[i])
			continue;
		samples[to] = selection.samples[i];
		stacks[to] = selection.stacks[i];
		values[to++] = selection.values[i];
	}
	return { ...selection, n, samples, stacks, values };
}

export function frameName(selection, frame) {
	const { frames, strings } = selection.profile;
	return frame < frames.n ? strings[frames.name[frame]] : selection.labels[frame - frames.n];
}

/* "" for groups, for inlined frames and where the file has none. */
export function frameModule(selection, frame) {
	const { frames, strings } = selection.profile;
	return frame < frames.n ? strings[frames.module[frame]] : "";
}

export function frameInlined(selection, frame) {
	const { frames } = selection.profile;
	return frame < frames.n && frames.inlined[frame] !== 0;
}

export function isGroupLabel(selection, frame) {
	return frame >= selection.profile.frames.n;
}
