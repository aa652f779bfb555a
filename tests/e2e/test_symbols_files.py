"""Code whose file was replaced, deleted, hidden or never had a name: right names or none."""
import collections
import os
import shutil
import subprocess
import unittest

from recorded import PYTHON, Case, need, target
from test_names import CHAIN, ROUNDS, SOURCE

PARTS = ("plain", "stripped", "no_id", "same_id")
# Becomes a program that has no file any more, or never had one: argv is WAY PATH ARGUMENT.
BECOME = """
import os, sys
way, path, argument = sys.argv[1:]
fd = os.open(path, os.O_RDONLY)
if way == "memfd":
    memory = os.memfd_create("chain")
    os.sendfile(memory, fd, 0, os.fstat(fd).st_size)
    fd = memory
os.unlink(path)
os.execve(fd, [path, argument], os.environ)
"""


class SymbolsFiles(Case):
    def run_all(self):
        """{(way, part): Counter of leaves}, and the run."""
        for part in PARTS:
            for kind in ("so", "other"):
                shutil.copy(target(f"replaced_{part}.{kind}"), self.path(f"{part}.{kind}"))
        shutil.copy(target("replaced"), self.path("program"))
        shutil.copy(target("busy"), self.path("another"))
        run = self.record(self.path("program"), self.dir, "0.12", self.path("program"),
                          self.path("another"), hz=999, options=("--max-overhead", "off"))
        self.assertEqual(run.status, 0, run.summary)
        threads, impossible = {}, None
        for line in run.stdout.decode().splitlines():
            tid, way, part = line.split(" ", 2)
            if tid == "0":
                impossible = part
            else:
                threads[int(tid)] = way, part
        found = collections.defaultdict(collections.Counter)
        for sample in run.samples:
            # Not what starts and ends a thread, nor the clock.
            for frame in sample.frames:
                if frame.symbol == "[libwick-agent.so]":
                    break  # it starts a thread
                if sample.tid in threads and ("right" in frame.symbol or "wrong" in frame.symbol
                                              or frame.symbol.startswith("[")):
                    found[threads[sample.tid]][frame.symbol] += sample.weight
                    break
        return found, impossible, run

    def test_every_state_of_a_file(self):
        found, impossible, run = self.run_all()
        self.assertGreaterEqual(len(found), 20, run.summary)
        wrong = {frame.symbol for sample in run.samples for frame in sample.frames
                 if "wrong" in frame.symbol}
        self.assertEqual(wrong, set())
        named = {}
        for (way, part), leaves in sorted(found.items()):
            total = sum(leaves.values())
            self.assertGreater(total, 60, (way, part, run.summary))  # of 120 ms at 999 Hz
            named[way, part] = leaves["right_name"] / total
            print(f"{way:13} {part:9} {total:4} ms of leaves, {100 * named[way, part]:.0f} % named")
        # Nothing names what the stripped one does not export; all else wherever its file is.
        root = os.geteuid() == 0
        for (way, part), share in named.items():
            if part == "stripped":
                self.assertEqual(share, 0, (way, part))
            elif root or way in ("kept", "memfd", "hidden"):
                self.assertGreaterEqual(share, 0.95, (way, part))
        if not root:
            print("files that are gone: only root can read them, their names are not asked for")
        if impossible:
            print(f"another mount namespace: skipped, {impossible}")
        elif not any(way == "hidden" for way, _ in named):
            self.fail(run.summary)
        # The program's own file is another one now, too.
        own = {frame.symbol for sample in run.samples for frame in sample.frames
               if frame.module.endswith("/program")}
        self.assertIn("run", own)
        self.assertEqual({name for name in own if name.startswith("burn")}, set())

    def test_a_program_without_a_file(self):
        need("gcc", "objcopy")
        self.write("chain.c", SOURCE)
        subprocess.run(["gcc", "-O2", "-g", "-Wl,--build-id", self.path("chain.c"), "-o",
                        self.path("named")], check=True)
        subprocess.run(["objcopy", "--strip-all", self.path("named"), self.path("stripped")],
                       check=True)
        for way in ("deleted", "memfd"):
            for kind in ("named", "stripped"):
                with self.subTest(way=way, kind=kind):
                    self.check_program(way, kind)

    def check_program(self, way, kind):
        shutil.copy(self.path(kind), self.path("chain"))
        run = self.record(PYTHON, "-c", BECOME, way, self.path("chain"), ROUNDS, hz=499)
        self.assertEqual(run.status, 0, run.summary)
        mine = [s for s in run.samples if "chain" in s.frames[0].module
                or s.frames[0].module == "inlined"]
        self.assertGreater(len(mine), 20, run.summary)
        right = sum([f.symbol for f in s.frames[:3]] == CHAIN for s in mine) / len(mine)
        names = {f.symbol for s in mine for f in s.frames if "chain" in f.module}
        print(f"{way} {kind}: {len(mine)} samples, {100 * right:.0f} % named")
        if kind == "named":
            self.assertGreater(right, 0.9, names)
        else:
            self.assertEqual({name for name in names if not name.startswith("[")}, set())


if __name__ == "__main__":
    unittest.main()
