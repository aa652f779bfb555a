"""Perfetto's importer: no comments, six decimals, a numeric cpu, a frame at least; or nothing."""
import re

from grammar import Fatal, Verdict, decode

HEADER = re.compile(r"^(.+) +([0-9]+)/([0-9]+) +\[([0-9]+)\] +([0-9]+)\.([0-9]{6}): +.*:\s*$")


def read(data):
    verdict = Verdict()
    n_frames = None
    for number, line in enumerate(decode(data).split("\n"), 1):
        if line == "":
            if n_frames == 0:
                raise Fatal(f"line {number}: a sample without frames")
            n_frames = None
        elif n_frames is None:
            if not HEADER.match(line):
                raise Fatal(f"line {number}: no sample: {line[:60]!r}")
            n_frames = 0
            verdict.samples += 1
        else:
            if not line.endswith(")"):
                raise Fatal(f"line {number}: no frame: {line[:60]!r}")
            n_frames += 1
            verdict.frames += 1
    if n_frames is not None:
        raise Fatal("the last sample does not end")
    return verdict
