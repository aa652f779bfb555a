#!/usr/bin/env python3
"""perf-script text -> a pack (flamescope/pack/pack.h), or made-up samples: for tests of the page.

It shares no code with the program and reads only what the tests' own files have in them.

    pack_from_perf.py FILE OUT
    pack_from_perf.py --json FILE OUT (samples by hand: profileOf() of profile_fixture.mjs)
    pack_from_perf.py --samples N [--seconds S] [--threads T] OUT
"""
import argparse
import array
import json
import random
import re
import struct
import sys
import zlib

HEADER = re.compile(r"^(\S.*?)\s+(?:(\d+)/)?(\d+)\s+(?:\[(\d+)\]\s+)?(\d+)\.(\d+):\s+(?:(\d+)\s+)?(\S+):\s*$")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.+) \((.*)\)$")
INLINED = re.compile(r"^\s+([0-9a-f]+) (.+) \(inlined\)$")
ABSENT = -(1 << 63)
ROOT = (0, None)  # a node that no frame has
HAS_EPOCH, IS_WICK, HAS_TIMES = 1, 2, 4
KINDS = ["counter", "gauge"]


class Numbers:
    """Things by number, in the order in which they were seen."""

    def __init__(self, *first):
        self.of = {}
        for thing in first:
            self(thing)

    def __call__(self, thing):
        return self.of.setdefault(thing, len(self.of))

    def list(self):
        return list(self.of)


def folded(value):
    return 0 if value == ABSENT else 2 * value + 1 if value >= 0 else -2 * value


def narrowed(name, values):
    """A column as the pack has it: folded if signed, of as few bytes as the largest needs, once if all are the same."""
    if values.typecode == "q":
        values = array.array("Q", map(folded, values))
    if name != "stack" and len(set(values)) == 1:
        values = values[:1]
    largest = max(values, default=0)
    return name, array.array("BHIQ"[sum(largest >= 1 << bits for bits in (8, 16, 32))], values)


