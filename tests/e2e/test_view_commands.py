"""wick heatmap, flamegraph and report: what they write, and what they say of bad input.

The numbers are counted here from the text itself, by code that shares nothing with wick's.
"""
import collections
import csv
import gzip
import io
import json
import os
import re
import subprocess
import unittest
import xml.dom.minidom

import ended
from recorded import WICK, Case, notes, text_of

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "golden.perf")
HEAD = re.compile(r"^(\S.*?) +(\d+)/(\d+) +\[\d+\] +([0-9.]+): +(\d+) ([^:]+):")
FRAME = re.compile(r"^\t *[0-9a-f]+ (.+) \((.*)\)$")


def stacks(path):
    """(time, weight, [functions, outermost first]) of each sample."""
    found = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            head, frame = HEAD.match(line), FRAME.match(line.rstrip("\n"))
            if head:
                found.append((float(head.group(4)), int(head.group(5)), []))
            elif frame and not line.startswith("#"):
                found[-1][2].insert(0, re.sub(r"\+0x[0-9a-f]+$", "", frame.group(1)))
    return found


def stacks_of_any(path):
    """The header lines of perf text, whatever their pid and event are."""
    with open(path, encoding="utf-8") as file:
        return [line for line in file if re.match(r"^[^#\t\n].*: +\d+ .*: $", line)]


def ns(weight):
    """The CPU time of a weight at golden.perf's 99 Hz."""
    return weight * 10**9 // 99


class Views(Case):
    def run_wick(self, *arguments, status=0):
        run = subprocess.run([WICK, *arguments], capture_output=True, check=False, timeout=120,
                             cwd=self.dir, env={**os.environ, "XDG_CACHE_HOME": self.path("cache")})
        self.assertEqual(run.returncode, status, run.stderr.decode())
        return run

    def text(self, *arguments):
        return self.run_wick(*arguments).stdout.decode()

    def on_terminal(self, columns, *arguments, env=None):
        status, said = ended.on_terminal([WICK, *arguments], columns,
                                         env=env or {**os.environ, "XDG_CACHE_HOME": self.path("cache")})
        self.assertEqual(status, 0)
        return said.decode().replace("\r", "")

    def svg(self, *arguments):
        self.run_wick(*arguments, "-f", "-o", self.path("x.svg"))
        text = text_of(self.path("x.svg"))
        return text, xml.dom.minidom.parseString(text.encode())

    def refused(self, status, words, *arguments):
        run = self.run_wick(*arguments, status=status)
        lines = run.stderr.decode().strip().splitlines()
        self.assertTrue(lines[-1].startswith("wick "), lines)
        for word in words:
            self.assertIn(word, run.stderr.decode())
        self.assertEqual(run.stdout, b"")
        return run.stderr.decode()


