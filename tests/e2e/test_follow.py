#!/usr/bin/python3
"""Children of programs that have joined: those that execute another program, or were made by vfork,
posix_spawn, system and popen, join as well; what was too short for that is told of."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from recorded import Case, WICK, read, target, wait_for

HZ = 199
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


def end_line(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(re.findall(r"^# wick-end : (.*)$", file.read(), re.MULTILINE)[-1])


class FollowCase(Case):
    def setUp(self):
        super().setUp()
        if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
            self.skipTest("the kernel has no lists of children")

    def start(self, *command):
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, 20)
        self.addCleanup(process.kill)
        return process

    def parent(self, seconds, kinds, times=1, program=target("joined_life")):
        process = self.start(sys.executable, "-c", PARENT, seconds, kinds, times, program)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def record(self, parents, *options):  # pylint: disable=arguments-differ
        """What their children have used, what of it is in the samples, and what is said to be missing."""
        path = self.path("r.perf")
        with open(path + ".err", "wb") as said:
            wick = subprocess.Popen([WICK, "record", "-F", str(HZ), "--max-overhead", "off", *options, "-o", path,
                                     "-p", ",".join(str(parent.pid) for parent in parents)], stderr=said)
        self.addCleanup(wick.kill)
        wait_for(lambda: os.path.exists(path) or wick.poll() is not None)
        for parent in parents:
            parent.send_signal(signal.SIGUSR1)
        used = sum(float(parent.stdout.readline()) for parent in parents)
        for parent in parents:
            parent.stdin.close()
        self.assertEqual(wick.wait(60), 0)
        for parent in parents:
            self.assertEqual(parent.wait(20), 0)
        with open(path + ".err", encoding="utf-8") as said:
            summary = said.read()
        samples = [sample for sample in read(path) if sample.pid not in {parent.pid for parent in parents}]
        return used, samples, end_line(path)["children_missed_ns"] / 1e9, summary


class Follow(FollowCase):
    def test_every_kind_joins(self):
        """Each has an agent after two looks; physics.joining has what it used until then."""
        kinds = ("spawn", "vfork", "system", "popen", "fork", "thread")
        parents = [self.parent(0.6, kind) for kind in kinds]
        used, samples, missed, summary = self.record(parents)
        self.assertGreater(used, 0.55 * len(kinds))
        sampled = sum(sample.weight for sample in samples) / HZ
        self.assertGreater(sampled, 0.4 * used, (sampled, missed, used, summary))
        by_pid = {sample.pid for sample in samples if any(frame.symbol == "burn_life" for frame in sample.frames)}
        self.assertEqual(len(by_pid), len(kinds), summary)
        joined = int(re.search(r"children +(\d+) joined", summary).group(1))
        self.assertIn(joined, (len(kinds), len(kinds) + 1, len(kinds) + 2), summary)  # and two shells

    def test_what_is_too_short_is_told(self):
        """No child lives for two looks: nobody joins, nothing is sampled, and all of it is said."""
        used, samples, missed, summary = self.record([self.parent(0.01, "spawn,vfork", 30)])
        sampled = sum(sample.weight for sample in samples) / HZ
        self.assertLess(abs(sampled + missed - used), 0.05 * used + 0.03, (sampled, missed, used, summary))
        self.assertRegex(summary, r"children .*of CPU before that, or of others that ended soon: not sampled")

    def test_a_static_child_is_looked_at_from_outside(self):
        program = self.path("burn-static")
        with open(program, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\nexec {target('split_static')} 0.6 >/dev/null\n")
        os.chmod(program, 0o755)
        used, samples, missed, summary = self.record([self.parent(0, "vfork", 1, program)])
        sampled = sum(sample.weight for sample in samples) / HZ
        self.assertLess(abs(sampled + missed - used), 0.1 * used + 0.05, (sampled, missed, used, summary))
        self.assertIn("1 program looked at with ptrace", summary)
        self.assertIn("burn_seventy", {frame.symbol for sample in samples for frame in sample.frames}, summary)

    def test_a_static_child_is_named_where_ptrace_is_not_wanted(self):
        program = self.path("burn-static")
        shutil.copy(target("split_static"), program)
        process = self.start("/bin/sh", "-c", f"read x; {program} 0.5; true")
        with open(self.path("err"), "wb") as said:
            wick = subprocess.Popen([WICK, "record", "--engine", "ctimer", "-o", self.path("s.perf"),
                                     "-p", str(process.pid)], stderr=said)
        wait_for(lambda: os.path.exists(self.path("s.perf")))
        process.communicate(b"\n", timeout=30)
        self.assertEqual(wick.wait(30), 0)
        with open(self.path("err"), encoding="utf-8") as said:
            self.assertRegex(said.read(), r"children: 1 did not join, the last one: process \d+ .*")

    def test_a_child_in_its_parents_memory_is_left_alone(self):
        """0.4 s between vfork and exec: to join there would be to do something to its parent."""
        process = self.start(target("joined_life"), "within", 1, 400000)
        with open(self.path("err"), "wb") as said:
            wick = subprocess.Popen([WICK, "record", "-F", str(HZ), "-o", self.path("v.perf"), "-p", str(process.pid)],
                                    stderr=said)
        wait_for(lambda: os.path.exists(self.path("v.perf")))
        process.send_signal(signal.SIGUSR1)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(wick.wait(30), 0)
        with open(self.path("err"), encoding="utf-8") as said:
            summary = said.read()
        self.assertEqual((process.returncode, out), (0, b"1 lives, 0 killed, 0 failed\n"), summary)
        self.assertNotIn("did not join", summary)
        self.assertIn("children    1 joined;", summary)  # once it had an image of its own
        sampled = sum(sample.weight for sample in read(self.path("v.perf")) if sample.pid != process.pid) / HZ
        missed = end_line(self.path("v.perf"))["children_missed_ns"] / 1e9
        self.assertLess(abs(sampled + missed - 0.8), 0.08, (sampled, missed, summary))
        self.assertGreater(missed, 0.38)

    def test_whom_they_start_is_left_out(self):
        """Nobody joins, neither by fork alone nor later, and nothing is said to be missing."""
        used, samples, missed, summary = self.record([self.parent(0.2, "self,spawn,system,fork")], "--no-children")
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
        self.assertNotRegex(said, r"children|not sampled|no timer|outside")

    def test_the_recording_ends_with_those_that_were_named(self):
        process = self.start("/bin/sh", "-c", f"read x; {target('busy')} 20 >/dev/null & sleep 0.5")
        wick = subprocess.Popen([WICK, "record", "-q", "-F", str(HZ), "-o", self.path("e.perf"), "-p", str(process.pid)])
        wait_for(lambda: os.path.exists(self.path("e.perf")))
        began = time.monotonic()
        process.communicate(b"\n", timeout=30)
        self.assertEqual(wick.wait(30), 0)
        self.assertLess(time.monotonic() - began, 10)
        pids = {sample.pid for sample in read(self.path("e.perf"))} - {process.pid}
        self.assertEqual(len(pids), 1)
        child = pids.pop()
        os.kill(child, 0)
        os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
