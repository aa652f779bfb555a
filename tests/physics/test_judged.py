"""How claims about time are judged, by readings that were recorded: no clock, no program."""
import io
import random
import unittest
from contextlib import redirect_stdout

import judged

STAT = "cpu  {user} 10 200 50000 3 0 7 {steal} 0 0\ncpu0 1 2 3\n"
PRESSURE = "some avg10=73.29 avg60=83.07 avg300=81.24 total={us}\nfull avg10=0.00 total=9\n"


class Files:
    """/proc as it was read, one text after the other; the last one stays."""

    def __init__(self, **texts):
        self.texts = {path.replace("_", "/"): list(of) for path, of in texts.items()}

    def __call__(self, path):
        of = self.texts.get(path, [""])
        return of.pop(0) if len(of) > 1 else of[0]


def recorded_reading(worst_s=0.0, stolen_s=0.0, late_s=0.0):
    """A class of readings that say so."""
    class Recorded(judged.Reading):
        def __enter__(self):
            self.wall_s, self.stolen_s, self.late_s = 2, stolen_s, late_s
            self.wick.worst_s = self.wick.total_s = worst_s
            return self

        def __exit__(self, *_):
            pass
    return Recorded


class Reading(unittest.TestCase):
    def test_processors_are_those_of_the_first_line(self):
        busy_s, stolen_s = judged.processors(STAT.format(user=100, steal=25))
        self.assertAlmostEqual(busy_s, 317 / judged.USER_HZ)
        self.assertAlmostEqual(stolen_s, 25 / judged.USER_HZ)

    def test_pressure_that_the_kernel_does_not_tell_is_none(self):
        self.assertEqual(judged.stalled_s(PRESSURE.format(us=2500000)), 2.5)
        self.assertEqual(judged.stalled_s(""), 0)

    def test_waits_add_up_and_the_longest_is_kept(self):
        waits = judged.Waits()
        for text in ("5 1000000000 3", "6 1000000000 3", "7 1250000000 4", "8 1300000000 5"):
            waits.look(7, text, known=False)
        self.assertAlmostEqual(waits.total_s, 0.3)
        self.assertAlmostEqual(waits.worst_s, 0.25)

    def test_a_thread_that_begins_meanwhile_counts_whole_and_a_tid_may_come_again(self):
        waits = judged.Waits()
        for text in ("5 40000000 3", "", "5 50000000 3", "1 20000000 1"):
            waits.look(7, text)
        self.assertAlmostEqual(waits.total_s, 0.07)
        self.assertAlmostEqual(waits.worst_s, 0.04)

    def test_wick_and_the_program_are_told_apart(self):
        files = Files(_proc_5_task_5_children=["70 "], _proc_70_task_70_children=["80 "],
                      _proc_70_comm=["wick\n"], _proc_80_comm=["split\n"],
                      _proc_70_task_70_schedstat=["1 3000000 1"], _proc_70_task_71_schedstat=["1 9000000 1"],
                      _proc_80_task_80_schedstat=["1 800000000 1"])
        reading = judged.Reading(pid=5, read=files)
        reading.tasks = lambda pid: {"70": ["70", "71"], "80": ["80"]}[pid]
        reading.look()
        self.assertAlmostEqual(reading.wick.total_s, 0.012)
        self.assertAlmostEqual(reading.wick.worst_s, 0.009)
        self.assertAlmostEqual(reading.program.total_s, 0.8)

    def test_others_are_what_is_busy_and_not_ours(self):
        reading = judged.Reading()
        reading.settle((10.0, 100.0, 1.0, 5.0, 7.0), (12.0, 104.0, 1.5, 6.0, 8.0))
        self.assertEqual((reading.wall_s, reading.stolen_s, reading.stalled_s, reading.others), (2, 0.5, 1, 1.5))
        self.assertEqual(reading.stolen, 0.25)
        reading.program.total_s = 0.5
        self.assertEqual(reading.preempted, 0.25)


