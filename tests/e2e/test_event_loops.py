"""Servers on libuv and libevent: every callback, request and tier is counted (docs/examples)."""
import contextlib
import os
import signal
import socket
import threading
import unittest

from recorded import TARGETS, WICK, Case, child_of, read, req_rows, wait_for

EXAMPLES = os.path.abspath(os.path.join(TARGETS, "../../docs/examples"))
CLIENTS, LINES = 4, 250


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def connected(port):
    with contextlib.suppress(OSError):
        return socket.create_connection(("127.0.0.1", port))
    return None


def ask(port, answers):
    with wait_for(lambda: connected(port)) as server, server.makefile("rb") as lines:
        for i in range(LINES):
            server.sendall(b"put a\n" if i % 5 == 0 else b"get the value of a key\n")
            answers.append(lines.readline())


class EventLoops(Case):
    def serve(self, name):
        """What a server counted, its samples, and what wick said."""
        program = os.path.join(EXAMPLES, name)
        if not os.path.exists(program):
            self.skipTest(f"{name} is not built: its library is not installed")
        port, path, answers = free_port(), self.path("server.perf"), []
        wick = self.start(WICK, "record", "-F", 249, "-o", path, "--", program, port)
        clients = [threading.Thread(target=ask, args=(port, answers)) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        os.kill(child_of(wick.pid), signal.SIGTERM)
        _, said = wick.communicate(timeout=60)
        said = said.decode(errors="replace")
        self.assertEqual(len(answers), CLIENTS * LINES, said)
        self.assertEqual({len(answer) for answer in answers}, {9})  # 8 digits and the end of the line
        rows = req_rows([path])
        tasks = {key[1]: row for key, row in rows.items() if key[0] == "task"}
        return rows, tasks, read(path), said

    def check_requests(self, rows, tiers, said):
        n = CLIENTS * LINES
        self.assertEqual([rows["request", identity]["count"] for identity in ("put", "get", "_total")], [n // 5, n - n // 5, n], said)
        for tier in tiers:
            self.assertEqual(rows[tier, "_total"]["count"], n, (tier, said))

    def test_a_server_on_libuv(self):
        rows, tasks, samples, said = self.serve("uv_server")
        self.check_requests(rows, ("lookup", "compute"), said)
        n = CLIENTS * LINES
        self.assertEqual((tasks["compute"]["calls"], tasks["on_written"]["calls"]), (n, n), said)
        self.assertEqual(tasks["on_read"]["calls"], CLIENTS)  # from the start of reading to the close
        self.assertGreater(tasks["compute"]["exec_ns"], rows["compute", "_total"]["sum_ns"])
        self.check_samples(samples, "compute@uv_server.c:")

    def test_a_server_on_libevent(self):
        rows, tasks, samples, said = self.serve("event_server")
        self.check_requests(rows, ("compute", "answer"), said)
        self.assertEqual(tasks["on_read"]["calls"], CLIENTS, said)
        self.assertGreater(tasks["on_read"]["exec_ns"], rows["compute", "_total"]["sum_ns"])
        self.check_samples(samples, "on_read@event_server.c:")

    def check_samples(self, samples, task):
        """compute() runs in one tier of one task, for a request."""
        inside = [sample for sample in samples if any(frame.symbol == "compute" for frame in sample.frames)]
        self.assertGreater(len(inside), 10)
        for sample in inside:
            self.assertTrue(sample.labels.get("task", "").startswith(task), sample)
            if sample.labels.get("tier") == "compute":
                self.assertIn(sample.labels.get("identity"), ("put", "get"), sample)
        self.assertGreater(sum(sample.labels.get("tier") == "compute" for sample in inside), len(inside) * 0.8)


if __name__ == "__main__":
    unittest.main()
