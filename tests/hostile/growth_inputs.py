"""Inputs of every parser, in any size: what they are made of, and what reads them."""
import os
import subprocess
from typing import Callable, NamedTuple

import hostile  # where recorded lies is known then; pylint: disable=unused-import
from recorded import WICK

LINE = (1 << 20) - (8 << 10)  # what a line may have, with room for its head
ARGUMENT = 120 << 10  # what Linux lets one word of a command line have (MAX_ARG_STRLEN)
FILE = 60 << 10  # what wick.ini and files of rules may have
ANY = 1 << 40
REFUSED = (0, 1, 2, 3, 8, 125)  # meaningless words may be refused, each in its way
WICK_HEAD = '# wick : {"format":1,"version":"0.1.0","event":"cpu-clock","hz":99,"pid":1,"metrics":[]}\n#\n'
HEAD = "a 1/1 [000] 1.000000: 1 cpu-clock: \n"
FRAME = "\t    1000 f+0x0 (/bin/a)\n"
SAMPLE = HEAD + FRAME + "\n"


class Run(NamedTuple):
    """MAKE(folder, size) writes the input and gives the argv."""
    name: str
    make: Callable
    most: int = ANY  # a larger input is another one: it is cut, or refused
    statuses: tuple = (0,)
    needs_node: bool = False
    long: bool = False  # with --long only


