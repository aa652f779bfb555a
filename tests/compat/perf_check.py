#!/usr/bin/env python3
"""What perf script makes of recordings of this machine, as each consumer reads it and as wick does.

usage: perf_check.py WICK FILE

FILE has samples of idle CPUs, of which FlameScope and wick have to hide the same.
perf records: all CPUs with stacks, threads of odd names, two events, and samples without stacks;
perf script prints each in many variants.  wick has to read as many samples, and as much weight,
as perf counts.  Of each consumer whose model reads a sample whole, all such samples are one text,
and samples, frames and weight of it have to be the same in the model and in wick.
Leaves 77, and says why, where perf may not record.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import firefox
import flamescope
import inferno
import perfetto
import speedscope
import stackcollapse
from grammar import Fatal, Verdict

NAMES = ["", " ", "#x", "# s", "a->b", "a;b", "struct", "w 12: x", "7zip", "[003]", "a (b)",
         "Worker 3", "dd", "d.h.", "1/2", "plain"]
ODD_NAMES = """
import ctypes, sys, threading, time
libc = ctypes.CDLL(None)
def work(name):
    libc.prctl(15, name.encode(), 0, 0, 0)
    while time.thread_time() < 0.15:
        sum(range(100))
threads = [threading.Thread(target=work, args=(name,)) for name in sys.argv[1:]]
for thread in threads: thread.start()
for thread in threads: print(thread.native_id)
for thread in threads: thread.join()
"""
FIELDS = "comm,tid,time,event,ip"
VARIANTS = {
    "plain": [],
    "all fields": ["-F", "comm,pid,tid,cpu,time,period,event,ip,sym,dso"],
    "ns": ["--ns"],
    "without period": ["-F", "-period"],
    "ip,dso": ["-F", FIELDS + ",dso"],
    "ip,sym": ["-F", FIELDS + ",sym"],
    "ip": ["-F", FIELDS],
    "misc": ["-F", "+misc"],
    "reltime": ["--reltime"],
    "mmap events": ["--show-mmap-events"],
    "-G": ["-G"],
}
# As of -F +lat, which no perf has been seen to print: of tracers.
EDITED = {
    "flags": (rb"(?m)^([^\t\n].*?) +(\d+\.\d{6}: )", rb"\1 d.h. \2"),
    "whole seconds": (rb"(?m)^([^\t\n].*? )(\d+)\.\d{6}(: )", rb"\1\2\3"),
    "not indented": (rb"(?m)^\t +", b""),
}


def flamescope_read(data):
    """FlameScope without its gate, which asks about files and not about samples."""
    lines = data.decode().split("\n")
    flamescope.heatmap(lines)
    samples, lost = flamescope.flame_graph(lines)
    return Verdict(len(samples), sum(depth for _, depth, _ in samples), None, lost)


WITH_PERIODS = ("plain", "all fields", "ns", "misc", "-G", "flags")
# (name, model, whether it adds up samples of several events)
CONSUMERS = [("FlameScope", flamescope_read, True),
             ("stackcollapse-perf", stackcollapse.read, False),
             ("speedscope", speedscope.read, False), ("Firefox Profiler", firefox.read, True),
             ("inferno", inferno.read, False), ("Perfetto", perfetto.read, True)]


def run(*words, **options):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          **options)


class Check:
    def __init__(self, wick, folder):
        self.wick, self.folder = wick, folder
        self.wrong, self.loads = [], collections.Counter()

    def path(self, name):
        return os.path.join(self.folder, name)

    def record(self, name, *words):
        done = run("perf", "record", "-q", "--sample-cpu", "-F", "199", "-o", self.path(name), *words)
        if done.returncode or not os.path.exists(self.path(name)):
            print(f"skipped: perf record {' '.join(words[:4])}: "
                  f"{done.stderr.decode().strip()[-200:]}")
            sys.exit(77)
        return done.stdout.decode()

    def script(self, name, words):
        """None where this perf has no such fields."""
        done = run("perf", "script", "-i", self.path(name), *words)
        return done.stdout if done.returncode == 0 else None

    def by_wick(self, data, *options):
        """(samples, frames, weight) of a text."""
        with open(self.path("text"), "wb") as file:
            file.write(data)
        grouped = "--group" in options
        done = run(self.wick, "flamegraph", "--no-index", "--format", "json", "--metric", "period",
                   *options, self.path("text"))
        if done.returncode:
            raise AssertionError(done.stderr.decode())
        root = json.loads(done.stdout)["root"]
        frames, below = 0, [(child, 1) for child in root["children"]]
        while below:
            node, depth = below.pop()
            frames += node["samples"] if depth > grouped else 0
            below += [(child, depth + 1) for child in node["children"]]
        return root["samples"], frames, root["gain"]

    def expect(self, what, got, wanted):
        if got != wanted:
            self.wrong.append(f"{what}: wick {got}, wanted {wanted}")

    def consumer(self, what, consumer, blocks, frames):
        """The samples that it reads whole, together, in it and in wick."""
        name, read, merges = consumer
        whole = []
        for block in blocks:
            try:
                verdict = read(block)
            except Fatal:
                continue
            if verdict.samples == 1 and not verdict.lost and b"PERF_RECORD_" not in block:
                whole.append(block)
        if not whole:
            return
        text = b"".join(whole)
        verdict = read(text)
        if verdict.samples != len(whole):  # names of threads may look like another event's: the first one counts
            whole = [whole[0], *(block for block in whole[1:] if read(whole[0] + block).samples == 2)]
            text = b"".join(whole)
            verdict = read(text)
        got = self.by_wick(text, "--idle", *(["--group", "event"] if merges else []))
        self.loads[name, what] = verdict.samples
        kept = [True, frames, verdict.weight is not None]
        self.expect(f"{what}: {name}", [part for part, keep in zip(got, kept) if keep],
                    [part for part, keep in zip((verdict.samples, verdict.frames, verdict.weight),
                                                kept) if keep])

    def texts(self, recording):
        for name, words in VARIANTS.items():
            data = self.script(recording, words)
            if data is None:
                print(f"{recording}, {name}: this perf has none")
            else:
                yield name, data
        plain = self.script(recording, [])
        for name, (pattern, by) in EDITED.items():
            yield name, re.sub(pattern, by, plain)

    def variants(self, recording, wanted):
        """WANTED: (samples, periods) as perf counts them."""
        for name, data in self.texts(recording):
            what = f"{recording}, {name}"
            samples, _, weight = self.by_wick(data, "--idle", "--group", "event")
            self.expect(what, samples, wanted[0])
            if name in WITH_PERIODS:
                self.expect(f"{what}, periods", weight, wanted[1])
            # a sample a line: of the frame in it the others make nothing
            flat = name == "-G" or recording == "flat"
            blocks = [line + b"\n" for line in data.split(b"\n") if line] if flat else \
                [block.lstrip(b"\n") + b"\n\n" for block in data.split(b"\n\n") if block.strip()]
            for consumer, read, merges in CONSUMERS:
                self.consumer(what, (consumer, read, merges), blocks, not flat)

    def counted(self, recording):
        """What perf itself says: a line a sample, with its period."""
        periods = [int(line.split()[0]) for line in
                   self.script(recording, ["-G", "-F", "period"]).decode().split("\n") if line]
        return len(periods), sum(periods)

    def threads(self, recording, names):
        """NAMES: by tid; of an empty or blank one wick says what perf says of unknown ones."""
        with open(self.path("text"), "wb") as file:
            file.write(self.script(recording, []))
        info = json.loads(run(self.wick, "info", "--json", self.path("text")).stdout)
        got = {thread["tid"]: thread["comm"] for thread in info["threads"]}
        for tid, name in names.items():
            self.expect(f"{recording}: name of {tid}", got.get(tid), name.strip() or f":{tid}")

    def idle(self, path):
        with open(path, "rb") as file:
            data = file.read()
        wanted = len(flamescope.heatmap(data.decode().split("\n")))
        self.expect("idle CPUs", self.by_wick(data, "--group", "event")[0], wanted)
        if self.by_wick(data, "--idle", "--group", "event")[0] <= wanted:
            self.wrong.append(f"{path} has no idle CPU")

    def no_times(self, recording):
        for fields in ("ip,sym", "comm,tid,ip,sym,dso"):
            with open(self.path("text"), "wb") as file:
                file.write(self.script(recording, ["-F", fields]))
            said = run(self.wick, "report", self.path("text")).stderr.decode()
            if "no line that says the thread and the time" not in said:
                self.wrong.append(f"-F {fields}: {said}")


def main():
    if not shutil.which("perf"):
        print("skipped: there is no perf")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        check = Check(os.path.abspath(sys.argv[1]), folder)
        check.record("system", "-a", "-g", "-e", "cpu-clock", "--", "sleep", "1")
        check.record("flat", "-a", "-e", "cpu-clock", "--", "sleep", "1")
        check.record("events", "-g", "-e", "cpu-clock,page-faults", "--", sys.executable, "-c",
                     "sum(range(30000000)); bytearray(1 << 24)")
        tids = check.record("names", "-g", "-e", "cpu-clock", "--", sys.executable, "-c",
                            ODD_NAMES, *NAMES).split()
        for recording in ("system", "flat", "events", "names"):
            check.variants(recording, check.counted(recording))
        check.threads("names", dict(zip(map(int, tids), NAMES)))
        check.no_times("names")
        check.idle(sys.argv[2])
        for name, _, _ in CONSUMERS:
            n = sum(count for (of, _), count in check.loads.items() if of == name)
            texts = sum(of == name for of, _ in check.loads)
            print(f"{name}: {n} samples of {texts} texts are the same in its model and in wick")
            if n == 0:
                check.wrong.append(f"{name} read nothing")
    for sentence in check.wrong[:20]:
        print(sentence)
    return 1 if check.wrong else 0


sys.exit(main())
