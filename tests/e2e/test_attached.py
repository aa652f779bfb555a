#!/usr/bin/python3
"""What a program does once wick is attached, and what is done to wick while it attaches: none of it
ends the program, or takes from it what is its own."""
import contextlib
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

import procfs
from procfs import comm, perf_is_allowed, status
from recorded import LONG, PYTHON, WICK, Case, child_of, need, read, target, use_cpu, wait_for

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
ENGINES = ("ctimer", "perf")


def tracer(pid):
    return status(pid, "TracerPid")


def begin(program):
    """Its handler stands, and it is told to go on."""
    wait_for(lambda: status(program.pid, "SigCgt", 16) >> (signal.SIGUSR1 - 1) & 1)
    program.send_signal(signal.SIGUSR1)


class JoinedCase(Case):
    def engines(self):
        return ENGINES if perf_is_allowed(2) else ENGINES[:1]


class Lives(JoinedCase):
    """At 4,999 Hz, with the signals of timers and of perf events."""

    def life(self, what, *arguments, engine="ctimer", options=()):
        """What the program said, and the samples of it and of its children."""
        with self.running(target("attached_life"), what, *arguments) as program:
            with self.recording(program.pid, "--engine", engine, *options) as (wick, path):
                begin(program)
                said, _ = program.communicate(timeout=120)
                self.assertEqual(wick.wait(30), 0, self.summary_of(path))
            self.assertEqual(program.returncode, 0, (said, self.summary_of(path)))
            return said.decode(), read(path), program.pid, self.summary_of(path)

    def lives(self, what, n, sampled, cpu_us=3000):
        for engine in self.engines():
            with self.subTest(engine=engine):
                said, samples, pid, summary = self.life(what, n, cpu_us, engine=engine)
                self.assertEqual(said, f"{n} lives, 0 killed, 0 failed\n")
                others = {sample.pid for sample in samples} - {pid}
                self.assertGreaterEqual(len(others), sampled * n, summary)

    def test_children_that_exec(self):
        # Longer than the kernel's tick: each of them is seen.
        self.lives("exec", 1000 if LONG else 40, 0.95, 6000)

    def test_children_that_exec_with_all_signals_blocked(self):
        self.lives("blocked", 1000 if LONG else 40, 0)

    def test_children_that_put_all_signals_back(self):
        self.lives("reset", 1000 if LONG else 40, 0)

    def test_posix_spawn(self):
        self.lives("spawn", 1000 if LONG else 20, 0)

    def test_vfork(self):
        self.lives("vfork", 1000 if LONG else 20, 0)

    def test_one_that_puts_all_signals_back_itself(self):
        for engine in self.engines():
            with self.subTest(engine=engine):
                said, samples, _, summary = self.life("itself", 500000, engine=engine)
                self.assertEqual(said, "alive\n")
                self.assertIn("1 process replaced the handler of SIGURG: no samples since then", summary)
                self.assertTrue(samples)

    def test_one_that_takes_our_signal_for_itself(self):
        """What it has used since then is not lost silently; a second wick that attaches has its samples."""
        take = "signal.signal(signal.SIGURG, lambda *a: None)"
        script = f"import signal; signal.signal(signal.SIGUSR1, lambda *a: {take})\nwhile True: pass"
        for engine in self.engines():
            with self.subTest(engine=engine), self.running(PYTHON, "-c", script) as program:
                with self.recording(program.pid, "--engine", engine) as (_, path):
                    time.sleep(0.2)
                    begin(program)
                    use_cpu(program.pid, 1.2)
                self.assertIn("1 process handled or blocked SIGURG itself: no samples since then", self.summary_of(path))
                self.assertTrue(read(path), self.summary_of(path))
                with self.recording(program.pid, "--engine", engine) as (_, path):
                    use_cpu(program.pid, 0.6)
                self.assertGreater(sum(sample.weight for sample in read(path)), 0.5 * 4999, self.summary_of(path))

    def test_signals_it_ignores(self):
        def ignore():
            signal.signal(signal.SIGTRAP, signal.SIG_IGN)

        with self.running(target("busy"), "20", preexec_fn=ignore) as program:
            ignored = status(program.pid, "SigIgn", 16)
            self.assertTrue(ignored >> (signal.SIGTRAP - 1) & 1)
            for _ in range(2):
                with self.recording(program.pid) as (_, path):
                    time.sleep(0.1)
                self.assertEqual(status(program.pid, "SigIgn", 16), ignored)
                self.assertTrue(read(path), self.summary_of(path))

    def test_a_profiler_of_its_own(self):
        """Its SIGPROF is its own: as many as it asked for, and none after it has put it back."""
        for engine in self.engines():
            with self.subTest(engine=engine):
                said, samples, _, _ = self.life("handler", 300000, engine=engine)
                handled, wanted = map(float, re.match(r"handled (\d+) of ([\d.]+)", said).groups())
                self.assertGreater(wanted, 10)
                self.assertAlmostEqual(handled, wanted, delta=3)
                self.assertGreater(sum(sample.weight for sample in samples), 0.7 * 0.6 * 4999)

    def test_small_alternate_stacks(self):
        for engine in self.engines():
            with self.subTest(engine=engine):
                _, samples, _, summary = self.life("stacks", 200000, engine=engine)
                self.assertNotIn("replaced the handler of SIGURG", summary)
                self.assertGreater(sum(sample.weight for sample in samples), 0.8 * 0.6 * 4999, summary)
                self.assertEqual(len({sample.tid for sample in samples}), 2, summary)

    def test_another_image(self):
        """It is named, and looked at from outside where no engine was asked for: 0.6 s, and 0.3 s of another."""
        for engine, words, low, high in (("auto", "external +1 program", 0.75, 0.92),
                                         ("ctimer", "not sampled +1 x", 0.55, 0.65)):
            with self.subTest(engine=engine):
                _, samples, pid, summary = self.life("become", 600000, 300000, engine=engine)
                self.assertRegex(summary, words + r".*attached_life \(executed by an attached program\)")
                self.assertEqual({sample.pid for sample in samples}, {pid})
                used = sum(sample.weight for sample in samples) / 4999
                self.assertTrue(low < used < high, f"{used} s: {summary}")


