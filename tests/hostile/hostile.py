"""What a hostile input costs wick: measured from outside, and judged."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Callable, NamedTuple, Optional

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from procfs import own_cpu_s, status  # pylint: disable=wrong-import-position

MOST_CPU_S = 1.0
MOST_BYTES = 256 << 20
MOST_END_S = 3.0
MEGABYTE = 1 << 20
PATIENCE_S = 60.0  # then it is killed, and has failed
LOOK_S = 0.01


class Input(NamedTuple):
    """What to run: ARGV, in a folder of its own."""
    argv: list
    input_bytes: int = 0  # allowances grow in proportion above 1 MB
    stop_s: Optional[float] = None  # STOP this long after the start; None: it ends by itself
    environment: dict = {}
    stop: signal.Signals = signal.SIGINT
    undo: Callable = lambda: None  # at the end, whatever became of it


class Result(NamedTuple):
    """What became of it."""
    status: int  # as subprocess has it
    cpu_s: float  # wick's own, without its children
    most_bytes: int
    end_s: float  # from STOP to the end; 0 where it ended by itself
    stdout: str
    stderr: str
    dir: str

    def text(self, name):
        """A file that it left in its folder; "" without one."""
        with contextlib.suppress(OSError), open(os.path.join(self.dir, name), encoding="utf-8", errors="replace") as file:
            return file.read()
        return ""


class Case(NamedTuple):
    """One input: MAKE(dir) writes it and gives the Input; JUDGE(result) says what is wrong, or nothing."""
    surface: str
    name: str
    make: Callable
    judge: Callable = lambda result: None
    long: bool = False  # only with WICK_LONG


def is_ended(pid):
    """It stays a zombie, whose CPU can still be read."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def watch(process, stop_s, stop):
    """(CPU seconds, most bytes, seconds from STOP to the end) of PROCESS, which is killed when it takes too long."""
    began, told, most = time.monotonic(), 0.0, 0
    while not is_ended(process.pid):
        most = max(most, 1024 * status(process.pid, "VmHWM"))
        now = time.monotonic()
        if stop_s is not None and not told and now - began >= stop_s:
            process.send_signal(stop)
            told = now
        if now - (told or began) > PATIENCE_S:
            process.kill()
        time.sleep(LOOK_S)
    return own_cpu_s(process.pid), most, time.monotonic() - told if told else 0.0


def measure(case, folder):
    given = case.make(folder)
    try:
        with open(os.path.join(folder, "stdout"), "w+b") as out, open(os.path.join(folder, "stderr"), "w+b") as err:
            with subprocess.Popen(given.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder,
                                  env={**os.environ, **given.environment}) as process:
                try:
                    cpu_s, most, end_s = watch(process, given.stop_s, given.stop)
                finally:
                    process.kill()
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read(4 * MEGABYTE).decode("utf-8", "replace"))
        result = Result(process.returncode, cpu_s, most, end_s, *texts, folder)
        return result, verdict(case, given, result)
    finally:
        given.undo()


def verdict(case, given, result):
    times = max(1.0, given.input_bytes / MEGABYTE)
    wrong = []
    if result.cpu_s > MOST_CPU_S * times:
        wrong.append(f"CPU over {MOST_CPU_S * times:.1f} s")
    if result.most_bytes > MOST_BYTES * times:
        wrong.append(f"memory over {MOST_BYTES * times / MEGABYTE:.0f} MB")
    if result.end_s > MOST_END_S:
        wrong.append(f"ended {result.end_s:.1f} s after {given.stop.name}")
    if result.status < 0:
        wrong.append(f"ended by {signal.Signals(-result.status).name}")
    word = case.judge(result)
    return "; ".join(wrong + [word] * bool(word)) or "ok"


def table(cases):
    """Runs them all and prints a row for each.  Return: whether all were right."""
    right = True
    print(f"| {'surface':10} | {'input':44} | CPU s | memory MB | end s | verdict")
    print(f"|{'-' * 12}|{'-' * 46}|------:|----------:|------:|--------")
    for case in cases:
        folder = tempfile.mkdtemp(prefix="wick-hostile-")
        try:
            result, word = measure(case, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        right = right and word == "ok"
        print(f"| {case.surface:10} | {case.name:44} | {result.cpu_s:5.2f} | {result.most_bytes / MEGABYTE:9.0f} | "
              f"{result.end_s:5.2f} | {word}", flush=True)
    return right
