"""stackcollapse-perf.pl's grammar: a sample is emitted by an empty line, and weighs its period."""
import re

from grammar import Verdict, took_module

# bytes: the script knows no encoding
HEADER = re.compile(rb"^(\S.+?)\s+(\d+)/*(\d+)*\s+", re.ASCII)
EVENT = re.compile(rb":\s*(\d+)*\s+(\S+):\s*$", re.ASCII)
FRAME = re.compile(rb"^\s*(\w+)\s*(.+) \((.*)\)", re.ASCII)


def frame_names(symbol, module):
    """What is shown of a symbol; [] when it is skipped, or no longer the symbol alone."""
    if took_module(symbol.decode("latin-1"), module.decode("latin-1")):
        return []
    symbol = re.sub(rb"\+0x[\da-f]+$", b"", symbol)
    if symbol.startswith(b"("):
        return []
    names = []
    for name in symbol.split(b"->"):
        name = name.replace(b";", b":")
        if not re.search(rb"\.\(.*\)\.", name) and b"(anonymous namespace)" not in name:
            name = re.sub(rb"\((?!anonymous namespace\)).*", b"", name)
        names.append(name.replace(b'"', b"").replace(b"'", b""))
    return names


def read(data, pids=None):
    """PIDS, when given, is filled with the (comm, pid) pairs that were understood."""
    verdict = Verdict(weight=0)
    wanted = period = comm = None
    frames = 0
    lines = data.split(b"\n")
    if lines and lines[-1] == b"":
        lines.pop()
    for line in lines:
        if line.startswith(b"#"):
            continue
        if line == b"":
            if comm is not None:
                verdict.samples += 1
                verdict.frames += frames
                verdict.weight += period
            comm, frames = None, 0
            continue
        header = HEADER.match(line)
        if header:
            if comm is not None:
                verdict.lost.append(f"no empty line before {line[:60]!r}")
            event = EVENT.search(line)
            period = int(event.group(1) or 1) if event else 1
            if period == 0:
                verdict.lost.append("a weight of 0 counts as 1")
            wanted = wanted or (event and event.group(2))
            comm, frames = header.group(1), 0
            if b";" in comm:
                verdict.lost.append(f"the name is two frames: {comm!r}")
            if event and event.group(2) != wanted:
                verdict.lost.append(f"event {event.group(2)!r} is filtered out")
                comm = None
            if pids is not None:
                pids.append((comm, header.group(2)))
            continue
        frame = FRAME.match(line)
        if not frame:
            verdict.lost.append(f"Unrecognized line: {line[:60]!r}")
        elif comm is not None:
            names = frame_names(frame.group(2), frame.group(3))
            frames += bool(names)
            if len(names) != 1:
                verdict.lost.append(f"frame dropped or split: {line[:80]!r}")
    if comm is not None:
        verdict.lost.append("the last sample has no empty line after it")
    return verdict
