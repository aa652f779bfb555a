/* The page's palette and that of pictures are one, and numbers are said in the same words. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";

import {
	changeRgb, FAMILIES, FAMILY_WORDS, familyOf, frameNumber, heatRgb, HEAT_STEPS, INK, NO_SAMPLE, packageOf, rgbOf,
} from "../../flamescope/web/palette.js";

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

function random(seed) {
	let state = seed;
	return (n) => {
		state = (Math.imul(state, 1103515245) + 12345) >>> 0;
		return (state >>> 8) % n;
	};
}

function casesOf() {
	const below = random(7);
	const letters = ["a", "B", "_", ":", "::", ".", "/", "<", ">", "(", ")", " ", "*", "&", ",", "[", "7", ";", "L", "ü", ".so", ".ko", "perf-", ".map"];
	const word = () => Array.from({ length: below(9) }, () => letters[below(letters.length)]).join("");
	const cases = [];
	for (const module of modules)
		for (const by of BYS.keys())
			cases.push({ by, name: "f", module });
	for (const name of names)
		for (const by of BYS.keys())
			cases.push({ by, name, module: modules[below(modules.length)] });
	for (let i = 0; i < 6000; i++)
		cases.push({ by: below(6), name: word(), module: below(2) ? word() : modules[below(modules.length)] });
	return cases.map((one) => ({ ...one, state: ["", "running", "runnable", "sleeping", "disk", "stopped", "odd"][below(7)],
		inlined: below(3) === 0, isGroup: below(8) === 0 }));
}

const hex = (rgb) => rgb.toString(16).padStart(6, "0");

function theirs(cases) {
	const input = cases.map((one) => [one.by, Number(one.isGroup), Number(one.inlined), one.state, one.module, one.name].join("\t"));
	return execFileSync(process.env.COLOUR_TABLE, { input: input.map((line) => `${line}\n`).join(""), encoding: "utf8", maxBuffer: 1e8 }).split("\n");
}

test("frames have the same colour in the page and in pictures", () => {
	const cases = casesOf();
	const lines = theirs(cases);
	for (const [i, one] of cases.entries()) {
		const number = frameNumber(one, BYS[one.by]);
		const ours = [number, hex(rgbOf(number, "light")), hex(rgbOf(number, "dark")),
			FAMILY_WORDS[FAMILIES.indexOf(familyOf(one.module))], packageOf(one.name)].join("\t");
		assert.equal(ours, lines[i], JSON.stringify(one));
	}
});

test("heatmaps and changes have the same colours, too", () => {
	const lines = theirs([]).filter((line) => line.trim());
	const ours = [];
	for (const theme of ["light", "dark"]) {
		ours.push(`${hex(INK[theme])} ${hex(NO_SAMPLE[theme])}`);
		for (let step = 0; step <= HEAT_STEPS; step++)
			ours.push(`${hex(heatRgb(step, "much", theme))} ${hex(heatRgb(step, "less", theme))}`);
		for (let i = -100; i <= 100; i++)
			ours.push(hex(changeRgb(i / 100, theme)));
	}
	assert.deepEqual(ours, lines);
});

test("packages are found in the names of many languages", () => {
	const found = Object.fromEntries(names.map((name) => [name, packageOf(name)]));
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
