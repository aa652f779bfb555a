"""When files are begun, and how soon what was sampled is in them."""
import os
import time
import unittest

from judged import Judged
from recorded import WICK, read, target


class Files(Judged):
    def test_rotation_by_time(self):
        run, delay_s = self.wall_run(target("split"), 3.5, options=("--rotate", "1s"))
        self.assert_near(run.weight() / 99, 3.5, exact=0.03)
        self.assertGreater(len(run.paths), 2)
        files = [read(path) for path in run.paths]
        for samples, after in zip(files, files[1:]):
            # A file is begun with the first sample after its second, by whichever turn that is seen in.
            first_s, last_s, next_s = (at.time_ns / 1e9 for at in (samples[0], samples[-1], after[0]))
            self.assertLessEqual(last_s - first_s, 1.1 + delay_s, run.paths)
            self.assertGreaterEqual(next_s - first_s, 0.9 - delay_s, run.paths)

    def live(self):
        """How long a sample that is taken is not in the file, as --flush 50ms has it: at most."""
        path = self.path("live.perf")
        worst_s = last_ns = 0
        if os.path.exists(path):
            os.unlink(path)
        wick = self.start(WICK, "record", "-q", "-F", "249", "--flush", "50ms", "-o", path, "--", target("split"), 3)
        while wick.poll() is None:
            if os.path.exists(path) and os.path.getsize(path):
                before_ns = time.monotonic_ns()
                times = [sample.time_ns for sample in read(path)]
                if times and times[-1] != last_ns:
                    # The next one after what was seen before: it was not there yet, at least until now.
                    new = [at for at in times if at > last_ns]
                    worst_s = max(worst_s, (before_ns - new[0]) / 1e9) if last_ns else 0
                    last_ns = times[-1]
            time.sleep(0.01)
        self.assertEqual(wick.returncode, 0)
        return worst_s

    def test_what_is_sampled_is_in_the_file_soon(self):
        worst_s, reading = self.conclusive(self.live, delay_s=0.2)
        # A turn of the collector, the 50 ms, and one of our own looks.
        self.assert_near(worst_s, 0, exact=0.35, read=2 * reading.delay_s, what="the oldest sample that was not there")


if __name__ == "__main__":
    unittest.main()
