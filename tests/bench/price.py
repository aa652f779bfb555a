#!/usr/bin/env python3
"""What sampling costs a program that only computes: measured, and as wick tells it.

usage: price.py --wick WICK --work FIXED_WORK --static FIXED_WORK_STATIC --charged CHARGED
                [--pairs 10] [--seconds 2] [--hz 99 250 999 4999] [--only WORD...]

A program of fixed work, on one CPU, runs without and with every engine in turn, so that a machine
that drifts drifts for both; figures are medians over the pairs.  Wick's budget is off.
  samples  against the CPU that the kernel charged, times the rate; weight: the same
  CPU      of the program with, against without: its slow-down in percent, and the quartiles of the
           pairs; user: the same of CPU in user mode; wall: of wall time
  told     what wick tells as the cost in the program
  sample   what one costs the program, in microseconds of its CPU: measured, and as told
  recorder CPU of everything else in percent of the program's
--only picks rows that have all its words: an engine, "perf-record" or a rate.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from recording import Ended, Wick, perf_times

UNIT_S = 55e-6
ENGINES = ("auto", "ctimer", "perf", "ptrace")


class Run:
    def __init__(self, said, ended, own):
        user, system, self.wall = map(float, said.split()[:3])
        self.user, self.cpu = user, user + system
        self.rest = ended.cpu - own if ended else 0
        self.samples = self.weight = 0
        self.told = None


class Bench:
    def __init__(self, options, directory):
        self.options, self.dir = options, directory
        self.wick = Wick(options.wick, directory)
        self.charged = os.path.join(directory, "charged")
        self.units = int(options.seconds / UNIT_S)

    def command(self, engine):
        program = self.options.static if engine == "ptrace" else self.options.work
        return [program, str(self.units), str(max(os.sched_getaffinity(0)))]

    def bare(self, engine):
        run = subprocess.run(self.command(engine), stdout=subprocess.PIPE, check=True)
        return Run(run.stdout.decode(), None, 0)

    def own_cpu(self):
        with open(self.charged, encoding="ascii") as file:
            return float(file.read())

    def under_wick(self, engine, hz):
        said, recording, ended = self.wick.record(
            "-F", hz, "--engine", engine, "--max-overhead", "off", "--", self.options.charged,
            self.charged, *self.command(engine))
        if recording.refusal():
            raise RuntimeError(recording.refusal())
        run = Run(said, ended, self.own_cpu())
        run.samples, run.weight, run.told = recording.samples, recording.weight, recording.in_program
        return run

    def under_perf(self, hz):
        data = os.path.join(self.dir, "perf.data")
        start = time.monotonic()
        process = subprocess.Popen(["perf", "record", "-q", "-k", "CLOCK_MONOTONIC", "-g",
                                    "-F", str(hz), "-o", data, "--",
                                    self.options.charged, self.charged, *self.command("perf-record")],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        said = process.stdout.read().decode()
        process.stdout.close()
        run = Run(said, Ended(process, start), self.own_cpu())
        run.samples = run.weight = len(perf_times(data))
        return run

    def pairs(self, engine, hz):
        for _ in range(self.options.pairs):
            bare = self.bare(engine)
            yield bare, self.under_perf(hz) if engine == "perf-record" else self.under_wick(engine, hz)

    def print_row(self, engine, hz):
        try:
            pairs = list(self.pairs(engine, hz))
        except RuntimeError as refusal:
            print(f"{hz:5} Hz  {engine:11} did not run: {refusal}", flush=True)
            return
        runs = [run for _, run in pairs]
        slower = {name: [100 * (getattr(run, name) / getattr(bare, name) - 1) for bare, run in pairs]
                  for name in ("cpu", "user", "wall")}
        low, middle, high = statistics.quantiles(slower["cpu"], n=4, method="inclusive")
        told = [run.told for run in runs if run.told is not None]
        told = statistics.median(told) if told else float("nan")
        each = statistics.median(run.samples / run.cpu for run in runs) / 1e4  # % a microsecond
        ratios = [statistics.median(getattr(run, name) / run.cpu / hz for run in runs)
                  for name in ("samples", "weight")]
        rest = statistics.median(100 * run.rest / run.cpu for run in runs)
        print(f"{hz:5} Hz  {engine:11} {ratios[0]:7.3f} {ratios[1]:7.3f}  {middle:6.2f} % "
              f"({low:5.2f} .. {high:5.2f}) {statistics.median(slower['user']):6.2f} % "
              f"{statistics.median(slower['wall']):6.1f} %  {told:6.2f} %  {middle / each:6.1f} "
              f"{told / each:6.1f} us {rest:6.2f} %", flush=True)


def main():
    parser = argparse.ArgumentParser()
    for name in ("wick", "work", "static", "charged"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--hz", type=int, nargs="+", default=[99, 250, 999, 4999])
    parser.add_argument("--only", nargs="+", default=[])
    options = parser.parse_args()
    ways = ENGINES + (("perf-record",) if shutil.which("perf") else ())
    print(f"{'rate':>8}  {'engine':11} {'samples':>7} {'weight':>7}  {'CPU':>8} {'(quartiles)':>16} "
          f"{'user':>8} {'wall':>8}  {'told':>8}  {'a sample':>6}: {'told':>7} {'recorder':>10}")
    with tempfile.TemporaryDirectory(prefix="wick-bench-") as directory:
        bench = Bench(options, directory)
        for hz in options.hz:
            for engine in ways:
                if all(word in (engine, str(hz)) for word in options.only):
                    bench.print_row(engine, hz)


if __name__ == "__main__":
    main()
