"""Programs that take no agent: what is found of them from outside is what they did."""
import os
import unittest

from judged import Judged, chance_of
from recorded import LONG, target

SPLIT = ("burn_seventy", "burn_twenty", "burn_ten")
TURNS = ("0", "turns")  # of split
TURN_NS = 10**7  # the outside engine's, at least
STATIC = target("split_static")


class Outside(Judged):
    def record_static(self, seconds, *turns, hz=99):
        run = self.cpu_run(STATIC, seconds, *turns, hz=hz, options=("--max-overhead", "off"))
        self.assertEqual(run.status, 0, run.summary)
        self.assert_near(run.weight() / hz, seconds, exact=0.05 * seconds + 0.05)
        return run

    def check_split(self, seconds, most, *turns, by_chance=False):
        """As the program says itself.  BY_CHANCE: looks come when others let them, in no step with turns."""
        run = self.record_static(seconds, *turns)
        for name, true in zip(SPLIT, map(float, run.stdout.split())):
            found = 100 * run.weight(lambda s, n=name: any(f.symbol == n for f in s.frames)) / run.weight()
            chance = 100 * chance_of([s.weight for s in run.samples], true / 100) / run.weight() if by_chance else 0
            self.assert_near(found, true, exact=most, chance=chance, what=name)

    def test_shares_of_a_static_program(self):
        """In turns, chance is less than a point."""
        self.check_split(3, 4, *TURNS)

    def test_it_is_seen_where_it_works_not_where_it_is_put_off(self):
        """Beside others that want all processors: it is preempted in the system call that it makes."""
        for _ in range(2 * os.cpu_count()):
            self.start(target("busy"), 60)
        self.check_split(1.5, 4, *TURNS, by_chance=True)

    @unittest.skipUnless(LONG, "40 s: ./check --long")
    def test_slices_of_random_length(self):
        self.check_split(40, 4)

    def test_every_thread_has_what_it_used(self):
        """67 on as many processors as there are: also threads that end between two turns, or were not found running."""
        for n, seconds, hz in ((67, 0.1, 99), (67, 0.03, 999), (3, 0.5, 99)):
            run, reading = self.conclusive(lambda: self.record(
                target("thread_parts"), n, seconds, hz=hz,
                options=("--engine", "ptrace", "--max-overhead", "off")), stolen=0.1)
            self.assertEqual(run.status, 0, run.summary)
            used = {int(tid): float(cpu) for tid, cpu in map(str.split, run.stdout.decode().splitlines())}
            found = {tid: run.weight(lambda s, t=tid: s.tid == t) for tid in used}
            off = {tid: 100 * found[tid] / run.weight() - 100 * used[tid] / sum(used.values()) for tid in used}
            worst = max(off, key=lambda tid: abs(off[tid]))
            self.assert_near(off[worst], 0, exact=3, what=f"of {n} the thread that is furthest off, in points")
            # Each ends in mid-period, or what it used last is not seen any more: while wick waits for a
            # processor, whoever has it ends unseen.
            self.assert_near(run.weight() / hz, sum(used.values()), exact=0.05 * sum(used.values()) + n / hz / 2,
                             read=reading.wick_s)

    def test_higher_rates_weigh_more(self):
        run = self.record_static(2, *TURNS, hz=999)
        # However long it waits for processors meanwhile: two stops a turn, of 10 ms less an eighth.
        span_ns = run.samples[-1].time_ns - run.samples[0].time_ns
        print(f"{len(run.samples)} samples of {run.weight()} in {span_ns / 1e9:.2f} s")
        self.assertLessEqual(len(run.samples), 2 * span_ns / (TURN_NS * 7 / 8) + 2)


if __name__ == "__main__":
    unittest.main()
