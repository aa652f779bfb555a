#!/usr/bin/env python3
"""test_diff.py - `wick diff` on files: a planted regression is flagged, the unchanged is not

  WICK: the program; WICK_LONG=1 with WICK_TARGETS: also 25 recordings of a program that runs
"""
import csv
import json
import os
import random
import subprocess
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from recorded import LONG, WICK, Case, target  # pylint: disable=wrong-import-position

FUNCTIONS = [f"work_{i}" for i in range(30)]


def write_run(path, seed, seconds=50, extra=0.0, mood=0.0):
    """perf text of SECONDS x 100 samples; EXTRA of them are work_7's on top.

    Each second does more of one thing than of the others, as programs do.  MOOD of the samples
    are of a function that only this run favours: what one recording cannot know of itself.
    """
    rng = random.Random(seed)
    favoured = rng.choice(FUNCTIONS) if mood else None
    with open(path, "w", encoding="ascii") as file:
        for second in range(seconds):
            favourite = rng.choice(FUNCTIONS)
            for i in range(100):
                name = favourite if rng.random() < 0.2 else rng.choice(FUNCTIONS)
                if mood and rng.random() < mood:
                    name = favoured
                if rng.random() < extra:
                    name = "work_7"
                file.write(f"app 7/7 [000] {1000 + second}.{i:02d}0001: 1 cpu-clock: \n"
                           f"\t1000 {name}+0x1 (/bin/app)\n\t2000 main+0x1 (/bin/app)\n\n")


