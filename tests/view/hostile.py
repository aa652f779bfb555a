#!/usr/bin/env python3
"""hostile.py - mutated files give an error or a picture: no crash, no markup, no flood of memory

  hostile.py WICK N [SEED]    N files, each through several commands; the same SEED, the same files
"""
import csv
import gzip
import html.parser
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "e2e"))
import ended  # pylint: disable=wrong-import-position

SEEDS = [os.path.join(HERE, "samples", name) for name in
         ("gzip.perf", "perl.perf", "python.perf", "sort.perf", "xz.perf")] + \
        [os.path.join(HERE, "..", "golden", name) for name in
         ("golden.perf", "zoo.comment.perf", "zoo.inline.perf", "zoo.group.perf")]
MAX_RSS_KIB = 768 * 1024
MAX_SECONDS = 60
STATUSES = (0, 2, 8, 10, 11)
PAYLOADS = [b"<script>alert(1)</script>", b"</title><script>w1ck()</script>",
            b"\"onload=\"w1ck()", b"<img/src=x/onerror=w1ck()>", b"]]><script>w1ck()</script>",
            b"</script><w1ck>", b"&#60;w1ck&#62;", b"--><w1ck>", b"${w1ck}", b"=cmd|'w1ck'!A1",
            b"\x1b]0;w1ck\x07\x1b[2J", b"%3Cw1ck%3E", b"\\u003cw1ck\\u003e", b"{{nonce}}"]
BOMB = b"a" * 5000 + b"!"
FOLDED = re.compile(r"[^\n]* -?[0-9]+")
FILE_NAMES = ["m%d.perf"] * 5 + ["m%d <script>w1ck()<.perf", "m%d \x1b]0;w1ck\x07.perf",
                                 "m%d\n'\"\\&w1ck;.perf", "=m%d.perf", "m%d %s%n.perf"]


# What a mutation makes of a file's bytes.

