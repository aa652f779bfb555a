#!/usr/bin/env python3
"""equal.py - what `wick heatmap` and `wick flamegraph` show against the slow model

  equal.py [--quick] WICK FILE...   every measure of every file: cell by cell, frame by frame
                             (--quick: of one metric only)
  equal.py WICK --can-fail   a model that is one sample off has to be noticed
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import reference

sys.setrecursionlimit(20000)
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
                    "\ufffd-\uffff]+")
SHOWN = 8  # differences that are named


def look(wick, command, path, options, folder):
    """The JSON that a command makes of a file."""
    out = os.path.join(folder, command + ".json")
    done = subprocess.run([wick, command, "--no-index", *options, "-o", out, path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"wick {command} {' '.join(options)} {path}: exit "
                             f"{done.returncode}: {done.stderr.strip()}")
    with open(out, encoding="utf-8") as file:
        got = json.load(file)
    os.unlink(out)
    return got


def cells_of(shown):
    """{(column, row): (value, samples)} of a heatmap's JSON; null is no sample."""
    cells = {}
    for column, (values, samples) in enumerate(zip(shown["values"], shown["samples"], strict=True)):
        for row, (value, n) in enumerate(zip(values, samples, strict=True)):
            if (value is None) != (n == 0):
                raise AssertionError(f"cell {column},{row}: value {value} of {n} samples")
            if n:
                cells[column, row] = (value, n)
    return cells


def frames_of(shown):
    """{path: [gain, loss, samples, self gain, self loss, self samples]} of a flame graph's."""
    frames = {}

    def walk(node, path):
        if path in frames:
            raise AssertionError(f"{path} is there twice")
        frames[path] = [node[key] for key in ("gain", "loss", "samples", "self_gain", "self_loss",
                                              "self_samples")]
        names = [(child["name"], child["module"], child["inlined"]) for child in node["children"]]
        for child, name in zip(node["children"], names, strict=True):
            walk(child, path + (name,))

    walk(shown["root"], ())
    return as_written(frames)


def as_written(frames):
    """The same with what no terminal or page may see as U+FFFD, however many bytes it was."""
    written = {}
    for path, node in frames.items():
        path = tuple((UNSEEN.sub("\ufffd", name), UNSEEN.sub("\ufffd", module), inlined)
                     for name, module, inlined in path)
        written[path] = [a + b for a, b in zip(written.get(path, [0] * 6), node, strict=True)]
    return written


def rounded(value):
    """To the nearest whole number, halves away from zero."""
    return int(abs(value) + 0.5) * (1 if value >= 0 else -1)


def differences(got, want):
    """What is in one and not in the other, or not the same."""
    for key in sorted(set(got) | set(want), key=str):
        if got.get(key) != want.get(key):
            yield f"{key}: wick {got.get(key)}, the model {want.get(key)}"


class Comparison:
    def __init__(self, wick, folder, n_metrics=None):
        self.wick, self.folder, self.n_metrics = wick, folder, n_metrics
        self.n_cells = self.n_frames = self.n_bad = 0

    def tell(self, what, found):
        found = list(found)
        for difference in found[:SHOWN]:
            print(f"{what}: {difference}")
        if len(found) > SHOWN:
            print(f"{what}: and {len(found) - SHOWN} more")
        self.n_bad += len(found)

    def heat(self, path, recording, measure):
        shown = look(self.wick, "heatmap", path, ["--metric", measure, "--rows", "50"],
                     self.folder)
        want, n_columns = reference.heat(recording, measure)
        got = cells_of(shown)
        if measure.endswith(":mean"):
            want = {key: (rounded(value), n) for key, (value, n) in want.items()}
        what = f"{path}: heatmap of {measure}"
        if shown["columns"] != n_columns or shown["rows"] != 50:
            self.tell(what, [f"{shown['columns']} x {shown['rows']}, not {n_columns} x 50"])
        if recording.samples and int(shown["start_ns"]) != \
                recording.samples[0].ns // 10**9 * 10**9:
            self.tell(what, [f"begins at {shown['start_ns']}"])
        self.tell(what, differences(got, want))
        self.n_cells += len(want)

    def nothing(self, path, options):
        """Where all values are 0 wick has to say so, and draw nothing."""
        try:
            look(self.wick, "flamegraph", path, options, self.folder)
        except AssertionError as error:
            if "exit 8" in str(error) and "are 0" in str(error):
                return
        self.tell(f"{path}: flamegraph {' '.join(options)}", ["does not say that all is 0"])

    def flame(self, path, recording, measure, groups=(), span=None):
        options = ["--metric", measure]
        if groups:
            options += ["--group", ",".join(groups)]
        if span:
            options += ["--time", f"{span[0]}ns-{span[1]}ns"]
        want = reference.flame(recording, measure, groups, span)
        if not any(want[()][:2]):
            self.nothing(path, options)
            return
        shown = look(self.wick, "flamegraph", path, options, self.folder)
        # A frame that nothing counts for is no wider than nothing, and is not drawn.
        want = {key: node for key, node in as_written(want).items() if node[0] + node[1] > 0 or key == ()}
        self.tell(f"{path}: flamegraph {' '.join(options)}", differences(frames_of(shown), want))
        self.n_frames += len(want)

    def file(self, path):
        recording = reference.Recording(path)
        metrics = sorted({name for sample in recording.samples for name in sample.metrics})
        measures = ["samples", "period"]
        for metric in metrics[:self.n_metrics]:
            measures += [metric, metric + ":delta", metric + ":gain", metric + ":loss"]
            self.heat(path, recording, metric + ":mean")
            self.flame(path, recording, "period", (metric + ":class",))
            self.flame(path, recording, metric + ":delta", ("sign",))
        for measure in measures:
            self.heat(path, recording, measure)
            self.flame(path, recording, measure)
        for groups in (("state",), ("thread",), ("comm", "wait"), ("event", "cpu")):
            if all(reference.has(recording, group) for group in groups):
                self.flame(path, recording, "period", groups)
        times = [sample.ns - recording.samples[0].ns for sample in recording.samples]
        self.flame(path, recording, "period",
                   span=(times[len(times) // 4], times[len(times) // 2] + 1))
        return len(recording.samples)


def can_fail(wick, folder):
    """The same file, with a sample's weight, a frame's name and a time changed in the model."""
    path = os.path.join(os.path.dirname(__file__), "samples", "gzip.perf")

    def weight(sample):
        sample.weight += 1

    def frame(sample):
        sample.frames[0] = ("another", *sample.frames[0][1:])

    def time(sample):
        sample.ns += 20_000_000

    for change in (weight, frame, time):
        comparison = Comparison(wick, folder)
        recording = reference.Recording(path)
        change(recording.samples[1])
        comparison.heat(path, recording, "period")
        comparison.flame(path, recording, "period")
        if comparison.n_bad == 0:
            print(f"equal: does not notice another {change.__name__}")
            return 1
    return 0


def main():
    quick = sys.argv[1] == "--quick"
    if quick:
        del sys.argv[1]
    wick = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[2:] == ["--can-fail"]:
            return can_fail(wick, folder)
        comparison = Comparison(wick, folder, 1 if quick else None)
        n_samples = 0
        for path in sys.argv[2:]:
            n_samples += comparison.file(path)
    print(f"equal: {len(sys.argv) - 2} files, {n_samples} samples: {comparison.n_cells} cells and "
          f"{comparison.n_frames} frames, {comparison.n_bad} differ")
    return comparison.n_bad != 0


if __name__ == "__main__":
    sys.exit(main())
