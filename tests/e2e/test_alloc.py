#!/usr/bin/env python3
"""Memory: what programs take and give back, from -e alloc.

`allocs` says how many bytes it asked for; the rest is arithmetic over the samples.
"""
import collections
import re
import unittest

from recorded import Case, need, read, target

PROGRAMS = 20


def operations(path):
    """(op, process, address) of every sample of a file, in order: the reader keeps no keys."""
    with open(path, encoding="utf-8") as file:
        lines = [dict(word.split("=", 1) for word in line[4:].split())
                 for line in file if line.startswith("# s ")]
    return [(words["op"], words["on"]) for words in lines]


def still_live(run):
    """Bytes by the function that took them, of what no sample gave back."""
    live = {}
    for (op, address), sample in zip(operations(run.paths[0]), run.samples):
        key = sample.pid, address
        if op == "alloc":
            live[key] = sample
        else:
            live.pop(key, None)
    by_function = collections.Counter()
    for sample in live.values():
        by_function[sample.frames[0].symbol] += sample.weight
    return by_function


class Alloc(Case):
    def allocs(self, seed, calls, *how, options=("-e", "alloc=16K")):
        return self.record(target("allocs"), str(seed), str(calls), *how, options=options)

    def text(self, run):
        with open(run.paths[0], encoding="utf-8") as file:
            return file.read()

    def test_sum_of_twenty_programs_is_within_3_percent(self):
        true = estimate = samples = lost = 0
        for seed in range(1, PROGRAMS + 1):
            run = self.allocs(seed, 20000)
            lost += int(re.search(r'"lost_events":(\d+)', self.text(run)).group(1))
            true += int(run.stdout)
            estimate += run.weight()
            samples += sum(sample.weight > 0 for sample in run.samples)
        print(f"{samples} samples, {lost} lost: {estimate} bytes of {true} ({100 * estimate / true - 100:+.2f} %)")
        self.assertGreaterEqual(samples, 10000)
        self.assertAlmostEqual(estimate / true, 1, delta=0.03)

    def test_leak_of_one_percent_is_on_top_of_what_lives(self):
        run = self.allocs(5, 60000, "leak")
        by_function = still_live(run)
        print(dict(by_function))
        self.assertEqual(by_function.most_common(1)[0][0], "leak_some")
        taken = collections.Counter()
        for sample in run.samples:
            taken[sample.frames[0].symbol] += sample.weight
        self.assertLess(taken["leak_some"] / sum(taken.values()), 0.03)

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
        self.assertEqual(sum(last.values()), 0)

    def test_child_gives_back_nothing_of_its_parent(self):
        run = self.allocs(3, 20000, "fork")
        parent = run.samples[0].pid
        self.assertEqual([s for s in run.samples if s.pid != parent and s.weight == 0], [])

    def test_clock_and_memory_have_a_file_each(self):
        run = self.record(target("allocs"), "2", "60000", options=("-e", "cpu,alloc=64K"))
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


if __name__ == "__main__":
    unittest.main()
