"""examples - the examples of a Markdown document: finds them, runs them, compares what they show, renews it.

A block ```sh has commands, a block ```console commands behind "$ " and what each shows, and a block
without a word what the commands before it show.  Comments in front of a block say what a page does not:

    <!-- run: COMMAND -->    what a reader has already: a program, a recording, a server that runs
    <!-- for: 2s -->         what still runs after so long gets Ctrl-C; `wick serve` has to answer before
    <!-- status: 10 -->      the exit status of the block's last command, or of shows
    <!-- shows: COMMAND -->  the block is what this shows, not what the commands before it do
    <!-- varies: REGEX -->   what is not compared: a line, or a part of it
    <!-- order: any -->      its lines come in any order
    <!-- skip: REASON -->    the block is not run

Figures are compared as patterns, words exactly; `...` stands for any text, or for any lines.
"""
import contextlib
import dataclasses
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

import procfs

SHOWN_AS = "/tmp/demo"  # the folder in which a document's commands run
MOST_SECONDS = 60       # for one command
DIRECTIVE = re.compile(r"<!-- (run|for|status|shows|varies|order|skip): (.*) -->$")
INTERRUPTED = 128 + signal.SIGINT

# What the recorder says under a condition that depends on the moment.
CONDITIONS = r"^  precision .*|, which is [\d.]+ % of a processor| \(and [^()]* to begin\)"


class Stuck(RuntimeError):
    """No more commands can be run."""


@dataclasses.dataclass
class Step:
    """A command of a document, and the output that stands behind it."""
    line: int           # of the document, from 1
    command: str
    hidden: bool = False
    seconds: float = 0  # Ctrl-C after so long; 0: it ends by itself
    statuses: tuple = (0,)
    skipped: str = ""


@dataclasses.dataclass
class Shown:
    """Lines of a document that show what the STEPS before it print."""
    line: int  # the first one's index
    lines: list
    steps: list
    varies: str = CONDITIONS
    any_order: bool = False


def blocks(lines):
    """(directives, word behind the fence, index of the first line, lines) of each block."""
    directives, at = [], 0
    while at < len(lines):
        found = DIRECTIVE.match(lines[at])
        fence = re.match(r"```(\w*)$", lines[at])
        if found:
            directives.append((at, found.group(1), found.group(2)))
        elif fence:
            end = next(i for i in range(at + 1, len(lines)) if lines[i] == "```")
            yield directives, fence.group(1), at + 1, lines[at + 1:end]
            directives, at = [], end
        elif lines[at] and directives:
            raise ValueError(f"line {at + 1}: a comment for an example without a block behind it")
        at += 1


def commands(first, lines, prompt):
    """(index, command, index of what it shows, what it shows); lines that end with a backslash go on."""
    found = []
    for at, line in enumerate(lines, first):
        if found and found[-1][1].endswith("\\"):
            found[-1][1] += "\n" + line
            found[-1][2] = at + 1
        elif line.startswith(prompt) and line.strip():
            found.append([at, line[len(prompt):], at + 1, []])
        elif found:
            found[-1][3].append(line)
    return found


