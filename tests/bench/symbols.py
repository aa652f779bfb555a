#!/usr/bin/env python3
"""What names, inlined calls and lines cost, beside programs that print the same.

usage: symbols.py --wick WICK --addrs SYMBOLIZE_ADDRS --dwfl LIBDWFL_ADDRS --scratch DIR
                  [--addresses N] [--units N] [--large [FILE...]] [--profile PROGRAM [ARG...]]

10,000 different addresses of functions, of each subject, through each program: CPU seconds (user
and system), seconds, and the largest resident size.  wick three times: without its cache on disk,
with an empty one, with a full one.  Then 1,500 samples of the C++ subject from a file without
names to one with inlined frames, by `wick symbolize` and by `perf script --inline`.

--large: FILEs besides; without a FILE, Debian's ceph-osd with its debugging information (0.5 GB
are downloaded, 1 GB is written), as it is and decompressed.  --profile: samples of that program
besides, as many as it gives; it comes last, as all behind it is the program's.
"""
import argparse
import glob
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "symbols"))
import agree  # noqa: E402

SEED = 20261121
LIMIT_S = 300
REPEAT_UNTIL_S = 3
SAMPLES = 1500
RATE = "200"  # no more than the kernel's ticks, so that a sample is a sample in both
LIBC = agree.LIBC
LIBSTDCXX = agree.LIBSTDCXX


class Cost:
    """Of one run: CPU and wall in seconds, resident KiB; None in all: it took too long."""

    def __init__(self, cpu, wall, peak):
        self.cpu = cpu
        self.wall = wall
        self.peak = peak

    def __str__(self):
        if self.cpu is None:
            return f"more than {LIMIT_S} s"
        return f"{self.cpu:8.3f} s CPU {self.wall:8.3f} s {self.peak / 1024:7.0f} MB"


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))


def once(command, text_path):
    """Runs it with the addresses as its input, its output thrown away."""
    with open(text_path, "rb") as text, open(os.devnull, "wb") as nowhere:
        began = time.monotonic()
        child = subprocess.Popen(command, stdin=text, stdout=nowhere, stderr=subprocess.PIPE,
                                 preexec_fn=limit)
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - began
    if child.returncode < 0:
        return Cost(None, None, None)
    if child.returncode > 1:
        raise RuntimeError(f"{command[0]} ended with {child.returncode}: {said[-500:]}")
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss)


def best(command, text_path, prepare=None):
    """The best of three, or fewer where they are long."""
    result = None
    began = time.monotonic()
    for _ in range(3):
        if prepare:
            prepare()
        cost = once(command, text_path)
        if result is None or (cost.cpu is not None and cost.cpu < result.cpu):
            result = cost
        if cost.cpu is None or time.monotonic() - began > REPEAT_UNTIL_S:
            break
    return result


def write_addresses(path, asked):
    with open(path, "w", encoding="ascii") as out:
        out.writelines(f"0x{one.addr:x}\n" for one in asked)


def ratio(ours, theirs):
    if ours.cpu is None or theirs.cpu is None:
        return ""
    return (f"  wick: {ours.cpu / max(theirs.cpu, 0.001):.2f} of its CPU, "
            f"{ours.peak / theirs.peak:.2f} of its memory")


def look(name, path, arguments, skip=()):
    """All programs on one subject."""
    asked = agree.Symbols(path).pick(arguments.addresses, random.Random(SEED))
    text = os.path.join(arguments.scratch, "addresses")
    cache = os.path.join(arguments.scratch, "cache")
    write_addresses(text, asked)
    print(f"{name}: {len(asked)} addresses, {os.path.getsize(path) / 1e6:.0f} MB")

    def forget():
        shutil.rmtree(cache, ignore_errors=True)
        os.mkdir(cache, 0o700)

    ours = best([arguments.addrs, "-n", path], text)
    print(f"  {'wick':26} {ours}")
    first = best([arguments.addrs, "-c", cache, path], text, forget)
    print(f"  {'wick, filling its cache':26} {first}")
    again = best([arguments.addrs, "-c", cache, path], text)
    print(f"  {'wick, from its cache':26} {again}", end="")
    print(f"  {again.cpu / max(first.cpu, 0.001):.3f} of the first's CPU"
          if first.cpu and again.cpu is not None else "")
    for who, command in (
            ("llvm-symbolizer", ["llvm-symbolizer", "--inlines", "--demangle", f"--obj={path}"]),
            ("addr2line", ["addr2line", "-a", "-f", "-i", "-C", "-e", path]),
            ("eu-addr2line", ["eu-addr2line", "-a", "-f", "-i", "-C", "-e", path]),
            ("libdwfl, the obvious way", [arguments.dwfl, path])):
        if who in skip:
            continue
        cost = best(command, text)
        print(f"  {who:26} {cost}{ratio(ours, cost)}", flush=True)
    first_address(path, asked, cache, arguments)


