#!/usr/bin/env python3
"""reference.py - a slow model of what a view has to show, written from docs/perf-script.md

It shares no code with the loader: a file is read line by line with regular expressions, every
sample is kept as it is, and heat cells and flame totals are counted the obvious way.

  reference.py FILE      what the model makes of it: samples, cells, frames (for people)
"""
import collections
import gzip
import json
import re
import subprocess
import sys
import urllib.parse

ABSENT = None

# What begins a sample, from the left: a name (which may hold blanks and digits, or be empty),
# pid/tid or tid, the CPU, flags, the time; then the period and the event's name, which perf leaves
# out when told so.  A time of whole seconds is one where there is none with a fraction.
HEADS = [re.compile(
    r"^(?P<comm>\S.*?\s+|\s*)(?P<ids>-?\d+(?:/-?\d+)?)(?:\s+\[(?P<cpu>\d+|\?+)\])?"
    r"(?:\s+(?!\[|\d+\s)\S+)?"
    rf"\s+(?P<time>{time}):(?=\s|$)(?P<rest>.*)$") for time in (r"\d+\.\d+", r"\d+")]
EVENT = re.compile(r"^\s*(?:(?P<period>\d+)\s+)?(?P<event>\S.*?|):(?:\s|$)")
METRIC = re.compile(r"\bmetric_(?:wick_)?([A-Za-z0-9_-]+):[\t ](-?\d+)[\t ]*,[\t ]*(-?\d+)\b")
MARK = re.compile(r"(<)_(?=_*(?i:(?:html|head|title|script|style|table)(?:[> ]|$)|a href=|!doctype html))|"
                  r"(\\)_(?=_*(?:begin|input|relax|section|chapter|documentclass|setlength|contentsline))")
FRAME = re.compile(r"^[\t ]*(?P<addr>[0-9a-fA-F]+)(?: (?P<what>.*))?$")
ARROW = re.compile(r"(?<!operator)(?<=[^ ])->(?=[^ *])")  # of Java's unfolded inlined calls
COMM_BYTES = 15  # of the kernel's names: what begins with # and has a longer one is a comment
OFFSET = re.compile(r"(?<=.)\+0x[0-9a-fA-F]+$")  # behind a name: §2.1, index > 0
IDLE = ("cpuidle", "cpu_idle", "cpu_bringup_and_idle", "native_safe_halt",
        "xen_hypercall_sched_op", "xen_hypercall_vcpu_op")
COUNTED = re.compile(r"^(-?\d+),(-?\d+)$")


class Sample:
    def __init__(self):
        self.comm = ""
        self.pid = self.tid = -1
        self.cpu = None
        self.ns = 0
        self.weight = 1
        self.ns_of_weight = None  # (times, by): a weight is that much time; None: it is none
        self.event = ""
        self.words = {}     # of "# s"
        self.metrics = {}   # name -> (value, delta)
        self.frames = []    # innermost first: (name, module, inlined)


def nanoseconds(text):
    whole, _, part = text.partition(".")
    return int(whole) * 10**9 + int((part + "000000000")[:9])


def read_head(line):
    """A sample without frames, or None."""
    found = HEADS[0].match(line) or HEADS[1].match(line)
    if not found:
        return None
    sample = Sample()
    ids = found["ids"].split("/")
    sample.comm = found["comm"].strip() or f":{ids[-1]}"
    if len(ids) == 2:
        sample.pid = int(ids[0])
    sample.tid = int(ids[-1])
    if found["cpu"] and found["cpu"].isdigit():
        sample.cpu = int(found["cpu"])
    sample.ns = nanoseconds(found["time"])
    event = EVENT.match(found["rest"])
    if event:
        sample.event = event["event"]
        if event["period"]:
            sample.weight = int(event["period"])
    for name, value, delta in METRIC.findall(found["rest"]):
        counted_pair(sample.metrics, name, int(value), int(delta))
    return sample


def restored(name):
    """Without the marks of what libmagic takes for HTML or TeX (docs/perf-script.md)."""
    return MARK.sub(lambda mark: mark[1] or mark[2], name)


