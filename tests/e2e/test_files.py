"""Files: flush, rotation, compression, hooks, what is kept, and that every consumer reads them."""
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import time
import unittest

from recorded import LONG, WICK, Case, read, target

COMPAT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compat",
                      "check_compat.py")
SECONDS = 1 if LONG else 0.4  # of a part of ratio


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

    def test_compression_and_hook(self):
        log = self.path("log")
        hook = f'echo "$0 $1" >> {log}; test -s "$1"'
        run = self.wick("record", "-F", 249, "-o", self.path("z.perf"), "--rotate", "15samples",
                        "--compress", "gz", "--on-rotate", hook, "--", target("split"), 0.8)
        self.assertEqual(run.returncode, 0, run.stderr)
        paths = sorted(glob.glob(self.path("z.*.perf.gz")))
        self.assertGreaterEqual(len(paths), 3)
        with open(log, encoding="utf-8") as file:
            self.assertEqual(file.read().split("\n")[:-1], ["wick " + path for path in paths])
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
        other = self.path("k.0000.perf")
        with open(other, "w", encoding="ascii") as file:
            file.write("not ours\n")
        # A busy machine may merge most of the 299 ticks.
        self.wick("record", "-F", 249, "-o", self.path("k.perf"), "--rotate", "15samples", "--keep", "3",
                  "--", target("split"), 1.2)
        left = sorted(glob.glob(self.path("k.*.perf")))
        self.assertIn(other, left)
        self.assertLessEqual(len(left), 1 + 4)
        self.assertGreaterEqual(len(left), 1 + 3)

    def test_live_file_always_ends_on_a_whole_sample(self):
        path = self.path("live.perf")
        with subprocess.Popen([WICK, "record", "-q", "-F", "249", "--flush", "50ms", "-o", path,
                               "--", target("split"), "3"], stdout=subprocess.DEVNULL) as wick:
            sizes = set()
            while wick.poll() is None:
                if os.path.exists(path) and os.path.getsize(path):
                    sizes.add(len(read(path)))  # raises where a sample is cut
                time.sleep(0.01)
        self.assertGreater(len(sizes), 10)

    def test_consumers_load_what_was_recorded(self):
        for options in ((), ("--ns",), ("--metrics", "none"), ("--bare",)):
            run = self.record(target("ratio"), SECONDS, options=options, hz=199)
            extra = ["--bare"] if "--bare" in options else []
            check = subprocess.run([sys.executable, COMPAT, *extra, *run.paths],
                                   capture_output=True, text=True, check=False)
            self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
            self.assertTrue(run.samples)

    def test_inline_metrics_are_on_every_event(self):
        run = self.record(target("ratio"), SECONDS, options=("--metrics-as", "inline"), hz=199)
        with open(run.paths[0], encoding="utf-8") as file:
            lines = file.readlines()
        events = [line for line in lines if " cpu-clock:" in line]
        head = next(line for line in lines if line.startswith("# wick : "))
        declared = json.loads(head[len("# wick : "):])["metrics"]
        self.assertGreaterEqual(len(declared), 11)
        self.assertEqual(len(events), len(run.samples))
        for line in events:
            self.assertRegex(line, r"^running +\d")
            self.assertEqual(len(re.findall(r"\tmetric_wick_\w+: -?\d+, -?\d+", line)), len(declared), line)

    def test_metrics_are_on_every_sample(self):
        run = self.record(target("ratio"), 1)
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