def first_address(path, asked, cache, arguments):
    """From start to end of a program that asks for one address, the file and the cache warm."""
    text = os.path.join(arguments.scratch, "address")
    write_addresses(text, asked[len(asked) // 2:len(asked) // 2 + 1])
    for word, options in (("cold", ["-n"]), ("from its cache", ["-c", cache])):
        walls = []
        for _ in range(5):
            with open(text, "rb") as given:
                said = subprocess.run([arguments.addrs, "-t", *options, path], stdin=given,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                      check=True).stderr
            walls.append(float(re.search(r"wall_s ([\d.]+)", said).group(1)))
        print(f"  one address, {word}: {1000 * min(walls):.2f} ms")


def recorded(program, options, arguments):
    """Samples of the same program in both formats, without names; the second None: no perf.
    Without OPTIONS it takes rounds, as the templates do."""
    ours = os.path.join(arguments.scratch, "bare.perf")
    theirs = os.path.join(arguments.scratch, "perf.data")
    rounds = 1000
    for _ in range(3):
        if os.path.exists(ours):
            os.remove(ours)
        command = [program] + (options or [str(rounds)])
        subprocess.run([arguments.wick, "record", "-q", "-F", RATE, "--no-symbols", "-o", ours,
                        "--", *command], check=False, stdout=subprocess.DEVNULL)
        with open(ours, encoding="utf-8") as text:
            samples, _ = count_samples(text.read())
        if options or SAMPLES <= samples < 1.2 * SAMPLES:
            break
        rounds = int(rounds * 1.1 * SAMPLES / max(samples, 1))
    done = subprocess.run(["perf", "record", "-q", "-F", RATE, "-e", "cpu-clock:u", "--call-graph",
                           "dwarf", "-o", theirs, "--", *command], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return ours, theirs if done.returncode == 0 else None


def count_samples(text):
    """Samples and frames of perf-script text."""
    blocks = [block for block in text.split("\n\n") if "\n" in block.strip()]
    return len(blocks), sum(len(re.findall(r"(?m)^\s+[0-9a-f]+ ", block)) for block in blocks)


def profile(program, options, arguments):
    """From a profile without names to text with inlined frames."""
    ours, theirs = recorded(program, options, arguments)
    named = os.path.join(arguments.scratch, "named.perf")
    costs = {}
    for word, options in (("wick symbolize", ["--no-cache"]),):
        cost = best([arguments.wick, "symbolize", "-q", *options, "-o", named, ours], os.devnull,
                    lambda: os.path.exists(named) and os.remove(named))
        with open(named, encoding="utf-8") as text:
            samples, frames = count_samples(text.read())
        costs[word] = cost
        print(f"  {word:26} {cost}  {samples} samples, {frames} frames")
    if not theirs:
        print("  perf cannot record here")
        return
    shown = os.path.join(arguments.scratch, "shown.perf")
    for word, options in (("perf script --inline", ["--inline"]),
                          ("perf script --no-inline", ["--no-inline"])):
        with open(shown, "wb") as out:
            began = time.monotonic()
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            try:
                subprocess.run(["perf", "script", *options, "-i", theirs], stdout=out, check=True,
                               stderr=subprocess.DEVNULL, timeout=LIMIT_S)
            except subprocess.TimeoutExpired:
                print(f"  {word:26} more than {LIMIT_S} s")
                continue
            wall = time.monotonic() - began
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        with open(shown, encoding="utf-8", errors="replace") as text:
            samples, frames = count_samples(text.read())
        mine = costs["wick symbolize"]
        print(f"  {word:26} {cpu:8.3f} s CPU {wall:8.3f} s             {samples} samples, {frames} "
              f"frames: {wall / mine.wall:.0f} times wick's time")


def fetch_ceph(scratch):
    """Debian's largest C++ program with debugging information: as it is, and decompressed."""
    folder = os.path.join(scratch, "ceph")
    plain, compressed = os.path.join(folder, "osd.full"), os.path.join(folder, "osd.z")
    if not os.path.exists(plain):
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["apt-get", "-q", "download", "ceph-osd", "ceph-osd-dbg"], cwd=folder,
                       check=True)
        for package in glob.glob(os.path.join(folder, "*.deb")):
            subprocess.run(["dpkg", "-x", package, os.path.join(folder, "root")], check=True)
        program = os.path.join(folder, "root/usr/bin/ceph-osd")
        debug = agree.debug_file(program, os.path.join(folder, "root/usr/lib/debug"))
        subprocess.run(["eu-unstrip", program, debug, "-o", compressed], check=True)
        subprocess.run(["objcopy", "--decompress-debug-sections", compressed, plain], check=True)
    return [plain, compressed]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wick", required=True)
    parser.add_argument("--addrs", required=True)
    parser.add_argument("--dwfl", required=True)
    parser.add_argument("--scratch", required=True)
    parser.add_argument("--addresses", type=int, default=10000)
    parser.add_argument("--units", type=int, default=5, help="of the C++ subject: 1 MB each")
    parser.add_argument("--large", nargs="*", default=None)
    parser.add_argument("--profile", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    os.makedirs(arguments.scratch, exist_ok=True)
    templates = agree.make_templates(arguments.scratch, arguments.units)
    for name, path in (("own", arguments.wick), ("libc", LIBC), ("libstdc++", LIBSTDCXX),
                       ("templates", templates)):
        look(name, path, arguments)
    print(f"{SAMPLES} samples of templates, end to end:")
    profile(templates, [], arguments)
    if arguments.profile:
        print(f"{' '.join(arguments.profile)}, end to end:")
        profile(arguments.profile[0], arguments.profile[1:], arguments)
    if arguments.large is not None:
        for path in arguments.large or fetch_ceph(arguments.scratch):
            look(os.path.basename(path), path, arguments,
                 ("eu-addr2line", "libdwfl, the obvious way"))


if __name__ == "__main__":
    main()
