"""Threads by the thousand, processes by the hundred, and places that pass from one to another."""
import math
import os
import re
import resource
import statistics
import time
import unittest

from judged import SIGMAS, Judged, chance_of
import procfs
from recorded import LONG, WICK, target, text_of

SWEEP_S = 0.5  # between two readings of wick for threads that have ended
KINDS = {"burn_even": "even", "burn_odd": "odd", "burn_first": "first", "burn_second": "second"}


def mixed(run):
    """Weight of samples that have one thread's name and another's stack."""
    return sum(s.weight for s in run.samples for f in s.frames[:1]
               if f.symbol in KINDS and s.comm != KINDS[f.symbol])


def lost(run, cause):
    found = re.search(r"([\d,]+) [^,\n]*\(" + cause + r"\)", run.summary)
    return int(found.group(1).replace(",", "")) if found else 0


TICK_S = 0.004  # of Debian's kernels (CONFIG_HZ=250)


def preempted(reading, seconds):
    """How often programs that used SECONDS waited for a processor, from 0 to 1: the kernel looks at
    timers at its ticks, and each that is preempted between two leaves some milliseconds at its end."""
    return min(1, reading.program.total_s / seconds)


def chance(n, seconds, hz=199):
    """In seconds, of the samples of N processes that used SECONDS together: each gives a sample with
    the probability of its part of a period (binomial distribution)."""
    p = min(seconds * hz / n, 0.5)
    return SIGMAS * math.sqrt(n * p * (1 - p)) / hz


def switches(pid):
    """How often the threads of a process have gone to sleep."""
    return sum(procfs.status(tid, "voluntary_ctxt_switches") for tid in procfs.tasks(pid))


class Asleep(Judged):
    def wake_ups(self, *options):
        """Of wick in a second beside a program that sleeps: the median of five, since other
        recordings that start look whether this one's socket has been left."""
        path, counts = os.path.join(self.dir, "asleep.perf"), []
        with self.running(WICK, "record", "-q", "-o", path, *options, "--", "sleep", "8") as run:
            time.sleep(2)
            for _ in range(5):
                before, start = switches(run.pid), time.monotonic()
                time.sleep(1)
                counts.append((switches(run.pid) - before) / (time.monotonic() - start))
            run.terminate()
            run.wait(20)
        os.unlink(path)
        return statistics.median(counts)

    def test_it_sleeps_while_there_is_nothing_to_do(self):
        """Values that are read are at most 100 ms old, so that is how often it has to look."""
        reads, reads_none = self.wake_ups(), self.wake_ups("--metrics", "none")
        print(f"wick wakes up {reads:.1f} times a second, {reads_none:.1f} without values to read")
        self.assertLessEqual(reads, 20)
        self.assertLessEqual(reads_none, 15)