def times(text, size):
    """TEXT again and again, in about SIZE bytes."""
    return text * max(1, size // len(text))


def many(make, size):
    """What MAKE gives of 0, 1, 2... in about SIZE bytes."""
    texts, have, i = [], 0, 0
    while have < size:
        texts.append(make(i))
        have += len(texts[-1])
        i += 1
    return "".join(texts)


def sample(i, name="f", module="/bin/a", thread="a 1/1", time_us=None):
    time_us = 1000000 + i * 1000 if time_us is None else time_us
    return (f"{thread} [000] {time_us // 1000000}.{time_us % 1000000:06}: 1 cpu-clock: \n"
            f"\t    1000 {name}+0x0 ({module})\n\n")


def in_head(part):
    return lambda size: WICK_HEAD + HEAD[:-1] + times(part, size) + "\n" + FRAME + "\n" + SAMPLE


def in_line(before, part, after="\n"):
    return lambda size: before + times(part, size) + after + SAMPLE


def in_name(part):
    return lambda size: HEAD + "\t    1000 " + times(part, size) + "+0x0 (/bin/a)\n\n" + SAMPLE


def in_json(before, make, after):
    return lambda size: before + many(make, size)[:-1] + after + SAMPLE


def tree(size):
    """As many different stacks as can be, of 12 frames each."""
    def one(i):
        frames = "".join(f"\t    1000 f{(i >> shift) & 3}+0x0 (/bin/a)\n" for shift in range(0, 24, 2))
        return HEAD + frames + "\n"
    return WICK_HEAD + many(one, size)


LINES = {
    "metrics behind the event, without values": in_head("metric_a-"),
    "metrics behind the event": in_head("metric_a: 1, 2 "),
    "words that are nearly metrics": in_head("metric_a: 1, x "),
    "addresses behind the event": in_head("     0000000000000001 "),
    "heads of heads": in_line("a ", "1/1 1.0: PERF_RECORD_ ", "\n\n"),
    "times without heads": in_line("a ", "1: ", "\n\n"),
    "flags and numbers": in_line("a ", "12 K 1.5: ", "\n\n"),
    "blanks": in_line("a", " ", "1.0: 1 c:\n\n"),
    "addresses without a head": in_line("", "1111111111111111 ", "\n\n"),
    "names of files and lines": in_line("  ", "a.c:1", "\n\n"),
    "( in a name": in_name("("),
    "( and blanks in a name": in_name("( "),
    ") in a name": in_name(")"),
    "-> in a name": in_name("a->"),
    "operators in a name": in_name("operator->"),
    "+0x in a name": in_name("+0x"),
    "marks in a name": in_name("<_"),
    "one mark in a name": in_name("_"),
    "templates in a name": in_name("a<b::"),
    "copies in a name": in_name(".part.0"),
    "closures in a name": in_name("{{closure}}::"),
    "words of a sample": in_line("# s ", "a=1 "),
    "escapes in a label": in_line("# s identity=", "%2C"),
    "a line of exact counts": in_line('# req : {"a":"', "x 1/1 1.5: ", '"}\n'),
    "what looks like heads in exact counts": in_line('# req : {"a":', "1/1 [000] 1.0: 1 c: ", "\n"),
    "metrics of a sample": in_line("# s ", "a=1,2 "),
    "escapes in a sample": in_line("# s wait=", "%41"),
    "escapes in a command": in_line("# cmdline : ", "%41"),
    "blanks in a comment": in_line("# hostname", " "),
    "metrics of a header": in_json('# wick : {"hz":99,"metrics":[', '{{"name":"m{}"}},'.format, "]}\n"),
    "numbers of a header": in_json('# wick : {"hz":99,', '"n{}":1,'.format, "}\n"),
    "rates of a header": in_json("# wick : {", lambda i: '"hz":99,', "}\n"),
    "losses of an end": in_json("# wick-end : {", '"lost_{}":1,'.format, "}\n"),
    "modules of an end": in_json('# wick-end : {"modules":[', '{{"path":"/m{}","names":"n","try":"t"}},'.format, "]}\n"),
    "escapes in a header": in_line('# wick : {"a":"', '\\"', '"}\n'),
    "brackets of a header": in_line("# wick : ", "{[", "\n"),
    "closed brackets of a header": in_line("# wick : ", "[]", "\n"),
    "a trigger": in_line("# trigger : {", '"a":1,', "}\n"),
    "; in a folded stack": lambda size: "a;b 1\n" * 40 + times(";", size) + " 1\n",
    "frames of a folded stack": lambda size: "a;b 1\n" * 40 + times("f;", size) + "f 1\n",
    "digits of a folded stack": lambda size: "a;b 1\n" * 40 + "a " + times("1", size) + "\n",
}

SPEEDSCOPE = '{"shared":{"frames":[{"name":"a"},{"name":"b"}]},"profiles":[{"type":"sampled","samples":['
FIREFOX = ('{"meta":{},"shared":{"stringArray":["a"],"funcTable":{"name":[0]},"frameTable":{"func":[0]},'
           '"stackTable":{"frame":[0]}},"threads":[')

TEXTS = {
    "equal samples": lambda size: WICK_HEAD + times(SAMPLE, size),
    "functions": lambda size: many(lambda i: sample(i, f"f{i}"), size),
    "modules": lambda size: many(lambda i: sample(i, module=f"/lib/m{i}.so"), size),
    "threads": lambda size: many(lambda i: sample(i, thread=f"t{i} {i + 1}/{i + 1}"), size),
    "threads of a process": lambda size: many(lambda i: sample(i, thread=f"t{i} 1/{i + 1}"), size),
    "times that go back": lambda size: many(lambda i: sample(i, time_us=10 ** 12 - i * 999), size),
    "times far apart": lambda size: many(lambda i: sample(i, time_us=i * 10 ** 10), size),
    "stacks": tree,
    "stacks of 1,000 frames": lambda size: many(
        lambda i: HEAD + "".join(f"\t    1000 f{i + j}+0x0 (/bin/a)\n" for j in range(1000)) + "\n", size),
    "stacks of 2,000 frames": lambda size: many(lambda i: HEAD + FRAME * 2000 + "\n", size),
    "one stack without an end": lambda size: HEAD + times(FRAME, size) + "\n",
    "long names": lambda size: many(lambda i: sample(i, f"{i}" + "n" * 4000), size),
    "similar names": lambda size: many(lambda i: sample(i, "n" * 400 + f"{i}"), size),
    "inlined names": lambda size: many(lambda i: sample(i, f"a{i}" + "->b" * 100), size),
    "states": lambda size: many(lambda i: f"# s st=s{i} wait=w{i} on=o{i}\n" + SAMPLE, size),
    "words": lambda size: many(lambda i: f"# s w{i % 60}=v{i}\n" + SAMPLE, size),
    "labels": lambda size: many(
        lambda i: f"# s st=running trace={i:032x} span={i:016x} identity=i{i % 300} task=t@a.c:{i % 50} tier=t{i % 9}\n" + SAMPLE, size),
    "labels of a sample": lambda size: many(
        lambda i: "# s " + " ".join(f"k{j}=v{i * j}" for j in range(48)) + "\n" + SAMPLE, size),
    "exact counts": lambda size: SAMPLE + many(
        lambda i: f'# req : {{"since_ns":{i},"time_ns":{i + 1},"tier":"t{i % 9}","identity":"i{i % 300}","count":1,"buckets":[[5,1]]}}\n', size) + SAMPLE,
    "metrics": lambda size: many(lambda i: f"# s m{i % 70}={i},1\n" + SAMPLE, size),
    "events": lambda size: many(lambda i: SAMPLE.replace("cpu-clock", f"e{i}"), size),
    "rates": lambda size: many(lambda i: f'# rate : {{"hz":{i % 99 + 1}}}\n' + SAMPLE, size),
    "headers": lambda size: many(lambda i: WICK_HEAD + SAMPLE, size),
    "ends": lambda size: SAMPLE + many('# wick-end : {{"lost_{}":1}}\n'.format, size),
    "triggers": lambda size: SAMPLE + many(lambda i: f'# trigger : {{"expr":"a{i}","time_ns":{i}}}\n', size),
    "comments": lambda size: times("# a\n", size) + SAMPLE,
    "empty lines": lambda size: times("\n", size) + SAMPLE,
    "lines that are none": lambda size: times("x\n", size) + SAMPLE,
    "frames without a sample": lambda size: times("\t    1000 f (/bin/a\n", size) + SAMPLE,
    "heads without frames": lambda size: times(HEAD, size) + FRAME + "\n",
    "releases": lambda size: SAMPLE + times("# f a 1/1 [000] 1.000000: 1 free: \n# f \t 1000 f (/bin/a)\n# f\n", size),
    "NUL": lambda size: times("\0\n", size) + SAMPLE,
    "one line": lambda size: times("x", size) + "\n" + SAMPLE,
    "folded stacks": lambda size: many("a;b{0};c{0} 1\n".format, size),
    "deep folded stacks": lambda size: many(lambda i: f"r{i}" + ";f" * 1000 + " 1\n", size),
}

# Of other profilers.
PROFILES = {
    "samples of speedscope": lambda size: SPEEDSCOPE + times("[0,1],", size) + "[0]]}]}",
    "frames of speedscope": lambda size: '{"shared":{"frames":[' + many('{{"name":"f{}"}},'.format, size)
                                         + '{"name":"a"}]},"profiles":[{"type":"sampled","samples":[[0]]}]}',
    "stacks of Firefox": lambda size: FIREFOX + '{"stackTable":{"frame":[' + times("0,", size // 4) + '0],"prefix":[null,'
                                      + many("{},".format, size // 2) + '0]},"samples":{"stack":[0]}}]}',
    "threads of Firefox": lambda size: FIREFOX + many('{{"name":"t{}","samples":{{"stack":[0]}}}},'.format, size) + "{}]}",
    "members of JSON": lambda size: '{"a":1,' + many('"m{}":{{}},'.format, size) + '"meta":0,"threads":0}',
    "brackets of JSON": lambda size: '{"threads":' + times("[", size),
}

# What makes something of what was read: only of texts that are many things, not strange ones.
MADE_OF = ["functions", "modules", "threads", "times that go back", "times far apart", "stacks",
           "stacks of 1,000 frames", "long names", "states", "metrics", "folded stacks"]
MOSTLY_MADE_OF = ["functions", "stacks"]  # without --long
MAKERS = {
    "heatmap": ["heatmap", "-f", "-o", "out.svg"],
    "heatmap --by thread": ["heatmap", "-f", "--by", "thread", "-o", "out.txt"],
    "flamegraph": ["flamegraph", "-f", "-o", "out.svg"],
    "flamegraph as text": ["flamegraph", "-f", "--threshold", "0", "-o", "out.txt"],
    "report --function": ["report", "--function", "f"],
    "report --group": ["report", "--group", "thread"],
    "report --elide": ["report", "--elide", "@wrappers", "--only", "(a|b|f)+", "--flatten"],
    "view": ["view", "-f", "--no-open", "-o", "out.html"],
    "convert pb": ["convert", "-f", "-o", "out.pb"],
    "convert speedscope": ["convert", "-f", "-o", "out.speedscope.json"],
    "convert firefox": ["convert", "-f", "-o", "out.firefox.json"],
    "convert folded": ["convert", "-f", "-o", "out.folded"],
    "convert perf": ["convert", "-f", "-o", "out.perf"],
}


# Each request has a label of its own.
BY_LABEL = {
    "report --by trace": ["report", "--by", "trace"],
    "report --only trace": ["report", "--only", "trace=0000(1|2)+"],
    "heatmap --by req": ["heatmap", "-f", "--by", "req", "-o", "out.txt"],
    "flamegraph --group trace": ["flamegraph", "-f", "--group", "trace,tier", "-o", "out.svg"],
    "convert pb": ["convert", "-f", "-o", "out.pb"],
    "convert perf": ["convert", "-f", "-o", "out.perf"],
    "view": ["view", "-f", "--no-open", "-o", "out.html"],
}


def text_run(command, name, make_text, words, most=ANY, statuses=(0,), long=False):
    def make(folder, size):
        path = os.path.join(folder, "sent.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(make_text(size))
        return [WICK, *words, path]
    return Run(f"{command}: {name}", make, most, statuses, long=long)


def text_runs():
    # 3: what is in the file is no recording, or not wholly
    runs = [text_run(command, name, make, [command], most, (0, 1, 3), long=command == "info")
            for most, makes in ((LINE, LINES), (ANY, TEXTS)) for name, make in makes.items()
            for command in ("report", "info")]
    runs += [text_run("report", name, make, ["report"], ANY, (0, 8)) for name, make in PROFILES.items()]
    # 8: nothing is left of names that a filter does not know
    runs += [text_run(what, name, TEXTS[name], words, statuses=(0, 8) if words[0] == "report" else (0,),
                      long=name not in MOSTLY_MADE_OF)
             for name in MADE_OF for what, words in MAKERS.items()]
    runs += [text_run(what, "labels", TEXTS["labels"], words) for what, words in BY_LABEL.items()]
    # 8: nothing that is counted
    runs += [text_run("tiers", name, make, ["tiers"], most, (0, 8))
             for most, makes in ((LINE, LINES), (ANY, TEXTS)) for name, make in makes.items() if "exact counts" in name]
    return runs


def word_run(name, make_words, most=ARGUMENT):
    """Words of the command line; most are refused, which is right."""
    def make(folder, size):
        path = os.path.join(folder, "sent.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(WICK_HEAD + many(lambda i: sample(i, f"f{i}"), 20000))
        return [WICK, "report", *make_words(size), path]
    return Run(f"words: {name}", make, most, REFUSED)


def file_run(name, file_name, make_text, words):
    def make(folder, size):
        with open(os.path.join(folder, "sent.txt"), "w", encoding="utf-8") as file:
            file.write(SAMPLE)
        with open(os.path.join(folder, file_name), "w", encoding="utf-8") as file:
            file.write(make_text(size))
        return [WICK, *words, "sent.txt"]
    return Run(f"file: {name}", make, FILE, REFUSED)


WORDS = [
    word_run("--time of digits", lambda size: ["--time", times("1", size)]),
    word_run("--time of units", lambda size: ["--time", times("a", size) + "1-"]),
    word_run("--time again and again", lambda size: ["--time", "1-2"] * (size // 16)),
    word_run("--every", lambda size: ["--every", times("1s:", size)]),
    word_run("--where of names", lambda size: ["--where", times("a", size)]),
    word_run("--where of =", lambda size: ["--where", times("!=", size)]),
    word_run("--group of words", lambda size: ["--group", times("a,", size)]),
    word_run("--group of one word", lambda size: ["--group", times("a", size)]),
    word_run("--metric", lambda size: ["--metric", times("a:", size)]),
    word_run("--only of letters", lambda size: ["--only", times("a", size)]),
    word_run("--only of choices", lambda size: ["--only", times("a|", size)]),
    word_run("--only of groups", lambda size: ["--only", times("(", size)]),
    word_run("--only of classes", lambda size: ["--only", times("[[:alpha:]]", size)]),
    word_run("--only of repetitions", lambda size: ["--only", times("(a*)*", size)]),
    word_run("--elide of a name", lambda size: ["--elide", "@" + times("a/", size)]),
    word_run("an option that is none", lambda size: ["--" + times("a", size)]),
    word_run("a file that is none", lambda size: [times("a/", size)]),
]

FILES = [
    file_run("rules of frames", "r.ini", lambda size: times("frame = ^a$\n", size), ["report", "--elide", "@r.ini"]),
    file_run("a rule", "r.ini", lambda size: "frame = " + times("a|", size) + "b\n", ["report", "--elide", "@r.ini"]),
    file_run("keys of wick.ini", "wick.ini", lambda size: "[report]\n" + times("top = 1\n", size), ["report"]),
    file_run("sections of wick.ini", "wick.ini", lambda size: times("[report]\n", size), ["report"]),
    file_run("blanks of wick.ini", "wick.ini", lambda size: "[report]\ntop =" + times(" ", size) + "1\n", ["report"]),
    file_run("a value of wick.ini", "wick.ini", lambda size: "[report]\ntitle = " + times('"', size) + "\n", ["report"]),
    file_run("one key of wick.ini", "wick.ini", lambda size: "[report]\n" + times("a", size) + " = 1\n", ["report"]),
]


def trigger_run(name, part):
    return Run(f"trigger: {name}", lambda folder, size: [WICK, "record", "--trigger", times(part, size), "--", "true"],
               ARGUMENT, REFUSED)


TRIGGERS = [trigger_run("words", "cpu > 1% and "), trigger_run("one word", "a"), trigger_run("brackets", "("),
            trigger_run("digits", "1")]


def page_run(kind, name, make_text, most=16 << 20):
    """What the page's modules do; of recordings the page is made before."""
    def make(folder, size):
        path = os.path.join(folder, "sent.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(make_text(size))
        if kind == "page":
            subprocess.run([WICK, "view", "--no-open", "--no-index", "-f", "-o", path + ".html", path], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            path += ".html"
        return ["node", kind, path]
    return Run(f"{kind}: {name}", make, most, needs_node=True)


LINKS = {
    "ranges": "time=1-2&", "one range": "time=" + "a" * 50, "filters": "where=state=a&", "patterns": "only=a&",
    "groups": "group=a,", "zoom": "zoom=a;", "transforms": "t=focus:a&", "escapes": "search=%41", "escapes that are none": "%",
    "words": "a&", "=": "=",
}
NAMES = {
    "letters": "a", "letters and digits": "a1", "copies": ".part.0", "dots": ".", "quotes": "'", "controls": "\x01",
    "markup": "<&", "letters outside ASCII": "\u00e9\U0001f600",
}
PAGE = [page_run("page", name, TEXTS[name]) for name in MADE_OF] + [
    *(page_run("link", name, lambda size, part=part: times(part, size)) for name, part in LINKS.items()),
    page_run("link", "letters of a range", lambda size: "time=" + times("a", size) + "1-1"),
    *(page_run("name", name, lambda size, part=part: times(part, size)) for name, part in NAMES.items()),
    page_run("search", "words", lambda size: times("file=a&", size)),
    page_run("list", "recordings", lambda size: "[" + many(
        lambda i: f'{{"file":"{i}","host":"h{i}","bytes":1,"mtime_ns":"{i}","from_ns":"","to_ns":""}},', size)[:-1] + "]"),
]

RUNS = [*text_runs(), *WORDS, *FILES, *TRIGGERS, *PAGE]
