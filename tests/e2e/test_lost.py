"""Nothing is lost when the target dies, and nothing happens to it when wick does."""
import collections
import glob
import os
import random
import signal
import subprocess
import time
import unittest

from recorded import LONG, WICK, Case, end_of, read, target

ROUNDS = 50 if LONG else 25


class Lost(Case):
    def start(self, name, *command, hz=999):
        return subprocess.Popen(
            [WICK, "record", "--ns", "-F", str(hz), "-o", self.path(name), "--",
             *map(str, command)], cwd=self.dir, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def child_of(self, wick):
        for _ in range(500):
            with open(f"/proc/{wick.pid}/task/{wick.pid}/children", encoding="ascii") as file:
                pids = file.read().split()
            if pids:
                return int(pids[0])
            time.sleep(0.002)
        raise AssertionError("wick started nothing")

    def one_kill(self, number, rng):
        wick = self.start(f"kill{number}.perf", target("ratio"), 5)
        pid = self.child_of(wick)
        with subprocess.Popen([target("ring_witness"), str(wick.pid)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as witness:
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
            wick = self.start(f"gone{number}.perf", target("ends"), "exit", 1.5)
            pid = self.child_of(wick)
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
        wick = self.start("status.perf", "sh", "-c", script)
        self.child_of(wick)
        time.sleep(0.3)
        wick.kill()
        wick.communicate()
        for _ in range(50):
            if os.path.exists(status) and os.path.getsize(status):
                break
            time.sleep(0.1)
        with open(status, encoding="ascii") as file:
            self.assertEqual(file.read(), "7\n")


if __name__ == "__main__":
    unittest.main()
