"""How tests are counted, by what programs have printed."""
import unittest

from tally import judge, lines_of

UNITTEST = """test_one (__main__.Case.test_one) ... ok
test_two (__main__.Case.test_two)
What it is about. ... reading: 1.55 s: 1.93 processors for others
sleep: 1.5000 of 1.5000
ok
test_three (__main__.Case.test_three) ... FAIL
test_four (__main__.Case.test_four) ... inconclusive: wick_s 0.300 > 0.1
repeated
skipped 'inconclusive 4 times: wick_s 0.300 > 0.1'
test_five (__main__.Case.test_five) ... skipped 'needs root'
test_six (__main__.Case.test_six) ...
  test_six (__main__.Case.test_six) (hz=99) ... ERROR

======================================================================
FAIL: test_three (__main__.Case.test_three)
"""
CMOCKA = "[ RUN      ] adds\n[       OK ] adds\n[ RUN      ] fails\n[  FAILED  ] fails\n[  SKIPPED ] waits\n"


class Tally(unittest.TestCase):
    def test_every_test_is_counted_once_whatever_it_prints(self):
        self.assertEqual(lines_of(UNITTEST), {
            "test_one": "passed", "test_two": "passed", "test_three": "failed", "test_four": "inconclusive",
            "test_five": "skipped", "test_six": "failed"})
        self.assertEqual(lines_of(CMOCKA), {"adds": "passed", "fails": "failed", "waits": "skipped"})

    def test_a_program_that_ends_badly_is_a_failure(self):
        self.assertEqual(judge("x", "no lines", False, True), {"x": "failed"})
        self.assertEqual(judge("x", "[       OK ] adds\n", False, True), {"adds": "passed", "x": "failed"})
        self.assertEqual(judge("x", UNITTEST, False, True), lines_of(UNITTEST))

    def test_a_program_without_lines_is_one_test(self):
        self.assertEqual(judge("x", "", False, False), {"x": "passed"})
        self.assertEqual(judge("x", "", True, False), {"x": "skipped"})


if __name__ == "__main__":
    unittest.main()
