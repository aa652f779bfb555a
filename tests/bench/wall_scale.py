#!/usr/bin/env python3
"""What wall mode costs the collector when there are many threads.

usage: wall_scale.py --wick WICK --many MANY_THREADS [--busy 50] [--hz 100] [--settle 10] [--for 5]

For 1,000 and 10,000 threads, BUSY of which wake 100 times a second: CPU of wick, in cores, once the
looks at the idle ones have become rare, and of its threads by name.  Beside it: what stopping all
threads at that rate would cost, as profilers by ptrace do, from a few rounds of PTRACE_SEIZE and
PTRACE_INTERRUPT over all threads.
"""
import argparse
import ctypes
import glob
import os
import subprocess
import tempfile
import time

TICK = os.sysconf("SC_CLK_TCK")
SEIZE, INTERRUPT, DETACH, WALL_OPTION = 0x4206, 0x4207, 17, 0x40000000


def cpu_of(path):
    with open(path, encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def threads_of(pid):
    return {path: cpu_of(path) for path in glob.glob(f"/proc/{pid}/task/*/stat")}


def stop_all(pid):
    """Seconds of CPU and of wall time to stop every thread of a process once and let it go."""
    libc = ctypes.CDLL(None, use_errno=True)
    tids = [int(tid) for tid in os.listdir(f"/proc/{pid}/task")]
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    start, cpu = time.monotonic(), time.process_time()
    seized = [tid for tid in tids if libc.ptrace(SEIZE, tid, None, None) == 0]
    for tid in seized:
        libc.ptrace(INTERRUPT, tid, None, None)
    for tid in seized:
        os.waitpid(tid, WALL_OPTION)
    for tid in seized:
        libc.ptrace(DETACH, tid, None, None)
    return len(seized), time.process_time() - cpu, time.monotonic() - start


def measure(options, n):
    total = options.settle + options.seconds
    with tempfile.TemporaryDirectory() as directory:
        wick = subprocess.Popen(
            [options.wick, "record", "-v", "-e", "wall", "-F", str(options.hz), "-o",
             f"{directory}/x.perf", "--", options.many, str(n), str(options.busy), str(total + 3)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started = int(wick.stdout.readline().split()[1])
        time.sleep(options.settle)
        before, start = threads_of(wick.pid), time.monotonic()
        time.sleep(options.seconds)
        after, seconds = threads_of(wick.pid), time.monotonic() - start
        said = wick.communicate()[1]
    each = [(after[path] - before.get(path, 0)) / seconds for path in sorted(after)]
    print(f"{started} threads, {options.busy} busy, {options.hz} Hz: wick {sum(each):.3f} cores "
          f"(its threads: {', '.join(f'{cores:.3f}' for cores in each)})")
    print("\n".join(line for line in said.splitlines()
                    if line.split()[0] in ("samples", "states", "blocked")))
    beside = subprocess.Popen([options.many, str(n), str(options.busy), "60"],
                              stdout=subprocess.PIPE, text=True)
    beside.stdout.readline()
    stopped, cpu, wall = stop_all(beside.pid)
    beside.kill()
    beside.wait()
    print(f"  stopping {stopped} threads once: {1000 * wall:.1f} ms, {1000 * cpu:.1f} ms of CPU of "
          f"the profiler's; at {options.hz} Hz {cpu * options.hz:.1f} cores")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wick", required=True)
    parser.add_argument("--many", required=True)
    parser.add_argument("--busy", type=int, default=50)
    parser.add_argument("--hz", type=int, default=100)
    parser.add_argument("--settle", type=int, default=10)
    parser.add_argument("--for", type=int, default=5, dest="seconds")
    options = parser.parse_args()
    for n in (1000, 10000):
        measure(options, n)


if __name__ == "__main__":
    main()
