#!/usr/bin/env python3
"""What wick says of random addresses of real programs, beside what at least two others agree on.

usage: agree.py --addrs SYMBOLIZE_ADDRS --scratch DIR [--addresses N] [--units N] [--without WHO]
                [--verbose] [NAME=FILE...]

Addresses are spread over the bytes of functions.  A frame is a name (what is in front of its
parameters and behind its namespaces, as most others leave those out), a file's last part and a
line.  Where two of llvm-symbolizer, eu-addr2line and addr2line say the same of a frame and wick
says something else, the frame is listed with the reason, if it has one of REASONS; what is left
may be at most one frame of a thousand.
"""
import argparse
import bisect
import os
import random
import re
import subprocess
import sys

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
ALLOWED = 0.001
SHOWN = 12
LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
LIBSTDCXX = "/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6.0.30"


def debug_file(path, root="/usr/lib/debug"):
    """The file with the symbols: the same, or the one of its build-id."""
    notes = subprocess.run(["readelf", "-n", path], stdout=subprocess.PIPE, text=True,
                           stderr=subprocess.DEVNULL, check=True).stdout
    match = re.search(r"Build ID: (..)(\w+)", notes)
    if match:
        debug = f"{root}/.build-id/{match.group(1)}/{match.group(2)}.debug"
        if os.path.exists(debug):
            return debug
    return path


