#!/usr/bin/env python3
"""The models themselves: what each consumer is known to lose or to die of, each must show."""
import re
import sys
import unittest

import firefox
import flamescope
import inferno
import perfetto
import speedscope
import stackcollapse
from grammar import Fatal, truth

HEAD = "# ========\n# hostname : h\n# ========\n#\n"
FRAMES = "\t            7f01 leaf+0x1a (/lib/libc.so.6)\n\t            4011 main+0x2b (/opt/app)\n"


def sample(comm="app", at="12345.010101", event="cpu-clock: ", frames=FRAMES, ids="4000/4001",
           weight=1, cpu="[000]", end="\n"):
    return f"{comm}  {ids}  {cpu} {at}: {weight:10} {event}\n{frames}{end}"


def symbol(name, module="/lib/libc.so.6", tail=")"):
    return f"\t            7f01 {name}+0x1a ({module}{tail}\n"


COMMENTED = "# s st=running op=free\n" + re.sub(r"^", "# f ", sample(at="12345.025", weight=0),
                                               flags=re.M).replace("# f \n", "# f\n")[:-4]
GOOD = sample() + sample(comm="other", at="12345.020202", ids="4000/4002", weight=3)
MORE = sample(comm="other", at="12345.030303", ids="4000/4002")
READERS = {"FS": flamescope.read, "SC": stackcollapse.read, "SS": speedscope.read,
           "FX": firefox.read, "INF": inferno.read, "PT": perfetto.read}
FIVE = "FS SC SS FX INF"

