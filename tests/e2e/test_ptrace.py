"""Programs that take no agent: sampled from outside, and left as they were."""
import os
import re
import shutil
import signal
import stat
import subprocess
import time
import unittest

from procfs import state, status
from recorded import LONG, PYTHON, Case, target, text_of, use_cpu, wait_for

SPLIT = ("burn_seventy", "burn_twenty", "burn_ten")
TURNS = ("0", "turns")  # of split
SENT = 2000 if LONG else 300
STATIC = target("split_static")


class Ptrace(Case):
    def shares(self, run):
        """What of the weight was found under each function; nothing where it was not found."""
        found = {name: run.weight(lambda s: any(f.symbol == name for f in s.frames)) for name in SPLIT}
        return {name: weight for name, weight in found.items() if weight}

    def assert_found(self, run):
        """How much of each: physics.external."""
        self.assertEqual(run.status, 0, run.summary)
        self.assertEqual(set(self.shares(run)), set(SPLIT))

    def test_a_static_program_is_sampled_and_auto_says_so(self):
        run = self.record(STATIC, 1, *TURNS)
        self.assert_found(run)
        # It has no .eh_frame_hdr; its stacks are whole nevertheless.
        whole = run.weight(lambda s: s.frames[-1].symbol == "_start")
        self.assertGreater(whole, 0.95 * run.weight())
        lines = [line for line in run.summary.splitlines() if "ptrace" in line and "agent" in line]
        self.assertEqual(len(lines), 1, run.summary)
        self.assertIn("cannot load the agent (static)", lines[0])
        self.assertNotIn("not sampled", run.summary)

    def test_a_program_that_could_take_one_has_no_agent(self):
        run = self.record(target("split"), "1", *TURNS, options=("--engine", "ptrace"))
        self.assert_found(run)
        rooted = [s.frames[-1].symbol for s in run.samples if any(f.symbol == "main" for f in s.frames)]
        self.assertGreater(len(rooted), len(run.samples) / 2)
        self.assertEqual(set(rooted), {"_start"})
        run = self.record("/usr/bin/env", options=("--engine", "ptrace"))
        self.assertEqual(run.status, 0, run.summary)
        self.assertNotIn(b"WICK_SOCKET", run.stdout)
        self.assertNotIn(b"libwick", run.stdout)

    def test_attaches_to_a_running_static_program(self):
        for options in ((), ("--engine", "ptrace")):
            with self.subTest(options):
                process = self.start(STATIC, 60)
                path = self.path(f"attached{len(options)}.perf")
                wick = self.wick("record", *options, "-d", "1s", "-o", path, "-p", process.pid)
                self.assertEqual(wick.returncode, 0, wick.stderr.decode())
                self.assertIn("burn_seventy", text_of(path))
                self.assertIsNone(process.poll())
                self.assertEqual(status(process.pid, "TracerPid"), 0)
                self.assertIn(state(process.pid), "RS")
                if not options:
                    self.assertRegex(wick.stderr.decode(), "static.*ptrace")

    def test_wick_top_looks_at_it_too(self):
        process = self.start(STATIC, 60)
        for words in (("-d", "1.5s", "-p", process.pid), ("-d", "60s", "--", STATIC, 1)):
            top = self.wick("top", "--once", *words)
            self.assertEqual(top.returncode, 0, top.stderr)
            self.assertIn(b"burn_seventy", top.stdout)
            self.assertRegex(top.stderr.decode(), "static.*engine ptrace samples it")

    def test_nothing_is_interrupted(self):
        run = self.record(target("eintr_calls_static"), "3", options=("-e", "wall"))
        self.assertEqual(run.status, 0, run.summary)
        calls = [line.split() for line in run.stdout.decode().splitlines()]
        self.assertGreater(len(calls), 5)
        self.assertEqual([call for call in calls if int(call[2])], [])
        self.assertIn("sleeping", {s.state for s in run.samples})

    def test_calls_that_busy_threads_go_into_are_not_interrupted(self):
        """More threads than processors: some are asked to stop in a call that is about to return."""
        run = self.record(target("eintr_calls_static"), "-b", 20 if LONG else 10, options=("--max-overhead", "off"))
        self.assertEqual(run.status, 0, run.summary)
        calls = [line.split() for line in run.stdout.decode().splitlines() if line.count(" ") == 3]
        self.assertGreater(len(calls), 5, run.stdout)
        stops = int(re.search(r"([\d,]+) stops", run.summary).group(1).replace(",", ""))
        print(f"{sum(int(call[1]) for call in calls)} calls, {stops} stops")
        self.assertGreater(stops, 500, run.summary)
        self.assertEqual([call for call in calls if int(call[2])], [])

    def test_signals_arrive_each_once(self):
        for options in ((), ("-F", "999")):
            process = self.start(target("counts_signals_static"))
            process.stdout.readline()
            wick = self.record_into(self.path("signals.perf"), *options, "-p", process.pid)
            for _ in range(SENT):
                os.kill(process.pid, signal.SIGRTMIN)
                time.sleep(0.002)
            process.send_signal(signal.SIGTERM)
            stdout = process.stdout.read()
            process.wait()
            self.assertEqual(stdout.split(), [str(SENT).encode(), b"0"])
            wick.communicate()
            os.unlink(self.path("signals.perf"))

    def test_a_stopped_program_stays_stopped_and_goes_on(self):
        process = self.start(STATIC, 2.5)
        path = self.path("stopped.perf")
        wick = self.record_into(path, "-p", process.pid)
        for _ in range(3):
            process.send_signal(signal.SIGSTOP)
            wait_for(lambda: state(process.pid) == "T")
            for _ in range(20):
                self.assertEqual(state(process.pid), "T")
                time.sleep(0.005)
            process.send_signal(signal.SIGCONT)
            wait_for(lambda: state(process.pid) != "T")
        stdout, _ = process.communicate(timeout=120)
        self.assertEqual(len(stdout.split()), 3)
        wick.communicate(timeout=60)
        self.assertEqual(wick.returncode, 0)

    def test_wick_killed_leaves_it_running(self):
        for _ in range(10 if LONG else 3):
            process = self.start(STATIC, 0.8)
            wick = self.record_into(self.path("killed.perf"), "-F", "999", "-p", process.pid)
            use_cpu(process.pid, 0.2)
            wick.kill()
            wick.wait()
            self.assertEqual(status(process.pid, "TracerPid"), 0)
            self.assertIn(state(process.pid), "RS")
            stdout, _ = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0)
            self.assertEqual(len(stdout.split()), 3)
            os.unlink(self.path("killed.perf"))

    def test_a_program_that_takes_its_time_to_end(self):
        """It is asked to stop while its memory is given back, and ends instead."""
        for megabytes in (10, 40, 80, 160):
            end = f"import os; b = b'x' * ({megabytes} << 20); os._exit(3)"
            run = self.record(PYTHON, "-c", end, options=("--engine", "ptrace"), timeout=60)
            self.assertEqual(run.status, 3, run.summary)
            self.assertIn("it ended with status 3", run.summary)

    def test_children_of_a_static_program(self):
        run = self.record(target("children_static"), "all", "0.25", options=("--max-overhead", "off"))
        self.assertEqual(run.status, 0, run.summary)
        functions = {frame.symbol for s in run.samples for frame in s.frames}
        for way in ("fork", "vfork", "spawn", "spawnp", "exec", "system", "popen"):
            self.assertIn(f"burn_{way}", functions)

    def test_a_static_child_of_a_program_with_an_agent(self):
        run = self.record("/bin/sh", "-c", f"{STATIC} 1; :")
        self.assertEqual(run.status, 0, run.summary)
        self.assertGreater(run.weight(lambda s: s.frames[0].symbol == "burn_seventy"), 40)
        self.assertNotIn("not sampled", run.summary)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_set_user_id_program(self):
        program = self.path("privileged")
        shutil.copy(target("split"), program)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o755 | stat.S_ISUID)
        os.chmod(self.dir, 0o755)
        run = self.record(program, "1", *TURNS)
        self.assertEqual(run.status, 0, run.summary)
        self.assertRegex(run.summary, r"cannot load the agent \(setuid\)")
        self.assert_found(run)

    def test_a_32_bit_program(self):
        source = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "targets", "split.c")
        program = self.path("narrow")
        built = subprocess.run(["gcc", "-m32", "-O2", "-D_GNU_SOURCE", "-o", program, source],
                               capture_output=True, check=False)
        if built.returncode:
            self.skipTest("no 32-bit programs can be built here")
        run = self.record(program, "1")
        self.assertEqual(run.status, 0, run.summary)
        self.assertRegex(run.summary, r"cannot load the agent \(32-bit\)")
        self.assertNotIn("; try:", run.summary)  # nothing would give it names
        self.assertEqual(len(run.stdout.split()), 3)
        # Where it was is known, but not its caller: its unwind tables are another machine's.
        self.assertGreater(run.weight(), 0)
        self.assertEqual({len(s.frames) for s in run.samples}, {1})

    def test_what_only_an_agent_sees_is_refused(self):
        for event in ("alloc", "lock"):
            run = self.record("true", options=("--engine", "ptrace", "-e", event))
            self.assertEqual(run.status, 2, run.summary)
            self.assertRegex(run.summary, "ptrace")

    @unittest.skipIf(os.geteuid() == 0, "root may look at all")
    def test_reports_what_may_not_be_read(self):
        wick = self.wick("record", "--engine", "ptrace", "-d", "1s", "-o", self.path("x.perf"), "-p", "1")
        self.assertEqual(wick.returncode, 4, wick.stderr.decode())
        self.assertRegex(wick.stderr.decode(), "try: as its user or root")


if __name__ == "__main__":
    unittest.main()
