#!/usr/bin/env python3
"""What sends the signals: timers or perf events; any of the kernel's events; its part of stacks."""
import os
import signal
import subprocess
import sys
import unittest

from judged import Judged, chance_of
from procfs import PARANOID, cpu_ns, perf_is_allowed
from recorded import LONG, WICK, Case, coverage, end_of, need, notes, read, target, text_of

NO_BUDGET = ("--max-overhead", "off")  # that is another suite's
UNDISTURBED = 0.995  # of an event's signals came


def sees_kernel():
    """Whether this user's events may also count while the kernel works."""
    return perf_is_allowed(1)


class PerfCase(Judged):
    """Tests for users who may have perf events."""

    def setUp(self):
        super().setUp()
        if not os.path.exists(PARANOID):
            self.skipTest("this kernel has no perf events")
        if not perf_is_allowed(2):
            self.skipTest("perf events are not for this user")


class Engine(PerfCase):
    """Physics: the CPU that samples stand for is the CPU that was used, at any rate."""

    def engine(self, engine, *command, hz, options=()):
        return self.record(*command, hz=hz, options=(
            "--engine", engine, *NO_BUDGET, *options))

    def cpu_engine(self, engine, *command, hz):
        return self.cpu_run(*command, hz=hz, options=("--engine", engine, *NO_BUDGET))

    def witnessed_run(self, *command, hz):
        """A run beside an event that does nothing, and got all of its signals.

        Where the machine was another's for longer than a period, ticks are merged, whichever requested
        them: what holds of counts is asked of a run whose witness lost none."""
        def run():
            with self.running(target("event_rate"), hz, 60) as witness:
                run = self.engine("perf", *command, hz=hz)
                witness.send_signal(signal.SIGTERM)
                return run, float(witness.communicate()[0] or 0)

        def disturbed(result):
            _, delivered = result
            least = UNDISTURBED - 1 / hz
            return [f"{delivered:.3f} of a witness's signals came, < {least:.3f}"] * (delivered < least)

        return self.conclusive(run, disturbed)[0][0]

    def test_delivers_any_rate(self):
        for hz in (99, 250, 999, 4999, 10000) if LONG else (99, 4999):
            with self.subTest(hz=hz):
                run = self.witnessed_run(target("split"), 1, hz=hz)
                self.assertEqual(run.status, 0, run.summary)
                # 1 more at each end, and what precedes the agent; a hundredth is in the kernel, by its ticks.
                chance = chance_of([s.weight for s in run.samples], 0.01) / hz
                for found, what in ((len(run.samples), "count"), (run.weight(), "weight")):
                    self.assert_near(found / hz, 1, exact=0.02 + 2 / hz, chance=chance, what=f"perf {hz} Hz, by {what}")
                if hz > 999:  # what did not come by itself is told
                    self.assertEqual(run.end["merged"], run.weight() - len(run.samples))
                    self.assert_share(run, lambda s: s.frames[0].symbol == "burn_seventy", 70, 5)

    def test_timers_weigh_what_the_tick_leaves_out(self):
        run = self.cpu_engine("ctimer", target("split"), 1, hz=4999)
        self.assert_near(run.weight() / 4999, 1, exact=0.02)
        self.assertLess(len(run.samples), 2000)
        self.assertIn("tick; each stands for more time", run.summary)

    def test_is_exact_in_step_with_the_tick(self):
        for phase in range(0, 4000, 500) if LONG else (1000, 2500):
            run = self.cpu_engine("perf", target("tick_aligned"), phase, 4, hz=99)
            true = float(run.stdout)
            # A twentieth of it is in the kernel, and as much of that is found as ticks meet it.
            chance = chance_of([s.weight for s in run.samples], 0.05) / 99 / true
            self.assert_near(run.weight() / 99 / true, 1, exact=0.03, chance=chance, what=f"tick aligned, phase {phase} us")

    def test_finds_a_program_in_step_with_the_tick_and_gives_it_events(self):
        """Without any option: what was found before is made up for by one sample, the rest are even.

        Where context switches with events take more than 1 % of its CPU, wick gives the events up and says so. Others
        may put the program out of step: then the tick meets it, each period has its sample, and there is nothing to find."""
        noticed = "and got perf events when wick noticed it"

        def why_not(run):
            met = noticed not in run.summary and len(run.samples) > 0.9 * 99 * float(run.stdout)
            return ["switches are dear"] * ("timers replaced perf events" in run.summary) + ["out of step with the tick"] * met

        run, _ = self.conclusive(lambda: self.record(target("tick_aligned"), 2500, 6, hz=99), why_not, preempted=0.03, stolen=0.05)
        self.assertIn(noticed, run.summary)
        true = float(run.stdout)
        self.assert_near(run.weight() / 99 / true, 1, exact=0.1, what="tick aligned, any phase")
        self.assertGreater(len(run.samples), 0.5 * 99 * true, run.summary)

    def test_shares_user_code_calls_and_faults_rightly(self):
        """Events see user mode; what the kernel does for a call or a fault comes at the tick."""
        for hz, exact in ((999, 0.02), (4999, 0.04)):  # signals take a sixth of user code's time at 4,999 Hz
            with self.subTest(hz=hz):
                run = self.cpu_engine("perf", target("user_kernel"), 6, hz=hz)
                used = [float(word) for word in run.stdout.split()]
                self.assert_near(run.weight() / hz, sum(used), exact=0.03 * sum(used), what=f"{hz} Hz")
                for name, seconds in zip(("in_user", "in_call", "in_faults"), used):
                    part = seconds / sum(used)
                    found = run.weight(lambda s, name=name: any(f.symbol == name for f in s.frames))
                    chance = chance_of([s.weight for s in run.samples], part) / run.weight()
                    self.assert_near(found / run.weight(), part, exact=exact, chance=chance, what=f"{hz} Hz, {name}")

    def test_counts_short_threads_too(self):
        run = self.cpu_engine("perf", target("short_threads"), 5, 0.5, hz=999)
        self.assert_near(run.coverage, 1, exact=0.06)

    def test_timers_go_on_alone_under_a_seccomp_filter(self):
        run = self.cpu_engine("perf", target("hooks_seccomp"), "quiet", 700000000, hz=99)
        self.assertGreater(len(run.samples), 30, run.summary)
        self.assert_near(run.coverage, 1, exact=0.1)

    def test_execs_at_a_high_rate_live(self):
        n = 1000 if LONG else 60
        run = self.engine("perf", target("kernel_events"), "execs", n, 3000, hz=4999)
        self.assertEqual(run.status, 0, run.summary)
        self.assertEqual(run.stdout, b"all execs done\n")
        self.assertGreater(len({sample.tid for sample in run.samples}), 0)
        self.assertGreater(run.weight(), n * 0.003 * 4999 * 0.6, run.summary)

    def test_execs_live_while_those_of_other_threads_fail(self):
        """Who fails goes on and wants events again, while another is about to be replaced."""
        storms = f"for i in 1 2 3; do {target('storm')} raced 60 & done; wait"
        run = self.engine("perf", "sh", "-c", storms, hz=4999)
        self.assertEqual((run.status, run.stdout), (0, b"60\n" * 3), run.summary)

    def attach_once(self):
        """A second of a busy program, by perf: its CPU, what wick said of how much of it, and the samples."""
        text = self.path("attached.perf")
        if os.path.exists(text):
            os.unlink(text)
        with self.running(target("busy"), 60) as busy:
            before = cpu_ns(busy.pid)
            done = self.wick("record", "-p", busy.pid, "--engine", "perf", "-F", 2000, *NO_BUDGET,
                             "-d", "1s", "-o", text)
            used_s = (cpu_ns(busy.pid) - before) / 1e9
            alive = busy.poll() is None
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 0, said)
        self.assertTrue(alive, said)
        return used_s, coverage(said), end_of(text)["cpu_ns"] / 1e9, read(text)

    def test_attaches_to_a_running_process(self):
        """What it used before its first tick is not seen: much of little, where it is starved.  Nor is what
        it used while wick, on its way to open its events, waited for a processor."""
        (_, covered, charged, samples), reading = self.conclusive(
            self.attach_once, lambda result: [f"a busy program had {result[0]:.2f} s of a second"] * (result[0] < 0.2))
        weight = sum(sample.weight for sample in samples)
        self.assert_near(covered * charged, charged, exact=0.02 + 0.02 * charged, read=reading.wick.worst_s)
        self.assertGreater(len(samples), 0.7 * weight)

    def test_auto_takes_perf_above_the_tick_and_says_so(self):
        low = self.engine("auto", target("busy"), 0.1, hz=99)
        self.assertNotIn("engine perf", low.summary)
        high = self.engine("auto", target("busy"), 0.3, hz=2000)
        self.assertIn("engine perf: 2000 Hz is more than the kernel's", high.summary)
        self.assertGreater(len(high.samples), 0.3 * 2000 * 0.7, high.summary)


