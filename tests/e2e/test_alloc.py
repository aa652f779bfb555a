#!/usr/bin/env python3
"""Memory: what programs take and give back, from -e alloc.

`allocs` says how many bytes it asked for; the rest is arithmetic over the samples.
"""
import os
import shutil
import subprocess
import unittest

import test_transparent
from recorded import LONG, PYTHON, WICK, Case, need, read, target, wait_for

NO_BUDGET = ("--max-overhead", "off")  # that is another suite's: samples would weigh more
LIBRARIES = "/usr/lib/x86_64-linux-gnu/"
ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2")
# Of test_transparent's commands, those that end soon; --long takes all.
SOON = ("not found inside", "trap", "perl fork", "python traceback", "gcc error", "crash",
        "abort", "closed descriptors")


def operations(path):
    """(op, process, address) of every sample of a file, in order: the reader keeps no keys."""
    with open(path, encoding="utf-8") as file:
        lines = [dict(word.split("=", 1) for word in line[4:].split())
                 for line in file if line.startswith("# s ")]
    return [(words["op"], words["on"]) for words in lines]


class AllocCase(Case):
    def allocs(self, seed, calls, *how, options=("-e", "alloc=16K")):
        return self.record(target("allocs"), str(seed), str(calls), *how, options=(*NO_BUDGET, *options))

    def live_and_all(self, *command, options=("-e", "alloc=16K")):
        """A run with --live, without the samples of its live file; and these."""
        run = self.record(*command, options=(*NO_BUDGET, *options, "--live"))
        path = run.paths.pop(0)
        self.assertTrue(path.endswith(".live.perf"), path)
        n_live = len(operations(path))
        live, run.samples = run.samples[:n_live], run.samples[n_live:]
        return run, path, live