class Namespace(JoinedCase):
    """A program that is the first of its own pid namespace: its threads have other numbers here."""

    @contextlib.contextmanager
    def first_inside(self, *command):
        need("unshare")
        way = ["unshare", "-pf", "--kill-child"] if os.geteuid() == 0 else ["unshare", "-Urpf", "--kill-child"]
        if subprocess.run([*way, "true"], capture_output=True, check=False).returncode:
            self.skipTest("no pid namespace can be had here")
        with self.running(*way, *command) as outer:
            yield outer, child_of(outer.pid)

    def test_slots_and_timers_of_threads_that_have_ended_come_back(self):
        with self.first_inside(target("waves"), 60 if LONG else 12, 16, 20) as (outer, pid):
            wait_for(lambda: comm(pid) == "waves")
            with self.recording(pid, "--engine", "ctimer", hz=999) as (wick, path):
                said, _ = outer.communicate(timeout=60)
                self.assertEqual(wick.wait(30), 0, self.summary_of(path))
        _, _, timers, own = said.split()
        self.assertGreater(len({sample.tid for sample in read(path)}), 80, self.summary_of(path))
        self.assertEqual(own, b"yes", self.summary_of(path))
        # Its own, the process's, the main thread's, and those of three waves.
        self.assertLessEqual(int(timers), 3 + 3 * 16, self.summary_of(path))


    def test_a_thread_that_blocks_our_signal_is_opened(self):
        block = "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])"
        script = f"import signal; signal.signal(signal.SIGUSR1, lambda *a: {block})\nwhile True: pass"
        with self.first_inside(PYTHON, "-c", script) as (_, pid):
            wait_for(lambda: status(pid, "SigCgt", 16) >> (signal.SIGUSR1 - 1) & 1)
            with self.recording(pid, "--engine", "ctimer") as (_, path):
                os.kill(pid, signal.SIGUSR1)
                use_cpu(pid, 1)
        self.assertGreater(sum(sample.weight for sample in read(path)), 0.4 * 4999, self.summary_of(path))
        self.assertIn("1 thread", self.summary_of(path))

    @unittest.skipUnless(perf_is_allowed(2), "no events here")
    def test_events_are_opened_for_its_threads(self):
        with self.first_inside(target("busy"), 20) as (_, pid):
            wait_for(lambda: comm(pid) == "busy")
            with self.recording(pid, "--engine", "perf") as (_, path):
                use_cpu(pid, 0.5)
        # The kernel looks at timers only 1,000 times a second at most.
        self.assertGreater(len(read(path)), 0.3 * 4999, self.summary_of(path))


