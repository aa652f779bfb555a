"""Sums of -e alloc: what programs say they took, as chance allows of so many samples.

The rings of a program that does nothing else are full within milliseconds: where wick is kept from
emptying them, events are lost, or fewer of them are sampled.
"""
import collections
import math
import os
import unittest

from judged import Judged
from recorded import LONG, target
from test_alloc import ALLOCATORS, LIBRARIES, NO_BUDGET, AllocCase, operations

PROGRAMS = 20
MOST_CHANCE = 0.1
MOST_WAIT_S = 0.03  # of wick, for a processor


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


def scatter_of(weights):
    """One deviation of what chance makes of their sum, as a part of it."""
    return math.sqrt(sum(weight**2 for weight in weights)) / sum(weights)


class Memory(Judged, AllocCase):
    def record(self, *command, **options):
        """Each of the recordings by itself."""
        return self.conclusive(lambda: super(Memory, self).record(*command, **options), wick_s=MOST_WAIT_S)[0]

    def assert_sum(self, runs, weights, true):
        """Of what RUNS sampled, as chance allows of so many samples (four deviations), and what was lost,
        which is counted."""
        weights = list(weights)
        chance = 4 * scatter_of(weights)
        lost = 2 * sum(run.end["lost_events"] for run in runs) / len(weights)
        self.assertLessEqual(chance, MOST_CHANCE, "too few samples")
        self.assert_near(sum(weights) / true, 1, chance=chance, exact=lost, what="sum")

    def test_sum_of_twenty_programs_is_within_3_percent(self):
        """What chance makes of the sum of 20,000 samples has a deviation of 0.7 %."""
        runs = [self.allocs(seed, 20000 if LONG else 16000, options=("-e", "alloc=8K", "--max-overhead", "off"))
                for seed in range(1, PROGRAMS + 1)]
        weights = [sample.weight for run in runs for sample in run.samples if sample.weight > 0]
        self.assertGreaterEqual(len(weights), 20000)
        self.assert_sum(runs, weights, sum(int(run.stdout) for run in runs))

    def test_leak_of_one_percent_is_on_top_of_the_live_file(self):
        run, path, live = self.live_and_all(target("allocs"), "5", "120000", "leak")
        by_function = collections.Counter()
        for sample in live:
            by_function[sample.frames[0].symbol] += sample.weight
        self.assertEqual(by_function, still_live(run))
        self.assertEqual(by_function.most_common(1)[0][0], "leak_some")
        leaked = run.weight(lambda sample: sample.frames[0].symbol == "leak_some")
        self.assertLess(leaked / run.weight(), 0.03)
        self.assertEqual({sample.event for sample in live}, {"alloc"})
        # Stamps of a thread are made distinct in each file, for which they may run ahead by 10 ms.
        taken = collections.defaultdict(list)
        for sample in run.samples:
            taken[sample.tid, sample.weight, tuple(sample.frames)].append(sample.time_ns)
        self.assertEqual([s for s in live if not any(
            abs(s.time_ns - time_ns) <= 10**7 for time_ns in taken[s.tid, s.weight, tuple(s.frames)])], [])
        self.assertEqual({op for op, _ in operations(path)}, {"alloc"})
        self.assertIn(f"live        {len(live)} samples", run.summary)

    def test_heap_far_larger_than_the_table(self):
        blocks = 400_000 if LONG else 200_000
        run, _, live = self.live_and_all(target("allocs"), "1", str(blocks), "heap", options=("-e", "alloc=1K"))
        self.assertLess(len(live), 32768)
        self.assert_sum([run], (sample.weight for sample in live
                                if sample.frames[0].symbol == "keep_all"), blocks * 1000)
        self.assertIn(b"\n", run.stdout)

    def test_memory_that_is_moved_keeps_what_it_stands_for(self):
        run, _, live = self.live_and_all(target("allocs"), "1", "50", "remap", options=("-e", "alloc=1K"))
        # One MiB is sampled once, which is off by how far the next sample is: a thousandth of it in the mean.
        moved = run.weight(lambda sample: sample.frames[0].symbol == "remap")
        self.assertAlmostEqual(moved / int(run.stdout), 1, delta=0.05, msg=run.summary)
        weights = [s.weight for s in run.samples if s.frames[0].symbol == "remap" and s.weight > 0]
        self.assertEqual((len(weights), len(set(weights))), (51, 1), run.summary)
        self.assertEqual([s for s in live if s.frames[0].symbol == "remap"], [])

    def test_operators_of_cxx_count_once(self):
        """Some thousand samples: one run has a deviation of 3 to 4 %."""
        runs = [self.record(target("operators"), "2000", options=(*NO_BUDGET, "-e", "alloc=8K")) for _ in range(10)]
        self.assert_sum(runs, (sample.weight for run in runs for sample in run.samples),
                        sum(int(run.stdout) for run in runs))

    def test_other_allocators_give_the_same_sums(self):
        for name in ALLOCATORS:
            if not os.path.exists(LIBRARIES + name):
                print(f"skipped: {name} is not installed")
                continue
            with self.subTest(allocator=name):
                runs, weights = [], []
                # One of them has 400 to 800 samples, by how soon its rings are emptied.
                for seed in range(4, 24):
                    if weights and 4 * scatter_of(weights) < MOST_CHANCE:
                        break
                    command = "env", "LD_PRELOAD=" + LIBRARIES + name, target("allocs"), str(seed), "20000"
                    run, _, live = self.live_and_all(*command)
                    runs.append(run)
                    weights += [sample.weight for sample in run.samples if sample.comm == "allocs"]
                    left = [s for s in live if s.frames[0].symbol in ("take", "run")]
                    self.assertLessEqual(len(left), run.end["lost_events"])
                self.assert_sum(runs, weights, sum(int(run.stdout) for run in runs))


if __name__ == "__main__":
    unittest.main()