class Refused(Judged):
    """Where perf events may not be had."""

    def test_timers_do_it_and_one_line_says_why(self):
        text = self.path("refused.perf")
        done = subprocess.run(
            [target("without_perf"), WICK, "record", *NO_BUDGET, "-F", "4999", "-o", text, "--",
             target("busy"), "0.5"], capture_output=True, check=False, timeout=100)
        said = done.stderr.decode()
        self.assertEqual(done.returncode, 0, said)
        self.assertEqual(said.count("engine ctimer:"), 1, said)
        self.assertRegex(said, "CAP_PERFMON|perf_event_paranoid")
        self.assert_near(coverage(said), 1, exact=0.05)

    def test_an_event_without_perf_is_an_error(self):
        done = subprocess.run(
            [target("without_perf"), WICK, "record", "-e", "page-faults", "-o",
             self.path("x.perf"), "--", "true"], capture_output=True, check=False, timeout=100)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("-e page-faults:", done.stderr.decode())
        self.assertFalse(os.path.exists(self.path("x.perf")))

    def test_names_and_combinations_that_cannot_be(self):
        for options, words in (
                (("-e", "page-flaws"), "'page-flaws' is not one of"),
                (("-e", "page-faults,cpu"), "they count different things"),
                (("-e", "page-faults,minor-faults"), "only one perf event"),
                (("-e", "page-faults=0"), "not a number of events"),
                (("-e", "cpu/../../x/"), "is not one of"),
                (("--engine", "magic"), "'magic' is not one of"),
                (("--engine", "ctimer", "--kernel"), "--kernel")):
            done = self.wick("record", "-o", self.path("x.perf"), *options, "--", "true")
            self.assertNotEqual(done.returncode, 0, options)
            self.assertIn(words, done.stderr.decode(), options)


