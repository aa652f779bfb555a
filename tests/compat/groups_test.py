#!/usr/bin/env python3
"""Whether every consumer shows the words of --group as they were written.

usage: groups_test.py FILE    a file with the groups that tests/golden/writer.c asks for
"""
import re
import sys
import unittest

import flamescope
import stackcollapse

# Outermost first, as the writer was told.
KINDS = ["state", "wait", "object", "thread", "process", "cpu", "rss_kib", "cpu_ns"]
GROUP = re.compile(r"^\t {15}0 (.+) \(\[(\w+)\]\)$")
WORDS = {
    "state": r"running|runnable|sleeping|disk|stopped",
    "wait": r"[a-z-]+",
    "thread": r".*/\d+",
    "process": r"process \d+",
    "cpu": r"cpu \d+",
    "rss_kib": r"0|-?10{0,2}s [KMGT]iB|-?1000s TiB",
    "cpu_ns": r"0|-?10{0,2}s ([num]?s)|-?1000s s",
}


def stacks(path):
    """The frame lines of every sample."""
    with open(path, encoding="utf-8", newline="\n") as file:
        for block in file.read().split("\n\n"):
            lines = [line for line in block.split("\n") if line.startswith("\t")]
            if lines:
                yield lines


class Groups(unittest.TestCase):
    path = None

    def test_every_stack_ends_in_its_groups(self):
        n = 0
        for lines in stacks(self.path):
            groups = [GROUP.match(line) for line in lines[-len(KINDS):]]
            self.assertTrue(all(groups), lines[-len(KINDS):])
            self.assertEqual([match.group(2) for match in groups], KINDS[::-1])
            self.assertLessEqual(len(lines), 256)
            self.assertGreater(len(lines), len(KINDS), "the stack itself is gone")
            for match in groups:
                if match.group(2) in WORDS:
                    self.assertRegex(match.group(1), f"^({WORDS[match.group(2)]})$")
            n += 1
        self.assertGreater(n, 200)

    def test_words_are_shown_whole(self):
        for lines in stacks(self.path):
            for line in lines[-len(KINDS):]:
                word = GROUP.match(line).group(1)
                frame = flamescope.FRAME.match(line)
                self.assertEqual(flamescope.library_names(frame.group(1)), [word])
                frame = stackcollapse.FRAME.match(line.encode())
                self.assertEqual(stackcollapse.frame_names(frame.group(2), frame.group(3)),
                                 [word.encode()])


if __name__ == "__main__":
    Groups.path = sys.argv.pop(1)
    unittest.main()
