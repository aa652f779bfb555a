"""wick stack: every thread of a process, beside gdb; no program is disturbed."""
import collections
import ctypes
import json
import os
import re
import signal
import subprocess
import unittest

from procfs import comm, schedstats, state, tasks
from recorded import PYTHON, Case, end, need, target, text_of, use_cpu, wait_for

THREADS = 200
PTRACE_SEIZE, PTRACE_DETACH, PTRACE_INTERRUPT = 0x4206, 17, 0x4207
OTHERS_PROCESS = 1


def plain(name):
    """A function's name without the marks of its copies, parts and aliases."""
    name = re.sub(r"\.(part|isra|constprop|cold|lto_priv)\b.*$", "", name)
    return re.sub(r"^_+(GI_+)?", "", name)


# What kind of frame each is: gdb shows functions that have gone by a jump, too.
GDB_KINDS = """python
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, kinds = gdb.newest_frame(), []
    while frame:
        kinds.append("tail" if frame.type() == gdb.TAILCALL_FRAME else "real")
        frame = frame.older()
    print("kinds", thread.ptid[1], *kinds)
"""


def gdb_stacks(case, *arguments):
    """tid -> functions, innermost first: gdb's `thread apply all bt`, but for what is not on the
    stack (functions that ended in a jump to the one that they called last)."""
    script = case.write("kinds.gdb", GDB_KINDS)
    process = subprocess.run(
        ["gdb", "-nx", "-batch", *arguments, "-ex", "set print frame-arguments none",
         "-ex", "set backtrace past-main on", "-ex", "set width 0", "-ex", "thread apply all bt",
         "-x", script],
        capture_output=True, check=False, text=True, stdin=subprocess.DEVNULL, timeout=120)
    stacks, kinds, current = {}, {}, None
    for line in process.stdout.splitlines():
        thread = re.match(r"Thread \d+ \((?:Thread 0x\w+ \()?LWP (\d+)", line)
        frame = re.match(r"#\d+ +(?:0x[0-9a-f]+ in )?(\S+) ", line)
        if thread:
            current = stacks.setdefault(int(thread.group(1)), [])
        elif line.startswith("kinds "):
            kinds[int(line.split()[1])] = line.split()[2:]
        elif frame and current is not None:
            current.append(frame.group(1))
    if not kinds:
        raise unittest.SkipTest("gdb has no Python")
    for tid, names in stacks.items():
        case.assertEqual(len(names), len(kinds[tid]))
    return {tid: [name for name, kind in zip(names, kinds[tid]) if kind == "real"]
            for tid, names in stacks.items()}