# construct, text, who loses something, who shows an error; all others read it whole
TABLE = [
    ("plain", HEAD + GOOD, "", ""),
    ("no header at all", GOOD, "", ""),
    ("first line is another comment", "# foo\n" + GOOD, "", "FX"),
    ("blank line before the first sample", "\n" + GOOD, "", "FS FX INF"),
    ("leading blank before comm", HEAD + " " + GOOD, "SC SS", "INF"),
    ("whole-second stamps", HEAD + sample(at="12345") + sample(at="12346"), "", "FS SS"),
    ("last stamp is a whole second", HEAD + GOOD + sample(at="12346.000000"), "", "FS"),
    ("unsorted in one thread", HEAD + GOOD + sample(at="12345.000001") + MORE, "", "SS"),
    ("last sample in an older second", HEAD + GOOD + sample(at="12344.5"), "", "FS SS"),
    ("a single sample", HEAD + sample(), "", "FS"),
    ("two event names", HEAD + GOOD + sample(at="12345.03", event="wall-clock: "),
     "SC SS INF", ""),
    ("no blank line between samples", HEAD + sample(end="") + GOOD, "SC SS FX INF", ""),
    ("separators with a blank", HEAD + sample(end=" \n") + GOOD, "SC SS", ""),
    ("no final blank line", HEAD + GOOD[:-1], "SC", ""),
    ("CRLF", (HEAD + GOOD).replace("\n", "\r\n"), "SC SS", "FX"),
    ("sample without frames", HEAD + GOOD + sample(at="12345.03", frames=""), "SS FX INF", ""),
    ("comm of one character", HEAD + GOOD + sample(comm="a", at="12345.03"), "", ""),
    ("empty comm", HEAD + GOOD + sample(comm="", at="12345.03"), "FS SC SS INF", ""),
    ("comm #x", HEAD + sample(comm="#x") + GOOD, "SC SS FX", "FS INF"),
    ("comm w 12: x", HEAD + sample(comm="w 12: x: y") + GOOD, "", ""),
    ("comm struct", HEAD + sample(comm="struct") + GOOD, "", "FS"),
    ("comm <html>", HEAD + sample(comm="<html>") + GOOD, "", "FS"),
    ("comm _<html>", HEAD + sample(comm="_<html>") + GOOD, "", "FS"),
    ("comm .TH", HEAD + sample(comm=".TH") + GOOD, "", "FS"),
    ("a page in the command line", HEAD.replace("h\n", "<html>\n") + GOOD, "", "FS"),
    ("symbol (anonymous namespace)::f", HEAD + GOOD + sample(
        at="12345.03", frames=symbol("(anonymous namespace)::f")), "SC FX INF", ""),
    ("symbol operator->", HEAD + GOOD + sample(
        at="12345.03", frames=symbol("T::operator-> x")), "FS SC INF", ""),
    ("symbol read 3: foo::bar", HEAD + GOOD + sample(
        at="12345.03", frames=symbol("read 3: foo::bar")), "", "FS"),
    ("code without a name, by its function's start", HEAD + GOOD + sample(
        at="12345.03", frames=symbol("[libfoo.so@0x1200]", "/x/libfoo.so")
        + symbol("[libfoo.so]", "/x/libfoo.so")), "", ""),
    ("the start behind a plus", HEAD + GOOD + sample(
        at="12345.03", frames=symbol("[libfoo.so+0x1200]", "/x/libfoo.so")), "FS", ""),
    ("a plus in the module's name", HEAD + GOOD + sample(
        at="12345.03", frames=symbol("[libstdc++.so.6]", "/x/libstdc++.so.6")), "FS", ""),
    ("invalid UTF-8", HEAD + GOOD + sample(at="12345.03", frames=symbol("\udcff")),
     "", "FS SS FX PT"),
    ("NUL", HEAD + GOOD + sample(at="12345.03", frames=symbol("a\0b")), "", "FS"),
    ("BOM", "\ufeff" + HEAD + GOOD, "SC INF", "FS"),
    ("module with a blank", HEAD + GOOD + sample(at="12345.03", frames=symbol("f", "/a b")),
     "SS INF", ""),
    ("module (deleted)", HEAD + GOOD + sample(at="12345.03", frames=symbol("f", "/a (deleted)")),
     "FS SC SS FX INF", ""),
    ("module a(1)/b", HEAD + GOOD + sample(at="12345.03", frames=symbol("f", "/a(1)/b")),
     "FX", ""),
    ("frame without a module", HEAD + GOOD + sample(at="12345.03", frames=FRAMES + "\t 7f f\n"),
     FIVE, ""),
    ("0x before the address", HEAD + GOOD + sample(
        at="12345.03", frames=symbol("f").replace("7f01", "0x7f01")), "FS", ""),
    ("blank after the module", HEAD + GOOD + sample(at="12345.03", frames=symbol("f", tail=") ")),
     "FS", ""),
    ("487 frames", HEAD + GOOD + sample(at="12345.03", frames=symbol("f") * 487), "", "FS"),
    ("485 frames", HEAD + GOOD + sample(at="12345.03", frames=symbol("f") * 485), "", ""),
    ("text after the event", HEAD + sample(event="cpu-clock: x=1") + GOOD, "SS INF", ""),
    ("inlined frames", HEAD + GOOD + sample(
        at="12345.03", frames="\t 7f01 inner (inlined)\n" + FRAMES), "", ""),
    ("comm a->b", HEAD + sample(comm="a->b") + GOOD, "FS", ""),
    ("comm a;b", HEAD + sample(comm="a;b") + GOOD, "SC INF", ""),
    ("comm swapper", HEAD + sample(comm="swapper") + GOOD, "", ""),
    ("two samples of a thread at one time", HEAD + sample() + GOOD, "", ""),
    ("three samples of a thread at one time", HEAD + sample() + sample() + GOOD, "SS", ""),
    ("an event that weighs 0", HEAD + GOOD + sample(at="12345.03", weight=0), "SC", ""),
    ("a release of memory in comments", HEAD + GOOD + COMMENTED + MORE + COMMENTED, "", ""),
    ("a release before the first sample", HEAD + COMMENTED + GOOD, "", ""),
    ("metrics in a comment", HEAD + "# s st=running cpu_ns=1,2\n" + GOOD, "", ""),
]
BARE = [
    ("plain", GOOD, False), ("a comment", HEAD + GOOD, True),
    ("nine decimals", sample(at="12345.010101000") + GOOD, True),
    ("no cpu number", sample(cpu="[???]") + GOOD, True),
    ("no frames", sample(frames="") + GOOD, True),
    ("a frame that does not end", sample(frames=symbol("f", tail=") x")) + GOOD, True),
]


