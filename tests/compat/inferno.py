"""inferno's perf.rs: as stackcollapse-perf.pl, but splits at blanks and asserts."""
from grammar import Fatal, Verdict

from stackcollapse import frame_names


def header_of(line):
    """(comm, event, period, frame inlined on the line) or None."""
    words = line.split(b" ")
    pid_at = None
    for at, word in enumerate(words):
        left = word.partition(b"/")
        if at and left[0].isdigit() and (not left[1] or left[2].isdigit()):
            pid_at = at
            break
    if pid_at is None or line[:1] in (b" ", b"\t"):
        return None
    comm = b"_".join(word for word in words[:pid_at] if word)
    rest = [word for word in words[pid_at + 1:] if word]
    for at, word in enumerate(rest):
        if word.endswith(b":") and at + 1 < len(rest):
            numbers = rest[at + 1:]
            period = int(numbers[0]) if numbers[0].isdigit() else 1
            names = numbers[1:] if numbers[0].isdigit() else numbers
            if names and b":" in names[0]:
                event, _, tail = b" ".join(names).partition(b":")
                return comm, event, period, tail.strip()
    return comm, None, 1, b""


def frame_of(line):
    """(symbol, module); None when the line is no frame."""
    words = line.strip().split(b" ", 1)
    if len(words) < 2 or not all(c in b"0123456789abcdefABCDEFx" for c in words[0]):
        return None
    symbol, _, module = words[1].rpartition(b" ")
    if not symbol or not module.startswith(b"(") or not module.endswith(b")"):
        return None
    return symbol, module[1:-1]


def read(data):
    verdict = Verdict(weight=0)
    wanted = event = period = None
    comm, frames, inside, bad = None, 0, False, False
    for line in data.split(b"\n") + [b""]:
        if line.startswith(b"#"):
            continue
        if not line.strip():
            if comm is None and data:
                raise Fatal("assertion failed: event_filter")
            if inside and frames and not bad and comm and event == wanted:
                verdict.samples += 1
                verdict.frames += frames
                verdict.weight += period
            elif inside:
                verdict.lost.append(f"a sample of {comm!r} is dropped")
            frames, inside, bad = 0, False, False
            continue
        if not inside:
            header = header_of(line)
            if header is None:
                verdict.lost.append(f"weird event line: {line[:60]!r}")
                continue
            comm, event, period, tail = header
            if b";" in comm:
                verdict.lost.append(f"the name is two frames: {comm!r}")
            wanted = wanted or event
            inside, bad = True, bool(tail)
            continue
        frame = frame_of(line)
        if frame is None:
            verdict.lost.append(f"frame dropped: {line[:80]!r}")
            continue
        names = frame_names(*frame)
        frames += bool(names)
        if len(names) != 1:
            verdict.lost.append(f"frame dropped or split: {line[:80]!r}")
    return verdict
