"""trigger - a condition that comes true leaves one file with the time before it."""
import glob
import os
import re
import unittest

from judged import Judged, recorded
from recorded import notes, target, text_of

SECOND = 10**9
GIVEN = 0.5  # processors, that the program has in its episode unless the machine is another's
# What an episode has much of, and the condition that is to see it.
KINDS = {
    "cpu": ("cpu>30% for 500ms", "%"),
    "memory": ("rss>100M", "M"),
    "growth": ("rss+50%", "%"),
    "faults": ("faults>3000/s", "/s"),
    "gauge": ("gauge queue_len>100", ""),
    "threads": ("run_delay>100%", "%"),
}


def has_pressure():
    """Whether this kernel tells it: not every one does."""
    try:
        return bool(text_of("/proc/pressure/memory"))
    except OSError:
        return False


class Trigger(Judged):
    def run_episode(self, what, conditions, before, during, after, *options):
        """A program with one episode; the run, and when the episode began and ended."""
        triggers = [word for text in conditions for word in ("--trigger", text)]
        run = self.record(target("episode"), before, during, after, *what,
                          options=[*triggers, *options], hz=99)
        self.assertEqual(run.status, 0, run.summary)
        begun, used, ended, used_then = map(float, run.stdout.split())
        # What the machine gave it: of one processor.
        self.given = (used_then - used) / (ended - begun)
        return run, int(begun * SECOND), int(ended * SECOND)

    def disturbed(self, _):
        """A machine that gives the program little CPU gives it little of the rest, too."""
        return [f"the program had {self.given:.2f} processors"] * (self.given < GIVEN)

    def check_file(self, run, text, pre_ns, begun, ended):
        """The file of one condition, and what it holds: also what fired beside it."""
        (path,) = re.findall(rf"'{re.escape(text)}' \(.*\): \d+ samples of .* are in '(.*)'",
                             run.summary)
        samples = recorded.read(path)
        (note,) = [note for note in notes(path, "trigger") if note["why"] == text]
        at = note["time_ns"]
        self.assertGreater(at, begun)
        self.assertLess(at, ended + 2 * SECOND)
        self.assertLess(samples[0].time_ns, at - pre_ns * 8 // 10)
        self.assertGreater(samples[0].time_ns, at - pre_ns - 2 * SECOND)
        self.assertGreater(samples[-1].time_ns, at - SECOND // 2)
        return path

    def test_each_kind_fires_once(self):
        """All at once: one file each, with what was before."""
        pre_ns = (10 if recorded.LONG else 2) * SECOND
        texts = [text for text, _ in KINDS.values()]
        run, begun, ended = self.conclusive(lambda: self.run_episode(
            ["cpu", "memory", "faults", "gauge", "threads"], texts, pre_ns / SECOND + 0.8, 2, 0.7,
            "--pre", f"{pre_ns // SECOND}s", "--post", "500ms"), self.disturbed)[0]
        seen = [note["why"] for path in run.paths for note in notes(path, "trigger")]
        missing = [text for text in texts if text not in seen]
        self.assertEqual(missing, [], run.summary)
        self.assertEqual(len(run.paths), len(texts), run.summary)
        for text, unit in KINDS.values():
            values = {note["value"] for path in run.paths for note in notes(path, "trigger")
                      if note["why"] == text}
            self.assertEqual(len(values), 1, text)  # the same firing, in whichever files it is
            self.assertTrue(values.pop().endswith(unit))
            self.assertEqual(run.summary.count(f"'{text}'"), 2, run.summary)  # fired, written
        found = {self.check_file(run, text, pre_ns, begun, ended) for text in texts}
        self.assertEqual(found, set(run.paths))

    def test_what_stays_quiet_fires_nothing(self):
        run, _, _ = self.run_episode(
            [], [*(text for text, _ in KINDS.values() if not text.startswith("run_delay")),
                 *(["psi.memory>99%"] if has_pressure() else [])], 1.2, 0.8, 0.4, "--pre", "1s")
        self.assertEqual(run.paths, [], run.summary)
        self.assertIn("no samples were written", run.summary)

    def test_the_time_after_is_in_the_file(self):
        """What comes in --post after it, also when the program ends before that."""
        run, begun, _ = self.run_episode(["gauge"], ["gauge queue_len>100"], 1.2, 1.9, 0.2,
                                         "--pre", "1s", "--post", "1s")
        (path,) = run.paths
        samples = recorded.read(path)
        (note,) = notes(path, "trigger")
        self.assertLess(note["time_ns"] - begun, SECOND)
        self.assertGreater(samples[-1].time_ns, note["time_ns"] + SECOND // 2)
        self.assertLess(samples[-1].time_ns, note["time_ns"] + SECOND + 1)
        self.assertTrue(any(s.metrics["queue_len"][0] == 500 for s in samples))
        run, _, _ = self.run_episode(["gauge"], ["gauge queue_len>100"], 1.2, 0.5, 0.1,
                                     "--pre", "1s", "--post", "1min")
        self.assertEqual(len(run.paths), 1, run.summary)

    def test_cooldown_and_limit(self):
        """Two episodes of a program: as often as they say."""
        command = f"{target('episode')} 0.3 0.5 0.7 gauge; {target('episode')} 0.4 0.5 0.3 gauge"
        for options, n in ((("--trigger-cooldown", "500ms"), 2),
                           (("--trigger-cooldown", "500ms", "--trigger-limit", "1"), 1)):
            run = self.record("sh", "-c", command, options=[
                "--trigger", "gauge queue_len>100", "--pre", "300ms", "--post", "0", *options])
            self.assertEqual(len(run.paths), n, run.summary)
            self.assertEqual("more than --limit lets it" in run.summary, "--limit" in options)

    def test_a_recording_explains_it(self):
        """doctor finds in a recording what the triggers found."""
        path = self.path("whole.perf")
        process = self.wick("record", "-q", "--metrics", "auto,queue_len", "-o", path, "--",
                            target("episode"), 1.5, 1.5, 0.7, "cpu", "memory", "faults", "gauge")
        self.assertEqual(process.returncode, 0, process.stderr)
        (begun, used), (ended, used_then) = (map(float, line.split()) for line in process.stdout.splitlines())
        # Half-way between the two parts, by what the machine gave it in either.
        quiet, much = used / 1.5, (used_then - used) / (ended - begun)
        asked = [f"cpu>{50 * (quiet + much):.0f}% for 500ms", "rss>100M", "faults>3000/s", "gauge queue_len>100",
                 "cpu>5000%", "psi.io>1%", "gauge nobody>1"]
        process = self.wick("doctor", *(word for text in asked
                                        for word in ("--explain-trigger", text)), path)
        lines = process.stdout.decode().splitlines()
        self.assertEqual(process.returncode, 0, process.stderr)
        for text in asked[:4]:
            (line,) = [line for line in lines if line.startswith(f"'{text}' ")]
            self.assertIn("would have fired once in ", line)
        told = {line.split("'")[1]: line for line in lines if line.startswith("'")}
        self.assertIn("would not have fired in ", told["cpu>5000%"])
        self.assertIn("unknown: recordings do not contain the pressure", told["psi.io>1%"])
        self.assertIn("unknown: the recording does not have the gauge", told["gauge nobody>1"])
        self.assertEqual(len([line for line in lines if line.startswith("  at ")]), 4)

    def test_what_makes_no_sense(self):
        for options, message in (
                (("--trigger", "cpu>80x for 2s"), "--trigger: 'cpu>80x for 2s': 'x for 2s' at column 7 is not a unit (cpu>80%)"),
                (("--trigger", "cpu"), "'cpu': > or < is missing at the end (cpu>80%)"),
                (("--trigger", "gauge Q>1"), "'Q>1' at column 7 is not the name of a gauge (a-z, 0-9 and _)"),
                (("--trigger-pre", "1s"), "need a --trigger"),
                (("--trigger", "cpu>1%", "--limit", "0"), "--trigger-limit: '0' is not a number from 1 to"),
                (("--trigger", "cpu>1%", "--trigger-cooldown", "x"), "--trigger-cooldown: 'x' is not a duration")):
            process = self.wick("record", *options, "--", "true")
            self.assertEqual(process.returncode, 2)
            self.assertIn(message, process.stderr.decode())
        process = self.wick("doctor", "--explain-trigger", "cpu>1", os.devnull)
        self.assertEqual(process.returncode, 2)
        self.assertIn("'cpu>1': a unit is missing at the end (cpu>80%)", process.stderr.decode())
        process = self.wick("doctor", "--explain-trigger", "cpu>1%")
        self.assertEqual(process.returncode, 2)
        self.assertEqual(glob.glob(self.path("*")), [])


if __name__ == "__main__":
    unittest.main()
