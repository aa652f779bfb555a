#!/usr/bin/env python3
"""lock_cost.py - what -e lock costs a program whose threads fight for one mutex

The program runs by turns with and without wick; printed are medians: turns a second, and how much
of them -e lock takes away; waits told, and lost.
"""
import argparse
import os
import re
import statistics
import subprocess
import tempfile

STORMS = [(8, 1000), (8, 10000), (4, 10)]  # threads, ns that each holds it
ROUNDS = 5
SECONDS = 1


def turns(command):
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    n, cpu = re.match(r"(\d+) turns (\S+) CPU", out.stdout).groups()
    return int(n), float(cpu), out.stderr


def first(pattern, text):
    match = re.search(pattern, text)
    return match.group(1).strip() if match else "-"


def compare(wick, storm, threads, hold_ns):
    command = [storm, str(threads), str(hold_ns), str(SECONDS)]
    bare, under, cpu, told = [], [], [], ""
    with tempfile.TemporaryDirectory() as place:
        for i in range(ROUNDS):
            n, used, _ = turns(command)
            bare.append(n / used)
            path = os.path.join(place, f"{i}.perf")
            n, used, told = turns([wick, "record", "-e", "lock", "-o", path, "--", *command])
            under.append(n / used)
            cpu.append(used)
    change = statistics.median(b / a for a, b in zip(bare, under)) - 1
    print(f"{threads} threads, {hold_ns} ns: {statistics.median(bare) / 1e6:.2f} M turns a second "
          f"of CPU, under -e lock {statistics.median(under) / 1e6:.2f} M ({100 * change:+.1f} %); "
          f"{first(r'locks +(.*)', told)}; lost {first(r'lost +(.*)', told)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wick", required=True)
    parser.add_argument("--storm", required=True)
    options = parser.parse_args()
    for threads, hold_ns in STORMS:
        compare(options.wick, options.storm, threads, hold_ns)


if __name__ == "__main__":
    main()
