"""Requests and tiers: what wick counts and labels in real programs is what they know of themselves.

docs/examples/orders is a client, a service with a queue and four workers, and postgres; it keeps
clocks of its own beside the calls of wick.h.  tests/targets/requests.c has the hard cases.
"""
import collections
import json
import os
import subprocess
import unittest

from recorded import PYTHON, WICK, TARGETS, Case, need, read, req_rows, target, wait_for

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
ORDERS = os.path.join(ROOT, "docs/examples/orders")
ORDERS_BIN = os.path.abspath(os.path.join(TARGETS, "../../docs/examples/orders"))
REQUESTS = 20000
MEAN_ERROR = 0.02  # of a tier's mean
FEW_ERROR = 0.2    # of a mean of few requests, of which one may be preempted between the two clocks
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
# A client whose requests all belong to one trace.
ONE_TRACE = f"""
import json, socket, sys
kinds = {{"GET /orders/{{id}}": "/orders/7", "GET /customers/{{id}}": "/customers/7", "GET /report": "/report"}}
sent, n = dict.fromkeys(kinds, 0), int(sys.argv[3])
with socket.socket(socket.AF_UNIX) as server:
    server.connect(sys.argv[2])
    answers = server.makefile("rb")
    for i in range(n):
        kind = list(kinds)[i % 3]
        server.sendall(f"GET {{kinds[kind]}} HTTP/1.1\\r\\nHost: a\\r\\ntraceparent: 00-{TRACE}-{SPAN}-01\\r\\n\\r\\n".encode())
        assert answers.readline().startswith(b"HTTP/1.1 200 ")
        n_bytes = 0
        while (line := answers.readline()) != b"\\r\\n":
            if line.lower().startswith(b"content-length:"):
                n_bytes = int(line.split(b":")[1])
        assert len(answers.read(n_bytes)) == n_bytes > 0
        sent[kind] += 1
print(json.dumps(sent))
"""


def functions(sample):
    return {frame.symbol for frame in sample.frames}


def tier_of(sample):
    """The tier of the service that a sample's stack is in: what libpq does for query() is "db"."""
    names = functions(sample)
    if "query" in names and any("libpq.so" in frame.module for frame in sample.frames) and "PQresultStatus" not in names:
        return "db"
    return "service" if names & {"render", "send_all"} else None


def tiers_of(rows):
    return {key: row for key, row in rows.items() if len(key) == 2}


