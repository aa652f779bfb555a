"""judged - a claim about time is judged by what was read of the machine in the same run.

A bound has two parts: what chance leaves (from the samples themselves: chance_of) and what others
took, which a Reading tells.  A run whose reading is above its limit is inconclusive, whatever its
result: it is repeated, at most REPEATS times, and then skipped with the reading printed.
"""
import contextlib
import math
import os
import resource
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import procfs  # pylint: disable=wrong-import-position
import recorded  # pylint: disable=wrong-import-position

REPEATS = 3
SIGMAS = 4  # one of 16,000 results of pure chance is further off
LOOK_S = 0.02
MOST_DELAY_S = 0.1  # of wick's turns in a run that is to say something
MOST_MERGED = 0.2  # of the ticks, in a run that is to say what was used where
MOST_TASKS = 32  # of a process are looked at: wick has fewer
USER_HZ = os.sysconf("SC_CLK_TCK")


def chance_of(weights, part=None):
    """SIGMAS standard deviations of what chance makes of the sum of these weights: of those that hit
    something with the probability PART (binomial), or of as many as came by chance (Poisson)."""
    spread = 1 if part is None else part * (1 - part)
    return SIGMAS * math.sqrt(spread * sum(weight * weight for weight in weights))


def read_proc(path):
    """A file of /proc; "" of a process that has ended, or where the kernel has no such file."""
    with contextlib.suppress(OSError):
        return procfs.text_of(path)
    return ""


def processors(stat):
    """(busy, stolen) seconds of all processors, from the text of /proc/stat (proc(5))."""
    words = list(map(int, stat.split("\n", 1)[0].split()[1:9]))
    user, nice, system, _, _, irq, softirq, steal = words
    return (user + nice + system + irq + softirq) / USER_HZ, steal / USER_HZ


def stalled_s(pressure):
    """How long some thread or other has waited for a processor, from /proc/pressure/cpu."""
    return int(pressure.split("total=")[1].split()[0]) / 1e6 if "total=" in pressure else 0


class Waits:
    """How long some threads waited for a processor: in all, and at most between two readings."""

    def __init__(self):
        self.total_s, self.worst_s, self.last = 0, 0, {}

    def look(self, tid, schedstat, known=True):
        """The second number of schedstat; what a thread that was not known has is of before."""
        words = schedstat.split()
        if len(words) != 3:
            return
        waited_s = int(words[1]) / 1e9
        before_s = self.last.get(tid, 0 if known else waited_s)
        step_s = waited_s - before_s if waited_s >= before_s else waited_s  # the tid is another's
        self.last[tid] = waited_s
        self.total_s += step_s
        self.worst_s = max(self.worst_s, step_s)


class Reading(threading.Thread):
    """`with Reading() as reading:` what disturbed the processes that this one started meanwhile.

    wall_s        how long it took
    stolen_s      a hypervisor had processors of this machine
    others        processors that processes that are not ours used, on average
    stalled_s     some thread of the machine waited for a processor (PSI)
    wick, program Waits of the threads of wick, and of all others that we started
    late_s        how late this thread came to a reading at most
    """

    def __init__(self, pid=None, read=read_proc):
        super().__init__(daemon=True)
        self.read, self.root = read, pid or os.getpid()
        self.wick, self.program = Waits(), Waits()
        self.wall_s = self.stolen_s = self.others = self.stalled_s = self.late_s = 0
        self.over = threading.Event()

    def counters(self):
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return (time.monotonic(), *processors(self.read("/proc/stat")),
                stalled_s(self.read("/proc/pressure/cpu")), sum(u.ru_utime + u.ru_stime for u in used))

    def look(self, known=True):
        """At all processes below this one, by the lists of children."""
        left = self.children(self.root)
        while left:
            pid = left.pop()
            waits = self.wick if self.read(f"/proc/{pid}/comm") == "wick\n" else self.program
            for tid in self.tasks(pid):
                waits.look(int(tid), self.read(f"/proc/{pid}/task/{tid}/schedstat"), known)
            left += self.children(pid)

    def children(self, pid):
        return self.read(f"/proc/{pid}/task/{pid}/children").split()

    @staticmethod
    def tasks(pid):
        try:
            return os.listdir(f"/proc/{pid}/task")[:MOST_TASKS]
        except OSError:
            return []

    def run(self):
        before = time.monotonic()
        while not self.over.wait(LOOK_S):
            self.look()
            now = time.monotonic()
            self.late_s, before = max(self.late_s, now - before - LOOK_S), now

    def settle(self, before, after):
        """From two sets of counters."""
        self.wall_s, busy_s, self.stolen_s, self.stalled_s, ours_s = (b - a for a, b in zip(before, after))
        self.others = max(0, busy_s - ours_s) / self.wall_s

    def __enter__(self):
        self.before = self.counters()
        self.look(known=False)
        self.start()
        return self

    def __exit__(self, *_):
        self.look()
        self.over.set()
        self.join()
        self.settle(self.before, self.counters())

    # What limits are set to.
    @property
    def wick_s(self):
        return self.wick.worst_s

    @property
    def program_s(self):
        return self.program.worst_s

    @property
    def preempted(self):
        """For which part of the time a thread of the program waited, of one processor."""
        return self.program.total_s / self.wall_s

    @property
    def stolen(self):
        """Of one processor."""
        return self.stolen_s / self.wall_s

    @property
    def delay_s(self):
        """How late wick, or a reading of ours, was at most: the longest that anything stood still."""
        return max(self.wick.worst_s, self.late_s) + self.stolen_s

    def above(self, limits):
        """What is above its limit, as words."""
        return [f"{name} {getattr(self, name):.3f} > {limit:g}" for name, limit in limits.items()
                if getattr(self, name) > limit]

    def __str__(self):
        return (f"{self.wall_s:.2f} s: {self.others:.2f} processors for others, {self.stolen_s:.2f} s stolen, "
                f"{self.stalled_s:.2f} s stalled; wick waited {self.wick.total_s:.3f} s, {self.wick.worst_s:.3f} s "
                f"at most; the program {self.program.total_s:.3f} s, {self.program.worst_s:.3f} s at most; looks "
                f"{self.late_s:.3f} s late at most")


