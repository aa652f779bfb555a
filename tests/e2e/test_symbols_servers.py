"""--debuginfod: a server on the loopback that has the file, another one, none, or no answer."""
import collections
import ctypes.util
import http.server
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

import ended
from recorded import WICK, Case, need, read
from test_names import CHAIN, ROUNDS, SOURCE

DEADLINE_S = 5


class Server(http.server.ThreadingHTTPServer):
    """Serves a folder; notes what it was asked for."""
    daemon_threads = True

    def __init__(self, folder, answer=None):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def do_GET(self):
                self.server.asked.append(self.path)
                if answer:
                    answer(self)
                else:
                    super().do_GET()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []
        self.stopping = threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def stop(self):
        self.stopping.set()
        self.shutdown()
        self.server_close()


def hang(request):
    request.server.stopping.wait(30)


class Servers(Case):
    @classmethod
    def setUpClass(cls):
        need("gcc", "objcopy", "readelf")
        if not ctypes.util.find_library("debuginfod"):
            raise unittest.SkipTest("libdebuginfod is not installed")
        cls.built = tempfile.mkdtemp(prefix="wick-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.built, ignore_errors=True)
        cls.program = os.path.join(cls.built, "chain")
        with open(cls.program + ".c", "w", encoding="ascii") as file:
            file.write(SOURCE)
        cls.build(cls.program)
        cls.build(os.path.join(cls.built, "other"), "-DOTHER", "-O1")
        ids = subprocess.run(["readelf", "-n", cls.program], capture_output=True, text=True,
                             check=True).stdout
        cls.asked_for = f"/buildid/{re.search('Build ID: ([0-9a-f]+)', ids).group(1)}/debuginfo"

    @classmethod
    def build(cls, to, *options):
        """A stripped program, and its debug file."""
        subprocess.run(["gcc", "-O2", "-g", "-Wl,--build-id", *options, cls.program + ".c", "-o",
                        to], check=True)
        subprocess.run(["objcopy", "--only-keep-debug", to, to + ".debug"], check=True)
        subprocess.run(["objcopy", "--strip-all", to], check=True)

    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "DEBUGINFOD_CACHE_PATH": self.path("client"),
                            "no_proxy": "127.0.0.1"}
        for name in ("DEBUGINFOD_PROGRESS", "DEBUGINFOD_TIMEOUT", "http_proxy"):
            self.environment.pop(name, None)
        self.recording = self.record(self.program, ROUNDS, options=("--no-symbols",)).paths[0]

    def serve(self, debug_file=None, answer=None):
        """A server that has DEBUG_FILE as the program's, and nothing else."""
        folder = self.path("served")
        os.makedirs(folder + os.path.dirname(self.asked_for))
        if debug_file:
            shutil.copy(os.path.join(self.built, debug_file), folder + self.asked_for)
        server = Server(folder, answer)
        self.addCleanup(server.stop)
        self.environment["DEBUGINFOD_URLS"] = server.url
        return server

    def symbolize(self, *options):
        """The samples, and what was said."""
        out = f"{self.recording}.{time.monotonic_ns()}"
        process = self.wick("symbolize", *options, "-o", out, self.recording,
                            env=self.environment)
        self.assertEqual(process.returncode, 0, process.stderr)
        return read(out), process.stderr.decode()

    def share(self, samples):
        """How many of the samples have the whole chain."""
        return sum([frame.symbol for frame in s.frames[:3]] == CHAIN for s in samples) / len(
            samples)

    def test_no_network_without_the_flag(self):
        server = self.serve("chain.debug")
        samples, said = self.symbolize()
        self.assertEqual(self.share(samples), 0)
        self.assertNotIn("servers", said)
        run = self.record(self.program, ROUNDS, env=self.environment)
        self.assertEqual(self.share(run.samples), 0)
        self.assertNotIn("servers", run.summary)
        self.assertEqual(server.asked, [])

    def test_the_file_is_fetched_once(self):
        server = self.serve("chain.debug")
        run = self.record(self.program, ROUNDS, options=("--debuginfod", "--no-cache"),
                          env=self.environment)
        self.assertGreater(self.share(run.samples), 0.9, run.summary)
        self.assertRegex(run.summary, r"servers +\d+ modules? asked for, [1-9]\d* found in ")
        samples, said = self.symbolize("--debuginfod", "--no-cache")
        self.assertGreater(self.share(samples), 0.9, said)
        counts = collections.Counter(server.asked)
        self.assertEqual(counts[self.asked_for], 1, counts)
        # What the server does not have, the client remembers as well.
        self.assertEqual(set(counts.values()), {1}, counts)

    def test_a_server_that_has_nothing(self):
        server = self.serve()
        samples, said = self.symbolize("--debuginfod")
        self.assertIn(self.asked_for, server.asked)
        self.assertEqual(self.share(samples), 0)
        self.assertRegex(said, r"servers +\d+ modules? asked for, 0 found in [^;,]*\n")

    def test_another_programs_file_is_refused(self):
        server = self.serve("other.debug")
        samples, _ = self.symbolize("--debuginfod", "--no-cache")
        self.assertIn(self.asked_for, server.asked)
        self.assertEqual(self.share(samples), 0)
        names = {f.symbol for s in samples for f in s.frames if f.module == self.program}
        self.assertEqual({name for name in names if not name.startswith("[")}, set())

    def test_a_server_that_does_not_answer_costs_the_deadline_once(self):
        """And a terminal shows how long it takes."""
        server = self.serve(answer=hang)
        began = time.monotonic()
        status, said = ended.on_terminal([WICK, "symbolize", "--debuginfod", "-o", self.path("out"), self.recording],
                                         streams=("stderr",), env=self.environment)
        spent = time.monotonic() - began
        self.assertEqual(status, 0, said)
        self.assertTrue(server.asked)
        self.assertEqual(self.share(read(self.path("out"))), 0)
        self.assertRegex(said.decode(), r"wick: asking servers for /\S+, 0 \w+ so far, \S+ s left")
        self.assertIn(b"without an answer in time; the deadline passed", said)
        self.assertGreater(spent, DEADLINE_S - 1)
        self.assertLess(spent, DEADLINE_S + 6)


if __name__ == "__main__":
    unittest.main()
