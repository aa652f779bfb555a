#!/usr/bin/env python3
"""No blocking call of a program ends with EINTR for being sampled, at any rate, by any engine."""
import unittest

from recorded import LONG, WICK, Case, target, use_cpu, wait_for

SECONDS = 60 if LONG else 3
ENGINES = ("auto", "ctimer", "perf")
# auto is one of the other two, by the rate: of it only the default's way is in the short form.
RUNS = ([(engine, hz) for engine in ENGINES for hz in (99, 250, 999, 4999)] if LONG else
        [("auto", 999), ("ctimer", 4999), ("perf", 4999)])


class Eintr(Case):
    """A dozen kinds of calls by threads that use CPU between them, and a ping-pong by epoll."""

    def check(self, text, what, without=()):
        calls = [line.split() for line in text.splitlines() if line.count(" ") == 3]
        self.assertGreaterEqual(len(calls), 12, text)
        rounds = sum(int(call[1]) for call in calls)
        print(f"{what}: {rounds} rounds", flush=True)
        self.assertGreater(rounds, 1000 * SECONDS, text)
        self.assertEqual([call for call in calls if int(call[2]) and call[0] not in without], [])

    def test_of_a_program_that_was_launched(self):
        for engine, hz in RUNS:
            with self.subTest(engine=engine, hz=hz):
                run = self.record(target("eintr_calls"), "-b", SECONDS, hz=hz, options=("--engine", engine))
                self.assertEqual(run.status, 0, run.summary)
                self.assertGreater(len(run.samples), 20 * SECONDS, run.summary)
                self.check(run.stdout.decode(), f"{engine} {hz} Hz")

    def test_of_an_attached_program(self):
        """Its calls do not come by the agent: sigtimedwait looks at what is pending for the process."""
        for engine in ("ctimer", "perf"):
            with self.subTest(engine=engine):
                process = self.start(target("eintr_calls"), "-b", SECONDS)
                use_cpu(process.pid, 0.05)
                path = self.path(f"{engine}.perf")
                wick = self.start(WICK, "record", "--engine", engine, "-F", 4999, "-o", path, "-p", process.pid)
                text = process.stdout.read().decode()
                wait_for(lambda: wick.poll() is not None)
                self.assertEqual(wick.returncode, 0, wick.stderr.read())
                self.check(text, f"attached, {engine}", without=("sigtimedwait",))


if __name__ == "__main__":
    unittest.main()
