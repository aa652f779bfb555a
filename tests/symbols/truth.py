#!/usr/bin/env python3
"""What is true of the marked program in each of its variants, beside what is said of it.

usage: truth.py --addrs SYMBOLIZE_ADDRS --list DIR/list [--peers] [--verbose] [NAME...]

The truth is in the sources (marks.h says how) and in the section `marks` of each program.  A
variant is right when every mark is: names, files and lines, of all levels.
"""
import argparse
import os
import re
import struct
import subprocess
import sys

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ("marks.h", "marks.c", "marks.cc", "marks_table.inc", "marks_asm.S")
CALL_BYTES = 5
SHOWN = 4  # mistakes of a variant
# Folded with each other by --icf=all: either name is true.
FOLDED = {"c-same-one": "c-same-two", "c-same-two": "c-same-one"}
# Of a function within a function the compiler's name has no more than its own.
BARE = {"c-nested"}


def read_truth():
    """{tag: [(name, file, line), ...]}, from the sources."""
    at = {}
    told = {}
    last = ""
    for source in SOURCES:
        path = os.path.join(HERE, source)
        with open(path, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                for tag in re.findall(r"/\*@([\w-]+)\*/", line):
                    assert at.setdefault("@" + tag, (path, number)) == (path, number), tag
                for tag in re.findall(r"MARK(?:_LAST_CALL)?\(\"([\w-]+)\"", line):
                    at[tag] = (path, number)
                match = re.match(r"\s*(?:/\* )?//: (?:([\w-]+) =)?(.*?)( \*/)?$", line)
                if match:
                    last = match.group(1) or last
                    levels = [level.strip() for level in match.group(2).split(" |") if level]
                    told[last] = told.get(last, []) + levels
    return {tag: chain_of(tag, levels, at) for tag, levels in told.items()}


def chain_of(tag, levels, at):
    chain = [(levels[0], *at.get(tag, at.get("@" + tag)))]
    for level in levels[1:]:
        name, place = re.match(r"(.*)(@[\w-]+)$", level).groups()
        names = [name]
        match = re.search(r"(\d+)\.\.(\d+)", name)
        if match:
            names = [name.replace(match.group(0), str(i))
                     for i in range(int(match.group(1)), int(match.group(2)) + 1)]
        chain += [(n, *at[place]) for n in names]
    return chain


def section(path, name):
    """Address and bytes of a section."""
    with open(path, "rb") as file:
        data = file.read()
    shoff, = struct.unpack_from("<Q", data, 0x28)
    size, count, strings = struct.unpack_from("<HHH", data, 0x3a)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * size) for i in range(count)]
    base = headers[strings][4]
    for header in headers:
        end = data.index(b"\0", base + header[0])
        if data[base + header[0]:end] == name:
            return header[3], data[header[4]:header[4] + header[5]]
    raise RuntimeError(f"'{path}' has no section {name}")


def read_marks(path):
    """[(tag, Asked), ...]"""
    addr, data = section(path, b"marks")
    marks = []
    at = 0
    while at + 8 < len(data):
        end = data.index(b"\0", at + 8)
        tag = data[at + 8:end].decode()
        if tag:
            marks.append((tag, peers.Asked(
                (addr + at + struct.unpack_from("<q", data, at)[0]) & 0xffffffffffffffff,
                tag == "last-call")))
        at = (end + 8) & ~7
    return marks + cold_marks(path)