class Kernel(JoinedCase):
    """Events see the kernel in an attached program, too."""

    def setUp(self):
        super().setUp()
        if not perf_is_allowed(1):
            self.skipTest("the kernel's part is not for this user")

    def test_frames(self):
        need("dd")
        with self.running("dd", "if=/dev/zero", "of=/dev/null", "bs=1M") as program:
            with self.recording(program.pid, "--kernel", hz=999) as (_, path):
                use_cpu(program.pid, 0.5)
        samples = read(path)
        kernel = sum(sample.weight for sample in samples if sample.frames[0].module == "[kernel.kallsyms]")
        self.assertGreater(kernel, 0.6 * sum(sample.weight for sample in samples), self.summary_of(path))
        self.assertGreater(kernel, 0.3 * 0.5 * 999, self.summary_of(path))

    def test_context_switches(self):
        """Samples say themselves how often their thread had switched: each weighs what lies between it and the last."""
        with self.running(target("kernel_events"), "switches", "1000000") as program:
            with self.recording(program.pid, "-e", "context-switches=20") as (_, path):
                before = self.switches(program)
                wait_for(lambda: self.switches(program) > before + 3000)
                counted = self.switches(program) - before
        samples = read(path)
        weight = sum(sample.weight for sample in samples)
        self.assertGreater(weight, 0.5 * counted, self.summary_of(path))
        between = self.switched(samples[-1]) - self.switched(samples[0])
        self.assertLess(abs(weight - samples[0].weight - between), 40, self.summary_of(path))

    @staticmethod
    def switched(sample):
        return sample.metrics["vcsw"][0] + sample.metrics["ivcsw"][0]

    @staticmethod
    def switches(program):
        return sum(status(program.pid, f"{kind}voluntary_ctxt_switches") for kind in ("", "non"))


class Interrupted(JoinedCase):
    """wick is interrupted or ended while it holds a thread."""

    @contextlib.contextmanager
    def hold(self, program):
        """A wick that is just attaching: the kernel says that the program is traced."""
        path = self.path(f"{program.pid}.perf")
        with self.running(WICK, "record", "-q", "-d", "20", "-o", path, "-p", program.pid,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.dir) as wick:
            while not tracer(program.pid) and wick.poll() is None and not os.path.exists(path):
                pass
            yield wick, tracer(program.pid) != 0

    def test_a_program_that_ends_while_it_is_held(self):
        self.until_held(100 if LONG else 6, lambda i: self.ended((signal.SIGKILL, signal.SIGTERM)[i % 2]))

    def ended(self, number):
        with self.running(target("busy"), "20") as program, self.hold(program) as (wick, held):
            time.sleep(random.random() * 0.0005)
            program.send_signal(number)
            _, said = wick.communicate(timeout=30)
            self.assertIn(wick.returncode, (0, 127), said)
            self.assertLessEqual(said.count(b"\n"), 1, said)
            self.assertEqual(program.wait(5), -number)
            return held

    def until_held(self, rounds, once):
        """So many rounds, and more where the machine let us look only when it was over."""
        held = done = 0
        while done < rounds or (held < 3 and done < 10 * rounds):
            held += once(done)
            done += 1
        print(f"a thread was held in {held} of {done} rounds")
        self.assertGreaterEqual(held, 3)

    def once(self, number, moment):
        with self.running(target("busy"), "20") as program, self.hold(program) as (wick, held):
            time.sleep(moment)
            wick.send_signal(number)
            if number == signal.SIGSTOP:
                wait_for(lambda: not tracer(program.pid), 5)
                wick.kill()
            _, said = wick.communicate(timeout=30)
            self.assertLessEqual(said.count(b"\n"), 1, said)
            wait_for(lambda: not tracer(program.pid), 5)
            time.sleep(0.02)
            self.assertIsNone(program.poll(), f"signal {number} after {moment * 1e6:.0f} us")
            return held

    def test_the_program_is_as_it_was(self):
        numbers = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGSTOP)
        self.until_held(200 if LONG else 10, lambda i: self.once(numbers[i % len(numbers)], random.random() * 0.0008))


