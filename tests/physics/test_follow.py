#!/usr/bin/python3
"""Children of attached programs: those that execute another program, or were made by vfork,
posix_spawn, system and popen, are attached to as well; what was too short for that is reported."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from judged import Judged
from recorded import end_of, read, target, text_of, wait_for

HZ = 199
MOST_LATE_S = 0.1  # wick's scans for new processes
# A child of every kind for S seconds of CPU, one after the other; then the CPU of them all, by the kernel.
PARENT = r"""
import os, resource, signal, subprocess, sys, time
seconds, kinds, times = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3])
burn = [sys.argv[4], "after", str(int(float(seconds) * 1e6))]
shell = "; ".join([" ".join(burn), "true"])
signal.signal(signal.SIGUSR1, lambda *_: None)
print("ready", flush=True)
signal.pause()
for _ in range(times):
    if "spawn" in kinds:
        os.waitpid(os.posix_spawn(burn[0], burn, os.environ), 0)
    if "vfork" in kinds:
        subprocess.run(burn)
    if "system" in kinds:
        os.system(shell)
    if "popen" in kinds:
        os.popen(shell).close()
    if "fork" in kinds:
        pid = os.fork()
        if not pid:
            os.execv(burn[0], burn)
        os.waitpid(pid, 0)
    if "self" in kinds:
        pid = os.fork()
        if not pid:
            while time.process_time() < float(seconds):
                pass
            os._exit(0)
        os.waitpid(pid, 0)
    if "thread" in kinds:
        import threading
        thread = threading.Thread(target=lambda: subprocess.run(burn))
        thread.start()
        thread.join()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, flush=True)
