"""wick record -p: how soon a program that runs gives samples, and how long it is disturbed for."""
import concurrent.futures
import re
import time
import unittest

from judged import Judged
from procfs import state
from recorded import target, wait_for
from test_attach import AttachCase

MOST_LATE_S = 0.05
BEGUN_ANEW_MS = 150  # later is a wait of 400 ms that began anew


class Joining(Judged, AttachCase):
    def test_a_busy_program_gives_samples_at_once(self):
        with self.running(target("busy"), "60", ready=0.02) as program:
            def attach():
                start = time.monotonic_ns()
                return start, self.attach(program.pid, duration="1")

            (start, run), reading = self.conclusive(attach, wick_s=0.2, program_s=0.2)
            self.is_attached(run)
            self.assertTrue(run.samples, run.summary)
            # wick waits for processors, and so does the program.
            waited_s = reading.wick.total_s + reading.program.worst_s
            self.assert_near((run.samples[0].time_ns - start) / 1e9, 0, exact=1, read=waited_s, what="the first sample")
            self.assertEqual({sample.pid for sample in run.samples}, {program.pid})
            self.assertIn("main", {frame.symbol for frame in run.samples[0].frames})
            self.assertIsNone(program.poll())

    def test_the_cpu_is_all_there(self):
        """What it used before its first tick is not seen."""
        with self.running(target("busy"), "60", ready=0.02) as program:
            run, _ = self.conclusive(lambda: self.attach_busy(program.pid, cpu_s=1.5), stolen=0.1)
            self.assert_near(run.coverage, 1, exact=0.05)

    def once(self, kind):
        """What an attached program saw, and at the same time one without wick."""
        words = (target("attach_waits"), kind, "4", "400")
        with self.running(*words) as program, self.running(*words) as alone:
            wait_for(lambda: state(program.pid) == "S")
            for _ in range(3):
                self.is_attached(self.attach(program.pid, duration="0.1"))
            return [tuple(map(float, re.match(rb"failed (\d+) worst ([0-9.]+)", process.communicate(timeout=30)[0])
                              .groups())) for process in (program, alone)]

    def test_waits_of_every_kind(self):
        """They mostly wait: all at once."""
        kinds = ("sleep", "poll", "epoll_ever", "read")

        def all_at_once():
            with concurrent.futures.ThreadPoolExecutor() as pool:
                return list(pool.map(self.once, kinds))

        def disturbed(result):
            worst = max(alone for _, (_, alone) in result)
            return [f"one that was left alone was {worst:.0f} ms late"] * (worst > 1000 * MOST_LATE_S)

        result, _ = self.conclusive(all_at_once, disturbed)
        for kind, ((failed, worst), _) in zip(kinds, result):
            self.assertEqual(failed, 0, kind)
            self.assertLess(worst, BEGUN_ANEW_MS, kind)


if __name__ == "__main__":
    unittest.main()