class Recording:
    def __init__(self):
        self.strings = Numbers("")
        self.frames = Numbers()
        self.places = []
        self.nodes = Numbers(ROOT)
        self.threads = Numbers()
        self.events = Numbers()
        self.tags = {}
        self.metrics = {}
        self.declared = {}
        self.samples = []  # (ns, thread, stack, weight, cpu, event, {tag: value}, {metric: (v, d)})
        self.is_wick = False
        self.has_times = True
        self.epoch = None
        self.hz = 0
        self.host = ""
        self.command = ""

    def frame(self, name, module, inlined, addr=0, offset=0):
        before = len(self.frames.of)
        number = self.frames((self.strings(name), self.strings(module), inlined))
        if number == before:
            self.places.append((addr, offset))
        return number

    def stack(self, frames):
        node = 0
        for frame in frames:
            node = self.nodes((node, frame))
        return node

    def header(self, line):
        if line.startswith("# hostname :"):
            self.host = line.split(":", 1)[1].strip()
        elif line.startswith("# cmdline :"):
            self.command = line.split(":", 1)[1].strip()
        elif line.startswith("# wick :"):
            about = json.loads(line.split(":", 1)[1])
            self.is_wick = True
            self.hz = about.get("hz", 0)
            self.epoch = about.get("epoch_offset_ns")
            for metric in about.get("metrics", []):
                self.declared[metric["name"]] = (metric.get("unit", ""), metric.get("kind", "gauge"))

    def read(self, lines):
        facts, head, frames = {}, None, []

        def end():
            nonlocal facts, head, frames
            if head:
                self.sample(head, frames, facts)
            facts, head, frames = {}, None, []

        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("# s "):
                end()
                facts = dict(word.split("=", 1) for word in line[4:].split() if "=" in word)
            elif line.startswith("#"):
                self.header(line)
            elif not line:
                end()
            elif HEADER.match(line):
                if head:
                    end()
                head = HEADER.match(line)
            elif INLINED.match(line):
                frames.append(self.frame(INLINED.match(line)[2], "", 1))
            elif FRAME.match(line):
                addr, name, module = FRAME.match(line).groups()
                found = re.match(r"^(.+)\+0x([0-9a-f]+)$", name)
                offset = int(found[2], 16) if found else 0
                frames.append(self.frame(found[1] if found else name, module, 0, int(addr, 16), offset))
        end()

    def sample(self, head, frames, facts):
        comm, pid, tid, cpu, seconds, part, period, event = head.groups()
        ns = int(seconds) * 10**9 + int(part.ljust(9, "0")[:9])
        tags, metrics = {}, {}
        for key, value in facts.items():
            number = re.fullmatch(r"(-?\d+),(-?\d+)", value)
            if number:
                metrics[key] = (int(number[1]), int(number[2]))
            elif key != "comm":
                tags["state" if key == "st" else key] = value
        thread = self.threads((self.strings(comm), self.strings(self.host), int(pid or -1), int(tid)))
        self.samples.append((ns, thread, self.stack(reversed(frames)), int(period or 1),
                             int(cpu) if cpu else 0xFFFF, self.events(self.strings(event)), tags, metrics))

    def by_hand(self, about):
        """What profileOf() was given: {samples, units, events, isWick, hasTimes, hz}."""
        self.is_wick, self.has_times, self.hz = about["isWick"], about["hasTimes"], about["hz"]
        self.declared = {name: (unit, "gauge") for name, unit in about["units"].items()}
        threads = {}
        for event in about["events"]:
            self.events(self.strings(event))
        for i, sample in enumerate(about["samples"]):
            comm = sample.get("thread", "main")
            tid = threads.setdefault(comm, len(threads) + 1)
            stack = self.stack([self.frame(name, sample.get("module", ""), 0) for name in sample["stack"]])
            self.samples.append((sample.get("time", i), self.threads((self.strings(comm), 0, 1, tid)), stack, sample.get("weight", 1), 0xFFFF,
                                 0, sample.get("tags", {}), {name: tuple(pair) for name, pair in sample.get("metrics", {}).items()}))

    def make_up(self, n, seconds, n_threads):
        """Samples as of a server: a few hundred stacks, states, a counter and a signed metric."""
        random.seed(5)
        self.is_wick = True
        self.declared = {"cpu_ns": ("ns", "counter"), "heap_live_bytes": ("bytes", "gauge")}
        modules = ["/opt/app/server", "/opt/app/lib/libengine.so.2", "/lib/x86_64-linux-gnu/libc.so.6", "[kernel.kallsyms]"]
        frames = [self.frame(f"{random.choice(['read', 'write', 'parse', 'join', 'hash', 'sort', 'send'])}_{random.choice(['page', 'row', 'tree', 'log', 'conn', 'key'])}_{i}", random.choice(modules), 0, 4096 + 16 * i, i)
                  for i in range(900)]
        main = self.frame("main", modules[0], 0, 4096, 1)
        stacks = [self.stack([main] + random.sample(frames, random.randint(2, 40))) for _ in range(4000)]
        threads = [self.threads((self.strings(f"worker-{i}"), 0, 4000, 4000 + i)) for i in range(n_threads)]
        event = self.events(self.strings("cpu-clock"))
        states = ["running", "sleeping", "runnable", "disk"]
        for i in range(n):
            ns = 12345 * 10**9 + 250 * 10**6 + int(i * seconds * 10**9 / max(1, n))
            delta = random.randint(-4096, 5000)
            busy = 1 if (ns // 10**9) % 10 < 7 else 0
            which = int(random.triangular(0, len(stacks), 0 if busy else len(stacks)))
            self.samples.append((ns, threads[i % n_threads], stacks[min(which, len(stacks) - 1)], 1, i % 8, event,
                                 {"state": states[i % 7 % 4]}, {"cpu_ns": (i * 1000, 1000), "heap_live_bytes": (max(0, i * 10 + delta), delta)}))

    def column(self, pick, kind):
        return array.array(kind, map(pick, self.samples))

    def sections(self):
        self.samples.sort(key=lambda sample: sample[0])
        start = self.samples[0][0] if self.samples else 0
        last = self.samples[-1][0] if self.samples else 0
        tag_names = sorted({key for sample in self.samples for key in sample[6]})
        metric_names = sorted({key for sample in self.samples for key in sample[7]} | set(self.declared))
        tag_values = {name: Numbers("") for name in tag_names}
        first = [("time", self.column(lambda s: s[0] - start, "Q")), ("weight", self.column(lambda s: s[3], "Q"))]
        columns = [("thread", self.column(lambda s: s[1], "I")), ("stack", self.column(lambda s: s[2], "I")),
                   ("cpu", self.column(lambda s: s[4], "H")), ("event", self.column(lambda s: s[5], "B"))]
        words = []
        for i, name in enumerate(tag_names):
            columns.append((f"tag{i}", self.column(lambda s: tag_values[name](s[6].get(name, "")), "I")))
            words.append((f"tag{i}_word", array.array("I", map(self.strings, tag_values[name].list()))))
        for i, name in enumerate(metric_names):
            for j, what in enumerate(("value", "delta")):
                columns.append((f"{what}{i}", self.column(lambda s: s[7].get(name, (ABSENT, ABSENT))[j], "q")))
        unit_and_kind = [self.declared.get(name, ("", "gauge")) for name in metric_names]
        facts = [start, last - start, (self.epoch or 0) % 2**64,
                 HAS_EPOCH * (self.epoch is not None) + IS_WICK * self.is_wick + HAS_TIMES * self.has_times + (self.hz << 32), self.strings(self.command)]
        file_facts = [0, len(self.samples), *[0] * 11]
        about = [
            ("facts", array.array("Q", facts)), ("tag_name", array.array("I", map(self.strings, tag_names))),
            ("metric_name", array.array("I", map(self.strings, metric_names))),
            ("metric_unit", array.array("I", [self.strings(unit) for unit, _ in unit_and_kind])), ("event_name", array.array("I", self.events.list())),
            ("metric_kind", array.array("B", [KINDS.index(kind) for _, kind in unit_and_kind])),
            ("file_facts", array.array("Q", file_facts)), ("file_text", b"made.perf\0\0", 1),
        ]
        first, columns = ([narrowed(name, values) for name, values in part] for part in (first, columns))
        texts = [text.encode("utf-8", "surrogateescape") for text in self.strings.list()]
        ends, at = array.array("I"), 0
        for text in texts:
            at += len(text)
            ends.append(at)
        frames, nodes, threads = self.frames.list(), self.nodes.list(), self.threads.list()
        return [
            *about, ("strings", b"".join(texts), 1), ("string_ends", ends),
            ("thread_comm", array.array("I", [t[0] for t in threads])), ("thread_host", array.array("I", [t[1] for t in threads])),
            ("thread_pid", array.array("i", [t[2] for t in threads])), ("thread_tid", array.array("i", [t[3] for t in threads])),
            *first,
            ("frame_name", array.array("I", [f[0] for f in frames])), ("frame_module", array.array("I", [f[1] for f in frames])),
            ("frame_inlined", array.array("B", [f[2] for f in frames])), ("frame_addr", array.array("Q", [p[0] for p in self.places])),
            ("frame_offset", array.array("Q", [p[1] for p in self.places])),
            ("node_parent", array.array("I", [n[0] for n in nodes])), ("node_frame", array.array("I", [n[1] or 0 for n in nodes])),
            *columns, *words,
        ]

    def pack(self):
        sections = self.sections()
        at = (24 + 40 * len(sections) + 7) // 8 * 8
        table, body = b"", b""
        for name, values, *size in sections:
            raw = values if isinstance(values, bytes) else values.tobytes()
            size = size[0] if size else values.itemsize
            table += struct.pack("<16sQQII", name.encode(), at + len(body), len(raw) // size, size, zlib.crc32(raw))
            body += raw + b"\0" * (-len(raw) % 8)
        head = struct.pack("<8sIIQ", b"wickpack", 5, len(sections), at + len(body)) + table
        return head.ljust(at, b"\0") + body


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?")
    parser.add_argument("out")
    parser.add_argument("--json")
    parser.add_argument("--samples", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=16)
    options = parser.parse_args()
    recording = Recording()
    if options.json:
        with open(options.json, encoding="utf-8") as file:
            recording.by_hand(json.load(file))
    elif options.file:
        with open(options.file, encoding="utf-8", errors="surrogateescape") as file:
            recording.read(file)
    else:
        recording.make_up(options.samples, options.seconds, options.threads)
    with open(options.out, "wb") as file:
        file.write(recording.pack())


if __name__ == "__main__":
    sys.exit(main())