class Judged(recorded.Case):
    """A test whose claims are about time."""

    reading = Reading  # the unit test has recorded ones

    def conclusive(self, measure, also=lambda result: [], **limits):
        """(what MEASURE gives, the reading of its run): of a run whose reading is within LIMITS.

        ALSO: what the program that was measured has itself read of the machine and is too much, as
        words; or that wick, by the prices it has read of the machine, measured in another way.  Whether
        it is done again depends on readings alone; what wick found is not looked at."""
        for turn in range(1 + REPEATS):
            with self.reading() as reading:
                result = measure()
            above = reading.above(limits) + also(result)
            print(f"{'inconclusive' if above else 'reading'}: {', '.join(above)}{' of ' * bool(above)}{reading}",
                  flush=True)
            if not above:
                return result, reading
            if turn < REPEATS:
                print("repeated", flush=True)
        self.skipTest(f"inconclusive {1 + REPEATS} times: {', '.join(above)} of {reading}")

    def cpu_run(self, *command, **options):
        """A recording whose claims are about CPU time.  Waiting for a processor takes nothing from
        that, and is no limit; what is stolen from one merges the kernel's ticks."""
        return self.conclusive(lambda: self.record(*command, **options), stolen=0.1)[0]

    def shares_run(self, *command, **options):
        """A recording whose claims are about where CPU time was used."""
        return self.met_run(*command, **options)[0]

    def met_run(self, *command, **options):
        """(a recording, its reading) in which ticks met the program: beside others they may meet those.
        The kernel counts what expired meanwhile, and one sample stands for all; at the end of a
        process nothing does."""
        def merged(run):
            part = run.end["merged"] / max(run.weight(), 1)
            return [f"{100 * part:.0f} % of the ticks came with a later one"] * (part > MOST_MERGED)
        return self.conclusive(lambda: self.record(*command, **options), merged, stolen=0.1)

    def wall_run(self, *command, **options):
        """(a recording whose claims are about time on the wall, how late what is seen at either end of
        a thread or of a state was at most): wick sees it at its turns."""
        run, reading = self.conclusive(lambda: self.record(*command, **options), delay_s=MOST_DELAY_S)
        return run, reading.delay_s

    def assert_near(self, found, true, *, chance=0.0, exact=0.0, read=0.0, what=""):
        """Off by no more than three parts allow: CHANCE, what is EXACT at best (periods at the ends, the
        resolution of a clock), and what others took, as it was READ in the same run."""
        bound = chance + exact + read
        said = (f"{what}{': ' * bool(what)}{found:.4f} of {true:.4f}, {found - true:+.4f} of {bound:.4f} "
                f"(chance {chance:.4f}, exact {exact:.4f}, read {read:.4f})")
        print(said, flush=True)
        self.assertLessEqual(abs(found - true), bound, said)

    def assert_share(self, run, keep, percent, most, what=""):
        """A share of the weight, as chance allows of so many samples; MOST: no fewer of them than it
        takes to know it that well."""
        part = percent / 100
        chance = 100 * chance_of([sample.weight for sample in run.samples], part) / run.weight()
        self.assertLessEqual(chance, most, f"{len(run.samples)} samples of {run.weight()} are too few")
        self.assert_near(100 * run.weight(keep) / run.weight(), percent, chance=chance, exact=0.5, what=what)
