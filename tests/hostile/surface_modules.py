"""Records in the rings that a target shares with wick: modules that are none."""
import os

from hostile import MEGABYTE, Case, Input
from recorded import TARGETS, WICK

HZ = 250
SECONDS = 4
LOST_PART = 0.03
LEAST_INPUT = SECONDS * MEGABYTE  # it forges some 100 MB a second


def forged(name, n_threads):
    """The target ends by itself; wick has to, soon after."""
    def make(folder):
        return Input([WICK, "record", "-F", str(HZ), "-o", "out.perf", "--",
                      os.path.join(TARGETS, "ring_forger"), str(n_threads), str(SECONDS)], LEAST_INPUT, None,
                     {"XDG_CACHE_HOME": folder})
    return Case("modules", name, make, names_innocent)


def names_innocent(result):
    """The thread that forges nothing has its samples, by the CPU that it says it used."""
    cpu_s = float(result.stdout.split()[0])
    weights = [int(line.split()[-2]) for line in headers_of_main(result.text("out.perf"))]
    sampled_s = sum(weights) / HZ
    if abs(sampled_s - cpu_s) > LOST_PART * cpu_s + 2 / HZ:
        return f"innocent_work: {sampled_s:.2f} s of {cpu_s:.2f} s"
    return None


def headers_of_main(text):
    for sample in text.split("\n\n"):
        lines = [line for line in sample.splitlines() if not line.startswith("#")]
        if len(lines) > 1 and " main+" in sample:
            yield lines[0]


CASES = [forged("forged modules in 16 rings", 16)]
