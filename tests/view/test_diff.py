#!/usr/bin/env python3
"""test_diff.py - `wick diff` on files: a planted regression is flagged, the unchanged is not

  WICK: the program; WICK_LONG=1 with WICK_TARGETS: also 20 recordings of a program that runs
"""
import csv
import json
import os
import random
import subprocess
import tempfile
import unittest

WICK = os.environ["WICK"]
FUNCTIONS = [f"work_{i}" for i in range(30)]


def write_run(path, seed, seconds=50, extra=0.0):
    """perf text of SECONDS x 100 samples; EXTRA of them are work_7's on top.

    Each second does more of one thing than of the others, as programs do.
    """
    rng = random.Random(seed)
    with open(path, "w", encoding="ascii") as file:
        for second in range(seconds):
            favourite = rng.choice(FUNCTIONS)
            for i in range(100):
                name = favourite if rng.random() < 0.2 else rng.choice(FUNCTIONS)
                if rng.random() < extra:
                    name = "work_7"
                file.write(f"app 7/7 [000] {1000 + second}.{i:02d}0001: 1 cpu-clock: \n"
                           f"\t1000 {name}+0x1 (/bin/app)\n\t2000 main+0x1 (/bin/app)\n\n")


def diff(*arguments):
    return subprocess.run([WICK, "diff", "--no-index", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


class Diff(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_of(self, name, **how):
        path = os.path.join(self.folder.name, name)
        write_run(path, name, **how)
        return path

    def out(self, name):
        return os.path.join(self.folder.name, name)

    def test_flags_five_points_planted_in_one_function(self):
        before, after = self.run_of("a.perf"), self.run_of("b.perf", extra=0.053)
        done = diff(before, after, "-o", self.out("x.json"), "--all",
                    "--fail-if", "self(work_7)>+3%")
        self.assertEqual(done.returncode, 10, done.stderr)
        self.assertIn("more than chance", done.stderr)
        with open(self.out("x.json"), encoding="utf-8") as file:
            found = json.load(file)
        self.assertEqual(found["before"]["samples"], 5000)
        flagged = [function["name"] for function in found["functions"] if function["significant"]]
        self.assertEqual(flagged, ["work_7"])
        change = next(function["self"]["change"] for function in found["functions"]
                      if function["name"] == "work_7")
        self.assertAlmostEqual(change, 0.05, delta=0.015)
        self.assertEqual(len(found["functions"]), 31)

    def test_says_the_same_every_time(self):
        before, after = self.run_of("a.perf", seconds=9), self.run_of("b.perf", seconds=12)
        self.assertEqual(diff(before, after).stdout, diff(before, after).stdout)

    def test_met_is_not_enough(self):
        before, after = self.run_of("a.perf", seconds=6), self.run_of("b.perf", seconds=6)
        done = diff(before, after, "--fail-if", "total(*)>+0.01%")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("may be chance", done.stderr)

    def test_compares_two_times_of_one_recording(self):
        path = self.run_of("a.perf", seconds=80)
        with open(path, encoding="ascii") as file:
            text = file.read()
        at = text.index("app 7/7 [000] 1040.000001")
        with open(path, "w", encoding="ascii") as file:
            file.write(text[:at] + text[at:].replace("work_3+", "work_4+"))
        done = diff(path, "--time", "40-80", "--against", "0-40", "-o", self.out("x.csv"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.out("x.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["function"] for row in rows if row["significant"] == "yes"},
                         {"work_3", "work_4"})
        self.assertEqual(float(rows[0]["self_after"]) == 0 or float(rows[1]["self_after"]) == 0,
                         True)

    def test_folded_stacks_have_no_chance(self):
        for name, n in (("a.folded", 90), ("b.folded", 50)):
            with open(self.out(name), "w", encoding="ascii") as file:
                file.write(f"main;f {n}\nmain;g {100 - n}\n")
        done = diff(self.out("a.folded"), self.out("b.folded"), "--fail-if", "self(g)>+3%")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cannot be told", done.stderr)
        self.assertIn("+40.00", done.stdout)

    def test_draws_and_writes_tables(self):
        before, after = self.run_of("a.perf", seconds=6), self.run_of("b.perf", seconds=6,
                                                                     extra=0.3)
        for name, holds in (("x.svg", "work_7"), ("x.md", "| **`work_7`**"),
                            ("x.txt", "work_7")):
            done = diff(before, after, "-o", self.out(name))
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(self.out(name), encoding="utf-8") as file:
                self.assertIn(holds, file.read())

    def test_refuses_what_makes_no_sense(self):
        path = self.run_of("a.perf", seconds=3)
        for arguments in ([], [path], [path, path, path], [path, "--time", "0-1"],
                          [path, path, "--fail-if", "total(f)=3%"], [path, path, "--top", "0"],
                          [path, path, "--significant", "2"], [path, path, "-o", "x.docx"]):
            done = diff(*arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assertNotEqual(done.stderr, "")

    @unittest.skipUnless(os.environ.get("WICK_LONG"), "20 recordings take minutes: with --long")
    def test_flags_nothing_in_20_runs_of_the_unchanged_program(self):
        program = os.path.join(os.environ["WICK_TARGETS"], "split")
        flagged = []
        runs = []
        for i in range(21):
            path = self.out(f"run{i}.perf")
            subprocess.run([WICK, "record", "-q", "-F", "999", "-o", path, "--", program, "6"],
                           check=True, stdout=subprocess.DEVNULL)
            runs.append(path)
        for before, after in zip(runs, runs[1:]):
            done = diff(before, after, "-o", self.out("x.json"), "--all")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(self.out("x.json"), encoding="utf-8") as file:
                found = json.load(file)
            self.assertNotIn("no_significance", found)
            flagged += [function["name"] for function in found["functions"]
                        if function["significant"]]
            os.unlink(self.out("x.json"))
        self.assertEqual(flagged, [])


if __name__ == "__main__":
    unittest.main()