class Orders(Case):
    """The whole scenario, once: its parts are looked at one after the other."""

    def setUp(self):
        super().setUp()
        need("psql", "setpriv")
        if not os.path.exists(os.path.join(ORDERS_BIN, "service")):
            self.skipTest("libpq is not installed: the example is not built")

    def run_orders(self, *words, client=()):
        """What the client sent, the service's own counts and times, and what was said."""
        done = subprocess.run([os.path.join(ORDERS, "run"), *map(str, words)], cwd=self.dir, check=False,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=120,
                              env={**os.environ, "ORDERS_BIN": ORDERS_BIN, "ORDERS_CLIENT": " ".join(client)})
        said = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, 0, said)
        sent, own = (json.loads(line) for line in done.stdout.decode().splitlines())
        return sent, own, said

    def test_counts_are_exact_and_times_are_those_of_the_services_own_clocks(self):
        path = self.path("orders.perf")
        sent, own, said = self.run_orders(REQUESTS, WICK, "record", "-o", path, "--")
        self.assertEqual(sum(sent.values()), REQUESTS)
        self.check_rows(tiers_of(req_rows([path])), sent, own, said)
        self.check_samples(read(path), sent)
        self.check_commands(path, sent, own)

    def check_rows(self, rows, sent, own, said, error=MEAN_ERROR):
        self.assertEqual(set(rows), {(tier, identity) for tier in own for identity in (*sent, "_total")}, said)
        for tier, identities in own.items():
            for identity, clock in identities.items():
                row = rows[tier, identity]
                self.assertEqual(row["count"], clock["count"], (tier, identity, said))
                self.assertEqual(row["count"], sent[identity])
                mean = row["sum_ns"] / row["count"]
                self.assertLess(abs(mean / clock["mean_ns"] - 1), error, (tier, identity, mean, clock))
            for number in ("count", "sum_ns", "self_ns"):
                self.assertEqual(rows[tier, "_total"][number], sum(rows[tier, identity][number] for identity in sent),
                                 (tier, number))
        for identity in sent:  # the query is all that is inside the service's tier
            service, db = rows["service", identity], rows["db", identity]
            self.assertEqual(service["self_ns"], service["sum_ns"] - db["sum_ns"])
            self.assertEqual(db["self_ns"], db["sum_ns"])

    def check_samples(self, samples, sent):
        """The tier and identity of a sample are those of the functions in its stack."""
        seen = collections.Counter()
        for sample in samples:
            names, labels = functions(sample), sample.labels
            inside = tier_of(sample)
            if inside:
                self.assertEqual(labels.get("tier"), inside, sample)
                self.assertIn(labels.get("identity"), sent, sample)
                self.assertRegex(labels.get("trace", ""), "^[0-9a-f]{32}$")
                self.assertRegex(labels.get("span", ""), "^[0-9a-f]{16}$")
                seen[inside] += 1
            elif "begin_worker" in names:
                self.assertNotIn("identity", labels)
        self.assertGreater(seen["db"], 10, "no sample is inside a query")

    def check_commands(self, path, sent, own):
        for command, tiers in (("requests", ["request"]), ("tiers", ["service", "queue", "db"])):
            each = ("--identity", "all") if command == "tiers" else ()
            done = self.wick(command, "--json", *each, path)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            rows = {(row["tier"], row["identity"]): row for row in map(json.loads, done.stdout.decode().splitlines())}
            for tier in tiers:
                for identity, count in sent.items():
                    row = rows[tier, identity]
                    self.assertEqual(row["count"], count)
                    self.assertLess(abs(row["mean_ns"] / own[tier][identity]["mean_ns"] - 1), MEAN_ERROR)
                    self.assertTrue(row["min_ns"] <= row["p25_ns"] * 1.01 and row["p25_ns"] <= row["p50_ns"] <= row["p75_ns"]
                                    <= row["p90_ns"] <= row["p99_ns"] <= row["p999_ns"] <= row["max_ns"] * 1.01, row)
            done = self.wick(command, *each, path)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            for identity in sent:
                self.assertIn(identity, done.stdout.decode())

    def test_blocked_threads_have_the_labels_of_what_they_wait_for(self):
        path = self.path("orders.perf")
        sent, own, said = self.run_orders(3000, WICK, "record", "-e", "wall", "-F", 249, "-o", path, "--")
        self.check_rows(tiers_of(req_rows([path])), sent, own, said, FEW_ERROR)
        samples = read(path)
        self.check_samples(samples, sent)
        blocked = [sample for sample in samples if sample.state == "sleeping" and tier_of(sample) == "db"]
        self.assertGreater(len(blocked), 10, said)
        for sample in samples:
            if sample.state == "sleeping" and "take" in functions(sample):
                self.assertNotIn("identity", sample.labels, sample)

    def test_nginx_in_front_hands_the_trace_on(self):
        need("nginx")
        path = self.path("orders.perf")
        client = self.write("client.py", ONE_TRACE)
        sent, own, said = self.run_orders("-x", 6000, WICK, "record", "-F", 249, "-o", path, "--", client=(PYTHON, client))
        self.check_rows(tiers_of(req_rows([path])), sent, own, said, FEW_ERROR)
        traces = collections.Counter(sample.labels.get("trace") for sample in read(path) if "query" in functions(sample))
        self.assertEqual(set(traces), {TRACE}, said)
        self.assertGreater(traces[TRACE], 10)
        spans = {sample.labels["span"] for sample in read(path) if "query" in functions(sample)}
        self.assertNotIn(SPAN, spans)  # each request has its own
        self.assertGreater(len(spans), 5)

