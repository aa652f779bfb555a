"""The examples of README.md, the tutorial, the views and the how-tos run as they stand, and show what the page says.

    WICK=build/dev/bin/wick python3 -B tests/e2e/test_docs.py --renew [PART-OF-A-PATH...]

writes what they print today into the pages: review it as a diff.  examples.py says what the comments mean.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from examples import Document, difference, run_document
from recorded import WICK, need

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs/tutorial.md", ROOT / "docs/views.md", *sorted((ROOT / "docs/how-to").glob("*.md"))]
AT_A_TIME = 3  # they mostly wait
VIEWING = ("convert", "diff", "flamegraph", "heatmap", "report", "view")
HEAD = """# wick : {"format":1,"clock":"CLOCK_MONOTONIC","event":"cpu-clock","hz":10,"pid":1,"metrics":[\
{"name":"cpu_ns","unit":"ns","kind":"counter"},{"name":"rss_kib","unit":"KiB","kind":"gauge"}]}
#
"""


def run(page):
    """A page, what its commands printed, and what is wrong with them."""
    document = Document(page)
    return document, *run_document(document, ROOT, WICK)


def differences(document, printed):
    return [f"{document.path}: {said}" for shown in document.shown if (said := difference(shown, printed))]


def run_pages(pages):
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        yield from pool.map(run, pages)


class Docs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need("cc", "redis-server", "redis-benchmark", "setsid", "unshare", "bash", "psql", "nginx", "curl", "prometheus")
        if subprocess.run(["unshare", "--pid", "--mount", "--fork", "--mount-proc", "true"], capture_output=True,
                          check=False).returncode:
            raise unittest.SkipTest("a namespace of processes, in which the examples run, needs root")

    def test_every_example_runs_and_shows_what_the_page_says(self):
        for document, printed, problems in run_pages(PAGES):
            with self.subTest(page=document.path.name):
                problems += differences(document, printed)
                self.assertEqual(len(problems), 0, "\n\n".join(problems))
                self.assertGreater(len(printed), 1)

    def check(self, text, *words):
        """What is wrong with a page: each of WORDS is named, and nothing else."""
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text(text, encoding="utf-8")
            document, printed, problems = run(page)
            problems += differences(document, printed)
            self.assertEqual(len(problems), len(words), problems)
            for problem, word in zip(problems, words):
                self.assertIn(word, problem)
            return document.renew(printed)

    def test_figures_differ_and_words_do_not(self):
        page = "```console\n$ echo '12 samples, 3.4 ms of 99.0 %'\n1,012 samples, 4 us of 5 %\n```\n"
        text, _ = self.check(page)
        self.assertEqual(text, page.replace("1,012 samples, 4 us of 5 %", "12 samples, 3.4 ms of 99.0 %"))
        self.check(page.replace("1,012 samples", "1,012 sample"), "line 3: the page shows\n1,012 sample,")
        self.check(page.replace("4 us", "4 KiB"), "4 KiB")
        self.check(page.replace("5 %\n", "5 %\nmore\n"), "more")
        self.check(page.replace("\n1,012 samples, 4 us of 5 %", "\nother"), "other")

    def test_what_is_left_out_matches_anything_and_stays_left_out(self):
        page = "```sh\nprintf '%s\\n' a=1,b=2 c d=3 e\n```\n\nis\n\n```\na=7...\n...\nd=4\n...\n```\n"
        text, stuck = self.check(page)
        self.assertEqual((text, stuck), (page.replace("a=7", "a=1").replace("d=4", "d=3"), []))
        _, stuck = self.check(page.replace("d=4", "x=4"), "d=3")
        self.assertEqual(len(stuck), 1)

    def test_the_dots_of_a_heatmap_leave_nothing_out(self):
        page = ("```console\n$ printf '%s\\n' 'new word' '  400 ms ...   :::' '         ...:::---===...   ---'\n"
                "old word\n  400 ms ...:::\n         ---\n```\n")
        text, stuck = self.check(page, "old word")
        self.assertEqual(stuck, [])
        self.assertIn("\nnew word\n  400 ms ...   :::\n         ...:::---===...   ---\n```", text)

    def test_lines_in_any_order_and_what_varies(self):
        page = "<!-- order: any -->\n```console\n$ printf '%s\\n' 'a 1' 'b 2' 'noise 7'\nb 9\na 3\nnoise 1\n```\n"
        self.check(page)
        self.check(page.replace("<!-- order: any -->\n", ""), "b 9")
        self.check(page.replace("noise 1\n", ""), "(no more)")
        self.check("<!-- varies: ^noise.*$ -->\n" + page.replace("noise 1\n", ""))

    def test_a_command_that_fails_is_told(self):
        self.check("```sh\nfalse; true\n```\n", "status 1, not 0")
        self.check("```sh\nno-such-program\n```\n", "status 127, not 0")
        self.check("```sh\nif\n```\n", "not 0")
        self.check("<!-- status: 3 -->\n```sh\n(exit 3)\n```\n")
        self.check("<!-- skip: a reason -->\n```sh\nfalse\n```\n")

    def test_what_goes_on_is_interrupted_only_where_the_page_says_so(self):
        self.check("<!-- for: 0.3s -->\n```sh\nsleep 100\n```\n")
        self.check("<!-- for: 0.3s -->\n```sh\nfalse\n```\n", "status 1, not 0")

    def test_a_block_that_nothing_shows_is_refused(self):
        for text, word in (("```\nwords\n```\n", "no command shows this block"),
                           ("<!-- for: 2s -->\n\nwords\n", "without a block")):
            with tempfile.TemporaryDirectory() as folder:
                page = pathlib.Path(folder, "page.md")
                page.write_text(text, encoding="utf-8")
                with self.assertRaisesRegex(ValueError, word):
                    Document(page)


def recording(slow):
    """A minute of two threads with states and metrics."""
    text = [HEAD]
    for i in range(600):
        state = "running" if i % 3 else "sleeping wait=futex"
        leaf = "parse_line" if i % 5 < 3 - slow else "work"
        text.append(f"# s st={state} cpu_ns={i * 10**8},{10**8} rss_kib={1000 + i},1\n"
                    f"app 1/{1 + i % 2} [000] {1 + i / 10:.6f}: 1 cpu-clock: \n"
                    f"\t    {0x1000 + i % 5:x} {leaf}+0x{i % 5} (/bin/app)\n\t    2000 main+0x0 (/bin/app)\n\n")
    return "".join(text)


def tabled():
    """Commands of tables in the views."""
    text = (ROOT / "docs/views.md").read_text(encoding="utf-8")
    return [command for line in text.splitlines() if line.startswith("|")
            for command in re.findall(r"`(wick [^`]*app\.perf[^`]*)`", line)]


def of_manuals():
    """Examples of the manual pages of commands that view recordings."""
    for verb in VIEWING:
        page = (ROOT / f"docs/man/wick-{verb}.1").read_text(encoding="utf-8")
        part = page.split(".SH EXAMPLES\n")[1].split("\n.SH ")[0]
        for line in part.splitlines():
            if re.match(r"(\.B )?(perf script \| )?wick ", line):
                yield line.removeprefix(".B ").replace("\\-", "-")


class Commands(unittest.TestCase):
    """Commands that no page shows the output of, on recordings that have what they ask for."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        for name in ("app.perf", "before.perf", "after.perf", "slow.perf", "wick.server.perf", "main/1.perf", "branch/1.perf"):
            (self.dir / name).parent.mkdir(exist_ok=True)
            (self.dir / name).write_text(recording(name[0] in "as"), encoding="utf-8")
        os.symlink(WICK, self.dir / "wick")

    def run_command(self, command):
        """Without the program of another behind it; 10: a gate that says what has changed."""
        command = command.split(" && ")[0].replace("perf script |", "cat app.perf |")
        done = subprocess.run(["bash", "-c", "set -o pipefail; " + command], cwd=self.dir, capture_output=True, check=False,
                              env={**os.environ, "PATH": f"{self.dir}:{os.environ['PATH']}", "BROWSER": "true",
                                   "XDG_CACHE_HOME": str(self.dir / "cache")})
        self.assertIn(done.returncode, (0, 10) if "--fail-if" in command else (0,),
                      f"{command}: {done.stderr.decode(errors='replace')}")
        made = re.search(r" (?:-o|>) ([^ -]\S*)", command)
        if made:
            self.assertGreater((self.dir / made.group(1)).stat().st_size, 0, command)
            (self.dir / made.group(1)).unlink()

    def test_commands_of_tables_run(self):
        commands = tabled()
        self.assertGreater(len(commands), 8)
        for command in commands:
            with self.subTest(command=command):
                self.run_command(command)

    def test_examples_of_manual_pages_run(self):
        commands = list(of_manuals())
        self.assertGreater(len(commands), 20)
        for command in commands:
            with self.subTest(command=command):
                self.run_command(command)

    def test_a_command_that_fails_is_told(self):
        with self.assertRaises(AssertionError):
            self.run_command("wick report none.perf")


def renew(words):
    """Pages with today's figures; whether all blocks could be renewed."""
    good = True
    for document, printed, problems in run_pages([page for page in PAGES if not words or any(word in str(page) for word in words)]):
        text, stuck = document.renew(printed)
        said = [*problems, *(f"{document.path}: edit by hand: {difference(shown, printed)}" for shown in stuck)]
        if not problems:
            document.path.write_text(text, encoding="utf-8")
        print("\n\n".join(said) or f"{document.path}: renewed")
        good = good and not said
    return good


if __name__ == "__main__":
    if sys.argv[1:2] == ["--renew"]:
        sys.exit(0 if renew(sys.argv[2:]) else 1)
    unittest.main()
