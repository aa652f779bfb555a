/* store.test.mjs - the state, its URL, undo and redo */

import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULTS, browserHistory, makeStore, parseHash, stateHash } from "../../flamescope/web/state/store.js";
import { commandFlags, parseEvery, parseMetric, parseRange, rangeWord } from "../../flamescope/web/state/query.js";

const FULL = "time=10-20@0-100ms&time=30.5-&b=1-2&every=1s:0-100ms&state=%5Erun&where=cpu!=3&only=a&without=b" +
	"&elide=c&focus=d&truncate=e&flatten&group=state,thread&metric=rss_kib:mean&brush=5-50&view=table&by=thread" +
	"&colour=module&theme=dark&around=f&frame=g&search=h&sort=self&details=open&rows=20&column=10000000000&phase=20000000&split=400&t=drop:x&folds=app%2F7;b%3Bc&zoom=main;a%3Bb";

test("a hash becomes a state and the same hash again", () => {
	assert.equal(stateHash(parseHash(FULL)), FULL);
	assert.equal(stateHash(parseHash("")), "");
	assert.deepEqual(parseHash("").ranges, []);
});

test("names keep every character on the way through the hash", () => {
	for (const name of ["a;b", "a&b=c", "100%", "<script>", "µ→#", "operator+", "a b"]) {
		const state = parseHash(stateHash({ ...DEFAULTS, zoom: [name, "x"], search: name, frame: name }));
		assert.deepEqual([state.zoom, state.search, state.frame], [[name, "x"], name, name]);
	}
});

test("words that mean nothing, or half of it, change nothing", () => {
	for (const hash of ["nonsense=1", "time=20-10", "time=x", "rows=-1", "rows=1e9", "split=901", "split=0.5", "phase=-1", "%", "=", "&&&", "metric=a:b", "zoom=",
		"where=nothing", "window=2,3", "every=0s:0-1", "__proto__=1", "constructor=1", "toString", "hasOwnProperty=2"])
		assert.equal(stateHash(parseHash(hash)), "", hash);
});

test("no more ranges than the command takes", () => {
	const hash = Array.from({ length: 100 }, (_, i) => `time=${i}-${i + 1}`).join("&");
	assert.equal(parseHash(hash).ranges.length, 64);
});

test("times are read as the command reads them", () => {
	const word = (text) => {
		const range = parseRange(text);
		return range && rangeWord(range);
	};
	assert.equal(word("10s-20s"), "10-20");
	assert.equal(word("0-100ms"), "0-0.1");
	assert.equal(word("-100ms"), "0-0.1");
	assert.equal(word("90s-"), "90-");
	assert.equal(word("5min-1h"), "300-3600");
	assert.equal(word("10-20@0-100ms"), "10-20@0-100ms");
	assert.equal(word("1-2@500-600us"), "1-2@500us-600us");
	assert.equal(word("0.000000001-1"), "0.000000001-1");
	for (const bad of ["", "-", "5", "2-1", "a-b", "1-2@", "1-2@0-2s", "1-2@5-4ms", "1e3-2e3"])
		assert.equal(word(bad), null, bad);
	assert.deepEqual(parseEvery("1s:0-100ms"), { every: 1e9, from: 0, to: 1e8 });
	assert.equal(parseEvery("1s:0-2s"), null);
});

test("metrics are named as the command names them", () => {
	assert.deepEqual(parseMetric("cpu_ns"), { name: "cpu_ns", measure: "value" });
	assert.deepEqual(parseMetric("cpu_ns_delta"), { name: "cpu_ns", measure: "delta" });
	assert.deepEqual(parseMetric("rss_kib:loss"), { name: "rss_kib", measure: "loss" });
	assert.equal(parseMetric("rss_kib:most"), null);
	assert.equal(parseMetric(""), null);
});

test("the command says the same, quoted for a shell", () => {
	const { ranges, query } = parseHash("time=10-20@0-100ms&where=wait!=a%20b&flatten&only=it's");
	assert.equal(commandFlags(ranges, query), "--time=10-20@0-100ms --where='wait!=a b' --only='it'\\''s' --flatten");
});

test("every change is undone and done again", () => {
	const store = makeStore("");
	store.set({ view: "table" });
	store.setQuery({ groups: ["state"] });
	store.setQuery({ groups: ["state", "cpu"] }, { replace: true });
	assert.equal(stateHash(store.state), "group=state,cpu&view=table");
	assert.equal(store.undo(), true);
	assert.equal(stateHash(store.state), "view=table");
	assert.equal(store.undo(), true);
	assert.equal(store.undo(), false);
	assert.equal(stateHash(store.state), "");
	assert.equal(store.redo() && store.redo(), true);
	assert.equal(store.redo(), false);
	assert.equal(stateHash(store.state), "group=state,cpu&view=table");
});