class Events(PerfCase):
    """-e NAME: samples stand for as many events as the kernel has counted."""

    def event(self, name, *command, options=()):
        return self.record(target("kernel_events"), *command,
                           options=("-e", name, *NO_BUDGET, *options))

    def test_page_faults_are_counted_where_they_happen(self):
        run = self.event("page-faults=50", "faults", 4000)
        counted = int(run.stdout.split()[0])
        self.assertEqual({sample.event for sample in run.samples}, {"page-faults"})
        self.assertIn('"event":"page-faults"', text_of(run.paths[0]))
        # What precedes the agent is the loader's.
        self.assertLess(abs(run.weight() - 40000), 1200, f"of {counted}")
        self.assertLess(abs(run.share("touch_seventy") - 70), 2, run.summary)
        self.assertLess(abs(run.share("touch_thirty") - 30), 2, run.summary)

    def test_page_faults_of_wick_are_not_the_programs(self):
        """A program with 100 of them: what the agent touches is there before, or is left out."""
        run = self.event("page-faults=1", "faults", 10)
        touched = run.weight(lambda s: s.frames[0].symbol.startswith("touch_"))
        own = [s for s in run.samples if "libwick-" in s.frames[0].module]
        left_out = notes(run.paths[0], "wick-end")[0]["own"]
        print(f"page faults: {touched} of 100, weight {run.weight()}, left out {left_out}")
        self.assertLessEqual(abs(touched - 100), 1, run.summary)
        self.assertEqual(own, [])
        # The loader's and libc's, at the beginning and the end.
        self.assertLess(run.weight() - touched, 30, run.summary)

    def test_threads_of_a_joined_process_are_counted(self):
        """They are not announced: they are found by the CPU that they use."""
        script = ("import mmap, threading, time\ndef touch():\n while True: mmap.mmap(-1, 1 << 20).write(bytes(1 << 20))\n"
                  "for _ in range(2): threading.Thread(target=touch, daemon=True).start()\ntime.sleep(60)")
        text = self.path("attached.perf")
        with self.running(sys.executable, "-c", script) as program:
            done = self.wick("record", "-p", program.pid, "-e", "page-faults=100", *NO_BUDGET, "-d", "2s", "-o", text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len({sample.tid for sample in read(text)} - {program.pid}), 2, done.stderr)

    def test_minor_faults_at_the_rate_that_was_asked_for(self):
        run = self.event("minor-faults", "faults", 20000)
        self.assertEqual({sample.event for sample in run.samples}, {"minor-faults"})
        self.assertLess(abs(run.weight() - 200000), 20000, run.summary)

    def test_context_switches(self):
        if not sees_kernel():
            done = self.wick("record", "-e", "context-switches", "-o", self.path("x"), "--", "true")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("-e context-switches: kernel.perf_event_paranoid", done.stderr.decode())
            return
        run = self.event("context-switches=20", "switches", 3000)
        counted = int(run.stdout.split()[1])
        print(f"switches: weight {run.weight()} of {counted}")
        self.assertGreaterEqual(counted, 3000)
        self.assertLess(abs(run.weight() / counted - 1), 0.05, run.summary)

    def test_an_event_that_the_machine_lacks_is_named(self):
        done = self.wick("record", "-e", "cycles", "-o", self.path("x.perf"), "--", "true")
        if done.returncode != 0:
            self.assertIn("-e cycles: this machine does not count 'cycles'", done.stderr.decode())


