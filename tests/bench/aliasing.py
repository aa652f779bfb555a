#!/usr/bin/env python3
"""Whether programs that work in step with the kernel's tick are sampled right, and called so.

usage: aliasing.py --wick WICK --aligned ALIGNED --busy BUSY [--seconds 4] [--runs 20] [--hz 99]

First a program that works 1 ms every tick of 4 ms, at 8 phases of it, under the default options
and each engine by name: the weight of its function, which is all but 2 % of it, against the CPU
that it used (and the number of samples), "*" where wick reports tick aliasing.  Then plain programs
beside two that take all the CPU they get: of how many wick reports it.
"""
import argparse
import os
import signal
import subprocess
import sys
import tempfile

from recording import Wick

WAYS = {"default": (), "ctimer": ("--engine", "ctimer"), "perf": ("--engine", "perf")}
HOGS = 2
PUNCTUAL = ("chrt", "-f", "1") if os.geteuid() == 0 else ()  # in step on a busy machine, too
PLAIN = {
    "perl": ["perl", "-e", "$x = ($x * 31 + $_) % 65537 for 1..30000000; print $x"],
    "python3": ["/usr/bin/python3", "-c", "print(sum(i * i % 7 for i in range(20000000)))"],
    "xz": ["sh", "-c", "seq 1 250000 | xz -T1 -6 -c >/dev/null"],
    "sort": ["sh", "-c", "seq 1 300000 | LC_ALL=C sort -R | tail -n 1"],
    "shell": ["sh", "-c", "i=0; while [ $i -lt 1500000 ]; do i=$((i+1)); done"],
}


def blocks(text):
    """(weight, whether the program's function is in the stack) of every sample."""
    for block in text.split("\n\n"):
        for line in block.splitlines():
            if line and line[0] not in "#\t":
                yield int(line.rsplit(":", 2)[1].split()[0]), "burn_in_step+" in block


class Bench:
    def __init__(self, options, directory):
        self.options, self.wick = options, Wick(options.wick, directory)

    def phase(self, phase_us, flags):
        said, recording, _ = self.wick.record("-F", self.options.hz, *flags, "--", *PUNCTUAL,
                                              self.options.aligned, phase_us, self.options.seconds)
        if recording.refusal():
            return recording.refusal()
        weights = [weight for weight, inside in blocks(recording.text) if inside]
        return (f"{sum(weights) / self.options.hz / float(said):.3f} ({len(weights):4})"
                f"{'*' if recording.aliasing else ' '}")

    def phases(self):
        print(f"{self.options.hz} Hz, in step with the tick: weight against the CPU used (samples)")
        print(f"{'phase':>8}  " + "  ".join(f"{way:>14}" for way in WAYS))
        for phase_us in range(0, 4000, 500):
            said = [self.phase(phase_us, flags) for flags in WAYS.values()]
            print(f"{phase_us:5} us  " + "  ".join(f"{text:>14}" for text in said), flush=True)

    def plain(self):
        hogs = [subprocess.Popen([self.options.busy, "100000"], stdout=subprocess.DEVNULL)
                for _ in range(HOGS)]
        found = []
        try:
            for number in range(self.options.runs):
                name = list(PLAIN)[number % len(PLAIN)]
                _, recording, _ = self.wick.record("-F", self.options.hz, "--", *PLAIN[name])
                if recording.refusal():
                    raise RuntimeError(recording.refusal())
                found += [name] if recording.aliasing else []
        finally:
            for hog in hogs:
                hog.kill()
                hog.wait()
        print(f"plain programs beside {HOGS} hogs: {len(found)} of {self.options.runs} runs reported "
              f"as in step with the tick {' '.join(found)}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("wick", "aligned", "busy"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--hz", type=int, default=99)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what runs beside is ended
    with tempfile.TemporaryDirectory(prefix="wick-bench-") as directory:
        bench = Bench(options, directory)
        bench.phases()
        bench.plain()


if __name__ == "__main__":
    main()
