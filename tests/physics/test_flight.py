"""flight - the last samples are in a file when a target crashes, and on request."""
import glob
import gzip
import json
import os
import re
import signal
import subprocess
import time
import unittest

from judged import Judged, recorded
from procfs import schedstats
from recorded import child_of, end_of, notes, target, text_of, wait_for

PERIOD_NS = 10**9 // 99
SECOND = 10**9
NEAR_NS = 50 * 10**6  # the last sample is this near the end
# Between two readings of the counters: the main thread's, and the longest turn of the drain thread.
LOOKS_NS = (250 + 400 + 50) * 10**6


def kept_from_running_ns(pid):
    """How long its threads waited for a processor, added up."""
    return sum(waited for _, waited, _ in schedstats(pid).values())


def stolen_ns():
    """What a hypervisor has taken of all processors."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) * 10**9 // os.sysconf("SC_CLK_TCK")


def words(path):
    """When the target last ran, the CPU time it had used by then, and how often it had been preempted."""
    with open(path, encoding="ascii") as file:
        return tuple(map(int, file.read(62).split(" ")))


class Flight(Judged):
    def record_flight(self, *command, options=("--flight", "60s"), hz=99):
        """`wick record` of a command, running."""
        self.process = self.start(recorded.WICK, "record", "-F", hz, "--max-overhead", "off", "-o",
                                  self.path("x.perf"), *options, "--", *command)

    def finish(self):
        out, err = self.process.communicate(timeout=120)
        self.summary = err.decode(errors="replace")
        return self.process.returncode, out

    def child(self):
        """The process that wick started."""
        return child_of(self.process.pid)

    def files(self):
        return sorted(glob.glob(self.path("x.*.perf")))

    def wait_for_work(self, log, seconds):
        """Until the target has worked for a while, by its own CPU clock."""
        wait_for(lambda: os.path.exists(log) and text_of(log)[:62].replace(" ", "").isdigit() and
                 words(log)[1] > seconds * 10**9, 60)

    def most_unseen_ns(self, log, last, period_ns):
        """What of the target's CPU no sample can stand for: a period is over, and the kernel looks at
        its next tick.  A thread that is preempted before that leaves less than a tick, each time."""
        preempted = words(log)[2] - last.metrics["ivcsw"][0]
        return period_ns + (1 + preempted) * self.tick_ns()

    def check_end(self, how, status):
        """One end of a busy target: how far the last sample is from it, by the clock and by the target's
        CPU, and how often it was preempted in between."""
        log = self.path("log")
        command = [target("last_words"), log, 0.7, "wait" if how == "kill -9" else how]
        self.record_flight(*command)
        if how == "kill -9":
            self.wait_for_work(log, 0.7)
            os.kill(self.child(), signal.SIGKILL)
        self.assertEqual(self.finish()[0], status)
        self.assertEqual(len(self.files()), 1, self.summary)
        path = self.files()[0]
        self.assertIn(f"are in '{path}'", self.summary)
        samples = recorded.read(path)
        end_ns, cpu_ns, preempted = words(log)
        last = samples[-1]
        # By the target's own CPU clock nothing is missing, whatever the machine did.
        unseen_ns = self.most_unseen_ns(log, last, PERIOD_NS)
        self.assertLess(cpu_ns - last.metrics["cpu_ns"][0], unseen_ns)
        self.assertGreater(samples[0].time_ns, 0)
        self.assertTrue(any(f.symbol == "work_to_the_end" for s in samples for f in s.frames))
        seen = end_of(path)
        self.assertEqual(seen["samples"], len(samples))
        self.assertLess(abs(seen["weight"] * PERIOD_NS - seen["cpu_ns"]), 2 * PERIOD_NS + unseen_ns)
        os.unlink(path)
        os.unlink(log)
        return end_ns - last.time_ns, preempted - last.metrics["ivcsw"][0]

    def ends(self, how, status):
        """Each of some ends leaves a file that holds the last moment."""
        for _ in range(20 if recorded.LONG else 2):
            (gap_ns, preempted), reading = self.conclusive(
                lambda: self.check_end(how, status),
                lambda result: [f"preempted {result[1]} times before its end"] * (result[1] > 3), stolen=0.1)
            self.assert_near(gap_ns / 1e9, 0, exact=NEAR_NS / 1e9, read=preempted * reading.program.worst_s,
                             what=f"{how}: the last sample before the end")

    def test_kill_9_leaves_the_last_moment(self):
        self.ends("kill -9", 137)

    def test_abort_leaves_the_last_moment(self):
        self.ends(str(int(signal.SIGABRT)), 134)

    def test_other_ends(self):
        """A fault does; an exit and a request to end do not, and that is said."""
        log = self.path("log")
        for how, status, n in ((int(signal.SIGSEGV), 139, 1), ("exit", 0, 0),
                               (int(signal.SIGTERM), 143, 0)):
            self.record_flight(target("last_words"), log, 0.3, how)
            self.assertEqual(self.finish()[0], status)
            self.assertEqual(len(self.files()), n, self.summary)
            self.assertEqual("no samples were written" in self.summary, n == 0, self.summary)
            for path in self.files():
                self.assertEqual(notes(path, "trigger")[-1]["why"].split(" ")[0], "SIGSEGV")
                os.unlink(path)

    def test_sigusr2_writes_the_window_and_again(self):
        """Two files, numbered, each of its own window, each whole."""
        log = self.path("log")
        stolen = stolen_ns()
        self.record_flight(target("last_words"), log, 0, "wait", options=("--flight", "1s"))
        self.wait_for_work(log, 2)
        asked = []
        for n in (1, 2):
            asked.append(time.monotonic_ns())
            self.process.send_signal(signal.SIGUSR2)
            path = self.path(f"x.{n:04}.perf")
            wait_for(lambda: os.path.exists(path) and "# wick-end" in text_of(path))
        waited_ns = kept_from_running_ns(self.process.pid) + stolen_ns() - stolen
        os.kill(self.child(), signal.SIGTERM)
        self.finish()
        self.assertEqual([os.path.basename(path) for path in self.files()],
                         ["x.0001.perf", "x.0002.perf"])
        for path, at in zip(self.files(), asked):
            samples = recorded.read(path)
            why = notes(path, "trigger")[-1]
            self.assertEqual(why["why"], "SIGUSR2")
            self.assertLess(samples[-1].time_ns, why["time_ns"] + 1)
            # A second, and the time to the last reading of the counters before it, of both threads.
            self.assertGreater(samples[0].time_ns, why["time_ns"] - SECOND - LOOKS_NS - waited_ns)
            self.assertLess(abs(why["time_ns"] - at), 10**10)
            seen = end_of(path)
            self.assertLess(abs(seen["weight"] * PERIOD_NS - seen["cpu_ns"]),
                            seen["cpu_ns"] * 0.05 + 2 * PERIOD_NS)
            info = self.wick("info", path)
            self.assertEqual(info.returncode, 0)
            self.assertRegex(info.stdout.decode(), r"\n  trigger    at \d\.\d\d s: SIGUSR2\n")
            info = json.loads(self.wick("info", "--json", path).stdout)
            self.assertEqual(info["triggers"][-1], why)

    def test_memory_is_bounded(self):
        """What does not fit goes, the oldest first, and that is said."""
        log = self.path("log")
        self.record_flight(target("last_words"), log, 2, int(signal.SIGABRT),
                   options=("--flight", "60s:64K"), hz=250)
        self.assertEqual(self.finish()[0], 134, self.summary)
        self.assertIn("was too small for the whole time", self.summary)
        (path,) = self.files()
        samples = recorded.read(path)
        self.assertGreater(len(samples), 50)
        self.assertLess(len(samples), 400)
        self.assertLess(words(log)[1] - samples[-1].metrics["cpu_ns"][0],
                        self.most_unseen_ns(log, samples[-1], 10**9 // 250))

    def test_a_child_that_crashes(self):
        """A process of the tree does it too, though wick is not its parent."""
        log = self.path("log")
        self.record_flight("sh", "-c", f"{target('last_words')} {log} 0.4 6; exec {target('busy')} 0.3")
        self.assertEqual(self.finish()[0], 0)
        self.assertEqual(len(self.files()), 1, self.summary)
        (why,) = notes(self.files()[0], "trigger")
        self.assertRegex(why["why"], r"^SIGABRT ended \d+$")
        samples = recorded.read(self.files()[0])
        self.assertTrue(any(f.symbol == "work_to_the_end" for s in samples for f in s.frames))

    def test_an_attached_process(self):
        """wick flush has it written by the program's pid; its end is seen, though it is no child."""
        log = self.path("log")
        program = subprocess.Popen([target("last_words"), log, "0", "wait"])
        self.addCleanup(program.kill)
        self.process = self.start(recorded.WICK, "record", "-o", self.path("x.perf"), "--flight", "60s",
                                  "-p", program.pid)
        wait_for(lambda: self.wick("flush", "-p", program.pid).returncode == 0)
        self.wait_for_work(log, words(log)[1] / 1e9 + 0.3)
        answer = self.wick("flush", "-p", program.pid)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        path = self.files()[-1]
        self.assertIn(path, (answer.stdout + answer.stderr).decode())
        self.assertEqual(notes(path, "trigger")[-1]["why"], "wick flush")
        flushed = recorded.read(path)
        self.assertLess(words(log)[1] - flushed[-1].metrics["cpu_ns"][0], 10**9)
        # Another rate: what was counted in the periods of the old one is in no later file.
        self.assertEqual(self.wick("rate", 250, "-p", program.pid).returncode, 0)
        self.wait_for_work(log, words(log)[1] / 1e9 + 0.5)
        self.assertEqual(self.wick("flush", "-p", program.pid).returncode, 0)
        seen = end_of(self.files()[-1])
        self.assertIn('"hz":250,', text_of(self.files()[-1]))
        self.assertLess(abs(seen["weight"] * 10**9 / 250 - seen["cpu_ns"]),
                        seen["cpu_ns"] * 0.05 + 2 * PERIOD_NS)
        n = len(self.files())
        program.kill()
        program.wait()
        self.finish()
        self.assertEqual(len(self.files()), n + 1, self.summary)
        path = self.files()[-1]
        self.assertEqual(notes(path, "trigger")[-1]["why"], f"SIGKILL ended {program.pid}")
        last = recorded.read(path)[-8:]  # one of them may be in the clock
        self.assertLess(words(log)[1] - last[-1].metrics["cpu_ns"][0],
                        self.most_unseen_ns(log, last[-1], 10**9 // 250))
        self.assertTrue(any(f.symbol == "work_to_the_end" for s in last for f in s.frames), last)

    def test_names_of_files(self):
        """Patterns work, and a name that is taken is passed over."""
        with open(self.path("d-0001"), "w", encoding="ascii"):
            pass
        self.record_flight(target("last_words"), self.path("log"), 0.3, 6,
                                  options=("--flight", "5s", "-o", self.path("d-%n")))
        self.finish()
        self.assertTrue(os.path.exists(self.path("d-0002")), self.summary)
        self.assertEqual(os.path.getsize(self.path("d-0001")), 0)

    def test_files_are_compressed_handed_on_and_only_the_newest_kept(self):
        """As rotated files are; the reply has the name that stays."""
        log, seen = self.path("log"), self.path("seen")
        self.record_flight(target("last_words"), log, 0, "wait",
                   options=("--flight", "5s", "--compress", "gz", "--keep", "1", "--on-rotate",
                            f'echo "$1" >>{seen}'))
        self.wait_for_work(log, 0.3)
        asked = self.wick("flush", "-p", self.child())
        first = asked.stdout.decode().strip()
        self.assertEqual(first, self.path("x.0001.perf.gz"), asked.stderr)
        with gzip.open(first, "rt") as file:
            self.assertIn("# wick-end", file.read())
        self.process.send_signal(signal.SIGUSR2)
        second = self.path("x.0002.perf.gz")
        wait_for(lambda: os.path.exists(seen) and text_of(seen).split() == [first, second])
        wait_for(lambda: glob.glob(self.path("x.*")) == [second])
        os.kill(self.child(), signal.SIGTERM)
        self.finish()
        for path in (first, second):
            self.assertIn(f"are in '{path}'", self.summary)

    def test_a_split_is_refused_with_what_to_do(self):
        log = self.path("log")
        self.record_flight(target("last_words"), log, 0, "wait")
        self.wait_for_work(log, 0.1)
        done = self.wick("split", "-p", self.child())
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn("wick flush writes one", done.stderr.decode())
        os.kill(self.child(), signal.SIGTERM)
        self.finish()

    def test_what_makes_no_sense(self):
        for options, message in ((("--flight", "5"), None),
                                 (("--flight", "x"), "--flight: 'x' is not a duration"),
                                 (("--flight", "5s:1K"), "at least 64K"),
                                 (("--flight", "5s:x"), "'x' is not a size"),
                                 (("--flight", "5s", "--rotate", "1s"), "--rotate")):
            process = self.wick("record", *options, "--", "true")
            error = process.stderr.decode()
            self.assertEqual(process.returncode, 2 if message else 0, error)
            self.assertTrue(not message or re.search(re.escape(message), error), error)


if __name__ == "__main__":
    unittest.main()
