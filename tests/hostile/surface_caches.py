"""Names and loads that are kept on disk: files that wick did not write, in its own folders."""
import glob
import os
import struct
import subprocess
import time

from hostile import MEGABYTE, Case, Input
from recorded import TARGETS, WICK

TERABYTE = 1 << 40
RECORD_MAGIC = 0x72667765


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def run(folder, *arguments):
    done = subprocess.run([WICK, *arguments], env={**os.environ, "XDG_CACHE_HOME": folder}, capture_output=True,
                          check=False, timeout=60)
    return done.stdout.decode()


def kept_names(folder):
    """The file of names of a program, as wick writes it."""
    run(folder, "symbols", "add", os.path.join(TARGETS, "split"))
    return glob.glob(os.path.join(folder, "wick", "symbols", "*", "*.symbols"))[0]


def kept_load(folder):
    """The pack of a recording of 5 MB that has been there for a while, and the recording."""
    path = os.path.join(folder, "kept.perf")
    with open(path, "w", encoding="utf-8") as file:
        file.write("# wick : {\"format\":1,\"version\":\"0.1.0\",\"event\":\"cpu-clock\",\"hz\":100,\"pid\":1,\"metrics\":[]}\n#\n")
        for i in range(70000):
            file.write(f"app 1/1 [000] {i / 100:.6f}: 1 cpu-clock: \n\t 1000 function_{i % 100}+0x0 (/bin/a)\n\n")
    then = time.time() - 60
    os.utime(path, (then, then))
    run(folder, "report", path)
    return glob.glob(os.path.join(folder, "wick", "index", "*.pack"))[0], path


def append(path, data):
    with open(path, "ab") as file:
        file.write(bytes(-os.path.getsize(path) % 8) + data)


def records(n_bytes, body=b""):
    """Records that are whole, up to N_BYTES."""
    head = struct.pack("<III", RECORD_MAGIC, len(body), crc32c(body))
    one = head + struct.pack("<I", crc32c(head)) + body + bytes(-len(body) % 8)
    return one * (n_bytes // len(one))


def no_file(path):
    os.unlink(path)
    os.mkfifo(path)


def device(path):
    os.unlink(path)
    os.symlink("/dev/zero", path)


def many_beside(path):
    for i in range(20000):
        with open(os.path.join(os.path.dirname(path), f"{i:020x}{os.path.splitext(path)[1]}"), "wb"):
            pass


def spoil(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


def names_case(name, damage, judge, *arguments, stop_s=None):
    def make(folder):
        path = kept_names(folder)
        damage(path)
        return Input([WICK, *(word.format(dir=folder) for word in arguments)], MEGABYTE, stop_s,
                     {"XDG_CACHE_HOME": folder})
    return Case("caches", "names: " + name, make, judge)


def load_case(name, damage):
    def make(folder):
        path, recording = kept_load(folder)
        damage(path)
        return Input([WICK, "report", "--top", "0", recording], os.path.getsize(recording), None, {"XDG_CACHE_HOME": folder})

    def judge(result):
        return None if result.status == 0 and "function_7" in result.stdout else f"said {result.stderr[:200]!r}"
    return Case("caches", "loads: " + name, make, judge)


def listed(result):
    return None if result.status == 0 else f"said {result.stderr[:200]!r}"


def added_or_told(result):
    """What is in the way of a file is said in a line."""
    return None if result.status == 0 or result.stderr.count("\n") == 1 else f"said {result.stderr[:200]!r}"


def named(result):
    """The recording is whole, and its names are there."""
    if result.status != 0:
        return f"status {result.status}: {result.stderr[:200]!r}"
    text = result.text("x.perf")
    if "# wick-end" not in text:
        return f"said {result.stderr[:200]!r}"
    return None if "burn" in text or " main+" in text else "the program's functions have no names"


LIST = ("symbols", "list")
ADD = ("symbols", "add", os.path.join(TARGETS, "split"))
RECORD_IT = ("record", "-q", "-F", "199", "-o", "{dir}/x.perf", "--", os.path.join(TARGETS, "split"), "0.4")
CASES = [
    *(names_case(f"a pipe: {words[0]} {words[1]}", no_file, judge, *words)
      for words, judge in ((LIST, listed), (ADD, added_or_told), (RECORD_IT, named))),
    *(names_case(f"a link to /dev/zero: {words[0]} {words[1]}", device, judge, *words)
      for words, judge in ((LIST, listed), (RECORD_IT, named))),
    *(names_case(f"8 TB, sparse: {words[0]} {words[1]}", lambda path: os.truncate(path, 8 * TERABYTE), judge, *words)
      for words, judge in ((LIST, listed), (ADD, listed), (RECORD_IT, named))),
    *(names_case(f"4 GB, sparse: {words[0]} {words[1]}", lambda path: os.truncate(path, 4 << 30), judge, *words)
      for words, judge in ((LIST, listed), (ADD, listed), (RECORD_IT, named))),
    names_case("1 MB of empty records", lambda path: append(path, records(MEGABYTE)), listed, *LIST),
    names_case("1 MB of empty records, recorded", lambda path: append(path, records(MEGABYTE)), named, *RECORD_IT),
    names_case("1 MB of zeros behind", lambda path: append(path, bytes(MEGABYTE)), named, *RECORD_IT),
    names_case("an index of 2^61", lambda path: spoil(path, 8 + 4 + 4 + 48 + 104, b"\xff" * 24), named, *RECORD_IT),
    names_case("20,000 empty files beside", many_beside, listed, *LIST),
    load_case("a pipe", no_file),
    load_case("a link to /dev/zero", device),
    load_case("8 TB, sparse", lambda path: os.truncate(path, 8 * TERABYTE)),
    load_case("64 GB, sparse", lambda path: os.truncate(path, 64 << 30)),
    load_case("lengths of 2^64", lambda path: spoil(path, 16, b"\xff" * 400)),
    load_case("cut", lambda path: os.truncate(path, os.path.getsize(path) // 2)),
    load_case("20,000 empty files beside", many_beside),
]
