#!/usr/bin/python3
"""load.py --program LOAD_PROFILE --scratch DIR [--size 1G] [--runs 5] - how quick a file is opened

Makes a recording with tests/golden/gen_perf_script.py and loads it: wall and CPU time and memory of
wick without an index and with one, beside `wc -l`, a stackcollapse-like program in perl, and a
model of FlameScope's method (its three expressions in Python over every line, once for the heatmap
and once for the flame graph).  The last two are given the first part of the file, and their times
are scaled by its size: the table says so.  Ratios are of wall times, medians, runs interleaved.
"""
import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PART_BYTES = 32 << 20

COLLAPSE = r"""
my (%n, @s, $c);
while (<STDIN>) {
	next if /^#/;
	chomp;
	if ($_ eq '') { $n{join ';', $c, reverse @s}++ if defined $c; undef $c; @s = (); next }
	if (/^(\S.+?)\s+(\d+)\/*(\d+)*\s+/) { $c = $1; next }
	if (/^\s*(\w+)\s*(.+) \((.*)\)/) { my $f = $2; $f =~ s/\+0x[\da-f]+$//; push @s, $f }
}
print "$_ $n{$_}\n" for sort keys %n;
"""

# What perf-script.md says of it, of our own writing: every line is searched for an event.
EVENT = re.compile(r" +([0-9.]+): .+?:")
FRAME = re.compile(r"^[\t ]*[0-9a-fA-F]+ (.+) \((.*?)\)$")
COMM = re.compile(r"^ *([^0-9]+)")


def flamescope(path):
    """The heatmap's pass over the lines, and the flame graph's."""
    cells = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#"):
                continue
            event = EVENT.search(line)
            if event:
                at = int(float(event.group(1)) * 50)
                cells[at] = cells.get(at, 0) + 1
    stacks = {}
    stack = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#"):
                continue
            if not line.startswith("\t") and EVENT.search(line):
                key = ";".join(reversed(stack))
                stacks[key] = stacks.get(key, 0) + 1
                stack = [COMM.search(line).group(1).rstrip()]
                continue
            frame = FRAME.search(line.rstrip("\n"))
            if frame:
                stack.append(frame.group(1).split("+")[0])
    return len(cells), len(stacks)


def run(command, **options):
    """Wall and CPU seconds of a command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--scratch", required=True)
    parser.add_argument("--size", default="1G")
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    os.makedirs(args.scratch, exist_ok=True)
    path = os.path.join(args.scratch, f"{args.size}.perf")
    part = os.path.join(args.scratch, "part.perf")
    if not os.path.exists(path):
        subprocess.run([sys.executable, os.path.join(HERE, "../golden/gen_perf_script.py"),
                        args.size, path + ".part"], check=True, stdout=subprocess.DEVNULL)
        os.rename(path + ".part", path)
    os.utime(path, (1e9, 1e9))  # an index is only made of what has not changed just now
    size = os.path.getsize(path)
    with open(path, "rb") as whole, open(part, "wb") as cut:
        text = whole.read(PART_BYTES)
        cut.write(text[:text.rfind(b"\n\n") + 2])
    scale = size / os.path.getsize(part)
    environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(args.scratch, "cache"))
    subprocess.run(["cat", path], check=True, stdout=subprocess.DEVNULL)
    run([args.program, path, "index"], env=environment)

    def perl():
        with open(part, "rb") as text:
            return run(["perl", "-e", COLLAPSE], stdin=text)

    def model():
        return run([sys.executable, __file__, "--model", part])

    methods = [
        ("wick, no index", 1, lambda: run([args.program, path, "all"])),
        ("wick, one thread", 1, lambda: run([args.program, path, "one"])),
        ("wick, second opening", 1,
         lambda: run([args.program, path, "index"], env=environment)),
        ("wc -l", 1, lambda: run(["wc", "-l", path])),
        ("perl, stackcollapse's way", scale, perl),
        ("Python, FlameScope's way", scale, model),
    ]
    times = {name: [] for name, _, _ in methods}
    said = {}
    for _ in range(args.runs):
        for name, _, method in methods:
            wall, cpu, said[name] = method()
            times[name].append((wall, cpu))
    print(f"{size / 2**20:.0f} MiB of perf-script text, {args.runs} runs")
    print(f"{'':28}{'wall s':>9}{'CPU s':>9}{'GB/s':>8}{'of wick':>9}")
    base = statistics.median(wall for wall, _ in times[methods[0][0]])
    for name, factor, _ in methods:
        wall = statistics.median(w for w, _ in times[name]) * factor
        cpu = statistics.median(c for _, c in times[name]) * factor
        note = "" if factor == 1 else f"  (scaled from 1/{factor:.0f} of the file)"
        print(f"{name:28}{wall:9.3f}{cpu:9.3f}{size / wall / 1e9:8.2f}{wall / base:9.2f}{note}")
    for name, _, _ in methods[:3]:
        print(f"{name}: {said[name].splitlines()[0]}")
        for line in said[name].splitlines()[2:]:
            print(f"  {line}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--model"]:
        print(*flamescope(sys.argv[2]))
    else:
        main()
