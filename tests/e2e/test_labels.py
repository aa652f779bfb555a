"""Views by labels (task, tier, identity, req, trace), and exact counts out of files.

The numbers are counted here from the text itself, by code that shares nothing with wick's.
"""
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import unittest
import urllib.parse

from recorded import WICK, notes, text_of
from test_view_commands import Views

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
LABELS = os.path.join(GOLDEN, "labels.perf")
PLAIN = os.path.join(GOLDEN, "golden.perf")
KEYS = ["task", "tier", "identity", "trace", "span"]


def labels_of(path):
    """{key: value} of each sample, decoded."""
    with open(path, encoding="ascii") as file:
        lines = [line.split() for line in file if line.startswith("# s ")]
    return [{key: urllib.parse.unquote(value) for key, _, value in (word.partition("=") for word in words[2:]) if "," not in value}
            for words in lines]


class ByLabel(Views):
    def counts(self, key):
        return collections.Counter(labels.get(key, "") for labels in labels_of(LABELS))

    def test_tables_count_the_samples_of_each_value(self):
        for key in [*KEYS, "attr_wait"]:
            answer = json.loads(self.text("report", LABELS, "--per", key, "--top", "0", "--json"))
            want = {value or "-": n for value, n in self.counts(key).items()}
            self.assertEqual({part["name"]: part["samples"] for part in answer["parts"]}, want, key)
            self.assertNotIn("others", answer)
        self.assertEqual(self.counts("attr_wait")["7,8"], 10)

    def test_a_recording_that_has_not_ended_has_no_counts_yet(self):
        with open(LABELS, encoding="ascii") as file:
            text = file.readlines()
        samples = [line for line in text if not line.startswith(("# req :", "# wick-end :"))]
        ended = [line for line in text if not line.startswith("# req :")]
        for lines, said in ((samples, "not ended, try: -p PID"), (ended, "no exact counts, try: wick report --by")):
            path = self.path("part.perf")
            with open(path, "w", encoding="ascii") as file:
                file.writelines(lines)
            self.refused(8, [said], "requests", path)

    def test_by_and_only_take_labels_as_per_and_where_do(self):
        for key in KEYS:
            self.assertEqual(self.text("report", LABELS, "--by", key), self.text("report", LABELS, "--per", key))
        for test in ("tier=^db$", "tier!=db", "identity=GET", "task=", "trace=^6513"):
            self.assertEqual(self.text("flamegraph", LABELS, "--only", test), self.text("flamegraph", LABELS, "--where", test))
        # of a function, it is one
        self.refused(8, ["nothing is left"], "report", LABELS, "--only", "operator==")
        self.refused(2, ["self, total, calls or a label", "--per tyer"], "report", LABELS, "--by", "tyer")

    def test_a_request_is_a_span(self):
        for words in (["report", "--per"], ["heatmap", "--by"], ["flamegraph", "--threshold", "0", "--group"]):
            spans = self.text(*words, "span", LABELS)
            self.assertEqual(self.text(*words, "req", LABELS).replace(" req\n", " span\n").replace("[no req]", "[no span]").split(),
                             spans.split())

    def test_what_a_table_does_not_show_is_added_up(self):
        answer = json.loads(self.text("report", LABELS, "--by", "req", "--top", "3", "--json"))
        self.assertEqual(answer["n_parts"], 13)
        self.assertEqual(sum(part["samples"] for part in answer["parts"]) + answer["others"]["samples"], 90)
        self.assertEqual(sum(part["gain"] for part in answer["parts"]) + answer["others"]["gain"], answer["total"])
        lines = self.text("report", LABELS, "--by", "req", "--top", "3").splitlines()
        self.assertRegex(lines[-2], rf" {answer['others']['samples']}  \[10 others\]$")
        self.assertIn("| `[10 others]` |", self.text("report", LABELS, "--by", "req", "--top", "3", "--format", "md"))

    def test_groups_are_outermost_in_every_format(self):
        want = self.counts("tier")
        root = self.json_of("flamegraph", LABELS, "--metric", "samples", "--group", "tier")["root"]
        self.assertEqual({child["name"]: child["gain"] for child in root["children"]},
                         {value or "[no tier]": n for value, n in want.items()})
        self.run_wick("convert", LABELS, "--metric", "samples", "--group", "tier,task", "-o", self.path("x.folded"))
        folded = collections.Counter()
        for line in text_of(self.path("x.folded")).splitlines():
            stack, n = line.rsplit(" ", 1)
            folded[stack.split(";")[0]] += int(n)
        self.assertEqual(folded, {value or "[no tier]": n for value, n in want.items()})

    def json_of(self, *arguments):
        self.run_wick(*arguments, "-f", "-o", self.path("x.json"))
        return json.loads(text_of(self.path("x.json")))

    def test_rows_of_a_heatmap(self):
        cells = self.json_of("heatmap", LABELS, "--by", "tier", "--metric", "samples")
        rows = {label: sum(column[i] for column in cells["samples"]) for i, label in enumerate(cells["row_labels"])}
        self.assertEqual(rows, {value or "[no tier]": n for value, n in self.counts("tier").items()})
        self.assertIn("[10 others]", self.text("heatmap", LABELS, "--by", "req", "--rows", "4"))

    def test_diff_by_a_label(self):
        other = self.path("other.perf")
        with open(LABELS, encoding="ascii") as file, open(other, "w", encoding="ascii") as to:
            to.write(file.read().replace("identity=GET%20/users", "identity=GET%20/other"))
        rows = self.text("diff", LABELS, other, "--group", "identity")
        self.assertIn("GET /users", rows)
        self.assertIn("GET /other", rows)

    def test_odd_bytes_order_nothing_about(self):
        for words in (["report", "--by", "identity"], ["heatmap", "--by", "identity"], ["flamegraph", "--group", "identity"],
                      ["report", "--by", "identity", "--format", "md"], ["tiers", "--identity", "all"], ["requests"]):
            text = self.text(*words, LABELS)
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f]", words)
            self.assertIn("script", text)
        for words in (["flamegraph", "--group", "identity"], ["heatmap", "--by", "identity"]):
            text, document = self.svg(*words, LABELS)
            self.assertNotIn("<script>\N{REPLACEMENT CHARACTER}", text)
            self.assertNotIn("\x1b", text)
            self.assertLessEqual(len(document.getElementsByTagName("script")), 1)

    def test_info_names_labels_and_counts(self):
        facts = json.loads(self.text("info", "--json", LABELS))
        want = {key: sum(self.counts(key).values()) - self.counts(key)[""] for key in [*KEYS, "attr_wait"]}
        self.assertEqual({label["name"]: label["samples"] for label in facts["labels"]}, want)
        self.assertEqual(facts["exact_rows"], 44)
        self.assertRegex(self.text("info", LABELS), r"labels +trace of 80.0 %.*\n +counted +44 lines of exact counts")
        self.assertNotRegex(self.text("info", PLAIN), "labels|exact")

    def test_symbolize_keeps_exact_counts(self):
        self.run_wick("symbolize", "-o", self.path("named.perf"), LABELS)
        self.assertEqual(notes(self.path("named.perf"), "req"), notes(LABELS, "req"))

    def test_perf_text_keeps_the_words(self):
        self.run_wick("convert", LABELS, "-o", self.path("x.perf"))
        self.assertEqual(labels_of(self.path("x.perf")), labels_of(LABELS))

    def test_100_000_requests(self):
        """More than 16 bits of values: each counts, and the index that is written says the same."""
        path = self.path("many.perf")
        with open(path, "w", encoding="ascii") as file:
            for i in range(100000):
                file.write(f"# s trace={i:032x} tier=db\na  1/1  [000] {i}.5:  1 cpu-clock: \n\t 1 f (m)\n\n")
        for _ in range(2):
            answer = json.loads(self.text("report", path, "--by", "trace", "--top", "1", "--json"))
            self.assertEqual((answer["n_parts"], answer["others"]["samples"]), (100000, 99999))
        answer = json.loads(self.text("report", path, "--by", "tier", "--only", f"trace={99999:032x}", "--json"))
        self.assertEqual(answer["samples"], 1)


