"""recorded - runs wick the way a user does and reads what it wrote.

WICK names the binary and WICK_TARGETS the folder of the target programs (CMake sets both).
The reader here is written from docs/perf-script.md and shares nothing with wick's own.
"""
import collections
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import unittest.mock
import urllib.parse

from procfs import children, cpu_ns

WICK = os.path.abspath(os.environ.get("WICK", "build/dev/bin/wick"))
TARGETS = os.path.abspath(os.environ.get("WICK_TARGETS", "build/dev/tests/targets"))
LONG = os.environ.get("WICK_LONG") == "1"
PYTHON = "/usr/bin/python3"

Frame = collections.namedtuple("Frame", "addr symbol offset module")
Sample = collections.namedtuple(
    "Sample", "comm pid tid cpu time_ns weight event frames state metrics wait on waker labels",
    defaults=(None, None, None, None))
WORDS = ("st", "wait", "on", "waker", "comm")  # of a "# s" line, that are no metrics

HEADER = re.compile(r"^(\S+) +(\d+)/(\d+) +\[(\d+)\] +(\d+)\.(\d{6}|\d{9}): +(\d+) ([^\s:]+):(?: |(?:\t\w+: -?\d+, -?\d+)+)$")
FRAME = re.compile(r"^\t +([0-9a-f]+) (.+) \(([^()]*)\)$|^\t([0-9a-f]{16}) (.+) \(([^()]*)\)$")


def target(name):
    return os.path.join(TARGETS, name)


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise unittest.SkipTest(f"{program} is not installed")


def waker(word):
    """(tid, [functions, innermost first]) of a waker= word."""
    if word is None:
        return None
    tid, _, names = word.partition(":")
    return int(tid), [urllib.parse.unquote(name) for name in names.split(";") if name]


def read(path):
    """All samples of one file; raises on anything that docs/perf-script.md does not allow."""
    samples, state, known = [], {}, {}  # stacks repeat: known has the frame of each line that there was
    with open(path, encoding="utf-8", newline="\n") as file:
        text = file.read()  # "\r" is no end of a line
    if text and not text.endswith("\n"):
        raise ValueError(f"{path} ends within a line")
    lines = text.split("\n")[:-1]
    current = None
    for number, line in enumerate(lines, 1):
        if line in known and current is not None:
            current.frames.append(known[line])
            continue
        if line == "# f" or line.startswith("# f "):  # a release of memory, which only wick counts
            line = line[len("# f "):]
        if line.startswith("# s "):
            state = dict(word.split("=", 1) for word in line[4:].split())
        elif line.startswith("#"):
            if re.search(r'"lost_forged":[1-9]', line):
                raise ValueError(f"{path}: an innocent program was not believed")
            continue
        elif line == "":
            if current is None:
                raise ValueError(f"{path}:{number}: an empty line outside a sample")
            if not current.frames:
                raise ValueError(f"{path}:{number}: a sample without frames")
            samples.append(current)
            current, state = None, {}
        elif line.startswith("\t"):
            match = FRAME.match(line)
            if not match or current is None:
                raise ValueError(f"{path}:{number}: not a frame: {line!r}")
            addr, symbol, module = match.group(1, 2, 3) if match.group(1) else match.group(4, 5, 6)
            name, _, offset = symbol.rpartition("+0x")
            known[line] = Frame(int(addr, 16), name or symbol, int(offset, 16) if name else None, module)
            current.frames.append(known[line])
        else:
            match = HEADER.match(line)
            if not match or current is not None:
                raise ValueError(f"{path}:{number}: not a header: {line!r}")
            comm, pid, tid, cpu, seconds, fraction, weight, event = match.groups()
            time_ns = int(seconds) * 10**9 + int(fraction.ljust(9, "0"))
            metrics = {key: tuple(map(int, value.split(","))) for key, value in state.items()
                       if "," in value and key not in WORDS}
            current = Sample(comm, int(pid), int(tid), int(cpu), time_ns, int(weight), event, [],
                             state.get("st"), metrics, state.get("wait"),
                             urllib.parse.unquote(state["on"]) if "on" in state else None,
                             waker(state.get("waker")),
                             {key: urllib.parse.unquote(value) for key, value in state.items()
                              if "," not in value and key not in WORDS})
    if current is not None:
        raise ValueError(f"{path} ends within a sample")
    return samples


def notes(path, word):
    """The objects of the lines `# WORD : {...}`."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line.split(" : ", 1)[1]) for line in file if line.startswith(f"# {word} : ")]


def req_rows(paths):
    """What the lines `# req` add up to: {(tier, identity): {count, sum_ns, ...}}, and the same of tasks and
    functions by ("task" or "function", name, file)."""
    rows, until = {}, {}
    for row in (row for path in paths for row in notes(path, "req")):
        what = "tier" if "tier" in row else "task" if "task" in row else "function"
        key = (row["tier"], row["identity"]) if what == "tier" else (what, row[what], row["file"], row["line"])
        if row["since_ns"] < until.get(key, 0) or row["time_ns"] < row["since_ns"]:
            raise ValueError(f"{key}: intervals overlap")
        until[key] = row["time_ns"]
        sums = rows.setdefault(key, collections.Counter())
        for name, value in row.items():
            if name.endswith("max_ns"):
                sums[name] = max(sums[name], value)
            elif isinstance(value, int) and name not in ("since_ns", "time_ns", "live", "line"):
                sums[name] += value
    return rows


def end_of(path):
    """The counts of a recording's last line; raises where it has no such line."""
    last = text_of(path).splitlines()[-1]
    if not last.startswith("# wick-end : "):
        raise ValueError(f"{path} has no end: {last!r}")
    return json.loads(last.split(" : ", 1)[1])


