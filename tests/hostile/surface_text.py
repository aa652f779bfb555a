"""Texts of recordings: what somebody was sent."""
import os

from hostile import MEGABYTE, WICK, Case, Input

HEAD = """# wick : {"format":1,"version":"0.1.0","clock":"CLOCK_MONOTONIC","event":"cpu-clock","hz":99,"pid":1,"metrics":[]}
#
"""
SAMPLE = "a 1/1 [000] 1.000000: 1 cpu-clock: \n\t    1000 f+0x0 (/bin/a)\n\n"


def text_case(name, make_text, judge=lambda result: None):
    def make(folder):
        path = os.path.join(folder, "sent.perf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(make_text())
        return Input([WICK, "report", path], os.path.getsize(path))
    return Case("text", name, make, judge)


def tells_main_function(result):
    return None if result.status == 0 and "f" in result.stdout.split() else "the sample behind it is gone"


CASES = [
    text_case("1 MB of one name in the header", lambda: HEAD.replace("[]", '["' + "metric_a-" * (MEGABYTE // 9) + '"]')
              + SAMPLE),
    text_case("a header line of 1 MB", lambda: "# " + "metric_a-" * (MEGABYTE // 9) + "\n" + SAMPLE, tells_main_function),
]
