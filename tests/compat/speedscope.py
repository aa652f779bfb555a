"""speedscope's grammar: chunks between empty lines, time per thread never runs back."""
import re

from grammar import Fatal, Verdict, decode, took_module

# ECMAScript's \s is wider than [ \t]; Python's on str covers it but for U+FEFF
SPACE = r"[\s\ufeff]"
NON_SPACE = r"[^\s\ufeff]"
HEADER = re.compile(rf"^({NON_SPACE}[^\n\r\u2028\u2029]+?){SPACE}+([0-9]+)(?:/?([0-9]+))?{SPACE}+")
TIME = re.compile(rf"{SPACE}+([0-9]+\.[0-9]+):{SPACE}+")
EVENT = re.compile(rf"({NON_SPACE}+):{SPACE}*$")
FRAME = re.compile(rf"^{SPACE}*([0-9A-Za-z_]+){SPACE}*([^\n\r\u2028\u2029]+) \(({NON_SPACE}*)\)")


def chunks(lines):
    chunk = []
    for line in lines:
        if line == "":
            if chunk:
                yield chunk
            chunk = []
        elif not re.match(rf"^{SPACE}*#", line):
            chunk.append(line)
    if chunk:
        yield chunk


def read(data, threads=None):
    """THREADS, when given, is filled with the names of the profiles."""
    verdict = Verdict()
    wanted, latest = None, {}
    for chunk in chunks(decode(data).removeprefix("\ufeff").split("\n")):
        header = HEADER.match(chunk[0])
        time = TIME.search(chunk[0])
        if not header or not time:
            verdict.lost.append(f"garbage import: {chunk[0][:60]!r}")
            continue
        event = EVENT.search(chunk[0])
        event = event.group(1) if event else ""
        wanted = event if wanted is None else wanted
        if event != wanted:
            verdict.lost.append(f"event {event!r} is dropped")
            continue
        comm, pid, tid = header.groups()
        thread = f"{comm} pid: {pid} tid: {tid}" if tid else f"{comm} tid: {pid}"
        if threads is not None:
            threads.append(thread)
        at = float(time.group(1))
        before = latest.get(thread, (0, 0))
        if at < before[0]:
            raise Fatal("Timestamps received out of order")
        if at == before[0] == before[1]:
            # a weight is half of the time to the samples before and after
            verdict.lost.append(f"no width between samples of one time: {thread}")
        latest[thread] = (at, before[0])
        n_frames = 0
        for line in chunk[1:]:
            frame = FRAME.match(line)
            if frame and not took_module(frame.group(2), frame.group(3)):
                n_frames += 1
            else:
                verdict.lost.append(f"frame dropped: {line[:80]!r}")
        if n_frames == 0:
            verdict.lost.append("a sample without frames is a gap")
            continue
        verdict.samples += 1
        verdict.frames += n_frames
    if verdict.samples == 0:
        raise Fatal("falls through to collapsed stacks")
    return verdict