def coverage(said):
    """What samples stand for, of the CPU that the kernel charged, as the summary or wick info says."""
    found = re.search(r"^  samples .* CPU, ([0-9.]+) % of what the program used", said, re.MULTILINE)
    if not found:
        raise AssertionError(f"no coverage: {said}")
    return float(found.group(1)) / 100


def wait_for(condition, seconds=20, what="it"):
    """What CONDITION gives, once that is something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what} did not come about in {seconds} s")


def child_of(pid):
    """The first child of a process, once it has one."""
    return wait_for(lambda: children(pid), what=f"a child of {pid}")[0]


def use_cpu(pid, seconds):
    """Waits until a process has used so much more CPU, however long that takes on this machine."""
    before = cpu_ns(pid)
    wait_for(lambda: cpu_ns(pid) - before > 1e9 * seconds, 120)


def end(process):
    """Ends a process, if it has not ended, and its streams."""
    if process.poll() is None:
        process.kill()
    process.wait(20)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            with contextlib.suppress(BrokenPipeError):
                stream.close()


class Run:
    """One `wick record`: status, output, and the samples of all its files in order."""

    def __init__(self, process, paths):
        self.status, self.stdout, self.stderr = (
            process.returncode, process.stdout, process.stderr)
        self.paths = paths
        self.samples = [sample for path in paths for sample in read(path)]

    @property
    def summary(self):
        return self.stderr.decode(errors="replace")

    @property
    def end(self):
        """The counts of the last line of the last file."""
        return end_of(self.paths[-1])

    @property
    def coverage(self):
        """What the samples stand for, of the CPU that the kernel charged: wick's own word."""
        return coverage(self.summary)

    def weight(self, keep=lambda sample: True):
        return sum(sample.weight for sample in self.samples if keep(sample))

    def share(self, function):
        """Percent of the weight whose innermost frame is FUNCTION."""
        total = self.weight()
        return 100 * self.weight(lambda s: s.frames[0].symbol == function) / total if total else 0


class Case(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="wick-e2e-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.cache = tempfile.mkdtemp(prefix="wick-e2e-cache-")
        self.addCleanup(shutil.rmtree, self.cache, ignore_errors=True)
        # Names are kept on disk: not in the directory of the user who runs the tests.
        # Nor do their own options count.
        environment = unittest.mock.patch.dict(os.environ, {"XDG_CACHE_HOME": self.cache, "WICK_CONFIG": ""})
        environment.start()
        self.addCleanup(environment.stop)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, data, mode=None):
        """A file of the test's own, of text or bytes; its path."""
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        if mode is not None:
            os.chmod(path, mode)
        return path

    def wick(self, *arguments, **options):
        options.setdefault("cwd", self.dir)
        options.setdefault("timeout", 170)
        options.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run([WICK, *map(str, arguments)], capture_output=True, check=False,
                              **options)
        if b"(lost_forged)" in (done.stderr or b""):
            raise AssertionError(f"an innocent program was not believed: {done.stderr.decode(errors='replace')}")
        return done

    def start(self, *command, **popen):
        """A program that is there until the test ends, if it does not end before."""
        popen = {"cwd": self.dir, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                 "stderr": subprocess.PIPE, **popen}
        process = subprocess.Popen([str(word) for word in command], **popen)
        self.addCleanup(end, process)
        return process

    @contextlib.contextmanager
    def running(self, *command, ready=0, **popen):
        """A program while it is needed.  READY: it is when it has used so many seconds of CPU, or, if
        True, when it says a line."""
        process = self.start(*command, **{"stderr": subprocess.DEVNULL, **popen})
        try:
            if ready is True:
                self.assertTrue(process.stdout.readline())
            else:
                wait_for(lambda: not ready or cpu_ns(process.pid) > 1e9 * ready or process.poll() is not None)
            yield process
        finally:
            end(process)

    def record_into(self, path, *arguments, way=(), **popen):
        """`wick record` into PATH, once that file is there or wick has ended.  WAY: what starts it."""
        wick = self.start(*way, WICK, "record", "-o", path, *arguments, **popen)
        wait_for(lambda: os.path.exists(path) or wick.poll() is not None)
        return wick

    @contextlib.contextmanager
    def recording(self, pids, *options, hz=4999, way=()):
        """An attached wick, and its file; it is interrupted at the end.  WAY: what starts it."""
        path = self.path(f"j{time.monotonic_ns()}.perf")
        with open(path + ".err", "wb") as said:
            wick = self.record_into(path, "-F", hz, "--max-overhead", "off", *options, "-p", pids, way=way, stderr=said)
        try:
            yield wick, path
        finally:
            if wick.poll() is None:
                wick.send_signal(signal.SIGINT)
            wick.wait(30)

    @staticmethod
    def summary_of(path):
        """What wick said of a recording()."""
        return text_of(path + ".err")

    def tick_ns(self):
        """The kernel looks at timers so often, while their thread runs."""
        found = re.search(r"kernel's (\d+) Hz", self.wick("doctor").stdout.decode())
        return 10**9 // int(found.group(1))

    def record(self, *command, options=(), hz=99, **popen):
        """`wick record` of a command into a fresh file; its samples."""
        handle, path = tempfile.mkstemp(dir=self.dir, suffix=".perf")
        os.close(handle)
        os.unlink(path)
        process = self.wick("record", "-F", hz, "-o", path, *options, "--", *command, **popen)
        stem = path[:-len(".perf")]
        return Run(process, sorted(glob.glob(stem + "*.perf")))
