"""One recording of a bench: what wick and perf wrote, and what they told about it."""
import os
import re
import subprocess
import time

HEADER = re.compile(r"^\S.* (\d+\.\d+): +(\d+) cpu-clock: $", re.M)
TOLD_COST = re.compile(r"in the program ([\d.]+) %[^,]*, wick itself ([\d.]+) %")
ALIASING = re.compile(r"in step with the kernel's|tick aliasing")
RATE_LINE = re.compile(r"^# rate : .*", re.M)


class Recording:
    """samples, weight, times, rate_lines of the file; in_program, of_wick (percent, or None) as told."""

    def __init__(self, path, told):
        self.told, text = told, ""
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            os.unlink(path)
        headers = HEADER.findall(text)
        self.times = [float(moment) for moment, _ in headers]
        self.samples, self.weight = len(headers), sum(int(weight) for _, weight in headers)
        self.text = text
        self.rate_lines = RATE_LINE.findall(text)
        cost = TOLD_COST.search(told)
        self.in_program, self.of_wick = map(float, cost.groups()) if cost else (None, None)
        self.aliasing = bool(ALIASING.search(told))

    def refusal(self):
        """The last line of what wick said, where it wrote nothing."""
        lines = [line for line in self.told.splitlines() if line.strip()]
        return "" if self.text else (lines[-1] if lines else "it wrote nothing")


class Ended:
    """A process that has: its status, rusage (with that of the children it waited for), wall seconds."""

    def __init__(self, process, start):
        _, status, self.usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.status, self.wall = process.returncode, time.monotonic() - start
        self.cpu = self.usage.ru_utime + self.usage.ru_stime


class Wick:
    """Runs wick and reads back what it wrote, in a folder for that."""

    def __init__(self, program, directory):
        self.program, self.path = program, os.path.join(directory, "recording.perf")
        self.told = os.path.join(directory, "told")

    def start(self, *words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL):
        """`wick record WORDS`, and what to give end()."""
        with open(self.told, "wb") as told:
            return subprocess.Popen([self.program, "record", "-v", "-o", self.path, *map(str, words)],
                                    stdin=stdin, stdout=stdout, stderr=told)

    def read(self):
        with open(self.told, encoding="utf-8", errors="replace") as file:
            return Recording(self.path, file.read())

    def record(self, *words):
        """(what the command printed, Recording, Ended)"""
        start = time.monotonic()
        process = self.start(*words, stdout=subprocess.PIPE)
        said = process.stdout.read().decode()
        process.stdout.close()
        ended = Ended(process, start)
        return said, self.read(), ended


def perf_times(data):
    """When `perf record -k CLOCK_MONOTONIC` took its samples."""
    said = subprocess.run(["perf", "script", "-F", "time", "-i", data], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True)
    return [float(word.rstrip(b":")) for word in said.stdout.split() if word[:1].isdigit()]