class Document:
    """What is to be run, in order, and what it is to show."""

    def __init__(self, path):
        self.path = path
        self.lines = path.read_text(encoding="utf-8").split("\n")
        self.steps, self.shown = [], []
        pending = None  # steps without output so far
        for directives, word, first, lines in blocks(self.lines):
            said = {key: value for _, key, value in directives}
            for at, key, value in directives:
                if key in ("run", "shows"):
                    status = int(said.get("status", 0)) if key == "shows" else 0
                    self.steps.append(Step(at + 1, value, True, statuses=(status,)))
            how = ("|".join(filter(None, (CONDITIONS, said.get("varies")))), said.get("order") == "any")
            if word in ("sh", "console"):
                pending = self.add_commands(said, how, commands(first, lines, "$ " if word == "console" else ""))
            elif not word:
                steps = [self.steps[-1]] if "shows" in said else pending
                if not steps:
                    raise ValueError(f"{path}:{first}: no command shows this block")
                self.shown.append(Shown(first, lines, steps, *how))
                pending = None if "shows" not in said else pending

    def add_commands(self, said, how, found):
        steps = []
        seconds = float(said.get("for", "0s").rstrip("s"))
        for at, command, shown_at, shown in found:
            step = Step(at + 1, command, False, seconds, (0, INTERRUPTED) if seconds else (0,), said.get("skip", ""))
            steps.append(step)
            while shown and not shown[-1]:
                shown.pop()
            if shown:
                self.shown.append(Shown(shown_at, shown, [step], *how))
        if "status" in said:
            steps[-1].statuses = (int(said["status"]),)
        self.steps += steps
        return steps if not said.get("skip") else None

    def renew(self, printed):
        """The document with what has been printed, and the blocks that have to be edited by hand."""
        lines, stuck = list(self.lines), []
        for shown in reversed(self.shown):
            out = output_of(shown, printed)
            if any(is_elided(line) for line in shown.lines):
                new = renewed(shown.lines, out)
                if new is None:
                    stuck.append(shown)
                    continue
            else:
                new = out
            lines[shown.line:shown.line + len(shown.lines)] = new
        return "\n".join(lines), stuck


NUMBER = (r"(?<![A-Za-z_])[+-]?(?:\d{8}T\d{6}Z|(?:0x|(?<![0-9a-f]))(?=[0-9a-f]*\d)[0-9a-f]{5,}(?![A-Za-z_])"
          r"|0x[0-9a-f]+|\d+(?:,[+-]?\d+)*(?:\.\d+)?)\*?")
UNITS = (r"(?: (?:ns|us|ms|s)\b)", r"(?:ns|us|ms|s)\b", r"(?: (?:B|bytes|KiB|MiB|GiB)\b)")
TOKEN = re.compile(rf"(?P<elided>\.\.\.)|(?P<number>{NUMBER})(?P<unit>{'|'.join(UNITS)})?|(?P<blank> +)|(?P<word>.)")
CELLS = re.compile(r"^(.{0,40}?)([ .:=+*#@-]{6,})$")  # a row of a heatmap
ELIDED = re.compile(r"\s{0,5}\.\.\.")                  # any lines
AXIS = re.compile(r" *(?:\|-?[\d.]+ s *)+")


def pattern_of(line):
    """A line of a document as a pattern; a group for each part between `...`."""
    if AXIS.fullmatch(line):
        return f"({AXIS.pattern} *)"
    cells = CELLS.match(line)
    if cells:
        return f"({pattern_of(cells.group(1))[1:-1]}[ .:=+*#@-]*)"
    text = ""
    for token in TOKEN.finditer(line):
        if token["elided"]:
            text += ").*?("
        elif token["number"]:
            unit = next((unit for unit in UNITS if token["unit"] and re.fullmatch(unit, token["unit"])), "")
            text += NUMBER + unit
        elif token["blank"]:
            text += " *"
        else:
            text += re.escape(token["word"])
    return f"( *{text} *)"  # columns are as wide as their widest figure


def is_elided(line):
    return ELIDED.fullmatch(line) is not None or "..." in line and not CELLS.match(line)


def matches(lines, out):
    """For each line of a document what it has matched: a line's parts, or None for `...`; None: they differ."""
    if not lines:
        return [] if not out else None
    if ELIDED.fullmatch(lines[0]):
        for skipped in range(len(out) + 1):
            rest = matches(lines[1:], out[skipped:])
            if rest is not None:
                return [None, *rest]
        return None
    found = re.fullmatch(pattern_of(lines[0].rstrip()), out[0]) if out else None
    rest = matches(lines[1:], out[1:]) if found else None
    return None if rest is None else [found.groups(), *rest]


