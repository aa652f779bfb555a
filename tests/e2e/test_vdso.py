"""Stacks whose leaf is in the vdso, which has CFI of its own and no file, end where programs begin."""
import unittest

from recorded import Case, target

ROOTS = {"_start", "clone", "clone3", "__clone", "__clone3"}


class Vdso(Case):
    def test_clock_gettime(self):
        run = self.record(target("clock"), "1.5", hz=199)
        self.assertEqual(run.status, 0, run.summary)
        leaves = [s for s in run.samples if s.frames[0].module == "[vdso]"]
        rooted = sum(s.frames[-1].symbol in ROOTS for s in leaves)
        above = sum(any(f.symbol in ("ask", "cpu_seconds") for f in s.frames) for s in leaves)
        threads = {s.tid for s in leaves}
        print(f"clock: {len(leaves)} of {len(run.samples)} leaves in the vdso, {rooted} rooted, "
              f"{above} with the caller, {len(threads)} threads")
        self.assertGreater(len(leaves), 200)
        self.assertEqual(rooted, len(leaves))
        self.assertEqual(above, len(leaves))
        self.assertEqual(len(threads), 2)


if __name__ == "__main__":
    unittest.main()