def module_at(what):
    """Where " (module)" begins, or -1."""
    if not what.endswith(")"):
        return -1
    for at in range(len(what) - 1, -1, -1):
        inside = what[at:]
        if inside.startswith("(") and inside.count("(") == inside.count(")"):
            if (" " + what)[at] == " ":
                return at
            break
    return what.rfind("(", 0, what.rfind(" (") + 2) if what.count("(") != what.count(")") else -1


def read_frames(line, unended=False):
    """[(name, module, inlined)] innermost first, or []."""
    found = FRAME.match(line)
    if not found:
        return []
    what = found["what"] or ""
    at = module_at(what)
    name, module = (what[:at], what[at + 1:-1]) if at >= 0 else (what, "")
    if at < 0 and (line[0] not in "\t " or what.count("(") != what.count(")")):
        return []
    if unended and (not module or name.count("(") != name.count(")")):
        return []  # it may have been cut anywhere
    name = name.strip()
    name = OFFSET.sub("", name)  # §3: stripped, and perf writes one behind inlined calls too
    name, module = restored(name) or "[unknown]", restored(module)
    if module == "inlined":
        return [(name, "", True)]
    outer, *inlined = ARROW.split(name) if "(" not in name else [name]
    return [(call, "", True) for call in reversed(inlined)] + [(outer, module, False)]


def counted_pair(metrics, name, value, delta):
    """Numbers of 64 bits that have a negative: the lowest one, which has none, is no value."""
    if max(abs(value), abs(delta)) < 2**63:
        metrics[name] = (value, delta)


def read_facts(line, words, metrics):
    for word in line[len("# s"):].split():
        name, _, text = word.partition("=")
        pair = COUNTED.match(text)
        if pair:
            counted_pair(metrics, name, int(pair[1]), int(pair[2]))
        else:
            words[name] = urllib.parse.unquote(text, errors="replace")


def text_of(path):
    if path.endswith(".gz"):
        with gzip.open(path, "rb") as file:
            data = file.read()
    elif path.endswith(".zst"):
        data = subprocess.run(["zstd", "-dc", path], stdout=subprocess.PIPE, check=True).stdout
    else:
        with open(path, "rb") as file:
            data = file.read()
    return data.decode("utf-8", "replace")


class Recording:
    """All samples of a file, in the order of time."""

    def __init__(self, path):
        self.samples = []
        self.head = {}
        self.sample = None
        self.words, self.metrics = {}, {}
        self.inline = False
        *lines, last = text_of(path).split("\n")
        for line in lines:
            self.take(line)
        self.take(last, unended=True)
        self.samples.sort(key=lambda sample: sample.ns)
        self.inherit()
        self.is_wick = bool(self.head)
        scale = self.ns_of_weight()
        for sample in self.samples:
            sample.ns_of_weight = scale
        # What counts when nothing is asked for.
        self.measure = "period" if self.is_wick or scale else "samples"

    def ns_of_weight(self):
        """wick's weights are periods of its rate; perf's of its clocks are ns, never below 10 us."""
        clocks = {"cpu-clock", "wall-clock" if self.is_wick else "task-clock"}
        if any(re.split("[:/]", sample.event)[0] not in clocks for sample in self.samples):
            return None
        if self.is_wick:
            return (10**9, self.head["hz"]) if "hz" in self.head else None
        return (1, 1) if all(sample.weight >= 10000 for sample in self.samples) else None

    def take(self, line, unended=False):
        if line == "# f" or line.startswith("# f "):  # of a release of memory
            line = line[len("# f "):]
        hashed = read_head(line) if line.startswith("#") else None
        if line.startswith("# s ") and "=" in line:
            self.words, self.metrics = {}, {}
            read_facts(line, self.words, self.metrics)
        elif line.startswith("# wick : "):
            self.head = json.loads(line[len("# wick : "):])
        elif line.startswith("#") and not (hashed and len(hashed.comm) <= COMM_BYTES):
            pass
        elif not line.strip():
            self.sample = None
            self.words, self.metrics = {}, {}
        elif "PERF_RECORD_" in line and line[0] != "\t":
            pass
        elif self.sample and (line[0] == "\t" or not read_head(line)):
            self.sample.frames += read_frames(line, unended)
        else:
            self.take_head(line)

    def take_head(self, line):
        sample = read_head(line)
        if not sample:
            return
        self.inline = self.inline or bool(sample.metrics)
        sample.words = self.words
        sample.metrics.update(self.metrics)
        # The name before it was altered; the file's ":TID" says more than an empty one.
        sample.comm = sample.words.get("comm") or sample.comm
        self.words, self.metrics = {}, {}
        self.samples.append(sample)
        self.sample = sample

    def inherit(self):
        """§1: of metrics on the event's line a missing one inherits the previous event's value
        (it has not changed since); the comm is the state word there."""
        last = {}
        for sample in self.samples if self.inline else ():
            sample.metrics = {**last, **sample.metrics}
            last = {name: (value, 0) for name, (value, _) in sample.metrics.items()}
            sample.words.setdefault("st", sample.comm)