def renewed(lines, out):
    """The same lines with today's figures; None where they differ in more."""
    found = matches(lines, out)
    if found is None:
        return None
    return [line if parts is None else "...".join(parts) for line, parts in zip(lines, found)]


def stripped(lines, varies):
    """Without what is not compared, and without lines that are nothing else."""
    varying = re.compile(varies)
    kept = ((line, varying.sub("", line)) for line in lines)
    return [new for line, new in kept if new.strip() or not line.strip()]


def in_one_order(lines, out):
    """Both, each line of OUT in the place of the first of LINES that it matches, the others last."""
    left, ordered = list(out), []
    for line in lines:
        found = next((one for one in left if re.fullmatch(pattern_of(line.rstrip()), one)), None)
        if found is not None:
            left.remove(found)
            ordered.append(found)
    return lines, ordered + left


def output_of(shown, printed):
    out = "".join(printed.get(step.line, "") for step in shown.steps).rstrip("\n").split("\n")
    while out and not out[0]:
        out.pop(0)
    return out


def difference(shown, printed):
    """What is wrong with a block; "" where nothing is."""
    out = output_of(shown, printed)
    wanted = stripped(shown.lines, shown.varies)
    got = stripped(out, shown.varies)
    if shown.any_order:
        wanted, got = in_one_order(wanted, got)
    if matches(wanted, got) is not None:
        return ""
    at = next((n for n in range(len(wanted)) if matches([*wanted[:n + 1], "..."], got) is None), len(wanted))
    return (f"line {shown.line + 1}: the page shows\n{chr(10).join(wanted[at:at + 1]) or '(no more)'}\n"
            f"where the commands print\n" + "\n".join(out))


