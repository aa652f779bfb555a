#!/usr/bin/env python3
"""test_recorded.py - pictures of what has just been recorded, by perf and by wick, are true

  WICK, WICK_TARGETS: the program and the folder of the target programs
"""
import json
import os
import subprocess
import sys
import unittest

import equal

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from recorded import WICK, Case, need, target  # pylint: disable=wrong-import-position

PROGRAMS = {
    "sort": ["sh", "-c", "seq 1 150000 | sort -R"],
    "gzip": ["sh", "-c", "head -c 4000000 /dev/urandom | gzip -9"],
    "python": ["python3", "-c", "sum(i * i for i in range(1500000))"],
    "awk": ["awk", "BEGIN { for (i = 0; i < 900000; i++) a[i % 997] += i }"],
    "split": [target("split"), "0.4"],
}
FIELDS = ("comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso", "comm,tid,time,event,ip,sym,dso",
          "comm,pid,tid,time,period,event,ip,sym,dso", "comm,tid,cpu,time,event,ip,sym,symoff,dso",
          "comm,pid,tid,time,ip,sym,dso")


class Recorded(Case):
    def check(self, path, n_metrics=None):
        comparison = equal.Comparison(WICK, self.dir, n_metrics)
        n = comparison.file(path)
        self.assertGreater(n, 5, path)
        self.assertEqual(comparison.n_bad, 0, path)

    def test_perf_script_of_five_programs(self):
        need("perf")
        for (name, command), fields in zip(PROGRAMS.items(), FIELDS, strict=True):
            done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "999", "-g",
                                   "--sample-cpu", "-o", self.path(name), "--", *command],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  check=False)
            if not os.path.exists(self.path(name)):
                self.skipTest(f"perf cannot record here: {done.stderr.strip()}")
            with open(self.path(name + ".perf"), "wb") as file:
                subprocess.run(["perf", "script", "-i", self.path(name), "-F", fields], stdout=file,
                               stderr=subprocess.DEVNULL, check=True)
            with self.subTest(program=name, fields=fields):
                self.check(self.path(name + ".perf"))

    def recorded(self, *command, options=(), hz=99):
        run = self.record(*command, options=("-q", *options), hz=hz)
        self.assertEqual(run.status, 0, run.summary)
        return run.paths[0]

    def test_recordings_of_wick(self):
        self.check(self.recorded(*PROGRAMS["split"], hz=499), 2)
        self.check(self.recorded(target("wall_shares"), options=("-e", "wall"), hz=199), 1)

    def test_what_one_function_takes_and_another_gives_back(self):
        run = self.record(target("take_give"), "200", options=("-q", "-e", "alloc=1K"))
        (path,) = run.paths
        taken, given = map(int, run.stdout.split())
        self.check(path, 2)
        for measure, give_is_loss in (("heap_live_bytes:delta", True), ("heap_live_bytes:loss", False)):
            shown = equal.look(WICK, "flamegraph", path, ["--metric", measure], self.dir)
            moved = {"take": [0, 0], "give": [0, 0]}
            for frames, node in equal.frames_of(shown).items():
                for name, _, _ in frames[-1:]:
                    if name in moved:
                        moved[name] = [a + b for a, b in zip(moved[name], node[:2], strict=True)]
            print(f"took {taken}, gave {given}, {measure}: {json.dumps(moved)}")
            # Blocks of 100 times the period are all sampled; their estimate is off by 0.01 %.
            self.assertAlmostEqual(moved["take"][0], taken if give_is_loss else 0,
                                   delta=taken / 500)
            self.assertAlmostEqual(moved["give"][1 if give_is_loss else 0], given,
                                   delta=given / 500)
            self.assertEqual(moved["take"][1], 0)
            self.assertEqual(moved["give"][0 if give_is_loss else 1], 0)

    def test_states_split_a_stack_that_waits_and_computes(self):
        path = self.recorded(target("take_give"), "0", "60", options=("-e", "wall"), hz=249)
        by_state = {}
        for groups in ([], ["--group", "state"]):
            shown = equal.look(WICK, "flamegraph", path, groups, self.dir)
            for frames, node in equal.frames_of(shown).items():
                if [name for name, _, _ in frames[-2:]] == ["main", "work"]:
                    state = frames[0][0] if groups else "all"
                    by_state[state] = by_state.get(state, 0) + node[0]
        print(json.dumps(by_state))
        whole = by_state.pop("all")
        self.assertEqual(sum(by_state.values()), whole)
        # 60 rounds sleep 5 ms and compute 5 ms each; how long they wait for a processor is the machine's affair.
        least = 60 * 0.005 * 249 / 2
        self.assertGreater(by_state["sleeping"], least)
        self.assertGreater(by_state["running"], least)


if __name__ == "__main__":
    unittest.main()
