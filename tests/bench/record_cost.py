#!/usr/bin/env python3
"""What recording costs, beside `perf record -g` + `perf script` and gperftools' libprofiler.

usage: record_cost.py --wick WICK [--charged CHARGED [--rounds 5] [--hz 99 999]]
                      [--busy BUSY [--threads 1 100 1000] [--seconds 20]]

With --charged: what programs cost to record.  Every round runs every way once, in turn, so that a machine that drifts drifts for all; what is
printed are medians over the rounds.  Per program, rate and way:
  recorder CPU seconds of everything but the target: the recorder, its text
  target   CPU of the target alone, as ratio to the bare run's of the same round; in brackets the
           ratio of the least of each, which a busy machine disturbs less
  wall     seconds from start to text on disk, minus the bare run's
  samples  in the text; bytes: text bytes a sample
The sum of both is the price: the recorder's CPU and the target's slow-down.

With --busy: what the recorder's own process uses, by the kernel's account of it, beside one busy
thread and others that only wait.  Per way and number of threads:
  start  CPU of a recording of 0.2 s at 99 Hz, with names in wick's cache: start, names, text, end
  fixed  CPU at 1 Hz less the start's, in percent of the time that it took
  sample CPU at 99 and 249 Hz less that at 1 Hz, a sample; at 4999 Hz with perf's events, in wick
perf's is that of `perf record -g` alone: its text, which `perf script` makes later, is not in it.
"""
import argparse
import glob
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

PROGRAMS = {
    "python3": ["/usr/bin/python3", "-c", "import json\nfor i in range(110): "
                "json.loads(json.dumps(list(range(60000))))\n"
                "print(sum(i * i % 7 for i in range(15000000)))"],
    "perl": ["perl", "-e", "$h{$_ % 977} .= 'x' for 1..14000000; print length $h{5}"],
    "xz -T2": ["sh", "-c", "xz -T2 -5 --block-size=4MiB -c DIR/data >/dev/null"],
    "cc1": ["gcc", "-O2", "-c", "DIR/big.c", "-o", "/dev/null"],
}


def make_inputs(directory):
    with open(f"{directory}/data", "wb") as file:
        for i in range(16):
            file.write(os.urandom(1 << 18) + b"wick" * (1 << 17) + bytes([i]) * (1 << 18))
    with open(f"{directory}/big.c", "w", encoding="ascii") as file:
        for i in range(1100):
            file.write(f"int f{i}(int a, int *b) {{ int s = {i}; for (int i = 0; i < a; i++) {{ s "
                       f"+= b[i] * {i + 3}; if (s % {i + 2} == 1) s ^= b[a - i]; }} return s; }}\n")


