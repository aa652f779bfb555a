"""Contexts that a target shows for its threads: pointers into nothing, lengths that cannot be, and
attributes with any bytes.  The target must live on, and the recording must be whole."""
import os
import re

from hostile import MEGABYTE, Case, Input
from recorded import TARGETS, WICK

SECONDS = 3
HZ = 249
LABEL = re.compile(r"^# s [^\n]*\btrace=[0-9a-f]{32}\b", re.MULTILINE)
# Lines of a recording: a value that broke out of its line would be none of them.
LINE = re.compile(r"#( \w[\w-]* .*)?|\S.*|\t.*|")


def make(folder):
    forger = os.path.join(TARGETS, "forged_tables")
    return Input([WICK, "record", "-F", str(HZ), "-o", os.path.join(folder, "x.perf"), "--",
                  forger, str(SECONDS), "contexts"], 2 * MEGABYTE)


def judge(result):
    if result.status != 0 or result.stdout != "survived\n":
        return f"status {result.status}, the target said {result.stdout!r}: {result.stderr[-80:]}"
    text = result.text("x.perf")
    if text.count("\n# wick-end : ") != 1 or "\x1b" in text:
        return "a value broke out of its line"
    odd = [line for line in text.split("\n") if not LINE.fullmatch(line)]
    if odd:
        return f"an odd line: {odd[0][:40]!r}"
    return None if LABEL.search(text) else "no sample has a context, so that nothing was tried"


CASES = [Case("contexts", "pointers and lengths that lie", make, judge)]