def cold_marks(path):
    """Code that only a symbol tells the place of: the call that ends it."""
    listed = subprocess.run(["nm", "-S", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True, check=False).stdout
    return [("cold-end", peers.Asked(int(addr, 16) + int(size, 16) - CALL_BYTES)) for addr, size in
            re.findall(r"(?m)^([0-9a-f]+) ([0-9a-f]+) t _ZN2ns6frozenEi\.cold\S*$", listed)]


class Variant:
    def __init__(self, line):
        self.name, self.path, flags = line.split()
        self.flags = set()
        self.debug = None
        self.moved = None
        for flag in flags.split(","):
            key, _, value = flag.partition("=")
            if key == "debug":
                self.debug = value
            elif key == "from":
                self.moved = value
            elif key != "-":
                self.flags.add(key)
        self.folder = os.path.dirname(HERE)

    def file(self, path):
        if self.moved:
            return path.replace(self.folder, self.moved, 1)
        return path


def same_name(said, true, bare, nameless=False):
    if nameless and not said:
        return True
    if peers.without_parameters(said) == peers.without_parameters(true):
        return True
    return bare and peers.last_part(said) == peers.last_part(true)


class Verdict:
    """Of one tool about one variant."""

    def __init__(self):
        self.names = self.lines = self.chains = True
        self.wrong = []

    def mistake(self, what, tag, said, true):
        setattr(self, what, False)
        self.wrong.append((what, tag, said, true))

    @property
    def right(self):
        return self.names and self.lines and self.chains

    def __str__(self):
        return "".join(letter if good else "-" for letter, good in
                       (("N", self.names), ("L", self.lines), ("C", self.chains)))


def exported(variant):
    """What .dynsym names, at which addresses."""
    listed = subprocess.run(["nm", "-D", "-S", "--defined-only", variant.path],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            check=False).stdout
    return {line.split()[-1].split("@")[0] for line in listed.splitlines()}


def expected(variant, tag, truth):
    """The chain that can be known there."""
    chain = truth[tag]
    if "none" in variant.flags or "names" in variant.flags:
        return [(chain[-1][0], "", 0)]
    if "outer" in variant.flags:
        return [(chain[-1][0], chain[0][1], chain[0][2])]
    return [(name, variant.file(path), line) for name, path, line in chain]


def judge_none(verdict, tag, said, true, names):
    """Nothing is known but exported names: a name is one of those, or none of the program's."""
    for name, _, line in said:
        if line:
            verdict.mistake("lines", tag, said, true)
        if name and not name.startswith("[") and name not in names:
            verdict.mistake("names", tag, said, true)


def judge(variant, marks, chains, truth, lenient=False):
    verdict = Verdict()
    names = exported(variant) if "none" in variant.flags else set()
    for (tag, _), said in zip(marks, chains):
        true = expected(variant, tag, truth)
        if "none" in variant.flags:
            judge_none(verdict, tag, said, true, names)
            continue
        others = [true]
        if "folded" in variant.flags and tag in FOLDED:
            others.append(expected(variant, FOLDED[tag], truth))
        judge_chain(verdict, variant, tag, said, others, lenient)
    return verdict


def judge_chain(verdict, variant, tag, said, alternatives, lenient):
    true = alternatives[0]
    if len(said) != len(true):
        verdict.mistake("chains", tag, said, true)
        return
    bare = lenient or tag in BARE or bool(variant.flags & {"bare", "nameless"})
    for level, (name, file, line) in enumerate(said):
        # A symbol table has the whole name of the function that inlined calls are in.
        is_bare = bare and (lenient or tag in BARE or level < len(said) - 1)
        nameless = "nameless" in variant.flags and level < len(said) - 1
        if not any(same_name(name, other[level][0], is_bare, nameless)
                   for other in alternatives):
            verdict.mistake("names", tag, said, true)
        places = [(other[level][1], other[level][2]) for other in alternatives]
        if "names" in variant.flags:
            continue
        if (peers.absolute(file, variant.folder), line) not in places:
            if lenient and (os.path.basename(file), line) in [(os.path.basename(f), n)
                                                              for f, n in places]:
                continue
            verdict.mistake("lines", tag, said, true)


def show(verdict, who, variant):
    seen = set()
    for what, tag, said, true in verdict.wrong:
        if (what, tag) in seen or len(seen) == SHOWN:
            continue
        seen.add((what, tag))
        print(f"{variant.name}: {who}: {what} at {tag}:")
        for word, chain in (("said", said), ("true", true)):
            text = " | ".join(f"{n} {os.path.basename(f)}:{line}" for n, f, line in chain[:8])
            print(f"    {word} ({len(chain)}): {text}")
        if [said[0][1:]] != [true[0][1:]] and said and what == "lines":
            print(f"    path said '{said[0][1]}', true '{true[0][1]}'")


def ask(who, variant, asked, arguments):
    if who == "wick":
        debug = ["-d", variant.debug] if variant.debug else []
        return peers.ours(arguments.addrs, variant.path, asked, ["-n", *debug])
    if who == "addr2line":
        return peers.addr2line(variant.path, asked)
    if who == "eu-addr2line":
        return peers.eu_addr2line(variant.path, asked, variant.debug)
    return peers.llvm(variant.path, asked, variant.debug)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--addrs", required=True)
    parser.add_argument("--list", required=True)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--only", help="the tool to use")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    truth = read_truth()
    who = ["wick"] + (["addr2line", "eu-addr2line", "llvm-symbolizer"] if arguments.peers else [])
    if arguments.only:
        who = [arguments.only]
    with open(arguments.list, encoding="utf-8") as text:
        variants = [Variant(line) for line in text if line.strip()]
    if arguments.names:
        variants = [v for v in variants if v.name in arguments.names]
    right = {tool: 0 for tool in who}
    print(f"{'variant':24} {'marks':>5}  " + "  ".join(f"{tool:15}" for tool in who) +
          "  (names, lines, chains)")
    for variant in variants:
        marks = read_marks(variant.path)
        assert len(marks) >= 20, variant.name
        cells = []
        problems = []
        for tool in who:
            try:
                chains = ask(tool, variant, [a for _, a in marks], arguments)
            except (RuntimeError, AssertionError, subprocess.TimeoutExpired) as error:
                cells.append("failed")
                problems.append(f"{variant.name}: {tool}: {error}")
                continue
            verdict = judge(variant, marks, chains, truth, tool != "wick")
            right[tool] += verdict.right
            cells.append(str(verdict))
            if not verdict.right and (tool == "wick" or arguments.verbose):
                problems.append((verdict, tool, variant))
        print(f"{variant.name:24} {len(marks):5}  " + "  ".join(f"{c:15}" for c in cells))
        for problem in problems:
            if isinstance(problem, str):
                print(problem)
            else:
                show(*problem)
    print(f"{'right':24} {'':5}  " +
          "  ".join(f"{right[tool]:2} of {len(variants):<9}" for tool in who))
    return 0 if right[who[0]] == len(variants) and variants else 1


if __name__ == "__main__":
    sys.exit(main())