class Threads(Judged):
    def test_threads_by_the_thousand(self):
        n, seconds = (10000, 15) if LONG else (2500, 4)
        run = self.cpu_run(target("crowd"), n, seconds, 0.8, hz=199)
        self.assertEqual(run.status, 0, run.summary)
        there, even, odd, charged = map(float, run.stdout.split())
        self.assertEqual(there, n)
        total = run.weight() / 199
        shares = [run.weight(lambda s, c=c: s.comm == c) / 199 for c in ("even", "odd")]
        print(f"{n} threads: {total / charged:.3f} of {charged:.2f} s, {len(run.samples)} samples of "
              f"{len({s.tid for s in run.samples})} threads, even {shares[0]:.2f} of {even:.2f} s, "
              f"odd {shares[1]:.2f} of {odd:.2f} s")
        self.assertEqual(mixed(run), 0)
        # Who maps more slots may not be given a processor for long; what is lost is counted.
        missed = sum(lost(run, f"lost_{why}") for why in ("noslot", "nested", "full")) / 199
        self.assertLess(missed / charged, 0.03, run.summary)
        self.assert_near((total + missed) / charged, 1, exact=0.05)

    def test_slots_pass_from_thread_to_thread_unmixed(self):
        waves = 60 if LONG else 12
        run, reading = self.conclusive(lambda: self.record(target("waves"), waves, 16, 30, hz=249), stolen=0.1)
        self.assertEqual(run.status, 0, run.summary)
        even, odd, timers, own = run.stdout.split()
        true = float(even) + float(odd)
        found = run.weight(lambda s: s.comm in ("even", "odd")) / 249
        self.assertEqual(mixed(run), 0)
        # What a thread used between the kernel's last tick and its end is with a later thread.
        self.assert_near(found / true, 1, exact=0.05, what=f"{waves} waves of 16 threads, {int(timers)} timers at the end")
        self.assertEqual(own, b"yes")
        # Its own, the process's, the main thread's, those of the last wave, and of each that began
        # since wick last looked: every half second, when it gets a processor.
        since = (SWEEP_S + reading.delay_s) * waves / reading.wall_s
        self.assertLessEqual(int(timers), 3 + 16 * (1 + math.ceil(since)))

    def test_timers_of_dead_threads_leave_room_for_the_program(self):
        used = int(re.search(r"SigQ:\s+(\d+)/", procfs.read("self", "status")).group(1))
        limit = used + 100
        waves = 60 if LONG else 15
        run = self.cpu_run(target("waves"), waves, 16, 20, hz=249,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_SIGPENDING,
                                                                 (limit, limit)))
        self.assertEqual(run.status, 0, run.summary)
        even, odd, timers, own = run.stdout.split()
        true = float(even) + float(odd)
        found = run.weight(lambda s: s.comm in ("even", "odd")) / 249
        self.assertEqual(own, b"yes")
        self.assert_near(found / true, 1, exact=0.05,
                         what=f"{16 * waves} threads with room for 100 signals, {int(timers)} timers at the end")

    def test_a_tid_that_comes_again_is_another_thread(self):
        run = self.cpu_run(target("tid_again"), 20, 60, hz=249)
        if run.status == 77:
            self.skipTest("tids cannot be chosen here")
        self.assertEqual(run.status, 0, run.summary)
        tid, first, second = run.stdout.split()
        true = float(first) + float(second)
        found = run.weight(lambda s: s.tid == int(tid)) / 249
        self.assertEqual(mixed(run), 0)
        self.assert_near(found / true, 1, exact=0.05, what="20 threads of one tid")