class Shell:
    """A shell in a namespace of processes of its own, and a folder of its own: root may make them."""

    PRELUDE = (               # what else runs here is not to change what the examples show (sched(7))
               "echo -15 >/proc/self/autogroup\n"
               # recordings of others are not seen
               "for place in /tmp/wick-$UID /run/user/$UID; do [ ! -d $place ] || mount -t tmpfs -o mode=700 tmpfs $place; done\n"
               # as_pid PID COMMAND...: in the background, with that very number; it has begun when this returns
               'as_pid() { echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid; number=$1; shift; "$@" & [ $! = $number ]; '
               'while [ /proc/$number/exe -ef /proc/$$/exe ]; do sleep 0.01; done; }\n'
               "set -m -E; trap : INT; trap 'echo \"failed $? $BASH_COMMAND\" >&9' ERR")

    def __init__(self, root, wick):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="wick-docs-"))
        self.folder = self.base / "demo"
        self.folder.mkdir()
        (self.folder / "docs").symlink_to(root / "docs")
        (self.base / "home").mkdir()
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER") and not name.startswith("WICK_")}
        environment.update(PATH=f"{os.path.dirname(wick)}:{os.environ['PATH']}", HOME=str(self.base / "home"),
                           XDG_CACHE_HOME=str(self.base / "cache"), WICK_CONFIG="", XDG_RUNTIME_DIR="", LC_ALL="C.UTF-8", COLUMNS="80", TERM="xterm")
        answers, theirs = os.pipe()
        self.answers = os.fdopen(answers, "rb", 0)
        # The shell reads "9>&" from its own descriptor: the pipe is inherited under that number.
        self.process = subprocess.Popen(
            ["unshare", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child",
             "bash", "-c", (f"exec 9>&{theirs} {theirs}>&-; " if theirs != 9 else "") + "exec bash --norc"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder,
            env=environment, pass_fds=(theirs,), start_new_session=True)
        os.close(theirs)
        self.write(self.PRELUDE)
        if self.answered(MOST_SECONDS) is None:
            self.close()
            raise RuntimeError("no shell begins")

    def close(self):
        self.process.kill()
        self.process.communicate()
        self.answers.close()
        shutil.rmtree(self.base, ignore_errors=True)

    def children(self):
        """The groups of what the shell has started."""
        groups = set()
        for pid in procfs.children(*procfs.children(self.process.pid)):
            with contextlib.suppress(ProcessLookupError):
                groups.add(os.getpgid(pid))
        return groups

    def answered(self, seconds):
        """What the shell says of a command: [(status, command) that failed] and the last status; None: not yet."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not select.select([self.answers], [], [], max(0, end - time.monotonic()))[0]:
                return None
            read = os.read(self.answers.fileno(), 4096)
            if not read:
                raise Stuck("it has ended the shell")
            self.said += read
            if self.said.endswith(b"done\n"):
                return self.said.decode().split("\n")[:-2]
        return None

    def write(self, line):
        self.said = b""
        self.process.stdin.write(f"{line}\necho done >&9\n".encode())
        self.process.stdin.flush()

    @staticmethod
    def interrupt(groups):
        """Ctrl-C."""
        for group in groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGINT)

    def wait(self, step, out, end):
        """Until a command has ended; END() ends one that is to run for a while."""
        failed = self.answered(step.seconds or MOST_SECONDS)
        if failed is not None:
            return failed
        if not step.seconds:
            raise Stuck(f"runs for more than {MOST_SECONDS} s")
        if step.command.startswith("wick serve"):
            fetch(out.read_text(encoding="utf-8", errors="replace"))
        end()
        failed = self.answered(MOST_SECONDS)
        if failed is None:
            raise Stuck("does not end when it is asked to")
        return failed

    def run(self, step):
        """Runs a command; what it printed.  Raises where it is not as it should be."""
        script, out = self.base / "command", self.base / f"out{step.line}"
        script.write_text(step.command + "\n", encoding="utf-8")
        before = self.children()
        if step.seconds and re.match(r"wick top\b(?!.*--once)", step.command):
            with terminal(out) as (name, keys):
                self.write(f"setsid --ctty --wait bash '{script}' <{name} >{name} 2>&1")
                failed = self.wait(step, out, lambda: os.write(keys, b"q"))
        else:
            self.write(f". '{script}' >'{out}' 2>&1 </dev/null")
            failed = self.wait(step, out, lambda: self.interrupt(self.children() - before))
        printed = out.read_text(encoding="utf-8", errors="replace").replace(str(self.folder), SHOWN_AS)
        failures = [line.split(" ", 2) for line in failed]
        statuses = {int(status) for _, status, _ in failures} or {0}
        if not statuses <= set(step.statuses):
            raise RuntimeError(f"status {max(statuses)}, not {step.statuses[0]}; it printed\n{printed}")
        return printed


@contextlib.contextmanager
def terminal(out):
    """A terminal, whose output is kept in the file OUT; gives its name, and where keys are written."""
    ours, theirs = pty.openpty()
    with open(out, "wb") as file:
        def keep():
            with contextlib.suppress(OSError):
                while read := os.read(ours, 65536):
                    file.write(read)
        reader = threading.Thread(target=keep)
        reader.start()
        try:
            yield os.ttyname(theirs), ours
        finally:
            os.close(theirs)
            reader.join()
            os.close(ours)


def fetch(said):
    """The page at the address that was printed."""
    address = re.search(r"http://\S+", said)
    if not address:
        raise RuntimeError(f"no address in\n{said}")
    with urllib.request.urlopen(address.group(0), timeout=10) as answer:
        if b"<html" not in answer.read():
            raise RuntimeError(f"no page at {address.group(0)}")


def run_document(document, root, wick):
    """Runs all its commands; ({line: what was printed}, [what is wrong])."""
    printed, problems = {}, []
    with contextlib.closing(Shell(root, wick)) as shell:
        for step in document.steps:
            if step.skipped:
                continue
            try:
                printed[step.line] = shell.run(step)
            except RuntimeError as problem:
                problems.append(f"{document.path}:{step.line}: {step.command}\n{problem}")
                if isinstance(problem, Stuck):
                    break
    return printed, problems