def value_of(sample, measure):
    """What a sample counts for; None: it has no such value."""
    if measure == "samples":
        return 1
    if measure == "period":
        times, by = sample.ns_of_weight or (1, 1)
        return sample.weight * times // by
    name, _, how = measure.partition(":")
    if name not in sample.metrics:
        return ABSENT
    value, delta = sample.metrics[name]
    return {"": value, "mean": value, "delta": delta, "gain": max(delta, 0),
            "loss": max(-delta, 0)}[how]


def size_class(value, unit):
    """Its power of ten in the largest unit that it has one of: 100s MiB, -1s KiB, 0."""
    if value == 0:
        return "0"
    step, units = 1000, ["", " k", " M", " G", " T"]
    if unit in ("B", "KiB"):
        step, units = 1024, [" B", " KiB", " MiB", " GiB", " TiB"][unit == "KiB":]
    elif unit == "ns":
        units = [" ns", " us", " ms", " s"]
    size, at = abs(value), 0
    while size >= step and at + 1 < len(units):
        size, at = size // step, at + 1
    digits = min(len(str(size)), 4 if at + 1 == len(units) else 3)
    return ("-" if value < 0 else "") + "1" + "0" * (digits - 1) + "s" + units[at]


def metric_label(sample, dimension, head):
    """What METRIC:class or METRIC:sign says of a sample; None: the dimension is neither."""
    metric, _, part = dimension.partition(":")
    if part not in ("class", "sign"):
        return None
    if metric not in sample.metrics:
        return ""
    value, delta = sample.metrics[metric]
    if part == "sign":
        return "gain" if delta > 0 else "loss" if delta < 0 else "unchanged"
    units = {known["name"]: known.get("unit", "") for known in head.get("metrics", [])}
    return size_class(value, units.get(metric, ""))


def group_label(sample, dimension, head):
    of_metric = metric_label(sample, dimension, head)
    if of_metric is not None:
        text = of_metric
    elif dimension == "state":
        text = sample.words.get("st", "")
    elif dimension == "thread":
        text = f"{sample.comm}/{sample.tid}"
    elif dimension == "comm":
        text = sample.comm
    elif dimension == "cpu":
        text = "" if sample.cpu is None else str(sample.cpu)
    elif dimension == "event":
        text = sample.event
    elif dimension in ("pid", "tid"):
        text = str(getattr(sample, dimension))
    else:
        text = sample.words.get(dimension, "")
    return text or f"[no {dimension}]"


def has(recording, dimension):
    return any(not group_label(sample, dimension, recording.head).startswith("[no ")
               for sample in recording.samples)


def is_idle(sample):
    """As FlameScope has it (§2.1), of the thread that perf calls swapper."""
    return sample.comm == "swapper" and sample.tid == 0 and \
        any(word in name for name, _, _ in sample.frames for word in IDLE)


