"""Tasks: wick's time of a task is the time that it ran: its CPU time, and what it waited for a CPU meanwhile."""
import unittest

from judged import Judged
from recorded import req_rows, target

ERROR = 0.01  # of the time; the program's own readings of its clock are 0.1 % of it
MOST_DELAY = 0.01  # of it that others had the processor, in a run that is to say something of CPU time


class Tasks(Judged):
    def run_loops(self, threads, rounds):
        """A recording, and what its program says: {kind: (calls, wall ns, CPU ns, ns of the wall's while wick was told)}."""
        run = self.record(target("loops"), threads, rounds)
        self.assertEqual(run.status, 0, run.summary)
        own = (line.split() for line in run.stdout.decode().splitlines())
        return run, {name: tuple(map(int, numbers)) for name, *numbers in own}

    def check(self, run, own, threads, rounds):
        rows = {key[1]: row for key, row in req_rows(run.paths).items() if key[0] == "task"}
        calls, tenth = threads * rounds, threads * (rounds // 10)
        self.assertEqual(set(rows), set(own), run.summary)
        self.assertEqual([own[name][0] for name in ("parent", "child", "stillborn")], [calls, calls, tenth])
        self.assertEqual((rows["parent"]["calls"], rows["child"]["calls"]), (calls, calls))
        self.assertEqual((rows["stillborn"]["calls"], rows["stillborn"]["stillborn"]), (0, tenth))
        self.assertEqual((rows["child"]["cancelled"], rows["child"]["failed"]), (tenth, tenth))
        self.assertEqual(rows["parent"]["children_ns"], rows["child"]["exec_ns"])
        for name in ("parent", "child"):
            _, wall_ns, _, beside_ns = own[name]
            self.assert_near(rows[name]["exec_ns"] / wall_ns, 1, exact=ERROR, read=beside_ns / wall_ns,
                             what=f"{threads} loops: {name} by the wall's clock")
        for sample in run.samples:
            for frame in sample.frames:
                if frame.symbol in ("burn_parent", "burn_child"):
                    task = sample.labels.get("task", "")
                    self.assertTrue(task.startswith(frame.symbol.removeprefix("burn_") + "@loops.c:"), sample)
        return rows

    def test_one_loop_by_the_clocks_of_its_thread(self):
        def waited(result):
            _, own = result
            part = max(wall_ns / cpu_ns for _, wall_ns, cpu_ns, _ in own.values() if cpu_ns) - 1
            return [f"it did not run {100 * part:.1f} % of a task's time"] * (part > MOST_DELAY)
        (run, own), _ = self.conclusive(lambda: self.run_loops(1, 500), waited)
        rows = self.check(run, own, 1, 500)
        for name in ("parent", "child"):
            self.assert_near(rows[name]["exec_ns"] / own[name][2], 1, exact=ERROR, read=MOST_DELAY,
                             what=f"{name} by the CPU's clock")

    def test_eight_loops_in_eight_threads_by_the_clock(self):
        # They wait for one another, now and then between wick's reading of the clock and theirs.
        run, own = self.run_loops(8, 200)
        self.check(run, own, 8, 200)


if __name__ == "__main__":
    unittest.main()
