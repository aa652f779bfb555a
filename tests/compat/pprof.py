"""pprof.py - profile.proto as protoc decodes it, and what a reader of pprof makes of it"""
import collections
import gzip
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
FIELD = re.compile(r'^ *(\w+)(?:: (?:"((?:[^"\\]|\\.)*)"|(\S+))| \{)$')
ESCAPE = re.compile(rb"\\([0-7]{3}|.)")


def unescape(text):
    def one(found):
        what = found[1]
        if len(what) == 3:
            return bytes([int(what, 8)])
        return {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(what, what)
    return ESCAPE.sub(one, text.encode()).decode()  # strictly UTF-8


def decode(path):
    """{field: [values]}, messages nested the same way; protoc complains about what is none."""
    with gzip.open(path, "rb") as file:
        data = file.read()
    done = subprocess.run(["protoc", f"--proto_path={HERE}", "--decode=Profile", "profile.proto"],
                          input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"protoc: {done.stderr.decode()}")
    top = collections.defaultdict(list)
    stack = [top]
    for line in done.stdout.decode().split("\n"):
        if line.strip() == "}":
            stack.pop()
            continue
        found = FIELD.match(line)
        if not found:
            assert not line, f"not protoc's text: {line!r}"
            continue
        name, text, number = found.groups()
        assert not name.isdigit(), f"a field that profile.proto has not: {line!r}"
        if text is not None:
            stack[-1][name].append(unescape(text))
        elif number is not None:
            stack[-1][name].append({"true": 1, "false": 0}.get(number) if number in
                                   ("true", "false") else int(number))
        else:
            stack.append(collections.defaultdict(list))
            stack[-2][name].append(stack[-1])
    return top


def first(message, name):
    return message[name][0] if message[name] else 0


class Profile:
    """Types, and samples as (stack from the root, {label: value}, {type: value})."""

    def __init__(self, path):
        top = decode(path)
        strings = top["string_table"]
        assert strings[0] == "", "the first string has to be empty"
        self.top = top
        self.types = [strings[first(kind, "type")] for kind in top["sample_type"]]
        self.units = [strings[first(kind, "unit")] for kind in top["sample_type"]]
        self.default = strings[first(top, "default_sample_type")]
        functions = {first(f, "id"): strings[first(f, "name")] for f in top["function"]}
        for function in top["function"]:
            # Go's pprof shortens `Num::operator()` and templates when both names are given alike
            assert not first(function, "system_name"), f"system_name of {function['name']}"
        mappings = {first(m, "id"): strings[first(m, "filename")] for m in top["mapping"]}
        places = {}
        for place in top["location"]:
            lines = [functions[first(line, "function_id")] for line in place["line"]]
            module = mappings[first(place, "mapping_id")] if first(place, "mapping_id") else ""
            number = first(place, "id")
            assert number and number not in places, f"location {number} is there twice"
            # all but the last of a place's lines were inlined into it
            places[number] = [(name, "", True) for name in lines[:-1]] + [(lines[-1], module,
                                                                           False)]
        self.samples = []
        for sample in top["sample"]:
            stack = [frame for number in sample["location_id"] for frame in places[number]]
            labels = {strings[first(label, "key")]: strings[first(label, "str")]
                      if first(label, "str") else first(label, "num")
                      for label in sample["label"]}
            assert len(sample["value"]) == len(self.types)
            self.samples.append((tuple(reversed(stack)), labels,
                                 dict(zip(self.types, sample["value"], strict=True))))
