#!/usr/bin/env python3
"""Whether every consumer of perf-script text reads files whole, by models of their grammars.

usage: check_compat.py [--bare | --inline NAME,...] FILE...     "-" is standard input

--bare adds Perfetto's rules; --inline asks only FlameScope and its fork, for every metric NAME.
For each file and consumer: samples seen, frames seen, the weight where the consumer uses it.
The exit status is 1 when one of them loses anything.
"""
import gzip
import sys

import firefox
import flamescope
import inferno
import perfetto
import speedscope
import stackcollapse
from grammar import HEADER, Fatal, truth

MODELS = [("FlameScope", flamescope.read), ("stackcollapse-perf", stackcollapse.read),
          ("speedscope", speedscope.read), ("Firefox Profiler", firefox.read),
          ("inferno", inferno.read)]


def load(path):
    data = sys.stdin.buffer.read() if path == "-" else open(path, "rb").read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def threads_agree(data):
    """pid and tid as the trickiest header grammars understand them; [] when all is well."""
    wanted, pids, tids = [], [], []
    for line in data.decode().split("\n"):
        match = None if line[:1] in ("#", "\t", "") else HEADER.match(line)
        if match:
            wanted.append((match.group(1), match.group(2), match.group(3)))
    stackcollapse.read(data, pids)
    firefox.read(data, tids)
    wrong = [f"stackcollapse-perf takes {got} for {want}" for got, want in zip(pids, wanted)
             if (got[0].decode(), got[1].decode()) != want[:2]]
    wrong += [f"Firefox Profiler takes thread {got} for {want}" for got, want in zip(tids, wanted)
              if got != int(want[2])]
    return wrong


def problems_of(verdict, want):
    samples, frames, weight = want
    found = list(verdict.lost)
    if verdict.samples != samples:
        found.append(f"{verdict.samples} samples of {samples}")
    if verdict.frames != frames:
        found.append(f"{verdict.frames} frames of {frames}")
    if verdict.weight is not None and verdict.weight != weight:
        found.append(f"weight {verdict.weight} of {weight}")
    return found


def check(path, models, agree):
    """True when every model reads all of the file."""
    data = load(path)
    fine = True
    try:
        want = truth(data)
    except (Fatal, UnicodeDecodeError) as error:
        print(f"{path}: not what wick writes: {error}")
        return False
    for name, read in models:
        try:
            found = problems_of(read(data), want)
        except Fatal as error:
            found = [f"error: {error}"]
        print(f"{path}: {name}: " + (f"all {want[0]} samples, {want[1]} frames" if not found
                                      else "; ".join(found[:4])))
        fine = fine and not found
    if agree:
        wrong = threads_agree(data)
        for sentence in wrong[:4]:
            print(f"{path}: {sentence}")
        fine = fine and not wrong
    return fine and want[0] > 0


def main():
    args = sys.argv[1:]
    models, agree = list(MODELS), True
    if args[:1] == ["--bare"]:
        models.append(("Perfetto", perfetto.read))
        args = args[1:]
    elif args[:1] == ["--inline"]:
        names = ["wick_" + name for name in args[1].split(",")]
        models, agree = [("FlameScope", flamescope.read),
                         ("its fork", lambda data: flamescope.read(data, names))], False
        args = args[2:]
    if not args:
        print(__doc__)
        return 2
    return 0 if all([check(path, models, agree) for path in args]) else 1


sys.exit(main())
