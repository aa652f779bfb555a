"""What the models share: the shape of a verdict, and an independent count of a file's samples."""
import re


class Fatal(Exception):
    """The consumer shows an error instead of the file."""


class Verdict:
    """What one consumer made of one file."""

    def __init__(self, samples=0, frames=0, weight=None, lost=()):
        self.samples = samples
        self.frames = frames
        self.weight = weight  # None: the consumer does not use it
        self.lost = list(lost)  # sentences


def decode(data):
    """Strict UTF-8, as every consumer but the Perl and Rust ones has it."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Fatal(f"not UTF-8: {error}") from error


def took_module(name, module):
    """Whether the module, or a part of it, was read as part of the name."""
    return (module != "inlined" and re.search(r"\+0x[0-9a-f]+ \(", name) is not None
            and not re.search(r"\+0x[0-9a-f]+$", name))


HEADER = re.compile(r"^(\S+) +(\d+)/(\d+) +\[\d{3,}\] +\d+\.\d{6}(?:\d{3})?: +(\d+) (\S+):(.*)$")


def truth(data):
    """The writer's own, narrow grammar: (samples, frames, weight); Fatal when it is not met."""
    samples = frames = weight = 0
    inside = False
    for number, line in enumerate(data.decode("utf-8").split("\n"), 1):
        if line.startswith("#"):
            if inside:
                raise Fatal(f"line {number}: a comment inside a sample")
        elif line.startswith("\t"):
            if not inside:
                raise Fatal(f"line {number}: a frame outside a sample")
            frames += 1
        elif line == "":
            inside = False
        else:
            match = HEADER.match(line)
            if not match or inside:
                raise Fatal(f"line {number}: not a header line: {line[:80]!r}")
            if int(match.group(4)) == 0 and not match.group(6).strip():
                raise Fatal(f"line {number}: it weighs nothing, and most consumers count it")
            inside = True
            samples += 1
            weight += int(match.group(4))
    if inside:
        raise Fatal("the file ends inside a sample")
    return samples, frames, weight
