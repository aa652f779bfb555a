#!/usr/bin/env python3
"""What each engine delivers and costs at five rates, beside `perf record`, and in step with the tick.

usage: engines.py --wick WICK --charged CHARGED --lockstep LOCKSTEP [--rounds 3]
                  [--hz 99 250 999 4999 10000] [--seconds 4]

A program of fixed work runs bare and every way in turn, so that a machine that drifts drifts for
all; figures are medians over the rounds.  Per rate and way:
  count    samples against the CPU that the kernel charged, times the rate; weight: the same
  target   CPU of the target as ratio to the bare run's of the same round
  a sample what that is, in microseconds of the target's CPU
  recorder CPU seconds of everything else
The second table has, for 8 phases of a program that works 1 ms every tick of 4 ms, the CPU that
samples stand for against what the program used.
"""
import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile

WORK = ["perl", "-e", "$x = ($x * 31 + $_) % 65537 for 1..40000000; print $x"]


class Bench:
    def __init__(self, arguments, directory):
        self.arguments, self.dir = arguments, directory

    def path(self, name):
        return os.path.join(self.dir, name)

    def fresh(self, name):
        if os.path.exists(self.path(name)):
            os.unlink(self.path(name))
        return self.path(name)

    def wick(self, engine, hz, program):
        """[(weight, time)] of what `wick record` wrote, and what it printed."""
        text = self.fresh("text.perf")
        done = subprocess.run(
            [self.arguments.wick, "record", "-F", str(hz), "--engine", engine,
             "--max-overhead", "off", "-o", text, "--", *program], capture_output=True, check=True)
        with open(text, encoding="utf-8") as file:
            weights = [int(match.group(1)) for match in
                       re.finditer(r": +(\d+) cpu-clock: $", file.read(), re.M)]
        return weights, done.stdout.decode()

    def perf(self, hz, program):
        data = self.fresh("perf.data")
        subprocess.run(["perf", "record", "-q", "-e", "task-clock", "-g", "-F", str(hz), "-o",
                        data, "--", *program], capture_output=True, check=True)
        said = subprocess.run(["perf", "script", "-F", "event", "-i", data], capture_output=True,
                              check=True)
        return said.stdout.count(b"task-clock")

    def run_way(self, way, hz):
        """(CPU of the target, CPU of the rest, samples, weight)"""
        charged = self.fresh("charged")
        program = [self.arguments.charged, charged, *WORK]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        n, weight = 0, 0
        if way == "bare":
            subprocess.run(program, stdout=subprocess.DEVNULL, check=True)
        elif way == "perf record":
            n = weight = self.perf(hz, program)
        else:
            weights, _ = self.wick(way, hz, program)
            n, weight = len(weights), sum(weights)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(charged, encoding="ascii") as file:
            own = float(file.read())
        whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return own, whole - own, n, weight

    def rates(self):
        ways = [(way, hz) for hz in self.arguments.hz
                for way in ("perf", "ctimer", "perf record")
                if way != "perf record" or shutil.which("perf")]
        rows = {way: [] for way in ways}
        for _ in range(self.arguments.rounds):
            for way in ways:
                bare = self.run_way("bare", 0)[0]
                own, rest, n, weight = self.run_way(*way)
                rows[way].append((n / own / way[1], weight / own / way[1], own / bare,
                                  1e6 * (own - bare) / max(n, 1), rest))
        print(f"{'rate':>8}  {'engine':12} {'count':>7} {'weight':>7} {'target':>8} "
              f"{'a sample':>10} {'recorder':>9}")
        for (way, hz), runs in rows.items():
            count, weight, ratio, each, rest = (statistics.median(column) for column in zip(*runs))
            print(f"{hz:5} Hz  {way:12} {count:7.3f} {weight:7.3f}  x{ratio:6.4f} {each:7.1f} us "
                  f"{rest:7.3f} s")

    def lockstep(self):
        print("\nin step with the tick, 99 Hz: weight (count) against the CPU used")
        for phase in range(0, 4000, 500):
            said = []
            for engine in ("perf", "ctimer"):
                weights, true = self.wick(engine, 99, [self.arguments.lockstep, str(phase),
                                                       str(self.arguments.seconds)])
                due = 99 * float(true)
                said.append(f"{engine} {sum(weights) / due:.3f} ({len(weights) / due:.3f})")
            print(f"  phase {phase:4} us  {'   '.join(said)}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("wick", "charged", "lockstep"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--hz", type=int, nargs="+", default=[99, 250, 999, 4999, 10000])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wick-bench-") as directory:
        bench = Bench(arguments, directory)
        bench.rates()
        bench.lockstep()


if __name__ == "__main__":
    main()
