#!/usr/bin/env python3
"""Files of lies through the whole of the symbolizer: it ends, soon and small, whatever they say.

usage: hostile.py --addrs SYMBOLIZE_ADDRS --list DIR/list [--runs N] [--seed N] [--asan]

Each run takes a variant of the marked program, spoils bytes of its debugging information, symbol
tables or headers, or cuts it short, and asks for the marks.  A run may take a second and 256 MB
(--asan: eight, and what it likes), and has to end by itself, with an answer or an error.
"""
import argparse
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time

import truth

MAX_S = 1
MAX_KIB = 256 * 1024
MAX_BYTES = 1024 * 1024
WORTH = (b".debug", b".zdebug", b".symtab", b".strtab", b".dyn", b".eh_frame", b".gnu_debug",
         b".rela", b".note")


def places(data):
    """[(offset, bytes), ...] of the sections that are worth spoiling, and of the headers."""
    shoff, = struct.unpack_from("<Q", data, 0x28)
    size, count, strings = struct.unpack_from("<HHH", data, 0x3a)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * size) for i in range(count)]
    names = headers[strings][4]
    found = [(0, 64), (shoff, size * count), (64, 56 * 8)]
    for header in headers:
        end = data.index(b"\0", names + header[0])
        if data[names + header[0]:end].startswith(WORTH) and header[1] != 8 and header[5]:
            found.append((header[4], header[5]))
    return found


def spoil(data, where, chance):
    """In place: some bytes of one place, mostly of a section."""
    if chance.random() < 0.05:
        return data[:chance.randrange(1, len(data))]
    start, size = where[chance.randrange(3 if chance.random() < 0.1 else len(where))]
    for _ in range(chance.choice((1, 1, 2, 4, 16, 64))):
        at = start + chance.randrange(size)
        if at >= len(data):
            continue
        kind = chance.randrange(4)
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            data[at:at + 4] = b"\xff\xff\xff\xff"[:len(data) - at]
        else:
            other = start + chance.randrange(size)
            piece = data[other:other + chance.randrange(1, 32)]
            data[at:at + len(piece)] = piece
    return data


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_S, MAX_S))


def run(arguments, path, text):
    """None, or what went wrong."""
    began = time.monotonic()
    environment = dict(os.environ, ASAN_OPTIONS="exitcode=99", UBSAN_OPTIONS="halt_on_error=1")
    with subprocess.Popen([arguments.addrs, "-n", path], stdin=subprocess.PIPE, env=environment,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          preexec_fn=None if arguments.asan else limit) as child:
        try:
            _, said = child.communicate(text, timeout=20)
        except subprocess.TimeoutExpired:
            child.kill()
            return "did not end in 20 s"
    wall = time.monotonic() - began
    if child.returncode not in (0, 1):
        return f"ended with {child.returncode}: {said[-1500:].decode(errors='replace')}"
    return f"took {wall:.1f} s" if wall > 8 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--addrs", required=True)
    parser.add_argument("--list", required=True)
    is_long = bool(os.environ.get("WICK_LONG"))
    parser.add_argument("--runs", type=int, default=20000 if is_long else 200)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--asan", action="store_true")
    arguments = parser.parse_args()
    with open(arguments.list, encoding="utf-8") as text:
        variants = [truth.Variant(line) for line in text if line.strip()]
    variants = [v for v in variants if os.path.getsize(v.path) < MAX_BYTES]
    chance = random.Random(arguments.seed)
    sound = {}
    bad = 0
    with tempfile.TemporaryDirectory(prefix="wick-hostile-") as folder:
        path = os.path.join(folder, "marks")
        for number in range(arguments.runs):
            variant = variants[number % len(variants)]
            if variant.name not in sound:
                with open(variant.path, "rb") as file:
                    data = file.read()
                asked = [a.addr for _, a in truth.read_marks(variant.path)]
                sound[variant.name] = (data, places(data), "".join(f"{a:x}\n" for a in asked))
            data, where, text = sound[variant.name]
            spoilt = bytes(spoil(bytearray(data), where, chance))
            with open(path, "wb") as file:
                file.write(spoilt)
            wrong = run(arguments, path, text.encode())
            if wrong:
                bad += 1
                kept = os.path.join(os.path.dirname(arguments.list), f"hostile-{number}")
                with open(kept, "wb") as file:
                    file.write(spoilt)
                print(f"run {number}, of {variant.name}, kept as '{kept}': {wrong}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{arguments.runs} runs over {len(variants)} variants: {bad} bad, at most "
          f"{peak // 1024} MB")
    return 1 if bad or (peak > MAX_KIB and not arguments.asan) else 0


if __name__ == "__main__":
    sys.exit(main())
