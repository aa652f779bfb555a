"""Files: flush, rotation, compression, hooks, what is kept, and that every consumer reads them."""
import collections
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import time
import unittest

from recorded import LONG, PYTHON, WICK, Case, need, notes, read, target, text_of

COMPAT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compat")
sys.path.insert(0, COMPAT)
import firefox  # noqa: E402
import speedscope  # noqa: E402
import stackcollapse  # noqa: E402
SECONDS = 1 if LONG else 0.4  # of a part of ratio
# Names of threads, and how the text has them: what a consumer splits, drops or refuses.
ODD_NAMES = {"": ":{tid}", " ": "__", "#": "_#", "#x": "_#x", "a->b": "a\u2192b", "a;b": "a:b",
             "->": "\u2192_", ";": ":_", "struct": "_struct", "swapper": "swapper", "w 12: x": "w_12:_x"}
NAMING = """
import ctypes, sys, threading, time
libc = ctypes.CDLL(None)
def run(name):
    libc.prctl(15, name.encode(), 0, 0, 0)
    end = time.thread_time() + 0.12
    while time.thread_time() < end:
        pass
threads = [threading.Thread(target=run, args=(name,)) for name in sys.argv[1:]]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
TEMPLATES = """
struct TableRow { int x; };
struct table { long x; };
template<class T> __attribute__((noinline)) unsigned long work(unsigned long n)
{
	volatile unsigned long sum = sizeof(T);
	for (unsigned long i = 0; i < n; i++)
		sum = sum * 31 + i;
	return sum;
}
int main()
{
	unsigned long sum = 0;
	for (int i = 0; i < 60; i++)
		sum += work<TableRow>(5000000) + work<table>(5000000);
	return sum == 1;
}
"""


class Files(Case):
    def test_the_default_name(self):
        run = self.wick("record", "--", target("ends"), "exit", 0.3)
        self.assertEqual(run.returncode, 7)
        names = os.listdir(self.dir)
        self.assertEqual(len(names), 1, names)
        self.assertRegex(names[0], r"^wick\.ends\.\d+\.\d{8}T\d{6}Z\.perf$")
        self.assertEqual(os.stat(self.path(names[0])).st_mode & 0o777, 0o600)
        self.assertIn(names[0], run.stderr.decode())

    def test_templates(self):
        self.wick("record", "-o", "%c-%h-%n.perf", "--", target("ends"), "exit", 0.2)
        self.assertEqual(len(glob.glob(self.path("ends-*-1.perf")) +
                             glob.glob(self.path("ends-*-0001.perf"))), 1, os.listdir(self.dir))

    def test_rotation_by_samples_keeps_every_sample(self):
        run = self.record(target("split"), 1.2, options=("--rotate", "50samples"), hz=249)
        self.assertGreaterEqual(len(run.paths), 3)
        self.assertTrue(all(re.search(r"\.\d{4}\.perf$", path) for path in run.paths))
        sizes = [len(read(path)) for path in run.paths]
        self.assertTrue(all(size == 50 for size in sizes[:-1]), sizes)
        self.assertAlmostEqual(run.coverage, 1, delta=0.05)
        times = [sample.time_ns for sample in run.samples]
        self.assertEqual(times, sorted(times))

    def test_rotation_by_size(self):
        run = self.record(target("split"), 1.2, options=("--rotate", "16K"), hz=249)
        for path in run.paths[:-1]:
            self.assertLess(os.path.getsize(path), 18 * 1024)
        self.assertGreater(len(run.paths), 2)

    def test_a_recording_ends_when_its_disk_is_used_up(self):
        run = self.record(target("busy"), 1.5, options=("--disk-limit", "64K"), hz=999)
        self.assertIn("--disk-limit", run.summary)
        self.assertIn("still running", run.summary)
        size = os.path.getsize(run.paths[0])
        self.assertGreaterEqual(size, 64 * 1024)
        # A quarter of a second of the kernel's tick or the rate, 700 bytes each, and the end's list of modules.
        self.assertLess(size, 64 * 1024 + 700 * 999)
        self.assertTrue(read(run.paths[0]))

    def test_compression_and_hook(self):
        log = self.path("log")
        hook = f'echo "$0 $1" >> {log}; test -s "$1"'
        run = self.wick("record", "-F", 249, "-o", self.path("z.perf"), "--rotate", "15samples",
                        "--compress", "gz", "--on-rotate", hook, "--", target("split"), 0.8)
        self.assertEqual(run.returncode, 0, run.stderr)
        paths = sorted(glob.glob(self.path("z.*.perf.gz")))
        self.assertGreaterEqual(len(paths), 3)
        self.assertEqual(text_of(log).split("\n")[:-1], ["wick " + path for path in paths])
        for path in paths:
            with gzip.open(path, "rt", encoding="utf-8") as file, open(
                    path[:-3] + ".plain", "w", encoding="utf-8") as plain:
                plain.write(file.read())
            self.assertTrue(read(path[:-3] + ".plain"))
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith(".")], [])

    def test_a_hook_that_fails_stops_nothing(self):
        run = self.wick("record", "-o", self.path("f.perf"), "--on-rotate", "exit 3", "--",
                        target("split"), 0.3)
        self.assertEqual(run.returncode, 0)
        self.assertIn("on-rotate", run.stderr.decode())
        self.assertTrue(read(self.path("f.perf")))

    def test_keep(self):
        other = self.write("k.0000.perf", "not ours\n")
        # A busy machine may merge most of the 299 ticks.
        self.wick("record", "-F", 249, "-o", self.path("k.perf"), "--rotate", "15samples", "--keep", "3",
                  "--", target("split"), 1.2)
        left = sorted(glob.glob(self.path("k.*.perf")))
        self.assertIn(other, left)
        self.assertLessEqual(len(left), 1 + 4)
        self.assertGreaterEqual(len(left), 1 + 3)

    def test_live_file_always_ends_on_a_whole_sample(self):
        path = self.path("live.perf")
        wick = self.start(WICK, "record", "-q", "-F", "249", "--flush", "50ms", "-o", path, "--", target("split"), "1.5")
        sizes = set()
        while wick.poll() is None:
            if os.path.exists(path) and os.path.getsize(path):
                sizes.add(len(read(path)))  # raises where a sample is cut
            time.sleep(0.01)
        self.assertGreater(len(sizes), 10)

    def check_consumers(self, *arguments):
        check = subprocess.run([sys.executable, os.path.join(COMPAT, "check_compat.py"), *arguments],
                               capture_output=True, text=True, check=False)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_consumers_load_what_was_recorded(self):
        for options in ((), ("--ns",), ("--metrics", "none"), ("--bare",)):
            run = self.record(target("ratio"), SECONDS, options=options, hz=199)
            self.check_consumers(*(["--bare"] if "--bare" in options else []), *run.paths)
            self.assertTrue(run.samples)

    def test_a_bare_text_says_what_it_lacks(self):
        with_header = self.record(target("split"), 0.3)
        bare = self.record(target("split"), 0.3, options=("--bare",))
        both = self.record(target("split"), 0.3, options=("--bare", "--ns"))
        told = [line for line in both.summary.splitlines() if "Perfetto" in line]
        self.assertEqual(len(told), 1, both.summary)
        self.assertIn("nine decimals", told[0])
        self.assertNotIn("nine decimals", bare.summary)
        self.assertNotIn("Perfetto", self.record(target("split"), 0.2, options=("--ns",)).summary)
        for run, said in ((with_header, False), (bare, True), (both, True)):
            lines = self.wick("report", run.paths[0]).stderr.decode().splitlines()
            self.assertEqual(sum("each sample counts as one" in line for line in lines), said, lines)
        asked = self.wick("report", "--metric", "period", bare.paths[0])
        self.assertNotIn(b"counts as one", asked.stderr)
        self.assertIn(f" {bare.weight()} periods;", asked.stdout.decode())

    def test_only_wick_counts_releases_of_memory(self):
        for bare in ((), ("--bare",)):
            run = self.record(target("allocs"), "3", "20000", "threads",
                              options=("-e", "alloc=16K", "--rotate", "500samples", *bare))
            self.assertGreater(len(run.paths), 1)
            self.check_consumers(*bare, *run.paths)
            releases = sum(sample.weight == 0 for sample in run.samples)
            text = subprocess.run(["cat", *run.paths], stdout=subprocess.PIPE, text=True, check=True).stdout
            self.assertEqual(len(re.findall(" op=free ", text)), releases)
            self.assertEqual(len(re.findall("^allocs +[0-9]", text, re.M)), len(run.samples) - releases)
            self.assertTrue(bare or releases > 500, releases)
            self.assertFalse(bare and releases)

    def test_samples_of_a_thread_have_stamps_of_their_own(self):
        for options in (("-e", "wall"), ("-e", "wall", "--ns"), ("-e", "alloc=1K")):
            run = self.record(target("allocs"), "2", "20000", "threads", hz=499, options=options)
            self.check_consumers(*run.paths)
            last = collections.defaultdict(int)
            counted = [sample for sample in run.samples if sample.weight]
            for sample in counted:
                self.assertGreater(sample.time_ns, last[sample.tid], options)
                last[sample.tid] = sample.time_ns
            self.assertGreater(len(counted), 20)

    def test_odd_names_of_threads_are_one_thread_each_for_everybody(self):
        run = self.record(PYTHON, "-c", NAMING, *ODD_NAMES, hz=499)
        self.check_consumers(*run.paths)
        with open(run.paths[0], "rb") as file:
            data = file.read()
        # A thread is called python3 until it has given itself a name.
        last = {sample.tid: sample.comm for sample in run.samples}
        named = {tid: comm for tid, comm in last.items() if comm != "python3"}
        want = {name: tid for name, text in ODD_NAMES.items() for tid, comm in named.items()
                if comm == text.format(tid=tid)}
        self.assertEqual(set(want), set(ODD_NAMES), named)
        # Every consumer has as many samples of each thread as wick has.
        tids, pids, threads = [], [], []
        firefox.read(data, tids)
        stackcollapse.read(data, pids)
        speedscope.read(data, threads)
        by_tid = collections.Counter(sample.tid for sample in run.samples)
        self.assertEqual(collections.Counter(tids), by_tid)
        by_comm = collections.Counter(sample.comm for sample in run.samples)
        self.assertEqual(collections.Counter(comm.decode() for comm, _ in pids), by_comm)
        self.assertEqual(collections.Counter(int(thread.rpartition(" ")[2]) for thread in threads), by_tid)
        out = self.path("threads.folded")
        self.assertEqual(self.wick("flamegraph", "--group", "comm,tid", "--metric", "samples", "-o", out,
                                   run.paths[0]).returncode, 0)
        seen = collections.defaultdict(collections.Counter)
        with open(out, encoding="utf-8") as file:
            for line in file:
                stack, count = line.rstrip("\n").rsplit(" ", 1)
                comm, tid = stack.split(";")[:2]
                seen[int(tid)][comm] += int(count)
        self.assertEqual({tid: sum(counts.values()) for tid, counts in seen.items()}, dict(by_tid))
        for name, tid in want.items():  # the name as it was; folded stacks cannot hold a `;`
            own = (name or f":{tid}").replace(";", ":")
            self.assertEqual(seen[tid][own], sum(
                sample.tid == tid and sample.comm == named[tid] for sample in run.samples), (name, seen[tid]))

    def test_a_function_has_one_name_in_all_of_a_rotated_recording(self):
        need("g++")
        source, program = self.write("t.cpp", TEMPLATES), self.path("t")
        subprocess.run(["g++", "-O1", "-g", source, "-o", program], check=True)
        run = self.record(program, hz=249, options=("--rotate", "40samples"))
        self.assertGreater(len(run.paths), 2)
        self.assertGreater(os.path.getsize(run.paths[0]), 0)
        rows = json.loads(self.wick("report", "--json", "--top", "0", *run.paths).stdout)
        names = [row["name"] for row in rows["functions"] if row["name"].startswith("work<")]
        self.assertEqual(sorted(names), ["work<TableRow>", "work<table>"])

    def test_inline_metrics_are_on_every_event(self):
        run = self.record(target("ratio"), SECONDS, options=("--metrics-as", "inline"), hz=199)
        events = [line for line in text_of(run.paths[0]).splitlines() if " cpu-clock:" in line]
        declared = notes(run.paths[0], "wick")[0]["metrics"]
        self.assertGreaterEqual(len(declared), 11)
        self.assertEqual(len(events), len(run.samples))
        for line in events:
            self.assertRegex(line, r"^running +\d")
            self.assertEqual(len(re.findall(r"\tmetric_wick_\w+: -?\d+, -?\d+", line)), len(declared), line)

    def test_metrics_are_on_every_sample(self):
        run = self.record(target("ratio"), SECONDS)
        last = {}
        for sample in run.samples:
            self.assertEqual(sample.state, "running")
            for name in ("cpu_ns", "minflt", "majflt", "vcsw", "ivcsw", "stack_bytes", "rss_kib"):
                value, delta = sample.metrics[name]
                if (sample.tid, name) in last:
                    self.assertEqual(delta, value - last[sample.tid, name])
                else:
                    self.assertEqual(delta, 0)
                last[sample.tid, name] = value
        only = self.record(target("split"), 0.5, options=("--metrics", "cpu_ns,rss_kib"))
        self.assertEqual(set(only.samples[0].metrics), {"cpu_ns", "rss_kib"})


if __name__ == "__main__":
    unittest.main()
