#!/usr/bin/env python3
"""handler_stack.py - how much of a guest's stack handler and hooks can take, from gcc's call graph

usage: handler_stack.py BUILD ROOT[,ROOT...] LIMIT [WITHOUT...]

Reads what gcc wrote (-fcallgraph-info=su) beside the objects that may run in a handler or a hook,
and adds up the deepest path from the functions ROOT.  Calls through the
unwinder's reader go to memory_read and memory_find, those through the agent's table of hooks to
its functions; what a hook passes on to libc is the program's.  Functions named WITHOUT are left out.
Exit status 1 when the path takes more than LIMIT bytes, runs in a circle, needs a frame whose
size gcc does not know, or ends in a function that is neither known nor listed below.
"""
import json
import pathlib
import re
import sys

TARGETS = ("wick_handler.dir", "wick_unwind_handler.dir", "wick-hooks.dir", "wick-agent.dir/event_hook.c")
# What is no code of ours: libc's (about 200 bytes, seen by the tripwire) and the vdso's.
FOREIGN = {"_dl_find_object", "*__errno_location", "*_pthread_cleanup_push", "*_pthread_cleanup_pop"}
TABLES = {"->read(": "memory_read", "->find(": "memory_find", "->event(": "take_event",
          "->wait(": "take_wait", "->stack(": "take_stack"}


def graphs_of(build):
    """The .ci files beside every object that may run in a handler."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        target = re.search(r" -o (\S+)", entry["command"])[1]
        if not any(name in target for name in TARGETS) or not entry["file"].endswith(".c"):
            continue
        if " -fcallgraph-info=su " not in entry["command"]:
            print("handler_stack: only gcc writes the sizes of frames: skipped")
            sys.exit(77)
        yield (build / target).with_suffix(".ci")


def line_of(place):
    file, line, _ = place.rsplit(":", 2)
    return pathlib.Path(file).read_text().splitlines()[int(line) - 1]


def target_of(name, label):
    """What an edge leads to: None for an indirect call by a table that is not listed above."""
    if name != "__indirect_call":
        return name
    text = line_of(label)
    return next((to for call, to in TABLES.items() if call in text), None)


def read_graph(files):
    frames, calls = {}, {}
    for file in files:
        for line in file.read_text().splitlines():
            node = re.match(r'node: \{ title: "([^"]+)" label: "([^"]*)"', line)
            edge = re.match(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)" label: "([^"]+)"', line)
            size = node and re.search(r"(\d+) bytes \(([a-z,]+)\)", node[2])
            if size:
                frames[node[1]] = int(size[1]) if size[2] == "static" else None
            if edge:
                to = target_of(edge[2], edge[3])
                if to:
                    calls.setdefault(edge[1], set()).add(to)
    return frames, calls


class Paths:
    def __init__(self, frames, calls, without):
        self.frames, self.calls, self.without = frames, calls, without
        self.short = {}
        for title in frames:
            self.short.setdefault(title.split(":")[-1], title)
        self.known = {}

    def deepest(self, title, above=()):
        name = title.split(":")[-1]
        title = title if title in self.frames else self.short.get(name, title)
        if name in self.without or name in FOREIGN:
            return 0, []
        if title in above:
            raise SystemExit(f"handler_stack: '{name}' calls itself")
        if self.frames.get(title) is None:
            raise SystemExit(f"handler_stack: the frame of '{name}' is not known")
        if title not in self.known:
            below = [self.deepest(to, above + (title,)) for to in self.calls.get(title, ())]
            most, path = max(below, default=(0, []))
            self.known[title] = (self.frames[title] + most, [(name, self.frames[title])] + path)
        return self.known[title]


def main():
    if len(sys.argv) < 4:
        raise SystemExit(__doc__)
    build, roots, limit = pathlib.Path(sys.argv[1]), sys.argv[2].split(","), int(sys.argv[3])
    frames, calls = read_graph(graphs_of(build))
    for root in roots:
        if root not in frames:
            raise SystemExit(f"handler_stack: no function '{root}'")
    paths = Paths(frames, calls, set(sys.argv[4:]))
    total, path = max(paths.deepest(root) for root in roots)
    print(f"{path[0][0]}: {total} bytes at most, {limit} allowed")
    print("  " + " > ".join(f"{name} {size}" for name, size in path))
    sys.exit(total > limit)


if __name__ == "__main__":
    main()