class Report(Views):
    def test_totals_are_those_of_the_text(self):
        total, own = collections.Counter(), collections.Counter()
        samples = stacks(GOLDEN)
        for _, weight, names in samples:
            own[names[-1]] += ns(weight)
            for name in set(names):
                total[name] += ns(weight)
        answer = json.loads(self.text("report", GOLDEN, "--json", "--top", "0"))
        self.assertEqual(answer["total"], sum(ns(weight) for _, weight, _ in samples))
        self.assertEqual(answer["unit"], "ns")
        self.assertEqual(answer["samples"], len(samples))
        seen_total, seen_own = collections.Counter(), collections.Counter()
        for row in answer["functions"]:
            seen_total[row["name"]] += row["gain"]
            seen_own[row["name"]] += row["self_gain"]
        self.assertEqual(+seen_own, +own)
        self.assertEqual(seen_total["main"], total["main"])
        self.assertEqual(seen_total["leaf"], total["leaf"])

    def test_the_formats_say_the_same(self):
        names = [row["name"] for row in
                 json.loads(self.text("report", GOLDEN, "--top", "5", "--json"))["functions"]]
        self.assertEqual(len(names), 5)
        rows = list(csv.DictReader(io.StringIO(
            self.text("report", GOLDEN, "--top", "5", "--format", "csv"))))
        self.assertEqual([row["function"] for row in rows], names)
        table = self.text("report", "--top", "5", GOLDEN)
        markdown = self.text("report", "--format=md", GOLDEN, "--top", "5")
        for name in names:
            self.assertIn(name, table)
            self.assertIn("`" + name + "`", markdown)
        self.assertIn("|---:|", markdown)

    def test_callers_and_callees(self):
        answer = json.loads(self.text("report", GOLDEN, "--function", "^inner$", "--json"))
        match, = answer["matches"]
        self.assertEqual([row["name"] for row in match["callers"]], ["outer"])
        self.assertEqual(match["callees"], [])
        table = self.text("report", GOLDEN, "--function", "^outer$")
        self.assertRegex(table, r"(?s)    from main .*    calls inner ")
        self.refused(8, ["no function matches"], "report", GOLDEN, "--function", "^no such$")

    def test_parts(self):
        counts, modules = collections.Counter(), collections.Counter()
        inside = False
        with open(GOLDEN, encoding="utf-8") as file:
            for line in file:
                head, frame = HEAD.match(line), FRAME.match(line.rstrip("\n"))
                if head:
                    weight, inside = ns(int(head.group(5))), False
                    counts[head.group(2)] += weight
                elif frame and not inside and frame.group(2) != "inlined":
                    inside = True
                    modules[frame.group(2)] += weight
        for name, expected in (("pid", counts), ("module", modules)):
            answer = json.loads(self.text("report", GOLDEN, "--per", name, "--json"))
            self.assertEqual({row["name"]: row["gain"] for row in answer["parts"]}, expected)
            self.assertEqual(answer["total"], sum(expected.values()))
            rows = list(csv.DictReader(io.StringIO(
                self.text("report", GOLDEN, "--per", name, "--format", "csv"))))
            self.assertEqual({row[name]: int(row["gain"]) for row in rows}, expected)
        lines = self.text("report", GOLDEN, "--per", "thread", "--top", "2").splitlines()
        self.assertRegex(lines[3], r"^ *total +total % +samples +thread$")
        self.assertRegex(lines[-1], r"^\(\d+ more; --top")
        self.assertIn("| total | total % | samples | state |",
                      self.text("report", GOLDEN, "--per", "state", "--format", "md"))
        self.refused(2, ["no 'bogus'", "thread"], "report", GOLDEN, "--per", "bogus")
        self.refused(2, ["--function"], "report", GOLDEN, "--per", "pid", "--function", "f")

    def calls_file(self, name, event, weights, wick=False, lost=0):
        """main calls f for every second weight, and g, which calls f, for the others."""
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            if wick:
                file.write('# ========\n# wick : {"format":1,"event":"lock"}\n# ========\n#\n')
            for i, weight in enumerate(weights):
                between = "\t 20 g+0x1 (/app)\n" if i % 2 else ""
                file.write(f"app 7/7 [000] 1.{i:06}: {weight:10} {event}: \n"
                           f"\t 10 f+0x1 (/app)\n{between}\t 30 main+0x1 (/app)\n\n")
            if wick:
                file.write(f'# wick-end : {{"samples":{len(weights)},"lost_full":{lost}}}\n')
        return path

    def test_calls_are_sorted_by_where_each_was_recorded(self):
        for path in (self.calls_file("probe.perf", "probe_app:parse", [1] * 5),
                     self.calls_file("lock.perf", "lock", [900, 2, 3, 4, 5], wick=True)):
            answer = json.loads(self.text("report", path, "--by", "calls", "--json"))
            self.assertEqual(answer["by"], "calls")
            self.assertEqual([(row["name"], row["calls"]) for row in answer["functions"]],
                             [("f", 5), ("main", 0), ("g", 0)])
            self.assertRegex(self.text("report", path, "--by", "calls").splitlines()[4],
                             r" 5  f  \(app\)$")
        # what was seen below a caller is another number
        answer = json.loads(self.text("report", path, "--by", "total", "--json"))
        self.assertEqual({row["name"]: row["calls"] for row in answer["functions"]},
                         {"f": 5, "main": 0, "g": 2})

    def test_calls_that_are_not_exact_are_refused(self):
        for name, event, weights, wick, lost, word in (
                ("cycles", "cycles:u", [1, 1], False, 0, "'cycles:u' is sampled"),
                ("every2", "probe_app:parse", [1, 2], False, 0, "'probe_app:parse' is"),
                ("lost", "lock", [7, 8], True, 3, "3 were lost"),
                ("other", "lock", [7, 8], False, 0, "'lock' is sampled")):
            path = self.calls_file(name + ".perf", event, weights, wick, lost)
            self.refused(2, [word, "try: --by self"], "report", path, "--by", "calls")
        self.refused(2, ["'cpu-clock' is sampled"], "report", GOLDEN, "--by", "calls")
        self.refused(2, ["self, total, calls or a label"], "report", GOLDEN, "--by", "number")

    def test_order(self):
        first = self.text("report", GOLDEN, "--by", "total", "--format", "csv").splitlines()[1]
        self.assertRegex(first, '^"(main|__libc_start_main)"')