class Symbols:
    """Functions of a file: where they are, and what else is there."""

    def __init__(self, path):
        listed = subprocess.run(["nm", "-S", "--defined-only", debug_file(path)],
                                stdout=subprocess.PIPE, text=True, check=True).stdout
        self.ranges = {}
        for line in listed.splitlines():
            words = line.split()
            if len(words) == 4 and words[2] in "tTwWi" and int(words[1], 16):
                key = (int(words[0], 16), int(words[1], 16))
                self.ranges.setdefault(key, set()).add(words[3].split("@")[0])
        self.order = sorted(self.ranges)
        assert self.order, f"'{path}' has no functions"

    def pick(self, n, chance):
        total = 0
        ends = []
        for _, size in self.order:
            total += size
            ends.append(total)
        picked = set()
        while len(picked) < min(n, total // 4):
            at = chance.randrange(total)
            i = bisect.bisect_right(ends, at)
            start, size = self.order[i]
            picked.add(start + size - (ends[i] - at))
        return [peers.Asked(addr) for addr in sorted(picked)]

    def names_at(self, addr):
        return {peers.last_part(demangled(name)) for (start, size), names in self.ranges.items()
                if start <= addr < start + size for name in names}


def demangled(name):
    return subprocess.run(["c++filt", name], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()


def frame(said):
    name, file, line = said
    # Some know the file of a symbol, but no line in it: that is not a place.
    return peers.last_part(name), os.path.basename(file) if line else "", line


class Agreement:
    def __init__(self, symbols):
        self.symbols = symbols
        self.frames = 0
        self.agreed = 0
        self.reasons = {}
        self.left = []

    def look(self, asked, ours, theirs):
        depth = max(len(ours), *(len(chain) for chain in theirs.values()))
        for level in range(depth):
            self.frames += level < len(ours)
            said = {}
            for who, chain in theirs.items():
                if level < len(chain):
                    said.setdefault(frame(chain[level]), []).append(who)
            most = max(said, key=lambda one: len(said[one])) if said else None
            if not most or len(said[most]) < 2:
                continue
            mine = frame(ours[level]) if level < len(ours) else None
            self.agreed += 1
            if mine == most:
                continue
            reason = self.reason(asked.addr, level, ours, theirs, most, said[most])
            if reason:
                self.reasons[reason] = self.reasons.get(reason, 0) + 1
            else:
                self.left.append((asked.addr, level, ours, theirs))

    def reason(self, addr, level, ours, theirs, most, who):
        """Which known weakness of theirs explains that they differ; None: none."""
        for rule in REASONS:
            name = rule(self.symbols, addr, level, ours, theirs, most, who)
            if name:
                return name
        return None


def alias(symbols, addr, level, ours, _theirs, most, _who):
    """Both names are symbols of the very same code."""
    if level != len(ours) - 1 or frame(ours[level])[1:] != most[1:]:
        return None
    names = symbols.names_at(addr)
    if frame(ours[level])[0] in names and most[0] in names:
        return "another name of the same code"
    return None


def nested(_symbols, _addr, level, ours, theirs, _most, who):
    """Of what is inlined into a function within a function libdw loses the chain, and addr2line
    gives it the name of the symbol around: both name the function itself.  (The mark `in-lambda`.)
    """
    if sorted(who) != ["addr2line", "eu"] or "llvm" not in theirs or len(theirs["eu"]) >= len(ours) or level >= len(ours):
        return None
    if level < len(theirs["llvm"]) and frame(theirs["llvm"][level]) == frame(ours[level]):
        return "within a function within a function"
    return None


REASONS = [alias, nested]


ASK = {"llvm": peers.llvm, "eu": peers.eu_addr2line, "addr2line": peers.addr2line}


def compare(path, n, addrs, seed, without):
    symbols = Symbols(path)
    asked = symbols.pick(n, random.Random(seed))
    ours = peers.ours(addrs, path, asked, ["-n"])
    theirs = {who: ask(path, asked) for who, ask in ASK.items() if who != without}
    agreement = Agreement(symbols)
    for i, one in enumerate(asked):
        agreement.look(one, ours[i], {who: chains[i] for who, chains in theirs.items()})
    return agreement


def text_of(chain):
    return " | ".join(f"{peers.without_parameters(n)[-60:]} {os.path.basename(f)}:{line}"
                      for n, f, line in chain[:6])


def report(name, agreement, verbose):
    share = len(agreement.left) / max(agreement.agreed, 1)
    print(f"{name:16} {agreement.frames:7} frames, {agreement.agreed:7} that two others agree on; "
          f"wick differs in {len(agreement.left)} ({100 * share:.3f} %)" +
          "".join(f", {count} {reason}" for reason, count in agreement.reasons.items()))
    for addr, level, ours, theirs in agreement.left[:None if verbose else SHOWN]:
        print(f"  0x{addr:x} level {level}")
        print(f"    {'wick':10} {text_of(ours)}")
        for who, chain in theirs.items():
            print(f"    {who:10} {text_of(chain)}")
    return share <= ALLOWED and agreement.agreed > agreement.frames // 2


def make_templates(folder, units):
    """The template-heavy program, built once."""
    program = os.path.join(folder, "templates")
    maker = os.path.join(HERE, "..", "bench", "make_templates.py")
    subprocess.run([sys.executable, "-B", maker, "--units", str(units), folder], check=True)
    sources = [os.path.join(folder, f"unit{i}.cc") for i in range(units)]
    subprocess.run(["g++", "-std=c++17", "-O2", "-g", *sources, os.path.join(folder, "main.cc"),
                    "-o", program], check=True)
    return program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--addrs", required=True)
    parser.add_argument("--scratch", required=True)
    # The long form has more of all.
    is_long = bool(os.environ.get("WICK_LONG"))
    parser.add_argument("--addresses", type=int, default=10000 if is_long else 500)
    parser.add_argument("--units", type=int, default=5 if is_long else 0)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--without", help="the tool that is too slow for these subjects")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("subjects", nargs="*")
    arguments = parser.parse_args()
    os.makedirs(arguments.scratch, exist_ok=True)
    subjects = dict(s.split("=", 1) for s in arguments.subjects)
    if not subjects:
        subjects = {"own": arguments.addrs, "libc": LIBC, "libstdc++": LIBSTDCXX}
        if arguments.units:
            subjects["templates"] = make_templates(arguments.scratch, arguments.units)
    good = True
    for name, path in subjects.items():
        agreement = compare(path, arguments.addresses, arguments.addrs, arguments.seed,
                            arguments.without)
        good &= report(name, agreement, arguments.verbose)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
