#!/usr/bin/env python3
"""tally.py JUNIT... - counts the tests in what ctest --output-junit wrote.

A ctest entry is a program; the tests are what it ran.  Knows cmocka's and unittest's lines;
an entry that prints neither counts as one.  Prints "PASSED FAILED SKIPPED REPEATED", where the last
are runs that were inconclusive and done again (tests/physics/judged.py), and then a line for each
test that failed or was skipped as inconclusive.  An entry that ended badly counts a failure even if
none of its lines says so.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

CMOCKA = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\w+)$", re.M)
BEGUN = re.compile(r"^ *(test\w*) \([\w.]+\)")
ENDED = re.compile(r"(?:^| \.\.\. )(ok|FAIL|ERROR|skipped .*|expected failure)$")
WORDS = {"OK": "passed", "ok": "passed", "expected failure": "passed",
         "FAILED": "failed", "FAIL": "failed", "ERROR": "failed"}


def outcome(word):
    if word.startswith("skipped") and "inconclusive" in word:
        return "inconclusive"
    return WORDS.get(word, "skipped")


def unittest_lines(output):
    """(name, outcome) of what `unittest -v` says; what a test prints is between its name and that."""
    name = None
    for line in output.splitlines():
        begun, ended = BEGUN.match(line), ENDED.search(line)
        name = begun.group(1) if begun else name
        if name and ended:
            yield name, outcome(ended.group(1))
            name = None


def lines_of(output):
    """name -> outcome of every test that a program says it ran, each once: what failed in part failed."""
    found = {}
    for word, name in CMOCKA.findall(output):
        found[name] = outcome(word)
    for name, word in unittest_lines(output):
        found[name] = "failed" if found.get(name) == "failed" else word
    return found


def judge(name, output, skipped, failed):
    """The outcomes of one ctest entry."""
    if skipped:
        return {name: "failed" if failed else "skipped"}
    found = lines_of(output)
    if failed and "failed" not in found.values():
        found[name] = "failed"
    return found or {name: "passed"}


def main(paths):
    counts = {"passed": 0, "failed": 0, "skipped": 0, "inconclusive": 0}
    said, repeated = [], 0
    for path in paths:
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            name, output = case.get("name"), case.findtext("system-out") or ""
            repeated += len(re.findall("^repeated$", output, re.M))
            found = judge(name, output,
                          case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"),
                          case.find("failure") is not None or case.get("status") == "fail")
            for test, word in found.items():
                counts[word] += 1
                if word in ("failed", "inconclusive"):
                    said.append(f"{word}: {name}" + ("" if test == name else f": {test}"))
    print(counts["passed"], counts["failed"], counts["skipped"] + counts["inconclusive"], repeated)
    print("\n".join(said), end="\n" * bool(said))


if __name__ == "__main__":
    main(sys.argv[1:])
