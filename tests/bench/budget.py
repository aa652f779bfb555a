#!/usr/bin/env python3
"""What a recording of many threads costs when it may cost 1 %, and whether its totals stay right.

usage: budget.py --wick WICK --crowd CROWD [--threads 2000] [--seconds 60] [--hz 999]

The crowd's threads work for 0.3 ms at a time, all of them together a half, one and one and a half
processors.  Cost: the handlers and signals as the summary has them, and wick's own CPU as the kernel
has it, all of it, from its start to its end; both in percent of the crowd's CPU.
"""
import argparse
import json
import os
import re
import resource
import subprocess
import tempfile


def measure(options, load, engine):
    with tempfile.TemporaryDirectory() as directory:
        path = f"{directory}/x.perf"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run(
            [options.wick, "record", "-v", "-F", str(options.hz), "--engine", engine,
             "--max-overhead", "1%", "-o", path, "--", options.crowd, str(options.threads),
             str(options.seconds), str(load)], capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(path, encoding="utf-8") as file:
            changes = [json.loads(line.split(" : ", 1)[1])["effective_hz"] for line in file
                       if line.startswith("# rate : ")]
    charged = float(run.stdout.split()[3])
    used = sum(getattr(after, field) - getattr(before, field) for field in ("ru_utime", "ru_stime"))
    agent = float(re.search(r"in the program ([\d.]+) %", run.stderr).group(1))
    coverage = float(re.search(r"CPU, ([\d.]+) % of what the program used", run.stderr).group(1)) / 100
    own = 100 * (used - charged) / charged
    print(f"{options.threads} threads at {options.hz} Hz, {engine}, {charged / options.seconds:.2f} "
          f"processors: cost {agent + own:.2f} % ({agent:.2f} + {own:.2f}), totals {coverage:.3f}, "
          f"rates {changes} Hz")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wick", required=True)
    parser.add_argument("--crowd", required=True)
    parser.add_argument("--threads", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--hz", type=int, default=999)
    options = parser.parse_args()
    options.wick = os.path.abspath(options.wick)
    for engine in ("ctimer", "auto"):
        for load in (0.5, 1, 1.5):
            measure(options, load, engine)


if __name__ == "__main__":
    main()