sys.stdin.read()
"""


class Follow(Judged):
    def setUp(self):
        super().setUp()
        if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
            self.skipTest("the kernel has no lists of children")

    def asked(self, *command):
        """A program that waits for its standard input."""
        return self.start(*command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def parent(self, seconds, kinds, times=1, program=target("attached_life")):
        process = self.asked(sys.executable, "-c", PARENT, seconds, kinds, times, program)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def fresh(self, name):
        """A path where nothing is, also when a run is repeated."""
        path = self.path(name)
        if os.path.exists(path):
            os.unlink(path)
        return path

    def record(self, parents, *options):  # pylint: disable=arguments-differ
        """What their children have used, what of it is in the samples, and what is said to be missing."""
        path = self.fresh("r.perf")
        with open(path + ".err", "wb") as said:
            wick = self.record_into(path, "-F", HZ, "--max-overhead", "off", *options,
                                 "-p", ",".join(str(parent.pid) for parent in parents), stderr=said)
        for parent in parents:
            parent.send_signal(signal.SIGUSR1)
        used = sum(float(parent.stdout.readline()) for parent in parents)
        for parent in parents:
            parent.stdin.close()
        self.assertEqual(wick.wait(60), 0)
        for parent in parents:
            self.assertEqual(parent.wait(20), 0)
        summary = self.summary_of(path)
        samples = [sample for sample in read(path) if sample.pid not in {parent.pid for parent in parents}]
        return used, samples, end_of(path)["children_missed_ns"] / 1e9, summary

    def recorded(self, *parents, options=()):
        """As record(), of children that begin again when wick's looks came late."""
        return self.conclusive(lambda: self.record([self.parent(*words) for words in parents], *options),
                               delay_s=MOST_LATE_S)[0]

    def assert_all_there(self, found, exact):
        used, samples, missed, summary = found
        sampled = sum(sample.weight for sample in samples) / HZ
        self.assert_near(sampled + missed, used, exact=exact, what=summary)
        return sampled

    def test_attaches_to_every_kind(self):
        """Each has an agent after two scans."""
        kinds = ("spawn", "vfork", "system", "popen", "fork", "thread")
        used, samples, missed, summary = self.recorded(*((0.6, kind) for kind in kinds))
        self.assertGreater(used, 0.55 * len(kinds))
        sampled = sum(sample.weight for sample in samples) / HZ
        self.assertGreater(sampled, 0.4 * used, (sampled, missed, used, summary))
        by_pid = {sample.pid for sample in samples if any(frame.symbol == "burn_life" for frame in sample.frames)}
        self.assertEqual(len(by_pid), len(kinds), summary)
        attached = int(re.search(r"children +(\d+) attached", summary).group(1))
        self.assertIn(attached, (len(kinds), len(kinds) + 1, len(kinds) + 2), summary)  # and two shells

    def test_reports_what_they_used_before_attaching(self):
        """One after the other: children that put each other off before the tick are not seen by it."""
        kinds = ("spawn", "vfork", "system", "popen", "fork", "thread")
        found = self.recorded((0.6, ",".join(kinds)))
        # Six bursts end in mid-period, and the kernel tells of the CPU of each in ticks of 0.01 s.
        self.assert_all_there(found, 0.05 * found[0] + len(kinds) * 0.03)

    def test_what_is_too_short_is_told(self):
        """No child lives for two scans: none is attached to, nothing is sampled, and all of it is reported."""
        found = self.recorded((0.01, "spawn,vfork", 30))
        self.assert_all_there(found, 0.05 * found[0] + 0.03)
        self.assertRegex(found[3], r"children .*of CPU before that, or in others that ended early, was not sampled")

    def test_a_static_child_is_sampled_externally(self):
        program = self.write("burn-static", f"#!/bin/sh\nexec {target('split_static')} 0.6 >/dev/null\n", 0o755)
        found = self.recorded((0, "vfork", 1, program))
        self.assert_all_there(found, 0.1 * found[0] + 0.05)
        _, samples, _, summary = found
        self.assertIn("1 program sampled with ptrace", summary)
        self.assertIn("burn_seventy", {frame.symbol for sample in samples for frame in sample.frames}, summary)

    def test_a_static_child_is_named_where_ptrace_is_not_wanted(self):
        program = self.path("burn-static")
        shutil.copy(target("split_static"), program)
        process = self.asked("/bin/sh", "-c", f"read x; {program} 0.5; true")
        with open(self.path("err"), "wb") as said:
            wick = self.record_into(self.path("s.perf"), "--engine", "ctimer", "-p", process.pid, stderr=said)
        process.communicate(b"\n", timeout=30)
        self.assertEqual(wick.wait(30), 0)
        self.assertRegex(text_of(self.path("err")), r"children: wick could not attach to 1, the last one: process \d+ .*")

    def within(self):
        """(what it printed, the summary) of one that does much between vfork and exec."""
        process = self.asked(target("attached_life"), "within", 1, 400000)
        with open(self.path("err"), "wb") as said:
            wick = self.record_into(self.fresh("v.perf"), "-F", HZ, "-p", process.pid, stderr=said)
        process.send_signal(signal.SIGUSR1)
        out, _ = process.communicate(timeout=60)
        self.assertEqual((process.returncode, wick.wait(30)), (0, 0))
        return process.pid, out, text_of(self.path("err"))

    def test_a_child_in_its_parents_memory_is_left_alone(self):
        """0.4 s between vfork and exec: to attach there would change its parent."""
        (pid, out, summary), _ = self.conclusive(self.within, delay_s=MOST_LATE_S)
        self.assertEqual(out, b"1 lives, 0 killed, 0 failed\n", summary)
        self.assertNotIn("could not attach", summary)
        self.assertIn("children    1 attached;", summary)  # once it had an image of its own
        sampled = sum(sample.weight for sample in read(self.path("v.perf")) if sample.pid != pid) / HZ
        missed = end_of(self.path("v.perf"))["children_missed_ns"] / 1e9
        self.assert_near(sampled + missed, 0.8, exact=0.08, what=summary)
        self.assertGreater(missed, 0.38)

    def test_whom_they_start_is_left_out(self):
        """No child is attached to, neither by fork alone nor later, and nothing is reported missing."""
        used, samples, missed, summary = self.recorded((0.2, "self,spawn,system,fork"), options=("--no-children",))
        self.assertGreater(used, 0.7)
        self.assertEqual((samples, missed), ([], 0), summary)
        self.assertNotRegex(summary, r"children|not sampled|no timer")
        self.assertIn(", 1 process\n", summary)

    def test_whom_cmd_starts_is_left_out(self):
        """What has our environment, what is a fork of CMD, and what takes no agent; an exec of CMD itself is none."""
        burn = f"{target('busy')} 0.2 >/dev/null"
        script = f"{burn}; ({burn}; true); {target('split_static')} 0.2 >/dev/null; exec {burn}"
        path = self.path("c.perf")
        done = self.wick("record", "--no-children", "-F", str(HZ), "-o", path, "--", "/bin/sh", "-c", script)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 0, said)
        self.assertEqual(len({sample.pid for sample in read(path)}), 1, said)
        self.assertIn("busy", {sample.comm for sample in read(path)}, said)
        self.assertNotRegex(said, r"children|not sampled|no timer|outside|ptrace")

    def test_the_recording_ends_with_those_that_were_named(self):
        """Whom they have started is left behind, and was recorded until then."""
        path = self.fresh("e.perf")
        process = self.asked("/bin/sh", "-c", f"read x; {target('busy')} 20 >/dev/null & read x")
        wick = self.record_into(path, "-q", "-F", HZ, "-p", process.pid)
        process.stdin.write(b"\n")
        process.stdin.flush()
        others = wait_for(lambda: os.path.exists(path) and {sample.pid for sample in read(path)} - {process.pid})
        process.communicate(b"\n", timeout=30)
        ended = time.monotonic()
        self.assertEqual(wick.wait(30), 0)
        self.assertLess(time.monotonic() - ended, 10)
        self.assertEqual(len(others), 1)
        os.kill(others.pop(), signal.SIGKILL)  # it is there


if __name__ == "__main__":
    unittest.main()
