"""Wall mode: every thread's time, running or blocked, without a signal to any of them."""
import collections
import re
import resource
import subprocess
import unittest

from recorded import LONG, PYTHON, Case, need, target

HZ = 100
WALL = ("-e", "wall")
WAITS = {"futex": ("sleeping", "futex", "wait_futex"),
         "sleep": ("sleeping", "sleep", "wait_nanosleep"),
         "epoll": ("sleeping", "epoll", "wait_epoll"),
         "disk": ("disk", "read", "read_disk")}
CALLS = {"poll": "poll", "ppoll": "poll", "select": "select", "epoll_wait": "epoll",
         "nanosleep": "sleep", "sem_timedwait": "futex", "recv": "recv", "msgrcv": "msg",
         "semop": "sem", "sigtimedwait": "signal"}

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
        self.assertEqual({s.wait for s in run.samples if s.weight > 10}, {"futex", "sleep"})

    def test_shares_of_five_kinds_of_time(self):
        seconds = 30 if LONG else 8
        run = self.record(target("wall_shares"), seconds, self.path("disk"), hz=HZ, options=WALL)
        self.assertEqual(run.status, 0, run.summary)
        truth = pairs(run.stdout)
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
            self.assertAlmostEqual(found, truth[name], delta=2)
            self.assertAlmostEqual(named, truth[name], delta=2)
        for name, state in (("cpu", "running"), ("runnable", "runnable")):
            found = self.share(run, lambda s, n=state: s.state == n)
            print(f"{name}: {found:.2f} % (true {truth[name]:.2f} %)")
            self.assertAlmostEqual(found, truth[name], delta=2)
        burnt = self.share(run, lambda s: s.state == "running" and any(
            frame.symbol == "burn_cpu" for frame in s.frames))
        self.assertGreater(burnt, truth["cpu"] - 4)

    def test_a_starved_thread_waits_for_a_processor(self):
        run = self.record(target("starved"), 12 if LONG else 5, hz=HZ, options=WALL)
        self.assertEqual(run.status, 0, run.summary)
        truth = pairs(run.stdout)
        main = min(s.pid for s in run.samples)
        total = run.weight(lambda s: s.pid == main)
        for state in ("running", "runnable"):
            found = 100 * run.weight(lambda s, n=state: s.pid == main and s.state == n) / total
            print(f"starved: {found:.2f} % {state} (schedstat {truth[state]:.2f} %)")
            self.assertAlmostEqual(found, truth[state], delta=3)

    def test_lives_sum_to_their_length(self):
        run = self.record(target("thread_lives"), 8, 1000, hz=HZ, options=WALL)
        self.assertEqual(run.status, 0, run.summary)
        worst = 0
        for line in run.stdout.decode().splitlines():
            tid, seconds = int(line.split()[0]), float(line.split()[1])
            found = run.weight(lambda s, t=tid: s.tid == t) / HZ
            worst = max(worst, abs(found / seconds - 1))
        print(f"32 lives of 100 to 200 periods: at most {100 * worst:.2f} % off")
        self.assertLess(worst, 0.02)

    def test_nobody_is_interrupted(self):
        """No EINTR in any of the calls that a signal makes fail, and stacks of all of them."""
        seconds, least = (60, 5000) if LONG else (5, 350)
        run = self.record(target("eintr_wall"), seconds, hz=HZ, options=WALL, timeout=300)
        self.assertEqual(run.status, 0, run.summary)
        beside = subprocess.run([target("eintr_wall"), "2", "itimer"], check=True,
                                capture_output=True, stdin=subprocess.DEVNULL).stdout.decode()
        beside = {line.split()[0]: line.split()[2:] for line in beside.splitlines()}
        counts = collections.Counter()
        for sample in run.samples:
            counts[sample.tid, sample.wait] += 1
        lines = run.stdout.decode().splitlines()
        self.assertEqual(len(lines), len(CALLS))
        print("call           calls  EINTR  samples | with setitimer(ITIMER_REAL): calls  EINTR")
        for line in lines:
            name, tid, calls, interrupted = line.split()
            n = counts[int(tid), CALLS[name]]
            print(f"{name:<13} {calls:>6} {interrupted:>6} {n:>8} | "
                  f"{beside[name][0]:>32} {beside[name][1]:>6}")
            self.assertEqual(int(interrupted), 0, name)
            self.assertGreaterEqual(n, least, name)
        self.assertGreater(sum(int(word[1]) for word in beside.values()), 0)

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
        run = self.record("sh", "-c", "head -c 12000000 /dev/urandom | xz -T2 -1 >/dev/null", hz=HZ,
                          options=WALL)
        coverage = float(re.search(r"coverage +([\d.]+)", run.summary).group(1))
        print(f"xz: coverage {coverage:.3f}")
        self.assertAlmostEqual(coverage, 1, delta=0.05)


if __name__ == "__main__":
    unittest.main()
