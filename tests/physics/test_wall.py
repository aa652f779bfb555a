"""Wall mode: every thread's time, running or blocked, without a signal to any of them."""
import collections
import os
import re
import resource
import unittest

import judged  # finds recorded
from recorded import LONG, PYTHON, Case, Machine, need, target

HZ = 100
# At the rate that is asked for, whatever it costs: the budget has tests of its own.
WALL = ("-e", "wall", "--max-overhead", "off")
WAITS = {"futex": ("sleeping", "futex", "wait_futex"),
         "sleep": ("sleeping", "sleep", "wait_nanosleep"),
         "epoll": ("sleeping", "epoll", "wait_epoll"),
         "disk": ("disk", "read", "read_disk")}

THREADS = """
import threading, time
def wait(): threading.Event().wait(1.5)
def sleep(): time.sleep(1.5)
threads = [threading.Thread(target=f) for f in (wait, sleep)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def pairs(text):
    """Lines of a name and a number."""
    return {line.split()[0]: float(line.split()[1]) for line in text.decode().splitlines()}


class Wall(Case):
    def share(self, run, keep):
        return 100 * run.weight(keep) / run.weight()

    def test_a_sleeping_program_has_its_whole_life(self):
        run = self.record("sh", "-c", "sleep 1.5; :", hz=HZ, options=WALL)
        self.assertEqual(run.status, 0, run.summary)
        for comm, wait in (("sleep", "sleep"), ("sh", "wait")):
            found = run.weight(lambda s, c=comm, w=wait: (s.comm, s.state, s.wait) ==
                               (c, "sleeping", w))
            print(f"{comm}: {found} periods of {HZ * 1.5:.0f} in {wait}")
            self.assertAlmostEqual(found / HZ, 1.5, delta=0.06)
        asleep = [s for s in run.samples if s.wait == "sleep"]
        self.assertTrue(any("nanosleep" in f.symbol for s in asleep for f in s.frames))
        self.assertIn("1500ms", {s.on for s in asleep})
        self.assertRegex(run.summary, r"states +(running [\d.]+ %, )?(runnable [\d.]+ %, )?sleeping")

    def test_python_threads_wait_where_they_wait(self):
        run = self.record(PYTHON, "-c", THREADS, hz=HZ, options=WALL)
        self.assertEqual(run.status, 0, run.summary)
        lives = collections.Counter()
        for sample in run.samples:
            lives[sample.tid] += sample.weight
        print(f"python3: {sorted(lives.values())} periods")
        self.assertEqual(len(lives), 3)
        # The third is the main thread, which lives as long as both and what Python needs to start.
        self.assertEqual([life for life in sorted(lives.values())[:2] if abs(life / HZ - 1.5) >= 0.1],
                         [])
        waits = {s.wait for s in run.samples if s.weight > 10 and s.state == "sleeping"}
        self.assertEqual(waits, {"futex", "sleep"})

    def test_shares_of_five_kinds_of_time(self):
        seconds = 30 if LONG else 8
        # 8 s at 100 Hz would leave a share of 9 % a deviation of a whole point.
        run = self.record(target("wall_shares"), seconds, self.path("disk"),
                          hz=HZ if LONG else 4 * HZ, options=WALL)
        self.assertEqual(run.status, 0, run.summary)
        truth = pairs(run.stdout)
        # What is stolen between two short waits is neither of a wait nor of the processor.
        print(f"stolen by a hypervisor while the disk was read: at most {truth['stolen']:.2f} %")
        if truth["disk"] < 3:
            print(f"disk {truth['disk']:.2f} %: this file system does not wait for one")
        for name, (state, wait, function) in WAITS.items():
            if truth[name] < 3:
                continue
            found = self.share(run, lambda s, f=function: any(
                frame.symbol == f for frame in s.frames) and s.wait is not None)
            named = self.share(run, lambda s, n=(state, wait): (s.state, s.wait) == n)
            print(f"{name}: {found:.2f} % below {function}, {named:.2f} % {state} in {wait} "
                  f"(true {truth[name]:.2f} %)")
            for share in (found, named):
                self.assertAlmostEqual(share, truth[name], delta=2 + truth["stolen"])
        for name, state in (("cpu", "running"), ("runnable", "runnable")):
            found = self.share(run, lambda s, n=state: s.state == n)
            print(f"{name}: {found:.2f} % (true {truth[name]:.2f} %)")
            self.assertAlmostEqual(found, truth[name], delta=2)
        burnt = self.share(run, lambda s: s.state == "running" and any(
            frame.symbol == "burn" for frame in s.frames))
        print(f"burnt: {burnt:.2f} % (true {truth['burnt']:.2f} %)")
        self.assertAlmostEqual(burnt, truth["burnt"], delta=2)

    def test_a_starved_thread_waits_for_a_processor(self):
        run = self.record(target("starved"), 12 if LONG else 3, hz=HZ, options=WALL)
        self.assertEqual(run.status, 0, run.summary)
        truth = pairs(run.stdout)
        main = min(s.pid for s in run.samples)
        total = run.weight(lambda s: s.pid == main)
        for state in ("running", "runnable"):
            found = 100 * run.weight(lambda s, n=state: s.pid == main and s.state == n) / total
            print(f"starved: {found:.2f} % {state} (schedstat {truth[state]:.2f} %)")
            self.assertAlmostEqual(found, truth[state], delta=3)

    def worst_life(self, turns):
        """By how much of its length a life is told too short or too long, at most."""
        run = self.record(target("thread_lives"), turns, 16, 1000, hz=HZ, options=WALL)
        self.assertEqual(run.status, 0, run.summary)
        worst = 0
        for line in run.stdout.decode().splitlines():
            tid, least, most = int(line.split()[0]), *map(float, line.split()[1:])
            found = run.weight(lambda s, t=tid: s.tid == t) / HZ
            worst = max(worst, least / found - 1, found / most - 1)
        print(f"{16 * turns} lives of 100 to 200 periods: at most {100 * worst:.2f} % off")
        return worst

    def test_lives_sum_to_their_length(self):
        """Where others keep wick from its turns it sees an end late: then it is tried again."""
        for _ in range(4):
            with Machine() as machine:
                worst = self.worst_life(4 if LONG else 1)
            if worst < 0.02 or machine.late_s < 0.01:
                break
            print(f"the machine was {1000 * machine.late_s:.0f} ms late: again")
        self.assertLess(worst, 0.02)

    def test_a_page_that_another_thread_brings(self):
        run = self.record(target("odd_states"), 1.5, "fault", hz=HZ, options=WALL)
        if run.status == 77:
            self.skipTest("no userfaultfd here")
        self.assertEqual(run.status, 0, run.summary)
        found = run.weight(lambda s: (s.tid, s.state, s.wait) == (s.pid, "sleeping", "page-fault")
                           and s.frames[0].symbol == "touch")
        print(f"page fault: {found} periods of {1.5 * HZ:.0f} in touch()")
        self.assertAlmostEqual(found / HZ, 1.5, delta=0.1)

    def test_a_stopped_program_is_stopped(self):
        run = self.record("sh", "-c", "(sleep 1; kill -CONT $$) & kill -STOP $$; wait", hz=HZ,
                          options=WALL)
        self.assertEqual(run.status, 0, run.summary)
        stopped = [s for s in run.samples if s.state == "stopped"]
        found = sum(s.weight for s in stopped) / HZ
        print(f"stopped for {found:.2f} s of 1 s")
        self.assertAlmostEqual(found, 1, delta=0.1)
        self.assertEqual({(s.tid == s.pid, s.wait) for s in stopped}, {(True, None)})

    def test_a_thread_that_has_ended_has_no_time(self):
        """A leader stays in the list as a zombie, as does a child that nobody waits for."""
        run = self.record(target("odd_states"), 1, "leader", hz=HZ, options=WALL)
        self.assertEqual(run.status, 0, run.summary)
        leader = run.weight(lambda s: s.tid == s.pid) / HZ
        other = run.weight(lambda s: s.tid != s.pid) / HZ
        print(f"an ended leader: {leader:.2f} s; its thread {other:.2f} s of 1 s")
        self.assertLess(leader, 0.1)
        self.assertAlmostEqual(other, 1, delta=0.06)
        run = self.record("sh", "-c", "sleep 0.2 & exec sleep 1", hz=HZ, options=WALL)
        child = run.weight(lambda s: s.pid != min(s.pid for s in run.samples)) / HZ
        print(f"a child that nobody waits for: {child:.2f} s of 0.2 s")
        self.assertAlmostEqual(child, 0.2, delta=0.06)

    def test_threads_that_vanish_between_two_looks(self):
        # A timer that a busy machine served late meets the handler of another sample: again then.
        for _ in range(6):
            with Machine() as machine:
                run = self.record(target("short_threads"), "1", "1.5", hz=1000, options=WALL)
            if "lost_nested" not in run.summary or machine.late_s < 0.005:
                break
            print(f"the machine was {1000 * machine.late_s:.0f} ms late: again")
        self.assertEqual(run.status, 0, run.summary)
        self.assertIn("lost        nothing", run.summary)
        self.assertGreater(len({s.tid for s in run.samples}), 50)

    def test_exec_ends_what_was_and_begins_anew(self):
        run = self.record("sh", "-c", "sleep 0.6; exec sleep 0.6", hz=HZ, options=WALL)
        self.assertEqual(run.status, 0, run.summary)
        first = min(s.pid for s in run.samples)
        waits = collections.Counter()
        for sample in run.samples:
            if sample.pid == first:
                waits[sample.comm, sample.wait] += sample.weight
        print(f"before and after exec: {waits}")
        for key in (("sh", "wait"), ("sleep", "sleep")):
            self.assertAlmostEqual(waits[key] / HZ, 0.6, delta=0.06)

    def test_who_may_not_read_says_so(self):
        """A program that lets nobody but root read it: states and times, no stacks, and why."""
        os.chmod(self.dir, 0o777)
        user = {"user": "nobody"} if os.geteuid() == 0 else {}
        run = self.record(target("odd_states"), 1, "private", hz=HZ, options=WALL, **user)
        self.assertEqual(run.status, 0, run.summary)
        found = run.weight(lambda s: s.state == "sleeping") / HZ
        print(f"not ours to read: asleep {found:.2f} s of 1 s\n{run.summary}")
        self.assertAlmostEqual(found, 1, delta=0.06)
        self.assertRegex(run.summary, r"may not be read.*PR_SET_DUMPABLE.*try: ")

    def test_cpu_beside_wall_is_wall(self):
        """Running periods are in wall's samples already: one file, nothing twice."""
        run = self.record(target("busy"), "1", hz=HZ, options=("-e", "cpu,wall"))
        self.assertEqual(run.status, 0, run.summary)
        events = {s.event for s in run.samples}
        print(f"cpu,wall: {run.weight()} periods, {events}")
        self.assertEqual(len(run.paths), 1)
        self.assertEqual(len(events), 1)
        self.assertAlmostEqual(float(re.search(r"coverage +([\d.]+)", run.summary).group(1)), 1,
                               delta=0.1)

    def test_cmd_keeps_its_limit_of_files(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        lower = min(512, hard)
        run = self.record("sh", "-c", "ulimit -n", hz=HZ, options=WALL,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                                (lower, hard)))
        print(f"limit of files: {run.stdout.decode().strip()} in CMD, was {lower} of {hard} "
              f"(here {soft})")
        self.assertEqual(run.stdout.decode().strip(), str(lower))

    def test_without_descriptors_to_keep_it_works_too(self):
        """Files are opened for every look where the limit leaves no more."""
        run = self.record("sh", "-c", "sleep 1; :", hz=HZ, options=WALL,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                                (256, 256)))
        found = run.weight(lambda s: s.wait == "sleep") / HZ
        print(f"256 files: {found:.2f} s of 1 s asleep")
        self.assertAlmostEqual(found, 1, delta=0.05)

    def test_cpu_of_busy_programs_is_all_there(self):
        need("xz")
        run = self.record("sh", "-c", "head -c 6000000 /dev/urandom | xz -T2 -1 >/dev/null", hz=HZ,
                          options=WALL)
        coverage = float(re.search(r"coverage +([\d.]+)", run.summary).group(1))
        print(f"xz: coverage {coverage:.3f}")
        self.assertAlmostEqual(coverage, 1, delta=0.05)


if __name__ == "__main__":
    unittest.main()