class Refused(JoinedCase):
    """Each has one line and its status, and the program goes on as it was."""

    def refused(self, program, words, status, *options, wick=()):
        os.chmod(self.dir, 0o777)
        done = subprocess.run(
            [*wick, WICK, "record", "--no-cache", "-o", self.path("none.perf"), "-d", "0.3", *options,
             "-p", str(program.pid)], capture_output=True, check=False, timeout=60, cwd="/")
        said = done.stderr.decode()
        self.assertIn(words, said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertEqual(done.returncode, status, said)
        self.assertFalse(os.path.exists(self.path("none.perf")))
        self.assertIsNone(program.poll(), said)

    def test_the_agent_of_another_wick(self):
        agent = os.path.join(os.path.dirname(target("x")), "other", "libwick-agent.so")
        with self.running(target("busy"), "20", env={**os.environ, "LD_PRELOAD": agent}) as program:
            wait_for(lambda: "libwick-agent" in procfs.read(program.pid, "maps"))
            self.refused(program, "has the agent of another wick in it (wire version", 126)
            self.refused(program, "try: that wick, or start the process anew", 126)

    def traced_by(self, name, *command):
        with self.running(target("busy"), "30") as program:
            with self.running(*[word.format(pid=program.pid) for word in command]) as debugger:
                wait_for(lambda: tracer(program.pid))
                self.refused(program, f"is being traced by {name}", 126)
                self.refused(program, f"is being traced by {name}", 126, "--engine", "ptrace")
                self.assertIsNone(debugger.poll())
                self.assertEqual(tracer(program.pid), debugger.pid)
            wait_for(lambda: not tracer(program.pid))
            self.assertIsNone(program.poll())

    def test_one_that_gdb_holds(self):
        need("gdb")
        self.traced_by("gdb", "gdb", "-nx", "-batch", "-p", "{pid}", "-ex", "shell sleep 30")

    def test_one_that_strace_follows(self):
        need("strace")
        self.traced_by("strace", "strace", "-o", "/dev/null", "-p", "{pid}")

    def test_one_that_stops_in_the_middle_of_a_recording(self):
        with self.running(target("busy"), "30") as program:
            with self.recording(program.pid, "-d", "1", hz=199) as (wick, path):
                program.send_signal(signal.SIGSTOP)
                self.assertEqual(wick.wait(30), 0, self.summary_of(path))
            self.assertTrue(read(path) is not None)
            program.send_signal(signal.SIGCONT)
            time.sleep(0.05)
            self.assertIsNone(program.poll())

    def test_a_set_user_id_program(self):
        if os.geteuid() != 0:
            self.skipTest("only root makes one that is another's")
        program = self.path("busy-setuid")
        shutil.copy(target("busy"), program)
        os.chown(program, 65533, 65533)
        os.chmod(program, 0o4755)
        with self.running(*NOBODY, program, "20") as running:
            time.sleep(0.1)
            self.refused(running, "may not be traced", 4, wick=NOBODY)
            self.refused(running, "", 4, "--engine", "ptrace", wick=NOBODY)
            with self.recording(running.pid, hz=199) as (_, path):
                time.sleep(0.4)
            self.assertTrue(read(path), self.summary_of(path))
            self.assertIsNone(running.poll())


class Filtered(JoinedCase):
    """A process under a seccomp filter takes no agent, and is looked at from outside."""

    @contextlib.contextmanager
    def filtered(self):
        with self.running(target("attached_life"), "filter", "20000000") as program:
            begin(program)
            wait_for(lambda: status(program.pid, "Seccomp") == 2)
            yield program

    def record(self, program, *options):  # pylint: disable=arguments-differ
        """Until it has had its CPU, however long that takes."""
        with self.recording(program.pid, *options, hz=99) as (_, path):
            use_cpu(program.pid, 0.3)
        said = self.summary_of(path)
        self.assertIsNone(program.poll(), said)
        self.assertIn("main", {frame.symbol for sample in read(path) for frame in sample.frames}, said)
        return said

    def test_auto_samples_externally_and_says_why(self):
        with self.filtered() as program:
            said = self.record(program)
            self.assertEqual(said.count("is under a seccomp filter"), 1, said)
            self.assertIn("engine ptrace samples it", said)

    def test_asked_for(self):
        with self.filtered() as program:
            self.assertNotIn("seccomp", self.record(program, "--engine", "ptrace"))

    def test_timers_are_refused(self):
        with self.filtered() as program:
            done = self.wick("record", "-d", 0.3, "-o", self.path("x.perf"), "--engine", "ctimer", "-p", program.pid)
            self.assertEqual(done.returncode, 126, done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
            self.assertIn(b"is under a seccomp filter", done.stderr)
            self.assertIsNone(program.poll())


class Postgres(JoinedCase):
    """A backend of a postgres server, which has SIGURG for itself."""

    QUERY = "select sum(i) from generate_series(1, 4000000) i"

    def setUp(self):
        super().setUp()
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        need("psql", *(["setpriv"] if os.geteuid() == 0 else []))
        if not found:
            self.skipTest("postgresql is not installed")
        self.bin = os.path.dirname(found[-1])
        self.as_user = NOBODY if os.geteuid() == 0 else ()
        os.chmod(self.dir, 0o777)

    def program(self, name, *arguments):
        return [*self.as_user, os.path.join(self.bin, name), *map(str, arguments)]

    @contextlib.contextmanager
    def server(self):
        data = self.path("data")
        subprocess.run(self.program("initdb", "-D", data, "-U", "wick", "-A", "trust", "--no-sync", "--no-locale"),
                       check=True, capture_output=True, cwd="/")
        with self.running(*self.program("postgres", "-D", data, "-k", self.dir, "-c", "listen_addresses=",
                                        "-c", "shared_buffers=8MB", "-c", "fsync=off"), cwd="/") as server:
            wait_for(lambda: subprocess.run(self.program("pg_isready", "-q", "-h", self.dir), check=False,
                                            cwd="/").returncode == 0)
            yield server
            server.send_signal(signal.SIGINT)
            self.assertEqual(server.wait(30), 0)

    @contextlib.contextmanager
    def backend(self):
        with self.running(*self.program("psql", "-h", self.dir, "-U", "wick", "-d", "postgres", "-At"),
                          stdin=subprocess.PIPE, cwd="/") as client:
            yield client, int(self.ask(client, "select pg_backend_pid()"))
            client.stdin.close()
            client.wait(30)

    @staticmethod
    def ask(client, query):
        client.stdin.write(query.encode() + b";\n")
        client.stdin.flush()
        return client.stdout.readline()

    def test_a_backend_gives_samples_and_answers(self):
        with self.server(), self.backend() as (client, pid):
            right = self.ask(client, self.QUERY)
            with self.recording(pid, hz=199) as (_, path):
                attached_ns = time.monotonic_ns()
                answers = {self.ask(client, self.QUERY) for _ in range(3)}
            summary = self.summary_of(path)
            self.assertEqual(answers, {right}, summary)
            self.assertIn("has a signalfd for SIGURG itself: its sampling signal is SIGWINCH", summary)
            samples = read(path)
            self.assertEqual({sample.pid for sample in samples}, {pid}, summary)
            self.assertLess(samples[0].time_ns - attached_ns, 1_000_000_000, summary)
            self.assertEqual(self.ask(client, self.QUERY), right)

    def latencies(self, attach):
        """99 % of the queries of a second were answered within so many microseconds."""
        script = self.write("query.sql", "select sum(i) from generate_series(1, 2000) i;\n")
        log = self.path(f"log{time.monotonic_ns()}")
        load = self.start(*self.program("pgbench", "-h", self.dir, "-U", "wick", "-n", "-T", 3, "-f", script,
                                        "-l", "--log-prefix", log, "postgres"),
                          cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        if attach:
            self.wick("record", "-F", 99, "-d", 1, "-o", self.path("l.perf"), "--comm", "^postgres$")
            os.unlink(self.path("l.perf"))
        self.assertEqual(load.wait(60), 0)
        with open(glob.glob(log + ".*")[0], encoding="ascii") as lines:
            took = sorted(int(line.split()[2]) for line in lines)
        return took[len(took) * 99 // 100]

    @unittest.skipUnless(LONG, "half a minute and more")
    def test_the_latency_of_queries_is_within_its_spread(self):
        with self.server():
            alone = [self.latencies(False) for _ in range(10)]
            attached = [self.latencies(True) for _ in range(10)]
        print(f"p99 of a query: alone {sorted(alone)} us, attached {sorted(attached)} us")
        self.assertLessEqual(sorted(attached)[5], max(alone))


class Hostile(JoinedCase):
    """As root wick could be had to change what it may and the program may not."""

    def test_a_program_that_becomes_another_meanwhile(self):
        with self.running(target("hostile_malloc"), stdin=subprocess.PIPE) as program:
            self.assertEqual(program.stdout.readline(), b"ready\n")
            said = self.wick("record", "-d", 1, "-o", self.path("none.perf"), "-p", program.pid)
            self.assertNotEqual(said.returncode, 0)
            self.assertEqual(said.stderr.count(b"\n"), 1, said.stderr)
            # Nothing was put back into what it is now: it does what it was made for.
            for _ in range(3):
                program.stdin.write(b"\n")
                program.stdin.flush()
                self.assertEqual(program.stdout.readline(), b"alive\n", said.stderr)
            self.assertEqual(tracer(program.pid), 0)
            program.stdin.close()
            self.assertEqual(program.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
