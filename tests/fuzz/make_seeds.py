#!/usr/bin/python3 -B
"""make_seeds.py NAME SEEDS FOLDER - large inputs of target NAME, up to 1 MB, into FOLDER

What is slow or large only where there is much of it: each seed of SEEDS grown by repeating what is
in it, and the shapes below, which are hard on parsers that go back, add up or copy."""
import os
import pathlib
import sys

MEGABYTE = 1 << 20
PERF_HEAD = '# wick : {"format":1,"version":"0.1.0","clock":"CLOCK_MONOTONIC","event":"cpu-clock","hz":99,"pid":1,"metrics":[%s]}\n#\n'
SAMPLE = "a 1/1 [000] 1.000000: 1 cpu-clock: \n%s\n"
FRAME = "\t    1000 %s+0x0 (/bin/a)\n"


def filled(unit, size=MEGABYTE - 16384):
    """As many of UNIT as fit SIZE; there is room for what goes around them."""
    return unit * (size // len(unit))


def recordings():
    return {
        "one_metric": PERF_HEAD % ('"' + filled("metric_a-") + '"') + SAMPLE % (FRAME % "f"),
        "many_metrics": PERF_HEAD % ",".join(f'"m{i}"' for i in range(60000)) + SAMPLE % (FRAME % "f"),
        "long_comment": "# " + filled("metric_a-") + "\n" + SAMPLE % (FRAME % "f"),
        "long_values": PERF_HEAD % '"cpu_ns"' + "# s " + filled("cpu_ns=1,2 ") + "\n" + SAMPLE % (FRAME % "f"),
        "long_name": SAMPLE % (FRAME % filled("operator<(")),
        "deep_stack": SAMPLE % filled(FRAME % "f"),
        "many_names": "".join(SAMPLE % (FRAME % f"f{i}") for i in range(12000)),
        "many_threads": "".join(f"t{i} {i}/{i} [000] 1.0: 1 cpu:\n\t1 f (/a)\n\n" for i in range(1, 20000)),
        "brackets": filled("[") + "\n",
        "spaces": filled(" ") + "1/1 [000] 1.0: 1 cpu:\n",
        "one_line": filled("a;b"),
        "empty_lines": filled("\n"),
    }


def substitution(i):
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return "S_" if i == 0 else f"S{digits[(i - 1) // 36] if i > 36 else ''}{digits[(i - 1) % 36]}_"


def doubled(n):
    """A type of two of the one before, N times: what it prints as is 2^N long."""
    return "_Z1f1A1BIS_S_E" + "".join(f"S0_I{substitution(i)}{substitution(i)}E" for i in range(1, n))


def unpacked(n):
    """The same within an expansion of a pack that is not there: it is looked for, and nothing is printed."""
    return "_Z1fDp" + "1BI" * n + "1A" + "".join(substitution(n + i) + "E" for i in range(n))


def names():
    return {
        "doubles": doubled(60),
        "unpacked": unpacked(60),
        "backtracks": "_Z1fI" + filled("XsrT_1a", 690) + "E",
        "function_types": "_Z1f" + filled("PF", 600) + "vv" + filled("E", 300),
        "pointers": "_Z1f" + filled("P") + "i",
        "templates": "_Z" + filled("1aI", MEGABYTE // 2) + filled("E", MEGABYTE // 3),
        "rust": "_RNvC" + filled("IC1a", 60000) + filled("E", 15000),
        "rust_backrefs": "_RI" + filled("TB_", 690) + "E",
        "long": f"_Z{MEGABYTE - 16384}" + filled("a"),
    }


def words():
    return {
        "one_line": "[record]\nrate = " + filled("9"),
        "sections": filled("[record]\n"),
        "keys": "[record]\n" + "".join(f"k{i} = v\n" for i in range(90000)),
        "comments": filled("# comment\n"),
        "brackets": filled("["),
        "quotes": '[record]\nname = "' + filled('\\"') + "\n",
    }


def conditions():
    return {"digits": "cpu>" + filled("9"), "spaces": "cpu" + filled(" ") + "> 90%", "gauge": "gauge:" + filled("a-") + ">1",
            "words": filled("cpu>90% "), "readings": "cpu>90%\n" + filled("12345678")}


def queries():
    ends = {"range": "t" + filled("1-2@"), "digits": "t" + filled("9"), "every": "e" + filled("1/"), "metric": "m" + filled("a"),
            "rule": "dtotal(" + filled("(") + ")>+3%", "rules": "r" + filled("a*b\n"),
            "stars": "r" + filled("(a*)*", 4000) + "\n", "alternatives": "r" + filled("(a|a)*", 6000) + "b\n",
            "one_rule": "r" + filled("a?", MEGABYTE // 2)}
    return ends


def maps():
    return {
        "functions": "\x40" + "".join(f"{0x1000 + i * 16:x} 10 f{i}\n" for i in range(55000)),
        "one_place": "\x40" + "".join(f"1000 10 f{i}\n" for i in range(70000)),
        "nested": "\xff" + "".join(f"{0x1000 + i:x} {0x100000 - 2 * i:x} f\n" for i in range(50000)),
        "one_line": "\x00" + "1000 10 " + filled("name "),
    }


def proc_maps():
    return {"lines": "".join(f"{0x1000 * (2 * i + 1):x}-{0x1000 * (2 * i + 2):x} r-xp 00000000 08:01 {i} /lib/{i}.so\n"
                             for i in range(16000)),
            "one_name": "1000-2000 r-xp 00000000 08:01 1 /" + filled("a b")}


def dump():
    """Functions that are loaded at one place, and lines of the smallest size."""
    def record(kind, body):
        return kind.to_bytes(4, "little") + (16 + len(body)).to_bytes(4, "little") + bytes(8) + body

    def load(address, index):
        return record(0, b"".join([(7).to_bytes(4, "little"), (7).to_bytes(4, "little"), address.to_bytes(8, "little"),
                                   address.to_bytes(8, "little"), (16).to_bytes(8, "little"), index.to_bytes(8, "little"),
                                   b"f\0", bytes(16)]))
    head = b"\xff" + b"DTiJ" + b"".join(n.to_bytes(4, "little") for n in (1, 40, 62, 0, 7)) + bytes(16)
    return {"one_place": head + b"".join(load(0x1000, i) for i in range(11000)),
            "apart": head + b"".join(load(0x1000 + 16 * i, i) for i in range(11000)),
            "overlap": head + b"".join(load(0x1000 + 8 * (i * 7919 % 11000), i) for i in range(11000)),
            "empty": head + filled(record(9, b""))}


def field(number, data):
    """Of a message of protobuf, with at most 127 bytes."""
    return bytes((number << 3 | 2, len(data))) + data


def profiles():
    """pprof: samples of two bytes, and a last one that has a value of each type, so that all have a place for it."""
    types = b"".join(field(1, bytes((8, i, 16, i))) for i in range(1, 16))
    strings = b"".join(field(6, name) for name in [b"", *(b"t%d" % i for i in range(15))])
    place = field(4, bytes((8, 1)) + field(4, bytes((8, 1)))) + field(5, bytes((8, 1, 16, 1)))
    last = field(2, bytes((8, 1)) + field(2, bytes([1]) * 15))
    return {"sparse_pprof": types + strings + place + filled(field(2, b"")) + last}


SHAPES = {"perf_text": recordings, "load": lambda: {**recordings(), **profiles()}, "demangle": names, "ini": words, "trigger": conditions,
          "query": queries, "jit_map": maps, "proc_maps": proc_maps, "jit_dump": dump}


def grown(seeds):
    """Each seed again and again, up to 1 MB; and its second half alone, behind its first."""
    found = {}
    for seed in sorted(seeds.iterdir()):
        data = seed.read_bytes()
        half = len(data) // 2
        found[f"grown_{seed.name}"] = filled(data)
        found[f"long_{seed.name}"] = data[:half] + filled(data[half:] or b"\0", MEGABYTE - half)
        found[f"padded_{seed.name}"] = data + bytes(MEGABYTE - len(data))
    return found


def main(name, seeds, folder):
    os.makedirs(folder, exist_ok=True)
    shapes = SHAPES[name]() if name in SHAPES else {}
    for shape, data in {**shapes, **grown(pathlib.Path(seeds))}.items():
        data = data.encode("latin-1") if isinstance(data, str) else data
        (pathlib.Path(folder) / shape).write_bytes(data[:MEGABYTE])


if __name__ == "__main__":
    main(*sys.argv[1:])