test("what is done after undoing cannot be redone over", () => {
	const store = makeStore("");
	store.set({ view: "table" });
	store.undo();
	store.set({ view: "strip" });
	assert.equal(store.redo(), false);
	assert.equal(store.canUndo, true);
});

test("listeners hear of changes only, and states are frozen", () => {
	const store = makeStore("view=table");
	let heard = 0;
	const stop = store.subscribe((now, old) => {
		heard++;
		assert.notEqual(now, old);
	});
	store.set({ view: "table" });
	assert.equal(heard, 0);
	store.set({ view: "strip" });
	stop();
	store.set({ view: "table" });
	assert.equal(heard, 1);
	assert.throws(() => {
		store.state.view = "x";
	}, TypeError);
	assert.throws(() => store.state.ranges.push(1), TypeError);
});

test("steps that are faster than the browser end where the last one does", () => {
	const pushed = [];
	const going = []; /* steps that the browser has not gone yet */
	let at = 0;
	const store = makeStore("", { where: { replace: () => {}, flush: () => {}, go: (steps) => going.push(steps),
		push: (hash, index) => (pushed[at = index] = hash) } });
	const arrive = () => store.follow(pushed[at += going.shift()] ?? "", at);
	for (const view of ["table", "strip", "diff", "sides"])
		store.set({ view });
	for (const [steps, view] of [["uuu", "table"], ["UuU", "strip"], ["uau", "flame"], ["UUaUaU", "sides"], ["uuauUau", "table"]]) {
		for (const step of steps)
			({ u: store.undo, U: store.redo, a: arrive })[step]();
		while (going.length)
			arrive();
		assert.deepEqual([store.state.view, pushed[at] ?? ""], [view, view === "flame" ? "" : `view=${view}`], steps);
	}
	at = 2; /* and by itself the browser goes where it likes */
	store.follow(pushed[2], 2);
	assert.equal(store.state.view, "strip");
});

test("the browser's back button is followed", () => {
	const calls = [];
	const where = {
		push: (hash, index) => calls.push(["push", hash, index]),
		replace: (hash, index) => calls.push(["replace", hash, index]),
		go: (steps) => calls.push(["go", steps]),
		flush: () => calls.push(["flush"]),
	};
	const store = makeStore("", { where });
	store.set({ view: "table" });
	store.follow("", 0);
	assert.equal(store.state.view, DEFAULTS.view);
	assert.equal(store.canRedo, true);
	store.redo();
	assert.equal(store.state.view, "table");
	store.follow("#view=strip");
	assert.equal(store.state.view, "strip");
	assert.equal(store.undo(), true);
	assert.equal(store.state.view, "table");
	/* What is written by hand is said as the page says it. */
	store.follow("#view=flame&sort=self&nonsense=1");
	assert.deepEqual([stateHash(store.state), ...calls.slice(-2)], ["sort=self", ["replace", "sort=self", 2], ["flush"]]);
	assert.deepEqual(calls[0], ["replace", "", 0]);
	assert.deepEqual(calls[1], ["push", "view=table", 1]);
});

/* A window that says what is done to its history, and whose events are sent by the test. */
function fakeWindow() {
	const [done, listeners] = [[], {}];
	const record = (step) => (state, _, url) => done.push(`${step} ${state.index} ${url}`);
	return { done, send: (event) => listeners[event](), location: { pathname: "/p", search: "" },
		addEventListener: (event, listener) => (listeners[event] = listener),
		history: { pushState: record("push"), replaceState: record("replace"), go: (steps) => done.push(`go ${steps}`) } };
}

test("an address follows soon, and nothing overtakes it", (t) => {
	t.mock.timers.enable({ apis: ["setTimeout"] });
	const window = fakeWindow();
	const history = browserHistory(window);
	history.push("a", 1);
	assert.deepEqual(window.done, []); /* what it is the address of is drawn first */
	t.mock.timers.tick(100);
	assert.deepEqual(window.done.splice(0), ["push 1 #a"]);
	history.push("b", 2);
	history.push("c", 3);
	history.replace("d", 3); /* dragged on: one entry, with the last address */
	assert.deepEqual(window.done.splice(0), ["push 2 #b"]);
	history.go(-1);
	assert.deepEqual(window.done.splice(0), ["push 3 #d", "go -1"]);
	history.push("e", 4);
	window.send("popstate"); /* the browser is elsewhere by now */
	t.mock.timers.tick(1000);
	assert.deepEqual(window.done, []);
	history.replace("", 4);
	window.send("pagehide");
	t.mock.timers.tick(1000);
	assert.deepEqual(window.done, ["replace 4 /p"]);
});
