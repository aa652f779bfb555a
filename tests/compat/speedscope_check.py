#!/usr/bin/env python3
"""speedscope_check.py - speedscope itself (in chromium) on what wick writes

  speedscope_check.py WICK NPM_DIR FILE...

Perf text as it is and as gzip: the threads and the functions of the model.  Our own JSON, as it is
and as gzip: every thread's every function with its self and total weight, exactly.
77: there is no node, chromium, npm or registry.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "view"))
import reference  # noqa: E402


def name_of(sample):
    return f"{sample.comm} pid: {sample.pid} tid: {sample.tid}"


def expected(recording):
    """{thread: {function: [self, total]}} in speedscope's unit, by weight or samples."""
    threads = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    for sample in recording.samples:
        weight = reference.value_of(sample, recording.measure)
        functions = threads[name_of(sample)]
        for name in {frame[0] for frame in sample.frames}:
            functions[name][1] += weight
        functions[sample.frames[0][0]][0] += weight
    return threads


def check_json(got, recording):
    want = expected(recording)
    hosts = {name.split(" on ")[0]: profile for name, profile in got.items()}
    assert set(hosts) == set(want), f"threads {sorted(hosts)} for {sorted(want)}"
    for thread, functions in want.items():
        seen = hosts[thread]["frames"]
        assert set(seen) == set(functions), set(seen) ^ set(functions)
        for name, (own, total) in functions.items():
            assert (round(seen[name]["self"]), round(seen[name]["total"])) == (own, total), \
                f"{thread}: {name}: {seen[name]} for {own}, {total}"


def check_perf(got, recording):
    """It weighs samples by the gaps between them, and names what has no name by its module."""
    threads = collections.defaultdict(set)
    for sample in recording.samples:
        comm = "_".join(sample.comm.split())
        threads[f"{comm} pid: {sample.pid} tid: {sample.tid}"] |= {
            f"??? ({module})" if name == "[unknown]" else name
            for name, module, _ in sample.frames}
    assert set(got) == set(threads), f"threads {sorted(got)} for {sorted(threads)}"
    for thread, names in threads.items():
        seen = set(got[thread]["frames"])
        assert seen <= names and len(names - seen) <= 1, f"{thread}: {seen ^ names}"


def main():
    wick, npm, *paths = sys.argv[1:]
    if not shutil.which("node") or not shutil.which("chromium"):
        print("there is no node or no chromium")
        return 77
    ready = subprocess.run([os.path.join(HERE, "npm.sh"), npm], check=False).returncode
    if ready:
        return ready
    jobs = []
    with tempfile.TemporaryDirectory() as folder:
        for i, path in enumerate(paths):
            recording = reference.Recording(path)
            for end, check in (("perf", check_perf), ("perf.gz", check_perf),
                               ("speedscope.json", check_json), ("speedscope.json.gz", check_json)):
                out = os.path.join(folder, f"{i}.{end}")
                subprocess.run([wick, "convert", "--no-index", "-f", "-o", out, path], check=True)
                jobs.append((out, check, recording))
        done = subprocess.run(["node", os.path.join(HERE, "speedscope_page.mjs"),
                               os.path.join(npm, "node_modules"), *[job[0] for job in jobs]],
                              stdout=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 0, f"the browser failed: {done.returncode}"
        lines = done.stdout.splitlines()
        for line, (out, check, recording) in zip(lines, jobs, strict=True):
            answer = json.loads(line)
            assert "error" not in answer, f"{out}: {answer['error']}"
            got = {profile["name"]: profile for profile in answer["profiles"]}
            assert len(got) == len(answer["profiles"]), "a thread is there twice"
            check(got, recording)
            print(f"{os.path.basename(out)}: {len(got)} threads, as they are")
    return 0


if __name__ == "__main__":
    sys.exit(main())
