"""--top: the heaviest threads are in within an interval, and what choosing costs."""
import collections
import os
import re
import unittest

from judged import Judged
from recorded import LONG, PYTHON, target, text_of

# Seconds; the long form is the one that is promised.
TURN, TURNS, INTERVAL, WITHIN = (5.0, 6, 2, 2.5) if LONG else (2.5, 3, 1, 1.75)
THREADS, HEAVY = (1000, 20) if LONG else (200, 8)
TOP = f"{HEAVY}:{INTERVAL}s"
SHORT_TURN = 1.5 if LONG else 1.0

# Threads that differ in what they use, and little in the CPU they take.
KINDS = """
import ctypes, mmap, os, sys, threading, time
end = time.time() + float(sys.argv[1])
def burn(): sum(range(60000))
def touch():
    pages = mmap.mmap(-1, 4 << 20)
    for at in range(0, len(pages), 4096): pages[at] = 1
    pages.close()
file = open(sys.argv[2], "wb", buffering=0)
def write():
    os.pwrite(file.fileno(), bytes(1 << 20), 0)
    os.fsync(file.fileno())
def run(name, work):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)
    while time.time() < end: work(); time.sleep(0.01)
for name, work in ((b"burn", burn), (b"touch", touch), (b"write", write)):
    threading.Thread(target=run, args=(name, work)).start()
"""


def turns_of(run):
    """(start in s, tids) of every turn that heavy_threads printed."""
    lines = [line.split() for line in run.stdout.decode().splitlines()]
    return [(float(line[0]), {int(tid) for tid in line[1:]}) for line in lines]


def percent_of_wick(run):
    """What wick itself used, in percent of the program's CPU."""
    return float(re.search(r"wick itself ([0-9.]+) %", run.summary).group(1))


class Top(Judged):
    def record_turns(self, *options):
        """Not throttled where others have the processors: the budget has tests of its own."""
        return self.record(target("heavy_threads"), THREADS, HEAVY, TURN, TURNS,
                           options=("--max-overhead", "off", *options))

    def test_each_new_heavy_thread_is_in_within_an_interval(self):
        run, reading = self.conclusive(lambda: self.record_turns("--top", TOP), wick_s=0.2, program_s=0.6)
        self.assertEqual(run.status, 0, run.summary)
        turns = turns_of(run)
        self.assertEqual(len(turns), TURNS)
        delays, kept, heavy = [], 0, 0
        for number, (start, tids) in enumerate(turns):
            end = start + TURN
            first = {}
            for sample in run.samples:
                at = sample.time_ns / 1e9
                if start <= at < end and sample.tid in tids:
                    first.setdefault(sample.tid, at - start)
                if start + WITHIN + reading.wick_s + reading.program_s <= at < end:
                    kept += sample.weight
                    heavy += sample.weight if sample.tid in tids else 0
            self.assertEqual(set(first), tids, f"turn {number}: threads that never came in")
            delays += first.values()
        print(f"--top {TOP} of {THREADS} threads: {len(delays)} new heavy threads in after "
              f"{sum(delays) / len(delays):.2f} s, {max(delays):.2f} s at most; "
              f"{100 * heavy / kept:.1f} % of what is written then is theirs")
        # wick's turn may be late, and so may the thread that is to be seen.
        self.assert_near(max(delays), 0, exact=WITHIN, read=reading.wick_s + reading.program_s, what="the last that came in")
        self.assertGreaterEqual(heavy / kept, 0.97)
        self.check_cost(run)
        self.check_counts(run)

    def check_cost(self, run):
        """What choosing costs; all of wick has the samples of all threads in it, chosen or not."""
        cost = percent_of_wick(run)
        print(f"wick itself: {cost:.2f} % of the program's CPU with --top {TOP}")
        if LONG:
            choosing = cost - percent_of_wick(self.record_turns())
            print(f"of that {choosing:.2f} % for choosing")
            self.assertLess(choosing, 1.0)
            self.assertLess(cost, 1.0)

    def check_counts(self, run):
        end = re.search(r'"weight":(\d+),.*"filtered":(\d+),.*"cpu_ns":(\d+)', text_of(run.paths[-1]))
        weight, filtered, cpu_ns = map(int, end.groups())
        self.assertEqual(weight, run.weight())
        self.assertGreater(filtered, 0)
        self.assertAlmostEqual((weight + filtered) / 99 * 1e9 / cpu_ns, run.coverage, delta=0.01)
        self.assert_near(run.coverage, 1, exact=0.1)
        self.assertIn("lost        nothing", run.summary)
        self.assertRegex(run.summary, r"kept +[0-9,]+ of them, [0-9.]+ % of their time, by --top")

    def test_named_threads_are_never_dropped(self):
        run = self.record(target("heavy_threads"), 30, 4, SHORT_TURN, 3,
                          options=("--top", "2:500ms", "--threads", "^crew-[048]$"))
        turns = turns_of(run)
        for number, name in enumerate(["crew-0", "crew-4", "crew-8"]):
            start, tids = turns[number]
            inside = [s for s in run.samples
                      if start + 0.1 <= s.time_ns / 1e9 < start + SHORT_TURN - 0.1 and s.tid in tids]
            mine = sum(s.weight for s in inside if s.comm == name)
            all_of_them = sum(s.weight for s in inside)
            others = {s.comm for s in inside} - {name}
            # Four share the processors, and two slots are free for the other three.
            self.assertGreater(mine, 0.15 * all_of_them, f"turn {number}: {name}")
            self.assertGreaterEqual(len(others), 1, f"turn {number}: no process beside {name}")

    def test_what_is_used_most_decides(self):
        for by, name in (("faults", "touch"), ("io", "write")) if LONG else (("faults", "touch"),):
            options = ("-e", "wall", "--top", "1:250ms", "--by", by)
            # One choice that goes wrong, as the thread has had no processor, is an eighth of the time.
            run, _ = self.conclusive(lambda: self.record(PYTHON, "-c", KINDS, 2, os.path.join(self.dir, "written"),
                                                         options=options), wick_s=0.2, program_s=0.6)
            begin = run.samples[0].time_ns + 1e9
            late = collections.Counter()
            for sample in run.samples:
                late[sample.comm] += sample.weight if sample.time_ns > begin else 0
            self.assertGreater(late[name], 0.8 * late.total(), f"--by {by}: {late}")


if __name__ == "__main__":
    unittest.main()
