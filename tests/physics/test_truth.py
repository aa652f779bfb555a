"""Physics: what wick says a program did is what the program did."""
import os
import unittest

from judged import Judged, chance_of
from recorded import LONG, PYTHON, need, target, text_of

MOST_UNSEEN_S = 0.1  # that a thread of the program used while no tick of the kernel's met it


class Truth(Judged):
    def check_split(self, seconds, most):
        """Slices of random length: a share of 70 % is known to within 0.9 points (one deviation) by
        2,490 samples, and to 1.1 by those of 7 s."""
        run = self.shares_run(target("split"), seconds, hz=249)
        self.assertEqual(run.status, 0, run.summary)
        truth = [float(word) for word in run.stdout.split()]
        for share, name in zip(truth, ("burn_seventy", "burn_twenty", "burn_ten")):
            self.assert_share(run, lambda s, n=name: s.frames[0].symbol == n, share, most, name)

    def test_split_of_70_20_10(self):
        self.check_split(7, 6)

    @unittest.skipUnless(LONG, "40 s: ./check --long")
    def test_split_of_70_20_10_in_40_seconds(self):
        self.check_split(40, 2.5)

    def test_threads_of_1_2_3_4_parts(self):
        def unseen(run):
            return [f"{line.split()[2]} s without a tick" for line in run.stdout.decode().splitlines()
                    if float(line.split()[2]) > MOST_UNSEEN_S]
        run, _ = self.conclusive(lambda: self.record(target("ratio"), 6 if LONG else 3), unseen, stolen=0.1)
        for line in run.stdout.decode().splitlines():
            tid, (seconds, at_ends) = int(line.split()[0]), map(float, line.split()[1:])
            found = run.weight(lambda s, tid=tid: s.tid == tid) / 99
            # A period at either end, and ticks; beside others none may meet it for long.
            self.assert_near(found, seconds, exact=2 / 99 + 3 * 0.004, read=at_ends, what="ratio")

    def test_threads_carry_their_names(self):
        run = self.record(target("ratio"), 2)
        names = {sample.comm for sample in run.samples}
        self.assertTrue({"part_b", "part_c", "part_d"} <= names, names)

    def test_short_threads_are_found(self):
        for discovery in ("timer", "hooks"):
            for milliseconds in (2, 8):
                with self.subTest(discovery=discovery, milliseconds=milliseconds):
                    run = self.cpu_run(target("short_threads"), milliseconds, 12 if LONG else 3, hz=249,
                                       options=("--discovery", discovery))
                    true = float(run.stdout)
                    weights = [s.weight for s in run.samples if s.tid != s.pid]
                    # Each of them is hit by a period's end or is not.
                    self.assert_near(sum(weights) / 249 / true, 1, exact=0.03, chance=chance_of(weights, 0.5) / 249 / true,
                                     what=f"short threads of {milliseconds} ms, {discovery}")

    def test_summary_names_tick_aliasing(self):
        """In every phase that does harm: where the work ends beside the tick there may be none."""
        said, phases = 0, range(0, 4000, 500 if LONG else 1000)
        for phase in phases:
            # It works by the clock, and is in step while it gets a processor at once.
            run, _ = self.conclusive(lambda phase=phase: self.record(target("tick_aligned"), phase, 4),
                                     preempted=0.03, stolen=0.05)
            true = float(run.stdout)
            says = "step with the kernel" in run.summary
            said += says
            covered, seen = run.weight() / 99 / true, len(run.samples) / 99 / true
            print(f"tick aligned, phase {phase} us: {covered:.2f} of {true:.2f} s, "
                  f"{len(run.samples)} samples, said so: {says}")
            if not says:
                self.assertGreater(seen, 0.75, "samples come late, and nothing is said")
                self.assertLess(abs(covered - 1), 0.1, "totals are off, and nothing is said")
        self.assertGreaterEqual(said, len(phases) // 2)
        quiet = self.cpu_run(target("split"), 2)
        self.assertNotIn("step with the kernel", quiet.summary)


class Coverage(Judged):
    """sum(weight) x period against the CPU time that the kernel charged: 0.95-1.05."""

    def check_coverage(self, name, command, rates=(99, 199, 249)):
        """Both discovery paths at each rate; ./check takes one rate, --long all of them."""
        for hz in rates if LONG else rates[-1:]:
            for discovery in ("timer", "hooks"):
                with self.subTest(program=name, hz=hz, discovery=discovery):
                    charged = self.path("charged")
                    run = self.cpu_run(target("charged"), charged, *command, hz=hz,
                                       options=("--discovery", discovery))
                    self.assertEqual(run.status, 0, run.summary)
                    seconds = float(text_of(charged))
                    coverage = run.weight(lambda s: s.comm != "charged") / hz / seconds
                    self.assert_near(coverage, 1, exact=0.05, what=f"{name}, {hz} Hz, {discovery}, {seconds:.2f} s")
                    self.assert_near(run.coverage, coverage, exact=0.05, what="the summary's word")

    def test_python(self):
        need(PYTHON)
        self.check_coverage("python3", [PYTHON, "-c", f"sum(i * i % 7 for i in range({85000000 if LONG else 45000000}))"])

    def test_xz_with_two_threads(self):
        need("xz")
        data = self.path("data")
        with open(data, "wb") as file:
            for i in range(64 if LONG else 32):
                file.write(os.urandom(1 << 18) + b"wick" * (1 << 17) + bytes([i]) * (1 << 18))
        self.check_coverage("xz -T2", ["sh", "-c", f"xz -T2 -5 --block-size=4MiB -c {data} >/dev/null"])

    @unittest.skipUnless(LONG, "./check --long")
    def test_perl(self):
        self.check_coverage("perl", ["perl", "-e", "my %h; for my $i (1..42000000) "
                                     "{ $h{$i % 5003} .= 'x' if $i % 3; } print length $h{7}"])

    def test_many_short_processes(self):
        n = 150 if LONG else 80
        self.check_coverage(f"{n} children of a shell, 60 ms each", [
            "sh", "-c", f"for i in $(seq {n}); do {target('busy')} 0.06 >/dev/null; done"],
            rates=(99,))


if __name__ == "__main__":
    unittest.main()
