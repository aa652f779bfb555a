#!/usr/bin/env python3
"""Whether real programs are sampled at the rate that was asked for, and what it costs.

usage: rates.py --wick WICK --charged CHARGED [--seconds 10] [--hz 0 99 250 499 999]
                [--only NAME...]

ffmpeg, node and xz are started by the recorder; redis-server under redis-benchmark and a backend of
postgres under pgbench run already.  Every row is a recording of some seconds with wick's default
options ("-": also its rate), beside `perf record -g` at the same rate.
  samples  of the file; count: they against the rate times the CPU that the kernel charged; weight:
           the sum of their weights against the same
  lowest   the lowest rate that the file's "# rate" lines tell; "-": there is no such line
  told     what wick tells as its cost: in the program, of its own, in percent of the program's CPU
  own CPU  of the recorder as the kernel charged it, in percent of the program's
--only NAME: ffmpeg, node, xz, redis, postgres.
"""
import argparse
import bisect
import contextlib
import glob
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from recording import Ended, Wick, perf_times

CPU_CLOCK = 2  # of a process, as CLOCK_PROCESS_CPUTIME_ID: linux/posix-timers_types.h
ATTACH_S = 0.5
DEFAULT_HZ = 99
FFMPEG = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-f", "lavfi", "-i",
          "testsrc=size=640x360:rate=25", "-c:v", "libx264", "-f", "null", "-"]
NODE = """const end = Date.now() + 1000 * %g; let found = 0, words = {};
while (Date.now() < end) for (let i = 0; i < 20000; i++) {
  const word = 'w' + (i * 7919 %% 1009); words[word] = (words[word] || 0) + JSON.stringify([i, word]).length;
  found += words[word] & 1; }
console.log(found);"""


def feed_nothing(stream, seconds):
    del stream, seconds


def feed_data(stream, seconds):
    """What xz compresses until the time is over."""
    block = b"".join(os.urandom(1024) + b"wick%05d" % i * 300 for i in range(64))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        stream.write(block)


def feed_quit(stream, seconds):
    time.sleep(seconds)
    stream.write(b"q")


def launched_programs(seconds):
    return {"ffmpeg": (FFMPEG, feed_quit), "node": (["node", "-e", NODE % seconds], feed_nothing),
            "xz": (["xz", "-T1", "-4", "-c"], feed_data)}


class CpuWatch:
    """The CPU time of a process, read over and over: how much it used between two moments."""

    def __init__(self, pid):
        self.clock, self.times, self.used = ~pid << 3 | CPU_CLOCK, [], []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        with contextlib.suppress(OSError):  # it has ended
            while True:
                self.times.append(time.monotonic())
                self.used.append(time.clock_gettime(self.clock))
                if self.over.wait(0.01):
                    return

    def end(self):
        self.over.set()
        self.thread.join()

    def at(self, moment):
        after = min(max(bisect.bisect(self.times, moment), 1), len(self.times) - 1)
        t0, t1 = self.times[after - 1:after + 1]
        c0, c1 = self.used[after - 1:after + 1]
        return c0 + (c1 - c0) * (moment - t0) / (t1 - t0)


class Row:
    def __init__(self, samples, weight, cpu, own):
        self.samples, self.weight, self.cpu, self.own = samples, weight, cpu, own

    def words(self, hz):
        due = hz * self.cpu
        return (f"{self.samples:7} {self.samples / due:7.3f} {self.weight / due:7.3f} "
                f"{100 * self.own / self.cpu:8.2f} %")


