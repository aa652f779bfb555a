"""Nothing is lost when the target dies, and nothing happens to it when wick does."""
import collections
import glob
import os
import random
import signal
import subprocess
import time
import unittest

from recorded import LONG, WICK, Case, child_of, end_of, read, target, text_of, wait_for

ROUNDS = 50 if LONG else 25


class Lost(Case):
    def launch(self, name, *command):
        """A recording that has started its program, and the program's pid."""
        wick = self.start(WICK, "record", "--ns", "-F", "999", "-o", self.path(name), "--", *command)
        return wick, child_of(wick.pid)

    def one_kill(self, number, rng):
        wick, pid = self.launch(f"kill{number}.perf", target("ratio"), 5)
        witness = self.start(target("ring_witness"), wick.pid, stdin=subprocess.PIPE)
        time.sleep(rng.uniform(0.05, 0.45))
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
        seen = witness.communicate()[0].decode()
        _, stderr = wick.communicate(timeout=30)
        self.assertEqual(wick.returncode, 128 + signal.SIGKILL, stderr)
        self.assertNotIn("wrapped", seen)
        committed = collections.Counter()
        for line in seen.splitlines():
            words = line.split()
            committed[(int(words[1]), int(words[3]), tuple(int(w, 16) for w in words[4:]))] += 1
        written = collections.Counter(
            (s.tid, s.weight, tuple(f.addr for f in s.frames if f.module != "inlined"))
            for s in read(self.path(f"kill{number}.perf")))
        missing = committed - written
        # But for those in wick's own code, which are left out: their weight is told.
        weight = sum(record[1] * n for record, n in missing.items())
        self.assertLessEqual(weight, end_of(self.path(f"kill{number}.perf"))["own"],
                             f"{missing} of {sum(committed.values())} records; not among them: "
                             f"{written - committed}\n{stderr.decode()}")
        return sum(committed.values())

    def test_every_committed_record_survives_sigkill(self):
        rng = random.Random(4)
        counts = [self.one_kill(i, rng) for i in range(ROUNDS)]
        print(f"SIGKILL x {len(counts)}: {sum(counts)} committed records, all in the files")
        self.assertGreater(sum(counts), ROUNDS * 5)

    def test_target_runs_on_when_wick_is_killed(self):
        for number in range(5) if LONG else (0, 2, 4):
            wick, pid = self.launch(f"gone{number}.perf", target("ends"), "exit", 1.5)
            time.sleep(0.1 + 0.2 * number)
            wick.kill()
            out = wick.communicate()[0]
            self.assertEqual(out, b"the end\n")
            self.assertFalse(os.path.exists(f"/proc/{pid}/exe"), "it has ended")
            paths = glob.glob(self.path(f"gone{number}.perf"))
            for path in paths:
                read(path)

    def test_status_is_kept_when_wick_is_killed(self):
        status = self.path("status")
        script = f"{target('ends')} _exit 1 >/dev/null; echo $? > {status}"
        wick, _ = self.launch("status.perf", "sh", "-c", script)
        time.sleep(0.3)
        wick.kill()
        wick.communicate()
        wait_for(lambda: os.path.exists(status) and os.path.getsize(status))
        self.assertEqual(text_of(status), "7\n")


if __name__ == "__main__":
    unittest.main()