class Judged(unittest.TestCase):
    """One claim, as it is judged in a quiet run, in a disturbed one, and where it is wrong."""

    def judge(self, reading, found, runs=None, limits=None):
        """The outcome of a test that finds one number after the other: (word, runs, what was printed)."""
        left = list(found)
        taken = []

        class Claim(judged.Judged):
            def setUp(self):
                pass

            def claim(self):
                self.reading = lambda: (runs.pop(0) if runs else reading)()

                def measure():
                    taken.append(left.pop(0) if len(left) > 1 else left[0])
                    return taken[-1]
                value, read = self.conclusive(measure, **(limits or {"wick_s": 0.1}))
                self.assert_near(value, 1, exact=0.02, read=2 * read.wick_s)

        result, printed = unittest.TestResult(), io.StringIO()
        with redirect_stdout(printed):
            Claim("claim").run(result)
        self.assertEqual(result.errors, [])
        word = "failed" if result.failures else "skipped" if result.skipped else "passed"
        return word, len(taken), printed.getvalue() + "".join(text for _, text in result.skipped)

    def test_a_quiet_run_passes(self):
        word, runs, printed = self.judge(recorded_reading(0.001), [1.01])
        self.assertEqual((word, runs), ("passed", 1))
        self.assertNotIn("inconclusive", printed)

    def test_a_wrong_result_of_a_quiet_run_fails_at_once(self):
        self.assertEqual(self.judge(recorded_reading(0.001), [0.94, 1])[:2], ("failed", 1))

    def test_what_was_read_is_allowed_for(self):
        self.assertEqual(self.judge(recorded_reading(0.03), [0.94])[:2], ("passed", 1))
        self.assertEqual(self.judge(recorded_reading(0.03), [0.91])[:2], ("failed", 1))

    def test_a_run_above_the_limit_is_repeated_whatever_it_found(self):
        for found in (1, 0.5):
            word, runs, printed = self.judge(recorded_reading(0.3), [found])
            self.assertEqual((word, runs), ("skipped", 1 + judged.REPEATS))
            self.assertEqual(printed.count("repeated\n"), judged.REPEATS)
            self.assertIn("wick_s 0.300 > 0.1", printed)

    def test_the_first_run_within_the_limit_counts(self):
        loud, quiet = recorded_reading(0.3), recorded_reading(0.001)
        self.assertEqual(self.judge(quiet, [1, 1, 1], [loud, loud])[:2], ("passed", 3))
        self.assertEqual(self.judge(quiet, [1, 1, 0.9], [loud, loud])[:2], ("failed", 3))

    def test_every_reading_may_have_a_limit(self):
        for name, reading in (("stolen", recorded_reading(stolen_s=0.5)), ("late_s", recorded_reading(late_s=0.2)),
                              ("delay_s", recorded_reading(late_s=0.2))):
            word, _, printed = self.judge(reading, [1], limits={name: 0.1})
            self.assertEqual(word, "skipped")
            self.assertIn(f"{name} 0.2", printed)


class Chance(unittest.TestCase):
    def test_a_bound_is_four_deviations(self):
        self.assertAlmostEqual(judged.chance_of([1] * 10000), 400)
        self.assertAlmostEqual(judged.chance_of([1] * 10000, 0.5), 200)
        self.assertAlmostEqual(judged.chance_of([2] * 10000, 0.5), 400)

    def test_chance_stays_within_it_and_a_wrong_share_does_not(self):
        rng = random.Random(4)
        for true, wanted in ((0.7, 0), (0.8, 200)):
            beyond = 0
            for _ in range(200):
                weights = [rng.choice((1, 1, 1, 4)) for _ in range(1000)]
                hit = sum(weight for weight in weights if rng.random() < true)
                beyond += abs(hit - 0.7 * sum(weights)) > judged.chance_of(weights, 0.7)
            self.assertGreaterEqual(beyond, 0.5 * wanted)
            self.assertLessEqual(beyond, wanted)


if __name__ == "__main__":
    unittest.main()
