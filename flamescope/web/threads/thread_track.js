/* thread_track.js - when a process or thread has how much, and in which state: drawn, and in words */

import { formatShare, formatTime, formatTotal, grouped } from "wick/parts/amount.js";
import { onDrag } from "wick/parts/canvas.js";
import { textsOf } from "wick/state/recording.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 24; /* pixels of a track */
const PALE = "linear-gradient(rgb(0 0 0 / 35%) 0 0)"; /* what is not in the selected time */

function makeSvg(tag, attributes, ...children) {
	const element = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(attributes))
		element.setAttribute(name, value);
	element.append(...children);
	return element;
}

/* One of THREADS (threads.js): {label, i, level, amount, running, nThreads, from, to}. */
class Row {
	constructor(threads, label, i) {
		this.threads = threads;
		this.label = label;
		this.i = i;
	}
}
for (const name of ["level", "amount", "running", "nThreads", "from", "to"])
	Object.defineProperty(Row.prototype, name, { get() {
		return this.threads[name][this.i];
	} });

/** The rows of THREADS. */
export const rowsOf = (threads) => textsOf(threads.labels).map((label, i) => new Row(threads, label, i));

/** The tracks of THREADS (threads.js) over a WINDOW of time. */
export class Tracks {
	constructor(app, threads, window) {
		const { nBins, nStates, states } = threads;
		Object.assign(this, { app, threads, window, nBins, nStates, hasStates: states.length > 1 });
		this.css = [...app.profile.states, null].map((state) =>
			(state && this.hasStates ? app.colours.frame(state.number) : app.colours.css("accent")));
	}

	/** A mask of CSS that makes what is not in RANGES paler. */
	maskOf(ranges) {
		const [first, last] = this.window;
		const part = (ns) => `${(100 * (ns - first)) / (last - first)}%`;
		return ranges.length === 0 ? "none" : [PALE, ...ranges.map(({ from, to }) =>
			`linear-gradient(to right, transparent ${part(from)}, #000 0 ${part(Math.min(to, last))}, transparent 0)`)].join();
	}

	/** What the colours mean. */
	get keys() {
		return this.app.profile.states.flatMap(({ label }, i) =>
			(this.hasStates && this.threads.states.includes(i) ? [{ label, css: this.css[i] }] : []));
	}

	timeAt(bin) {
		const [from, to] = this.window;
		return from + (bin * (to - from)) / this.nBins;
	}

	/* From bin A to B, or B to A; both are in it. */
	#rangeOf(a, b) {
		return { from: Math.round(this.timeAt(Math.min(a, b))), to: Math.round(this.timeAt(Math.max(a, b) + 1)), rows: null };
	}

	say(amount) {
		return this.threads.countsSamples ? `${grouped(amount)} samples` : formatTotal(amount, this.threads.selection);
	}

	/** What a row has of each state from bin FROM to END, and of all: {states, sum}. */
	sumsOf(row, from = 0, end = this.nBins) {
		const { nStates, threads: { bins, values } } = this;
		const states = new Float64Array(nStates);
		for (let i = row.from; i < row.to; i++)
			if (bins[i] >= from * nStates && bins[i] < end * nStates)
				states[bins[i] % nStates] += values[i];
		return { states, sum: states.reduce((sum, one) => sum + one, 0) };
	}

	/** Which part of them is in which state, in words. */
	statesIn({ states, sum }) {
		return [...states].flatMap((one, i) => (one && this.hasStates
			? [`${formatShare(one, sum)} ${this.app.profile.states[i]?.label ?? "another state"}`] : []));
	}

	/** The drawing of a ROW, which is called NAME; onRange(range) of a drag. */
	draw(row, name, onRange) {
		const { tip } = this.app;
		const svg = makeSvg("svg", { viewBox: `0 0 ${this.nBins} ${HEIGHT}`, preserveAspectRatio: "none",
			"aria-hidden": "true" /* the row and the table say it in words */ }, ...this.#paths(row));
		const drawn = makeSvg("rect", { height: HEIGHT });
		const binOf = ({ clientX }) => {
			const { left, width } = svg.getBoundingClientRect();
			return Math.max(0, Math.min(this.nBins - 1, Math.floor(((clientX - left) * this.nBins) / width)));
		};
		svg.addEventListener("pointermove", (event) => {
			const bin = binOf(event);
			const sums = this.sumsOf(row, bin, bin + 1);
			tip.show(event.clientX, event.clientY, [name,
				`${formatTime(this.timeAt(bin))} to ${formatTime(this.timeAt(bin + 1))}: ${sums.sum ? this.say(sums.sum) : "no sample"}`,
				...this.statesIn(sums)]);
		});
		svg.addEventListener("pointerleave", () => tip.hide());
		onDrag(svg, (down) => {
			const from = binOf(down);
			return {
				move(event) {
					const to = binOf(event);
					drawn.setAttribute("x", Math.min(from, to));
					drawn.setAttribute("width", Math.abs(to - from) + 1);
					svg.append(drawn);
				},
				end: (event, moved) => {
					drawn.remove();
					if (event && moved)
						onRange(this.#rangeOf(from, binOf(event)));
				},
			};
		});
		return svg;
	}

	/* The bars of each state; the least that there is can be seen. */
	#paths({ from, to, level, nThreads }) {
		const { nStates, threads: { bins, values, isLanes, most } } = this;
		const full = isLanes ? Math.max(1, nThreads) * (this.timeAt(1) - this.timeAt(0)) : most[level];
		const paths = Array(nStates).fill("");
		for (let i = from, end = from; i < to;) {
			const bin = Math.floor(bins[i] / nStates);
			let sum = 0;
			for (; end < to && bins[end] < (bin + 1) * nStates; end++)
				sum += values[end];
			const scale = (HEIGHT - 4) / (Math.max(full, sum) || 1);
			for (let y = HEIGHT - 1; i < end; i++) {
				const top = y - Math.max(1, values[i] * scale);
				paths[bins[i] % nStates] += `M${bin} ${y.toFixed(1)}V${top.toFixed(1)}h1V${y.toFixed(1)}z`;
				y = top;
			}
		}
		return paths.flatMap((d, i) => (d ? [makeSvg("path", { d, fill: this.css[i] })] : []));
	}
}
