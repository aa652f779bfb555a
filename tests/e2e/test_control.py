"""A running recording serves requests, and only those of its user and root."""
import glob
import gzip
import json
import os
import random
import signal
import socket
import struct
import subprocess
import time
import unittest

from procfs import cpu_ns
from recorded import (LONG, PYTHON, WICK, Case, child_of, coverage, end_of, notes, read, target, use_cpu,
    wait_for)

ROUNDS = 500 if LONG else 8
MAGIC = 0x6b636977
RATES = (99, 499, 199, 999)
ENDED = 128 + signal.SIGTERM

OF_ANOTHER_USER = """
import os, socket, struct, sys
os.setgid(65534)
os.setuid(65534)
client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
client.settimeout(10)
client.connect(sys.argv[1])
try:
    client.send(bytes.fromhex(sys.argv[2]))
    reply = client.recv(65536)
    print("result", struct.unpack("<IHH", reply[:8])[2], reply.split(b"another user")[1:] != [])
except ConnectionError:
    print("dropped")
"""


def request(verb, pid, hz=0, magic=MAGIC, version=3):
    return struct.pack("<IHHiI", magic, version, verb, pid, hz)


class File:
    """A recording's file: its head, its last line, its lines about rates, and its samples."""

    def __init__(self, path):
        (head,), self.rates = notes(path, "wick"), notes(path, "rate")
        self.hz, self.end = head["hz"], end_of(path)
        self.samples = read(path)
        self.stood_ns = sum(sample.weight for sample in self.samples) * 1e9 / self.hz

    def lost(self):
        return {name: value for name, value in self.end.items()
                if (name.startswith("lost") or name in ("dropped", "late")) and value}


