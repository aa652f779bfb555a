"""Wall mode: every thread's time, running or blocked, without a signal to any of them."""
import collections
import os
import resource
import unittest

from judged import Judged
from recorded import LONG, PYTHON, need, target

HZ = 100
ENDS_S = 3 / HZ  # a period at either end, and what it takes to begin
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


class Wall(Judged):
    def share(self, run, keep):
        return 100 * run.weight(keep) / run.weight()

    def wall(self, *command, hz=HZ, options=WALL, **popen):
        """A recording that went well, and what of either end of a state it may have missed."""
        run, delay_s = self.wall_run(*command, hz=hz, options=options, **popen)
        if run.status == 77:
            self.skipTest("the program cannot do this here")
        self.assertEqual(run.status, 0, run.summary)
        return run, 2 * delay_s

    def test_a_sleeping_program_has_its_whole_life(self):
        run, missed_s = self.wall("sh", "-c", "sleep 1.5; :")
        self.assertEqual(run.status, 0, run.summary)
        for comm, wait in (("sleep", "sleep"), ("sh", "wait")):
            found = run.weight(lambda s, c=comm, w=wait: (s.comm, s.state, s.wait) ==
                               (c, "sleeping", w))
            self.assert_near(found / HZ, 1.5, exact=ENDS_S, read=missed_s, what=f"{comm} in {wait}")
        asleep = [s for s in run.samples if s.wait == "sleep"]
        self.assertTrue(any("nanosleep" in f.symbol for s in asleep for f in s.frames))
        self.assertIn("1500ms", {s.on for s in asleep})
        self.assertRegex(run.summary, r"states +(running [\d.]+ %, )?(runnable [\d.]+ %, )?sleeping")

    def test_python_threads_wait_where_they_wait(self):
        run, missed_s = self.wall(PYTHON, "-c", THREADS)
        lives = collections.Counter()
        for sample in run.samples:
            lives[sample.tid] += sample.weight
        self.assertEqual(len(lives), 3)
        # The third is the main thread, which lives as long as both and what Python needs to start.
        for life in sorted(lives.values())[:2]:
            self.assert_near(life / HZ, 1.5, exact=ENDS_S, read=missed_s)
        waits = {s.wait for s in run.samples if s.weight > 10 and s.state == "sleeping"}
        self.assertEqual(waits, {"futex", "sleep"})

    def test_shares_of_five_kinds_of_time(self):
        seconds = 30 if LONG else 6
        # 6 s at 100 Hz would leave a share of 9 % a deviation of a whole point.
        run, missed_s = self.wall(target("wall_shares"), seconds, self.path("disk"), hz=HZ if LONG else 4 * HZ)
        truth = pairs(run.stdout)
        missed = 100 * missed_s / seconds  # of its only thread
        # What is stolen between two short waits is neither of a wait nor of the processor.
        if truth["disk"] < 3:
            print(f"disk {truth['disk']:.2f} %: this file system does not wait for one")
        for name, (state, wait, function) in WAITS.items():
            if truth[name] < 3:
                continue
            found = self.share(run, lambda s, f=function: any(
                frame.symbol == f for frame in s.frames) and s.wait is not None)
            named = self.share(run, lambda s, n=(state, wait): (s.state, s.wait) == n)
            for share, what in ((found, f"below {function}"), (named, f"{state} in {wait}")):
                self.assert_near(share, truth[name], exact=2, read=missed + truth["stolen"], what=what)
        for name, state in (("cpu", "running"), ("runnable", "runnable")):
            found = self.share(run, lambda s, n=state: s.state == n)
            self.assert_near(found, truth[name], exact=2, read=missed, what=name)
        burnt = self.share(run, lambda s: s.state == "running" and any(
            frame.symbol == "burn" for frame in s.frames))
        self.assert_near(burnt, truth["burnt"], exact=2, read=missed, what="burnt")

    def test_a_starved_thread_waits_for_a_processor(self):
        seconds = 12 if LONG else 3
        run, missed_s = self.wall(target("starved"), seconds)
        truth = pairs(run.stdout)
        main = min(s.pid for s in run.samples)
        total = run.weight(lambda s: s.pid == main)
        for state in ("running", "runnable"):
            found = 100 * run.weight(lambda s, n=state: s.pid == main and s.state == n) / total
            self.assert_near(found, truth[state], exact=3, read=100 * missed_s / seconds, what=f"starved: {state}")

    def test_lives_sum_to_their_length(self):
        """Each of 100 to 200 periods, which are one or two seconds."""
        turns = 4 if LONG else 1
        run, missed_s = self.wall(target("thread_lives"), turns, 16, 1000)
        worst = 0
        for line in run.stdout.decode().splitlines():
            tid, least, most = int(line.split()[0]), *map(float, line.split()[1:])
            found = run.weight(lambda s, t=tid: s.tid == t) / HZ
            worst = max(worst, least / found - 1, found / most - 1)
        self.assert_near(worst, 0, exact=0.02, read=missed_s, what=f"{16 * turns} lives, the worst")

    def test_a_page_that_another_thread_brings(self):
        run, missed_s = self.wall(target("odd_states"), 1.5, "fault")  # needs userfaultfd
        found = run.weight(lambda s: (s.tid, s.state, s.wait) == (s.pid, "sleeping", "page-fault")
                           and s.frames[0].symbol == "touch")
        self.assert_near(found / HZ, 1.5, exact=ENDS_S, read=missed_s, what="in touch()")

    def test_a_stopped_program_is_stopped(self):
        run, missed_s = self.wall("sh", "-c", "(sleep 1; kill -CONT $$) & kill -STOP $$; wait")
        stopped = [s for s in run.samples if s.state == "stopped"]
        found = sum(s.weight for s in stopped) / HZ
        self.assert_near(found, 1, exact=ENDS_S, read=missed_s, what="stopped")
        self.assertEqual({(s.tid == s.pid, s.wait) for s in stopped}, {(True, None)})

    def test_a_thread_that_has_ended_has_no_time(self):
        """A leader stays in the list as a zombie, as does a child that is not waited for."""
        run, missed_s = self.wall(target("odd_states"), 1, "leader")
        leader = run.weight(lambda s: s.tid == s.pid) / HZ
        other = run.weight(lambda s: s.tid != s.pid) / HZ
        self.assert_near(leader, 0, exact=ENDS_S, read=missed_s, what="an ended leader")
        self.assert_near(other, 1, exact=ENDS_S, read=missed_s, what="its thread")
        run, missed_s = self.wall("sh", "-c", "sleep 0.2 & exec sleep 1")
        child = run.weight(lambda s: s.pid != min(s.pid for s in run.samples)) / HZ
        self.assert_near(child, 0.2, exact=ENDS_S, read=missed_s, what="a child that is not waited for")

    def test_threads_that_end_between_two_scans(self):
        run, _ = self.wall(target("short_threads"), "1", "1.5", hz=1000)
        # A timer that is served late meets the handler of another sample: that is counted.
        lost = {name: n for name, n in run.end.items() if name.startswith("lost_") and n}
        self.assertLessEqual(set(lost), {"lost_nested"}, run.summary)
        self.assertLess(lost.get("lost_nested", 0), len(run.samples) / 100, run.summary)
        self.assertGreater(len({s.tid for s in run.samples}), 50)

    def test_exec_ends_what_was_and_begins_anew(self):
        run, missed_s = self.wall("sh", "-c", "sleep 0.6; exec sleep 0.6")
        first = min(s.pid for s in run.samples)
        waits = collections.Counter()
        for sample in run.samples:
            if sample.pid == first:
                waits[sample.comm, sample.wait] += sample.weight
        for key in (("sh", "wait"), ("sleep", "sleep")):
            self.assert_near(waits[key] / HZ, 0.6, exact=ENDS_S, read=missed_s, what=f"{key} beside exec")

    def test_who_may_not_read_says_so(self):
        """A program that lets nobody but root read it: states and times, no stacks, and why."""
        os.chmod(self.dir, 0o777)
        user = {"user": "nobody"} if os.geteuid() == 0 else {}
        run, missed_s = self.wall(target("odd_states"), 1, "private", **user)
        found = run.weight(lambda s: s.state == "sleeping") / HZ
        self.assert_near(found, 1, exact=ENDS_S, read=missed_s, what="not ours to read, asleep")
        self.assertRegex(run.summary, r"may not read these threads.*PR_SET_DUMPABLE.*try: ")

    def test_cpu_beside_wall_is_wall(self):
        """Running periods are in wall's samples already: one file, nothing twice."""
        run, missed_s = self.wall(target("busy"), "1", options=("-e", "cpu,wall"))
        events = {s.event for s in run.samples}
        self.assertEqual(len(run.paths), 1)
        self.assertEqual(len(events), 1)
        self.assert_near(run.coverage, 1, exact=ENDS_S, read=missed_s, what="cpu,wall: coverage")

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
        """Files are opened for every scan where the limit leaves no more."""
        run, missed_s = self.wall("sh", "-c", "sleep 1; :", preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (256, 256)))
        found = run.weight(lambda s: s.wait == "sleep") / HZ
        self.assert_near(found, 1, exact=ENDS_S, read=missed_s, what="256 files: asleep")

    def test_cpu_of_busy_programs_is_all_there(self):
        need("xz")
        run = self.cpu_run("sh", "-c", "head -c 6000000 /dev/urandom | xz -T2 -1 >/dev/null", hz=HZ,
                           options=WALL)
        self.assert_near(run.coverage, 1, exact=0.05, what="xz: coverage")


if __name__ == "__main__":
    unittest.main()
