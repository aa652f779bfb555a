"""Forged samples: a target finds the rings that it shares with wick, and writes there what it likes.

Beside it in the same recording works an innocent program, whose samples are to be as many as without it."""
import json
import os
import re

from hostile import MEGABYTE, Case, Input
from recorded import TARGETS, WICK

SECONDS = 3
CPU_S = 1.5  # of the innocent one; each sample of 499 Hz is 0.13 % of that
HZ = 499
KINDS = {"samples": "samples as fast as they are read", "weights": "weights of a million",
         "deep": "stacks of 256 frames", "times": "samples of the second before",
         "periods": "periods of a nanosecond", "threads": "threads that there are not"}
# Beside the CPU that it used: its periods at the ends, and six sigma of scatter.
MOST_FILE_BYTES = 32 * MEGABYTE
MOST_APART = 0.03
INNOCENT = re.compile(r"^busy +\d+/\d+ +\[\d+\] +[\d.]+: +(\d+) cpu-clock:", re.MULTILINE)


def forged(kind):
    forger, busy = os.path.join(TARGETS, "forger"), os.path.join(TARGETS, "busy")

    def make(folder):
        path = os.path.join(folder, "x.perf")
        both = f'"{forger}" {SECONDS} {kind} & "{busy}" {CPU_S} log; wait'
        return Input([WICK, "record", "-F", str(HZ), "-o", path, "--", "sh", "-c", both], 2 * MEGABYTE)
    return Case("samples", KINDS[kind], make, judge)


def end_of(text):
    return json.loads(text.rpartition("# wick-end : ")[2].splitlines()[0])


def innocent_apart(result, text):
    """How far what its samples stand for is from what it used since it ran: as much as without the other."""
    used_s = float(result.text("log").split()[1]) / 1e9
    stood_s = sum(int(weight) for weight in INNOCENT.findall(text)) / HZ
    return stood_s / used_s - 1


def judge(result):
    path = os.path.join(result.dir, "x.perf")
    if result.status != 0 or not os.path.exists(path):
        return f"status {result.status}: {result.stderr[-80:]}"
    size = os.path.getsize(path)
    if size > MOST_FILE_BYTES:
        return f"wrote {size / MEGABYTE:.0f} MB"
    text = result.text("x.perf")
    apart = innocent_apart(result, text)
    if abs(apart) > MOST_APART:
        return f"the innocent one's samples are {apart * 100:+.1f} % off"
    if not end_of(text).get("lost_forged") or "lost_forged" not in result.stderr:
        return "it is not told"
    return None


CASES = [forged(kind) for kind in KINDS]
