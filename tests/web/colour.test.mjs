/* The page's palette and that of pictures are one, and numbers are said in the same words. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";

import { makeFlame } from "../../flamescope/web/models/flame.js";
import { frameModule, frameName } from "../../flamescope/web/stacks/frames.js";
import { column, startModel } from "../../flamescope/web/models/model.js";
import { EMPTY_QUERY } from "../../flamescope/web/state/query.js";
import { makeSelection, readPack } from "./columns.mjs";
import { packOfText } from "./packs.mjs";
import { profileOf } from "./profile_fixture.mjs";

await startModel();

const BYS = ["family", "module", "package", "name", "state", "none"];
const modules = ["", "[unknown]", "[kernel.kallsyms]", "[guest.kernel.kallsyms]", "[nf_conntrack]", "[vdso]", "[vsyscall]",
	"[heap]", "[stack]", "[anon:x]", "[JIT] tid 7", "//anon", "/memfd:doublemapper (deleted)", "anon_inode:[x]",
	"/dev/zero (deleted)", "/tmp/perf-4711.map", "/tmp/jitted-1-2.so", "/usr/bin/python3.11", "/bin/app", "app", "/opt/a.so.b/app",
	"/usr/lib/libc.so.6", "/lib/libc-2.31.so", "/lib/ld-musl-x86_64.so.1", "/lib64/ld-linux-x86-64.so.2", "/lib/ld-2.31.so",
	"/lib/libm.so.6", "/lib/libmagic.so.1", "/lib/librtmp.so.1", "/lib/librt.so.1", "/lib/libstdc++.so.6.0.30", "/x/libfoo.so (deleted)",
	"/x/libfoo.sock", "/lib/modules/5.10/x.ko", "/lib/modules/x.ko.xz", "/x/a.kola", "/usr/lib/debug/vmlinux-5.10", "/x/", "/", "é/ü.so"];
const names = ["main", "[unknown]", "[python3.11@0x62d080]", "std::map<int, int>::find", "void foo::bar<int>(x)", "f(std::string)",
	"(anonymous namespace)::f()", "(anonymous namespace)::detail::f", "<alloc::vec::Vec<T> as core::iter::Iterator>::next", "&core::f",
	"Ljava/util/HashMap;::get", "LMain;::main", "L;::x", "Lx;::y", "L/;::z", "java.util.HashMap.get", "net/http.(*conn).serve", "net/http.HandlerFunc.ServeHTTP",
	"github.com/foo/bar.Baz", "runtime.mallocgc", "main.main", "main.main.func1", "foo.constprop.0", "foo.clone.1", "foo.llvm.12", "foo.part.1", "foo.cold", "foo.", ".foo", "a.1",
	"py::run:/app/job.py", "py::run", "py::f:", "JS:*emit node:events:466:35", "JS:~f /path/app2.js:12", "LazyCompile:*f", "Function:~x file:///a.mjs:3:4",
	"operator<<", "operator->", "::f", "::", "a::", "ngx_http_process", "foo<std::string>(x)", "naïve::ñ", "日本::語", "", " ", "/a/b.c(d)", "x/y/z"];

const hex = (rgb) => rgb.toString(16).padStart(6, "0");

function theirs(cases) {
	const input = cases.map((one) => [one.by, Number(one.isGroup), Number(one.inlined), one.state, one.module, one.name].join("\t"));
	return execFileSync(process.env.COLOUR_TABLE, { input: input.map((line) => `${line}\n`).join(""), encoding: "utf8", maxBuffer: 1e8 }).split("\n");
}

const palette = (theme, name) => [...column("palette", theme, name)];

test("frames have the same colour in the page and in pictures", () => {
	const profile = profileOf(names.flatMap((name, i) => [0, 1, 2].map((k) => ({
		stack: [name], module: modules[(3 * i + k) % modules.length], tags: { state: ["", "running", "disk", "odd"][(i + k) % 4] } }))));
	const selection = makeSelection(profile, { ...EMPTY_QUERY, metric: "samples" });
	const colours = [0, 1].map((theme) => palette(theme, "frames").map(hex));
	for (const [by, word] of BYS.entries()) {
		const tree = makeFlame(selection, "calls", "", word);
		const { numbers } = tree.colours;
		const frames = Array.from({ length: tree.n - 1 }, (_, i) => tree.frame[i + 1]);
		if (word === "state")
			continue; /* of which the test below is */
		const lines = theirs(frames.map((frame) => ({ by, name: frameName(selection, frame), module: frameModule(selection, frame),
			state: "", inlined: false, isGroup: false })));
		for (const [i, frame] of frames.entries()) {
			const number = numbers[i + 1];
			const family = profile.families[profile.frames.family[frame]];
			assert.deepEqual([number, colours[0][number], colours[1][number], family].map(String), lines[i].split("\t").slice(0, 4), lines[i]);
		}
	}
});

test("heatmaps and changes have the same colours, too", () => {
	const lines = theirs([]).filter((line) => line.trim());
	const ours = [];
	for (const theme of [0, 1]) {
		ours.push(palette(theme, "ink").map(hex).join(" "));
		const less = palette(theme, "less").map(hex);
		palette(theme, "more").map(hex).forEach((more, step) => ours.push(`${more} ${less[step]}`));
		const changes = palette(theme, "changes").map(hex);
		for (let i = -100; i <= 100; i++)
			ours.push(changes[8 + Math.sign(i) * Math.floor((Math.abs(i) / 100) * 8 + 0.5)]);
	}
	assert.deepEqual(ours, lines);
});

test("packages are found in the names of many languages", () => {
	const lines = theirs(names.map((name) => ({ by: 2, name, module: "", state: "", inlined: false, isGroup: false })));
	const found = Object.fromEntries(names.map((name, i) => [name, lines[i].split("\t")[4]]));
	assert.equal(found["std::map<int, int>::find"], "std");
	assert.equal(found["void foo::bar<int>(x)"], "foo");
	assert.equal(found["f(std::string)"], "");
	assert.equal(found["(anonymous namespace)::detail::f"], "detail");
	assert.equal(found["<alloc::vec::Vec<T> as core::iter::Iterator>::next"], "alloc");
	assert.equal(found["Ljava/util/HashMap;::get"], "java/util");
	assert.equal(found["java.util.HashMap.get"], "java.util");
	assert.equal(found["net/http.(*conn).serve"], "net/http");
	assert.equal(found["github.com/foo/bar.Baz"], "github.com/foo/bar");
	assert.equal(found["main.main.func1"], "main");
	assert.equal(found["foo.constprop.0"], "");
	assert.equal(found["py::run:/app/job.py"], "/app/job.py");
	assert.equal(found["JS:*emit node:events:466:35"], "node:events");
	assert.equal(found["ngx_http_process"], "");
});

test("the graph of what an inlined function calls has the colour of the code that it is in", () => {
	const profile = readPack(packOfText("a 7/8 [000] 5.25: 1 cpu-clock: \n\t10 h (inlined)\n\t10 g (inlined)\n\t10 f+0x1 (/bin/a)\n\n"));
	for (const [order, around] of [["calls", "g"], ["calls", "h"], ["calls", "f"], ["reverse", "g"]]) {
		const { legend } = makeFlame(makeSelection(profile, EMPTY_QUERY), order, around).colours;
		assert.deepEqual(legend.map(({ label }) => label), ["program"], `${order} ${around}`);
	}
});
