"""Words that a user reads: help, manual pages, documentation, and what every view shows."""
import glob
import os
import re
import unittest

from recorded import text_of
from test_view_commands import Views

GROUPS = ["Examples", "What to record", "Rate and duration", "Output", "Names and contents of the file", "Limits", "Advanced"]


class Words(Views):
    """Time, bytes and counts are what people know; "weight" is the word of the file's format."""

    def no_weight(self, what, text):
        text = re.sub(r"(?s)<script.*?</script>", "", text)  # of a page: nobody reads its code
        text = re.sub(r"font-weight|fontWeight", "", text)
        found = re.search(r"(?i).{0,60}weight.{0,60}", text)
        self.assertIsNone(found, f"{what}: {found and found.group()}")

    def test_help_and_manual_pages(self):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        commands = re.findall(r"^  ([a-z]+)  ", self.text("help").split("Commands:", 1)[1], re.MULTILINE)
        self.assertGreater(len(commands), 20)
        for command in commands:
            self.no_weight(f"wick help {command}", self.text("help", command))
        pages = glob.glob(os.path.join(root, "docs", "man", "*"))
        self.assertGreater(len(pages), 20)
        for path in [*pages, *glob.glob(os.path.join(root, "docs", "how-to", "*.md")),
                     *(os.path.join(root, name) for name in ("README.md", "docs/tutorial.md", "docs/views.md"))]:
            self.no_weight(path, text_of(path))

    def test_help_begins_with_what_is_wanted_first(self):
        commands = re.findall(r"^  ([a-z]+)  ", self.text("help").split("Commands:", 1)[1], re.MULTILINE)
        self.assertEqual(commands[:5], ["record", "view", "report", "top", "stack"])
        record = self.text("help", "record")
        heads = re.findall(r"^([A-Z][^\n:]*):$", record, re.MULTILINE)
        self.assertEqual([head for head in heads if head in GROUPS], GROUPS, heads)
        self.assertEqual(len(re.findall(r"^  wick record ", record, re.MULTILINE)), 4)

    def test_views_of_every_kind_of_recording(self):
        kinds = {
            "cpu": ('"event":"cpu-clock","hz":100', "cpu-clock", 3, "30.0 ms of CPU"),
            "wall": ('"event":"wall-clock","hz":100', "wall-clock", 3, "30.0 ms of wall time"),
            "alloc": ('"event":"alloc","mean_bytes":524288', "alloc", 1048576, "1.00 MiB allocated"),
            "lock": ('"event":"lock","least_ns":10000', "lock", 1500, "1.50 ms waited for locks"),
            "faults": ('"event":"page-faults"', "page-faults", 4711, "4,711 page-faults"),
            "perf": (None, "cpu-clock:u", 10101010, "10.1 ms of CPU"),
            "cycles": (None, "cycles", 1000000, "1 sample;"),
        }
        rates = {"cpu": ", 750 ms/s", "wall": ", 750 ms/s", "lock": ", 38 ms/s", "perf": ", 253 ms/s"}  # cells of 40 ms
        for kind, (head, event, weight, words) in kinds.items():
            path = self.write(f"{kind}.perf", "".join((
                f'# ========\n# wick : {{"format":1,{head},"metrics":[]}}\n# ========\n#\n' if head else "",
                f"app  1/1  [000] 5.000100: {weight:10} {event}: \n\t1 f+0x1 (/bin/app)\n\n")))
            with self.subTest(kind=kind):
                self.assertIn(words, self.text("report", path))
                if kind != "cycles":
                    self.assertIn(words, self.text("info", path))
                    self.assertIn("1 sample, " + words, self.svg("flamegraph", path)[0])
                    most = " ".join(words.split()[:1 if kind == "faults" else 2]) + rates.get(kind, "")
                    self.assertIn(f"most ({most})", self.text("heatmap", path))
                for command, formats in (("heatmap", "txt svg csv json html"), ("flamegraph", "txt svg csv json html"),
                                         ("report", "txt md csv json html"), ("diff", "txt md csv json svg html"),
                                         ("view", "html")):
                    for name in formats.split():
                        out = self.path(f"out.{name}")
                        self.run_wick(command, *([path] if command == "diff" else []), path, "-f", "-o", out)
                        self.no_weight(f"wick {command} -o {name} of {kind}", text_of(out))


if __name__ == "__main__":
    unittest.main()
