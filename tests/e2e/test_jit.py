"""Code that programs make while they run has the name that it had at the time."""
import collections
import os
import subprocess
import unittest

from recorded import Case, need, target


BURN = ("function work(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 31 + i) | 0; "
        "return x } let x = 0; const until = Date.now() + 1500; "
        "while (Date.now() < until) x += work(1e6); console.log(process.pid, x)")
# By its own CPU clock: half a second to be compiled, and a second and a half once it has names.
BURN_JAVA = """
import java.io.File;
public class Burn {
    static long work(long n) {
        long x = 1;
        for (long i = 0; i < n; i++) x = x * 31 + (i ^ x >>> 7);
        return x;
    }
    static long workUntil(long end, File file) {
        var clock = java.lang.management.ManagementFactory.getThreadMXBean();
        long x = 0;
        while (clock.getCurrentThreadCpuTime() < end || file != null && !file.exists()) x += work(1000000);
        return x;
    }
    public static void main(String[] words) throws Exception {
        workUntil(500000000L, null);
        new File("warm").createNewFile();
        workUntil(0, new File("named"));
        long now = java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        System.out.println(workUntil(now + 1500000000L, null));
    }
}
"""
INNER_PID = 54322  # in a namespace of its own


class Jit(Case):
    def forget(self, run):
        """Programs leave their maps and dumps behind."""
        for pid in {sample.pid for sample in run.samples}:
            for name in (f"/tmp/perf-{pid}.map", f"/tmp/jit-{pid}.dump"):
                self.addCleanup(lambda name=name: os.path.exists(name) and os.unlink(name))

    def test_jitdump(self):
        """One place holds one function after another, and one moves: each thread saw its own."""
        run = self.record(target("jitdump_writer"), self.dir, "0.25", hz=999,
                          options=("--srcline", "--max-overhead", "off"))
        self.assertEqual(run.status, 0, run.summary)
        expected = dict(line.split(" ", 1) for line in run.stdout.decode().splitlines())
        self.assertEqual(len(expected), 4, expected)
        found = collections.defaultdict(collections.Counter)
        for sample in run.samples:
            if str(sample.tid) in expected and sample.frames[0].module != "[vdso]" and (
                    sample.frames[0].module.endswith(".dump")
                    or sample.frames[0].module.startswith("[")):
                found[expected[str(sample.tid)], sample.tid][sample.frames[0].symbol] += 1
        print({name: dict(leaves) for (name, _), leaves in found.items()})
        self.assertEqual(len(found), 4, run.summary)
        for (name, _), leaves in found.items():
            self.assertEqual(set(leaves), {name}, run.summary)
            self.assertGreater(leaves[name], 20, run.summary)
        with open(run.paths[0], encoding="utf-8") as file:
            lines = [line for line in file if line.startswith("# l ") and "made.up" in line]
        self.assertGreater(len(lines), 80)
        # The loop of the code is its second line.
        self.assertGreater(sum("made.up:11" in line for line in lines), 0.9 * len(lines))

    def test_node(self):
        need("node")
        self.check_node(self.record("node", "--perf-basic-prof", "-e", BURN, hz=499))

    def test_node_in_another_pid_namespace(self):
        """It writes its map under the pid that it has there, and is sampled under another."""
        need("node", "unshare")
        way = ["unshare", "-pf"] if os.geteuid() == 0 else ["unshare", "-Upf"]
        if subprocess.run([*way, "true"], capture_output=True, check=False).returncode:
            self.skipTest("no pid namespace can be had here")
        path = f"/tmp/perf-{INNER_PID}.map"
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        script = (f"echo {INNER_PID - 1} >/proc/sys/kernel/ns_last_pid; node --perf-basic-prof "
                  f"-e '{BURN}' & wait")
        run = self.record(*way, "sh", "-c", script, hz=499)
        if run.stdout.split()[:1] != [str(INNER_PID).encode()]:
            self.skipTest("the pid in a namespace cannot be chosen here")
        self.assertNotIn(INNER_PID, {sample.pid for sample in run.samples})
        self.check_node(run)

    def test_code_without_names_says_what_gives_them(self):
        need("node")
        run = self.record("node", "-e", BURN.replace("1500", "400"), hz=199)
        self.assertRegex(run.summary, r"(?s)no names .*code made at run time; try: node --perf-basic-prof")

    def check_node(self, run):
        self.forget(run)
        leaves = collections.Counter(s.frames[0].symbol for s in run.samples
                                     if s.frames[0].module.endswith(".map"))
        print(leaves.most_common(3))
        mine = sum(n for name, n in leaves.items() if "work" in name)
        self.assertGreater(mine, 0.8 * sum(leaves.values()), run.summary)
        self.assertGreater(mine, 0.5 * len(run.samples), run.summary)

    def test_java(self):
        """jcmd writes the map in the middle: from then on its methods have names."""
        need("java", "javac", "jcmd")
        self.write("Burn.java", BURN_JAVA)
        subprocess.run(["javac", "-d", self.dir, self.path("Burn.java")], check=True, timeout=120)
        script = (f"java -XX:+PreserveFramePointer -cp {self.dir} Burn & p=$!; "
                  "until [ -e warm ] || ! kill -0 $p; do sleep 0.05; done; "
                  "jcmd $p Compiler.perfmap >/dev/null; : >named; wait $p")
        run = self.record("sh", "-c", script, hz=199, options=("--max-overhead", "off"))
        self.forget(run)
        leaves = collections.Counter()
        for sample in run.samples:
            if sample.frames[0].module.endswith(".map"):
                leaves[sample.frames[0].symbol] += sample.weight
        print(leaves.most_common(3))
        mine = sum(n for name, n in leaves.items() if "Burn.work" in name)
        self.assertGreater(mine, 100, run.summary)
        # The rest is interpreter and stubs: nothing else in this program is hot.
        self.assertGreater(mine, 0.8 * sum(leaves.values()), run.summary)

    def test_erlang(self):
        need("erl", "erlc")
        self.write("burn.erl", "-module(burn).\n-export([start/0]).\nwork(0, X) -> X;\nwork(N, X) -> "
                               "work(N - 1, (X * 31 + N) band 16#ffffff).\nagain(0) -> ok;\nagain(N) -> "
                               "work(1000000, 1), again(N - 1).\nstart() -> again(300), halt().\n")
        subprocess.run(["erlc", "burn.erl"], cwd=self.dir, check=True, timeout=120)
        run = self.record("erl", "+JPperf", "true", "-noshell", "-pa", self.dir, "-s", "burn",
                          "start", hz=199, env={**os.environ, "HOME": self.dir})
        self.forget(run)
        leaves = collections.Counter(s.frames[0].symbol for s in run.samples
                                     if s.frames[0].module.endswith((".map", ".dump")))
        print(leaves.most_common(3))
        if not leaves:
            self.skipTest("this erlang has no just-in-time compiler")
        mine = leaves["burn:work/2"]
        self.assertGreater(mine, 0.8 * sum(leaves.values()), run.summary)
        self.assertGreater(mine, 50, run.summary)


if __name__ == "__main__":
    unittest.main()
