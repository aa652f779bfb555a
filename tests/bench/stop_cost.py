"""What a program that is sampled with ptrace loses, beside what wick says that it costs.

A static program does the same work with and without wick, in turns.  What it loses is the time in
which it neither ran nor waited for a processor, and had nothing else to wait for: that is exact on a
busy machine, too.  The ratio of the wall times is printed beside it; it takes an idle machine.
"""
import argparse
import os
import re
import statistics
import subprocess
import tempfile


def work(command, units):
    """(wall, lost) of one run, and what was printed beside it."""
    done = subprocess.run([*command, str(units)], capture_output=True, check=True, text=True)
    user, system, wall, waited = map(float, done.stdout.split())
    return wall, (wall - user - system - waited) / (user + system), done.stderr


def told(summary):
    """The part of the program's CPU that its summary gives as the cost in the program."""
    return float(re.search(r"cost +in the program ([\d.]+) %", summary).group(1)) / 100


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wick", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--units", type=int, default=40000)
    options = parser.parse_args()
    ratios, lost, said = [], [], []
    for pair in range(options.pairs):
        with tempfile.TemporaryDirectory() as directory:
            wick = [options.wick, "record", "--engine", "ptrace", "--max-overhead", "off",
                    "-o", os.path.join(directory, "x.perf"), "--", options.work]
            alone_wall, alone_lost, _ = work([options.work], options.units)
            wall, with_wick, summary = work(wick, options.units)
        ratios.append(wall / alone_wall)
        lost.append(with_wick - alone_lost)
        said.append(told(summary))
        print(f"  pair {pair}: lost {100 * lost[-1]:.2f} %, told {100 * said[-1]:.2f} %, "
              f"wall {ratios[-1]:.3f}")
    total, sum_said = sum(lost), sum(said)
    print(f"  median: lost {100 * statistics.median(lost):.2f} %, told "
          f"{100 * statistics.median(said):.2f} %, wall {statistics.median(ratios):.3f}; "
          f"of all that was lost {100 * sum_said / total:.0f} % was told")


if __name__ == "__main__":
    main()
