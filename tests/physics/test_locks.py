"""-e lock: how long locks were waited for, by which thread, and which thread released them."""
import bisect
import collections
import unittest

from judged import Judged
from recorded import target

Wait = collections.namedtuple("Wait", "lock waiter waker function us end_ns")

# Longer waits than this are told by both: the program's own clock and wick's differ by some us.
SURE_US = 30


def truth(stdout):
    waits = []
    for line in stdout.decode().splitlines():
        lock, waiter, waker, function, us, end_ns = line.split()
        waits.append(Wait(lock, int(waiter), int(waker), function, int(us), int(end_ns)))
    return waits


def functions(sample):
    return [frame.symbol for frame in sample.frames]


class ByEnd:
    """The recorded waits of each thread, found by when they ended."""

    def __init__(self, samples):
        self.samples = collections.defaultdict(list)
        for sample in samples:
            self.samples[sample.tid].append(sample)
        self.ends = {tid: [sample.time_ns for sample in of]
                     for tid, of in self.samples.items()}

    def find(self, wait):
        of = self.samples.get(wait.waiter, [])
        at = bisect.bisect_left(self.ends.get(wait.waiter, []), wait.end_ns)
        near = [sample for sample in of[max(0, at - 2):at + 2]
                if abs(sample.weight - wait.us) <= 500 + wait.us / 10]
        return min(near, key=lambda sample: abs(sample.time_ns - wait.end_ns), default=None)


class TwoLocks(Judged):
    def check_shares(self, run, waits):
        true_us = sum(wait.us for wait in waits)
        true_a = 100 * sum(wait.us for wait in waits if wait.lock == "a") / true_us
        weight = run.weight()
        found_a = 100 * run.weight(lambda s: "wait_for_a" in functions(s)) / weight
        found_b = 100 * run.weight(lambda s: "wait_for_b" in functions(s)) / weight
        for found, true, what in ((found_a, true_a, "lock a"), (found_b, 100 - true_a, "lock b")):
            self.assert_near(found, true, exact=1, what=what)
        self.assert_near(weight / true_us, 1, exact=0.02, what="waited in all")

    def check_wakers(self, run, waits):
        recorded = ByEnd(run.samples)
        waits = [wait for wait in waits if wait.us >= SURE_US]
        found = [(wait, recorded.find(wait)) for wait in waits]
        told = [(wait, sample) for wait, sample in found if sample]
        known = [(wait, sample) for wait, sample in told if sample.waker]
        right = [1 for wait, sample in known
                 if sample.waker[0] == wait.waker and sample.waker[1][:1] == [wait.function]]
        print(f"two_locks: {len(waits)} waits of {SURE_US} us and more, {len(told)} told, "
              f"{len(known)} with a waker, {len(right)} of these right")
        self.assertGreaterEqual(len(told), 0.99 * len(waits))
        self.assertGreaterEqual(len(known), 0.99 * len(told))
        self.assertGreaterEqual(len(right), 0.99 * len(known))

    def test_two_contended_mutexes(self):
        # A waiter's own clock and wick's end at another moment where it is preempted between the two.
        run, _ = self.conclusive(lambda: self.record(target("two_locks"), 3, options=("-e", "lock")),
                                 program_s=0.1)
        self.assertEqual(run.status, 0, run.summary)
        waits = truth(run.stdout)
        self.assertGreater(len(waits), 500)
        self.check_shares(run, waits)
        self.check_wakers(run, waits)
        locks = collections.defaultdict(set)
        for sample in run.samples:
            self.assertEqual((sample.event, sample.state, sample.wait),
                             ("lock", "sleeping", "mutex"))
            self.assertGreaterEqual(sample.weight, 10)
            # The third mutex is taken by run() itself, and always free.
            self.assertIn(sample.frames[0].symbol, ("wait_for_a", "wait_for_b"))
            locks[sample.frames[0].symbol].add(sample.on)
        self.assertEqual(sorted(map(len, locks.values())), [1, 1])

    def test_shorter_waits_than_asked_for_are_left_out(self):
        run = self.record(target("two_locks"), 0.5, options=("-e", "lock=1ms"))
        self.assertEqual(run.status, 0, run.summary)
        long_ones = [wait for wait in truth(run.stdout) if wait.us >= 1100]
        self.assertGreaterEqual(len(run.samples), len(long_ones))
        self.assertTrue(all(sample.weight >= 1000 for sample in run.samples))


if __name__ == "__main__":
    unittest.main()
