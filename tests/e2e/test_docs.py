"""The examples of README.md, the tutorial, the views and the how-tos run as they stand, and show what the page says.

    WICK=build/dev/bin/wick tests/e2e/test_docs.py --renew [PART-OF-A-PATH]

writes what they print today into the pages: review it as a diff.  examples.py says what the comments mean.
"""
import pathlib
import subprocess
import sys
import unittest

from examples import Document, difference, run_document
from recorded import WICK

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md"]


class Docs(unittest.TestCase):
    def test_pages(self):
        for page in PAGES:
            with self.subTest(page=page.name):
                document = Document(page)
                printed, problems = run_document(document, ROOT, WICK)
                problems += [f"{page}: {said}" for shown in document.shown if (said := difference(shown, printed))]
                self.assertEqual(problems, [], "\n\n".join(problems))


def renew(words):
    for page in PAGES:
        if words and not any(word in str(page) for word in words):
            continue
        document = Document(page)
        printed, problems = run_document(document, ROOT, WICK)
        if problems:
            print("\n\n".join(problems))
            continue
        text, stuck = document.renew(printed)
        page.write_text(text, encoding="utf-8")
        for shown in stuck:
            print(f"{page}: edit by hand: {difference(shown, printed)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--renew"]:
        renew(sys.argv[2:])
    else:
        unittest.main()