def diff(*arguments):
    return subprocess.run([WICK, "diff", "--no-index", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


class Diff(Case):
    def run_of(self, name, **how):
        path = self.path(name)
        write_run(path, name, **how)
        return path

    def test_flags_five_points_planted_in_one_function(self):
        before, after = self.run_of("a.perf"), self.run_of("b.perf", extra=0.053)
        done = diff(before, after, "-o", self.path("x.json"), "--all",
                    "--fail-if", "self(work_7)>+3%")
        self.assertEqual(done.returncode, 10, done.stderr)
        self.assertIn("more than chance", done.stderr)
        with open(self.path("x.json"), encoding="utf-8") as file:
            found = json.load(file)
        self.assertEqual(found["before"]["samples"], 5000)
        flagged = [function["name"] for function in found["functions"] if function["significant"]]
        self.assertEqual(flagged, ["work_7"])
        change = next(function["self"]["change"] for function in found["functions"]
                      if function["name"] == "work_7")
        self.assertAlmostEqual(change, 0.05, delta=0.015)
        self.assertEqual(len(found["functions"]), 31)

    def side(self, name, n, **how):
        folder = self.path(name)
        os.mkdir(folder)
        for i in range(n):
            write_run(os.path.join(folder, f"{i}.perf"), f"{name} {i}", seconds=8, **how)
        return folder

    def flagged(self, *arguments):
        """The functions that are flagged, with the whole of the JSON."""
        done = diff(*arguments, "-f", "-o", self.path("flagged.json"), "--all")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("flagged.json"), encoding="utf-8") as file:
            found = json.load(file)
        return [function["name"] for function in found["functions"]
                if function["significant"]], found

    def test_runs_that_differ_are_told_from_a_change_by_several_of_each(self):
        old, new = self.side("old", 7, mood=0.1), self.side("new", 7, mood=0.1)
        slower = self.side("slower", 7, mood=0.1, extra=0.15)
        self.assertNotEqual(self.flagged(f"{old}/0.perf", f"{new}/0.perf")[0], [])
        names, found = self.flagged("--baseline", old, new)
        self.assertEqual(names, [])
        self.assertEqual((found["block_ns"], found["permutations"]), (0, 3432))
        self.assertEqual((found["after"]["recordings"], found["after"]["samples"]), (7, 5600))
        names, _ = self.flagged("--baseline", old, slower)
        self.assertEqual(names, ["work_7"])
        done = diff("--baseline", old, slower, "--fail-if", "self(work_7)>+3%")
        self.assertEqual(done.returncode, 10)
        self.assertIn("permutations of whole recordings", done.stdout)

    def test_fewer_than_five_recordings_are_seconds_of_each(self):
        old, new = self.side("old", 4), self.side("new", 5, extra=0.1)
        names, found = self.flagged("--baseline", old, new)
        self.assertEqual(names, ["work_7"])
        self.assertEqual((found["block_ns"], found["before"]["blocks"]), (2 * 10**9, 16))

    def test_files_without_times_have_chance_when_there_are_five_of_each(self):
        for side, name, n in (("old", "f", 10), ("new", "g", 40)):
            os.mkdir(self.path(side))
            for i in range(5):
                with open(self.path(f"{side}/{i}.folded"), "w", encoding="ascii") as file:
                    file.write(f"main;f {100 - n - i}\nmain;g {n + i}\n")
        names, found = self.flagged("--baseline", self.path("old"), self.path("new"))
        self.assertEqual(sorted(names), ["f", "g"])
        self.assertEqual(found["permutations"], 252)

    def test_changes_below_the_least_are_not_looked_at(self):
        before, after = self.run_of("a.perf"), self.run_of("b.perf", extra=0.053)
        self.assertEqual(self.flagged(before, after, "--least", "8")[0], [])
        self.assertEqual(self.flagged(before, after, "--least", "0.5%")[0], ["work_7"])
        done = diff(before, after, "--least", "8", "--fail-if", "self(work_7)>+0.5%")
        self.assertEqual(done.returncode, 10, done.stderr)

    def test_a_recording_does_not_differ_from_itself(self):
        path = self.run_of("a.perf", seconds=6)
        names, found = self.flagged(path, path, "--least", "0")
        self.assertEqual(names, [])
        self.assertEqual({function["total"]["change"] for function in found["functions"]}, {0})
        for words in ([], ["--format", "md"]):
            said = diff(path, path, *words).stdout
            self.assertIn("Nothing changed", said)
            self.assertNotIn("changed less", said)
            self.assertNotIn("work_7", said)
        self.assertIn("work_7", diff(path, path, "--all").stdout)

    def test_a_format_is_the_same_by_its_name_as_by_a_files(self):
        before, after = self.run_of("a.perf", seconds=6), self.run_of("b.perf", seconds=6)
        for form in ("txt", "md", "csv", "json", "svg"):
            name = self.path(f"x.{form}")
            self.assertEqual(diff(before, after, "-o", name).returncode, 0)
            with open(name, encoding="utf-8") as file:
                self.assertEqual(diff(before, after, "--format", form).stdout, file.read(), form)
        diff(before, after, "--format", "csv", "-f", "-o", self.path("x.txt"))
        with open(self.path("x.txt"), encoding="utf-8") as file:
            self.assertEqual(diff(before, after, "--format", "csv").stdout, file.read())

    def test_says_which_recording_is_not_there(self):
        path = self.run_of("a.perf", seconds=3)
        for arguments in (["no.perf", path], [path, "no.perf"], ["--baseline", "no.perf", path],
                          ["no.perf", "neither.perf"]):
            done = diff(*arguments)
            self.assertEqual(done.returncode, 8, done.stderr)
            self.assertIn("'no.perf'", done.stderr)
            self.assertEqual(done.stdout, "")
        os.mkdir(self.path("empty"))
        done = diff("--baseline", self.path("empty"), path)
        self.assertIn("empty'", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_a_baseline_is_not_written_over(self):
        a, b = self.path("a.txt"), self.run_of("b.perf", seconds=3)
        write_run(a, "a", seconds=3)
        with open(a, "rb") as file:
            before = file.read()
        for arguments in (["--baseline", a, b], [a, b]):
            done = diff(*arguments, "-o", a)
            self.assertNotEqual(done.returncode, 0)
            with open(a, "rb") as file:
                self.assertEqual(file.read(), before)

    def test_what_is_measured_differently_is_not_compared(self):
        path = self.run_of("a.perf", seconds=3)
        with open(self.path("b.folded"), "w", encoding="ascii") as file:
            file.write("main;f 90\nmain;g 10\n")
        done = diff(path, self.path("b.folded"))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--metric samples", done.stderr)
        done = diff(path, self.path("b.folded"), "--metric", "samples")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no times", done.stdout)
        done = diff(path, path, "--metric", "cpu_ns")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cpu_ns", done.stderr)

    def test_says_the_same_every_time(self):
        before, after = self.run_of("a.perf", seconds=9), self.run_of("b.perf", seconds=12)
        self.assertEqual(diff(before, after).stdout, diff(before, after).stdout)

    def test_a_gate_holds_or_breaks_or_cannot_be_judged(self):
        """Rules, the exit status, and what is said of each; what cannot be judged is no success."""
        before, after = self.run_of("a.perf"), self.run_of("b.perf", extra=0.053)
        other = self.run_of("c.perf")
        short, slow = self.run_of("d.perf", seconds=3), self.run_of("e.perf", seconds=3, extra=0.3)
        broken, held, unjudged = "broken: work_7", "held", "cannot be judged"
        for files, rules, status, words in (
                ((before, after), ["self(work_7)>+3%"], 10, [broken]),
                ((before, after), ["self(work_7)>+50%"], 0, [held]),
                ((before, other), ["total(*)>+0.01%"], 0, ["held: .*may be chance"]),
                ((before, before), ["total(*)>+0%"], 0, [held]),
                ((short, slow), ["self(work_7)>+3%"], 11, [f"{unjudged}: .*too few seconds"]),
                ((short, slow), ["self(work_7)>+90%"], 11, [f"{unjudged}: .*too few seconds"]),
                ((before, after), ["self(nobody)>+1%"], 11, [f"{unjudged}: no such function"]),
                ((before, after), ["self(nobody)>+1%", "self(work_7)>+3%"], 10, [unjudged, broken]),
                ((before, after), ["self(work_7)>+3%", "self(nobody)>+1%"], 10, [broken, unjudged]),
                ((before, after), ["self(nobody)>+1%", "self(work_7)>+50%"], 11, [unjudged, held])):
            options = [word for rule in rules for word in ("--fail-if", rule)]
            done = diff(*files, *options)
            self.assertEqual(done.returncode, status, (rules, done.stderr))
            lines = done.stderr.splitlines()
            self.assertEqual(len(lines), len(rules), lines)
            for line, rule, word in zip(lines, rules, words):
                self.assertIn(rule, line)
                self.assertRegex(line, word)
            allowed = diff(*files, *options, "--allow-unjudged")
            self.assertEqual(allowed.returncode, 0 if status == 11 else status, allowed.stderr)

    def test_a_gate_is_not_passed_by_what_a_recording_lacks(self):
        before, after = self.run_of("a.perf"), self.run_of("b.perf")
        rule = ("--fail-if", "self(work_7)>+3%")
        for options in (["--metric", "cpu_ns"], ["--group", "nothing"], ["--only", "nobody"],
                        ["--time", "900s-"]):
            done = diff(before, after, *rule, *options)
            self.assertEqual(done.returncode, 11, (options, done.stderr))
            self.assertRegex(done.stderr, r"self\(work_7\)>\+3%: cannot be judged: .")
            self.assertEqual(diff(before, after, *rule, *options, "--allow-unjudged").returncode, 0)
        for status, files, options in ((8, (before, "no.perf"), []), (2, (before, after), ["--only", "("])):
            done = diff(*files, *rule, *options, "--allow-unjudged")
            self.assertEqual(done.returncode, status, done.stderr)

    def test_copies_that_a_compiler_makes_are_the_function(self):
        """Another build has made a copy of work_7, which is no change; names may be those of copies."""
        before, after = self.run_of("a.perf"), self.run_of("b.perf", extra=0.053)
        copied = self.path("copied.perf")
        with open(before, encoding="ascii") as file:
            text = file.read()
        with open(copied, "w", encoding="ascii") as file:
            file.write(text.replace("work_7+", "work_7.constprop.0.isra.1+"))
        self.assertEqual(self.flagged(before, copied, "--least", "0")[0], [])
        for rule, status in (("self(work_7)>+3%", 10), ("total(work_7.part.0)>+3%", 10),
                             ("self(work_7.part.x)>+3%", 11)):
            done = diff(copied, after, "--fail-if", rule)
            self.assertEqual(done.returncode, status, done.stderr)
        for pattern in ("^work_7$", r"^work_7\.constprop"):
            done = diff(before, copied, "--only", pattern)
            self.assertEqual(done.returncode, 0 if pattern.endswith("$") else 8, done.stderr)

    def test_compares_two_times_of_one_recording(self):
        path = self.run_of("a.perf", seconds=80)
        with open(path, encoding="ascii") as file:
            text = file.read()
        at = text.index("app 7/7 [000] 1040.000001")
        with open(path, "w", encoding="ascii") as file:
            file.write(text[:at] + text[at:].replace("work_3+", "work_4+"))
        done = diff(path, "--time", "40-80", "--against", "0-40", "-o", self.path("x.csv"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("x.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["function"] for row in rows if row["significant"] == "yes"},
                         {"work_3", "work_4"})
        self.assertEqual(float(rows[0]["self after"]) == 0 or float(rows[1]["self after"]) == 0,
                         True)

    def test_folded_stacks_have_no_chance(self):
        for name, n in (("a.folded", 90), ("b.folded", 50)):
            with open(self.path(name), "w", encoding="ascii") as file:
                file.write(f"main;f {n}\nmain;g {100 - n}\n")
        done = diff(self.path("a.folded"), self.path("b.folded"), "--fail-if", "self(g)>+3%")
        self.assertEqual(done.returncode, 11, done.stderr)
        self.assertIn("cannot be judged", done.stderr)
        self.assertIn("+40.00", done.stdout)

    def test_draws_and_writes_tables(self):
        before, after = self.run_of("a.perf", seconds=6), self.run_of("b.perf", seconds=6,
                                                                     extra=0.3)
        for name, holds in (("x.svg", "work_7"), ("x.md", "| **`work_7`**"),
                            ("x.txt", "work_7")):
            done = diff(before, after, "-o", self.path(name))
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(self.path(name), encoding="utf-8") as file:
                self.assertIn(holds, file.read())

    def test_refuses_what_makes_no_sense(self):
        path = self.run_of("a.perf", seconds=3)
        for arguments in ([], [path], [path, path, path], [path, "--time", "0-1"],
                          [path, path, "--fail-if", "total(f)=3%"],
                          [path, path, "--fail-if", "total(f)>3"],
                          [path, path, "--fail-if", "total(f)>-3%"],
                          [path, path, "--fail-if", "all(f)>3%"],
                          [path, path, "--fail-if", "total()>3%"],
                          [path, path, "--fail-if", "total(f>3%"], [path, path, "--fail-if", ""],
                          [path, path, "--least", "-1"], [path, path, "--least", "x"],
                          [path, path, "--least", "0x1"], [path, path, "--least", ""],
                          [path, path, "--top", "0"], [path, path, "--format", "docx"],
                          [path, path, "--format", "folded"],
                          [path, path, "--significant", "2"], [path, path, "-o", "x.docx"]):
            done = diff(*arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assertNotEqual(done.stderr, "")

    def real_run(self, *more):
        """A real run of 20 s of CPU: some 5,000 samples, as many as a kernel's tick of 250 Hz gives."""
        run = self.record(target("split"), 20, *more, hz=250, options=("-q",))
        self.assertEqual(run.status, 0, run.summary)
        return run.paths[0]

    @unittest.skipUnless(LONG, "25 recordings take minutes: with --long")
    def test_real_runs_of_the_unchanged_program_and_of_one_that_got_slower(self):
        runs = [self.real_run() for _ in range(20)]
        slower = [self.real_run("5.56") for _ in range(5)]
        pairs = [self.flagged(before, after)[0] for before, after in zip(runs, runs[1:])]
        # One in a hundred is chance's share: three of 19 would be one time in a thousand.
        self.assertLess(sum(names != [] for names in pairs), 3, pairs)
        for before, after in zip(runs, slower):
            self.assertIn("burn_ten", self.flagged(before, after)[0])
        base = [word for path in runs[::2] for word in ("--baseline", path)]
        self.assertEqual(self.flagged(*base, *runs[1::2])[0], [])
        self.assertIn("burn_ten", self.flagged(*base, *slower)[0])


if __name__ == "__main__":
    unittest.main()