class Cases(Case):
    """tests/targets/requests.c, whose functions say which request they serve."""

    WORKS_FOR = {"burn_first": "first", "burn_second": "second", "burn_nobody": None}

    def run_case(self, what, rounds, hz=499):
        run = self.record(target("requests"), what, rounds, hz=hz)
        self.assertEqual(run.status, 0, run.summary)
        own = collections.defaultdict(lambda: [0, 0])
        for line in run.summary.splitlines():
            words = line.split()
            if len(words) == 4 and words[2].isdigit() and words[3].isdigit():
                own[words[0], words[1]][0] += int(words[2])
                own[words[0], words[1]][1] += int(words[3])
        self.assertTrue(own, run.summary)
        return run, dict(own)

    def check(self, run, own):
        """Counts, times and labels of everything."""
        rows = tiers_of(req_rows(run.paths))
        self.assertEqual({key for key in rows if key[1] != "_total"}, set(own), run.summary)
        for key, (count, sum_ns) in own.items():
            self.assertEqual(rows[key]["count"], count, (key, run.summary))
            # The longest may have been preempted, and so may the program between its clock and wick's.
            self.assertLess(abs(rows[key]["sum_ns"] - sum_ns), MEAN_ERROR * sum_ns + 2 * rows[key]["max_ns"],
                            (key, rows[key], sum_ns))
        for tier in {tier for tier, _ in own}:
            in_requests = [key for key in own if key[0] == tier and key[1] != "-"]
            for number in ("count", "sum_ns"):
                self.assertEqual(rows.get((tier, "_total"), {}).get(number, 0), sum(rows[key][number] for key in in_requests))
        self.check_labels(run.samples)
        return rows

    def check_labels(self, samples):
        seen = collections.Counter()
        for sample in samples:
            for function in functions(sample) & set(self.WORKS_FOR):
                self.assertEqual(sample.labels.get("identity"), self.WORKS_FOR[function], sample)
                self.assertEqual("trace" in sample.labels, self.WORKS_FOR[function] is not None, sample)
                seen[function] += 1
        self.assertGreater(seen["burn_first"] + seen["burn_second"], 10)
        return seen

    def test_two_requests_that_take_turns_in_a_thread_get_what_is_theirs(self):
        run, own = self.run_case("interleaved", 1000)
        self.check(run, own)
        self.assertEqual(own["db", "second"][0], 3000)
        for sample in run.samples:
            if "burn_second" in functions(sample):
                self.assertEqual(sample.labels.get("tier"), "db", sample)

    def test_a_tier_inside_itself_counts_once_and_one_after_the_other_each_time(self):
        run, own = self.run_case("recursion", 2000)
        rows = self.check(run, own)
        self.assertEqual(rows["db", "first"]["count"], 6000)
        self.assertEqual(rows["db", "first"]["self_ns"], rows["db", "first"]["sum_ns"])

    def test_work_after_the_end_of_a_request_is_its_if_it_was_handed_the_context(self):
        run, own = self.run_case("handed", 3000)
        rows = self.check(run, own)
        self.assertEqual(rows["mail", "first"]["count"], 2000)
        self.assertEqual(rows["mail", "-"]["count"], 1000)

    def test_a_thread_created_inside_a_request_belongs_to_it(self):
        run, own = self.run_case("inherited", 1000)
        self.check(run, own)

    def test_a_child_process_belongs_to_the_request_of_its_parent(self):
        run, own = self.run_case("fork", 200)
        rows = self.check(run, own)
        self.assertEqual(rows["mail", "first"]["count"], 8000)
        self.assertEqual(rows["request", "first"]["count"], 200)

    def test_two_processes_have_the_trace_of_the_traceparent(self):
        paths = [self.path("client.perf"), self.path("server.perf")]
        client = self.start(WICK, "record", "-F", "499", "-o", paths[0], "--", target("requests"), "client", 40,
                            stderr=subprocess.DEVNULL)
        done = self.wick("record", "-F", "499", "-o", paths[1], "--", target("requests"), "server", 1, stdin=client.stdout)
        self.assertEqual((done.returncode, client.wait(60)), (0, 0), done.stderr.decode(errors="replace"))
        traces = []
        for path, function in zip(paths, ("burn_first", "burn_second")):
            samples = read(path)
            self.check_labels(samples)
            traces.append({sample.labels["trace"] for sample in samples if function in functions(sample)})
            spans = {(sample.labels["trace"], sample.labels["span"]) for sample in samples if function in functions(sample)}
            self.assertEqual(len(spans), len(traces[-1]))
        self.assertLessEqual(len(traces[0] | traces[1]), 40)
        self.assertGreater(len(traces[0] & traces[1]), 30, traces)
        self.assertEqual(req_rows([paths[1]])["request", "second"]["count"], 40)

    def count_of(self, pid, *options, found=True):
        """How many requests a running recording has counted: none before it has FOUND the program's tables."""
        done = self.wick("requests", "-p", pid, "--json", *options)
        if not found and b"no recorded program counts anything" in done.stderr:
            return 0
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        rows = [json.loads(line) for line in done.stdout.decode().splitlines()]
        return sum(row["count"] for row in rows if (row["tier"], row["identity"]) == ("request", "second"))

    def test_an_attached_program_is_counted_and_can_begin_anew(self):
        line = f"00-{TRACE}-{SPAN}-01\n".encode()
        with self.running(target("requests"), "server", 1, stdin=subprocess.PIPE) as server:
            def serve(n):
                server.stdin.write(line * n)
                server.stdin.flush()
            serve(2)  # what was before counts for nothing
            with self.recording(server.pid, hz=99) as (_, path):
                wait_for(lambda: serve(1) or self.count_of(server.pid, found=False))
                serve(1)
                self.count_of(server.pid, "--reset")
                wait_for(lambda: self.is_idle(server.pid))
                self.count_of(server.pid, "--reset")
                serve(20)
                wait_for(lambda: self.count_of(server.pid) >= 20)
                wait_for(lambda: self.is_idle(server.pid))
                self.assertEqual(self.count_of(server.pid), 20)
            samples = [sample for sample in read(path) if "burn_second" in functions(sample)]
            # A request that the program served when wick attached began before it counted.
            while samples and "identity" not in samples[0].labels:
                samples.pop(0)
            self.assertGreater(len(samples), 5)
            for sample in samples:
                self.assertEqual((sample.labels.get("identity"), sample.labels.get("trace")), ("second", TRACE), sample)

    @staticmethod
    def is_idle(pid):
        """It waits for its input."""
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] == "S"


if __name__ == "__main__":
    unittest.main()
