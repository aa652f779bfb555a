"""Tasks: wick's time of a task is the thread's CPU time while it ran, and what the thread waited for a CPU."""
import unittest

from judged import Judged
from recorded import req_rows, target

ERROR = 0.01  # of the time; the program's own readings of its clock are 0.1 % of it
MOST_DELAY = 0.01  # of it, in a run that is to say whether both are the same


class Tasks(Judged):
    def run_loops(self, threads, rounds):
        """What wick has of each task, what the program has, and for how long its threads waited for a CPU."""
        run = self.record(target("loops"), threads, rounds)
        self.assertEqual(run.status, 0, run.summary)
        *kinds, delay = (line.split() for line in run.stdout.decode().splitlines())
        rows = {key[1]: row for key, row in req_rows(run.paths).items() if key[0] == "task"}
        self.assertEqual(set(rows), {name for name, _, _ in kinds}, run.summary)
        return run, rows, {name: (int(calls), int(cpu_ns)) for name, calls, cpu_ns in kinds}, int(delay[1])

    def check(self, run, rows, own, delay_ns, threads, rounds):
        calls, tenth = threads * rounds, threads * (rounds // 10)
        self.assertEqual((rows["parent"]["calls"], rows["child"]["calls"]), (own["parent"][0], own["child"][0]))
        self.assertEqual((own["parent"][0], own["child"][0], own["stillborn"][0]), (calls, calls, tenth))
        self.assertEqual((rows["stillborn"]["calls"], rows["stillborn"]["stillborn"]), (0, tenth))
        self.assertEqual((rows["child"]["cancelled"], rows["child"]["failed"]), (tenth, tenth))
        self.assertEqual(rows["parent"]["children_ns"], rows["child"]["exec_ns"])
        cpu_ns = sum(cpu for _, cpu in own.values())
        exec_ns = sum(row["exec_ns"] for row in rows.values())
        print(f"{threads} loops: exec {exec_ns / 1e6:.2f} ms, CPU {cpu_ns / 1e6:.2f} ms, waited {delay_ns / 1e6:.2f} ms; "
              f"{100 * (exec_ns / cpu_ns - 1):+.2f} %")
        self.assertGreater(exec_ns, cpu_ns * (1 - ERROR))
        self.assertLess(exec_ns, (cpu_ns + delay_ns) * (1 + ERROR))
        for name in ("parent", "child"):
            self.assertGreater(rows[name]["exec_ns"], own[name][1] * (1 - ERROR))
            self.assertLess(rows[name]["exec_ns"], own[name][1] * (1 + ERROR) + delay_ns)
        for sample in run.samples:
            for frame in sample.frames:
                if frame.symbol in ("burn_parent", "burn_child"):
                    task = sample.labels.get("task", "")
                    self.assertTrue(task.startswith(frame.symbol.removeprefix("burn_") + "@loops.c:"), sample)

    def test_one_loop(self):
        def waited(result):
            _, _, own, delay_ns = result
            part = delay_ns / sum(cpu_ns for _, cpu_ns in own.values())
            return [f"it waited {100 * part:.1f} % of its CPU time"] * (part > MOST_DELAY)
        result, _ = self.conclusive(lambda: self.run_loops(1, 500), waited)
        self.check(*result, 1, 500)

    def test_eight_loops_in_eight_threads(self):
        self.check(*self.run_loops(8, 200), 8, 200)


if __name__ == "__main__":
    unittest.main()
