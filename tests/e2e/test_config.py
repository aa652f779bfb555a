"""wick.ini and WICK_*: options that are not on the command line.  And a recording that begins later."""
import os
import time
import unittest

from recorded import Case, notes, target


class Config(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("config"))
        os.mkdir(self.path("config/wick"))
        self.ini = self.path("config/wick/wick.ini")
        self.environment = {key: value for key, value in os.environ.items() if key != "WICK_CONFIG"}
        self.environment["XDG_CONFIG_HOME"] = self.path("config")

    def write(self, text, mode=0o644):  # pylint: disable=arguments-differ
        super().write(self.ini, text, mode)

    def run_wick(self, *arguments, **variables):
        return self.wick(*arguments, env={**self.environment, **variables})

    def rate_of(self, *options, **variables):
        """The rate that a recording was made with, and what wick said."""
        path = self.path("one.perf")
        if os.path.exists(path):
            os.unlink(path)
        done = self.run_wick("record", *options, "-o", path, "--", target("split"), "0.1", **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return notes(path, "wick")[0]["hz"], done.stderr.decode()

    def assert_refused(self, message, *options, **variables):
        done = self.run_wick("record", *options, "--", target("split"), "0.1", **variables)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(done.stderr.decode(), f"wick record: {message}\n")

    def test_flags_win_over_the_environment_and_that_over_the_file(self):
        self.assertEqual(self.rate_of()[0], 99)
        self.write("# mine\n[record]\nfreq = 49\n")
        self.assertEqual(self.rate_of()[0], 49)
        self.assertEqual(self.rate_of(WICK_FREQ="199")[0], 199)
        self.assertEqual(self.rate_of(WICK_FREQ="199", WICK_RECORD_FREQ="198")[0], 198)
        self.assertEqual(self.rate_of("-F", "250", WICK_FREQ="199")[0], 250)
        self.assertEqual(self.rate_of(WICK_CONFIG="")[0], 99)

    def test_a_switch_is_switched_off_again(self):
        self.write("[record]\nquiet = yes\n")
        self.assertEqual(self.rate_of()[1], "")
        self.assertIn("of what the program used", self.rate_of(WICK_QUIET="no")[1])

    def test_other_commands_have_sections_too(self):
        self.rate_of()
        self.write("[info]\njson = yes\n")
        self.assertEqual(self.run_wick("info", self.path("one.perf")).stdout[:1], b"{")

    def test_mistakes_are_told_with_their_line(self):
        self.write("[record]\n\nfreqq = 49\n")
        self.assert_refused(f"'{self.ini}' line 3: 'freqq' is not an option of wick record, try: freq")
        self.assertEqual(self.run_wick("record", "--help").returncode, 0)
        self.write("[report]\nfreq = 49\n")
        done = self.run_wick("report", self.path("one.perf"))
        self.assertEqual(done.stderr.decode(), f"wick report: '{self.ini}' line 2: 'freq' is not an option of wick report, "
                                               "try: wick help report\n")
        self.write("[record]\nfreq = many\n")
        self.assert_refused(f"'{self.ini}' line 2: -F: 'many' is not a rate: give samples per second, 1 to 10000")
        self.assert_refused("WICK_FREQ: -F: 'few' is not a rate: give samples per second, 1 to 10000", WICK_FREQ="few")
        self.assert_refused(f"open '{self.path('gone.ini')}': No such file or directory",
                            WICK_CONFIG=self.path("gone.ini"))

    def test_what_others_may_write_is_not_read(self):
        for mode in (0o664, 0o646):
            self.write("[record]\nfreq = 49\n", mode)
            rate, said = self.rate_of()
            self.assertEqual(rate, 99)
            self.assertIn(f"wick record: '{self.ini}' is not read: its group or other users can write to it", said)

    def test_a_file_of_another_user_is_not_read(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give files away")
        self.write("[record]\nfreq = 49\n")
        os.chown(self.ini, 65534, 65534)
        rate, said = self.rate_of()
        self.assertEqual(rate, 99)
        self.assertIn("it belongs to another user", said)

    def test_variables_that_are_no_options_mean_nothing(self):
        rate, said = self.rate_of(WICK_SOCKET="/nowhere", WICK_LONG="1", WICK_TARGETS="x", WICK="y")
        self.assertEqual(rate, 99)
        self.assertIn("of what the program used", said)


class Delay(Case):
    def test_no_sample_before_the_delay_is_over(self):
        begin = time.monotonic()
        run = self.record(target("split"), 3, options=("--delay", "1s", "-d", "1s"))
        self.assertEqual(run.status, 0, run.summary)
        self.assertGreaterEqual(min(sample.time_ns for sample in run.samples) / 1e9, begin + 1)
        self.assertIn("it is still running", run.summary)  # 2 s, while split takes 3 of CPU

    def test_a_delay_is_no_pause(self):
        done = self.wick("record", "--delay", "1s", "--paused", "--", "true")
        self.assertEqual((done.returncode, done.stderr),
                         (2, b"wick record: --delay begins sampling by itself, --paused waits for wick start, try: one of them\n"))


if __name__ == "__main__":
    unittest.main()
