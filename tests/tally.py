#!/usr/bin/env python3
"""tally.py JUNIT... - counts the tests in what ctest --output-junit wrote.

A ctest entry is a program; the tests are what it ran.  Knows cmocka's and unittest's lines;
an entry that prints neither counts as one.  Prints "PASSED FAILED SKIPPED" and then a line for
each test that failed.  An entry that ended badly counts a failure even if none of its lines says so.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

CMOCKA = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\w+)$", re.M)
UNITTEST = re.compile(r"^(test\w*) \(.*?\)(?:\n.*?)?? \.\.\. (?:.*?)(ok|FAIL|ERROR|skipped .*|expected failure)$",
                      re.M)
WORDS = {"OK": "passed", "ok": "passed", "expected failure": "passed",
         "FAILED": "failed", "FAIL": "failed", "ERROR": "failed"}


def lines_of(output):
    """(name, outcome) of every test that a program says it ran, each once."""
    found = {}
    for word, name in CMOCKA.findall(output):
        found[name] = WORDS.get(word, "skipped")
    for name, word in UNITTEST.findall(output):
        found[name] = WORDS.get(word, "skipped")
    return found


def judge(case):
    """The outcomes of one ctest entry."""
    name = case.get("name")
    failed = case.find("failure") is not None or case.get("status") == "fail"
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        return {name: "failed" if failed else "skipped"}
    found = lines_of(case.findtext("system-out") or "")
    if failed and "failed" not in found.values():
        found[name] = "failed"
    return found or {name: "passed"}


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    failures = []
    for path in sys.argv[1:]:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            for test, outcome in judge(case).items():
                counts[outcome] += 1
                if outcome == "failed":
                    failures.append(case.get("name") + ("" if test == case.get("name") else ": " + test))
    print(counts["passed"], counts["failed"], counts["skipped"])
    for failure in failures:
        print(failure)


main()