class Control(Case):
    def setUp(self):
        super().setUp()
        # Not in the user's own: a directory of ours, which others cannot come into either.
        self.runtime = self.path("runtime")
        os.mkdir(self.runtime, 0o700)
        self.env = {**os.environ, "XDG_RUNTIME_DIR": self.runtime}

    def begin(self, *options, command=None, hz=99):
        """A recording of a program that works until it is ended; its pid."""
        self.recorder = self.start(
            WICK, "record", "--ns", "--max-overhead", "off", "-F", hz, "-o", self.path("x.perf"),
            *options, "--", *(command or (target("split"), "10000")), env=self.env, stdout=subprocess.DEVNULL)
        self.pid = child_of(self.recorder.pid)
        self.addCleanup(self.end_program)
        wait_for(self.sockets, 30)
        return self.pid

    def end_program(self):
        if self.recorder.poll() is None:
            os.kill(self.pid, signal.SIGTERM)

    def sockets(self):
        return glob.glob(self.runtime + "/wick/*.control")

    def ask(self, verb, *arguments, pid=None, status=0):
        done = self.wick(verb, "-p", pid or self.pid, *arguments, env=self.env)
        self.assertEqual(done.returncode, status, done.stderr)
        return (done.stdout if status == 0 else done.stderr).decode()

    def state(self):
        return json.loads(self.ask("status", "--json"))

    def wait_for(self, what, enough, seconds=60):
        """Until a number of the status is enough: how long it takes is the machine's affair."""
        def state():
            found = self.state()
            return found if found[what] >= enough else None
        return wait_for(state, seconds, f"{what} >= {enough}")

    def finish(self):
        """The program's end, and the files in the order of their beginning."""
        self.end_program()
        stderr = self.recorder.communicate(timeout=60)[1].decode()
        self.assertEqual(self.recorder.returncode, ENDED, stderr)
        self.assertFalse(self.sockets(), "the socket is still there")
        paths = sorted(glob.glob(self.path("x*.perf")),
                       key=lambda path: (os.path.basename(path) != "x.perf", path))
        return [File(path) for path in paths], stderr

    def round(self, number, rng, pauses):
        self.ask("stop")
        began = time.monotonic_ns()
        use_cpu(self.pid, rng.uniform(0, 0.03))
        pauses.append((began, time.monotonic_ns()))
        self.ask("start")
        use_cpu(self.pid, 0.05)
        self.ask("rate", RATES[number % len(RATES)])
        self.assertTrue(os.path.exists(self.ask("split").strip()))
        self.ask("flush")

    def test_no_sample_is_lost_that_was_not_asked_to_be(self):
        rng = random.Random(6)
        pauses = []
        self.begin(hz=199)
        for number in range(ROUNDS):
            self.round(number, rng, pauses)
        state = self.state()
        files, _ = self.finish()
        samples = [sample for file in files for sample in file.samples]
        cpu = sum(file.end["cpu_ns"] for file in files)
        paused = sum(file.end["paused_ns"] for file in files)
        covered = sum(file.stood_ns for file in files) / cpu
        print(f"{ROUNDS} rounds: {len(files)} files, {len(samples)} samples, "
              f"{cpu / 1e9:.2f} s of CPU and {paused / 1e9:.2f} s in pauses, coverage {covered:.3f}")
        self.assertEqual(len(samples), sum(file.end["samples"] for file in files))
        self.assertGreaterEqual(len(samples), state["samples"])
        self.assertEqual([file.lost() for file in files if file.lost()], [])
        self.assertEqual([sample.time_ns for sample in samples
                          if any(a < sample.time_ns < b for a, b in pauses)], [])
        # Changes are taken up within a period or 20 ms, by chance: some 10 ms a round, and sqrt(n)
        # of them add up.
        self.assertAlmostEqual(covered, 1, delta=0.02 + 5 * 0.01e9 * ROUNDS ** 0.5 / cpu)
        times = [sample.time_ns for sample in samples]
        self.assertEqual(times, sorted(times), "a sample is in the file of another's time")

    def test_each_file_counts_in_its_own_rate(self):
        self.begin(hz=99)
        stood = []
        for hz in (99, 997, 49):
            if hz != 99:
                self.ask("rate", hz)
            self.assertEqual(self.state()["hz"], hz)
            before = cpu_ns(self.pid)
            use_cpu(self.pid, 0.8)
            stood.append(cpu_ns(self.pid) - before)
        files, stderr = self.finish()
        self.assertEqual([file.hz for file in files], [99, 997, 49])
        for file, ns in zip(files, stood):
            # a period at either end, and what passed while the command was on its way
            self.assertGreater(file.stood_ns, ns - 2e9 / file.hz - 0.05e9)
        for path in ("x.perf", "x.0001.perf", "x.0002.perf"):
            facts = self.wick("info", self.path(path)).stdout.decode()
            self.assertAlmostEqual(coverage(facts), 1, delta=0.1)
        with open(self.path("all.perf"), "wb") as one:
            for path in ("x.perf", "x.0001.perf", "x.0002.perf"):
                with open(self.path(path), "rb") as part:
                    one.write(part.read())
        facts = self.wick("info", self.path("all.perf")).stdout.decode()
        self.assertRegex(facts, r"at 49 to 997 Hz")
        self.assertAlmostEqual(coverage(facts), 1, delta=0.05)
        self.assertAlmostEqual(coverage(stderr), 1, delta=0.05)
        self.assertIn(" at 49 to 997 Hz, ", stderr)

    def test_a_paused_recording_begins_when_it_is_told_to(self):
        self.begin("--paused")
        use_cpu(self.pid, 0.5)
        state = self.state()
        self.assertEqual((state["state"], state["samples"]), ("paused", 0))
        self.ask("start")
        self.wait_for("samples", 50)
        files, stderr = self.finish()
        self.assertEqual([rate["paused"] for rate in files[0].rates], [False])
        self.assertGreater(files[0].end["paused_ns"], 0.4e9)
        self.assertAlmostEqual(coverage(stderr), 1, delta=0.1)

    def test_threads_of_a_pause_are_found_behind_it(self):
        self.begin("--paused", command=(target("heavy_threads"), "20", "8", "60", "1"))
        use_cpu(self.pid, 0.5)
        self.ask("start")
        use_cpu(self.pid, 1)
        self.wait_for("samples", 50)
        self.ask("stop")
        used = self.state()
        use_cpu(self.pid, 0.3)
        self.assertEqual(self.state()["samples"], used["samples"])
        files, _ = self.finish()
        self.assertGreater(len({sample.tid for sample in files[0].samples}), 3)

    def test_wall_time_follows_pauses_and_rates(self):
        self.begin("-e", "wall", command=("sleep", "60"))
        stood = []
        for verb in (("stop",), ("start",), ("rate", 499), ("rate", 49)):
            began = time.monotonic()
            time.sleep(0.8)
            self.ask(*verb)
            stood.append(time.monotonic() - began)
        files, _ = self.finish()
        self.assertEqual([file.hz for file in files], [99, 499, 49])
        # The sleeper's time outside of the pause; turns are late on a busy machine.
        for file, least, most in ((files[0], 1.5, stood[0] + stood[2]), (files[1], 0.75, stood[3])):
            self.assertGreater(file.stood_ns / 1e9, least)
            self.assertLess(file.stood_ns / 1e9, most + 0.3)

    def test_a_flush_has_everything_on_disk(self):
        self.begin("--flush", "60s", hz=499)
        self.wait_for("samples", 200)
        known = self.state()["samples"]
        path = self.ask("flush").strip()
        self.assertEqual(path, self.path("x.perf"))
        self.assertGreaterEqual(len(read(path)), known)
        self.finish()

    def test_a_file_that_is_told_is_there_compressed_or_not(self):
        self.begin("--compress", "gz", hz=199)
        self.wait_for("samples", 50)
        path = self.ask("split").strip()
        self.assertEqual(path, self.path("x.perf.gz"))
        with gzip.open(path, "rt") as file:
            self.assertIn("# wick-end", file.read())
        self.assertEqual(self.ask("flush").strip(), self.path("x.0001.perf"))

    def test_it_is_found_by_any_process_that_is_recorded(self):
        self.begin(command=("sh", "-c", f"{target('split')} 10000 & wait"))
        self.wait_for("processes", 2)  # the shell has forked
        child = child_of(self.pid)
        self.addCleanup(os.kill, child, signal.SIGTERM)
        for pid in (self.recorder.pid, self.pid, child):
            self.assertIn(f"by wick (pid {self.recorder.pid})", self.ask("status", pid=pid))
        said = self.ask("status", pid=os.getpid(), status=8)
        self.assertIn(f"you have no recording of process {os.getpid()}", said)

    def test_all_recordings_are_named(self):
        """Those of the same user elsewhere may be among them."""
        self.begin()
        second = self.record_into(self.path("y.perf"), "-q", "-p", os.getpid(), env=self.env)
        self.addCleanup(second.wait)
        self.addCleanup(second.terminate)
        wait_for(lambda: len(self.sockets()) == 2 or second.poll() is not None)
        self.assertIsNone(second.poll())
        done = self.wick("status", "--json", env=self.env)
        found = {reply["wick_pid"]: reply for reply in map(json.loads, done.stdout.splitlines())}
        self.assertEqual(found[self.recorder.pid]["pid"], self.pid)
        self.assertEqual(found[second.pid]["path"], self.path("y.perf"))
        said = self.wick("status", env=self.env).stdout.decode()
        self.assertIn(f"(pid {self.pid}) by wick (pid {self.recorder.pid})", said)
        self.assertIn("\n\nrecording: ", said)

    def test_what_makes_no_sense_is_said(self):
        self.begin()
        for arguments, word in ((("rate", "-p", self.pid), "no rate given"),
                                (("rate", "-p", self.pid, "0"), "0"),
                                (("rate", "-p", self.pid, "99", "9"), "unexpected argument '9'"),
                                (("rate", "99", "-p", self.pid, "9"), "unexpected argument '9'"),
                                (("stop",), "no process given, try: wick stop -p PID"),
                                (("stop", "-p", "me"), "'me' is not a process id")):
            done = self.wick(*arguments, env=self.env)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(word, done.stderr.decode())
        self.assertEqual(self.state()["hz"], 99)
        self.assertEqual(self.wick("rate", "101", "-p", self.pid, env=self.env).returncode, 0)
        self.assertEqual(self.state()["hz"], 101)
        self.assertNotIn("note", self.state())

    def test_a_rate_above_the_tick_is_taken_and_said(self):
        self.begin("--engine", "ctimer")
        done = self.wick("rate", "-p", self.pid, "4999", env=self.env)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr.decode(), r"at most at the kernel's .* Hz tick; .*, try: .*-F 4999\n")
        self.assertIn("Hz tick", self.state()["note"])
        self.assertIn("of 4999 asked; samples come at", self.ask("status"))

    @unittest.skipUnless(os.geteuid() == 0, "only root makes a pid namespace")
    def test_one_in_a_pid_namespace_leaves_the_others_their_sockets(self):
        self.begin()
        done = subprocess.run(
            ["unshare", "--pid", "--fork", "--mount-proc", WICK, "record", "-o", self.path("inner.perf"),
             "--", "true"], env=self.env, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.state()["pid"], self.pid)

    def test_peers_that_lie_are_dropped(self):
        self.begin()
        path = self.sockets()[0]
        lies = [b"", b"x", request(2, self.pid)[:-1], request(2, self.pid) + b"x",
                request(2, self.pid, magic=1), request(2, self.pid, version=9),
                request(0, self.pid), request(99, self.pid), request(2, -1), b"x" * 60000]
        for lie in lies:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
                peer.settimeout(20)
                peer.connect(path)
                if lie:
                    peer.send(lie)
                else:
                    peer.shutdown(socket.SHUT_WR)
                try:
                    self.assertEqual(peer.recv(65536), b"", lie)
                except ConnectionError:
                    pass
        silent = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(40)]
        for peer in silent:
            peer.connect(path)
        self.assertEqual(self.state()["state"], "recording")
        for peer in silent:
            peer.close()
        files, _ = self.finish()
        self.assertEqual(files[0].rates, [])

    def test_one_that_is_stopped_keeps_nobody_waiting(self):
        self.begin()
        os.kill(self.recorder.pid, signal.SIGSTOP)
        stopped = f"its wick record is stopped by a signal, try: kill -CONT {self.recorder.pid}"
        self.assertIn(stopped, self.ask("status", status=8))
        self.assertIn(stopped, self.ask("stop", status=8))
        crowd = []
        while not crowd or crowd[-1].connect_ex(self.sockets()[0]) == 0:
            crowd.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK))
        self.assertIn(stopped, self.ask("status", status=8))
        os.kill(self.recorder.pid, signal.SIGCONT)
        for peer in crowd:
            peer.close()
        self.assertEqual(self.state()["state"], "recording")

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_another_user_is_refused(self):
        self.begin()
        path = self.sockets()[0]
        self.assertEqual(os.stat(os.path.dirname(path)).st_mode & 0o7777, 0o700)
        nobody = [PYTHON, "-c", OF_ANOTHER_USER, path, request(2, self.pid).hex()]
        done = subprocess.run(nobody, capture_output=True, check=False)
        self.assertIn(b"PermissionError", done.stderr)
        # The way is opened by force: who it is decides then.
        for place in (self.dir, self.runtime, os.path.dirname(path)):
            os.chmod(place, 0o711)
        os.chmod(path, 0o777)
        done = subprocess.run(nobody, capture_output=True, check=False)
        self.assertEqual(done.stdout, b"result 4 True\n", done.stderr)
        os.chmod(os.path.dirname(path), 0o700)
        self.assertEqual(self.state()["state"], "recording")

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_a_directory_that_others_can_come_into_is_not_used(self):
        os.mkdir(self.runtime + "/wick", 0o777)
        os.chmod(self.runtime + "/wick", 0o777)
        done = self.wick("record", "-o", "y.perf", "--", "true", env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(glob.glob(self.runtime + "/wick/*"), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
