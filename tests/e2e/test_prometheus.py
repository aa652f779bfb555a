"""Prometheus reads a recording: pages, exemplars, the dashboard, and the commands that show the same."""
import contextlib
import http.client
import json
import os
import re
import socket
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

from recorded import WICK, Case, need, notes, target, text_of, wait_for

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
THREADS = 2 # of request_load
READINGS = 3 # of the program while it runs: -p, --reset and the last one
ODD = "odd \ufffd \"x\" \\ \n y"
SERIES = re.compile(r'^(\w+)(?:\{((?:\w+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)(?: # \{trace_id="([0-9a-f]{32})"\} (\S+) (\S+))?$')


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def fetch(url, accept="*/*"):
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": accept}), timeout=20) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def series_of(page):
    """{name{labels}: value} of a page, each of whose lines has to be one, or a comment."""
    series = {}
    for line in page.split("\n")[:-1]:
        if line.startswith("# "):
            continue
        found = SERIES.match(line)
        assert found, line
        key = f"{found.group(1)}{{{found.group(2) or ''}}}"
        assert key not in series, f"{key} is there twice"
        series[key] = float(found.group(3))
    return series


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=10)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Served(Case):
    """A recording of a program that serves requests, and where its page is."""

    @contextlib.contextmanager
    def served(self, *options, seconds=60):
        port = free_port()
        self.file = self.path("served.perf")
        wick = self.record_into(self.file, "--listen", f"127.0.0.1:{port}", *options, "--",
                                target("request_load"), seconds)
        self.url = f"http://127.0.0.1:{port}/metrics"
        wait_for(lambda: wick.poll() is not None or "wick_request_duration" in fetch(self.url)[1])
        self.pid = int(subprocess.run(["pgrep", "-P", str(wick.pid), "-x", "request_load"], check=True,
                                      capture_output=True).stdout)
        try:
            yield wick
        finally:
            if wick.poll() is None:
                os.kill(self.pid, 15)
            self.said = wick.communicate(timeout=30)[1].decode()

    def rows(self, command, *options):
        done = self.wick(command, "-p", self.pid, "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.decode().splitlines()]


class Page(Served):
    def test_the_page_has_both_formats_and_labels_of_any_bytes(self):
        with self.served():
            kind, page = fetch(self.url, f"{OPEN_METRICS};q=0.9,text/plain")
            self.assertEqual(kind, OPEN_METRICS)
            self.assertTrue(page.endswith("\n# EOF\n"))
            odd = 'identity="' + ODD.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
            self.assertGreater(series_of(page)[f"wick_request_duration_seconds_count{{{odd}}}"], 0)
            self.assertIn(' # {trace_id="', page)
            kind, page = fetch(self.url)
            self.assertEqual(kind, "text/plain; version=0.0.4; charset=utf-8")
            series = series_of(page)
            self.assertEqual(series["wick_series{}"], len(series))
            self.assertNotIn("# EOF", page)
            if not os.path.exists("/usr/bin/promtool"):
                self.skipTest("promtool is not installed")
            checked = subprocess.run(["promtool", "check", "metrics"], input=page.encode(), check=False,
                                     capture_output=True, timeout=20)
            self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, b""))

    def test_no_series_goes_down_and_ten_tasks_have_one(self):
        with self.served():
            last = {}
            for _ in range(5):
                series = series_of(fetch(self.url, OPEN_METRICS)[1])
                for key, value in series.items():
                    if "_total{" in key or "_bucket{" in key:
                        self.assertGreaterEqual(value, last.get(key, 0), key)
                last = series
                time.sleep(0.2)
            tasks = [key for key in last if key.startswith("wick_task_calls_total")]
            self.assertTrue(11 <= len(tasks) <= 16, tasks)
            self.assertIn('wick_task_calls_total{proc="other",file="",line="0"}', tasks)
            before = sum(last[key] for key in tasks)
            self.assertGreaterEqual(sum(row["calls"] for row in self.rows("tasks") if "task" in row), before)

    def test_only_the_page_is_served_and_clients_are_bounded(self):
        with self.served():
            host = urllib.parse.urlsplit(self.url).netloc
            for method, path, status in (("GET", "/", 200), ("GET", "/other", 404), ("POST", "/metrics", 405),
                                         ("HEAD", "/metrics", 200), ("DELETE", "/metrics", 405)):
                client = http.client.HTTPConnection(host, timeout=10)
                client.request(method, path)
                self.assertEqual(client.getresponse().status, status, (method, path))
                client.close()
            for name, status in (("localhost", 200), ("evil.example", 403)):
                client = http.client.HTTPConnection(host, timeout=10)
                client.request("GET", "/metrics", headers={"Host": name})
                self.assertEqual(client.getresponse().status, status, name)
                client.close()
            with contextlib.ExitStack() as silent:
                for _ in range(10):
                    silent.enter_context(socket.create_connection(host.split(":"), 10))
                self.assertIn("wick_series", fetch(self.url)[1])

    def test_a_socket_and_a_textfile_have_the_same_page(self):
        path, prom = self.path("m.sock"), self.path("wick.prom")
        wick = self.record_into(self.path("x.perf"), "--listen", f"unix:{path}", "--textfile", prom, "--",
                                target("request_load"), 2)
        wait_for(lambda: os.path.exists(prom) and os.path.exists(path))
        client = UnixConnection(path)
        client.request("GET", "/metrics")
        names = {key.split("{")[0] for key in series_of(client.getresponse().read().decode())}
        client.close()
        self.assertIn("wick_samples_total", names)
        self.assertIn("wick_samples_total{}", series_of(text_of(prom)))
        self.assertEqual(wick.wait(30), 0)
        self.assertFalse(os.path.exists(path))
        self.assertFalse(os.path.exists(prom), "it would be read for ever")

    def test_an_address_that_is_taken_is_an_error_before_the_program_starts(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen(1)
            done = self.wick("record", "-o", self.path("y.perf"), "--listen",
                             f"127.0.0.1:{taken.getsockname()[1]}", "--", "touch", self.path("ran"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"listen at '127.0.0.1:", done.stderr)
        self.assertIn(b"try: another port", done.stderr)
        self.assertFalse(os.path.exists(self.path("ran")))


    def test_a_place_that_cannot_be_written_is_an_error_before_the_program_starts(self):
        for option in ("--textfile", "--stats-to"):
            done = self.wick("record", "-o", self.path("z.perf"), option, self.path("nosuch/x"), "--",
                             "touch", self.path("ran"))
            self.assertEqual(done.returncode, 8, option)
            self.assertIn(b"No such file or directory, try: a", done.stderr)
            self.assertFalse(os.path.exists(self.path("ran")), option)


class Rows(Served):
    def test_a_running_recording_is_asked_and_reset(self):
        with self.served():
            wait_for(lambda: self.rows("requests")[0]["count"] > 500)
            before = self.rows("requests")[0]
            table = self.wick("tiers", "-p", self.pid).stdout.decode()
            self.assertRegex(table, r"(?m)^count .* tier +identity$")
            self.assertRegex(table, r"(?m) db +_total$")
            self.rows("requests", "--reset")
            wait_for(lambda: self.rows("requests"))
            after = self.rows("requests")[0]
            self.assertEqual((before["identity"], after["identity"]), ("_total", "_total"))
            self.assertLess(after["count"], before["count"])
            self.assertGreater(after["since_ns"], before["since_ns"])
        rows = [row for row in notes(self.file, "req") if row.get("tier") == "request"]
        whole = sum(row["count"] for row in rows if row["identity"] == "_total")
        self.assertGreaterEqual(whole, before["count"] + after["count"])
        self.assertEqual(whole, sum(row["count"] for row in rows if row["identity"] != "_total"))
        # The program runs while it is read: a thread may have counted and not yet found the bucket.
        in_buckets = sum(count for row in rows for _, count in row["buckets"])
        self.assertAlmostEqual(in_buckets, 2 * whole, delta=2 * READINGS * THREADS)

    def test_whom_nobody_records_or_who_counts_nothing_is_said(self):
        done = self.wick("tasks", "-p", os.getpid())
        self.assertEqual(done.returncode, 8)
        self.assertIn(f"you have no recording of process {os.getpid()}, try: wick record -p {os.getpid()}",
                      done.stderr.decode())
        wick = self.record_into(self.path("z.perf"), "--", "sleep", 60)
        pid = int(subprocess.run(["pgrep", "-P", str(wick.pid), "-x", "sleep"], check=True,
                                 capture_output=True).stdout)
        done = self.wick("tasks", "-p", pid)
        os.kill(pid, 15)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no recorded program counts anything: that needs wick.h", done.stderr.decode())

    def test_lines_go_to_files_and_commands_and_into_the_recording(self):
        lines, copy = self.path("counts.jsonl"), self.path("copy.jsonl")
        path = self.path("every.perf")
        done = self.wick("record", "-o", path, "--stats-every", "500ms", "--stats-to", lines, "--stats-to",
                         f"|cat >{copy}", "--", target("request_load"), 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(text_of(lines), text_of(copy))
        sent = [json.loads(line) for line in text_of(lines).splitlines()]
        noted = notes(path, "req")
        self.assertEqual(sent, [{key: value for key, value in row.items() if key != "buckets"} for row in noted])
        intervals = sorted({(row["since_ns"], row["time_ns"]) for row in noted})
        self.assertTrue(3 <= len(intervals) <= 6, intervals)
        for (_, end), (begin, _) in zip(intervals, intervals[1:]):
            self.assertEqual(end, begin)
        said = re.search(r"counted +([\d,]+) requests of 3 identities; tiers db, render; ([\d,]+) tasks of 14 ",
                         done.stderr.decode())
        total = sum(row["count"] for row in noted if row.get("tier") == "request" and row["identity"] == "_total")
        self.assertEqual(int(said.group(1).replace(",", "")), total)
        shown = self.wick("requests", "--json", path).stdout.decode().splitlines()
        self.assertIn(total, [json.loads(row)["count"] for row in shown])

    def test_a_reader_that_does_not_read_holds_nothing_up(self):
        path = self.path("slow.perf")
        begin = time.monotonic()
        done = self.wick("record", "-o", path, "--stats-every", "20ms", "--stats-to", "|exec sleep 5 >/dev/null 2>&1", "--stats-to",
                         f"unix:{self.path('nobody')}", "--", target("request_load"), 1)
        self.assertLess(time.monotonic() - begin, 4.5)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = done.stderr.decode()
        self.assertRegex(said, r"--stats-to '\|exec sleep 5[^']*' took \d+ lines and not \d+")
        self.assertEqual(said.count("nobody': No such file or directory; lines are lost"), 1, said)
        rows = [row["count"] for row in notes(path, "req")
                if row.get("tier") == "request" and row["identity"] == "_total"]
        self.assertIn(f" {sum(rows):,} requests of 3 identities", said)

    def test_each_file_of_a_rotated_recording_has_its_own(self):
        path = self.path("r.perf")
        done = self.wick("record", "-o", path, "--rotate", "700ms", "--", target("request_load"), 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        files = sorted(name for name in os.listdir(self.dir) if name.startswith("r."))
        counts = [sum(row["count"] for row in notes(self.path(name), "req")
                      if row.get("tier") == "request" and row["identity"] == "_total") for name in files]
        self.assertGreaterEqual(len(files), 2)
        self.assertTrue(all(counts[:-1]), counts)  # the last one's samples may be older than the rows before
        self.assertIn(f" {sum(counts):,} requests of 3 identities", done.stderr.decode())

    def test_a_file_of_the_flight_recorder_has_those_of_its_window(self):
        path = self.path("f.perf")
        wick = self.start(WICK, "record", "-o", path, "--flight", "10s", "--", target("request_load"), 60)
        wait_for(lambda: self.wick("requests", "-p", wick.pid).stdout.startswith(b"count"))
        pid = int(subprocess.run(["pgrep", "-P", str(wick.pid), "-x", "request_load"], check=True,
                                 capture_output=True).stdout)
        done = self.wick("flush", "-p", pid)
        os.kill(pid, 15)
        wick.communicate(timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = notes(done.stdout.decode().strip(), "req")
        self.assertIn("request", {row.get("tier") for row in rows})


class Prometheus(Served):
    """Debian's Prometheus, started here."""

    def setUp(self):
        super().setUp()
        need("prometheus")

    @contextlib.contextmanager
    def prometheus(self, scraped):
        port = free_port()
        config = self.write("prometheus.yml", json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "wick", "static_configs": [{"targets": [scraped]}]}]}))
        server = self.start("prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.path('tsdb')}",
                            f"--web.listen-address=127.0.0.1:{port}", "--enable-feature=exemplar-storage",
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.api = f"http://127.0.0.1:{port}/api/v1"
        yield server
        server.terminate()
        server.wait(20)

    def ask(self, what, **query):
        try:
            answer = json.loads(fetch(f"{self.api}/{what}?{urllib.parse.urlencode(query)}")[1])
        except OSError:
            return []
        self.assertEqual(answer["status"], "success")
        return answer["data"]

    def query(self, expr):
        found = self.ask("query", query=expr)
        return [one for one in found["result"] if one["value"][1] != "NaN"] if found else []

    def check_quantile(self):
        """Within the width of the bucket, which is a factor of two."""
        (theirs,) = self.query('histogram_quantile(0.99, wick_request_duration_seconds_bucket{identity="_total"})')
        (ours,) = [row["p99_ns"] for row in self.rows("requests") if row["identity"] == "_total"]
        ratio = float(theirs["value"][1]) / (ours / 1e9)
        self.assertTrue(0.5 <= ratio <= 2, (theirs, ours))

    def test_the_dashboard_has_data(self):
        with open(os.path.join(ROOT, "docs/grafana/wick.json"), encoding="utf-8") as file:
            panels = json.load(file)["panels"]
        exprs = [one["expr"] for panel in panels for one in panel.get("targets", [])]
        self.assertGreater(len(exprs), 20)
        exprs = [expr.replace("$__rate_interval", "10s").replace("$instance", ".*") for expr in exprs]
        with self.served("--stats-every", "1s"), self.prometheus(urllib.parse.urlsplit(self.url).netloc):
            start = time.time()
            wait_for(lambda: len(self.query("count_over_time(wick_series[1m]) >= 3")) == 1, 30, "scrapes")
            for expr in exprs:
                wait_for(lambda e=expr: self.query(e), 10, f"data for {expr}")
            self.assertEqual([one["value"][1] for one in self.query("up")], ["1"])
            self.check_quantile()
            exemplars = self.ask("query_exemplars", query="wick_request_duration_seconds_bucket",
                                 start=start - 60, end=time.time() + 60)
        traces = {one["labels"]["trace_id"] for series in exemplars for one in series["exemplars"]}
        self.assertTrue(traces)
        self.assertTrue(traces & {row.get("trace") for row in notes(self.file, "req")}, traces)


if __name__ == "__main__":
    unittest.main()
