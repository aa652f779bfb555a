"""docs/how-to/systemd.md: its unit files, and what stopping a recorded service does."""
import os
import pathlib
import re
import signal
import subprocess
import unittest

from recorded import Case, need, read, target, wait_for, WICK

PAGE = pathlib.Path(__file__).parents[2] / "docs/how-to/systemd.md"


def files_of_the_page():
    """{path: text} of the blocks whose first line names a file."""
    blocks = re.findall(r"(?ms)^```ini\n# (\S+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"))
    return dict(blocks)


class Units(Case):
    def verify(self, *names):
        # What the page calls by other names: the wick that is tested, and a program that is there.
        done = subprocess.run(["systemd-analyze", "--man=no", "verify", *names], capture_output=True, check=False,
                              cwd=self.dir, stdin=subprocess.DEVNULL, timeout=60,
                              env={**os.environ, "SYSTEMD_UNIT_PATH": f"{self.dir}:"})
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))

    def write(self, name, text):
        path = pathlib.Path(self.path(name))
        path.parent.mkdir(exist_ok=True)
        text = text.replace("/usr/local/bin/wick", os.path.abspath(WICK)).replace("/usr/bin/app", "/usr/bin/sleep")
        path.write_text(text, encoding="utf-8")

    def test_unit_files_are_what_systemd_takes(self):
        need("systemd-analyze")
        files = files_of_the_page()
        self.assertEqual(len(files), 3)
        self.write("app.service", "[Service]\nExecStart=/usr/bin/sleep 5\n")
        for path, text in files.items():
            if "/systemd/" in path:
                self.write(path.removeprefix("/etc/systemd/system/").replace("@.", "@app."), text)
        self.verify("app.service", "wick@app.service")
        self.write("wick@app.service", files["/etc/systemd/system/wick@.service"] + "ExecStrat=x\nRestart=perhaps\n")
        with self.assertRaises(AssertionError):  # it does look
            self.verify("wick@app.service")

    def test_the_options_are_wick_s(self):
        files = files_of_the_page()
        with open(self.path("wick.ini"), "w", encoding="utf-8") as file:
            file.write(files["/etc/wick.ini"].replace("/srv/debug", self.dir))
        done = self.wick("record", "-o", self.path("x.perf"), "--", "true",
                         env={**os.environ, "WICK_CONFIG": self.path("wick.ini")})
        self.assertEqual(done.returncode, 0, done.stderr)
        line = re.search("wick (record .*) -- ", files["/etc/systemd/system/app.service.d/wick.conf"]).group(1)
        words = line.replace("%%", "%").replace("/var/lib/wick-app", self.dir).split()
        self.assertEqual(self.wick(*words, "--", "true").returncode, 0)


class Stopping(Case):
    def test_sigterm_to_both_leaves_a_whole_file(self):
        path = self.path("x.perf")
        with subprocess.Popen([WICK, "record", "-q", "-o", path, "--", target("split"), "60"],
                              stdout=subprocess.DEVNULL) as process:
            wait_for(lambda: os.path.exists(path) and os.path.getsize(path) > 20000, 60)
            with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
                children = [int(word) for word in file.read().split()]
            self.assertEqual(len(children), 1)
            for pid in (process.pid, *children):
                os.kill(pid, signal.SIGTERM)
            self.assertEqual(process.wait(20), 128 + signal.SIGTERM)
        self.assertGreater(len(read(path)), 10)
        with open(path, encoding="utf-8") as file:
            self.assertIn("# wick-end : ", file.read())
        for pid in children:  # it has ended, whoever is to reap it
            wait_for(lambda pid=pid: self.state_of(pid) in "ZX")

    def state_of(self, pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                return file.read().rpartition(") ")[2][0]
        except FileNotFoundError:
            return "X"


if __name__ == "__main__":
    unittest.main()