class Kernel(Case):
    """--kernel: the kernel's frames before the program's own."""

    def test_names_what_the_kernel_did(self):
        need("dd")
        if not sees_kernel():
            self.skipTest("the kernel's frames are not for this user")
        run = self.record("dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=4000",
                          options=("--kernel", *NO_BUDGET), hz=999)
        inside = [sample for sample in run.samples
                  if sample.frames[0].module == "[kernel.kallsyms]"]
        self.assertGreater(len(inside), len(run.samples) / 2, run.summary)
        for sample in inside:
            modules = [frame.module for frame in sample.frames]
            n = modules.count("[kernel.kallsyms]")
            self.assertTrue(all(module.startswith("[") for module in modules[:n]), modules)
            self.assertNotIn("[kernel.kallsyms]", modules[n:])
        names = {frame.symbol for sample in inside for frame in sample.frames}
        self.assertTrue(any("read" in name for name in names), names)

    def test_says_why_there_are_none(self):
        if sees_kernel() or not os.path.exists(PARANOID):
            self.skipTest("this user may see the kernel")
        run = self.record(target("busy"), 0.2, options=("--kernel",), hz=99)
        self.assertEqual(run.status, 0, run.summary)
        self.assertRegex(run.summary, "perf_event_paranoid|CAP_PERFMON")


if __name__ == "__main__":
    unittest.main()
