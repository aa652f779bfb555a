"""Exact counts (wick.h): when programs count, and that they do not wait for wick."""
import os
import signal
import subprocess
import time
import unittest

from recorded import WICK, Case, child_of, target, text_of

LEASE_S = 10
STALE_S = 2.1  # a wick that has not drained the rings for so long is not waited for long


class Counts(Case):
    def line(self, program):
        """(word, when): the next change that a program tells of."""
        word, when = program.stdout.readline().split()
        return word.decode(), float(when)

    def leased(self):
        return self.start(target("leased"), stdin=subprocess.PIPE)

    def attach(self, program):
        return self.start(WICK, "record", "-o", self.path("attached.perf"), "-p", program.pid)

    def test_a_program_counts_while_wick_records_it(self):
        program = self.leased()
        self.assertEqual(self.line(program)[0], "off")
        wick = self.attach(program)
        self.assertEqual(self.line(program)[0], "on")
        wick.send_signal(signal.SIGINT)
        wick.communicate(timeout=30)
        self.assertEqual(self.line(program)[0], "off")

    def test_counting_ends_by_itself_when_wick_is_killed(self):
        program = self.leased()
        self.assertEqual(self.line(program)[0], "off")
        wick = self.attach(program)
        self.assertEqual(self.line(program)[0], "on")
        time.sleep(2.5)  # the lease has been renewed
        killed = time.clock_gettime(time.CLOCK_MONOTONIC)
        wick.kill()
        word, when = self.line(program)
        self.assertEqual(word, "off")
        print(f"counting ended {when - killed:.1f} s after SIGKILL")
        self.assertLess(when - killed, LEASE_S + 0.5)
        self.assertGreater(when - killed, LEASE_S - 2)

    def test_a_program_counts_from_its_first_instruction_on(self):
        wick = self.start(WICK, "record", "-o", self.path("x.perf"), "--", target("leased"),
                          stdin=subprocess.PIPE)
        self.assertEqual(self.line(wick)[0], "on")
        wick.stdin.close()
        wick.wait(timeout=30)

    def test_an_exit_does_not_wait_for_a_wick_that_stands_still(self):
        wick = self.start(WICK, "record", "-o", self.path("x.perf"), "--", target("leased"),
                          stdin=subprocess.PIPE)
        self.assertEqual(self.line(wick)[0], "on")
        pid = child_of(wick.pid)
        os.kill(wick.pid, signal.SIGSTOP)
        try:
            time.sleep(STALE_S)
            begun = time.monotonic()
            wick.stdin.close()
            while text_of(f"/proc/{pid}/stat").rsplit(") ")[1][0] != "Z":
                self.assertLess(time.monotonic() - begun, 10)
                time.sleep(0.005)
            print(f"exit after {time.monotonic() - begun:.3f} s")
            self.assertLess(time.monotonic() - begun, 1)
        finally:
            os.kill(wick.pid, signal.SIGCONT)
        wick.wait(timeout=30)


if __name__ == "__main__":
    unittest.main()