class Flamegraph(Views):
    def test_the_picture_is_whole_and_asks_for_nothing(self):
        text, document = self.svg("flamegraph", GOLDEN)
        groups = {g.getAttribute("id"): g for g in document.getElementsByTagName("g")}
        self.assertEqual({"calls", "reverse"} - set(groups), set())
        self.assertNotRegex(text, r"(?i)\bhref|url\(|@import|src=|fetch\(")
        self.assertEqual(set(re.findall(r"https?://[^'\" ]*", text)),
                         {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"})
        # a title for each frame, and no frame wider than the one below
        titles = [g.getElementsByTagName("title")[0].firstChild.data
                  for g in groups["calls"].childNodes if g.nodeName == "g"]
        self.assertIn("größe", "".join(titles))
        self.assertTrue(titles[0].startswith("all\n"))

    def test_names_are_never_markup(self):
        names = ["<script>alert(1)</script>", "a\"onload=x b", "]]>", "&lt;", "a\x1b[31mb", "x" * 9000]
        text = "".join(f"app 1/1 [000] {i}.0: 1 cpu:\n\t1 {name} (/a<b>&\"/x)\n\n"
                       for i, name in enumerate(names))
        path = self.write("bad.perf", text)
        written, document = self.svg("flamegraph", path)
        self.assertEqual(len(document.getElementsByTagName("script")), 1)
        self.assertIn(names[0], "".join(t.firstChild.data
                                        for t in document.getElementsByTagName("title")))
        self.assertNotIn("\x1b", written)
        for arguments in (["report"], ["flamegraph"], ["heatmap"], ["report", "--format", "csv"]):
            self.assertNotIn("\x1b", self.text(*arguments, path))
        json.loads(self.text("flamegraph", "--format", "json", path))

    def test_events_are_not_added_up_and_idle_is_hidden(self):
        system = os.path.join(os.path.dirname(GOLDEN), "..", "view", "samples", "system.perf")
        events = "cycles is shown; the recording also has page-faults; choose with --event NAME"
        idle = "12 samples of idle CPUs (41.4 % of all) are hidden; --idle shows them"
        for verb, out in (("report", None), ("heatmap", None), ("flamegraph", None),
                          ("convert", "x.folded")):
            arguments = ["-o", out] if out else []
            said = self.run_wick(verb, *arguments, system).stderr.decode()
            self.assertIn(events, said)
            self.assertIn(idle, said)
        info = self.text("info", system)
        self.assertIn("also holds page-faults (9 samples); --event NAME chooses one in views", info)
        self.assertIn("12 samples of idle CPUs (41.4 %), which views hide", info)
        self.assertIn("samples    29\n", info)

        def total(*options):
            return json.loads(self.text("flamegraph", system, "--format", "json",
                                        *options))["root"]["gain"]

        self.assertEqual(total(), 17)
        self.assertEqual(total("--idle"), 29)
        self.assertEqual(total("--event", "page"), 6)
        self.assertEqual(total("--event", "page", "--idle", "--metric", "period"), 6 * 76 + 3)
        self.assertEqual(total("--event", "."), 17)
        self.assertEqual(total("--group", "event", "--idle"), 38)
        said = self.run_wick("report", system, "--event", "page", "--idle").stderr.decode()
        self.assertNotIn("holds", said)
        # perf text says of each sample what it is: nothing is left out
        self.run_wick("convert", system, "-o", "x.perf")
        self.assertEqual(len(stacks_of_any(self.path("x.perf"))), 38)
        self.run_wick("convert", system, "--event", "page", "-o", "y.perf")
        self.assertEqual(len(stacks_of_any(self.path("y.perf"))), 9)
        self.run_wick("convert", system, "-o", "x.pb")

    def test_info_of_folded_stacks(self):
        self.write("a.folded", "main;work 3\nmain;wait\t2\nmain;wait -1\n")
        text = self.text("info", "a.folded")
        self.assertIn("stacks     2, 5 samples\n", text)
        self.assertIn("1 line that could not be read, in line 3", text)
        self.assertNotIn("thread ", text)
        self.run_wick("convert", "a.folded", "-o", "b.folded.gz")
        self.assertIn("stacks     2, 5 samples\n", self.text("info", "b.folded.gz"))
        with open(self.path("a.folded"), "a", encoding="utf-8") as file:
            file.write("main;work 0.5\n")
        run = self.run_wick("report", "a.folded")
        self.assertIn("shown in thousandths", run.stderr.decode())
        self.assertIn("3,500", run.stdout.decode())

    def test_a_text_without_times_is_told(self):
        self.write("a.perf", "\n\t         2d91337 ChromeMain\n\t           2724a main\n\n")
        for verb in ("report", "info", "heatmap", "flamegraph"):
            run = self.run_wick(verb, "a.perf", status=8)
            self.assertIn("no line that says the thread and the time, try: perf script -F comm,",
                          run.stderr.decode())

    def test_weights_stay_at_the_most_there_is(self):
        most = 2**64 - 1
        with open(self.path("a.perf"), "w", encoding="utf-8") as file:
            for i in range(3):
                file.write(f"app 1/1 [000] 1.{i}00000: {most} cycles: \n\t 4011 main (/a)\n\n")
        info = json.loads(self.text("info", "--json", "a.perf"))
        self.assertEqual((info["weight"], info["threads"][0]["weight"]), (most, most))
        root = json.loads(self.text("flamegraph", "a.perf", "--metric", "period", "--format",
                                    "json"))["root"]
        self.assertEqual(root["gain"], most)
        self.run_wick("convert", "a.perf", "--metric", "period", "-o", "a.folded")
        self.assertEqual(text_of(self.path("a.folded")), f"main {most}\n")

    def test_a_round_trip_keeps_groups(self):
        self.run_wick("convert", GOLDEN, "--group", "process,cpu", "-o", "grouped.perf")
        self.run_wick("convert", "grouped.perf", "-o", "a.perf")
        self.run_wick("convert", "a.perf", "--group", "comm", "-o", "b.perf")

        def made_up(path):
            lines = text_of(path).split("\n")
            return (notes(path, "wick")[0]["groups"],
                    [line for line in lines if re.match(r"^\t +0 .* \(\[[a-z_]+\]\)$", line)
                     and "unknown" not in line])

        names, frames = made_up(self.path("grouped.perf"))
        self.assertEqual((names, len(frames)), (["process", "cpu"], 2 * len(stacks(GOLDEN))))
        self.assertEqual(made_up(self.path("a.perf")), (names, frames))
        more, all_frames = made_up(self.path("b.perf"))
        self.assertEqual(more, ["comm", *names])
        self.assertEqual([frame for frame in all_frames if "([comm])" not in frame], frames)

    def test_folded_and_tree(self):
        counts = collections.Counter()
        for _, weight, names in stacks(GOLDEN):
            counts[len(names)] += weight
        self.run_wick("flamegraph", GOLDEN, "-o", "x.folded")
        folded = [line.rsplit(" ", 1) for line in text_of(self.path("x.folded")).splitlines()]
        self.assertEqual(sum(int(count) for _, count in folded), sum(counts.values()))
        tree = json.loads(self.text("flamegraph", GOLDEN, "--format", "json"))
        self.assertEqual(tree["root"]["gain"], sum(ns(weight) for _, weight, _ in stacks(GOLDEN)))

        def depth(node):
            return 1 + max((depth(child) for child in node["children"]), default=0)
        self.assertEqual(depth(tree["root"]) - 1, max(counts))

    def test_a_query_is_the_same_everywhere(self):
        some = ["--only", "^outer$", "--time", "0-1s"]
        report = json.loads(self.text("report", GOLDEN, "--json", *some))
        tree = json.loads(self.text("flamegraph", GOLDEN, "--format", "json", *some))
        expected = sum(ns(weight) for _, weight, names in stacks(GOLDEN) if "outer" in names)
        self.assertEqual(report["total"], expected)
        self.assertEqual(tree["total"]["gain"], expected)


class Heatmap(Views):
    def test_cells_are_those_of_the_text(self):
        samples = stacks(GOLDEN)
        start = int(samples[0][0])
        cells = collections.Counter()
        for time, weight, _ in samples:
            # the text has six decimals: whole numbers keep it exact
            us = round((time - start) * 1000000)
            cells[us // 1000000, us % 1000000 // 20000] += ns(weight)
        answer = json.loads(self.text("heatmap", GOLDEN, "--format", "json"))
        self.assertEqual(answer["rows"], 50)
        seen = {(column, row): value for column, values in enumerate(answer["values"])
                for row, value in enumerate(values) if value is not None}
        self.assertEqual(seen, dict(cells))
        rows = list(csv.DictReader(io.StringIO(self.text("heatmap", GOLDEN, "--format", "csv"))))
        self.assertEqual(sum(int(row["samples"]) for row in rows), len(samples))

    def test_the_picture(self):
        text, document = self.svg("heatmap", GOLDEN, "--title", "<b>")
        self.assertEqual(document.getElementsByTagName("title")[0].firstChild.data, "<b>")
        self.assertEqual(len(document.getElementsByTagName("script")), 1)
        self.assertNotRegex(text, r"(?i)\bhref|url\(|@import|src=|fetch\(")

    def test_rows_by_thread(self):
        answer = json.loads(self.text("heatmap", GOLDEN, "--by", "comm", "--format", "json"))
        self.assertEqual(answer["rows"], len(answer["row_labels"]))
        self.assertEqual(sum(map(sum, answer["samples"])), len(stacks(GOLDEN)))
        self.refused(2, ["no such"], "heatmap", GOLDEN, "--by", "no such")

    def test_a_terminal_gets_colours_and_a_pipe_characters(self):
        plain = self.run_wick("heatmap", GOLDEN).stdout
        self.assertNotIn(b"\x1b", plain)
        self.assertNotIn("\x1b", self.drawn_with({"NO_COLOR": "1"}))
        coloured = self.drawn_with({})
        self.assertIn("\x1b[48;5;", coloured)
        self.assertNotIn("\x1b[48;2;", coloured)
        self.assertIn("\x1b[48;2;20;23;28m", self.drawn_with({"COLORTERM": "truecolor"}))  # no sample, in the dark
        self.assertIn("\x1b[48;2;255;255;255m", self.drawn_with({"COLORTERM": "24bit", "COLORFGBG": "0;15"}))
        self.assertIn("\u2580", coloured)

    def drawn_with(self, environment):
        env = {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": "xterm-256color",
               "LC_ALL": "C.UTF-8", "XDG_CACHE_HOME": self.path("cache"), **environment}
        return self.on_terminal(80, "heatmap", GOLDEN, env=env)


class Colours(Views):
    def test_colours_say_what_is_asked_for(self):
        seen = {}
        for by in ("family", "module", "package", "name", "state", "none"):
            text, document = self.svg("flamegraph", GOLDEN, "--colour", by)
            frames = [g for g in document.getElementsByTagName("g") if g.hasAttribute("data-d")]
            seen[by] = {g.getAttribute("class") for g in frames}
            used = set(re.findall(r"\.(c\d+) rect", text))
            self.assertLessEqual(seen[by], used, f"{by}: a class without a colour")
        self.assertEqual(len({tuple(sorted(classes)) for classes in seen.values()}), 6)
        self.assertEqual(self.svg("flamegraph", GOLDEN)[0], self.svg("flamegraph", GOLDEN, "--colour", "family")[0])
        self.refused(2, ["--colour", "family, module"], "flamegraph", GOLDEN, "--colour", "kind")

    def test_states_go_by_function_and_by_group(self):
        """main runs twice as long as it sleeps; in the group of what sleeps it sleeps."""
        head = '# ========\n# wick : {"format":1,"event":"wall-clock","hz":100,"metrics":[]}\n# ========\n#\n'
        text = head + "".join(
            f"# s st={state}\napp  1/1  [000] 5.{i}00100:          1 wall-clock: \n\t1 {leaf}+0x1 (/bin/app)\n\t2 main+0x1 (/bin/app)\n\n"
            for i, (state, leaf) in enumerate([("running", "work"), ("running", "work"), ("sleeping", "wait")]))
        path = self.write("states.perf", text)
        plain = self.classes_of(path, "--colour", "state")
        hues = {name: {number // 6 for number in numbers} for name, numbers in plain.items()}
        self.assertEqual(hues["main"], hues["work"])
        self.assertNotEqual(hues["wait"], hues["work"])
        grouped = self.classes_of(path, "--colour", "state", "--group", "state")
        self.assertEqual({number // 6 for number in grouped["main"]}, hues["work"] | hues["wait"])
        self.assertEqual({number // 6 for number in grouped["sleeping"]}, hues["wait"])

    def classes_of(self, *arguments):
        """{name: numbers of the palette} of the calls."""
        _, document = self.svg("flamegraph", *arguments)
        found = collections.defaultdict(set)
        calls = next(g for g in document.getElementsByTagName("g") if g.getAttribute("id") == "calls")
        for g in calls.getElementsByTagName("g"):
            name = g.getElementsByTagName("title")[0].firstChild.data.split("\n")[0]
            found[name].add(int(g.getAttribute("class")[1:]))
        return found

    def test_the_page_is_told(self):
        out = self.path("coloured.html")
        self.run_wick("flamegraph", GOLDEN, "--colour", "package", "-o", out)
        self.assertIn("colour=package", text_of(out))


class PerfScript(Views):
    """What `perf script` prints besides its usual form, counted here line by line."""

    def functions(self, *arguments):
        rows = json.loads(self.text("report", *arguments, "--json", "--top", "0"))["functions"]
        return {row["name"]: row["self_samples"] for row in rows if row["self_samples"]}

    def test_one_line_a_sample(self):
        # without -g; names are padded, and "dd" is a hexadecimal number too
        text = "".join(f"              dd 11 {i}.5:    2004008 cycles:  ffffffff815f6f{i:02x} "
                       f"{'copy' if i % 3 else 'fill'}+0x{i:x} ([kernel.kallsyms])\n"
                       for i in range(30))
        path = self.write("flat.perf", text)
        run = self.run_wick("report", path)
        self.assertEqual(run.stderr, b"")
        self.assertEqual(self.functions(path), {"copy": 20, "fill": 10})

    def test_misc_source_lines_and_side_band(self):
        text = ("fn 11 1.2: PERF_RECORD_COMM: fn:11/11\n"
                "fn 11/11 [003] K     1.5: cycles: \n"
                "\tffffffff815f6f78 f ([kernel])\n"
                "  dl-lookup.c:180\n"
                "\t          152619 call+0x3c (inlined)\n"
                "  a.h:12 (inlined)\n\n"
                "fn 11/11 [003] U     1.6: cycles: \n"
                "\t          15261f call+0x42 (inlined)\n"
                "  a.h:13 (inlined)\n\n")
        path = self.write("more.perf", text)
        run = self.run_wick("report", path)
        self.assertEqual(run.stderr, b"")
        self.assertEqual(self.functions(path), {"f": 1, "call": 1})

    def test_samples_without_stacks_say_what_to_do(self):
        path = self.write("bare.perf", "fn 11/11 1.5: cycles: \n" * 3)
        self.assertIn(b"perf record -g", self.run_wick("report", path).stderr)


class Terminal(Views):
    """Where names are longer than the terminal is wide."""

    LONG = "std::map<" + "std::string, " * 20 + "int>::find"

    def test_names_are_shortened_to_fit(self):
        path = self.write("long.perf",
                          f"app 1/1 [000] 1.5: 1 cpu:\n\t1 {self.LONG} (/a/lib.so)\n\n")
        for columns in (80, 120):
            text = self.on_terminal(columns, "report", path)
            self.assertIn("std::map<..>::find  (lib.so)", text)
            self.assertLessEqual(max(map(len, text.splitlines())), columns)
        self.assertIn(self.LONG, self.on_terminal(600, "report", path))
        # programs get all of it
        self.assertIn(self.LONG, self.text("report", path))
        self.run_wick("report", path, "-o", self.path("x.txt"))
        self.assertIn(self.LONG, text_of(self.path("x.txt")))


class BadInput(Views):
    def test_empty_and_corrupt_files_say_what_they_are(self):
        empty = self.write("empty.perf", "")
        noise = self.write("noise.perf", "hello\nworld\n" * 100)
        self.write("perf.data", b"PERFILE2" + bytes(1000))
        with open(GOLDEN, "rb") as file:
            packed = gzip.compress(file.read())
        self.write("none.perf.gz", packed[:9] + b"\xff" * 40)
        for command in ("heatmap", "flamegraph", "report"):
            self.refused(8, ["is empty", "try:"], command, empty)
            self.refused(8, ["has no sample"], command, noise)
            self.refused(8, ["perf script -i"], command, self.path("perf.data"))
            self.refused(8, ["none.perf.gz"], command, self.path("none.perf.gz"))
            missing = self.path("missing.perf")
            said = self.refused(8, ["No such file"], command, missing)
            self.assertEqual(said.count(missing), 1, said)
            self.refused(8, ["nothing is left of 90 samples"], command, GOLDEN, "--only", "^zzz$")
            self.refused(2, ["regular expression"], command, GOLDEN, "--only", "(")

    def test_a_truncated_file_still_gives_what_it_has(self):
        with open(GOLDEN, "rb") as file:
            packed = gzip.compress(file.read())
        self.write("cut.perf.gz", packed[:len(packed) * 2 // 3])
        run = self.run_wick("report", self.path("cut.perf.gz"), "--json")
        self.assertGreater(json.loads(run.stdout)["samples"], 10)
        self.assertIn(b"cut.perf.gz", run.stderr)

    def test_one_sample_is_a_picture(self):
        path = self.write("one.perf", "app 1/1 [000] 5.5: 1 cpu:\n\t1 f (/x)\n\n")
        for command in ("heatmap", "flamegraph"):
            self.svg(command, path)
        self.assertEqual(json.loads(self.text("report", path, "--json"))["samples"], 1)

    def test_a_name_that_is_marked_for_libmagic_is_one_with_its_own(self):
        """Versions of wick that marked only the first 16 KB, and what perf script writes of the same."""
        names = ("work<_table>", "work<table>", "work<TableRow>", "A\\_begin", "A\\begin")
        path = self.write("marked.perf", "".join(
            f"app 1/1 [000] {i}.5: 1 cpu:\n\t1 {name}+0x1 (/x)\n\n" for i, name in enumerate(names)))
        found = json.loads(self.text("report", path, "--json"))["functions"]
        self.assertEqual({function["name"]: function["self_samples"] for function in found},
                         {"work<table>": 2, "work<TableRow>": 1, "A\\begin": 2})

    def test_no_names_are_said_to_be_missing(self):
        path = self.write("bare.perf", "app 1/1 [000] 5.5: 1 cpu:\n\t1 [unknown] (/x)\n\n" * 3)
        self.assertIn(b"without a name", self.run_wick("report", path).stderr)

    def test_a_directory_of_many_processes(self):
        text = text_of(GOLDEN)
        os.mkdir(self.path("d"))
        for i in range(3):
            self.write(f"d/run.{i}", text)
        self.write("d/run.3", "")
        self.write("d/run.4", "no recording\n")
        self.write("d/other", text)
        run = self.run_wick("report", self.path("d"), "--prefix", "run.", "--json")
        self.assertEqual(json.loads(run.stdout)["samples"], 270)
        words = run.stderr.decode()
        for word in ("run.3", "run.4", "2 of 5 files gave no sample"):
            self.assertIn(word, words)
        self.assertNotIn("run.1", words)
        self.refused(8, ["--prefix"], "report", self.path("d"))

    def test_a_recording_is_never_written_over(self):
        path = self.write("in.csv", text_of(GOLDEN))
        os.symlink(path, self.path("link.csv"))
        for output in ("in.csv", "link.csv"):
            self.refused(8, ["does not overwrite it"], "report", path, "-o", self.path(output))
        with open(path, encoding="utf-8") as file:
            self.assertTrue(file.readline().startswith("#"))

    def test_stdin_is_not_a_file_called_minus(self):
        # Large and old enough for an index, if it were what is read.
        os.utime(self.write("-", "main;other 1\n" * 400000), (1e9, 1e9))
        for name in ("one", "two"):
            run = subprocess.run([WICK, "report", "-"], input=f"main;{name} 1\n".encode(),
                                 capture_output=True, check=True, timeout=60, cwd=self.dir,
                                 env={**os.environ, "XDG_CACHE_HOME": self.path("cache")})
            self.assertIn(name, run.stdout.decode())

    def test_statuses_are_the_same_of_all_commands(self):
        """2 usage, 4 permission, 8 anything else, of what is read and of what is written."""
        other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        text = text_of(GOLDEN)
        os.chmod(self.dir, 0o755)
        os.mkdir(self.path("closed"), 0o555)
        self.write("empty.perf", "")
        self.write("words.perf", "no recording\n")
        os.chmod(self.write("secret.perf", text), 0)
        os.chmod(self.write("fine.perf", text), 0o644)

        def status(command, name, folder, *options):
            first = [self.path("fine.perf")] if command[0] == "diff" else []
            done = subprocess.run([WICK, command[0], "--no-index", *options, *first,
                                   self.path(name), "-o", os.path.join(folder, command[1])],
                                  capture_output=True, check=False, timeout=60, cwd="/", **other)
            self.assertEqual(done.stdout, b"")
            return done.returncode

        closed = self.path("closed")
        try:
            subprocess.run([WICK, "help"], capture_output=True, check=True, **other)
        except PermissionError:
            self.skipTest("another user cannot run wick where it is")
        for command in (("heatmap", "o.svg"), ("flamegraph", "o.svg"), ("report", "o.md"),
                        ("convert", "o.folded"), ("diff", "o.txt"), ("view", "o.html")):
            with self.subTest(command=command[0]):
                self.assertEqual(status(command, "secret.perf", closed), 4)
                self.assertEqual(status(command, "none.perf", closed), 8)
                self.assertEqual(status(command, "empty.perf", closed), 8)
                self.assertEqual(status(command, "words.perf", closed), 8)
                self.assertEqual(status(command, "fine.perf", closed), 4)
                self.assertEqual(status(command, "fine.perf", self.path("none")), 8)
                self.assertEqual(status(command, "fine.perf", closed, "--no-such"), 2)

    def test_a_file_appears_whole_or_not_at_all(self):
        self.refused(2, ["not a format of this command"], "report", GOLDEN, "-o", self.path("x.exe"))
        self.refused(8, ["no/such"], "report", GOLDEN, "-o", self.path("no/such/x.csv"))
        self.write("old.csv", "old")
        self.run_wick("report", GOLDEN, "-f", "-o", self.path("old.csv"))
        self.assertTrue(text_of(self.path("old.csv")).startswith("function,"))
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith(".wick")], [])


if __name__ == "__main__":
    unittest.main()
