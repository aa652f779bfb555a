"""A stack is told complete when it ends where its process, thread or coroutine began.

What wick says is held against the outermost frames of the text, whatever rule found those between.
"""
import os
import re
import unittest

from recorded import LONG, PYTHON, Case, need

SECONDS = 3 if LONG else 1  # of CPU, however long that takes on this machine
HZ = 99 if LONG else 199
# Where the kernel, libc and the loader have processes and threads begin.
ROOTS = {"_start", "_dl_start_user", "clone", "__clone", "clone3", "__clone3", "__clone_internal",
         "thread_start", "start_thread"}
NODE = ("function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } "
        "const used = () => { const c = process.cpuUsage(); return c.user + c.system }; let x = 0; "
        f"const end = used() + {SECONDS * 1000000}; "
        "while (used() < end) { x += fib(22); "
        "x += [...Array(2000).keys()].sort((a, b) => b - a)[7] } console.log(x)")
PY = ("import json, time\n"
      "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
      f"end = time.process_time() + {SECONDS}\n"
      "while time.process_time() < end:\n"
      "    fib(15); json.dumps({str(i): i for i in range(500)})\n"
      "    sorted(range(1000), key=lambda x: -x)\n")
JAVA = """
import java.util.*;
public class Ends {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    public static void main(String[] words) {
        var clock = java.lang.management.ManagementFactory.getThreadMXBean();
        long end = clock.getCurrentThreadCpuTime() + %dL;
        long x = 0;
        while (clock.getCurrentThreadCpuTime() < end) {
            x += fib(20);
            List<Integer> list = new ArrayList<>();
            for (int i = 0; i < 2000; i++) list.add(i * 7919 %% 2003);
            Collections.sort(list, (a, b) -> b - a);
            x += list.get(7);
        }
        System.out.println(x);
    }
}
""" % (SECONDS * 10**9)
# It prints where each of its processes begins, as the runtime itself walks their stacks.
ERLANG = """
-module(ends).
-export([main/0, work/1]).
fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).
work(End) ->
    case element(1, statistics(runtime)) < End of
        true ->
            _ = fib(18),
            _ = erlang:md5(term_to_binary(lists:sort(lists:reverse(lists:seq(1, 2000))))),
            work(End);
        false -> {_, Stack} = process_info(self(), current_stacktrace), told(Stack)
    end.
told([]) -> ok;
told(Stack) -> {Module, _, _, _} = lists:last(Stack), io:format("~s~n", [Module]).
main() ->
    [told(element(2, process_info(P, current_stacktrace))) || P <- processes()],
    End = element(1, statistics(runtime)) + %d,
    Self = self(),
    [spawn(fun() -> work(End), Self ! done end) || _ <- lists:seq(1, 2)],
    [receive done -> ok end || _ <- lists:seq(1, 2)],
    halt().
""" % (SECONDS * 1000)


class Complete(Case):
    def check(self, run, least, begins=lambda frame: False):
        """Both shares, of samples; they agree to a point, and wick's is LEAST at least."""
        self.assertEqual(run.status, 0, run.summary)
        said = float(re.search(r"stacks +([\d.]+) % complete", run.summary).group(1))
        def is_root(*frames):
            # The entry of a stripped program has no name: it is what calls __libc_start_main().
            return frames[-1].symbol in ROOTS or begins(frames[-1]) or (
                len(frames) > 1 and frames[-2].symbol.startswith("__libc_start_main"))

        others = [str(sample.frames[-1]) for sample in run.samples if not is_root(*sample.frames)]
        share = 100 * (1 - len(others) / len(run.samples))
        print(f"{self.id().split('_')[-1]}: wick says {said} % complete, {share:.1f} % of "
              f"{len(run.samples)} end where a thread begins")
        self.assertGreater(len(run.samples), 50, run.summary)
        self.assertLessEqual(abs(said - share), 1, f"{run.summary}\nother ends: {others}")
        self.assertGreaterEqual(said, least, run.summary)

    def test_node(self):
        """Its segments have gaps between them, and its unwind table is behind one."""
        need("node")
        self.check(self.record("node", "-e", NODE, hz=HZ), 95)

    def test_erlang(self):
        """Its processes have stacks of their own, whose frame pointers end in 0."""
        need("erl", "erlc")
        self.write("ends.erl", ERLANG)
        self.assertEqual(os.system(f"cd {self.dir} && erlc ends.erl"), 0)
        run = self.record("erl", "+JPperf", "true", "-noshell", "-s", "ends", "main", hz=HZ)
        for pid in {sample.pid for sample in run.samples}:
            for name in (f"/tmp/perf-{pid}.map", f"/tmp/jit-{pid}.dump"):
                self.addCleanup(lambda name=name: os.path.exists(name) and os.unlink(name))
        modules = {"ends", *run.stdout.decode().split()}
        self.assertIn("init", modules, run.stdout)
        self.check(run, 90, lambda frame: frame.symbol.split(":")[0] in modules
                   and frame.module.endswith(".dump"))

    def test_java(self):
        need("java", "javac")
        self.write("Ends.java", JAVA)
        self.assertEqual(os.system(f"cd {self.dir} && javac Ends.java"), 0)
        self.check(self.record("java", "-cp", self.dir, "Ends", hz=HZ), 95)

    def test_python(self):
        self.check(self.record(PYTHON, "-c", PY, hz=HZ), 99)

    def test_redis(self):
        need("redis-benchmark")
        script = os.path.join(os.path.dirname(__file__), "../../docs/examples/redis.sh")
        self.check(self.record(os.path.abspath(script), SECONDS, hz=HZ), 99)


if __name__ == "__main__":
    unittest.main()