class Zoo:
    """The program of blocked threads; says how many of its calls were ended by a signal."""

    def __init__(self, case, threads=THREADS, **options):
        self.process = case.start(target("stack_zoo"), threads, stdin=subprocess.PIPE, **options)
        self.pid = self.process.pid
        self.answer()

    def answer(self):
        """The line that it wrote; it is back at reading then."""
        line = self.process.stdout.readline()
        wait_for(lambda: state(self.pid) == "S")
        return int(line)

    def interrupted(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        return self.answer()


class Stacks(Case):
    def stack(self, *arguments, **options):
        process = self.wick("stack", "--json", *arguments, **options)
        self.assertEqual(process.returncode, 0, process.stderr.decode())
        return json.loads(process.stdout)

    def busy(self):
        """A program that is at its work."""
        process = self.start(target("busy"), "60")
        use_cpu(process.pid, 0.02)
        return process

    def refused(self, status, words, *arguments):
        process = self.wick("stack", *arguments)
        message = process.stderr.decode()
        self.assertEqual(process.returncode, status, message)
        self.assertRegex(message, words)
        self.assertEqual(message.count("\n"), 1, message)
        self.assertEqual(process.stdout, b"")

    def assert_as_gdb(self, ours, theirs):
        self.assertEqual(set(ours), set(theirs))
        wrong = [tid for tid in ours if list(map(plain, ours[tid])) != list(map(plain, theirs[tid]))]
        if wrong:
            self.fail(f"{len(wrong)} of {len(ours)} differ, e.g.\nours   {ours[wrong[0]]}\n"
                      f"theirs {theirs[wrong[0]]}")
        return sum(map(len, theirs.values()))

    def functions(self, result):
        return {thread["tid"]: [frame.get("symbol", "??") for frame in thread["frames"]]
                for thread in result["threads"]}


class Process(Stacks):
    def test_blocked_threads_are_as_gdb_has_them_and_not_disturbed(self):
        need("gdb")
        zoo = Zoo(self)
        self.stack("-p", zoo.pid)  # names are kept from here on
        before = schedstats(zoo.pid)
        result = self.stack("-p", zoo.pid)
        self.assertEqual(result["held"], 0)
        # A thread that was stopped, signalled or woken has run since.
        self.assertEqual(schedstats(zoo.pid), before)
        self.assertEqual(zoo.interrupted(), 0)
        self.assertEqual(len(result["threads"]), THREADS + 1)
        self.assertEqual({thread["how"] for thread in result["threads"]}, {"read"})
        self.assertEqual([thread for thread in result["threads"] if "why" in thread], [])
        waits = collections.Counter(thread["wait"] for thread in result["threads"])
        self.assertLessEqual({"read", "epoll", "poll", "select", "sleep", "recv", "msg", "sem",
                              "signal", "futex"}, set(waits))
        theirs = gdb_stacks(self, "-p", str(zoo.pid))
        n = self.assert_as_gdb(self.functions(result), theirs)
        print(f"{len(theirs)} threads, {n} frames as gdb's; wick 0 EINTR, gdb {zoo.interrupted()} EINTR")

    def test_a_running_thread_is_held_and_runs_on(self):
        process = self.busy()
        found = None
        for _ in range(20):
            result = self.stack("-p", process.pid)
            found = next((thread for thread in result["threads"] if thread["how"] == "held"), None)
            if found:
                break
        self.assertIsNotNone(found, result)
        self.assertEqual(found["state"], "running")
        functions = [frame.get("symbol") for frame in found["frames"]]
        self.assertIn("main", functions)
        self.assertEqual(functions[-1], "_start")
        self.assertNotIn("why", found)
        use_cpu(process.pid, 0.05)

    def test_no_stop_leaves_running_threads_alone(self):
        process = self.busy()
        for _ in range(5):
            result = self.stack("-p", process.pid, "--no-stop")
            self.assertEqual(result["held"], 0)
            self.assertNotIn("held", [thread["how"] for thread in result["threads"]])

    def test_a_stopped_process_stays_stopped(self):
        process = self.busy()
        process.send_signal(signal.SIGSTOP)
        wait_for(lambda: state(process.pid) == "T")
        for _ in range(3):
            result = self.stack("-p", process.pid)
            # It goes from the one stop to the other, and is runnable in between.
            wait_for(lambda: state(process.pid) == "T")
        self.assertEqual(result["threads"][0]["state"], "stopped")
        self.assertIn("main", self.functions(result)[process.pid])
        process.send_signal(signal.SIGCONT)
        wait_for(lambda: state(process.pid) != "T")

    def test_of_a_traced_process_blocked_threads_are_read(self):
        libc = ctypes.CDLL(None, use_errno=True)
        zoo = Zoo(self, 5)
        busy = self.busy()
        for pid in (zoo.pid, busy.pid):
            self.assertEqual(libc.ptrace(PTRACE_SEIZE, pid, None, None), 0,
                             os.strerror(ctypes.get_errno()))
        result = self.stack("-p", zoo.pid)
        self.assertEqual([thread["how"] for thread in result["threads"]], ["read"] * 6)
        result = self.stack("-p", busy.pid)
        self.assertEqual(result["threads"][0]["how"], "none")
        self.assertIn("traced", result["threads"][0]["why"])

    def test_what_is_no_process_is_one_clear_line(self):
        gone = self.start("true")
        gone.wait()
        self.refused(8, "No such process", "-p", gone.pid)
        zombie = self.start("true")
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        self.refused(2, "has ended", "-p", zombie.pid)
        zoo = Zoo(self, 2)
        tid = max(tasks(zoo.pid))
        self.refused(2, f"thread of process {zoo.pid}.*try: -p {zoo.pid}", "-p", tid)
        for word in ("0", "-3", "x", "99999999999", ""):
            self.refused(2, "is not a process id", "-p", word)
        self.refused(2, "no process given")
        self.refused(2, "try: wick stack -p 2147483000", "2147483000")
        self.refused(2, "try: .*for a core file: eu-stack --core core.1", "core.1")

    def test_a_kernel_thread_is_refused(self):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
                    text = file.read()
            except OSError:
                continue
            if "VmSize" not in text and not re.search(r"^State:\s+[ZX]", text, re.M):
                self.refused(2, "thread of the kernel", "-p", pid)
                return
        self.skipTest("no kernel thread is seen here")

    @unittest.skipIf(os.geteuid() == 0, "root may look at all")
    def test_anothers_process_is_refused(self):
        self.refused(4, "Operation not permitted.*try: as its user or root", "-p", OTHERS_PROCESS)

    def test_names_of_threads_are_data(self):
        script = """import time
with open("/proc/self/comm", "wb") as file:
    file.write(b'\\x1b[2J"\\\\<\\xff')
time.sleep(60)"""
        zoo = self.start(PYTHON, "-c", script)
        wait_for(lambda: "\x1b" in comm(zoo.pid))
        self.assertEqual(len(self.stack("-p", zoo.pid)["threads"]), 1)
        text = self.wick("stack", "-p", zoo.pid)
        self.assertNotIn(b"\x1b", text.stdout)
        self.assertIn(b"sleeping", text.stdout)


if __name__ == "__main__":
    unittest.main()
