#!/usr/bin/env python3
"""What the agent maps in a program: virtual size beside the same program without wick.

usage: mapped.py --wick WICK --mapped MAPPED
"""
import argparse
import os
import subprocess
import tempfile


def sizes(command):
    return [int(word) for word in subprocess.run(command, stdout=subprocess.PIPE, check=True,
                                                 stderr=subprocess.DEVNULL).stdout.split()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wick", required=True)
    parser.add_argument("--mapped", required=True)
    arguments = parser.parse_args()
    # A thread's malloc arena would drown what is looked for.
    os.environ["MALLOC_ARENA_MAX"] = "1"
    for threads, seconds in ((1, 0.2), (8, 0.2), (100, 0.05), (2000, 0.03)):
        command = [arguments.mapped, str(threads), str(seconds)]
        bare, _ = sizes(command)
        with tempfile.TemporaryDirectory(prefix="wick-bench-") as directory:
            under, shared = sizes([arguments.wick, "record", "-q", "-F", "999", "-o",
                                   f"{directory}/x.perf", "--", *command])
        print(f"{threads:5} threads: wick maps {under - bare:7} KiB more, "
              f"{shared:7} KiB of its rings are resident")


if __name__ == "__main__":
    main()
