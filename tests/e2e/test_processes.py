"""Children by every way there is, programs that take no agent, libraries that come and go."""
import os
import subprocess
import time
import unittest

from recorded import LONG, Case, target


class Children(Case):
    def test_children_of_every_kind_are_part_of_the_recording(self):
        run = self.record(os.path.abspath(target("children")), "all", 0.4)
        self.assertEqual(run.status, 0, run.summary)
        for way in ("fork", "vfork", "spawn", "spawnp", "exec", "system", "popen"):
            found = run.weight(lambda s, way=way: s.frames[0].symbol == "burn_" + way) / 99
            print(f"child by {way}: {found:.2f} s of 0.40 s")
            self.assertAlmostEqual(found, 0.4, delta=0.12, msg=way)
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

    def test_a_daemon_lives_on(self):
        done = self.path("done")
        run = self.record(target("daemonize"), 1, done)
        self.assertEqual(run.status, 0)
        for _ in range(100):
            if os.path.exists(done):
                break
            time.sleep(0.1)
        self.assertTrue(os.path.exists(done), "the daemon has to reach its end")

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
            run = self.record(target("plugins"), 5 if LONG else 3,
                              os.path.abspath(target("libplugin_a.so")),
                              os.path.abspath(target("libplugin_b.so")), turn, hz=199)
            self.assertEqual(run.status, 0, run.summary)
            words = run.stdout.split()
            total = run.weight()
            for letter, seconds in zip("ab", words):
                found = run.weight(
                    lambda s, letter=letter: s.frames[0].symbol == f"burn_plugin_{letter}") / 199
                print(f"plugin_{letter}, {turn} ms a turn: {found:.2f} s of {float(seconds):.2f} s "
                      f"({run.stdout.decode().strip()})")
                self.assertAlmostEqual(found, float(seconds), delta=0.25)
            wrong = sum(s.weight for s in run.samples for f in s.frames[:1]
                        if f.symbol.startswith("burn_plugin_")
                        and f.symbol[-1] + ".so" not in f.module)
            self.assertEqual(wrong, 0)
            self.assertGreater(total, 0)


if __name__ == "__main__":
    unittest.main()
