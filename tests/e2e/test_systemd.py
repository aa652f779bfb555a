"""docs/how-to/systemd.md: its unit files, and what stopping a recorded service does."""
import os
import pathlib
import re
import signal
import subprocess
import unittest

import procfs
from recorded import WICK, Case, need, read, target, text_of, wait_for

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

    def write(self, name, data, mode=None):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        data = data.replace("/usr/local/bin/wick", os.path.abspath(WICK)).replace("/usr/bin/app", "/usr/bin/sleep")
        return super().write(name, data, mode)

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
        self.write("wick.ini", files["/etc/wick.ini"].replace("/srv/debug", self.dir))
        done = self.wick("record", "-o", self.path("x.perf"), "--", "true",
                         env={**os.environ, "WICK_CONFIG": self.path("wick.ini")})
        self.assertEqual(done.returncode, 0, done.stderr)
        line = re.search("wick (record .*) -- ", files["/etc/systemd/system/app.service.d/wick.conf"]).group(1)
        words = line.replace("%%", "%").replace("/var/lib/wick-app", self.dir).split()
        self.assertEqual(self.wick(*words, "--", "true").returncode, 0)


class Stopping(Case):
    def test_sigterm_to_both_leaves_a_whole_file(self):
        path = self.path("x.perf")
        process = self.start(WICK, "record", "-q", "-o", path, "--", target("split"), "60")
        wait_for(lambda: os.path.exists(path) and os.path.getsize(path) > 20000, 60)
        started = procfs.children(process.pid)
        self.assertEqual(len(started), 1)
        for pid in (process.pid, *started):
            os.kill(pid, signal.SIGTERM)
        self.assertEqual(process.wait(20), 128 + signal.SIGTERM)
        self.assertGreater(len(read(path)), 10)
        self.assertIn("# wick-end : ", text_of(path))
        for pid in started:  # it has ended, whichever process reaps it
            wait_for(lambda pid=pid: self.state_of(pid) in "ZX")

    def state_of(self, pid):
        try:
            return procfs.state(pid)
        except FileNotFoundError:
            return "X"


if __name__ == "__main__":
    unittest.main()
