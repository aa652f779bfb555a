"""What a recording costs stays within its budget, and the totals stay right."""
import ctypes
import os
import re
import time
import unittest

from judged import Judged, chance_of
import procfs
from recorded import LONG, WICK, end_of, notes, read, target, wait_for

SEIZE, INTERRUPT, CONT, DETACH = 0x4206, 0x4207, 7, 17
STOPPED_THREAD = 0x40000000  # __WALL


def chance(run):
    """How far the weights' sum may be off, as a part of it, where samples hit threads at random."""
    return chance_of([s.weight for s in run.samples]) / max(run.weight(), 1)


def cost(summary):
    """Percent of the program's CPU that wick takes in it: what the budget is of."""
    return float(re.search(r"cost +in the program ([\d.]+) %", summary).group(1))


class Budget(Judged):
    def crowd(self, n, seconds, load, hz, *options):
        run = self.cpu_run(target("crowd"), n, seconds, load, hz=hz, options=options)
        self.assertEqual(run.status, 0, run.summary)
        charged = float(run.stdout.split()[3])
        changes = notes(run.paths[0], "rate")
        percent = cost(run.summary)
        print(f"{n} threads, {hz} Hz, {' '.join(options) or 'as is'}: {run.weight() / hz / charged:.3f} "
              f"of {charged:.2f} s in {len(run.samples)} samples, cost {percent:.2f} %, "
              f"effective {[change['effective_hz'] for change in changes]} Hz")
        return run, run.weight() / hz / charged, percent

    @unittest.skipUnless(LONG, "60 s: ./check --long")
    def test_two_thousand_threads_at_999_hz_cost_one_percent(self):
        for engine, load in (("auto", 0.5), ("auto", 1.5), ("ctimer", 1.0)):
            with self.subTest(engine=engine, load=load):
                _, coverage, percent = self.crowd(2000, 60, load, 999, "--max-overhead", "1%",
                                                     "--engine", engine)
                self.assertLessEqual(percent, 1.2)
                self.assert_near(coverage, 1, exact=0.05)

    def check_lowered(self, run, hz):
        changes = notes(run.paths[0], "rate")
        self.assertTrue(changes, run.summary)
        self.assertLess(min(change["effective_hz"] for change in changes), hz)
        for change in changes:
            self.assertEqual((change["hz"], change["why"]), (hz, "budget"))
        self.assertIn("budget", run.summary)

    def test_totals_are_right_while_the_rate_is_lowered(self):
        """A budget that this cannot keep: the rate falls, the sums do not."""
        run, coverage, _ = self.crowd(300, 6, 0.6, 249, "--max-overhead", "0.2%")
        self.check_lowered(run, 249)
        self.assert_near(coverage, 1, exact=0.02, chance=chance(run))
        # A thread that runs on is hit evenly: what is left to chance is less than one of the last
        # samples' weight.  1 % does not lower it so far that this is a part of 3 s that matters.
        run = self.cpu_run(target("split"), 3, hz=999, options=("--max-overhead", "1%"))
        self.check_lowered(run, 999)
        self.assert_near(run.weight() / 999, 3, exact=0.15)

    def test_a_lowered_rate_is_not_taken_for_tick_aliasing(self):
        """Samples of a lower rate weigh more, which is no sign that ticks find only one place."""
        for _ in range(3):
            run = self.cpu_run(target("split"), 4, hz=99, options=("--max-overhead", "0.01%"))
            self.check_lowered(run, 99)
            self.assertNotIn("tick aliasing", run.summary)

    def test_nothing_is_lowered_without_need_or_when_it_is_off(self):
        for options in (("--max-overhead", "10%"), ("--max-overhead", "off")):
            run = self.cpu_run(target("split"), 4 if LONG else 2, hz=99, options=options)
            self.assertEqual(notes(run.paths[0], "rate"), [], run.summary)
            self.assert_near(run.weight() / 99, 4 if LONG else 2, exact=0.1)

    def test_rings_keep_to_the_memory_that_there_may_be(self):
        """A quarter of 4M is one chunk of 16 slots; threads without a slot are counted."""
        run = self.cpu_run(target("crowd"), 200, 2, 0.6, hz=249, options=("--mem-limit", "4M"))
        self.assertEqual(run.status, 0, run.summary)
        charged = float(run.stdout.split()[3])
        found, lost = run.weight(), run.end["lost_noslot"]
        self.assertGreater(lost, 0)
        self.assertLessEqual(len({s.tid for s in run.samples}), 16)
        self.assert_near((found + lost) / 249 / charged, 1, exact=0.02, chance=chance_of([1] * (found + lost)) / (found + lost),
                         what="200 threads in 16 slots")

    def test_values_that_mean_nothing_are_refused(self):
        for option, value in (("--max-overhead", "0"), ("--max-overhead", "-1"),
                              ("--max-overhead", "101%"), ("--max-overhead", "1x"),
                              ("--max-overhead", ""), ("--mem-limit", "1K"),
                              ("--mem-limit", "much"), ("--breaker", "0"), ("--breaker", "1s:"),
                              ("--breaker", ":1s")):
            run = self.wick("record", option, value, "-o", self.path("no.perf"), "--", "true")
            self.assertEqual(run.returncode, 2, (option, value))
            self.assertIn(option.encode(), run.stderr)
            self.assertFalse(os.path.exists(self.path("no.perf")))


