"""Chains of addresses, by wick and by others: lists of (name, file, line), the innermost first.

A return address is asked for as what it is of wick, and one lower of the others, who do not know
the difference.
"""
import json
import os
import re
import subprocess

TIMEOUT_S = 900


class Asked:
    """An address of a file; RETURNS: what a call comes back to."""

    def __init__(self, addr, returns=False):
        self.addr = addr
        self.returns = returns

    @property
    def inside(self):
        return self.addr - 1 if self.returns else self.addr


def run(command, text, accepted=(0,)):
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace", timeout=TIMEOUT_S, check=False)
    if done.returncode not in accepted:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def ours(program, path, asked, options=()):
    text = "".join(f"{a.addr:x}{'-' if a.returns else ''}\n" for a in asked)
    chains = []
    for block in run([program, *options, path], text).split("\n\n"):
        lines = block.strip("\n").split("\n")
        if lines == [""]:
            continue
        chain = []
        for line in lines[1:]:
            name, file, number = line.split("\t")
            chain.append((name, file, int(number)))
        chains.append(chain)
    assert len(chains) == len(asked), f"{len(chains)} chains of {len(asked)} addresses"
    return chains


def place(text):
    """FILE:LINE, with what else some put behind it; ? and 0 where it is not known."""
    text = re.sub(r" \((discriminator \d+|inlined by)\)", "", text.strip())
    match = re.match(r"(.*?):(\d+|\?)(?::(\d+|\?))?$", text)
    if not match or match.group(1) in ("??", ""):
        return "", 0
    return match.group(1), int(match.group(2)) if match.group(2) != "?" else 0


def pairs(lines):
    """Name and place in turns."""
    chain = []
    for name, where in zip(lines[::2], lines[1::2]):
        name = re.sub(r" inlined at .*$", "", name)
        file, line = place(where)
        chain.append(("" if name == "??" else name, file, line))
    return chain


def by_address(text, n):
    """Blocks that begin with a line of the address."""
    chains = [pairs(block.split("\n")[1:]) for block in re.split(r"(?m)^(?=0x[0-9a-f]{8,}$)", text)
              if block]
    assert len(chains) == n, f"{len(chains)} chains of {n} addresses"
    return chains


def addr2line(path, asked, demangle=True):
    text = "".join(f"0x{a.inside:x}\n" for a in asked)
    return by_address(run(["addr2line", "-a", "-f", "-i", *(["-C"] if demangle else []), "-e",
                           path], text), len(asked))


def eu_addr2line(path, asked, debug=None, demangle=True):
    text = "".join(f"0x{a.inside:x}\n" for a in asked)
    where = [f"--debuginfo-path={debug}"] if debug else []
    output = run(["eu-addr2line", "-a", "-f", "-i", *(["-C"] if demangle else []), "-A", *where,
                  "-e", path], text, (0, 1))  # 1: some addresses are in no unit
    return by_address(output, len(asked))


def llvm(path, asked, debug=None, demangle=True):
    text = "".join(f"0x{a.inside:x}\n" for a in asked)
    where = [f"--debug-file-directory={debug}"] if debug else []
    output = run(["llvm-symbolizer", "--output-style=JSON", "--inlines",
                  "--demangle" if demangle else "--no-demangle", "--functions=linkage", *where,
                  f"--obj={path}"], text)
    chains = []
    for line in output.splitlines():
        chain = [(s["FunctionName"], s["FileName"], s["Line"])
                 for s in json.loads(line).get("Symbol", [])]
        chains.append(chain or [("", "", 0)])
    assert len(chains) == len(asked), f"{len(chains)} chains of {len(asked)} addresses"
    return chains




def without_parameters(name):
    """A name as it can be compared: no parameters, no clone marks, no spaces that do not matter."""
    name = re.sub(r"(\s*\[clone [^]]*\])+$", "", name)
    name = re.sub(r"(@@?[A-Za-z_][\w.]*)$", "", name)
    name = name.replace("(anonymous namespace)", "\1").replace("<unnamed>", "\1")
    name = name.replace("{anonymous}", "\1")
    name = re.sub(r"operator\s*\(\)", "\2", name)
    name = re.sub(r"<lambda\(", "{lambda(", name)
    out = []
    depth = 0
    for c in name:
        if c == "(":
            depth += 1
        elif c == ")" and depth:
            depth -= 1
        elif not depth:
            out.append(c)
    name = "".join(out)
    # lambda as libiberty, DWARF of gcc, llvm's demangler and clang write it
    name = re.sub(r"\{lambda[^}>]*[}>](#\d+\}?)?|'lambda\d*'|\$_\d+", "{lambda}", name)
    name = re.sub(r"(\.(cold|part\.\d+|isra\.\d+|constprop\.\d+|lto_priv\.\d+|llvm\.\d+|\d+))+$",
                  "", name)
    name = re.sub(r"((\s+(const|volatile)|\s*&{1,2}|\[abi:\w+\])\s*)+$", "", name).strip()
    return name.replace("\1", "(anonymous namespace)").replace("\2", "operator()")


def last_part(name):
    """The name itself, without what it is in and without template arguments."""
    name = without_parameters(name)
    match = re.search(r"\boperator\s*(\(\)|\[\]|<=>|<<=?|>>=?|->\*?|[-+*/%^&|~!=<>,]+|new|delete)"
                      r"(<.*>)?$", name)
    if match:
        return "operator" + match.group(1)
    name = re.sub(r"\boperator\s*(<<|<=|<|>>|>=|>|->)=?", "operator", name)
    depth = 0
    out = []
    for c in name:
        depth += c == "<"
        if not depth:
            out.append(c)
        depth -= c == ">"
    return "".join(out).split("::")[-1].split(" ")[-1]


def absolute(file, folder):
    return os.path.normpath(os.path.join(folder, file)) if file else ""
