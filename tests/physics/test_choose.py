"""wick record -a: attaches to the heaviest of all processes, and detaches when others are heavier."""
import os
import re
import subprocess
import unittest

from judged import Judged
from recorded import LONG, WICK, Run, need, read, target, text_of

# Seconds; the long form is the one that is promised.
TURN, TURNS, INTERVAL, WITHIN = (5.0, 6, 2, 2.5) if LONG else (2.5, 3, 1, 1.75)
PROCESSES, HEAVY = 200, 5
PERCENT = 40 if LONG else 25  # of a processor, that each of the heavy uses
# s late, or less of its CPU for one of the heavy: the machine was busy with something else.
MOST_LATE, LEAST_GIVEN = 0.1, 0.5
# What programs that get next to no CPU would be throttled by: the budget has tests of its own.
NO_BUDGET = ("--max-overhead", "off")


def turns_of(text):
    """(start in s, by how much the machine was late, pid: part of its CPU) of every turn."""
    lines = [line.split() for line in text.splitlines()]
    return [(float(line[0]), float(line[1]),
             {int(pid): float(part) for pid, part in (word.split(":") for word in line[2:])})
            for line in lines]


def restricted():
    """Whether a user may trace descendants only."""
    try:
        return text_of("/proc/sys/kernel/yama/ptrace_scope").strip() != "0"
    except FileNotFoundError:
        return False


