#!/usr/bin/python3
"""wick record -p: running attaches to programs of many kinds, leaves them as they were, and may attach again."""
import glob
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import procfs
from procfs import children, comm, state, tasks
from recorded import LONG, PYTHON, WICK, Case, Run, child_of, need, read, target, text_of, use_cpu, wait_for

ROUNDS = 1000 if LONG else 12
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def descriptors(pid):
    return sorted(os.listdir(f"/proc/{pid}/fd"))


def count_maps(pid):
    return len(procfs.read(pid, "maps").splitlines())


class AttachCase(Case):
    def attach(self, pid, *options, hz=199, duration="0.3", **popen):
        path = self.path(f"a{time.monotonic_ns()}.perf")
        process = self.wick("record", "-v", "-F", hz, "-o", path, "-d", duration, *options, "-p", pid,
                            **popen)
        return Run(process, sorted(glob.glob(path)))

    def attach_busy(self, *pids, cpu_s=0.3, options=(), hz=199, way=()):
        """Until each of some busy programs has used so much CPU."""
        with self.recording(",".join(map(str, pids)), "-v", *options, hz=hz, way=way) as (wick, path):
            for pid in pids:
                if os.path.exists(f"/proc/{pid}"):
                    use_cpu(pid, cpu_s)
        said = self.summary_of(path).encode()
        return Run(subprocess.CompletedProcess(wick.args, wick.returncode, b"", said), [path])

    def is_attached(self, run):
        """Milliseconds for which a thread stood."""
        self.assertEqual(run.status, 0, run.summary)
        found = re.search(r"stopped for ([0-9.]+) ms", run.summary)
        self.assertTrue(found, run.summary)
        return float(found.group(1))

    def refused(self, pid, words, status, *options, **popen):
        process = self.wick("record", "-o", self.path("none.perf"), "-d", 1, *options, "-p", pid, **popen)
        said = process.stderr.decode()
        self.assertEqual(process.returncode, status, said)
        self.assertIn(words, said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertFalse(os.path.exists(self.path("none.perf")))


class Joins(AttachCase):
    def test_the_agent_sleeps_and_is_woken(self):
        with self.running(target("busy"), "20", ready=0.02) as program:
            before = descriptors(program.pid)
            self.is_attached(self.attach(program.pid))
            maps = count_maps(program.pid)
            self.assertEqual(descriptors(program.pid), before)
            for _ in range(4):
                run = self.attach_busy(program.pid, cpu_s=0.1)
                self.is_attached(run)
                self.assertIn("the agent was already loaded", run.summary)
                self.assertTrue(run.samples, run.summary)
            self.assertEqual(descriptors(program.pid), before)
            self.assertEqual(count_maps(program.pid), maps)

    def test_a_second_wick_is_told(self):
        with self.running(target("busy"), "20", ready=0.02) as program:
            first = self.record_into(self.path("first.perf"), "-q", "-d", "5", "-p", program.pid)
            self.refused(program.pid, "is being recorded by another wick, try: "
                         f"kill {first.pid}, which ends it", 126)
            use_cpu(program.pid, 0.1)
            first.send_signal(signal.SIGINT)
            self.assertEqual(first.wait(20), 0)
            self.assertTrue(read(self.path("first.perf")))

    def test_the_recording_ends_with_the_program(self):
        with self.running(target("busy"), "1", ready=0.02) as program:
            run = self.attach(program.pid, duration="60")
            self.assertEqual(run.status, 0, run.summary)
            self.assertTrue(run.samples, run.summary)

    def test_on_the_processor_that_wick_is_on(self):
        need("taskset")
        cpu = min(os.sched_getaffinity(0))
        alone = ("taskset", "-c", str(cpu))
        with self.running(*alone, target("busy"), "20", ready=0.02) as program:
            before = descriptors(program.pid)
            for _ in range(3):
                run = self.attach_busy(program.pid, way=alone)
                self.is_attached(run)
                self.assertTrue(run.samples, run.summary)
            self.assertEqual(descriptors(program.pid), before)

    def test_by_a_user_who_may_have_no_more_timers(self):
        """A timer ends waits that are too long, for a thread that stops after a while; it is done without."""
        need("prlimit")
        need("taskset")
        alone = ("taskset", "-c", str(min(os.sched_getaffinity(0))))
        with self.running(*alone, target("busy"), "20", ready=0.02) as program:
            run = self.attach_busy(program.pid, way=(*alone, "prlimit", "--sigpending=0"))
            self.assertEqual(run.status, 0, run.summary)
            self.assertTrue(run.samples, run.summary)

    def test_several_and_one_that_is_gone(self):
        with self.running(target("busy"), "20", ready=0.02) as one, self.running(target("busy"), "20", ready=0.02) as two:
            run = self.attach_busy(one.pid, two.pid, 999999999)
            self.assertEqual(run.status, 0, run.summary)
            self.assertEqual({sample.pid for sample in run.samples}, {one.pid, two.pid})
            self.assertIn("there is no process 999999999", run.summary)

    def test_by_name(self):
        name = f"busy-{os.getpid()}"  # nobody else's
        program = self.path(name)
        shutil.copy(target("busy"), program)
        with self.running(program, "20", ready=0.02) as one, self.running(program, "20", ready=0.02) as two:
            path = self.path("named.perf")
            wick = self.record_into(path, "--comm", f"^bus.-{os.getpid()}$")
            use_cpu(one.pid, 0.2)
            use_cpu(two.pid, 0.2)
            wick.send_signal(signal.SIGINT)
            self.assertEqual(wick.wait(30), 0)
            self.assertEqual({sample.pid for sample in read(path)}, {one.pid, two.pid})
        process = self.wick("record", "--comm", f"^{name}$")
        self.assertEqual(process.returncode, 127)
        self.assertIn(b"no process of yours has a name", process.stderr)


class Leaves(AttachCase):
    """What the program did goes on as if nothing had been."""

    def test_a_storm_of_locks(self):
        plugin = os.path.join(os.path.dirname(target("x")), "libplugin_a.so")
        with self.running(target("attach_storm"), plugin, stdout=subprocess.PIPE, ready=0.02) as program:
            self.is_attached(self.attach(program.pid, duration="0.3"))
            before = descriptors(program.pid)
            for _ in range(ROUNDS):
                run = self.attach(program.pid, duration="0.05")
                self.assertEqual(run.status, 0, run.summary)
                self.assertIsNone(program.poll())
            # The library comes and goes, and its own descriptor with it.
            wait_for(lambda: descriptors(program.pid) == before)
            text = procfs.read(program.pid, "maps")
            # A header with the first chunk, and at most a second chunk.
            self.assertLessEqual(text.count("wick-ring"), 2, text)
            self.assertLessEqual(text.count("libwick-agent.so"), 6, text)
            program.send_signal(signal.SIGTERM)
            said, _ = program.communicate(timeout=60)
            self.assertTrue(said.startswith(b"ok"), said)
            self.assertEqual(program.returncode, 0)


class Kinds(AttachCase):
    def test_musl(self):
        need("musl-gcc")
        source = self.write("spin.c", "volatile unsigned long x; static void spin(void) { for (;;) x++; }\n"
                            "int main(void) { spin(); return 0; }\n")
        subprocess.run(["musl-gcc", "-g", "-O1", "-o", self.path("spin"), source], check=True)
        with self.running(self.path("spin")) as program:
            for _ in range(2):
                run = self.attach_busy(program.pid)
                self.is_attached(run)
                self.assertGreater(run.share("spin") + run.share("main"), 90, run.summary)

    def test_python(self):
        with self.running(PYTHON, "-c", "print(flush=True)\nwhile True: pass", ready=True) as program:
            run = self.attach_busy(program.pid)
            self.is_attached(run)
            self.assertTrue(run.samples, run.summary)

    def test_node_with_workers(self):
        need("node")
        script = self.write("w.js", "const {Worker, isMainThread} = require('worker_threads');\n"
                            "if (isMainThread) { new Worker(__filename); setInterval(() => {}, 1000); }\n"
                            "else { let x = 0; setInterval(() => { for (let i = 0; i < 2e6; i++) "
                            "x += Math.sqrt(i); }, 5); require('fs').writeSync(1, '\\n'); }\n")
        with self.running("node", script, ready=True) as program:
            run = self.attach_busy(program.pid)
            self.is_attached(run)
            self.assertTrue(run.samples, run.summary)
            self.assertIsNone(program.poll())

    def test_redis_under_its_benchmark(self):
        need("redis-server", "redis-benchmark")
        socket = self.path("redis.sock")
        with self.running("redis-server", "--port", "0", "--unixsocket", socket, "--save", "",
                          "--daemonize", "no", cwd=self.dir) as server:
            wait_for(lambda: os.path.exists(socket))
            load = self.start("redis-benchmark", "-s", socket, "-q", "-l", "-t", "get,set",
                              stderr=subprocess.STDOUT)
            run = self.attach_busy(server.pid)
            self.assertIsNone(load.poll())
            load.terminate()
            said, _ = load.communicate(timeout=120)
            self.is_attached(run)
            self.assertTrue(run.samples, run.summary)
            self.assertNotIn(b"rror", said)
            self.assertIsNone(server.poll())

    def test_namespaces_of_its_own(self):
        need("unshare")
        flags = ["--mount", "--pid", "--fork", "--mount-proc"]
        if os.geteuid() != 0:
            flags += ["--user", "--map-root-user"]
        probe = subprocess.run(["unshare", *flags, "true"], capture_output=True, check=False)
        if probe.returncode != 0:
            raise unittest.SkipTest("no namespaces can be made here")
        with self.running("unshare", *flags, target("busy"), "20") as outer:
            pid = child_of(outer.pid)
            wait_for(lambda: comm(pid) == "busy")
            try:
                run = self.attach_busy(pid)
                self.is_attached(run)
                self.assertTrue(run.samples, run.summary)
                self.assertEqual({sample.pid for sample in run.samples}, {pid})
                self.assertEqual({sample.tid for sample in run.samples}, {pid})
                self.assertIn('"inner_pid":1', text_of(run.paths[0]))
            finally:
                os.kill(pid, signal.SIGKILL)


class Signals(AttachCase):
    """A program that needs SIGURG itself is sampled by another; its SIGPROF is its own in any case."""

    def program(self, use, names=("SIGURG", "SIGPROF")):
        uses = "".join(use.format("signal." + name) + "\n" for name in names)
        return self.running(PYTHON, "-c", "import signal, threading\n" + uses +
                            "print(flush=True)\nwhile True: pass", ready=True)

    def sampled_by_another(self, use, words):
        with self.program(use) as program:
            for name in ("PROF", "URG"):
                self.refused(program.pid, f"{words} SIG{name} itself, try: --signal WINCH", 126, "--signal", name)
            run = self.attach_busy(program.pid)
            self.is_attached(run)
            self.assertIn(words + " SIGURG itself: its sampling signal is SIGWINCH", run.summary)
            self.assertTrue(run.samples, run.summary)
            self.refused(program.pid, "whose sampling signal is SIGWINCH", 126, "--signal", "PWR")
            self.assertIsNone(program.poll())

    def test_handled(self):
        self.sampled_by_another("signal.signal({}, lambda *a: None)", "handles")

    def test_again_by_the_same(self):
        with self.program("signal.signal({}, lambda *a: None)", ["SIGPROF"]) as program:
            for _ in range(2):
                run = self.attach_busy(program.pid)
                self.is_attached(run)
                self.assertNotIn("SIGPROF", run.summary)
                self.assertTrue(run.samples, run.summary)

    def test_ignored(self):
        self.sampled_by_another("signal.signal({}, signal.SIG_IGN)", "ignores")

    def test_waited_for(self):
        self.sampled_by_another(
            "signal.pthread_sigmask(signal.SIG_BLOCK, [{0}])\n"
            "threading.Thread(target=lambda: signal.sigwait([{0}]), daemon=True).start()", "waits for")

    def test_blocked(self):
        self.sampled_by_another("signal.pthread_sigmask(signal.SIG_BLOCK, [{}])", "blocks, in every thread,")

    def test_asked_for(self):
        with self.running(target("busy"), "20", ready=0.02) as program:
            run = self.attach_busy(program.pid, options=("--signal", "SIGPROF"))
            self.is_attached(run)
            self.assertTrue(run.samples, run.summary)


class Refuses(AttachCase):
    def test_what_is_no_process(self):
        self.refused(999999999, "there is no process 999999999", 127)

    def test_a_thread_of_the_kernel(self):
        if not os.path.exists("/proc/2/status"):
            raise unittest.SkipTest("no threads of the kernel are to be seen")
        self.refused(2, "is a thread of the kernel", 4)

    def test_a_thread_by_its_own_number(self):
        with self.running(target("attach_storm"), "none", ready=0.02) as program:
            tid = wait_for(lambda: [tid for tid in tasks(program.pid) if tid != program.pid])[0]
            self.refused(tid, f"is a thread of process {program.pid}", 127)

    def test_a_zombie(self):
        with self.running("true", ready=0) as program:
            wait_for(lambda: state(program.pid) == "Z")
            self.refused(program.pid, "it is a zombie", 127)

    def test_one_that_is_stopped(self):
        with self.running("sleep", "20") as program:
            program.send_signal(signal.SIGSTOP)
            wait_for(lambda: state(program.pid) == "T")
            self.refused(program.pid, "is stopped, try: kill -CONT", 126)
            self.assertEqual(state(program.pid), "T")

    def test_one_that_is_traced(self):
        need("strace")
        with self.running("strace", "-o", "/dev/null", "sleep", "20") as tracer:
            (pid,) = wait_for(lambda: [pid for pid in children(tracer.pid) if comm(pid) == "sleep"])
            self.refused(pid, "is being traced by strace", 126)
            self.assertIsNone(tracer.poll())

    def test_anothers(self):
        if os.geteuid() == 0:
            need("setpriv")
            with self.running("sleep", "20") as program:
                process = subprocess.run(
                    [*NOBODY, WICK, "record", "-o", "/dev/shm/wick-none", "--no-cache", "-p", str(program.pid)],
                    capture_output=True, check=False, timeout=60, cwd="/")
                self.assertEqual(process.returncode, 4, process.stderr)
                self.assertIn(b"belongs to another user (uid 0), try: as root", process.stderr)
        else:
            self.refused(1, "belongs to another user", 4)

    def test_a_static_program(self):
        with self.running(target("busy_static"), "20", ready=0.02) as program:
            run = self.attach_busy(program.pid)
            self.assertEqual(run.status, 0, run.summary)
            self.assertIn("has no libc that could load the agent", run.summary)
            self.assertTrue(run.samples)

    def test_one_that_ends_meanwhile(self):
        """Short lives: whatever moment of attaching they end in, it is one line and no hang."""
        for delay in (0, 1, 2, 3, 5, 8):
            program = subprocess.Popen(["sleep", f"0.0{delay}"])
            process = self.wick("record", "-q", "-o", self.path(f"e{delay}.perf"), "-p", program.pid, timeout=30)
            self.assertIn(process.returncode, (0, 126, 127), process.stderr)
            self.assertLessEqual(process.stderr.count(b"\n"), 1, process.stderr)
            self.assertNotIn(b"descriptor", process.stderr)
            self.assertEqual(program.wait(10), 0)

    def test_one_with_no_room_for_descriptors(self):
        """None, or fewer than the five that it takes for a moment: nothing of it stays."""
        for free in range(5):
            program = ("import os, resource, time\n"
                       "taken = len(os.listdir('/proc/self/fd')) - 1\n"
                       "limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
                       f"resource.setrlimit(resource.RLIMIT_NOFILE, (taken + {free}, limit))\n"
                       "print(flush=True)\ntime.sleep(60)")
            with self.running(PYTHON, "-c", program, ready=True) as process:
                before = descriptors(process.pid), count_maps(process.pid)
                self.refused(process.pid, "Too many open files", 126)
                self.assertEqual((descriptors(process.pid), count_maps(process.pid)), before)
                self.assertIsNone(process.poll())

    def test_words_that_are_no_numbers(self):
        for text in ("x", "1,", "", "-1", "0"):
            process = self.wick("record", "-p", text)
            self.assertEqual(process.returncode, 2, process.stderr)
            self.assertEqual(process.stderr.count(b"\n"), 1)

    def test_a_command_besides(self):
        process = self.wick("record", "-p", "1", "--", "true")
        self.assertEqual(process.returncode, 2)
        self.assertIn(b"'true' starts a program", process.stderr)

    def test_memory_and_locks(self):
        process = self.wick("record", "-e", "alloc", "-p", "1")
        self.assertEqual(process.returncode, 2)
        self.assertIn(b"programs that wick starts", process.stderr)


if __name__ == "__main__":
    unittest.main()