def wall_spans(recording, groups=()):
    """{id(sample): [from, to)} of wall time: a sample ends its own, and where the next one of its
    thread has begun by then, it ends there; None: the weights are none."""
    of = [sample for sample in recording.samples
          if sample.event == recording.samples[0].event or "event" in groups]
    if not recording.is_wick or \
            any(re.split("[:/]", sample.event)[0] != "wall-clock" or not sample.ns_of_weight
                for sample in of):
        return None
    spans, begun = {}, {}
    for sample in reversed(of):
        thread = (sample.words.get("host"), sample.pid, sample.tid, sample.comm)
        end = min(sample.ns, begun.get(thread, sample.ns))
        begun[thread] = end - value_of(sample, "period")
        spans[id(sample)] = (begun[thread], end)
    return spans


def counted(recording, measure, span=None, groups=()):
    """The samples that have a value, with it; span: [from, to) since the first sample's time.

    Those of idle CPUs are hidden, and of several events all but the first, unless a group tells
    them apart.
    """
    start = recording.samples[0].ns if recording.samples else 0
    spans = wall_spans(recording, groups) if measure == "period" and span else None
    for sample in recording.samples:
        if is_idle(sample) or \
                (sample.event != recording.samples[0].event and "event" not in groups):
            continue
        value = value_of(sample, measure)
        if spans and value:
            begin, end = spans[id(sample)]
            value = min(end, start + span[1]) - (max(begin, start + span[0]) if span[0] else begin)
            if value > 0:
                yield sample, value
            continue
        if value is ABSENT or (span and not span[0] <= sample.ns - start < span[1]):
            continue
        yield sample, value


def heat(recording, measure, n_rows=50):
    """({(column, row): (value, samples)}, columns): FlameScope's grid, without its defects."""
    cells = collections.defaultdict(lambda: [0, 0])
    if not recording.samples:
        return {}, 0
    first = recording.samples[0].ns // 10**9
    last = max(sample.ns for sample in recording.samples)
    spans = wall_spans(recording) if measure == "period" else None
    width = 10**9 // n_rows
    for sample, value in counted(recording, measure):
        begin, end = spans[id(sample)] if spans and value else (sample.ns, sample.ns + 1)
        parts = collections.Counter()
        for ns in range(begin // width * width, end, width):  # of whole cells, and two ends
            part = min(end, ns + width) - max(begin, ns)
            parts[max(ns, first * 10**9)] += part if spans else value
        for ns, part in parts.items():
            cell = cells[ns // 10**9 - first, ns % 10**9 // width]
            cell[0] += part
            cell[1] += 1
    if measure.endswith(":mean"):
        for cell in cells.values():
            cell[0] /= cell[1]
    return {where: tuple(cell) for where, cell in cells.items()}, -(-last // 10**9) - first


def flame(recording, measure, groups=(), span=None):
    """{path from the root: [gain, loss, samples, self gain, self loss, self samples]}"""
    frames = collections.defaultdict(lambda: [0] * 6)
    groups = [measure.partition(":")[0] + ":sign" if group == "sign" else group
              for group in groups]
    for sample, value in counted(recording, measure, span, groups):
        path = tuple((group_label(sample, group, recording.head), "", False) for group in groups)
        path += tuple(reversed(sample.frames))
        amounts = (max(value, 0), max(-value, 0), 1)
        for depth in range(len(path) + 1):
            node = frames[path[:depth]]
            for i, amount in enumerate(amounts):
                node[i] += amount
        for i, amount in enumerate(amounts):
            frames[path][3 + i] += amount
    return dict(frames)


def main():
    recording = Recording(sys.argv[1])
    cells, n_columns = heat(recording, "samples")
    frames = flame(recording, "samples")
    print(f"{len(recording.samples)} samples, {n_columns} columns, {len(cells)} cells, "
          f"{len(frames)} nodes, metrics: "
          f"{sorted({name for sample in recording.samples for name in sample.metrics})}")


if __name__ == "__main__":
    main()
