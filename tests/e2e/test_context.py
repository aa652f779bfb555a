"""Samples say whose work they are: by OpenTelemetry's thread context and custom-labels v1."""
import os
import re
import shutil
import subprocess
import unittest
import urllib.parse

from recorded import LONG, WICK, Case, need, target, text_of, wait_for

SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "targets")


def labelled(path):
    """(words of the "# s" line, functions, event, tid) of each sample."""
    samples = []
    for block in text_of(path).split("\n\n"):
        lines = block.splitlines()
        facts = [line for line in lines if line.startswith("# s ")]
        frames = [line.split()[1].split("+0x")[0] for line in lines if line.startswith("\t")]
        head = [line for line in lines if line and not line.startswith(("#", "\t"))]
        if facts and frames and head:
            words = dict(word.split("=", 1) for word in facts[-1][4:].split())
            tid = int(re.search(r"/(\d+) ", head[-1]).group(1))
            samples.append((words, frames, head[-1].split()[-1].rstrip(":"), tid))
    return samples


def work_of(frames):
    """The N of work_N in a stack; None: it is between two of them."""
    numbers = [int(name[5:]) for name in frames if re.fullmatch(r"work_\d", name)]
    return numbers[0] if numbers else None


def trace_of(words):
    """The number that a context was published for; None: none."""
    if "trace" in words:
        number = int(words["trace"][:2], 16)
        whole = words["trace"] == f"{number:02x}" * 16 and words["span"] == f"{number:02x}" * 8
        return number if whole else -1
    return int(words["number"]) if "number" in words else None


