"""Metrics: each is what the kernel, libc or the program itself says at that moment.

tests/targets/metrics.c uses up what the metrics count and writes readings of its own.  A value
that wick's collector reads may be 100 ms older or newer than its sample, so it has to lie between
the least and the most of what was true then; one of the record has to lie between the readings
before and after its sample.
"""
import bisect
import collections
import contextlib
import fcntl
import os
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import termios
import time
import unittest

from recorded import LONG, PYTHON, WICK, Case, need, notes, read, target, text_of, wait_for

MS = 1_000_000
LIST = ("auto,swap_kib,io_read_bytes,io_write_bytes,fd_count,"
        "queue_len,hits:counter,batch,nobody_has_it")
AUTO = {"cpu_ns", "minflt", "majflt", "vcsw", "ivcsw", "stack_bytes", "rss_kib", "rss_anon_kib",
        "rss_file_kib", "run_delay_ns", "threads"}
if os.stat("/proc/self/fd").st_size:  # Linux 6.2 and later count descriptors cheaply
    AUTO.add("fd_count")
# What the documentation allows beside the moment of the reading.
ERROR = {"cpu_ns": 1000, "minflt": 0, "majflt": 0, "vcsw": 0, "ivcsw": 0,
         "rss_kib": 256, "rss_anon_kib": 256, "rss_file_kib": 256, "swap_kib": 256,
         "run_delay_ns": 0, "io_read_bytes": 0, "io_write_bytes": 0,
         "fd_count": 2,  # those that the program's own reading needs
         "threads": 0, "queue_len": 0, "hits": 0, "batch": 0}
ALL = AUTO | {"swap_kib", "io_read_bytes", "io_write_bytes", "fd_count", "sock_in_bytes",
              "sock_out_bytes"}
GROWING = {"cpu_ns", "minflt", "majflt", "vcsw", "ivcsw", "run_delay_ns", "io_read_bytes",
           "io_write_bytes", "hits"}
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RECORD = ("cpu_ns", "minflt", "majflt", "vcsw", "ivcsw")
# At the rate that is asked for, whatever it costs: the budget has tests of its own.
NO_BUDGET = ("--max-overhead", "off")

# A program with a gauge, and a library with another that it loads later and closes again.
PROGRAM = """
#include <wick.h>
#include <dlfcn.h>
#include <time.h>
static void burn(double seconds)
{
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
	while (clock() < end)
		;
}
int main(int argc, char **argv)
{
	static int64_t mine = 7;
	wick_gauge("mine", &mine);
	burn(0.15);
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : 0;
	if (!library)
		return 1;
	((void (*)(void))dlsym(library, "begin"))();
	burn(0.35);
	if (dlclose(library) != 0 || dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
		return 1;
	mine = 8;
	burn(0.1);
	return 0;
}
"""
LIBRARY = """
#include <wick.h>
void begin(void)
{
	wick_gauge_set("late", 11);
}
"""
# A handler that is given memory while the program is inside malloc, where it holds malloc's lock:
# the handler's comes from the thread's cache, which needs none.
IN_MALLOC = """
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
static volatile long n;
static void *volatile block; /* or the compiler leaves both calls out */
static void on_alarm(int number)
{
	block = malloc(1000);
	free(block);
	n++;
	(void)number;
}
int main(void)
{
	struct itimerval often = {{0, 500}, {0, 500}};
	void *some[1000];
	for (int i = 0; i < 1000; i++)
		some[i] = malloc(2000);
	for (int i = 0; i < 1000; i += 2)
		free(some[i]);
	block = malloc(1000);
	free(block);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, 0);
	while (n < 4000)
		malloc_trim(0);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, 0);
	return 0;
}
"""
KINDS = (["-pie", "-fPIE"], ["-no-pie", "-fno-pie", "-s"], ["-flto"],
         ["-Wl,--gc-sections", "-fdata-sections", "-x", "c++", "-fpermissive"])

