"""Code whose file was replaced, deleted, hidden or never had a name: right names or none."""
import collections
import os
import shutil
import unittest

from recorded import Case, target

PARTS = ("plain", "stripped", "no_id", "same_id")


class SymbolsFiles(Case):
    def run_all(self):
        """{(way, part): Counter of leaves}, and the run."""
        for part in PARTS:
            for kind in ("so", "other"):
                shutil.copy(target(f"replaced_{part}.{kind}"), self.path(f"{part}.{kind}"))
        shutil.copy(target("replaced"), self.path("program"))
        shutil.copy(target("busy"), self.path("another"))
        run = self.record(self.path("program"), self.dir, "0.12", self.path("program"),
                          self.path("another"), hz=999)
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
                if sample.tid in threads and ("right" in frame.symbol or "wrong" in frame.symbol
                                              or frame.symbol.startswith("[")):
                    found[threads[sample.tid]][frame.symbol] += 1
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
            self.assertGreater(total, 8, (way, part, run.summary))
            named[way, part] = leaves["right_name"] / total
            print(f"{way:13} {part:9} {total:4} leaves, {100 * named[way, part]:.0f} % named")
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


if __name__ == "__main__":
    unittest.main()