class Breaker(Judged):
    """The drain thread is held by ptrace, as a machine without a free processor would hold it."""

    def setUp(self):
        super().setUp()
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

    def ptrace(self, request, tid):
        if self.libc.ptrace(request, tid, None, None) != 0:
            raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")

    def drain_thread(self, pid):
        return wait_for(lambda: [tid for tid in procfs.tasks(pid) if procfs.comm(tid) == "wick-drain"])[0]

    def hold(self, tid, seconds, then=CONT):
        self.ptrace(INTERRUPT, tid)
        os.waitpid(tid, STOPPED_THREAD)
        time.sleep(seconds)
        self.ptrace(then, tid)

    def seize(self, *options, seconds):
        """A recording, its drain thread, which is traced from now on, and its file."""
        path = self.path("held.perf")
        wick = self.start(WICK, "record", "-F", "249", "-o", path, *options, "--", target("split"), seconds)
        tid = self.drain_thread(wick.pid)
        try:
            self.ptrace(SEIZE, tid)
        except OSError as error:
            self.skipTest(str(error))
        return wick, tid, path

    def test_a_collector_that_stays_behind_takes_a_break(self):
        wick, tid, path = self.seize("--breaker", "150ms:1s", seconds=6)
        until = time.monotonic() + 2.5
        while time.monotonic() < until:
            self.hold(tid, 0.25)
            time.sleep(0.02)
        self.hold(tid, 0, DETACH)
        _, stderr = wick.communicate(timeout=60)
        self.assertEqual(wick.returncode, 0, stderr)
        pauses = notes(path, "pause")
        self.assertTrue(pauses, stderr.decode())
        self.assertEqual((pauses[0]["paused"], pauses[0]["why"]), (True, "behind"))
        self.assertFalse(pauses[-1]["paused"], "it begins again")
        self.assertIn(b"lost_pause", stderr)
        lost = end_of(path)["lost_pause"]
        found = sum(s.weight for s in read(path)) + lost
        self.assertGreater(lost, 0)  # as many as the program used in that second
        self.assert_near(found / 249, 6, exact=0.9, what="held")

    def test_who_starves_says_so(self):
        wick, tid, path = self.seize("-q", seconds=8)
        time.sleep(0.5)
        self.hold(tid, 5.3, DETACH)
        _, stderr = wick.communicate(timeout=60)
        self.assertEqual(wick.returncode, 0, stderr)
        self.assertEqual(end_of(path)["starved"], 1)
        self.assertEqual(notes(path, "pause"), [], "once is no reason for a break")


if __name__ == "__main__":
    unittest.main()
