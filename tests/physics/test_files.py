"""When files are begun, and how soon what was sampled is in them."""
import os
import time
import unittest

from judged import Judged
from recorded import WICK, read, target

TURN_S = 0.4  # of the drain thread, the longest: files are begun at its turns


class Files(Judged):
    def test_rotation_by_time(self):
        run, reading = self.conclusive(lambda: self.record(target("split"), 3.5, options=("--rotate", "1s")),
                                       delay_s=0.1, program_s=0.1)
        late_s = reading.delay_s + reading.program_s
        self.assert_near(run.weight() / 99, 3.5, exact=0.03)
        self.assertGreater(len(run.paths), 2)
        files = [read(path) for path in run.paths]
        spans = [(samples[-1].time_ns - samples[0].time_ns) / 1e9 for samples in files]
        print(f"spans of files: {spans} s, late by {late_s:.3f} s", flush=True)
        # The first begins with the recording, before there are samples; the last ends with the program.
        self.assertLessEqual(max(spans), 1 + TURN_S + late_s)
        self.assertGreaterEqual(min(spans[1:-1]), 1 - TURN_S - late_s)

    def read_whole(self, path):
        """The samples of a file that grows: a write that is under way is seen in part."""
        with open(path, "rb") as file:
            text = file.read()
        whole = text[:text.rfind(b"\n\n") + 2] if b"\n\n" in text else b""
        return read(self.write("whole.perf", whole.decode()))

    def live(self):
        """How long a sample that is taken is not in the file, as --flush 50ms has it: at most."""
        path = self.path("live.perf")
        worst_s = last_ns = looked_ns = 0
        if os.path.exists(path):
            os.unlink(path)
        wick = self.start(WICK, "record", "-q", "-F", "249", "--flush", "50ms", "-o", path, "--", target("split"), 3)
        while wick.poll() is None:
            before_ns = time.monotonic_ns()
            if os.path.exists(path) and os.path.getsize(path):
                times = [sample.time_ns for sample in self.read_whole(path)]
                if times and times[-1] != last_ns:
                    # The first of the new ones was not there when the look before began to read.
                    new = min(at for at in times if at > last_ns)
                    worst_s = max(worst_s, (looked_ns - new) / 1e9) if last_ns else 0
                    last_ns = times[-1]
            looked_ns = before_ns
            time.sleep(0.01)
        self.assertEqual(wick.returncode, 0)
        # What came behind the last look; all of it, of a file that was never seen to grow.
        rest = [sample.time_ns for sample in self.read_whole(path) if sample.time_ns > last_ns]
        return max([worst_s] + [(looked_ns - at) / 1e9 for at in rest])

    def test_what_is_sampled_is_in_the_file_soon(self):
        worst_s, reading = self.conclusive(self.live, delay_s=0.2)
        print(f"not in the file: {worst_s:.3f} s", flush=True)
        # A turn of the collector, the 50 ms, and half of that until names are looked up.
        self.assert_near(worst_s, 0, exact=0.2, read=2 * reading.delay_s, what="the oldest sample that was not there")


if __name__ == "__main__":
    unittest.main()
