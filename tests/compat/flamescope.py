"""FlameScope's grammar: file gate, heatmap pass, flame-graph passes, and where they crash."""
import math
import re
import shutil
import subprocess

from grammar import Fatal, Verdict, decode

EVENT = re.compile(r" +([0-9.]+): .+?:")
FRAME = re.compile(r"^[\t ]*[0-9a-fA-F]+ (.+) \((.*?)\)$")
COMM = re.compile(r"^ *([^0-9]+)")
IDLE = re.compile(
    "swapper.*(cpuidle|cpu_idle|cpu_bringup_and_idle|native_safe_halt|xen_hypercall_sched_op"
    "|xen_hypercall_vcpu_op)")
METRIC = re.compile(r"\bmetric_([^:]+):[\t ](-?[0-9.]+)[\t ]*,[\t ]*(-?[0-9.]+)\b")
MAX_DEPTH = 485
ROWS = 50
EARLY = 4096  # libmagic's own searches go about as far
FILE_TYPES = re.compile(
    rb"<(?i:(?:html|head|title|script|style|table)[> \t]|a href=|!doctype html)|"
    rb"\\(?:begin|input|relax|section|chapter|documentclass|setlength|contentsline)")
FILE_WORDS = re.compile(rb"^(struct|extern|union|public:|private:|\.TH|\.sp|\.de)[ \t]", re.M)


def mime_gate(data):
    """text/plain or refused: libmagic itself where `file` is there, its known rules everywhere."""
    if b"\0" in data[:1 << 20] or re.search(rb"[\x01-\x06\x0e-\x1a\x1c-\x1f\x7f]", data[:1 << 20]):
        raise Fatal("Unknown mime type (control characters)")
    if data.startswith(b"\xef\xbb\xbf"):
        raise Fatal("Unknown mime type (byte-order mark)")
    if FILE_TYPES.search(data[:EARLY]) or FILE_WORDS.search(data[:EARLY]):
        raise Fatal("Unknown mime type (a word of another file type)")
    if shutil.which("file") and data:
        told = subprocess.run(["file", "-b", "--mime-type", "-"], input=data[:1 << 20],
                              stdout=subprocess.PIPE, check=True).stdout.strip()
        if told != b"text/plain":
            raise Fatal(f"Unknown mime type ({told.decode()})")


def stamp(text):
    try:
        return float(text)
    except ValueError as error:
        raise Fatal(f"float('{text}')") from error


def heatmap(lines):
    """Every line is searched, frames too; the last stamp, not the largest, is the end."""
    stamps = []
    stack = ""
    for line in lines:
        if line.startswith("#"):
            continue
        match = EVENT.search(line)
        if match:
            if stamps and IDLE.search(stack):
                stamps.pop()
            stamps.append(stamp(match.group(1)))
            stack = line
        else:
            stack += line
    if not stamps:
        raise Fatal("heatmap: no samples")
    start = math.floor(min(stamps))
    n_columns = math.ceil(stamps[-1]) - start
    for at in stamps:
        if not 0 <= math.floor(at) - start < n_columns:
            raise Fatal(f"heatmap: IndexError at {at}")
    return stamps


def library_names(name):
    """The parts that the flame graph makes of a frame's name."""
    plus = name.find("+", 1)
    return (name[:plus] if plus > 0 else name).split("->")


def cuts_module(name, module):
    """Whether what is in brackets, for code without a name, does not stay whole."""
    base = module.rsplit("/", 1)[-1]
    return (len(base) > 2 and name.startswith("[" + base)
            and "+" in name[:name.find("]")])


def flame_graph(lines):
    """Yield (comm, depth, metrics) of every sample; what is neither event nor frame is lost."""
    comm, depth, metrics, lost = None, 0, {}, []
    samples = []
    for line in lines:
        if line.startswith("#") or line.strip() == "":
            continue
        match = None if line.startswith("\t") else EVENT.search(line)
        if match:
            if comm is not None:
                samples.append((comm, depth, metrics))
            name = COMM.match(line)
            comm, depth = (name.group(1).rstrip() if name else "<unknown>"), 0
            metrics = {m.group(1): (m.group(2), m.group(3))
                       for m in METRIC.finditer(line, match.end())}
            continue
        frame = FRAME.match(line)
        if frame:
            depth += 1
            if cuts_module(frame.group(1), frame.group(2)):
                lost.append(f"a module's name is cut at '+': {frame.group(1)[:60]}")
            if len(library_names(frame.group(1))) > 1:
                lost.append(f"a name is split at '->': {frame.group(1)[:60]}")
            if frame.group(2).startswith("deleted"):
                lost.append(f"the module is lost: {line[:80]!r}")
        else:
            lost.append(f"a line is dropped: {line[:80]!r}")
    if comm is not None:
        samples.append((comm, depth, metrics))
    return samples, lost


def check_range(stamps):
    """The range pass: max() of one sample is never updated; integers become edges."""
    start, end = math.inf, -math.inf
    for at in stamps:
        if at < start:
            start = at
        elif at > end:
            end = at
    if math.isinf(end):
        raise Fatal("flame graph: cannot convert float infinity to integer")
    for earlier, later in zip(stamps, stamps[1:]):
        if later < earlier - 0.1:
            raise Fatal("flame graph: stops early at a stamp that runs back")


def read(data, metrics=()):
    mime_gate(data)
    # Python's text files end lines at \r too
    lines = re.split("\r\n|\r|\n", decode(data))
    first = next((line for line in lines if not line.startswith("#")), "")
    if not EVENT.search(first):
        raise Fatal("profile type: trace_event")
    stamps = heatmap(lines)
    check_range(stamps)
    samples, lost = flame_graph(lines)
    if len(stamps) != len(samples):
        lost.append(f"heatmap has {len(stamps)} samples, flame graph {len(samples)}")
    for comm, depth, values in samples:
        if depth > MAX_DEPTH:
            raise Fatal(f"flame graph: recursion at depth {depth}")
        if comm == "":
            lost.append("a thread without a name")
        if "->" in comm:
            lost.append(f"a thread's name is split at '->': {comm[:60]}")
        for name in metrics:
            if name not in values:
                lost.append(f"an event without metric_{name}")
            elif not all(re.fullmatch("-?[0-9]+", text) for text in values[name]):
                raise Fatal(f"metric_{name} is no integer")
    return Verdict(len(samples), sum(depth for _, depth, _ in samples), None, lost)