class Processes(Judged):
    def test_children_by_vfork_and_posix_spawn_leave_the_rings_alone(self):
        run = self.cpu_run(target("vfork_works"), 6, 0.1, hz=249,
                           options=("-e", "cpu,alloc=64K"))
        self.assertEqual(run.status, 0, run.summary)
        parent, _ = map(float, run.stdout.split())
        symbols = {f.symbol for s in run.samples for f in s.frames}
        self.assertIn("burn_parent", symbols)
        self.assertNotIn("burn_child", symbols)
        self.assertNotIn("take_child", symbols)
        self.assertEqual(lost(run, "lost_corrupt"), 0, run.summary)
        found = run.weight(lambda s: s.event != "alloc" and any(
            f.symbol == "burn_parent" for f in s.frames)) / 249
        self.assert_near(found / parent, 1, exact=0.05, what="parent of 12 children by vfork")

    def test_children_of_every_kind_have_their_cpu(self):
        run, reading = self.met_run(target("children"), "all", 0.4, hz=199)
        self.assertEqual(run.status, 0, run.summary)
        met = 7 * 0.4 / (7 * 0.4 + reading.program.total_s)  # of the ticks while one would run: by chance
        chance_s = SIGMAS * TICK_S * math.sqrt(0.4 / TICK_S * (1 - met))
        for way in ("fork", "vfork", "spawn", "spawnp", "exec", "system", "popen"):
            found = run.weight(lambda s, way=way: s.frames[0].symbol == "burn_" + way) / 199
            # Two periods, two ticks, and its readings of its clock.
            self.assert_near(found, 0.4, exact=2 / 199 + 0.02, chance=chance_s, what=f"child by {way}")

    def test_libraries_that_share_an_address_have_their_cpu(self):
        """At the end of each turn one sample is in this or in the next: of those, the heaviest."""
        for turn in (50, 300):
            run = self.shares_run(target("plugins"), 3, target("libplugin_a.so"), target("libplugin_b.so"), turn,
                                  hz=199, options=("--max-overhead", "off"))
            self.assertEqual(run.status, 0, run.summary)
            weights = sorted(s.weight for s in run.samples)[-int(run.stdout.split()[-1]):]
            used, seen = ([float(word) for word in run.stdout.split()[at:at + 2]] for at in (0, 2))
            for letter, seconds, ticks in zip("ab", used, seen):
                found = run.weight(lambda s, name=f"burn_plugin_{letter}": s.frames[0].symbol == name) / 199
                self.assert_near(found, seconds, exact=2 / 199, chance=chance_of(weights, 0.5) / 199,
                                 read=abs(seconds - ticks), what=f"plugin_{letter}, {turn} ms a turn")

    def test_trees_ten_deep(self):
        script = self.write("deeper", f'[ "$1" = 0 ] && exit 0\n{os.path.abspath(target("busy"))} 0.1 >/dev/null\n'
                            f'sh "$0" $(($1 - 1))\nexit 0\n')
        charged = self.path("charged")
        run, reading = self.met_run(
            target("charged"), charged, "sh", script, 10, hz=199, options=("--max-overhead", "off"))
        self.assertEqual(run.status, 0, run.summary)
        seconds = float(text_of(charged))
        by_pid = {}
        for sample in run.samples:
            if sample.comm == "busy":
                by_pid[sample.pid] = by_pid.get(sample.pid, 0) + sample.weight
        found = run.weight(lambda s: s.comm != "charged") / 199
        starting = run.end["starting_ns"] / 1e9
        self.assertEqual(len(by_pid), 10)
        # At the end of each that is preempted there is half a tick that none of it met, and of the shell too.
        missed = 2 * 10 * 0.002 / seconds * preempted(reading, seconds)
        self.assert_near((found + starting) / seconds, 1, exact=0.05, read=missed, what="10 deep")

    def test_short_processes_by_the_hundred(self):
        n = 5000 if LONG else 640
        charged, log = self.path("charged"), self.path("log")
        run, reading = self.conclusive(lambda: self.record(
            target("charged"), charged, "sh", "-c",
            f"for i in $(seq {n}); do {target('busy')} 0.004 {log} >/dev/null; done", hz=199,
            options=("--max-overhead", "off")), stolen=0.1)
        self.assertEqual(run.status, 0, run.summary)
        seconds = float(text_of(charged))
        with open(log, encoding="ascii") as file:
            lives = [tuple(map(int, line.split())) for line in file]
        self.assertEqual(len(lives), n)
        before = sum(begun for begun, _ in lives) / 1e9
        worked = sum(ended - begun for begun, ended in lives) / 1e9
        found = run.weight(lambda s: s.comm != "charged") / 199
        below = run.weight(lambda s: any(f.symbol == "burn_busy" for f in s.frames)) / 199
        starting = run.end["starting_ns"] / 1e9
        images = int(re.search(r"([\d,]+) process", run.summary).group(1).replace(",", ""))
        print(f"{n} processes in {reading.wall_s:.1f} s ({60 * n / reading.wall_s:.0f} a minute), {images} images: "
              f"{found:.2f} + {starting:.2f} of {seconds:.2f} s, {below:.2f} in burn_busy of {worked:.2f} "
              f"in main, which began after {before:.2f}")
        self.assertGreaterEqual(images, n)
        self.assertEqual(lost(run, "lost_noslot"), 0, run.summary)
        # What no sample can see is told, but for what it takes to end a process, a few percent
        # here; the rest is in samples, and where it was used.  A process gives one or none.
        self.assertLess(found + starting, 1.05 * seconds + chance(n, found))
        self.assertGreater(found + starting, 0.92 * seconds - chance(n, found))
        missed = 0.15 * preempted(reading, seconds)  # that no tick met: of 4 ms, where all are preempted
        self.assertGreater(below, (0.95 - missed) * worked - chance(n, worked))
        self.assertLess(below, 1.05 * (seconds - before) + chance(n, below))

    def test_programs_of_a_millisecond(self):
        """Fork children, sed and grep: a tenth of a period each, and hardly ever a tick behind an expiry
        of their own.  Half of their CPU is exec and the loader, an eighth their end in the kernel."""
        charged = self.path("charged")
        run = self.cpu_run(target("charged"), charged, "sh", "-c",
                           "for i in $(seq 300); do echo abc | sed s/a/b/ | grep -c b; done", hz=249,
                           options=("--max-overhead", "off"))
        self.assertEqual(run.status, 0, run.summary)
        seconds = float(text_of(charged))
        found, starting = run.weight() / 249, run.end["starting_ns"] / 1e9
        print(f"programs of a millisecond: {found:.2f} + {starting:.2f} of {seconds:.2f} s, samples of "
              f"{len({s.pid for s in run.samples})} processes")
        self.assertLess(found + starting, 1.03 * seconds)
        self.assertGreater(found, 0.45 * (seconds - starting))


if __name__ == "__main__":
    unittest.main()
