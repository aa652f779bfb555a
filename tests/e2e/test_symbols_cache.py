"""Names kept on disk: the same as those read from the file, in a folder that is the user's alone."""
import collections
import glob
import json
import os
import unittest

from recorded import Case, read, target


class SymbolsCache(Case):
    def setUp(self):
        super().setUp()
        self.env = {**os.environ, "XDG_CACHE_HOME": self.cache}
        self.folder = os.path.join(self.cache, "wick", "symbols")

    def run_wick(self, *arguments):
        return self.wick(*arguments, env=self.env)

    def recorded(self, name, *options):
        """Functions of the target's own, with how often their lines were there."""
        path = self.path(name)
        run = self.run_wick("record", "-F", 199, "--srcline", "-o", path, *options, "--",
                            target("split"), 1)
        self.assertEqual(run.returncode, 0, run.stderr)
        return collections.Counter(frame.symbol for sample in read(path) for frame in sample.frames
                                   if frame.module.endswith("/split"))

    def builds(self):
        run = self.run_wick("symbols", "list", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        return {os.path.basename(build["module"]): build
                for build in json.loads(run.stdout)["builds"]}

    def kept(self):
        return glob.glob(os.path.join(self.folder, "*", "*.symbols"))

    def test_a_recording_keeps_what_it_read_and_the_next_one_finds_it(self):
        first = self.recorded("first.perf")
        self.assertEqual(os.stat(self.folder).st_mode & 0o777, 0o700)
        build = self.builds()["split"]
        self.assertGreater(build["functions"], 0)
        self.assertEqual(build["source"], "debug")
        self.assertEqual(build["bytes"], os.path.getsize(build["file"]))
        before = os.path.getsize(build["file"])
        second = self.recorded("second.perf")
        self.assertEqual(set(first), set(second))
        # Nothing was read anew: nothing was added but what the first had no sample in.
        self.assertLess(os.path.getsize(build["file"]), 2 * before)

    def test_what_is_damaged_is_read_again(self):
        names = set(self.recorded("first.perf"))
        for path in self.kept():
            with open(path, "r+b") as file:
                file.seek(os.path.getsize(path) // 2)
                file.write(b"\xff" * 64)
        self.assertEqual(set(self.recorded("damaged.perf")), names)
        for path in self.kept():
            os.truncate(path, 100)
        self.assertEqual(set(self.recorded("cut.perf")), names)
        self.assertGreater(self.builds()["split"]["functions"], 0)

    def test_no_cache_leaves_nothing(self):
        self.recorded("x.perf", "--no-cache")
        self.assertEqual(os.listdir(self.cache), [])

    def test_a_folder_open_to_others_is_refused_and_nothing_else_fails(self):
        os.makedirs(self.folder)
        os.chmod(self.folder, 0o755)
        self.assertTrue(self.recorded("x.perf"))
        self.assertEqual(os.listdir(self.folder), [])
        run = self.run_wick("symbols", "list")
        self.assertEqual(run.returncode, 4)
        self.assertIn("open to others (mode 755), try: chmod 700", run.stderr.decode())
        run = self.run_wick("record", "-o", self.path("y.perf"), "true")
        self.assertIn("the symbol cache is not used: the cache's folder", run.stderr.decode())

    def test_add_strip_and_clear(self):
        run = self.run_wick("symbols", "add", target("split"), target("ratio"))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr.decode(), r"split: \d+ new functions; ")
        builds = self.builds()
        self.assertEqual(set(builds), {"split", "ratio"})
        self.assertGreater(builds["split"]["functions"], 2)
        again = self.run_wick("symbols", "add", target("split"))
        self.assertIn("split: 0 new functions", again.stderr.decode())
        size = os.path.getsize(builds["split"]["file"])
        self.recorded("x.perf")
        # It knew all functions; that nothing is known of an address (of _start) takes 96 bytes.
        self.assertLessEqual(os.path.getsize(builds["split"]["file"]), size + 3 * 96)

        text = self.run_wick("symbols", "list").stdout.decode()
        self.assertIn(builds["split"]["build_id"][:16], text)
        self.assertIn("/split\n", text)
        run = self.run_wick("symbols", "clear", builds["split"]["build_id"][:8])
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("split", self.builds())
        run = self.run_wick("symbols", "clear", "split")
        self.assertEqual(run.returncode, 2)
        self.assertIn("the symbol cache has nothing of 'split'", run.stderr.decode())
        self.assertEqual(self.run_wick("symbols", "strip", "0").returncode, 0)
        self.assertEqual(self.kept(), [])

    def test_what_it_cannot_do_it_says(self):
        for arguments, status, said in (
                (("symbols",), 2, "no action given: list, add, strip or clear, try:"),
                (("symbols", "list", "perl"), 2, "unexpected argument 'perl'"),
                (("symbols", "strip"), 2, "no size given, try:"),
                (("symbols", "strip", "1M", "2M"), 2, "one size at a time, try:"),
                (("symbols", "--symbol-dir", "/nowhere", "list"), 2, "--symbol-dir: '/nowhere'"),
                (("symbolize",), 2, "no file given, try: wick symbolize FILE\n"),
                (("symbolize", "-o", self.path("copy"), "/etc/passwd"), 8, "not perf script text"),
                (("symbols", "stirp"), 2, "try: wick symbols strip"),
                (("symbols", "strip", "much"), 2, "'much'"),
                (("symbols", "add"), 2, "no file given"),
                (("symbols", "add", "/nowhere"), 8, "'/nowhere'"),
                (("symbols", "add", "/etc/passwd"), 8, "'/etc/passwd': not an ELF file"),
                (("symbols", "add", target("busy_stripped")), 8, "has no debugging information")):
            run = self.run_wick(*arguments)
            self.assertEqual(run.returncode, status, (arguments, run.stderr))
            self.assertIn(said, run.stderr.decode())


if __name__ == "__main__":
    unittest.main()