class Alloc(AllocCase):
    def test_live_file_follows_the_program(self):
        code = ("import os, sys, time\nx = [bytes(100000) for _ in range(400)]\n"
                "def wait(path):\n while not os.path.exists(path): time.sleep(0.01)\n"
                "wait('half')\nx = None\nwait('end')")
        path = self.path("x.live.perf")
        process = self.start(WICK, "record", "-q", "-e", "alloc=64K", "--live", "--flush",
                             "50ms", "-o", "x.perf", "--", PYTHON, "-c", code)

        def live():  # the file is whole at any moment: read() says so
            return sum(s.weight for s in read(path)) if os.path.exists(path) else -1

        wait_for(lambda: live() > 35_000_000, what="more memory in use")
        self.write("half", "")
        wait_for(lambda: 0 <= live() < 8_000_000, what="less memory in use")
        self.write("end", "")
        self.assertEqual(process.wait(60), 0)
        self.assertEqual([name for name in os.listdir(self.dir) if name.endswith(".new")], [])

    def test_live_of_children_and_images_that_ended_stays(self):
        allocs = target("allocs")
        _, _, live = self.live_and_all(
            "sh", "-c", f"{allocs} 1 2000 heap; exec {allocs} 2 2000 heap")
        self.assertEqual(len({sample.pid for sample in live
                              if sample.frames[0].symbol == "keep_all"}), 2)

    def test_live_wants_memory_and_all_releases(self):
        for options in (("-e", "cpu"), ("-e", "alloc", "--top", "3"),
                        ("-e", "alloc", "--threads", "x")):
            process = self.wick("record", *options, "--live", "--", "true")
            self.assertEqual(process.returncode, 2, options)
            self.assertIn(b"--live", process.stderr)

    def test_everything_at_once(self):
        run = self.record(target("allocs"), "2", "20000", "threads",
                          options=("-e", "cpu,wall,alloc=64K,lock", "--live"))
        self.assertEqual(run.status, 0)
        names = sorted(path.rsplit("/", 1)[1].split(".", 1)[1] for path in run.paths)
        self.assertEqual(names, ["alloc.perf", "live.perf", "lock.perf", "perf"])
        events = {path.split(".", 1)[1]: {s.event for s in read(path)} for path in run.paths}
        self.assertEqual(events["alloc.perf"], {"alloc"})
        self.assertEqual(events["perf"], {"wall-clock"})

    def test_static_program_is_named(self):
        run = self.record(target("busy_static"), "0.1", options=("-e", "alloc"))
        self.assertEqual((run.status, run.samples), (0, []))
        self.assertRegex(run.summary, r"not sampled .*busy_static")

    def test_release_has_a_stack_and_a_negative_delta(self):
        run = self.allocs(3, 20000, "threads")
        frees = [(sample, before) for before, sample in zip(run.samples, run.samples[1:])
                 if sample.weight == 0]
        self.assertGreater(len(frees), 100)
        for sample, before in frees:
            names = [frame.symbol for frame in sample.frames]
            self.assertTrue({"give_back", "take"} & set(names) or "run" in names, names)
            if sample.tid == before.tid:
                value, delta = sample.metrics["heap_live_bytes"]
                self.assertLess(delta, 0)
                self.assertEqual(value - delta, before.metrics["heap_live_bytes"][0])
        # What the first thread took and the second gave back: minus in the second, plus in the first.
        last = {sample.tid: sample.metrics["heap_live_bytes"][0] for sample in run.samples}
        self.assertEqual(len(last), 2)
        self.assertLess(min(last.values()), 0)
        # Nothing is left but for what was lost on the way, which is counted.
        lost = run.end["lost_events"]
        self.assertLessEqual(abs(sum(last.values())), lost * max(sample.weight for sample in run.samples),
                             f"{lost} lost\n{run.summary}")

    def test_child_gives_back_nothing_of_its_parent(self):
        run = self.allocs(3, 20000, "fork")
        parent = run.samples[0].pid
        self.assertEqual([s for s in run.samples if s.pid != parent and s.weight == 0], [])

    def test_clock_and_memory_have_a_file_each(self):
        run = self.record(target("allocs"), "2", "60000", hz=999, options=("-e", "cpu,alloc=64K"))
        self.assertEqual(len(run.paths), 2)
        events = {path: {sample.event for sample in read(path)} for path in run.paths}
        memory = next(path for path in run.paths if path.endswith(".alloc.perf"))
        self.assertEqual(events.pop(memory), {"alloc"})
        self.assertEqual(list(events.values()), [{"cpu-clock"}])
        clock = next(iter(events))
        self.assertNotIn("heap_live_bytes", read(clock)[0].metrics)
        first, last = read(memory)[0], read(memory)[-1]
        self.assertEqual(first.metrics["heap_live_bytes"][1], 0)
        self.assertLess(first.time_ns, read(clock)[-1].time_ns)
        self.assertGreater(last.time_ns, read(clock)[0].time_ns)

    def test_program_sees_nothing_of_the_hooks(self):
        command = ["sh", "-c", "env | grep -c 'LD_PRELOAD\\|WICK_SOCKET' ; env LD_PRELOAD= true; exit 3"]
        process = self.wick("record", "-e", "alloc", "-o", self.path("x.perf"), "--", *command)
        self.assertEqual(process.stdout, b"0\n")
        self.assertEqual(process.returncode, 3)
        self.assertNotIn(b"ld.so", process.stderr)

    def test_program_with_its_own_allocator_keeps_it(self):
        process = self.wick("record", "-e", "alloc=1K", "-o", self.path("own.perf"), "--", target("own_realloc"))
        self.assertEqual((process.returncode, process.stdout), (0, b"own\n"))

    def test_malloc_keeps_its_promises(self):
        bare = subprocess.run([target("heap_rules")], capture_output=True, check=True)
        self.assertTrue(bare.stdout.startswith(b"errno 0 aligned 0 zero 0 kept 0 usable 0\n"))
        for allocator in ("", *ALLOCATORS[:2]):  # mimalloc sets errno now and then by itself
            if allocator and not (LONG and os.path.exists(LIBRARIES + allocator)):
                continue
            command = ["env", "LD_PRELOAD=" + LIBRARIES + allocator] if allocator else []
            if allocator:
                bare = subprocess.run([*command, target("heap_rules")], capture_output=True,
                                      check=True)
            with self.subTest(allocator=allocator):
                run = self.record(*command, target("heap_rules"),
                                  options=("-q", "-e", "alloc=4K"))
                self.assertEqual((run.status, run.stdout, run.stderr), (0, bare.stdout, b""))
                self.assertGreater(len(run.samples), 100)

    def test_children_are_sampled_too(self):
        need("python3")
        run = self.record("sh", "-c", "/usr/bin/python3 -c 'x = [bytes(1000) for _ in range(50000)]'; true",
                          options=("-e", "alloc=64K"))
        self.assertGreater(run.weight(), 40_000_000)
        self.assertIn("python3", {sample.comm for sample in run.samples})

    def test_sizes_that_make_no_sense_are_refused(self):
        for text in ("alloc=12", "alloc=x", "alloc=", "cpu=3", "allocs"):
            process = self.wick("record", "-e", text, "--", "true")
            self.assertEqual(process.returncode, 2, text)
            self.assertRegex(process.stderr.decode(), "-e: ")


class Same(test_transparent.Transparent):
    """Under -e alloc everything runs to the same end, too."""

    def test_thirty_commands_behave_as_without_wick(self):
        ran = 0
        for name, words, _ in test_transparent.COMMANDS:
            command = [word.replace("{dir}", self.dir).replace("{targets}/", target(""))
                       for word in words]
            if not shutil.which(command[0]) or not (LONG or name in SOON):
                continue
            with self.subTest(command=name):
                bare = self.run_one(command)
                if "/repo" in " ".join(command):
                    self.git_repository()
                under = self.wick("record", "-q", "-e", "alloc=64K,lock", "--live", "-o",
                                  self.path("out.%p.perf"), "--", *command,
                                  env={**os.environ, "HOME": self.dir, "LC_ALL": "C.UTF-8"})
                expected = bare.returncode if bare.returncode >= 0 else 128 - bare.returncode
                self.assertEqual((under.returncode, under.stdout, under.stderr),
                                 (expected, bare.stdout, bare.stderr))
                ran += 1
        self.assertGreaterEqual(ran, 30 if LONG else 8)


if __name__ == "__main__":
    unittest.main()
