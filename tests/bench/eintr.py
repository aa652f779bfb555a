#!/usr/bin/env python3
"""How many system calls of a program end with EINTR because it is profiled.

usage: eintr.py --wick WICK --calls EINTR_CALLS --static EINTR_CALLS_STATIC [--seconds 60]
                [--only WORD...] [--hz 99 250 999 4999]

The program makes twelve kinds of calls that wait for 1 to 3 ms, each in a thread of its own, with
bursts of CPU between them, and two threads that wake each other 100,000 times through epoll.  It
runs without a profiler; under wick, with each engine, launched and attached; and with perf events
of its own that signal by F_SETSIG, as profilers inside a program have them, of all its CPU and of
CPU in user mode.  Wick's budget is off, so that every rate is the one that was asked for.

rounds  calls that waited; EINTR: how many of them gave that; pingpong: that of the two threads
samples of the recording, or signals of the own events; weight: what they stand for; due: rate x CPU
--only picks rows that have all its words: none, wick, setsig, setsig-user, an engine, launched,
attached, or a rate.
"""
import argparse
import os
import subprocess
import tempfile
import time

from recording import Wick

ENGINES = ("auto", "ctimer", "perf")
ATTACH_AFTER = 0.3


def rows(rates):
    """(who, engine, how, rate)"""
    yield "none", "-", "-", 0
    for hz in rates:
        for engine in ENGINES + ("ptrace",):
            for how in ("launched", "attached"):
                yield "wick", engine, how, hz
        yield "setsig", "-", "own", hz
        yield "setsig-user", "-", "own", hz


def chosen(row, words):
    return all(word in map(str, row) for word in words)


def counts(said):
    """Name -> numbers of the lines that the program printed."""
    return {line.split()[0]: [float(word) for word in line.split()[1:]]
            for line in said.splitlines()}


class Bench:
    def __init__(self, options, directory):
        self.options, self.wick = options, Wick(options.wick, directory)

    def bare(self, *words):
        run = subprocess.run([self.options.calls, "-b", *map(str, words), str(self.options.seconds)],
                             stdout=subprocess.PIPE, check=True)
        return run.stdout.decode()

    def launched(self, program, words):
        said, recording, _ = self.wick.record(*words, "--", program, "-b", self.options.seconds)
        return said, recording

    def attached(self, program, words):
        """To the end of the program: calls that end while wick leaves are counted too."""
        target = subprocess.Popen([program, "-b", str(self.options.seconds)], stdout=subprocess.PIPE)
        time.sleep(ATTACH_AFTER)
        duration = max(0.5, self.options.seconds - 2 * ATTACH_AFTER)
        recorder = self.wick.start(*words, "-p", target.pid, "-d", f"{duration}s")
        said = target.communicate()[0].decode()
        recorder.wait()
        return said, self.wick.read()

    def run(self, row):
        """(what the program said, samples, their weight, why there are none)"""
        who, engine, how, hz = row
        if who != "wick":
            flags = {"none": (), "setsig": ("-s", hz), "setsig-user": ("-s", hz, "-u")}[who]
            said = self.bare(*flags)
            signals = int(counts(said)["signals"][0])
            return said, signals, signals, ""
        program = self.options.static if engine == "ptrace" else self.options.calls
        words = ["-F", hz, "--engine", engine, "--max-overhead", "off"]
        said, recording = (self.launched if how == "launched" else self.attached)(program, words)
        return said, recording.samples, recording.weight, recording.refusal()

    def print_row(self, row):
        who, engine, how, hz = row
        head = f"{hz:5} Hz  {who:11} {engine:7} {how:9}"
        said, samples, weight, refusal = self.run(row)
        kinds = counts(said)
        if not kinds:
            print(f"{head} did not run: {refusal}", flush=True)
            return
        cpu, pingpong = kinds.pop("cpu")[0], kinds.pop("pingpong")
        kinds.pop("signals")
        made = sum(numbers[0] for numbers in kinds.values())
        ended = sum(numbers[1] for numbers in kinds.values())
        which = ", ".join(f"{name} {numbers[1]:.0f}" for name, numbers in kinds.items() if numbers[1])
        print(f"{head} {ended:6.0f} of {made:8.0f} {pingpong[1]:6.0f} of {pingpong[0]:7.0f} "
              f"{samples:7} {weight:7} {hz * cpu:7.0f}  {refusal or which}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    for name in ("wick", "calls", "static"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--hz", type=int, nargs="+", default=[99, 250, 999, 4999])
    options = parser.parse_args()
    print(f"{'rate':>8}  {'profiler':11} {'engine':7} {'how':9} {'EINTR of rounds':>18} "
          f"{'pingpong':>17} {'samples':>7} {'weight':>7} {'due':>7}  calls with EINTR")
    with tempfile.TemporaryDirectory(prefix="wick-bench-") as directory:
        bench = Bench(options, directory)
        for row in rows(options.hz):
            if chosen(row, options.only):
                bench.print_row(row)


if __name__ == "__main__":
    main()
