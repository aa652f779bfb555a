#!/usr/bin/python3
"""attach.py --wick WICK --gap ATTACH_GAP [--rounds 40]

For how long attaching stops a program: of one busy thread, whose own clock tells (gaps of more than 50 us), the
first time and again, beside gdb's attach; of a thread that sleeps, as wick measures it.  Then
redis-benchmark's p99 without wick and with a wick that attaches in the middle.
"""
import argparse
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time


def line(what, values, unit="ms"):
    values = sorted(values)
    p99 = values[math.ceil(len(values) * 0.99) - 1]
    print(f"{what:44} {len(values):4} median {statistics.median(values):7.3f} p99 {p99:7.3f} "
          f"most {values[-1]:7.3f} {unit}")


class Witness:
    """A program that tells of its gaps."""

    def __init__(self, program):
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen([program], stdout=self.out)
        time.sleep(0.1)

    def longest(self, since_ns):
        self.out.seek(0)
        gaps = [tuple(map(int, row.split())) for row in self.out.read().decode().splitlines()]
        return max((gap for at, gap in gaps if at + gap >= since_ns), default=0) / 1e6

    def end(self):
        self.process.kill()
        self.process.wait()


def attach(wick, pid, scratch):
    said = subprocess.run([wick, "record", "-v", "-p", str(pid), "-d", "0.05", "-F", "1", "-o",
                           os.path.join(scratch, f"{time.monotonic_ns()}.perf")],
                          capture_output=True, check=True, text=True).stderr
    return float(re.search(r"stopped for ([0-9.]+) ms", said).group(1))


def gaps(options, scratch):
    first, again, own, quiet, gdb = [], [], [], [], []
    for _ in range(options.rounds):
        witness = Witness(options.gap)
        since = time.monotonic_ns()
        time.sleep(0.2)
        quiet.append(witness.longest(since))
        since = time.monotonic_ns()
        own.append(attach(options.wick, witness.process.pid, scratch))
        first.append(witness.longest(since))
        since = time.monotonic_ns()
        attach(options.wick, witness.process.pid, scratch)
        again.append(witness.longest(since))
        if shutil.which("gdb") and len(gdb) < 10:
            since = time.monotonic_ns()
            subprocess.run(["gdb", "-p", str(witness.process.pid), "-batch", "-ex", "quit"],
                           capture_output=True, check=False, stdin=subprocess.DEVNULL)
            gdb.append(witness.longest(since))
        witness.end()
    line("busy thread, nothing attached (0.2 s), its gap", quiet)
    line("busy thread, first attach, its gap", first)
    line("busy thread, first attach, as wick has it", own)
    line("busy thread, attached again, its gap", again)
    if gdb:
        line("busy thread, gdb attaches, its gap", gdb)


def sleepers(options, scratch):
    first, again = [], []
    for _ in range(options.rounds):
        program = subprocess.Popen(["sleep", "100"])
        time.sleep(0.05)
        first.append(attach(options.wick, program.pid, scratch))
        again.append(attach(options.wick, program.pid, scratch))
        program.kill()
        program.wait()
    line("sleeping thread, first attach", first)
    line("sleeping thread, attached again", again)


def redis(options, scratch):
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        return
    socket = os.path.join(scratch, "redis.sock")
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--save", ""],
                              stdout=subprocess.DEVNULL, cwd=scratch)
    while not os.path.exists(socket):
        time.sleep(0.05)

    def record():
        """As a user would, until the load has ended."""
        return subprocess.Popen([options.wick, "record", "-q", "-p", str(server.pid), "-o",
                                 os.path.join(scratch, f"{time.monotonic_ns()}.perf")])

    def p99(requests, how=None):
        load = subprocess.Popen(["redis-benchmark", "-s", socket, "-n", str(requests), "-t", "get", "--csv"],
                                stdout=subprocess.PIPE, text=True)
        time.sleep(0.2)
        if how == "attaches":
            attach(options.wick, server.pid, scratch)
        recorder = record() if how == "records" else None
        rows = load.communicate()[0].strip().splitlines()
        if recorder:
            recorder.send_signal(signal.SIGINT)
            recorder.wait()
        head = [word.strip('"') for word in rows[0].split(",")]
        return float(rows[-1].split(",")[head.index("p99_latency_ms")].strip('"'))

    for requests, seconds, how in ((10**5, "1 s", "attaches"), (10**6, "10 s", "records")):
        pairs = [(p99(requests), p99(requests, how)) for _ in range(10)]
        line(f"redis-benchmark p99, {seconds}, without wick", [alone for alone, _ in pairs])
        line(f"redis-benchmark p99, {seconds}, wick {how} it", [beside for _, beside in pairs])
    server.kill()
    server.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wick", required=True)
    parser.add_argument("--gap", required=True)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        gaps(options, scratch)
        sleepers(options, scratch)
        redis(options, scratch)


if __name__ == "__main__":
    main()