class Bench:
    def __init__(self, options, directory):
        self.options, self.dir = options, directory
        self.wick = Wick(options.wick, directory)
        self.charged = os.path.join(directory, "charged")
        self.data = os.path.join(directory, "perf.data")

    def perf(self, hz, *words, stdin=subprocess.DEVNULL):
        return subprocess.Popen(["perf", "record", "-q", "-k", "CLOCK_MONOTONIC", "-g", "-F", str(hz),
                                 "-o", self.data, *words], stdin=stdin, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def fed(self, process, feed):
        """The end of a recorder whose program reads its standard input."""
        start = time.monotonic()
        with contextlib.suppress(BrokenPipeError):
            feed(process.stdin, self.options.seconds)
            process.stdin.close()
        return Ended(process, start)

    def launched(self, program, feed, hz):
        """Rows of wick and of perf, and wick's Recording."""
        command = ["--", self.options.charged, self.charged, *program]
        flags = ["-F", hz] if hz else []
        ended = self.fed(self.wick.start(*flags, *command, stdin=subprocess.PIPE), feed)
        recording = self.wick.read()
        if recording.refusal():
            return None, None, recording
        ours = Row(recording.samples, recording.weight, *self.own(ended))
        if not shutil.which("perf"):
            return ours, None, recording
        ended = self.fed(self.perf(hz or DEFAULT_HZ, *command, stdin=subprocess.PIPE), feed)
        samples = len(perf_times(self.data))
        return ours, Row(samples, samples, *self.own(ended)), recording

    def own(self, ended):
        """CPU of the program, and of what recorded it."""
        with open(self.charged, encoding="ascii") as file:
            cpu = float(file.read())
        return cpu, ended.cpu - cpu

    def attached(self, pid, hz):
        flags, start = ["-F", hz] if hz else [], time.monotonic()
        watch = CpuWatch(pid)
        ended = Ended(self.wick.start(*flags, "-d", f"{self.options.seconds}s", "-p", pid), start)
        watch.end()
        recording = self.wick.read()
        if recording.refusal() or recording.samples < 2:
            return None, None, recording
        ours = Row(recording.samples, recording.weight, self.used(watch, recording.times), ended.cpu)
        if not shutil.which("perf"):
            return ours, None, recording
        watch, start = CpuWatch(pid), time.monotonic()
        ended = Ended(self.perf(hz or DEFAULT_HZ, "-p", str(pid), "--", "sleep",
                                str(self.options.seconds)), start)
        watch.end()
        times = perf_times(self.data)
        return (ours, Row(len(times), len(times), self.used(watch, times), ended.cpu), recording)

    def used(self, watch, times):
        """CPU while a recording was attached: from its first sample on, for as long as it was to be."""
        return watch.at(max(times[-1], times[0] + self.options.seconds - ATTACH_S)) - watch.at(times[0])

    def print_row(self, name, hz, rows):
        ours, perf, recording = rows
        head = f"{name:9} {hz or '-':>5}"
        if not ours:
            print(f"{head}  did not run: {recording.refusal() or 'no samples'}", flush=True)
            return
        head_hz = int(re.search(r'^# wick : .*"hz":(\d+)', recording.text, re.M).group(1))
        told = (f"{recording.in_program:6.2f} {recording.of_wick:6.2f} %"
                if recording.in_program is not None else f"{'not told':>15}")
        print(f"{head} {head_hz:5} {ours.cpu:6.2f} s {ours.words(head_hz)} {lowest(recording):>7} {told}"
              f"   perf {perf.words(hz or DEFAULT_HZ) if perf else 'is not installed'}", flush=True)


def lowest(recording):
    """The lowest rate of the file's lines."""
    rates = [json.loads(line.split(" : ", 1)[1])["effective_hz"] for line in recording.rate_lines]
    return f"{min(rates)} Hz" if rates else "-"


@contextlib.contextmanager
def running(*command, **popen):
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **popen)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def wait_for(condition, what):
    for _ in range(2000):
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise RuntimeError(f"{what} did not come")


@contextlib.contextmanager
def redis():
    """The pid of a redis-server with work to do."""
    with tempfile.TemporaryDirectory(prefix="wick-redis-") as directory:
        path = os.path.join(directory, "redis.sock")
        with running("redis-server", "--port", 0, "--unixsocket", path, "--save", "",
                     cwd=directory) as server:
            wait_for(lambda: os.path.exists(path), "redis-server")
            with running("redis-benchmark", "-s", path, "-l", "-q", "-t", "get,set"):
                time.sleep(ATTACH_S)
                yield server.pid


def backend_of(server):
    """The process that serves pgbench."""
    with open(f"/proc/{server}/task/{server}/children", encoding="ascii") as file:
        for pid in file.read().split():
            with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as words:
                if b"[local]" in words.read():
                    return int(pid)
    return None


@contextlib.contextmanager
def postgres():
    """The pid of a backend with work to do; as another user, since postgres refuses root."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
    user = pwd.getpwnam("nobody")
    drop = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    drop = drop if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="wick-postgres-") as directory:
        if drop:
            os.chown(directory, user.pw_uid, user.pw_gid)
        data = os.path.join(directory, "data")
        subprocess.run([*drop, f"{programs}/initdb", "-D", data, "-U", "wick", "-A", "trust", "-N"],
                       stdout=subprocess.DEVNULL, cwd=directory, check=True)
        login = ["-h", directory, "-U", "wick"]
        with running(*drop, f"{programs}/postgres", "-D", data, "-k", directory, "-c",
                     "listen_addresses=", "-F", cwd=directory) as server:
            wait_for(lambda: subprocess.run([f"{programs}/pg_isready", "-q", *login],
                                            check=False).returncode == 0, "postgres")
            subprocess.run([f"{programs}/pgbench", "-i", "-q", *login, "postgres"], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with running(f"{programs}/pgbench", "-c", 1, "-T", 100000, "-S", *login, "postgres"):
                time.sleep(ATTACH_S)  # its first one serves one question
                yield wait_for(lambda: backend_of(server.pid), "the backend of pgbench")


ATTACHED = {"redis": ("redis-benchmark", redis), "postgres": ("pgbench", postgres)}


def main():
    parser = argparse.ArgumentParser()
    for name in ("wick", "charged"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--hz", type=int, nargs="+", default=[0, 99, 250, 499, 999],
                        help="0: wick's default")
    parser.add_argument("--only", nargs="+", default=[])
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what runs beside is ended
    print(f"{'program':9} {'asked':>5} {'rate':>5} {'CPU':>8} {'samples':>7} {'count':>7} "
          f"{'weight':>7} {'own CPU':>10} {'lowest':>7} {'told: in program, own':>15}   perf: samples, count, weight, own CPU")
    with tempfile.TemporaryDirectory(prefix="wick-bench-") as directory:
        bench = Bench(options, directory)
        for name, (program, feed) in launched_programs(options.seconds).items():
            if (not options.only or name in options.only) and shutil.which(program[0]):
                for hz in options.hz:
                    bench.print_row(name, hz, bench.launched(program, feed, hz))
        for name, (needs, start) in ATTACHED.items():
            if (not options.only or name in options.only) and shutil.which(needs):
                with start() as pid:
                    for hz in options.hz:
                        bench.print_row(name, hz, bench.attached(pid, hz))


if __name__ == "__main__":
    main()
