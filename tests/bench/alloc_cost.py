#!/usr/bin/env python3
"""alloc_cost.py - what -e alloc costs: a malloc/free pair, python3 and redis

The pair is measured in one process (alloc_pair.c).  The programs are run by turns with and
without wick, in pairs, and what is printed is the median of the differences in their CPU (user and
system of the program alone), and the difference of the least, which a busy machine disturbs less.
"bare again" is the same without wick: what it differs by is noise.  heaptrack and tcmalloc's
sampling stand beside it where they run.
"""
import argparse
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PYTHON = """
import json
for _ in range(30):
    text = json.dumps([{"name": str(i), "values": list(range(i % 20))} for i in range(2000)])
    json.loads(text)
"""
TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4"


def cpu_of_python(command, env=None):
    """CPU seconds of python3, told by itself: not its start's, and none of wick's own."""
    code = ("import time\nbegin = time.process_time()\n" + PYTHON +
            "\nprint('CPU', time.process_time() - begin)")
    out = subprocess.run([*command, "/usr/bin/python3", "-c", code], capture_output=True, text=True,
                         check=True, env=env).stdout
    return float(re.search(r"^CPU (\S+)$", out, re.MULTILINE).group(1))


def redis_calls(port, n):
    """SETs of 100 bytes, one at a time, from here."""
    value = b"x" * 100
    with socket.create_connection(("127.0.0.1", port)) as link:
        for i in range(n):
            link.sendall(b"*3\r\n$3\r\nSET\r\n$8\r\n%08d\r\n$100\r\n%s\r\n" % (i, value))
            link.recv(64)


def cpu_of_redis(command, env=None):
    """CPU seconds of redis-server for 50,000 SETs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as place:
        process = subprocess.Popen(
            [*command, "redis-server", "--port", str(port), "--save", "", "--dir", place,
             "--pidfile", os.path.join(place, "pid"), "--daemonize", "no"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        with socket.create_connection(("127.0.0.1", port)) as link:
            link.sendall(b"INFO server\r\n")
            text = link.recv(65536).decode()
        pid = next(line.split(":")[1] for line in text.splitlines()
                   if line.startswith("process_id"))
        before = ticks_of(pid)
        redis_calls(port, 50000)
        used = ticks_of(pid) - before
        with socket.create_connection(("127.0.0.1", port)) as link:
            link.sendall(b"SHUTDOWN NOSAVE\r\n")
        process.wait(20)
    return used


def ticks_of(pid):
    """Seconds of CPU, by nanoseconds of its one busy thread."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def compare(name, measure, ways, rounds):
    """Medians of the differences against the first way, in percent."""
    more = {way[0]: [] for way in ways[1:]}
    least = {}
    for i in range(rounds):
        turn = ways if i % 2 else ways[::-1]
        got = {way[0]: measure(way[1], way[2]) for way in turn}
        for way, cpu in got.items():
            least[way] = min(cpu, least.get(way, cpu))
        for way in ways[1:]:
            more[way[0]].append(100 * (got[way[0]] / got["bare"] - 1))
    for way, percent in more.items():
        quartiles = statistics.quantiles(percent, n=4)
        print(f"{name:8s} {way:22s} {quartiles[1]:+6.2f} % CPU "
              f"(quartiles {quartiles[0]:+.2f} {quartiles[2]:+.2f}), "
              f"the least of each {100 * (least[way] / least['bare'] - 1):+.2f} %")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wick", required=True)
    parser.add_argument("--pair", required=True)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    place = tempfile.mkdtemp()
    wick = (options.wick, "record", "-q", "-o", os.path.join(place, "%p-%t.perf"), "-e")
    subprocess.run([*wick, "alloc", "--", options.pair], check=True)
    ways = [("bare", (), None), ("bare again", (), None),
            ("wick -e alloc", (*wick, "alloc", "--"), None)]
    if shutil.which("heaptrack"):
        ways.append(("heaptrack", ("heaptrack", "-o", os.path.join(place, "ht")), None))
    if os.path.exists(TCMALLOC):
        bare = dict(os.environ, LD_PRELOAD=TCMALLOC)
        ways.append(("tcmalloc", (), bare))
        ways.append(("tcmalloc, sampling", (), dict(bare, TCMALLOC_SAMPLE_PARAMETER="524288")))
    compare("python3", cpu_of_python, ways, options.rounds)
    if shutil.which("redis-server"):
        compare("redis", cpu_of_redis, ways[:3], options.rounds)
    shutil.rmtree(place, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
