"""Threads that hide: masks, EINTR, sigaltstack, a SIGPROF of the program's own."""
import contextlib
import os
import threading
import time
import unittest

from procfs import comm, schedstats
from recorded import LONG, Case, need, target

# As many samples either way.
SECONDS, HZ = (3, 99) if LONG else (1.5, 199)


class Accounts(threading.Thread):
    """What the kernel charges the threads of the one process called COMM: tid -> ns."""

    def __init__(self, comm):
        super().__init__(daemon=True)
        self.comm, self.pid, self.charged, self.over = comm, None, {}, threading.Event()

    def find(self):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if comm(pid) == self.comm:
                    return int(pid)
        return None

    def run(self):
        while not self.over.is_set():
            self.pid = self.pid or self.find()
            self.charged.update({tid: ran for tid, (ran, _, _) in schedstats(self.pid).items()})
            time.sleep(0.01)

    def workers(self):
        """The share of all but the first thread."""
        self.over.set()
        self.join()
        total = sum(self.charged.values())
        return 1 - self.charged.get(self.pid, 0) / total if total else 0


class Masks(Case):
    def test_xz_workers_that_block_every_signal(self):
        need("xz")
        data = self.path("data")
        with open(data, "wb") as file:
            for i in range(24 if LONG else 12):
                file.write(os.urandom(1 << 18) + b"wick" * (1 << 17) + bytes([i]) * (1 << 18))
        accounts = Accounts("xz")
        accounts.start()
        run = self.record("xz", "-T2", "-8", "--block-size=2MiB", "-k", data, hz=HZ)
        charged = accounts.workers()
        self.assertEqual(run.status, 0, run.summary)
        workers = run.weight(lambda s: s.tid != s.pid) / run.weight()
        print(f"xz -T2: {100 * workers:.1f} % of {len(run.samples)} samples in its workers; "
              f"the kernel charged them {100 * charged:.1f} %")
        self.assertGreaterEqual(workers, 0.95)
        self.assertAlmostEqual(workers, charged, delta=0.03)

    def check_masked(self, how, sees):
        run = self.record(target("masked"), how, SECONDS, hz=HZ)
        lines = [line.split() for line in run.stdout.decode().splitlines()]
        self.assertEqual(len(lines), 2, run.summary)
        true = sum(float(line[1]) for line in lines)
        workers = run.weight(lambda s: s.tid in {int(line[0]) for line in lines})
        print(f"masked by {how}: {100 * workers / run.weight():.1f} % in the workers, "
              f"{workers / HZ / true:.3f} of their CPU")
        self.assertGreaterEqual(workers / run.weight(), 0.95)
        self.assertGreaterEqual(workers / HZ / true, 0.85)
        self.assertLessEqual(workers / HZ / true, 1.05)
        for line in lines:
            self.assertEqual(line[2], sees)

    def test_workers_that_block_by_pthread_sigmask(self):
        self.check_masked("libc", "blocked")

    def test_workers_that_block_by_syscall(self):
        self.check_masked("syscall", "blocked")

    def test_workers_that_block_by_a_raw_instruction(self):
        self.check_masked("raw", "open")

    def test_masks_of_a_program_that_handles_sigprof_stay(self):
        run = self.record(target("masked"), "own", SECONDS / 3)
        lines = [line.split() for line in run.stdout.decode().splitlines()]
        self.assertEqual([line[2] for line in lines], ["blocked"] * 2, run.summary)

    def test_a_single_thread_that_blocks_all(self):
        run = self.record(target("block_all"), 1, hz=199)
        self.assertEqual(run.stdout, b"blocked\n")
        self.assertAlmostEqual(run.weight() / 199, 1, delta=0.075)


class Signals(Case):
    def test_an_epoll_server_sees_no_eintr(self):
        run = self.record(target("epoll_server"), 10000, 150, hz=199,
                          options=("--max-overhead", "off"))
        self.assertEqual(run.status, 0, run.summary)
        print(f"epoll server: {run.stdout.decode().strip()} EINTR in 20,000 waits, "
              f"{len(run.samples)} samples")
        self.assertEqual(run.stdout, b"0\n")
        self.assertGreaterEqual(len(run.samples), 200)

    def test_a_sigprof_of_the_program_goes_on(self):
        bare = self.wick_free(target("own_sigprof"), 0.6)
        for hz in (199, 999):
            run = self.record(target("own_sigprof"), 0.6, hz=hz)
            self.assertIn(b"own: right\nstrange: 0\n", run.stdout)
            self.assertEqual(run.stdout, bare)
            self.assertGreater(len(run.samples), 50)

    def test_a_small_sigaltstack_holds(self):
        bare = self.wick_free(target("altstack"), 0.6)
        for hz in (199, 999):
            run = self.record(target("altstack"), 0.6, hz=hz)
            self.assertEqual(run.stdout, bare)
            self.assertGreater(len(run.samples), 50)

    def wick_free(self, *command):
        import subprocess
        return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                              check=True).stdout


if __name__ == "__main__":
    unittest.main()
