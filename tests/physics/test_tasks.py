"""Tasks: wick's time of a task is the time that it ran: its CPU time, and what it waited for a CPU meanwhile."""
import unittest

from judged import Judged
from recorded import req_rows, target

ERROR = 0.01  # of the time; the program's own readings of its clock are 0.1 % of it
MOST_DELAY = 0.01  # of it, in a run that is to say whether wall and CPU time are the same


class Tasks(Judged):
    def run_loops(self, threads, rounds, *clock):
        """A recording, and what its program says: {kind: (calls, ns)}, and for how long it waited for a CPU."""
        run = self.record(target("loops"), threads, rounds, *clock)
        self.assertEqual(run.status, 0, run.summary)
        *kinds, delay = (line.split() for line in run.stdout.decode().splitlines())
        return run, {name: (int(calls), int(ns)) for name, calls, ns in kinds}, int(delay[1])

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
            exec_ns, own_ns = rows[name]["exec_ns"], own[name][1]
            print(f"{threads} loops: {name} {exec_ns / 1e6:.2f} ms, by its own clock {own_ns / 1e6:.2f} ms: "
                  f"{100 * (exec_ns / own_ns - 1):+.2f} %")
            self.assertLess(abs(exec_ns / own_ns - 1), ERROR + MOST_DELAY)
        for sample in run.samples:
            for frame in sample.frames:
                if frame.symbol in ("burn_parent", "burn_child"):
                    task = sample.labels.get("task", "")
                    self.assertTrue(task.startswith(frame.symbol.removeprefix("burn_") + "@loops.c:"), sample)

    def test_one_loop_by_the_cpu_clock_of_its_thread(self):
        def waited(result):
            _, own, delay_ns = result
            part = delay_ns / sum(cpu_ns for _, cpu_ns in own.values())
            return [f"it waited {100 * part:.1f} % of its CPU time"] * (part > MOST_DELAY)
        (run, own, _), _ = self.conclusive(lambda: self.run_loops(1, 500), waited, stolen=0.02)
        self.check(run, own, 1, 500)

    def test_eight_loops_in_eight_threads_by_the_clock(self):
        # They wait for one another, and few of the waits are between the two clocks.
        run, own, _ = self.run_loops(8, 200, "wall")
        self.check(run, own, 8, 200)


if __name__ == "__main__":
    unittest.main()