def timed(commands, environment, directory):
    """CPU and wall seconds of commands run one after the other."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    for command, output in commands:
        with open(output or os.devnull, "wb") as file:
            subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, env=environment,
                           cwd=directory, check=False)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall


def count(path, mark):
    with open(path, "rb") as file:
        return sum(mark in line for line in file)


def libprofiler():
    paths = glob.glob("/usr/lib/*/libprofiler.so*") + glob.glob("/usr/lib/libprofiler.so*")
    return sorted(paths)[0] if paths else None


def cpu_of(usage):
    return usage.ru_utime + usage.ru_stime


class Own:
    """The recorder's own CPU: the kernel's account of it and all that it has waited for, less what
    the target says of itself and less what a target uses behind that, which a bare run shows."""

    def __init__(self, arguments, directory):
        self.arguments, self.log, self.out = arguments, f"{directory}/log", f"{directory}/out"
        self.directory = directory
        self.environment = dict(os.environ, XDG_CACHE_HOME=f"{directory}/cache")

    def run(self, way, seconds, threads):
        """CPU seconds and wall seconds."""
        for path in (self.log, self.out):
            if os.path.exists(path):
                os.unlink(path)
        target = [self.arguments.busy, str(seconds), self.log, str(threads - 1)]
        start = time.monotonic()
        with subprocess.Popen([*way, *target], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, cwd=self.directory,
                              env=self.environment) as process:
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0
        wall = time.monotonic() - start
        with open(self.log, encoding="ascii") as file:
            return cpu_of(usage) - int(file.read().split()[1]) * 1e-9, wall

    def recorder(self, way, seconds, threads):
        bare, _ = self.run([], 0.02, threads)
        cpu, wall = self.run(way, seconds, threads)
        return cpu - bare, wall

    def ways(self, hz):
        engine = ["--engine", "perf"] if hz > 250 else []
        yield "wick", [self.arguments.wick, "record", "-q", "-F", str(hz), *engine, "-o", self.out,
                       "--"]
        if shutil.which("perf"):
            yield "perf", ["perf", "record", "-q", "-e", "cpu-clock:u", "-g", "-F", str(hz), "-o",
                           self.out, "--"]

    def samples(self, name, hz):
        if name == "wick":
            return count(self.out, b"cpu-clock:")
        script = subprocess.run(["perf", "script", "-i", self.out], capture_output=True, check=False)
        return script.stdout.count(b"cpu-clock:")

    def start(self, way, threads):
        self.run(way, 2, threads)  # names come into the cache
        return [self.recorder(way, 0.2, threads)[0] for _ in range(self.arguments.rounds)]

    def measure(self, threads):
        seconds, slow = self.arguments.seconds, {}
        for (name, way), (_, often) in zip(self.ways(1), self.ways(99)):
            start = statistics.median(self.start(often, threads))
            cpu, wall = self.recorder(way, seconds, threads)
            slow[name] = (cpu, wall, start)
            print(f"{threads:5} threads  {name}  start {start * 1e3:5.1f} ms  fixed "
                  f"{100 * (cpu - start) / wall:.3f} %", end="", flush=True)
            print(f"  (1 Hz, {wall:.0f} s: {cpu * 1e3:.1f} ms)")
        for hz in (99, 249, 4999):
            for name, way in self.ways(hz):
                cpu, wall = self.recorder(way, seconds, threads)
                samples = self.samples(name, hz)
                base = slow[name][2] + (slow[name][0] - slow[name][2]) * wall / slow[name][1]
                print(f"{threads:5} threads  {name}  {hz} Hz: {100 * cpu / wall:.3f} % in all, "
                      f"{samples} samples, {1e6 * (cpu - base) / max(samples, 1):.1f} us each")


class Bench:
    def __init__(self, arguments, directory):
        self.arguments, self.dir = arguments, directory
        self.results = {}

    def run_way(self, way, hz, program):
        charged, text = f"{self.dir}/charged", f"{self.dir}/text"
        for path in (text, f"{self.dir}/perf.data", f"{self.dir}/prof"):
            if os.path.exists(path):
                os.unlink(path)
        target = [self.arguments.charged, charged, *program]
        environment = dict(os.environ)
        commands = [(target, None)]
        if way == "wick":
            commands = [([self.arguments.wick, "record", "-q", "-F", str(hz), "-o", text, "--",
                          *target], None)]
        elif way == "perf":
            data = f"{self.dir}/perf.data"
            commands = [(["perf", "record", "-q", "-e", "cpu-clock:u", "-g", "-F", str(hz), "-o",
                          data, "--", *target], None), (["perf", "script", "-i", data], text)]
        elif way == "gperftools":
            environment.update(LD_PRELOAD=libprofiler(), CPUPROFILE=f"{self.dir}/prof",
                               CPUPROFILE_FREQUENCY=str(hz))
        cpu, wall = timed(commands, environment, self.dir)
        with open(charged, encoding="ascii") as file:
            own = float(file.read())
        samples = count(text, b"cpu-clock:") if os.path.exists(text) else 0
        size = os.path.getsize(text) / samples if samples else 0
        return cpu, wall, own, samples, size

    def run_program(self, name, program):
        ways = [("bare", 0)]
        for hz in self.arguments.hz:
            ways.append(("wick", hz))
            if shutil.which("perf"):
                ways.append(("perf", hz))
            if libprofiler():
                ways.append(("gperftools", hz))
        rows = {way: [] for way in ways}
        for _ in range(self.arguments.rounds):
            for way in ways:
                rows[way].append(self.run_way(*way, program))
        middle = {way: [statistics.median(column) for column in zip(*runs)]
                  for way, runs in rows.items()}
        bare = middle["bare", 0]
        print(f"\n{name}: bare {bare[0]:.2f} s of CPU, {bare[1]:.2f} s of wall")
        for way in ways[1:]:
            _, wall, _, samples, size = middle[way]
            # A ratio round by round: both runs of a round saw the same machine.
            pairs = statistics.median(run[2] / base[2]
                                      for run, base in zip(rows[way], rows["bare", 0]))
            recorder = statistics.median(run[0] - run[2] for run in rows[way])
            least = min(run[2] for run in rows[way]) / min(run[2] for run in rows["bare", 0])
            print(f"  {way[0]:10} {way[1]:5} Hz  recorder {recorder:6.3f} s "
                  f"({100 * recorder / bare[0]:4.1f} %)  target x{pairs:.4f} (x{least:.4f})  "
                  f"wall {wall - bare[1]:+6.3f} s  {samples:6.0f} samples  {size:5.0f} bytes")
            self.results.setdefault(way, []).append((recorder, pairs, least))

    def totals(self):
        print()
        for hz in self.arguments.hz:
            wick = self.results["wick", hz]
            for peer in ("perf", "gperftools"):
                other = self.results.get((peer, hz))
                if other:
                    mine, theirs = ([statistics.mean(column) for column in zip(*results)]
                                    for results in (wick, other))
                    print(f"{hz} Hz: wick's recorder takes {mine[0]:.3f} s a program, "
                          f"{peer}'s {theirs[0]:.3f} s; the target x{mine[1]:.4f} "
                          f"(x{mine[2]:.4f}) beside x{theirs[1]:.4f} (x{theirs[2]:.4f})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wick", required=True)
    parser.add_argument("--charged")
    parser.add_argument("--busy")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 100, 1000])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hz", type=int, nargs="+", default=[99, 999])
    arguments = parser.parse_args()
    arguments.wick = os.path.abspath(arguments.wick)
    for name in ("charged", "busy"):
        path = getattr(arguments, name)
        setattr(arguments, name, os.path.abspath(path) if path else None)
    with tempfile.TemporaryDirectory(prefix="wick-bench-") as directory:
        if arguments.charged:
            make_inputs(directory)
            bench = Bench(arguments, directory)
            for name, program in PROGRAMS.items():
                bench.run_program(name, [word.replace("DIR", directory) for word in program])
            bench.totals()
        for threads in arguments.threads if arguments.busy else ():
            Own(arguments, directory).measure(threads)


if __name__ == "__main__":
    main()
