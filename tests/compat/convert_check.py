#!/usr/bin/env python3
"""convert_check.py - what `wick convert` writes, read by others than wick

  convert_check.py WICK FILE...     every format of every file against the slow model's reading
  convert_check.py WICK --can-fail  a sample less has to be noticed

The model is tests/view/reference.py; protoc decodes pprof's files.
"""
import collections
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "view"))
import pprof  # noqa: E402
import reference  # noqa: E402


def run(wick, path, out, *options):
    done = subprocess.run([wick, "convert", "--no-index", *options, "-f", "-o", out, path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, f"wick convert {options}: {done.returncode}: {done.stderr}"
    return done.stderr


def repaired(text):
    """How many U+FFFD stand for a broken character is everybody's own affair."""
    return re.sub("\ufffd+", "\ufffd", text)


def words_of(sample, metrics):
    """What is said of a sample in words; a metric that is no pair of numbers is none of them."""
    return {name: text for name, text in sample.words.items()
            if name != "comm" and name not in metrics and text}


def declared(recording):
    return {metric["name"] for metric in recording.head.get("metrics", ())}


def facts(sample, metrics):
    words = words_of(sample, metrics)
    return (sample.comm, sample.pid, sample.tid, sample.cpu, sample.ns, sample.weight,
            sample.event, words, sample.metrics, sample.frames)


def equal(name, got, want):
    """Both are sequences or mappings; the first differences are shown."""
    if got == want:
        return
    if isinstance(want, dict):
        wrong = [(key, got.get(key), want.get(key)) for key in {**got, **want}
                 if got.get(key) != want.get(key)]
    else:
        wrong = [(i, a, b) for i, (a, b) in enumerate(zip(got, want, strict=False)) if a != b]
        wrong = wrong or [("length", len(got), len(want))]
    raise AssertionError(f"{name}: {len(wrong)} differ; first: {wrong[:2]}")


# ---- perf text: the same recording again, and then the same bytes

def check_perf(wick, path, recording, folder):
    once, twice = os.path.join(folder, "once.perf"), os.path.join(folder, "twice.perf.gz")
    run(wick, path, once)
    again = reference.Recording(once)
    metrics = declared(recording)
    equal("perf text", [facts(sample, metrics) for sample in again.samples],
          [facts(sample, metrics) for sample in recording.samples])
    for word in ("epoch_offset_ns", "event", "hz", "metrics"):
        equal(f"header's {word}", [again.head.get(word)], [recording.head.get(word)])
    run(wick, once, twice)
    with open(once, "rb") as first, gzip.open(twice, "rb") as second:
        assert first.read() == second.read(), "perf text changes when it is converted again"
    checks = [[once], ["--bare", os.path.join(folder, "bare.perf")]]
    run(wick, path, checks[1][1], "--bare")
    if metrics:
        checks.append(["--inline", ",".join(sorted(metrics)), os.path.join(folder, "inline.perf")])
        run(wick, path, checks[2][2], "--metrics-as", "inline")
    for check in checks:
        if check == [once] and any(sample.cpu is None or sample.pid < 0
                                   for sample in recording.samples):
            continue  # wick itself always knows them
        subprocess.run([sys.executable, os.path.join(HERE, "check_compat.py"), *check],
                       check=True, stdout=subprocess.DEVNULL)


def check_weight(wick, path, recording, folder):
    """Repeated samples are as many as the metric says, stack by stack, to within a quantum."""
    out = os.path.join(folder, "repeated.perf")
    for metric in {name for sample in recording.samples for name in sample.metrics}:
        want = collections.Counter()
        for sample in recording.samples:
            if metric in sample.metrics:
                want[tuple(sample.frames)] += max(sample.metrics[metric][1], 0)
        if not sum(want.values()):
            continue
        said = run(wick, path, out, "--repeat", metric + "_delta", "--max-samples", "500")
        quantum = int(re.search(r"each stands for (\d+)", said)[1])
        got = collections.Counter(tuple(sample.frames)
                                  for sample in reference.Recording(out).samples)
        assert sum(got.values()) <= 500, f"{metric}: {sum(got.values())} samples"
        for stack, value in want.items():
            assert 0 <= value - got[stack] * quantum < quantum, f"{metric}: {stack}"


def check_groups(wick, path, recording, folder):
    out = os.path.join(folder, "groups.perf")
    run(wick, path, out, "--group", "comm,tid")
    for sample, want in zip(reference.Recording(out).samples, recording.samples, strict=True):
        label = reference.group_label(want, "comm", recording.head)
        got = sample.frames[-2:]
        assert got[0] == (str(want.tid), "[tid]", False), got
        assert got[1][1:] == ("[comm]", False) and (got[1][0] == label or not label.isalnum()), got
        frames = sample.frames[:-2]
        if frames[-1:] == [("[truncated]", "[unknown]", False)]:  # made room for the groups
            frames.pop()
        assert frames == want.frames[:len(frames)] and len(frames) > len(want.frames) - 4


# ---- folded stacks

def folded_name(frame):
    name = frame[0].replace(";", ":")
    return re.sub(r"[\x00-\x1f]", "_", name) or "[unknown]"


def check_folded(wick, path, recording, folder):
    out = os.path.join(folder, "x.folded")
    run(wick, path, out)
    got, want = collections.Counter(), collections.Counter()
    with open(out, encoding="utf-8") as file:
        for line in file:
            stack, value = line.rstrip("\n").rsplit(" ", 1)
            got[stack] += int(value)
    for sample in recording.samples:
        stack = ";".join(folded_name(frame) for frame in reversed(sample.frames))
        want[stack or "[no frames]"] += sample.weight if recording.measure == "period" else 1
    equal("folded stacks", dict(got), {stack: value for stack, value in want.items() if value})


# ---- pprof

def pprof_types(recording):
    """[(type, unit)] of samples and weights, and what a weight of 1 is in that unit."""
    event, hz = recording.samples[0].event, recording.head.get("hz")
    clock = {"cpu-clock": "cpu", "wall-clock": "wall"}.get(event)
    if not recording.is_wick and recording.measure == "period":  # perf's cpu-clock is in nanoseconds
        return [("samples", "count"), (clock or event, "nanoseconds")], lambda weight: weight
    if not recording.is_wick or not (clock and hz or event in ("alloc", "lock")):
        return [("samples", "count"), (event or "weight", "count")], lambda weight: weight
    if event == "alloc":
        return [("samples", "count"), ("alloc_space", "bytes")], lambda weight: weight
    if event == "lock":
        return [("contentions", "count"), ("delay", "nanoseconds")], lambda weight: 1000 * weight
    return [("samples", "count"), (clock, "nanoseconds")], lambda weight: weight * 10**9 // hz


# what words of `# s` are called there; Pyroscope looks for trace_id and span_id
PPROF_NAMES = {"st": "state", "trace": "trace_id", "span": "span_id"}


def check_pprof(wick, path, recording, folder):
    out = os.path.join(folder, "x.pb.gz")
    run(wick, path, out)
    profile = pprof.Profile(out)
    types, in_unit = pprof_types(recording)
    metrics = profile.types[2:]
    equal("pprof's types", list(zip(profile.types, profile.units, strict=True))[:2], types)
    assert profile.default == types[recording.measure == "period"][0], profile.default
    got, want = {}, {}

    def add(sums, key, values):
        sums[key] = [a + b for a, b in zip(sums.get(key, [0] * len(values)), values, strict=True)]

    for stack, labels, values in profile.samples:
        words = {name: text for name, text in labels.items()
                 if name not in ("thread", "tid", "pid", "host", "event", *metrics)}
        key = (stack, repaired(labels.get("thread", "")), labels.get("tid", 0), tuple(sorted(words.items())))
        assert key not in got, f"{key} is there twice"
        add(got, key, [values[name] for name in profile.types])
    for sample in recording.samples:
        words = {PPROF_NAMES.get(name, name): text
                 for name, text in words_of(sample, profile.types).items()}
        key = (tuple(reversed(sample.frames)), repaired(sample.comm), max(sample.tid, 0),
               tuple(sorted(words.items())))
        add(want, key, [sample.words.get("op") != "free", sample.weight] +
            [sample.metrics.get(name, (0, 0))[1] for name in metrics])
    equal("pprof", got, {key: [values[0], in_unit(values[1]), *values[2:]]
                         for key, values in want.items()})


# ---- Firefox

def check_table(name, table):
    for column, cells in table.items():
        if isinstance(cells, list):
            assert len(cells) == table["length"], f"{name}.{column}: {len(cells)}"


def firefox_stacks(thread):
    """The stack of every stack number, from the root."""
    stacks, strings = [], thread["stringArray"]
    table, frames, funcs = thread["stackTable"], thread["frameTable"], thread["funcTable"]
    for number in range(table["length"]):
        prefix = table["prefix"][number]
        assert prefix is None or prefix < number, "a caller comes before what it calls"
        func = frames["func"][table["frame"][number]]
        module = funcs["resource"][func]
        if module >= 0:
            module = strings[thread["resourceTable"]["name"][module]]
        frame = (strings[funcs["name"][func]], "" if module == -1 else module)
        stacks.append((() if prefix is None else stacks[prefix]) + (frame,))
    return stacks


def check_firefox(wick, path, recording, folder):
    out = os.path.join(folder, "x.firefox.json.gz")
    run(wick, path, out)
    with gzip.open(out, "rt", encoding="utf-8") as file:
        profile = json.load(file)
    meta = profile["meta"]
    assert meta["preprocessedProfileVersion"] == 48 and meta["categories"][0]["color"] == "grey"
    got, want = {}, collections.defaultdict(list)
    for thread in profile["threads"]:
        for name in ("samples", "stackTable", "frameTable", "funcTable", "resourceTable",
                     "nativeSymbols", "markers"):
            check_table(name, thread[name])
        stacks = firefox_stacks(thread)
        samples = thread["samples"]
        assert samples["time"] == sorted(samples["time"])
        key = (repaired(thread["name"]), thread["pid"], thread["tid"])
        assert key not in got
        got[key] = [(stacks[stack] if stack is not None else (), round(time, 6), round(weight, 4))
                    for stack, time, weight in zip(samples["stack"], samples["time"],
                                                   samples["weight"], strict=True)]
    start = recording.samples[0].ns
    for sample in recording.samples:
        weight = reference.value_of(sample, recording.measure)
        if sample.ns_of_weight:
            weight = round(weight / 1e6, 4)
        stack = tuple((name, module) for name, module, _ in reversed(sample.frames))
        want[repaired(sample.comm), str(sample.pid), sample.tid].append(
            (stack, round((sample.ns - start) / 1e6, 6), weight))
    equal("Firefox", got, dict(want))


CHECKS = [check_perf, check_weight, check_groups, check_folded, check_pprof, check_firefox]


def check_events(wick, path, folder):
    """What weights of wick's events are called and counted in."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for event, size in (("wall-clock", '"hz":99'), ("alloc", '"mean_bytes":524288'),
                        ("lock", '"least_ns":10000'), ("page-faults", '"hz":0')):
        other = os.path.join(folder, event + ".perf")
        with open(other, "w", encoding="utf-8") as file:
            file.write(text.replace("cpu-clock", event).replace('"hz":99', size))
        check_pprof(wick, other, reference.Recording(other), folder)


def check(wick, path, recording):
    for one in CHECKS:
        with tempfile.TemporaryDirectory() as folder:
            one(wick, path, recording, folder)
    if path.endswith("golden.perf"):
        with tempfile.TemporaryDirectory() as folder:
            check_events(wick, path, folder)
    print(f"{os.path.basename(path)}: {len(recording.samples)} samples, every format agrees")


def can_fail(wick):
    """Each check has to notice that the model has a sample less."""
    path = os.path.join(HERE, "..", "golden", "golden.perf")
    for one in CHECKS:
        recording = reference.Recording(path)
        del recording.samples[7]
        with tempfile.TemporaryDirectory() as folder:
            try:
                one(wick, path, recording, folder)
            except (AssertionError, ValueError):
                continue
        print(f"{one.__name__} has not noticed it")
        return 1
    print(f"all {len(CHECKS)} checks notice a sample that is missing")
    return 0


def main():
    wick, *paths = sys.argv[1:]
    if paths == ["--can-fail"]:
        return can_fail(wick)
    for path in paths:
        check(wick, path, reference.Recording(path))
    return 0 if paths else 2


if __name__ == "__main__":
    sys.exit(main())
