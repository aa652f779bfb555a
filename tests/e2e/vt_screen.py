"""vt_screen - a program in a pseudoterminal, and what its screen shows.

As much of a terminal as ncurses uses of TERM=xterm-256color and vt100: a grid of characters with
their colours.  What it does not know makes a test fail rather than look right.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

SEQUENCE = re.compile(r"\x1b(?:\[([?>!]?)([\d;]*)([@-~])|([()])(.)|([78=>MDEHc]))")


class Screen:
    def __init__(self, lines, columns):
        self.left = ""  # of a sequence that has not come whole
        self.resize(lines, columns)

    def resize(self, lines, columns):
        self.lines, self.columns = lines, columns
        self.cells = [[(" ", None, None)] * columns for _ in range(lines)]
        self.row = self.column = 0
        self.top, self.bottom = 0, lines - 1
        self.colours = (None, None)
        self.last = " "

    def text(self):
        return ["".join(cell[0] for cell in line).rstrip() for line in self.cells]

    def blank(self, row, begin, end):
        for column in range(begin, end):
            self.cells[row][column] = (" ", None, self.colours[1])

    def put(self, character):
        if self.column >= self.columns:
            self.column = 0
            self.feed_line()
        self.cells[self.row][self.column] = (character, *self.colours)
        self.column += 1
        self.last = character

    def feed_line(self):
        if self.row == self.bottom:
            self.scroll(1)
        elif self.row < self.lines - 1:
            self.row += 1

    def scroll(self, n):
        """N lines up; down where N is below 0."""
        part = self.cells[self.top:self.bottom + 1]
        empty = [[(" ", None, None)] * self.columns for _ in range(min(abs(n), len(part)))]
        part = part[n:] + empty if n > 0 else empty + part[:n]
        self.cells[self.top:self.bottom + 1] = part

    def take(self, text):
        text = self.left + text
        at = 0
        while at < len(text):
            character = text[at]
            if character == "\x1b":
                match = SEQUENCE.match(text, at)
                if not match:
                    if len(text) - at > 40:
                        raise ValueError(f"no sequence: {text[at:at + 40]!r}")
                    break
                at = match.end()
                self.sequence(match)
                continue
            at += 1
            if character == "\r":
                self.column = 0
            elif character == "\n":
                self.feed_line()
            elif character == "\b":
                self.column = max(0, min(self.column, self.columns) - 1)
            elif character == "\t":
                self.column = min(self.columns - 1, self.column // 8 * 8 + 8)
            elif character >= " ":
                self.put(character)
        self.left = text[at:]

    def sequence(self, match):
        private, numbers, final, _, _, single = match.groups()
        if single == "M":
            if self.row == self.top:
                self.scroll(-1)
            else:
                self.row -= 1
        if final is None or private:
            return  # a character set, a mode of the keyboard or the cursor
        n = [int(word or 0) for word in numbers.split(";")]
        one = n[0] or 1
        if final in "Hf":
            self.row = min(one, self.lines) - 1
            self.column = min((n[1] if len(n) > 1 else 1) or 1, self.columns) - 1
        elif final == "d":
            self.row = min(one, self.lines) - 1
        elif final == "G":
            self.column = min(one, self.columns) - 1
        elif final in "ABCD":
            self.row += {"A": -one, "B": one}.get(final, 0)
            self.column = min(self.column, self.columns - 1) + {"C": one, "D": -one}.get(final, 0)
            self.row = max(0, min(self.lines - 1, self.row))
            self.column = max(0, min(self.columns - 1, self.column))
        elif final == "J":
            self.erase(n[0])
        elif final == "K":
            begin, end = [(self.column, self.columns), (0, self.column + 1), (0, self.columns)][n[0]]
            self.blank(self.row, begin, min(end, self.columns))
        elif final == "X":
            self.blank(self.row, self.column, min(self.columns, self.column + one))
        elif final == "b":
            for _ in range(one):
                self.put(self.last)
        elif final in "P@":
            line, at = self.cells[self.row], self.column
            empty = [(" ", None, None)] * one
            line[at:] = (line[at + one:] + empty if final == "P" else empty + line[at:])[:self.columns - at]
        elif final in "LM":
            top, self.top = self.top, self.row
            self.scroll(one if final == "M" else -one)
            self.top = top
        elif final in "ST":
            self.scroll(one if final == "S" else -one)
        elif final == "r":
            self.top, self.bottom = one - 1, (n[1] if len(n) > 1 and n[1] else self.lines) - 1
            self.row = self.column = 0
        elif final == "m":
            self.colour(n)
        elif final not in "hltcn":
            raise ValueError(f"unknown: {match.group()!r}")

    def erase(self, how):
        if how == 3:
            return  # what has scrolled away is not kept
        if how == 0:
            self.blank(self.row, min(self.column, self.columns - 1), self.columns)
        first, end = [(self.row + 1, self.lines), (0, self.row), (0, self.lines)][how]
        for row in range(first, end):
            self.blank(row, 0, self.columns)

    def colour(self, n):
        front, back = self.colours
        n = list(n)
        while n:
            code = n.pop(0)
            if code == 0:
                front = back = None
            elif code in (38, 48):
                n.pop(0)
                front, back = (n.pop(0), back) if code == 38 else (front, n.pop(0))
            elif code == 39:
                front = None
            elif code == 49:
                back = None
            elif code // 10 in (3, 9):
                front = code
            elif code // 10 in (4, 10):
                back = code
        self.colours = (front, back)


class Terminal:
    """A program that has a terminal of its own for input, output and errors."""

    def __init__(self, argv, environment, lines=24, columns=80, cwd=None):
        self.screen = Screen(lines, columns)
        self.raw = b""
        self.status = None
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
                if cwd:
                    os.chdir(cwd)
                os.execvpe(argv[0], argv, environment)
            finally:
                os._exit(127)

    def read(self, seconds):
        """Take in what comes within a time.  False: the program has closed its terminal."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.raw += data
        self.screen.take(data.decode(errors="replace"))
        return bool(data)

    def until(self, holds, seconds=20):
        """Read until HOLDS(text) of the screen's lines; the lines, or a failure that shows them."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            goes_on = self.read(0.1)
            while goes_on and select.select([self.master], [], [], 0.02)[0]:
                goes_on = self.read(0)  # a picture comes in pieces
            lines = self.screen.text()
            if holds(lines):
                return lines
            if not goes_on:
                break
        raise AssertionError("it never came:\n" + "\n".join(self.screen.text()))

    def press(self, keys):
        os.write(self.master, keys.encode())

    def resize(self, lines, columns):
        self.screen.resize(lines, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def modes(self):
        return termios.tcgetattr(self.master)[:4]

    def hang_up(self):
        """As when its window is closed: no output is read, and no input comes any more."""
        ours, its = pty.openpty()
        os.close(its)
        os.dup2(ours, self.master)
        os.close(ours)

    def wait(self, seconds=20):
        """The exit status; what comes meanwhile is taken in."""
        end = time.monotonic() + seconds
        while self.status is None and time.monotonic() < end:
            if not self.read(0.05):
                time.sleep(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
                while self.read(0.05) and select.select([self.master], [], [], 0)[0]:
                    pass
        if self.status is None:
            raise AssertionError("it does not end:\n" + "\n".join(self.screen.text()))
        return self.status

    def close(self):
        if self.status is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            except ProcessLookupError:
                pass
        os.close(self.master)