def bytes_of(text):
    return text.encode("utf-8", "surrogateescape")


def outcome(reader, text):
    """'error', 'loses' or 'whole', against the number of header lines and frames in the text."""
    data = bytes_of(text)
    n_samples = len(re.findall(rb"^(?!# f ).*\[[0-9?]+\] [0-9.]+: ", data, re.M))
    n_frames = len(re.findall(rb"^\t", data, re.M))
    try:
        verdict = reader(data)
    except Fatal:
        return "error"
    whole = verdict.samples == n_samples and verdict.frames == n_frames and not verdict.lost
    return "whole" if whole else "loses"


class Models(unittest.TestCase):
    def test_each_construct_is_lost_by_whom_it_is_known_to_be(self):
        for name, text, losers, errors in TABLE:
            for who in FIVE.split():
                want = "error" if who in errors.split() else \
                    "loses" if who in losers.split() else "whole"
                with self.subTest(construct=name, consumer=who):
                    self.assertEqual(outcome(READERS[who], text), want)

    def test_perfetto_refuses_all_but_bare_text(self):
        for name, text, fails in BARE:
            with self.subTest(construct=name):
                self.assertEqual(outcome(perfetto.read, text), "error" if fails else "whole")

    def test_a_number_in_the_name_is_taken_for_the_pid(self):
        data = bytes_of(HEAD + sample(comm="Worker 3") + GOOD)
        pids, threads, tids = [], [], []
        stackcollapse.read(data, pids)
        speedscope.read(data, threads)
        firefox.read(data, tids)
        self.assertEqual(pids[0], (b"Worker", b"3"))
        self.assertEqual(threads[0], "Worker tid: 3")
        self.assertEqual(tids[0], 4001)

    def test_a_name_of_one_character_swallows_the_pid(self):
        pids = []
        stackcollapse.read(bytes_of(HEAD + sample(comm="a") + GOOD), pids)
        self.assertNotEqual(pids[0], (b"a", b"4000"))

    def test_the_weight_is_the_period(self):
        self.assertEqual(stackcollapse.read(bytes_of(HEAD + GOOD)).weight, 4)
        self.assertEqual(inferno.read(bytes_of(HEAD + GOOD)).weight, 4)
        text = HEAD + GOOD.replace("cpu-clock: ", "cpu-clock: x=1")
        self.assertEqual(stackcollapse.read(bytes_of(text)).weight, 2)

    def test_the_fork_wants_every_metric_as_an_integer_on_every_event(self):
        def read(metrics):
            text = HEAD + "".join(sample(at=f"12345.{i:06}", event="cpu-clock:" + part)
                                  for i, part in enumerate(metrics, 1))
            return flamescope.read(bytes_of(text), ["wick_a"])

        good = "\tmetric_wick_a: 12, -3"
        self.assertEqual(read([good, good]).lost, [])
        self.assertNotEqual(read([good, ""]).lost, [])
        self.assertNotEqual(read([good, good.replace(": 12", ":  12")]).lost, [])
        self.assertRaises(Fatal, read, [good, good.replace("12", "1.5")])

    def test_the_own_grammar_is_narrow(self):
        self.assertEqual(truth(bytes_of(HEAD + GOOD)), (2, 4, 4))
        for text in (GOOD[:-1].rstrip("\n"), sample(comm="a b"), GOOD.replace("\t", "", 1),
                     sample(frames="# x\n" + FRAMES), "\t 7f f (x)\n" + GOOD,
                     sample(weight=0), sample(at="12345.01")):
            self.assertRaises(Fatal, truth, bytes_of(HEAD + text))


if __name__ == "__main__":
    sys.exit(unittest.main())