class Right(Case):
    """The context of a sample is that of the work in its stack."""

    def judge(self, paths, least=300, event=None, but=None):
        samples = [sample for path in paths for sample in labelled(path)]
        judged = [(work_of(frames), trace_of(words)) for words, frames, kind, tid in samples
                  if work_of(frames) is not None and event in (None, kind) and tid != but]
        wrong = [pair for pair in judged if pair[1] not in (None, pair[0])]
        right = [pair for pair in judged if pair[1] == pair[0]]
        self.assertGreater(len(judged), least)
        self.assertEqual(wrong, [])
        self.assertGreaterEqual(len(right) / len(judged), 0.999, f"{len(right)} of {len(judged)}")
        return samples

    def record_work(self, *command, seconds=0.4, **how):
        run = self.record(*command, "work", seconds, hz=999, options=("--max-overhead", "off"), **how)
        self.assertEqual(run.status, 0, run.summary)
        return run.paths

    def check_names(self, samples, key):
        """Attributes have their names, and the last of a key counts."""
        for words, frames, *_ in samples:
            number = work_of(frames)
            if number is None or "trace" not in words:
                continue
            self.assertEqual(urllib.parse.unquote(words[key]), f"/route/{number}, x")
            self.assertNotIn(",", words[key])
            self.assertEqual(words["root.one"], f"{number:016x}")

    def test_the_program_exports_the_variable(self):
        samples = self.judge(self.record_work(target("context_exe")))
        self.check_names(samples, "the_root")

    def test_a_library_that_the_program_needs(self):
        self.check_names(self.judge(self.record_work(target("context_needed"))), "the_root")

    def test_libraries_loaded_late_in_both_dialects(self):
        for dialect in ("gnu2", "gnu"):
            with self.subTest(dialect):
                paths = self.record_work(target("context_loads"), target(f"libcontext_{dialect}.so"))
                self.judge(paths)

    def test_custom_labels(self):
        samples = self.judge(self.record_work(target("context_labels_exe")))
        words = next(words for words, *_ in samples if "number" in words)
        self.assertEqual(words["a_b_"], "x%2Cy")
        self.judge(self.record_work(target("context_loads"), target("libcustomlabels_gnu2.so")))

    def test_custom_labels_of_a_library_with_another_name(self):
        shutil.copy(target("libcustomlabels_gnu2.so"), self.path("libother.so"))
        run = self.record(target("context_loads"), self.path("libother.so"), "work", 0.2, hz=499)
        self.assertEqual([words for words, *_ in labelled(run.paths[0]) if "number" in words], [])

    def test_musl(self):
        need("musl-gcc")
        threads, writer = (os.path.join(SOURCES, f"context_{name}.c") for name in ("threads", "writer"))
        subprocess.run(["musl-gcc", "-O1", "-g", "-D_GNU_SOURCE", "-rdynamic", "-o", self.path("exe"), threads, writer],
                       check=True)
        self.judge(self.record_work(self.path("exe")))
        subprocess.run(["musl-gcc", "-O1", "-g", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", self.path("lib.so"), writer],
                       check=True)
        subprocess.run(["musl-gcc", "-O1", "-g", "-D_GNU_SOURCE", "-DLOADS", "-o", self.path("loads"), threads],
                       check=True)
        self.judge(self.record_work(self.path("loads"), self.path("lib.so")))

    def test_attached(self):
        for command in ([target("context_exe")], [target("context_loads"), target("libcontext_gnu.so")]):
            with self.subTest(command[0]), self.running(*command, "work", 60, ready=0.05) as process, \
                    self.recording(process.pid, hz=999) as (wick, path):
                wait_for(lambda: text_of(path).count("# s ") > 600 or wick.poll() is not None)
            self.judge([path])

    def test_blocked_threads(self):
        """Those of threads that never had a sample, too; but not of the first thread, whose TCB is not on its stack."""
        for command in ([target("context_exe")], [target("context_loads"), target("libcontext_gnu.so")]):
            with self.subTest(command[0]), self.running(*command, "blocked", ready=True, stdin=subprocess.PIPE) as process, \
                    self.recording(process.pid, "-e", "wall", hz=99) as (wick, path):
                wait_for(lambda: text_of(path).count("trace=") > 120 or wick.poll() is not None)
                process.stdin.write(b"\n")
                process.stdin.flush()
                process.wait(20)
            samples = self.judge([path], least=60, but=process.pid)
            self.assertEqual({words.get("wait") for words, frames, *_ in samples
                              if work_of(frames) and words["st"] == "sleeping"}, {"read"})

    def test_blocked_threads_of_a_launched_program(self):
        path = self.path("blocked.perf")
        wick = self.start(WICK, "record", "-e", "wall", "-o", path, "--", target("context_exe"), "blocked",
                          stdin=subprocess.PIPE)
        wait_for(lambda: os.path.exists(path) and text_of(path).count("trace=") > 120 or wick.poll() is not None)
        wick.stdin.write(b"\n")
        wick.stdin.flush()
        wick.wait(30)
        samples = self.judge([path], least=60)
        self.assertIn(6, [trace_of(words) for words, *_ in samples])

    def test_memory_and_locks(self):
        run = self.record(target("context_exe"), "alloc", 0.1,
                          options=("-e", "alloc=256K,lock=1us", "--max-overhead", "off"))
        self.assertEqual(run.status, 0, run.summary)
        self.judge(run.paths, event="alloc")
        self.judge(run.paths, event="lock", least=5)


class Wick(Case):
    """What wick.h writes."""

    def labels_in(self, run, function):
        """The labels of the samples in a function: all the same."""
        own = ("trace", "span", "identity", "task", "tier", "function")
        found = {tuple((key, urllib.parse.unquote(words[key])) for key in own if key in words)
                 for path in run.paths for words, frames, *_ in labelled(path) if function in frames}
        self.assertEqual(len(found), 1, found)
        return dict(found.pop())

    def test_values_are_handed_on_and_records_read(self):
        run = self.record(target("context_wick"), hz=499)
        self.assertEqual(run.status, 0, run.summary)
        handed = {"trace": "05" * 16, "span": "05" * 8, "identity": "GET /x"}
        self.assertEqual(self.labels_in(run, "handed"), handed)
        self.assertEqual(self.labels_in(run, "forked"), handed)
        self.assertEqual(self.labels_in(run, "recorded"),
                         {"trace": "07" * 16, "span": "07" * 8, "identity": "GET /y z", "task": "proc@a.c:12",
                          "tier": "db", "function": "f@b.c:3"})


    def test_only_profiled_functions_are_written(self):
        run = self.record(target("context_wick"), options=("--only-profiled",), hz=499)
        self.assertEqual({"recorded" in frames for words, frames, *_ in labelled(run.paths[0])}, {True})
        self.assertEqual({words["function"] for words, *_ in labelled(run.paths[0])}, {"f@b.c:3"})
        self.assertGreater(run.end["filtered"], 50)
        self.assertRegex(run.summary, "kept .* by --only-profiled")
        run = self.record(target("context_exe"), "work", 0.1, options=("--only-profiled",), hz=499)
        self.assertEqual(run.samples, [])
        self.assertIn("no sample was inside WICK_PROFILE_FN", run.summary)


class Hostile(Case):
    """No memory that a program publishes ends it."""

    def test_what_is_published_lies(self):
        for command in ([target("context_exe")], [target("context_labels_exe")],
                        [target("context_loads"), target("libcontext_gnu2.so")]):
            with self.subTest(command[0]):
                run = self.record(*command, "wrong", hz=999)
                self.assertEqual(run.status, 0, run.summary)
                self.assertGreater(len(run.samples), 100)
                self.assertEqual(run.end["lost_corrupt"], 0)

    def test_libraries_come_and_go(self):
        rounds = 1000 if LONG else 60
        for kind in ("libcontext_gnu2.so", "libcontext_gnu.so", "libcustomlabels_gnu2.so"):
            with self.subTest(kind):
                run = self.record(target("context_loads"), target(kind), "rounds", rounds, hz=4999,
                                  options=("--max-overhead", "off"))
                self.assertEqual(run.status, 0, run.summary)
                judged = [(work_of(frames), trace_of(words)) for words, frames, *_ in labelled(run.paths[0])]
                self.assertEqual([pair for pair in judged if pair[0] and pair[1] not in (None, pair[0])], [])


if __name__ == "__main__":
    unittest.main()
