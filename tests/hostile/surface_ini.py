"""wick.ini, conditions of triggers, queries and files of rules: untrusted words."""
import os

from hostile import MEGABYTE, Case, Input
from recorded import WICK

HEAD = '# wick : {"format":1,"version":"0.1.0","event":"cpu-clock","hz":99,"pid":1,"metrics":[]}\n#\n'
MOST_INI = 60 * 1024
MOST_WORD = 120 * 1024  # a word of a command line is 128 KiB at most


def recording(folder, names):
    path = os.path.join(folder, "names.perf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD)
        for i, name in enumerate(names):
            file.write(f"app 1/1 [000] {i / 100:.6f}: 1 cpu-clock: \n\t 1000 {name}+0x0 (/bin/a)\n\n")
    return path


def told(result):
    """A message, or it went well; never a signal, never two pages of words."""
    if result.status not in (0, 2, 8):
        return f"status {result.status}"
    return None if len(result.stderr) < 4096 else f"{len(result.stderr)} bytes of message"


def ini_case(name, make_file):
    """The user's wick.ini, read by every command that has options."""
    def make(folder):
        os.makedirs(os.path.join(folder, "wick"))
        path = os.path.join(folder, "wick", "wick.ini")
        make_file(path)
        size = os.path.getsize(path) if os.path.isfile(path) and not os.path.islink(path) else 0
        return Input([WICK, "report", recording(folder, ["f"])], size if size <= MEGABYTE else 0,
                     environment={"XDG_CONFIG_HOME": folder})
    return Case("ini", "wick.ini: " + name, make, told)


def text(words):
    def make(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(words)
    return make


def sparse(path):
    with open(path, "wb") as file:
        file.truncate(8 << 40)


def word_case(name, word, names=("f",), before=()):
    def make(folder):
        return Input([WICK, "report", "--no-index", *before, word, recording(folder, names)], len(word) + 64 * len(names),
                     environment={"XDG_CONFIG_HOME": folder})
    return Case("ini", name, make, told)


def trigger_case(name, word):
    def make(folder):
        return Input([WICK, "record", "-q", "-o", os.path.join(folder, "x.perf"), "--trigger", word, "--", "true"],
                     len(word), environment={"XDG_CONFIG_HOME": folder})
    return Case("ini", name, make, told)


def rules_case(name, words, names):
    def make(folder):
        path = os.path.join(folder, "rules")
        with open(path, "w", encoding="utf-8") as file:
            file.write(words)
        return Input([WICK, "report", "--no-index", "--elide", f"@{path}", recording(folder, names)],
                     len(words) + sum(map(len, names)) + 64 * len(names), environment={"XDG_CONFIG_HOME": folder})
    return Case("ini", name, make, told)


def lasting(n):
    """Names that a pattern goes back over: none ends as it wants."""
    return ["a" * 60 + f"!{i}" for i in range(n)]


CASES = [
    ini_case("1 MB of sections", text("[report]\n" * (MEGABYTE // 9))),
    ini_case("60 KB of one value", text("[report]\ntitle = " + "9" * MOST_INI)),
    ini_case("60 KB of sections", text("[report]\n" * (MOST_INI // 9))),
    ini_case("60 KB of keys", text("[report]\n" + "top = 5\n" * (MOST_INI // 8))),
    ini_case("60 KB of brackets", text("[" * MOST_INI)),
    ini_case("60 KB of comments", text("#\n" * (MOST_INI // 2))),
    ini_case("8 TB, sparse", sparse),
    ini_case("a pipe", os.mkfifo),
    ini_case("a link to /dev/zero", lambda path: os.symlink("/dev/zero", path)),
    ini_case("a folder", os.mkdir),
    word_case("--time of 120 KB", "--time=" + "1-2@" * (MOST_WORD // 4)),
    word_case("--every of 120 KB", "--every=" + "9" * MOST_WORD),
    word_case("--metric of 120 KB", "--metric=" + "a" * MOST_WORD),
    word_case("--only, nested 60,000 deep", "--only=" + "(" * (MOST_WORD // 2) + ")" * (MOST_WORD // 2)),
    word_case("--only that repeats 2^32 times", "--only=((a{1,65535}){1,65535}){1,65535}"),
    word_case("--only that goes back, 10,000 names", "--only=^(a+)+$", lasting(10000)),
    rules_case("rules that go back, 10,000 names", "[x]\nframe = ^(a+)+$\n", lasting(10000)),
    rules_case("1 MB of rules", "[x]\n" + "frame = a*b\n" * (MEGABYTE // 12), lasting(100)),
    rules_case("15 KB of rules", "[x]\n" + "frame = a*b\n" * 1200, lasting(100)),
    rules_case("15 KB of one rule", "[x]\nframe = " + "a?" * 7000 + "\n", lasting(100)),
    trigger_case("a condition of 120 KB of digits", "cpu>" + "9" * MOST_WORD),
    trigger_case("a condition of 120 KB of spaces", "cpu" + " " * MOST_WORD + ">90%"),
    trigger_case("a gauge with a name of 120 KB", "gauge " + "a-" * (MOST_WORD // 2) + ">1"),
]
