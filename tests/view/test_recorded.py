#!/usr/bin/env python3
"""test_recorded.py - pictures of what has just been recorded, by perf and by wick, are true

  WICK, WICK_TARGETS: the program and the folder of the target programs
"""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import equal
import reference

WICK = os.environ["WICK"]
TARGETS = os.environ["WICK_TARGETS"]

PROGRAMS = {
    "sort": ["sh", "-c", "seq 1 150000 | sort -R"],
    "gzip": ["sh", "-c", "head -c 4000000 /dev/urandom | gzip -9"],
    "python": ["python3", "-c", "sum(i * i for i in range(1500000))"],
    "awk": ["awk", "BEGIN { for (i = 0; i < 900000; i++) a[i % 997] += i }"],
    "split": [os.path.join(TARGETS, "split"), "0.4"],
}
FIELDS = ("comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso", "comm,tid,time,event,ip,sym,dso",
          "comm,pid,tid,time,period,event,ip,sym,dso", "comm,tid,cpu,time,event,ip,sym,symoff,dso",
          "comm,pid,tid,time,ip,sym,dso")


class Recorded(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def at(self, name):
        return os.path.join(self.folder, name)

    def check(self, path, n_metrics=None):
        comparison = equal.Comparison(WICK, self.folder, n_metrics)
        n = comparison.file(path)
        self.assertGreater(n, 5, path)
        self.assertEqual(comparison.n_bad, 0, path)

    def test_perf_script_of_five_programs(self):
        if not shutil.which("perf"):
            self.skipTest("perf is not installed")
        for (name, command), fields in zip(PROGRAMS.items(), FIELDS, strict=True):
            done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "999", "-g",
                                   "--sample-cpu", "-o", self.at(name), "--", *command],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  check=False)
            if not os.path.exists(self.at(name)):
                self.skipTest(f"perf cannot record here: {done.stderr.strip()}")
            with open(self.at(name + ".perf"), "wb") as file:
                subprocess.run(["perf", "script", "-i", self.at(name), "-F", fields], stdout=file,
                               stderr=subprocess.DEVNULL, check=True)
            with self.subTest(program=name, fields=fields):
                self.check(self.at(name + ".perf"))

    def record(self, name, *arguments):
        subprocess.run([WICK, "record", "-q", "-o", self.at(name), *arguments], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self.at(name)

    def test_recordings_of_wick(self):
        self.check(self.record("cpu.perf", "-F", "499", "--", *PROGRAMS["split"]), 2)
        self.check(self.record("wall.perf", "-e", "wall", "-F", "199", "--",
                               os.path.join(TARGETS, "wall_shares")), 1)

    def test_what_one_function_takes_and_another_gives_back(self):
        program = self.at("take_give")
        source = program + ".c"
        with open(source, "w", encoding="ascii") as file:
            file.write("""#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) void *take_f(void) {
	char *p = malloc(1000000); memset(p, 1, 4096); __asm__ volatile("" ::: "memory"); return p; }
__attribute__((noinline)) void give_g(void *p) { free(p); __asm__ volatile("" ::: "memory"); }
int main(void) {
	void *kept[50];
	for (int i = 0; i < 50; i++) kept[i] = take_f();
	for (int i = 0; i < 50; i++) give_g(kept[i]);
	return 0; }
""")
        subprocess.run(["cc", "-O1", "-g", "-fno-builtin", "-fno-optimize-sibling-calls", "-o",
                        program, source], check=True)
        path = self.record("alloc.perf", "-e", "alloc", "--", program)
        recording = reference.Recording(path)
        metrics = {name for sample in recording.samples for name in sample.metrics}
        self.assertIn("heap_live_bytes", metrics)
        self.check(path, 2)
        shown = equal.look(WICK, "flamegraph", path, ["--metric", "heap_live_bytes:delta"],
                           self.folder)
        moved = {"take_f": [0, 0], "give_g": [0, 0]}
        for frames, node in equal.frames_of(shown).items():
            for name, _, _ in frames[-1:]:
                if name in moved:
                    moved[name][0] += node[0]
                    moved[name][1] += node[1]
        print(json.dumps(moved))
        self.assertGreater(moved["take_f"][0], moved["take_f"][1])
        self.assertGreater(moved["give_g"][1], moved["give_g"][0])
        self.assertAlmostEqual(moved["take_f"][0], 50_000_000, delta=5_000_000)
        self.assertAlmostEqual(moved["give_g"][1], 50_000_000, delta=5_000_000)


if __name__ == "__main__":
    unittest.main()
