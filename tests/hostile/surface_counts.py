"""Exact counts: tables in a target's memory, and lines of counts in files.

Beside a target that forges its tables works an innocent program in the same recording, whose counts
are to be right to the last one."""
import json
import os
import re
import subprocess

from hostile import MEGABYTE, Case, Input
from recorded import TARGETS, WICK

SECONDS = 2
REQUESTS = 300
KINDS = {"states": "16 states of 1024 threads", "numbers": "counters that are full", "changing": "tables that change",
         "lease": "a lease that is written over"}
SHOWN = 4  # tiers that the summary names
# The others have more names than there are rows for: what has the longest times gets them.
LEAVE_ROOM = ("changing", "lease")
MOST_FILE_BYTES = 33 * MEGABYTE  # 32 of rows, and the samples


def recorded(kind):
    def make(folder):
        forger, honest = (os.path.join(TARGETS, name) for name in ("forged_tables", "counted_twin"))
        both = f'"{forger}" {SECONDS} {kind} & "{honest}" {SECONDS - 1} {REQUESTS} & wait'
        return Input([WICK, "record", "-F", "49", "-o", os.path.join(folder, "x.perf"), "--", "sh", "-c", both],
                     3 * MEGABYTE)
    return Case("counts", KINDS[kind], make, judge if kind in LEAVE_ROOM else judge_full)


def rows_of(path, word):
    """The rows of a recording, as JSON: what a reader of JSON Lines sees."""
    done = subprocess.run([WICK, word, "--json", path], capture_output=True, text=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def judge_text(result):
    path = os.path.join(result.dir, "x.perf")
    if not os.path.exists(path):
        return f"status {result.status}: {result.stderr[-80:]}"
    if os.path.getsize(path) > MOST_FILE_BYTES:
        return f"wrote {os.path.getsize(path) / MEGABYTE:.0f} MB"
    if "\x1b" in result.stderr or result.text("x.perf").count("\n# wick-end : ") != 1:
        return "a name broke out of its line"
    _, said = rows_of(path, "tasks")
    expected = ("no exact counts", "left out")
    return f"wick tasks said: {said[-80:]}" if said and not any(words in said for words in expected) else None


def judge(result):
    rows, _ = rows_of(os.path.join(result.dir, "x.perf"), "requests")
    count = sum(row["count"] for row in rows if row["identity"] == "GET /honest")
    return judge_text(result) or (
        None if count == REQUESTS else f"{count} of {REQUESTS} requests of the innocent one")


def judge_full(result):
    """The requests of the innocent one have no name of their own, but their rows; a row that is not there is counted."""
    wrong = judge_text(result)
    if wrong:
        return wrong
    path = os.path.join(result.dir, "x.perf")
    rows, _ = rows_of(path, "requests")
    count = sum(row["count"] for row in rows if row["identity"] == "_total")
    if count != REQUESTS:
        return f"{count} of {REQUESTS} requests of the innocent one are in the file"
    end = json.loads(result.text("x.perf").rpartition("# wick-end : ")[2])
    left_out = end.get("dropped_lines", 0)
    if left_out:
        return None if "(dropped_lines)" in result.stderr else f"the summary does not say that {left_out} rows are missing"
    rows, _ = rows_of(path, "tiers")
    in_file = len({row["tier"] for row in rows})
    counted = re.search(r"tiers (?:.* and ([0-9,]+) more)?", result.stderr)
    expected = SHOWN + int(counted[1].replace(",", "")) if counted and counted[1] else in_file
    return None if in_file == expected else f"{in_file} of {expected} tiers are in the file, and none is said to be missing"


def file_case(name, make_text, judge_it=lambda result: None, command="requests"):
    def make(folder):
        path = os.path.join(folder, "sent.perf")
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(HEAD + make_text())
        return Input([WICK, command, path], os.path.getsize(path))
    return Case("counts", name, make, judge_it)


HEAD = ('# wick : {"format":1,"version":"0.1.0","clock":"CLOCK_MONOTONIC","event":"cpu-clock","hz":99,"pid":1,'
        '"metrics":[]}\n#\n')
GOOD = '# req : {"since_ns":1,"time_ns":2,"tier":"request","identity":"GET /x","count":7,"sum_ns":7,"buckets":[[3,7]]}\n'
TASK = '# req : {"since_ns":1,"time_ns":2,"task":%s,"file":"a","line":%s,"exec_ns":%s,"calls":1}\n'


def finds_good(result):
    return None if re.search(r"^ *7 .*GET /x$", result.stdout, re.MULTILINE) else "the row behind it is gone"


def says_what_is_missing(result):
    said = f"left out {(1 << 64) - 1} lines" in result.stderr
    return finds_good(result) or (None if said else f"said: {result.stderr[-80:]}")


def is_text(result):
    return "control characters" if re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", result.stdout + result.stderr) else None


def all_buckets(n):
    """Each row fills a histogram from its far end."""
    buckets = json.dumps([[bucket, 1] for bucket in range(2303, -1, -1)], separators=(",", ":"))
    return "".join(f'# req : {{"since_ns":1,"time_ns":2,"tier":"request","identity":"{i}","count":1,"buckets":{buckets}}}\n'
                   for i in range(n))


CASES = [recorded(kind) for kind in KINDS] + [
    file_case("a line of 100 MB", lambda: '# req : {"tier":"' + "x" * 100 * MEGABYTE + '"}\n' + GOOD, finds_good),
    file_case("JSON in JSON", lambda: "# req : " + '{"a":' * 60000 + "\n" + "# req : " + "[" * 60000 + "\n" + GOOD,
              finds_good),
    file_case("numbers that cannot be", lambda: "".join(
        TASK % ('"a"', number, number) for number in ("NaN", "-1", "1e308", "18446744073709551615", "9" * 400, '"x"'))
        + GOOD, finds_good),
    file_case("names with any bytes", lambda: "".join(
        TASK % (name, 1, 5) for name in (r'"\u001b[31m"', r'"\n# wick-end : {}"', r'"\u009b1m\u202e"', '"\\ud800"',
                                         r'"\u0000"', r'"\ufffd\t"')) + GOOD, is_text, "tasks"),
    file_case("keys twice", lambda: GOOD.replace('"count":7', '"count":7,"count":9') + GOOD, finds_good),
    file_case("buckets that there are not", lambda: GOOD.replace("[3,7]", "[2304,1]") + GOOD.replace(
        "[3,7]", "[-1,1]") + GOOD.replace("[3,7]", "[3]") + GOOD, finds_good),
    file_case("an end that lacks more rows than there can be", lambda: GOOD + '# wick-end : {"dropped_lines":'
              '18446744073709551615,"dropped_lines":-1,"dropped_lines":"x","x":{"dropped_lines":3},"dropped_lines":7}\n',
              says_what_is_missing),
    file_case("300,000 rows of other names", lambda: GOOD + "".join(
        TASK % (f'"{i}"', i, i) for i in range(300000)), finds_good),
    file_case("histograms from their far end", lambda: GOOD + all_buckets(100), finds_good),
]