class Exact(Views):
    """wick tasks, requests and tiers of files: what `# req` lines add up to."""

    def rows(self, *arguments):
        return [json.loads(line) for line in self.text(*arguments, "--json").splitlines()]

    def want(self, path=LABELS):
        """{(tier, identity): [count, sum, self]}, {task: [calls, exec, children]}"""
        tiers, tasks = collections.defaultdict(lambda: [0, 0, 0]), collections.defaultdict(lambda: [0, 0, 0])
        for row in notes(path, "req"):
            if "tier" in row:
                have, names = tiers[row["tier"], row["identity"]], ("count", "sum_ns", "self_ns")
            else:
                have, names = tasks[row["task"]], ("calls", "exec_ns", "children_ns")
            for i, name in enumerate(names):
                have[i] += row[name]
        return dict(tiers), dict(tasks)

    def have(self, *paths):
        rows = [*self.rows("tiers", "--identity", "all", *paths), *self.rows("requests", *paths)]
        return ({(row["tier"], row["identity"]): [row["count"], row["sum_ns"], row["self_ns"]] for row in rows},
                {row["task"]: [row["calls"], row["exec_ns"], row["children_ns"]] for row in self.rows("tasks", *paths)})

    def test_intervals_add_up(self):
        self.assertEqual(self.have(LABELS), self.want())
        row = self.rows("requests", LABELS)[0]
        self.assertEqual((row["identity"], row["count"], row["since_ns"], row["time_ns"]),
                         ("_total", 60, 12344 * 10**9, 12346 * 10**9))
        self.assertEqual(row["mean_ns"], 1000000)
        self.assertAlmostEqual(row["p99_ns"], 1000000, delta=10000)

    def test_archives_folders_and_several_files(self):
        want = self.want()
        folder = self.path("folder")
        os.mkdir(folder)
        with open(LABELS, "rb") as file:
            data = file.read()
        with gzip.open(os.path.join(folder, "a.perf.gz"), "wb") as file:
            file.write(data)
        self.assertEqual(self.have(os.path.join(folder, "a.perf.gz")), want)
        names = ["a.perf.gz"]
        if shutil.which("zstd"):
            subprocess.run(["zstd", "-q", LABELS, "-o", os.path.join(folder, "b.perf.zst")], check=True)
            self.assertEqual(self.have(os.path.join(folder, "b.perf.zst")), want)
            names.append("b.perf.zst")
        several = tuple({key: [n * len(names) for n in numbers] for key, numbers in part.items()} for part in want)
        self.assertEqual(self.have(folder), several)
        self.assertEqual(self.have(*(os.path.join(folder, name) for name in names)), several)

    def test_standard_input_and_the_newest_recording(self):
        with open(LABELS, "rb") as file:
            run = subprocess.run([WICK, "tasks", "--json", "-"], stdin=file, capture_output=True, check=True)
        self.assertEqual(len(run.stdout.splitlines()), 2)
        folder = self.path("newest")
        os.mkdir(folder)
        for status, words in ((2, "neither a process nor a file given, and no recording here, try: -p PID, or a FILE"),
                              (0, "'new.perf' is the newest recording here")):
            run = subprocess.run([WICK, "tasks"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            self.assertEqual(run.returncode, status)
            self.assertIn(words, run.stderr.decode())
            shutil.copy(LABELS, os.path.join(folder, "new.perf"))

    def test_a_file_counts_once(self):
        link = self.path("again.perf")
        os.symlink(os.path.abspath(LABELS), link)
        run = self.run_wick("tasks", LABELS, link, "--json")
        self.assertIn(b"was given before: it is counted once", run.stderr)
        self.assertEqual({row["task"]: row["calls"] for row in map(json.loads, run.stdout.splitlines())},
                         {"handle": 15, "flush": 15})

    def test_rows_alone_as_stats_to_writes_them(self):
        path = self.write("stats.jsonl", "".join(json.dumps(row) + "\n" for row in notes(LABELS, "req")))
        self.assertEqual(self.have(path), self.want())

    def test_damaged_and_long_lines_are_counted_and_the_rest_counts(self):
        with open(LABELS, encoding="ascii") as file:
            text = file.read()
        bad = ['# req : {"tier":"db"', '# req : {"tier":7,"identity":"x","count":1}', "# req : {}",
               '# req : {"tier":"db","identity":"x","count":1,"buckets":[[99999999,1]]}',
               "# req : " + "[" * 1000, "# req : {" + "[" * 5000]
        long = ['# req : {"task":"' + "x" * 100000 + '"}', "# req : {" + "x" * (2 << 20)]
        path = self.write("bad.perf", text + "\n".join(bad + long) + "\n")
        run = self.run_wick("tasks", path, "--json")
        self.assertEqual({row["task"]: row["calls"] for row in map(json.loads, run.stdout.splitlines())},
                         {"handle": 15, "flush": 15})
        said = run.stderr.decode()
        self.assertRegex(said, "5 lines of counts are damaged, and were passed over")
        self.assertRegex(said, "2 lines of counts are too long or too many")
        self.assertLess(len(said), 1000)
        # and the views read the samples, as before
        answer = json.loads(self.text("report", path, "--json"))
        self.assertEqual(answer["samples"], 90)

    def test_an_archive_that_ends_early_counts_as_far_as_it_goes(self):
        large = self.path("large.perf")
        subprocess.run(["python3", "-B", os.path.join(GOLDEN, "make_labels.py"), large, "9000"], check=True)
        with open(large, "rb") as file:
            data = gzip.compress(file.read())
        path = self.path("cut.perf.gz")
        with open(path, "wb") as file:
            file.write(data[:-200])
        run = self.run_wick("tasks", path, "--json")
        self.assertIn(b"cut.perf.gz", run.stderr)
        self.assertEqual(json.loads(run.stdout.splitlines()[0])["calls"], 10)

    def test_what_to_do_where_there_are_none(self):
        self.refused(8, ["golden.perf", "no exact counts", "wick.h"], "tiers", PLAIN)
        with open(LABELS, encoding="ascii") as file:
            path = self.write("labels_only.perf", "".join(line for line in file if not line.startswith("# req")))
        self.refused(8, ["samples with labels, but no exact counts", "try: wick report --by tier"], "tiers", path)
        self.refused(8, ["nosuch.perf", "try: another name"], "tasks", self.path("nosuch.perf"))
        self.assertEqual(self.text("report", path, "--by", "tier"), self.text("report", LABELS, "--by", "tier"))


if __name__ == "__main__":
    unittest.main()