def flip(data, rng):
    data = bytearray(data)
    for _ in range(rng.randint(1, 60)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def cut(data, rng):
    return data[:rng.randrange(len(data))]


def nuls(data, rng):
    for _ in range(rng.randint(1, 5)):
        at = rng.randrange(len(data))
        data = data[:at] + b"\0" * rng.choice((1, 7, 4096)) + data[at:]
    return data


def lines_moved(data, rng):
    lines = data.split(b"\n")
    for _ in range(rng.randint(1, 40)):
        at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
        if rng.random() < 0.5:
            lines[at], lines[to] = lines[to], lines[at]
        else:
            lines.insert(to, lines[at])
    return b"\n".join(lines)


def long_line(data, rng):
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    filling = rng.choice((b"x", b"<script>", b"a;", b"\t4011 f (x)", b"# s a=1,1 ", b"(", b"9"))
    lines[at] += filling * (10_000_000 // len(filling))
    return b"\n".join(lines)


def deep(data, rng):
    frames = b"".join(b"\t%x %s%d (/x)\n" % (i, rng.choice((b"f", b"<script>")), i % 1000)
                      for i in range(100_000))
    return data + b"\ndeep 1/1 [000] 99.5: 1 cpu-clock: \n" + frames + b"\n"


def payload(data, rng):
    evil = rng.choice(PAYLOADS)
    for old in rng.sample((b"main", b"/lib/", b"cpu-clock", b"running", b"cpu_ns", b"[unknown]",
                           b"/usr/", b"gzip", b"app"), 4):
        data = data.replace(old, old + evil.replace(b" ", b"_"))
    return data


def odd_numbers(data, rng):
    lines = data.split(b"\n")
    odd = (b"99999999999999999999", b"-1", b"0", b"18446744073709551615", b"9223372036854775807",
           b"1e9", b"nan", b"0x10", b"12345678901.999999999", b"00000000000000000000000001")
    for _ in range(30):
        at = rng.randrange(len(lines))
        words = lines[at].split(b" ")
        words[rng.randrange(len(words))] = rng.choice(odd) + rng.choice((b"", b":", b",1"))
        lines[at] = b" ".join(words)
    return b"\n".join(lines)


def endings(data, rng):
    return rng.choice((data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data,
                       data.replace(b"\n\n", b"\n"), data.replace(b"\t", b" "),
                       data.replace(b"a", b"\xff\xc0\x80"), data.replace(b"\n", b"\r"),
                       data.replace(b"\n", b"\n\n"), b""))


def far_apart(data, rng):
    return data + b"\nfar 1/1 [000] %d.000001: 1 cpu-clock: \n\t1 f (x)\n\n" % \
        rng.choice((10**5, 10**9, 10**12, 18446744073))


def header(data, rng):
    evil = rng.choice((b"[" * 100_000, b'{"a":' * 50_000, b'{"metrics":[' + b'{"name":"x"},' * 9000,
                       b'{"hz":-1,"metrics":7}', b'{"metrics":[{"name":"<script>","unit":"</"}]}',
                       b'{"epoch_offset_ns":99999999999999999999999}', b"\0"))
    return b"# ========\n# wick : " + evil + b"\n# ========\n#\n" + data


def many(data, rng):
    kind = rng.choice((b"# s w%d=x\n", b"# s m%d=9223372036854775807,-9223372036854775808\n",
                       b"# s st=s%d wait=w%d\n"))
    return data + b"".join(
        kind.replace(b"%d", b"%d" % i) + b"t%d %d/%d 9.%06d: 1 e%d: \n\t%x f%d (m%d)\n\n" %
        (i, i, i, i, i, i, i, i) for i in range(5000))


def folded(data, rng):
    names = [b"main", b"f<script>", b"", b" ", b"\xff", b"[unknown]", b"a b", BOMB]
    return b"".join(b";".join(rng.choice(names) for _ in range(rng.randint(0, 30))) +
                    rng.choice((b" 1", b" -5", b" 99999999999999999999", b"", b" 1.5")) + b"\n"
                    for _ in range(200))


def bomb(data, _rng):
    return data.replace(b"main", BOMB)


def facts(data, rng):
    evil = rng.choice(PAYLOADS)
    return (b"# ========\n# captured on    : " + evil + b"\n# hostname : " + evil + b"\xff\n"
            b"# cmdline : " + evil + b"\n# wick : {\"format\":1,\"event\":\"" +
            evil.replace(b'"', b"'") + b"\",\"metrics\":[{\"name\":\"cpu_ns\",\"unit\":\"" +
            evil.replace(b'"', b"'") + b"\",\"kind\":\"gauge\"}]}\n# ========\n#\n" + data)


def formulas(data, rng):
    start = rng.choice((b"=1+1", b"+1", b"-1", b"@SUM(1)", b"\t=1", b"\xe2\x80\x8b=1"))
    return data.replace(b"(/", b"(" + start + b"/").replace(b" main", b" " + start + b"main")


def noise(_data, rng):
    return rng.randbytes(rng.randint(1, 100_000))


MUTATIONS = (flip, cut, nuls, lines_moved, long_line, deep, payload, payload, odd_numbers, endings,
             far_apart, header, many, folded, bomb, noise, facts, formulas)


def blown_up(data, rng):
    """Few bytes that become 60 MB, in members of their own: nothing, empty lines or one sample."""
    filling = rng.choice((b"\0", b"\n", b"a", b"a;b 1\n",
                          b"t 1/1 [0] 1.5: 1 c: \n\t1 f (x)\n\n"))
    million = filling * (1_000_000 // len(filling))
    if rng.random() < 0.5:
        return ".gz", gzip.compress(data, 1) + gzip.compress(million, 1) * 60
    return ".zst", b"".join(
        subprocess.run(["zstd", "-qc1"], input=part, stdout=subprocess.PIPE, check=True).stdout * n
        for part, n in ((data, 1), (million, 60)))


def packed(data, rng):
    """(ending, bytes): as it is, or compressed and then damaged."""
    how = rng.randrange(24)
    if how == 23:
        return blown_up(data, rng)
    if how > 11:
        return "", data
    how %= 4
    if how == 3:
        data = subprocess.run(["zstd", "-qc1"], input=data, stdout=subprocess.PIPE,
                              check=True).stdout
        return ".zst", cut(data, rng) if rng.random() < 0.7 else flip(data, rng)
    data = gzip.compress(data, 1)
    if how == 0:
        return ".gz", cut(data, rng)
    if how == 1:
        return ".gz", flip(data, rng)
    return ".gz", data + data[:rng.randrange(len(data))]


# What has to hold for what a command has written.

class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.problems = []
        self.scripts = 0

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        if tag in ("w1ck", "img", "iframe"):
            self.problems.append(f"element <{tag}>")
        for name, value in attrs:
            if name.startswith("on") or "javascript:" in (value or ""):
                self.problems.append(f"attribute {name}={value!r:.60}")


def check_markup(text, n_scripts):
    tags = Tags()
    tags.feed(text)
    if tags.scripts != n_scripts:
        tags.problems.append(f"{tags.scripts} scripts, not {n_scripts}")
    return tags.problems


def check_svg(text, state):
    try:
        xml.etree.ElementTree.fromstring(text)
    except xml.etree.ElementTree.ParseError as error:
        return [f"is no XML: {error}"]
    return check_markup(text, state["scripts.svg"])


def check_html(text, state):
    return check_markup(text, state["scripts.html"])


def check_json(text, _state):
    sys.setrecursionlimit(50_000)
    try:
        json.loads(text)
    except ValueError as error:
        return [f"is no JSON: {error}"]
    return ["holds <script>"] if "<script" in text else []


def check_csv(text, _state):
    csv.field_size_limit(100_000_000)
    rows = list(csv.reader(io.StringIO(text)))
    if len({len(row) for row in rows}) > 1:
        return ["has rows of several lengths"]
    return [f"has a formula: {cell:.40}" for row in rows for cell in row
            if cell[:1] in ("=", "@") or (cell[:1] in ("+", "-", "\t") and not is_number(cell))]


def is_number(cell):
    try:
        return float(cell) == float(cell)
    except ValueError:
        return False


def check_text(text, _state):
    bad = [char for char in set(text) if (ord(char) < 32 and char not in "\n\t") or
           0x7f <= ord(char) < 0xa0]
    return [f"holds control characters {bad!r}"] if bad else []


def check_perf(text, state):
    return check_text(text, state)


def check_folded(text, state):
    bad = [line for line in text.splitlines() if not FOLDED.fullmatch(line)]
    return check_text(text, state) + [f"has a line that is none: {line:.60}" for line in bad[:1]]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def check_pprof(path):
    """Fields of the outermost message (protobuf's encoding); the strings are UTF-8."""
    try:
        with gzip.open(path) as file:
            data = file.read()
        at = 0
        while at < len(data):
            key, at = varint(data, at)
            value, at = varint(data, at)
            if key & 7 == 2:
                if at + value > len(data):
                    return ["ends in the middle"]
                if key >> 3 == 6:
                    data[at:at + value].decode("utf-8", "strict")
                at += value
            elif key & 7 != 0:
                return [f"has wire type {key & 7}"]
    except (OSError, EOFError, IndexError, UnicodeDecodeError) as error:
        return [f"is no profile: {error}"]
    return []


CHECKS = {"svg": check_svg, "html": check_html, "json": check_json, "csv": check_csv,
          "txt": check_text, "md": check_text, "perf": check_perf, "folded": check_folded}

REGEX_BOMBS = [["--only", "(a+)+$"], ["--without", "(a*)*b"], ["--elide", "(a|aa)+$"],
               ["--focus", "(?:a?){500}a{500}$"], ["--thread", "((a+)+)+!x"], ["--only", "(" * 900],
               ["--where", "state=([a-z]+)*$x"], ["--only", "(?R)?"], ["--truncate", "a" * 60_000]]
COMMANDS = [
    ["heatmap", "-o", "x.svg"], ["heatmap", "-o", "x.json"], ["heatmap", "-o", "x.csv"],
    ["heatmap", "-o", "x.txt"], ["heatmap"], ["flamegraph", "-o", "x.svg"],
    ["flamegraph", "-o", "x.json"], ["flamegraph", "-o", "x.csv"], ["flamegraph", "-o", "x.txt"],
    ["report"], ["report", "--format", "md"], ["report", "-o", "x.csv"], ["report", "-o", "x.json"],
    ["flamegraph", "--group", "thread,state,wait", "-o", "x.svg"],
    ["heatmap", "--by", "thread", "-o", "x.svg"], ["heatmap", "--metric", "cpu_ns:delta"],
    ["diff", "-o", "x.svg"], ["diff", "-o", "x.json"], ["diff"], ["diff", "-o", "x.md"],
    ["view", "-o", "x.html"], ["convert", "-o", "x.folded"], ["convert", "-o", "x.pb.gz"],
    ["convert", "-o", "x.speedscope.json"], ["convert", "-o", "x.perf"],
    ["convert", "-o", "x.firefox.json.gz"], ["convert", "-o", "x.speedscope.json.gz"],
    ["convert", "--title", "</script><w1ck>\x1b]0;x", "-o", "x.firefox.json"],
    ["convert", "--group", "thread,state,host", "-o", "x.perf"],
    ["convert", "--metrics-as", "inline", "-o", "x.perf"], ["convert", "--bare", "-o", "x.perf"],
    ["convert", "--repeat", "cpu_ns_delta", "--max-samples", "1000", "-o", "x.perf"],
    ["convert", "--repeat", "period", "--max-samples", "1000", "-o", "x.perf"],
    ["convert", "--format", "folded", "-o", "-"], ["convert", "--format", "pb.gz", "-o", "x.pb.gz"],
    ["flamegraph", "-o", "x.folded"], ["flamegraph", "-o", "x.html"], ["heatmap", "-o", "x.html"],
    ["flamegraph", "--title", "</svg><w1ck>\x1b[2J", "--reverse", "-o", "x.svg"],
    ["heatmap", "--by", "host", "-o", "x.csv"], ["diff", "-o", "x.csv"], ["diff", "-o", "x.txt"],
    ["diff", "--fail-if", "total(*)>+3%"], ["report", "--function", ".", "--format", "md"],
    ["report", "--function", "main", "--json"], ["report", "--format", "txt", "--group", "comm"],
]


class Trial:
    def __init__(self, wick, folder, seed):
        self.wick, self.folder = wick, folder
        self.rng = random.Random(seed)
        self.bad, self.runs, self.pictures, self.greatest_rss = 0, 0, 0, 0
        self.state = {"scripts.svg": 0, "scripts.html": 0}
        self.commands = [command for command in COMMANDS if self.is_there(command[0])]
        for name, command in (("svg", "flamegraph"), ("html", "view")):
            if [command, "-o", "x." + name] in self.commands:
                self.state["scripts." + name] = self.count_scripts(command, name)
        self.state["scripts.heat"] = 0

    def is_there(self, command):
        return subprocess.run([self.wick, "help", command], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0

    def count_scripts(self, command, name):
        out = os.path.join(self.folder, "clean." + name)
        subprocess.run([self.wick, command, "--no-index", "-o", out, SEEDS[0]], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(out, encoding="utf-8") as file:
            tags = Tags()
            tags.feed(file.read())
        return tags.scripts

    def run(self, command, path):
        """One command on one file: (exit status or None, what it printed, KiB)"""
        files = [SEEDS[0], path] if command[0] == "diff" else [path]
        again = ["--force"] if "-o" in command else []
        line = [self.wick, command[0], "--no-index", *again, *command[1:], *files]
        done = ended.run(line, MAX_SECONDS, cwd=self.folder, env={**os.environ, "BROWSER": "true"})
        return done.status, done.stdout.decode(), done.stderr.decode(), done.most_bytes // 1024

    def try_one(self, command, path, what):
        self.runs += 1
        out = next((word for word in command if word.startswith("x.")), None)
        try:
            status, said, told, rss = self.run(command, path)
        except UnicodeDecodeError as error:
            return self.complain(what, command, path, f"prints what is no UTF-8: {error}")
        self.greatest_rss = max(self.greatest_rss, rss)
        problems = []
        if status not in STATUSES:
            problems.append(f"exit {status}: {told[-300:]}")
        if status not in (0, 10) and not told.strip():
            problems.append(f"exit {status} without a word")
        if rss > MAX_RSS_KIB:
            problems.append(f"{rss // 1024} MiB")
        problems += check_text(told, self.state)
        problems += check_text(said.replace("\x1b[", ""), self.state) if not out else []
        problems += self.check_file(command, out) if status in (0, 10, 11) and out else []
        for problem in problems[:3]:
            self.complain(what, command, path, problem)
        self.forget(out)
        return None

    def check_file(self, command, out):
        path = os.path.join(self.folder, out)
        if not os.path.exists(path):
            return ["wrote nothing"]
        self.pictures += 1
        if out.endswith(".pb.gz"):
            return check_pprof(path)
        check = CHECKS[out.removesuffix(".gz").rsplit(".", 1)[1]]
        try:
            opened = gzip.open if out.endswith(".gz") else open
            with opened(path, "rt", encoding="utf-8", newline="") as file:
                text = file.read()
        except (UnicodeDecodeError, OSError, EOFError) as error:
            return [f"is no UTF-8: {error}"]
        if out.endswith(".perf"):
            self.greatest_rss = max(self.greatest_rss, self.run(["report"], path)[3])
        if command[0] == "heatmap" and check is check_svg:
            return check_svg(text, {"scripts.svg": text.count("<script")}) + \
                (["several scripts"] if text.count("<script") > 1 else [])
        return check(text, self.state)

    def forget(self, out):
        if out and os.path.exists(os.path.join(self.folder, out)):
            os.unlink(os.path.join(self.folder, out))

    def complain(self, what, command, path, problem):
        self.bad += 1
        kept = os.path.join(os.environ.get("WICK_KEEP", self.folder), os.path.basename(path))
        if "WICK_KEEP" in os.environ and not os.path.exists(kept):
            with open(path, "rb") as source, open(kept, "wb") as target:
                target.write(source.read())
        print(f"{os.path.basename(path)} ({what}): wick {' '.join(command)[:200]}: {problem[:400]}")

    def one_file(self, number):
        rng = self.rng
        with open(rng.choice(SEEDS), "rb") as file:
            data = file.read()
        mutation = MUTATIONS[number % len(MUTATIONS)]
        data = mutation(data, rng)
        if rng.random() < 0.2 and len(data) > 10:
            data = rng.choice((flip, cut, nuls))(data, rng)
        ending, data = packed(data, rng) if data else ("", data)
        name = rng.choice(FILE_NAMES).replace("%d", str(number))
        path = os.path.join(self.folder, name + ending)
        with open(path, "wb") as file:
            file.write(data)
        commands = rng.sample(self.commands, min(3, len(self.commands)))
        if mutation in (bomb, folded):
            commands.append(["flamegraph", *rng.choice(REGEX_BOMBS), "-o", "x.json"])
        for command in commands:
            self.try_one(command, path, mutation.__name__)
        os.unlink(path)


def main():
    wick, n = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    if os.environ.get("WICK_LONG"):
        n *= 10
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(wick, folder, seed)
        for number in range(n):
            trial.one_file(number)
        print(f"hostile: {n} files (seed {seed}), {trial.runs} runs of "
              f"{len({command[0] for command in trial.commands})} commands, {trial.pictures} files "
              f"written, at most {trial.greatest_rss // 1024} MiB, {trial.bad} bad")
        return trial.bad != 0


if __name__ == "__main__":
    sys.exit(main())
