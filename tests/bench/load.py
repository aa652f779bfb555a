#!/usr/bin/python3
"""load.py --program LOAD_PROFILE --scratch DIR [--size 1G] [--part 64M] [--runs 5] [--file FILE]

How quick a recording is opened: a table of times beside those of `wc -l`, of a program in perl that
does what stackcollapse-perf does, and of FlameScope's method (a model of it: its three expressions
in Python, over every line once for the heatmap and once for the flame graph), and a table of what
wick is asked to keep to.  The file is made by tests/golden/gen_perf_script.py unless it is given.

All figures are medians of runs that take turns; the page cache is warm.  Perl and Python are given
the first PART of the file, and their times are scaled by its size: the table says so.
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

COLLAPSE = r"""
my (%n, @s, $c);
while (<STDIN>) {
	next if /^#/;
	chomp;
	if ($_ eq '') { $n{join ';', $c, reverse @s}++ if defined $c; undef $c; @s = (); next }
	if (/^(\S.+?)\s+(\d+)\/*(\d+)*\s+/) { $c = $1; next }
	if (/^\s*(\w+)\s*(.+) \((.*)\)/) { my $f = $2; $f =~ s/\+0x[\da-f]+$//; push @s, $f }
}
my $n = 0;
$n += $_ for values %n;
print "samples $n\nstacks ", scalar(keys %n), "\n";
"""

# What FlameScope asks each line: for the heatmap all of them, whatever they begin with.
EVENT = re.compile(r" +([0-9.]+): .+?:")
FRAME = re.compile(r"^[\t ]*[0-9a-fA-F]+ (.+) \((.*?)\)$")
COMM = re.compile(r"^ *([^0-9]+)")


def flamescope(path):
    """The heatmap's pass over the lines, and the flame graph's: samples of both, and stacks."""
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
    stack = None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#"):
                continue
            if not line.startswith("\t") and EVENT.search(line):
                add_stack(stacks, stack)
                stack = [COMM.search(line).group(1).rstrip()]
                continue
            frame = FRAME.search(line.rstrip("\n"))
            if frame:
                stack.append(frame.group(1).split("+")[0])
    add_stack(stacks, stack)
    assert sum(cells.values()) == sum(stacks.values())
    return sum(cells.values()), len(stacks)


def add_stack(stacks, stack):
    if stack:
        key = ";".join([stack[0]] + stack[:0:-1])
        stacks[key] = stacks.get(key, 0) + 1


def run(command, **options):
    """What a command printed as NAME VALUE lines, with its wall and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures = {"wall_s": wall, "cpu_s": after.ru_utime + after.ru_stime
               - before.ru_utime - before.ru_stime}
    for line in out.splitlines():
        name, _, value = line.partition(" ")
        if re.fullmatch(r"[0-9.]+", value):
            figures[name] = float(value)
    return figures


def bytes_of(text):
    factor = {"k": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(float(text[:-1]) * factor[text[-1]]) if text[-1] in factor else int(text)


def make_file(args):
    path = os.path.join(args.scratch, f"{args.size}.perf")
    if not os.path.exists(path):
        subprocess.run([sys.executable, os.path.join(HERE, "../golden/gen_perf_script.py"),
                        args.size, path + ".part"], check=True, stdout=subprocess.DEVNULL)
        os.rename(path + ".part", path)
        os.utime(path, (1e9, 1e9))  # an index is only made of what has not changed just now
    return path


def cut_part(path, part, size):
    """The file's beginning, up to a sample's end; how often the file has it."""
    with open(path, "rb") as whole, open(part, "wb") as cut:
        text = whole.read(size)
        cut.write(text[:text.rfind(b"\n\n") + 2])
    return os.path.getsize(path) / os.path.getsize(part)


class Method:
    """One way to read the file: NAME, a function that runs it, and which of its figures count."""

    def __init__(self, name, run_it, scale=1.0, wall="wall_s", cpu="cpu_s"):
        self.name, self.run_it, self.scale, self.wall, self.cpu = name, run_it, scale, wall, cpu
        self.runs = []

    def median(self, figure):
        return statistics.median(run[figure] for run in self.runs)

    def best(self, figure):
        return min(run[figure] for run in self.runs)


def methods_of(args, path):
    part = os.path.join(args.scratch, "part.perf")
    scale = cut_part(path, part, bytes_of(args.part))
    kept = dict(os.environ, XDG_CACHE_HOME=os.path.join(args.scratch, "cache"))

    def wick(*words, **options):
        return lambda: run([args.program, path, *words], **options)

    def perl():
        with open(part, "rb") as text:
            return run(["perl", "-e", COLLAPSE], stdin=text)

    wick("index", env=kept)()  # makes the index
    heat = {"wall": "to_heatmap_s", "cpu": "to_heatmap_cpu_s"}
    return [
        Method("wick, text to heatmap", wick("all"), **heat),
        Method("wick, the same by one thread", wick("one"), **heat),
        Method("wick, opened again to heatmap", wick("index", env=kept), **heat),
        Method("wc -l", lambda: run(["wc", "-l", path])),
        Method("perl, stackcollapse's way", perl, scale),
        Method("Python, FlameScope's way",
               lambda: run([sys.executable, __file__, "--model", part]), scale),
    ]


def print_methods(methods, size):
    base = methods[0].median(methods[0].wall)
    print(f"{'':30}{'wall s':>9}{'best':>8}{'CPU s':>8}{'GB/s':>8}{'of wick':>9}")
    for method in methods:
        wall = method.median(method.wall) * method.scale
        best = method.best(method.wall) * method.scale
        cpu = method.median(method.cpu) * method.scale
        print(f"{method.name:30}{wall:9.3f}{best:8.3f}{cpu:8.3f}{size / wall / 1e9:8.2f}"
              f"{wall / base:9.2f}"
              + ("" if method.scale == 1 else f"  x {method.scale:.1f}: of a part"))


def print_asked(methods):
    """Beside what a recording of 1 GiB on two CPUs is to keep to."""
    text, again = methods[0], methods[2]
    rows = [
        ("text to heatmap", text, "to_heatmap_s", 1e3, "ms", 1000),
        ("flame graph of all of it, then", text, "flame_s", 1e3, "ms", 200),
        ("both of a range of one second", text, "second_s", 1e3, "ms", 10),
        ("opened again (index)", again, "load_s", 1e3, "ms", 50),
        ("flame graph by thread", text, "threads_s", 1e3, "ms", None),
        ("memory (ru_maxrss)", text, "maxrss_kib", 1.024e-3, "MB", 400),
    ]
    print(f"{'':34}{'median':>8}{'best':>9}{'asked':>16}")
    for name, method, figure, factor, unit, asked in rows:
        print(f"{name:34}{method.median(figure) * factor:8.1f}{method.best(figure) * factor:9.1f}"
              f" {unit}" + (f"{'<=':>6} {asked:4} {unit}" if asked else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--scratch", required=True)
    parser.add_argument("--size", default="1G")
    parser.add_argument("--part", default="64M")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--file")
    args = parser.parse_args()
    os.makedirs(args.scratch, exist_ok=True)
    path = args.file or make_file(args)
    size = os.path.getsize(path)
    subprocess.run(["cat", path], check=True, stdout=subprocess.DEVNULL)  # into the page cache
    methods = methods_of(args, path)
    for _ in range(args.runs):
        for method in methods:
            method.runs.append(method.run_it())
    said = methods[0].runs[0]
    print(f"{size / 2**20:.0f} MiB of perf-script text, {said['samples']:.0f} samples, "
          f"{said['stacks']:.0f} nodes of stacks; {os.cpu_count()} CPUs; "
          f"medians of {args.runs} runs that take turns")
    print_methods(methods, size)
    print()
    print_asked(methods)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--model"]:
        print("samples {}\nstacks {}".format(*flamescope(sys.argv[2])))
    else:
        main()
