#!/usr/bin/env python3
"""Compare what a command writes with a golden file, byte for byte.

usage: check_golden.py [--samples] GOLDEN -- COMMAND [ARGS...]

--samples compares the samples alone: from after the header block to before the end line.
The exit status is 0 when they are the same; otherwise the first difference is shown.
"""
import subprocess
import sys


def samples_of(data):
    lines = data.split(b"\n")
    start = 0
    if lines[0] == b"# ========":
        start = lines.index(b"# ========", 1) + 2
    lines = [line for line in lines[start:] if not line.startswith(b"# wick-end")]
    return b"\n".join(lines)


def main():
    args = sys.argv[1:]
    only_samples = args[0] == "--samples"
    if only_samples:
        args = args[1:]
    golden = open(args[0], "rb").read()
    written = subprocess.run(args[2:], stdout=subprocess.PIPE, check=True).stdout
    if only_samples:
        golden, written = samples_of(golden), samples_of(written)
    if golden == written and golden:
        return 0
    want, have = golden.split(b"\n"), written.split(b"\n")
    for number, pair in enumerate(zip(want + [b"(end)"], have + [b"(end)"]), 1):
        if pair[0] != pair[1]:
            print(f"{args[0]}:{number} differs\n  golden:  {pair[0][:300]!r}"
                  f"\n  written: {pair[1][:300]!r}")
            break
    print("if that is meant: tests/golden/regenerate BUILD_DIR, and read the diff")
    return 1


sys.exit(main())
