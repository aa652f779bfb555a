"""wick record --view: the page opens in a browser, or the command is said that shows it elsewhere;
and wick view and the others read what other profilers write.
"""
import os
import re
import subprocess
import unittest

from recorded import WICK, Case, text_of, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
SEEDS = os.path.join(HERE, "..", "fuzz", "seeds", "load")


class RecordView(Case):
    def browser(self):
        """The environment of a display whose xdg-open says what it is asked to open."""
        os.mkdir(self.path("tools"))
        self.write("tools/xdg-open", f"#!/bin/sh\necho \"$1\" > {self.path('opened')}.tmp\n"
                   f"mv {self.path('opened')}.tmp {self.path('opened')}\n", 0o755)
        return {"DISPLAY": ":0", "PATH": self.path("tools") + ":" + os.environ["PATH"]}

    def record(self, *args, env=None):
        environ = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        return subprocess.run([WICK, "record", "--view", "-f", *args, "--", "sh", "-c",
                               "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo said"],
                              env={**environ, **(env or {})}, capture_output=True, text=True,
                              check=False, cwd=self.dir)

    def test_a_recording_opens_when_it_ends(self):
        run = self.record("-o", "r.perf", env=self.browser())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout, "said\n")  # the program's own, and nothing else
        self.assertIn("the page is 'r.perf.html'", run.stderr)
        wait_for(lambda: os.path.exists(self.path("opened")))
        self.assertEqual(text_of(self.path("opened")).strip(), os.path.realpath(self.path("r.perf.html")))
        self.assertIn("application/x-wick-pack", text_of(self.path("r.perf.html")))

    def test_without_a_display_a_recording_says_the_one_command_that_shows_it(self):
        env = {"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"}
        run = self.record("-o", "r.perf", env=env)
        self.assertEqual((run.returncode, run.stdout), (0, "said\n"), run.stderr)
        folder = os.path.realpath(self.dir)
        self.assertNotIn("scp ", run.stderr)
        found = re.findall(r"^  ssh -t -L (\d+):127\.0\.0\.1:(\d+) \S+ (.*) serve --port (\d+) (.*)  #",
                           run.stderr, re.M)
        self.assertEqual(len(found), 1, run.stderr)
        there, here, program, port, what = found[0]
        self.assertEqual({there, here}, {port})
        self.assertEqual(what, folder)
        self.assertTrue(os.access(program, os.X_OK))
        self.assertFalse(os.path.exists(self.path("r.perf.html")))
        # of several files there is none that could be meant
        run = self.record("-o", "s.perf", "--rotate", "1samples", env=self.browser())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertFalse(os.path.exists(self.path("opened")))


class OtherProfilers(Case):
    def report(self, name, *options):
        run = subprocess.run([WICK, "report", "--no-index", *options, os.path.join(SEEDS, name)],
                             capture_output=True, text=True, check=False, cwd=self.dir)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_profiles_of_others_are_recordings(self):
        self.assertIn("4.98 KiB", self.report("pprof"))
        self.assertRegex(self.report("pprof"), r"100\.00 .*main\.main")
        self.assertIn("4 up (+) and down (-) of alloc_objects",
                      self.report("pprof", "--metric", "alloc_objects:delta"))
        self.assertIn("16 B", self.report("speedscope"))
        self.assertIn("9.50 ms", self.report("speedscope", "--event", "time"))
        self.assertIn("6.50 ms", self.report("firefox"))

    def test_what_is_damaged_is_said(self):
        with open(os.path.join(SEEDS, "pprof"), "rb") as file:
            whole = file.read()
        for name, content, says in (("cut.pb", whole[:20], "'cut.pb': it is damaged, or ends in the middle"),
                                    ("cut.json", b'{"profiles": [1', "it is JSON that is damaged"),
                                    ("x.json", b'{"a": 1}', "neither of speedscope nor of the Firefox")):
            with open(self.path(name), "wb") as file:
                file.write(content)
            run = subprocess.run([WICK, "report", name], capture_output=True, text=True, check=False,
                                 cwd=self.dir)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(says, run.stderr)


if __name__ == "__main__":
    unittest.main()