class Choose(Judged):
    def setUp(self):
        super().setUp()
        need("unshare")
        # Other programs of this machine are none of ours: the tests have a /proc of their own.
        self.way = ["unshare", "-pf" if os.geteuid() == 0 else "-Ucpf", "--mount-proc"]
        if os.geteuid() and restricted():
            self.skipTest("only root may attach to what it has not started, here")
        if subprocess.run([*self.way, "true"], capture_output=True, check=False).returncode:
            self.skipTest("no pid namespace can be had here")

    def record_all(self, script, *options):
        """`wick record -a` beside what SCRIPT starts; its run."""
        path = self.path("all.perf")
        if os.path.exists(path):
            os.unlink(path)
        script += f'\nexec "$0" record -F 99 -o {path} -a "$@"'
        process = subprocess.run([*self.way, "sh", "-c", script, WICK, *map(str, options)],
                                 cwd=self.dir, env={**os.environ, "TMPDIR": self.dir}, stdin=subprocess.DEVNULL, capture_output=True,
                                 check=False, timeout=170)
        return Run(process, [path])

    def record_turns(self):
        said = self.path("turns")
        words = (target("heavy_processes"), PROCESSES, HEAVY, TURN, TURNS, PERCENT)
        run = self.record_all(" ".join(map(str, words)) + f" >{said} & sleep 0.5",
                              *NO_BUDGET, "-d", f"{TURN * TURNS + 1.5}s",
                              "--top", f"{HEAVY}:{INTERVAL}s")
        self.assertEqual(run.status, 0, run.summary)
        return run, turns_of(text_of(said))

    @staticmethod
    def disturbed(result):
        """Where others have the processors, the heavy get too little CPU to be seen by: as they say."""
        _, turns = result
        late = max(late for _, late, _ in turns)
        given = min(part for _, _, parts in turns for part in parts.values())
        return ([f"the machine was {late:.2f} s late"] * (late >= MOST_LATE) +
                [f"the heavy had {given:.2f} of their CPU"] * (given <= LEAST_GIVEN))

    def test_each_new_heavy_process_is_in_within_an_interval(self):
        (run, turns), reading = self.conclusive(self.record_turns, self.disturbed, delay_s=0.5)
        self.assertEqual(len(turns), TURNS)
        delays = []
        for number, (start, _, pids) in enumerate(turns):
            first = {}
            for sample in run.samples:
                at = sample.time_ns / 1e9 - start
                if 0 <= at < TURN and sample.pid in pids:
                    first.setdefault(sample.pid, at)
            self.assertEqual(set(first), set(pids), f"turn {number}: processes that never came in\n{run.summary}")
            delays += first.values()
        print(f"-a --top {HEAVY}:{INTERVAL}s over {PROCESSES} processes: {len(delays)} new heavy ones "
              f"in after {sum(delays) / len(delays):.2f} s, {max(delays):.2f} s at most")
        self.assert_near(max(delays), 0, exact=WITHIN, read=reading.delay_s, what="the last that came in")
        self.check_others(run, turns)

    def check_others(self, run, turns):
        """Attaches to heavy processes only, and detaches when they are not heavy any more."""
        heavy = set().union(*(pids for _, _, pids in turns))
        self.assertEqual({sample.pid for sample in run.samples}, heavy)
        counts = re.search(r"processes: (\d+) attached, (\d+) detached, (\d+) not attached",
                           run.summary)
        attached, detached, refused = map(int, counts.groups())
        self.assertEqual((attached, refused), (HEAVY * TURNS, 0))
        self.assertGreaterEqual(detached, HEAVY * (TURNS - 1))
        self.assert_near(run.coverage, 1, exact=0.1)
        self.assertIn("lost        nothing", run.summary)
        self.assertRegex(run.summary, rf"recorded the heaviest {HEAVY} processes of every {INTERVAL}\.00 s for ")
        self.assertNotIn("still running", run.summary)

    def test_who_takes_no_agent_is_told_and_another_gets_the_seat(self):
        """Until the other has had its CPU, however long that takes: `$$` is wick then."""
        run = self.record_all(f"{target('split_static')} 60 >/dev/null & "
                              f"(sleep 1; {target('split')} 1; kill -INT $$) >/dev/null &",
                              *NO_BUDGET, "--top", "1:500ms")
        self.assertEqual(run.status, 0, run.summary)
        self.assertEqual({sample.comm for sample in run.samples}, {"split"})
        self.assertRegex(run.summary, r"processes: 1 attached, 0 detached, [12] not attached")
        self.assertRegex(run.summary, r"the last process that wick could not attach to: .*static")

    def test_a_gauge_chooses_whoever_has_it(self):
        """Read externally: the busiest process has none, and is not attached to."""
        run = self.record_all(f"({target('split')} 4; :) >/dev/null & sleep 0.2; {target('episode')} 0.2 3 0.2 gauge cpu >/dev/null &",
                              "-d", "3s", "--metrics", "auto,queue_len", "--top", "1:500ms", "--by", "queue_len")
        self.assertEqual(run.status, 0, run.summary)
        self.assertEqual({sample.comm for sample in run.samples}, {"episode"})
        self.assertIn(500, {sample.metrics["queue_len"][0] for sample in run.samples})

    def test_who_ends_leaves_and_the_recording_goes_on(self):
        run = self.record_all(f"({target('busy')} 1; {target('split')} 1.5; kill -INT $$) >/dev/null &",
                              *NO_BUDGET, "--top", "2:500ms")
        self.assertEqual(run.status, 0, run.summary)
        self.assertEqual({sample.comm for sample in run.samples}, {"busy", "split"})


class Asked(Judged):
    def test_says_what_does_not_fit(self):
        for options, why in (
                (("-a", "--top", "3", "-p", "1"), "-a chooses the processes itself"),
                (("-a", "--top", "3", "--by", "queue"), "--by: 'queue' is not one of"),
                (("-a", "--top", "3", "--", "true"), "'true' starts a program")):
            process = self.wick("record", *options)
            self.assertEqual(process.returncode, 2, process.stderr)
            self.assertRegex(process.stderr.decode(), why)

    def test_alone_it_takes_the_ten_heaviest(self):
        programs = [self.start(target("busy"), 60) for _ in range(2)]
        path = self.path("all.perf")
        run = self.wick("record", "-a", "-d", "2s", "-o", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr.decode(), "processes: [2-9] attached")
        self.assertLessEqual({program.pid for program in programs}, {sample.pid for sample in read(path)})


if __name__ == "__main__":
    unittest.main()
