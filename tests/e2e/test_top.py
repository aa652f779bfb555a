"""Choosing what is written: names, states, functions; and groups."""
import re
import unittest

from recorded import PYTHON, Case, target


class Kept(Case):
    def test_only_threads_whose_name_matches(self):
        run = self.record(target("heavy_threads"), 8, 4, 1, 2, options=("--threads", "[26]$"))
        self.assertEqual({s.comm for s in run.samples}, {"crew-2", "crew-6"})
        self.assertIn("by --threads", run.summary)

    def test_says_why_nothing_is_kept(self):
        # The regular expression would take for ever on a longer name.
        for option, value, why in (
                ("--threads", "(([a-z])+)+9$", "no thread has a name that matches; there were: split"),
                ("--only-under", "urn_twent", "no stack had that function in it, "
                                              "try: --only-under 'burn_twenty'")):
            run = self.record(target("split"), 0.3, options=(option, value))
            self.assertEqual((run.status, run.samples), (0, []))
            self.assertIn(why, run.summary)

    def test_memory_is_counted_on_its_own(self):
        run = self.record(PYTHON, "-c", "a = [bytes(999) for i in range(99999)]",
                          options=("-e", "cpu,alloc=64K", "--threads", "^nobody$"))
        kept = re.findall(r"kept +([0-9,]+) of them, ([0-9.]+) %", run.summary)
        self.assertEqual(set(kept), {("0", "0.0")}, run.summary)

    def test_only_stacks_under_a_function(self):
        # 750 samples: what the share is by chance has a deviation of 1.5 points.
        run = self.record(target("split"), 3, hz=249, options=("--only-under", "burn_twenty"))
        self.assertGreater(len(run.samples), 20)
        self.assertTrue(all(s.frames[0].symbol == "burn_twenty" for s in run.samples))
        values = [s.metrics["cpu_ns"] for s in run.samples]
        self.assertEqual(values[0][1], 0)
        for (before, _), (value, delta) in zip(values, values[1:]):
            self.assertEqual(delta, value - before)
        self.assertAlmostEqual(run.coverage, 1, delta=0.1)
        share = float(re.search(r"([0-9.]+) % of their time, by --only-under",
                                run.summary).group(1))
        self.assertAlmostEqual(share, float(run.stdout.split()[1]), delta=8)

    def test_only_states_of_a_wall_recording(self):
        run = self.record(target("heavy_threads"), 8, 2, 1, 1,
                          options=("-e", "wall", "--state", "sleeping"))
        self.assertEqual({s.state for s in run.samples}, {"sleeping"})
        run = self.record(target("heavy_threads"), 8, 2, 1, 1,
                          options=("-e", "wall", "--state", "running,runnable"))
        self.assertLessEqual({s.state for s in run.samples}, {"running", "runnable"})
        self.assertGreater(run.weight(), 50)


class Groups(Case):
    def test_stacks_are_put_under_frames(self):
        run = self.record(target("heavy_threads"), 8, 4, 1, 1, options=("--group", "state,thread,rss"))
        # It runs for a second of the wall: how many there are is the machine's word.
        self.assertTrue(run.samples)
        for sample in run.samples:
            size, thread, state = sample.frames[-3:]
            self.assertEqual(state[2:], (None, "[state]"))
            self.assertEqual(thread.symbol, f"{sample.comm}/{sample.tid}")
            self.assertEqual(state.symbol, sample.state)
            self.assertRegex(size.symbol, r"^1(|0|00)s [KM]iB$")
            self.assertEqual({frame.addr for frame in sample.frames[-3:]}, {0})
            kib = sample.metrics["rss_kib"][0]
            power = 10 ** (len(str(kib if kib < 1024 else kib // 1024)) - 1)
            self.assertEqual(size.symbol, f"{power}s {'KiB' if kib < 1024 else 'MiB'}")
        info = self.wick("info", run.paths[0]).stdout.decode()
        self.assertIn("heavy_threads", info)
        self.assertNotIn("[state]", info)  # no module


if __name__ == "__main__":
    unittest.main()
