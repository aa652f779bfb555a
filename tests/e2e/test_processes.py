"""Children by every way there is, programs that take no agent, libraries that come and go."""
import html
import json
import os
import subprocess
import unittest

from recorded import LONG, PYTHON, Case, target, text_of, wait_for


class Children(Case):
    def test_children_of_every_kind_are_part_of_the_recording(self):
        run = self.record(os.path.abspath(target("children")), "all", 0.4)
        self.assertEqual(run.status, 0, run.summary)
        for way in ("fork", "vfork", "spawn", "spawnp", "exec", "system", "popen"):
            found = run.weight(lambda s, way=way: s.frames[0].symbol == "burn_" + way)
            self.assertGreater(found, 0, way)  # how much: physics.scale
        self.assertGreaterEqual(len({sample.pid for sample in run.samples}), 7)

    def test_static_children_run_and_are_named(self):
        static = os.path.abspath(target("busy_static"))
        run = self.record("sh", "-c", f"{static} 0.1; {static} 0.1")
        self.assertEqual(run.stdout, b"busy no more\n" * 2)
        self.assertIn("busy_static", run.summary)
        self.assertIn("static", run.summary)

    def test_a_static_command_runs_and_is_named(self):
        run = self.record(os.path.abspath(target("busy_static")), 0.1)
        self.assertEqual((run.status, run.stdout), (0, b"busy no more\n"))
        self.assertIn("static", run.summary)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to make a set-user-ID file")
    def test_setuid_children_run_and_are_named(self):
        path = self.path("busy_setuid")
        subprocess.run(["cp", target("busy"), path], check=True)
        os.chown(path, 1, 1)
        os.chmod(path, 0o4755)
        os.chmod(self.dir, 0o755)
        run = self.record("sh", "-c", f"{path} 0.1; :")
        self.assertEqual((run.status, run.stdout, ), (0, b"busy no more\n"), run.summary)
        self.assertIn("busy_setuid", run.summary)
        self.assertIn("set", run.summary)

    def test_a_process_is_found_by_the_name_that_it_had_longest(self):
        code = ("import ctypes, time\ndef use(seconds):\n end = time.thread_time() + seconds\n"
                " while time.thread_time() < end: pass\n"
                "use(0.1)\nctypes.CDLL(None).prctl(15, b'renamed', 0, 0, 0)\nuse(0.5)\n"
                "ctypes.CDLL(None).prctl(15, b'ending', 0, 0, 0)\nuse(0.05)")
        run = self.record("sh", "-c", f'i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done; exec {PYTHON} -c "$0"',
                          code, hz=499)
        self.assertGreaterEqual(len({sample.comm for sample in run.samples}), 3)
        n = len(run.samples)
        for name, found in (("^renamed/", n), ("^(sh|python3|ending)/", 0)):
            told = self.wick("report", "--json", "--metric", "samples", "--process", name, run.paths[0])
            self.assertEqual(json.loads(told.stdout)["samples"] if told.returncode == 0 else 0, found,
                             (name, told.stderr))

    def test_a_command_of_many_lines_is_one_line_in_titles(self):
        run = self.record("sh", "-c", "i=0\nwhile [ $i -lt 300000 ]; do i=$((i+1)); done\n# <100%>")
        want = "sh -c i=0 while [ $i -lt 300000 ]; do i=$((i+1)); done # <100%>"
        path = run.paths[0]
        self.assertEqual(self.wick("report", path).stdout.decode().split("\n")[0], want)
        self.assertIn(f"command    {want}\n", self.wick("info", path).stdout.decode())
        for verb, name in (("flamegraph", "x.svg"), ("heatmap", "y.svg"), ("view", "z.html")):
            made = self.wick(verb, *(["--no-open"] if verb == "view" else []), "-o", self.path(name), path)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertIn(html.escape(want), text_of(self.path(name)), verb)

    def test_a_daemon_lives_on(self):
        done = self.path("done")
        run = self.record(target("daemonize"), 1, done)
        self.assertEqual(run.status, 0)
        wait_for(lambda: os.path.exists(done))  # the daemon reaches its end

    def test_environment_looks_as_it_is(self):
        for command in (["env"], ["sh", "-c", "env"], ["bash", "-c", "env; exec env"],
                        ["/usr/bin/python3", "-c", "import os; print(dict(os.environ))"]):
            for more in ({}, {"LD_PRELOAD": "libm.so.6"}):
                environment = {**os.environ, **more}
                bare = subprocess.run(command, env=environment, cwd=self.dir, check=True,
                                      stdout=subprocess.PIPE).stdout
                run = self.wick("record", "-q", "-o", self.path("x.perf"), "--", *command,
                                env=environment)
                os.unlink(self.path("x.perf"))
                self.assertEqual(run.stdout, bare, command)


class Libraries(Case):
    def test_names_follow_libraries_that_share_an_address(self):
        for turn in (50, 300):
            run = self.record(target("plugins"), 5 if LONG else 3, target("libplugin_a.so"),
                              target("libplugin_b.so"), turn, hz=199)
            self.assertEqual(run.status, 0, run.summary)
            leaves = [s.frames[0] for s in run.samples if s.frames[0].symbol.startswith("burn_plugin_")]
            self.assertEqual({leaf.symbol for leaf in leaves}, {"burn_plugin_a", "burn_plugin_b"})
            self.assertEqual([leaf for leaf in leaves if leaf.symbol[-1] + ".so" not in leaf.module], [])


if __name__ == "__main__":
    unittest.main()
