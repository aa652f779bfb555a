"""The Firefox Profiler's grammar: recognised by its first lines, read greedily from the right."""
import re

from grammar import Fatal, Verdict, decode, took_module

DETECT = re.compile(r"^\S.*?\s+(?:[0-9]+/)?[0-9]+\s+(?:\[[0-9]+\]\s+)?[0-9.]+:")
HEADER = re.compile(r"^(.*)[\s\ufeff]+([0-9.]+):")
THREAD = re.compile(r"^(.*)[\s\ufeff]+(?:([0-9]+)/)?([0-9]+)\b")
FRAME = re.compile(r"^[\s\ufeff]*([0-9A-Za-z_]+)[\s\ufeff]*(.+) \(([^)]*)\)")
MAX_BYTES = 512 * 1024 * 1024


def add_frame(verdict, line):
    frame = FRAME.match(line)
    if not frame:
        verdict.lost.append(f"frame dropped: {line[:80]!r}")
        return 0
    if frame.group(2).startswith("("):
        verdict.lost.append(f"frame skipped: {line[:80]!r}")
        return 0
    if line[frame.end():].strip() or took_module(frame.group(2), frame.group(3)):
        verdict.lost.append(f"module cut at ')': {line[:80]!r}")
    return 1


def read(data, tids=None):
    """TIDS, when given, is filled with the thread of every sample."""
    if len(data) > MAX_BYTES:
        raise Fatal("string longer than V8 has them")
    text = decode(data).removeprefix("\ufeff")
    lines = text.split("\n")
    if not text.startswith("# ========\n") and not DETECT.match(lines[0]):
        raise Fatal("not recognised")
    verdict = Verdict()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.strip() == "" or line.startswith("#"):
            continue
        header = HEADER.match(line)
        thread = THREAD.match(header.group(1)) if header else None
        if not thread:
            verdict.lost.append(f"no header line: {line[:60]!r}")
            continue
        n_frames = 0
        while at < len(lines) and lines[at].strip() != "":
            n_frames += add_frame(verdict, lines[at])
            at += 1
        if n_frames == 0:
            verdict.lost.append("a sample without frames is dropped")
            continue
        if tids is not None:
            tids.append(int(thread.group(3)))
        verdict.samples += 1
        verdict.frames += n_frames
    return verdict