# Takes one connection, has more to say than its peer takes, and reads nothing.
SERVER = """
import os, socket, sys
for _ in range(int(sys.argv[1])):
	os.dup(0)
with socket.create_server(("127.0.0.1", 0)) as server:
	print(server.getsockname()[1], flush=True)
	peer = server.accept()[0]
peer.setblocking(False)
try:
	while True:
		peer.send(bytes(1 << 20))
except BlockingIOError:
	print("full", flush=True)
sys.stdin.readline()
"""

Reading = collections.namedtuple("Reading", "time_ns values")


def read_log(path):
    readings = []
    with open(path, encoding="ascii") as file:
        for line in file:
            time_ns, *words = line.split()
            readings.append(Reading(int(time_ns), {name: int(value) for name, value in
                                                   (word.split("=") for word in words)}))
    return readings


def off_by(readings, name, time_ns, value, slack_ns):
    """How far a value is from all that was true within SLACK_NS of a time."""
    first = max(bisect.bisect_right(readings, time_ns - slack_ns, key=lambda reading: reading.time_ns) - 1, 0)
    last = bisect.bisect_left(readings, time_ns + slack_ns, key=lambda reading: reading.time_ns)
    near = [reading.values[name] for reading in readings[first:last + 1]]
    return max(min(near) - value, value - max(near), 0)


