"""-e lock: programs behave as without it, and what it tells is possible; shares: physics.locks."""
import collections
import glob
import shutil
import subprocess
import time
import unittest

from recorded import LONG, PYTHON, Case, read, target

QUEUE = """
import threading, queue, time
q = queue.Queue()
def feed():
    for i in range(50):
        time.sleep(0.002)
        q.put(i)
t = threading.Thread(target=feed)
t.start()
assert sum(q.get() for _ in range(50)) == 1225
t.join()
"""


# What they print does not change from run to run.  {dir} is a directory of the test's own.
COMMANDS = [
    ("all kinds of locks", [target("locks")], True),
    ("locks of C++", [target("locks_cxx")], True),
    ("python3", [PYTHON, "-c", QUEUE], True),
    ("node", ["node", "-e", """
const {Worker} = require("worker_threads"), fs = require("fs"); let n = 0, s = 0;
const last = (by) => { s += by; if (++n == 103) console.log(s) };
for (let i = 0; i < 3; i++) new Worker("let s = 0; for (let i = 0; i < 2e7; i++) s += i % 5;" +
  "require('worker_threads').parentPort.postMessage(s)", {eval: true}).on("message", last);
for (let i = 0; i < 100; i++) fs.readFile("/etc/hostname", (e, b) => last(b.length));"""], False),
    ("java", ["java", "-Xmx256m", "{dir}/Sum.java"], False),
    ("xz", ["xz", "-T4", "--block-size=1MiB", "-3", "-c", "{dir}/data"], False),
    ("ffmpeg", ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
                "testsrc2=size=640x360:rate=30:duration=2", "-c:v", "libx264", "-threads", "4",
                "-f", "framemd5", "-bitexact", "-"], False),
]

JAVA = """import java.util.concurrent.*;
public class Sum { public static void main(String[] a) throws Exception {
var q = new ArrayBlockingQueue<Integer>(4); long[] s = {0}; Thread[] t = new Thread[4];
for (int k = 0; k < 4; k++) { t[k] = new Thread(() -> { try { for (int i = 0; i < 2000; i++) {
int v = q.take(); synchronized (s) { s[0] += v; } } } catch (Exception e) {} }); t[k].start(); }
for (int i = 0; i < 8000; i++) q.put(i); for (var x : t) x.join(); System.out.println(s[0]); } }
"""


class Transparent(Case):
    """Programs do what they do without wick; their waits are possible."""

    def bare(self, command):
        return subprocess.run(command, cwd=self.dir, stdin=subprocess.DEVNULL, check=False,
                              capture_output=True, timeout=120)

    def check_possible(self, samples, seconds):
        """A thread waits for one lock after the other, and not longer than there is time."""
        last = {}
        for sample in samples:
            thread = (sample.pid, sample.tid)
            begin_ns = sample.time_ns - 1000 * sample.weight
            self.assertGreater(begin_ns, last.get(thread, 0) - 1000000, sample)
            self.assertLess(sample.weight, 1e6 * seconds)
            last[thread] = sample.time_ns

    def check(self, command, events):
        bare = self.bare(command)
        begin = time.monotonic()
        run = self.record(*command, options=("-e", events))
        seconds = time.monotonic() - begin
        self.assertEqual((run.status, run.stdout), (bare.returncode, bare.stdout), run.summary)
        waits = [sample for sample in run.samples if sample.event == "lock"]
        self.check_possible(waits, seconds)
        return collections.Counter(sample.wait for sample in waits)

    def test_programs_behave_as_without_wick(self):
        self.write("data", b"".join(bytes((i * j) % 251 for j in range(4096)) for i in range(1500)))
        self.write("Sum.java", JAVA)
        for name, words, quick in COMMANDS:
            command = [word.replace("{dir}", self.dir) for word in words]
            if not (quick or LONG):
                continue
            if not shutil.which(command[0]):
                print(f"skipped: {name}: {command[0]} is not installed")
                continue
            for events in ("lock=1us", "cpu,lock") if quick else ("lock", "cpu,lock"):
                with self.subTest(command=name, events=events):
                    print(f"{name}, {events}: {dict(self.check(command, events))}")


class Options(Case):
    def test_what_is_no_wait_is_refused(self):
        for value in ("10", "0us", "-1us", "1min", ""):
            process = self.wick("record", "-e", f"lock={value}", "--", "true")
            self.assertEqual(process.returncode, 2, value)
            self.assertIn(b"10us, 1.5ms, 2s", process.stderr)

    def test_locks_have_a_file_of_their_own_beside_the_clocks(self):
        path = self.path("both.perf")
        process = self.wick("record", "-e", "cpu,lock", "-o", path, "--", target("two_locks"), 0.5)
        self.assertEqual(process.returncode, 0, process.stderr)
        files = sorted(glob.glob(self.path("both*.perf")))
        self.assertEqual(files, [self.path("both.lock.perf"), path])
        self.assertEqual({sample.event for sample in read(files[0])}, {"lock"})
        self.assertLessEqual({sample.event for sample in read(path)}, {"cpu-clock"})

    def test_waits_of_an_interpreter_have_their_names(self):
        run = self.record(PYTHON, "-c", QUEUE, options=("-e", "lock"))
        self.assertEqual(run.status, 0, run.summary)
        waits = collections.Counter(sample.wait for sample in run.samples)
        print(f"python3: {dict(waits)}")
        self.assertLessEqual(set(waits), {"mutex", "rwlock", "cond", "sem"})
        self.assertGreater(waits["sem"] + waits["cond"], 25)
        known = [sample for sample in run.samples
                 if sample.wait in ("sem", "cond") and sample.waker]
        self.assertTrue(all(sample.waker[0] != sample.tid for sample in known))
        self.assertGreater(len(known), 25)

    def test_without_locks_nothing_is_asked_of_the_program(self):
        run = self.record(target("two_locks"), 0.3)
        self.assertEqual(run.status, 0, run.summary)
        self.assertLessEqual({sample.event for sample in run.samples}, {"cpu-clock"})


if __name__ == "__main__":
    unittest.main()