def end_stop(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def connect(port):
    """A connection; None without a listener yet."""
    try:
        return socket.create_connection(("127.0.0.1", port))
    except ConnectionRefusedError:
        return None


def names_of(sample):
    return [frame.symbol for frame in sample.frames]


class Metrics(Case):
    recorded = {}

    def climb(self, seconds, *options, hz=249):
        log = self.path("log")
        run = self.record(target("metrics"), log, self.dir, seconds, hz=hz,
                          options=("--ns", *NO_BUDGET, "--metrics", LIST, *options))
        self.assertEqual(run.status, 0, run.summary)
        readings = read_log(log)
        # The threads beside the main one have metrics of their own.
        mine = [sample for sample in run.samples if sample.tid == sample.pid and
                readings[0].time_ns <= sample.time_ns <= readings[-1].time_ns]
        self.assertGreater(len(mine), 50)
        return run, mine, readings

    def climbed(self):
        """One recording that several tests look at, in segments."""
        if "climb" not in self.recorded:
            self.recorded["climb"] = self.climb(10 if LONG else 1.2, "--rotate", "40samples")
        return self.recorded["climb"]

    def climbed_wall(self):
        if "wall" not in self.recorded:
            self.recorded["wall"] = self.climb(3 if LONG else 0.6, "-e", "wall")
        return self.recorded["wall"]

    def assert_true_readings(self, samples, readings, errors, at_once=()):
        """What was true before the program's first reading is unknown."""
        for name, error in errors.items():
            slack = 0 if name in at_once else 100 * MS
            off = [off_by(readings, name, sample.time_ns, sample.metrics[name][0], slack)
                   for sample in samples if sample.time_ns >= readings[0].time_ns + slack]
            wrong = sum(by > error for by in off)
            values = [sample.metrics[name][0] for sample in samples]
            print(f"{name}: {len(off)} samples, {min(values)} to {max(values)}, "
                  f"{wrong} off by more than {error}, at most by {max(off)}")
            # A collector that other programs keep from running is late for some.
            late = 0 if LONG or name in at_once else len(off) // 50
            self.assertLessEqual(wrong, late, name)

    def test_each_is_what_an_independent_reading_says(self):
        run, samples, readings = self.climbed()
        self.assert_true_readings(samples, readings, ERROR, RECORD)
        self.assertEqual({sample.metrics["nobody_has_it"] for sample in samples}, {(0, 0)})
        self.assertIn("no program registered the gauge 'nobody_has_it'", run.summary)
        self.assertNotIn("'queue_len'", run.summary)

    def test_each_is_as_true_of_a_blocked_thread(self):
        _, samples, readings = self.climbed_wall()
        # Faults and switches are those of the last sample on a CPU.
        self.assert_true_readings(samples, readings, {
            name: error for name, error in ERROR.items()
            if name not in ("minflt", "majflt", "vcsw", "ivcsw")} | {"cpu_ns": 2000})

    def test_each_moves_as_much_as_the_program_made_it(self):
        _, samples, readings = self.climbed()
        half = readings[0].time_ns + (readings[-1].time_ns - readings[0].time_ns) // 2
        up = [sample for sample in samples if sample.time_ns < half]

        def span(name, of=up):
            values = [sample.metrics[name][0] for sample in of]
            return max(values) - min(values)

        heap = [reading.values["heap_kib"] for reading in readings if reading.time_ns < half]
        self.assertAlmostEqual(span("rss_anon_kib"), max(heap) - heap[0], delta=5 * 1024)
        self.assertGreaterEqual(max(heap) - heap[0], 8 * 4096)
        self.assertGreaterEqual(span("fd_count"), 7 * 20)
        self.assertGreaterEqual(span("threads"), 7)
        self.assertGreaterEqual(span("hits"), 3 * 7)
        self.assertGreaterEqual(span("batch"), 7)
        self.assertGreaterEqual(span("io_write_bytes", samples), 15 * 262144)
        with open("/proc/swaps", encoding="ascii") as file:
            if len(file.readlines()) > 1:
                self.assertGreaterEqual(span("swap_kib", samples), 4 * 1024)
        # Two threads on one processor: each waits as long as it runs, but for its naps.
        wall = samples[-1].time_ns - samples[0].time_ns
        share = span("run_delay_ns", samples) / wall
        print(f"run_delay_ns: {100 * share:.1f} % of the time")
        self.assertGreater(share, 0.3)

    def assert_deeper(self, what, samples):
        deep = [sample.metrics["stack_bytes"][0] for sample in samples
                if "go_deep" in names_of(sample)]
        flat = [sample.metrics["stack_bytes"][0] for sample in samples
                if "go_deep" not in names_of(sample)]
        self.assertGreater(min(len(deep), len(flat)), 5)
        difference = statistics.median(deep) - statistics.median(flat)
        print(f"stack_bytes: {difference} more, 100,000 are the array's ({what})")
        self.assertAlmostEqual(difference, 100000, delta=512)

    def test_stack_bytes_is_the_depth_of_the_stack(self):
        _, samples, _ = self.climbed()
        self.assert_deeper("on a CPU", [sample for sample in samples
                                        if names_of(sample)[:2] == ["work", "burn_for"]])
        _, samples, _ = self.climbed_wall()
        self.assert_deeper("asleep", [sample for sample in samples if sample.state == "sleeping"
                                      and "nap" in names_of(sample)])

    def test_the_heap_is_what_the_allocator_says(self):
        _, samples, readings = self.climb(0.2, "-e", "alloc=128K", "--metrics", "all", hz=99)
        values = [sample.metrics["heap_live_bytes"][0] for sample in samples]
        for sample in samples:
            live, taken, given = (sample.metrics[name][0] for name in
                                  ("heap_live_bytes", "alloc_bytes", "free_bytes"))
            self.assertEqual(live, taken - given)
        truth = [Reading(reading.time_ns, {"live": (
            reading.values["heap_kib"] - readings[0].values["heap_kib"]) * 1024})
            for reading in readings]
        off = [off_by(truth, "live", sample.time_ns, value, MS)
               for sample, value in zip(samples, values)]
        print(f"heap_live_bytes: {len(off)} samples, {min(values)} to {max(values)}, "
              f"at most {max(off)} off mallinfo2")
        self.assertGreater(max(values), 30 << 20)
        self.assertLess(max(off), 2 << 20)

    def test_the_arenas_are_what_mallinfo2_says(self):
        names = ("arena_bytes", "arena_free_bytes")
        _, samples, readings = self.climb(0.2, "-e", "cpu,alloc=16K", "--metrics", ",".join(names))
        values = [tuple(sample.metrics[name][0] for name in names) for sample in samples]
        truth = {tuple(reading.values[name] for name in names) for reading in readings}
        print(f"arenas: {len(set(values))} values of {len(truth)} that there were: {sorted(set(values))[:4]}...")
        seen = [value for value in values if value != (0, 0)]
        self.assertGreater(len(seen), len(values) // 2)
        for value, of in zip(zip(*seen), zip(*truth)):
            self.assertGreaterEqual(min(value), 0.5 * min(of))
            self.assertLessEqual(max(value), 1.5 * max(of))
        self.assertIn("try: -e cpu,alloc", self.wick("record", "--metrics", "arena_bytes", "--",
                                                     "true").stderr.decode())
        self.assertNotIn("arena_bytes", self.record(target("metrics"), "/dev/null", self.dir, 0.1,
                                                    options=("--metrics", "all")).samples[0].metrics)

    def test_a_handler_inside_malloc_waits_for_nothing(self):
        need("gcc")
        self.write("in.c", IN_MALLOC)
        subprocess.run(["gcc", "-O1", "in.c", "-o", "in"], cwd=self.dir, check=True)
        run = self.record(self.path("in"), options=("-e", "alloc=1K", "--metrics", "arena_bytes,arena_free_bytes"),
                          timeout=60)
        self.assertEqual(run.status, 0, run.summary)
        inside = [sample for sample in run.samples if "on_alarm" in names_of(sample)]
        self.assertGreater(len(inside), 20)
        self.assertGreater(run.samples[-1].metrics["arena_bytes"][0], 0)

    def assert_deltas(self, samples):
        by_thread = collections.defaultdict(list)
        for sample in samples:
            by_thread[sample.tid].append(sample.metrics)
        for metrics in by_thread.values():
            for name in metrics[0]:
                self.assertEqual(metrics[0][name][1], 0, name)
                self.assertEqual(sum(metric[name][1] for metric in metrics),
                                 metrics[-1][name][0] - metrics[0][name][0], name)
                for before, metric in zip(metrics, metrics[1:]):
                    self.assertEqual(metric[name][1], metric[name][0] - before[name][0], name)
                    self.assertFalse(name in GROWING and metric[name][1] < 0, name)

    def test_deltas_add_up_across_segments(self):
        run, _, _ = self.climbed()
        self.assertGreater(len(run.paths), 5)
        self.assert_deltas(run.samples)
        self.assert_deltas(self.climbed_wall()[0].samples)

    def test_deltas_add_up_when_samples_are_left_out(self):
        run, _, _ = self.climb(0.4, "--only-under", "burn_for", "--rotate", "20samples")
        self.assertGreater(len(run.paths), 1)
        self.assertTrue(all("burn_for" in names_of(sample) for sample in run.samples))
        self.assert_deltas(run.samples)

    def test_only_what_was_asked_for_is_there(self):
        for wanted, names in (("none", set()), ("auto", AUTO), ("all", ALL),
                              ("auto,swap_kib", AUTO | {"swap_kib"}),
                              ("threads,who", {"threads", "who"})):
            run = self.record(target("gauge_lives"), 0.02, options=("--metrics", wanted), hz=999)
            self.assertEqual({frozenset(sample.metrics) for sample in run.samples},
                             {frozenset(names)}, wanted)
            declared = notes(run.paths[0], "wick")[0]["metrics"]
            self.assertEqual({metric["name"] for metric in declared}, names)

    def test_a_name_that_can_be_none_is_refused_and_the_known_are_told(self):
        for wrong in ("rss-kib", "Queue", "a b", "", "auto,none"):
            said = self.wick("record", "--metrics", wrong, "--", "true").stderr.decode()
            self.assertIn("is not a metric", said)
            for name in ALL | {"auto", "none", "heap_live_bytes"}:
                self.assertIn(name, said)
        page = text_of(os.path.join(ROOT, "docs", "man", "wick-record.1"))
        for name in ALL | {"alloc_bytes", "free_bytes", "heap_live_bytes"}:
            self.assertIn(name, page)
        run = self.record("true", options=("--metrics", "rss_kb"))
        self.assertIn("did you mean rss_kib?", run.summary)

    def assert_clock(self, what, run, n_samples):
        off, begun, unread = [], {}, 0
        for sample in run.samples:
            clock_us = sample.metrics["clock_us"][0]
            since = sample.time_ns - begun.setdefault(sample.pid, sample.time_ns)
            if clock_us:
                off.append(abs(clock_us - sample.time_ns // 1000))
            else:  # not registered yet, or not yet seen
                unread += since > 200 * MS
        off.sort()
        self.assertGreater(len(off), n_samples, run.summary)
        wrong = sum(us > 100_000 for us in off) + unread
        print(f"{what}: {len(off)} readings of a clock, half of them off by {off[len(off) // 2]} us "
              f"or more, 1 in 100 by {off[-len(off) // 100]}, at most {off[-1]}; "
              f"{wrong} by more than 100 ms")
        self.assertLessEqual(wrong, 0 if LONG else max(len(off) // 50, 1))

    def clock(self, processes, threads, busy, *options, hz=49):
        return self.record(target("gauge_clock"), processes, threads, busy, 10 if LONG else 0.6,
                           hz=hz, options=("--ns", *NO_BUDGET, "--metrics", "clock_us", *options))

    def test_a_reading_is_at_most_100_ms_from_its_sample(self):
        self.assert_clock("100 threads", self.clock(1, 100, 4, hz=249), 20)
        self.assert_clock("100 threads, wall", self.clock(1, 100, 1, "-e", "wall"), 500)
        self.assert_clock("20 processes, wall", self.clock(20, 5, 0, "-e", "wall"), 500)
        if LONG:
            self.assert_clock("20 processes", self.clock(20, 5, 0, hz=249), 100)

    def test_gauges_are_found_in_every_kind_of_program(self):
        need("gcc")
        self.write("a.c", PROGRAM)
        self.write("b.c", LIBRARY)
        include = "-I" + os.path.join(ROOT, "sampler", "include")
        library = self.path("b.so")
        subprocess.run(["gcc", "-shared", "-fPIC", include, "b.c", "-o", library],
                       cwd=self.dir, check=True)
        for flags in KINDS if LONG else KINDS[:2]:
            subprocess.run(["gcc", "-O2", *flags, include, "a.c", "-o", "a"], cwd=self.dir,
                           check=True)
            run = self.record(self.path("a"), library, options=(*NO_BUDGET, "--metrics", "mine,late"), hz=249)
            self.assertEqual(run.status, 0, run.summary)
            found = {name: {sample.metrics[name][0] for sample in run.samples} - {0}
                     for name in ("mine", "late")}
            self.assertEqual(found, {"mine": {7, 8}, "late": {11}}, flags)
            # The library has been closed: its last value stands.
            self.assertEqual(run.samples[-1].metrics["late"][0], 11)

    def queues(self, client, pid, requests, stopped):
        """What ss(8) says of the peer of a connection, and samples of that time: requests are sent
        while its process does not read, or, if STOPPED, does not run."""
        metrics = "sock_in_bytes,sock_out_bytes"
        with self.recording(pid, "-e", "wall", "--metrics", metrics, hz=50) as (wick, path):
            time.sleep(0.3)
            if stopped:
                os.kill(pid, signal.SIGSTOP)
                self.addCleanup(end_stop, pid)
            client.sendall(requests)
            wait_for(lambda: struct.unpack("i", fcntl.ioctl(client, termios.TIOCOUTQ, bytes(4)))[0] == 0)
            begun = time.monotonic_ns()
            said = subprocess.run(["ss", "-tnH", f"sport = :{client.getpeername()[1]}"],
                                  check=True, capture_output=True, text=True).stdout
            time.sleep(1.2)
            ended = time.monotonic_ns()
            end_stop(pid)
        self.assertEqual(wick.returncode, 0)
        samples = [sample.metrics for sample in read(path)
                   if begun + 150 * MS < sample.time_ns < ended and sample.tid == pid]
        self.assertGreater(len(samples), 3)
        lines = [line.split() for line in said.splitlines() if line.startswith("ESTAB")]
        shown = [sum(int(line[column]) for line in lines) for column in (1, 2)]
        print(f"ss: {shown[0]} in, {shown[1]} out; {len(samples)} samples:",
              *{tuple(sample[name][0] for name in metrics.split(",")) for sample in samples})
        return shown, samples

    def assert_queues(self, client, pid, out, stopped=False):
        need("ss")
        requests = b"PING\r\n" * 10000
        shown, samples = self.queues(client, pid, requests, stopped)
        self.assertEqual(shown[0], len(requests))
        self.assertEqual(shown[1] > 0, out)
        # A busy machine may be late to read them; once they are right they stay so.
        values = [[sample[name][0] for name in ("sock_in_bytes", "sock_out_bytes")] for sample in samples]
        self.assertIn(shown, values)
        values = values[values.index(shown):]
        self.assertGreater(len(values), 3)
        self.assertEqual(values, [shown] * len(values))

    def test_what_waits_in_sockets_is_what_ss_says(self):
        for n_more in (0, 900):  # more descriptors are listed in more than one step
            with self.running(PYTHON, "-c", SERVER, n_more, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as server:
                port = int(server.stdout.readline())
                with socket.create_connection(("127.0.0.1", port)) as client:
                    self.assertEqual(server.stdout.readline(), b"full\n")
                    self.assert_queues(client, server.pid, True)

    def test_ten_thousand_requests_wait_in_the_socket_of_redis(self):
        need("redis-server")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with self.running("redis-server", "--port", port, "--save", "", "--dir", self.dir,
                          stdout=subprocess.DEVNULL) as redis:
            client = wait_for(lambda: connect(port))
            with client:
                client.sendall(b"PING\r\n")
                self.assertEqual(client.recv(100), b"+PONG\r\n")
                self.assert_queues(client, redis.pid, False, stopped=True)

    def test_a_child_and_what_it_becomes_have_gauges_of_their_own(self):
        run = self.record(target("gauge_lives"), 0.3, options=(*NO_BUDGET, "--metrics", "who,lent"), hz=499)
        self.assertEqual(run.status, 0, run.summary)
        pids = list(dict.fromkeys(sample.pid for sample in run.samples))
        self.assertEqual(len(pids), 2)
        counts = [collections.Counter() for _ in pids]
        for sample in run.samples:
            counts[pids.index(sample.pid)][sample.metrics["who"][0]] += sample.weight
        print("gauges of a program and its child: ", *map(dict, counts))
        self.assertEqual(set(counts[0]) - {0}, {1})
        self.assertGreater(counts[0][1], 100)
        self.assertGreater(min(counts[1][2], counts[1][3]), 40)
        self.assertGreater(counts[1][2] + counts[1][3], 0.9 * counts[1].total())
        # Its memory is gone for half of the time: the last value stands.
        self.assertEqual({sample.metrics["lent"][0] for sample in run.samples
                          if sample.pid == pids[0]} - {0}, {5})

    def test_the_header_is_installed_and_the_example_works(self):
        need("cmake", "gcc", "g++", "pkg-config", "nm")
        build = os.path.dirname(os.path.dirname(os.path.abspath(WICK)))
        prefix = self.path("prefix")
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                       capture_output=True)
        flags = [f"-I{prefix}/include"]
        for header in ("wick.h", "wick.hpp", "wick_uv.h", "wick_event.h", "wick_otel.h"):
            self.assertTrue(os.path.exists(f"{prefix}/include/{header}"), header)
        shutil.copy(os.path.join(ROOT, "docs", "examples", "gauges.c"), self.dir)
        strict = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-O2"]
        for compiler in (["gcc", "-std=c99"], ["g++", "-x", "c++", "-std=c++11"],
                         ["gcc", "-std=c11", "-static"]):
            subprocess.run([*compiler, *strict, *flags, "gauges.c", "-o", "gauges"],
                           cwd=self.dir, check=True)
            undefined = subprocess.run(["nm", "-u", "gauges"], cwd=self.dir, check=True,
                                       capture_output=True).stdout
            self.assertNotIn(b"wick", undefined)
            if "-std=c99" not in compiler:
                continue
            subprocess.run([self.path("gauges")], check=True, capture_output=True)
            run = self.record(self.path("gauges"),
                              options=("--metrics", "queue_len,done:counter,batch_bytes"))
            last = run.samples[-1].metrics
            self.assertGreater(last["done"][0], 100)
            self.assertGreaterEqual(last["batch_bytes"][0], 100 * 1000)
            self.assertTrue(all(0 <= sample.metrics["queue_len"][0] <= 100
                                for sample in run.samples))


if __name__ == "__main__":
    unittest.main()
