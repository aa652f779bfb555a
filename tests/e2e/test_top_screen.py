"""wick top: what its screen shows, and what its keys do."""
import contextlib
import gzip
import http.client
import json
import os
import re
import signal
import subprocess
import unittest
import urllib.parse

from recorded import LONG, WICK, Case, target, text_of, wait_for
from vt_screen import Terminal

HALVES = "\u2580\u2584"


def environment(**variables):
    return {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **variables}


def row_of(lines, name):
    """The numbers left of a function's or thread's name."""
    for line in lines:
        if re.search(rf" {name}( |$)", line):
            return line.split()[:4]
    return None


class Screen(Case):
    def start(self, *arguments, lines=24, columns=80, **variables):
        terminal = Terminal([WICK, "top", *map(str, arguments)], environment(**variables), lines, columns,
                            cwd=self.dir)
        self.addCleanup(terminal.close)
        return terminal

    def watch(self, *arguments, **options):
        """A busy program, once its functions are seen: each sample stands for one period."""
        terminal = self.start("--max-overhead", "off", *arguments, "--", target("split"), "60", **options)
        terminal.until(lambda lines: row_of(lines, "burn_seventy"))
        return terminal

    def end(self, terminal):
        """Quit, and the program with it."""
        terminal.press("q")
        terminal.until(lambda lines: "e end it (SIGTERM)" in lines[-1] and "still runs" in lines[-1])
        terminal.press("e")
        self.assertEqual(terminal.wait(), 0)

    def test_functions_of_a_program(self):
        terminal = self.watch()
        lines = terminal.until(lambda lines: (row_of(lines, "burn_ten") or ["0"])[0] > "0.0"
                               and float(row_of(lines, "burn_seventy")[2][:-1]) > 1)
        self.assertRegex(lines[0], r"^wick top: split \(pid \d+\)  CPU +[\d.]+ %  1 thread  99 Hz$")
        self.assertRegex(lines[1], r"^0:\d\d: \d+ samples, lost nothing; by self now; its output: /")
        titles = next(at for at, line in enumerate(lines) if "FUNCTION (MODULE)" in line)
        self.assertEqual(lines[titles].split(), ["%SELF*%TOTAL", "SELF", "TOTAL", "FUNCTION", "(MODULE)"])
        self.assertIn("burn_seventy (split)", lines[titles + 1])
        main = row_of(lines, "main")
        # It chooses the next busy thread, in less than 3 of 1,000 samples: 5 of the first 140 are chance
        # once in 20,000 runs.
        self.assertLess(float(main[2][:-1]), 0.035 * float(main[3][:-1]))
        self.assertGreater(float(main[3][:-1]), 1)
        self.assertLess(max(map(len, lines)), 81)
        self.assertIn("q quit", lines[-1])
        modes = terminal.modes()
        self.end(terminal)
        self.assertNotEqual(terminal.modes(), modes)
        self.assertIn(b"\x1b[?1049l", terminal.raw)  # the screen that was there before is back
        self.assertIn("'split' killed by SIGTERM", "\n".join(terminal.screen.text()))

    def test_the_heatmap_is_made_of_half_blocks_and_scrolls(self):
        terminal = self.watch()
        warm = lambda: [[cell[0] in HALVES for cell in line] for line in terminal.screen.cells[2:8]]
        # Now is at the right, once the program had a processor now.
        terminal.until(lambda lines: sum(map(sum, warm())) >= 12 and any(line[78] for line in warm()))
        columns = {at for line in warm() for at, cell in enumerate(line) if cell}
        self.assertLessEqual(max(columns), 78)
        self.assertGreater(len({cell[1] for line in terminal.screen.cells[2:8] for cell in line}), 1)
        terminal.until(lambda lines: len({at for line in warm() for at, cell in enumerate(line) if cell})
                       > len(columns) + 1)
        self.assertRegex("\n".join(terminal.screen.text()), r"(?m)^s ago .*\+---------\+$")
        terminal.press("h")
        terminal.until(lambda lines: "FUNCTION" in lines[2])
        self.end(terminal)

    def test_no_colour_and_no_utf8_are_obeyed(self):
        for variables in ({"NO_COLOR": "1"}, {"LC_ALL": "C"}, {"TERM": "vt100"})[:3 if LONG else 1]:
            terminal = self.watch(**variables)
            shown = terminal.until(lambda lines: any(re.search("[.:=+*#-]", line[8:]) for line in lines[2:8]))
            self.assertFalse(set(HALVES) & set("".join(shown)), variables)
            self.assertEqual({cell[1:] for line in terminal.screen.cells for cell in line}, {(None, None)})
            self.end(terminal)

    def test_sort_filter_freeze_and_reset(self):
        terminal = self.watch()
        terminal.press("4")
        terminal.until(lambda lines: "by total in all" in lines[1] and re.search(r" TOTAL\*", "\n".join(lines)))
        terminal.press("/seven")
        terminal.until(lambda lines: "only names that match: seven_" in lines[-1] and not row_of(lines, "main"))
        terminal.press("\r")
        terminal.until(lambda lines: "only /seven/" in lines[1] and "q quit" in lines[-1])
        terminal.press("/(")
        terminal.until(lambda lines: "'('" in lines[-1] and "only /seven/" in lines[1])
        terminal.press("\x1b")
        terminal.until(lambda lines: row_of(lines, "main") and "only" not in lines[1])
        counted = lambda lines: int(re.search(r"([\d,]+) samples?", lines[1]).group(1).replace(",", ""))
        # So many that the count is still lower when a busy machine shows it anew.
        terminal.until(lambda lines: counted(lines) > 500)
        terminal.press(" ")
        frozen = terminal.until(lambda lines: lines[1].startswith("FROZEN"))
        for _ in range(15):
            terminal.read(0.1)
        self.assertEqual(terminal.screen.text()[1], frozen[1])
        before = counted(frozen)
        terminal.press("r ")
        terminal.until(lambda lines: counted(lines) < before and "FROZEN" not in lines[1])
        terminal.press("?")
        terminal.until(lambda lines: any("Any key goes back" in line for line in lines))
        terminal.press("x")
        terminal.until(lambda lines: row_of(lines, "main"))
        self.end(terminal)

    def test_threads_by_cpu_and_state(self):
        terminal = self.start("--", target("heavy_threads"), 12, 2, 60, 1)
        terminal.press("t")
        used = lambda lines: float((row_of(lines, "crew-1") or "000")[2].rstrip("s"))
        # /proc says what a thread used before its first sample has a name.
        lines = terminal.until(lambda lines: used(lines) > 0.3 and any("crew-9" in line for line in lines)
                               and all(re.search(r" crew-[01] .*burn_", line) for line in lines
                                       if re.search(r" crew-[01] ", line + " ")))
        shown = [line.split() for line in lines if re.search(r" crew-\d+ ", line + " ")]
        self.assertEqual({words[4] for words in shown[:2]}, {"crew-0", "crew-1"})
        self.assertIn("S", {words[1] for words in shown[2:]})
        self.assertIn("burn_", " ".join(shown[0]))
        terminal.press("4")
        names = lambda lines: [line.split()[4] for line in lines if re.search(r" crew-\d+", line)]
        terminal.until(lambda lines: "by name" in lines[1] and names(lines) == sorted(names(lines)))
        terminal.press("2j")
        terminal.until(lambda lines: "by state" in lines[1])
        self.end(terminal)

    def test_any_size_of_the_terminal(self):
        terminal = self.watch(lines=50, columns=132)
        for lines, columns in ((10, 40), (3, 20), (1, 1), (60, 200), (24, 80)):
            terminal.resize(lines, columns)
            for _ in range(3):
                terminal.read(0.1)
        terminal.until(lambda lines: row_of(lines, "burn_seventy") and "q quit" in lines[-1])
        self.end(terminal)

    def test_left_alone_the_program_runs_on_and_its_output_is_named(self):
        terminal = self.start("--", "sh", "-c", "echo hello; exec sleep 60")
        lines = terminal.until(lambda lines: "its output: " in lines[1])
        pid = int(re.search(r"pid (\d+)", lines[0]).group(1))
        terminal.press("q")
        terminal.until(lambda lines: "l leave it running" in lines[-1])
        terminal.press("l")
        self.assertEqual(terminal.wait(), 0)
        os.kill(pid, signal.SIGKILL)
        said = re.sub(r"\s", "", terminal.raw.decode())
        path = re.search(r"itsoutputgoesto'([^']+)'", said).group(1)
        self.assertEqual(text_of(path), "hello\n")
        os.unlink(path)

    def test_the_end_of_what_it_wrote_is_shown(self):
        terminal = self.start("--", "sh", "-c", "read line; echo cannot go on $line >&2; exit 3")
        terminal.until(lambda lines: "exited with status 3" in lines[0])
        terminal.press("q")
        self.assertEqual(terminal.wait(), 0)
        text = "\n".join(terminal.screen.text())
        self.assertIn("what 'sh' wrote:\ncannot go on\n", text)
        self.assertFalse([name for name in os.listdir("/tmp") if f"{terminal.pid}" in name and "wick-top" in name])

    def test_attaches_to_a_running_process_which_runs_on(self):
        process = super().start(target("split"), 60)
        for key in ("q", "\x03"):  # the second time the agent is there already
            terminal = self.start("-p", process.pid)
            lines = terminal.until(lambda lines: row_of(lines, "burn_seventy"))
            self.assertIn(f"wick top: split (pid {process.pid})", lines[0])
            self.assertNotIn("its output", lines[1])
            terminal.press(key)
            self.assertEqual(terminal.wait(), 0)
            self.assertIsNone(process.poll())
        once = self.wick("top", "--once", "-d", "300ms", "-p", str(process.pid)).stdout.decode()
        self.assertRegex(once, rf"wick top: split \(pid {process.pid}\)  CPU ")
        terminal = self.start("-p", process.pid)
        terminal.until(lambda lines: row_of(lines, "burn_seventy"))
        process.kill()
        terminal.until(lambda lines: "has ended" in lines[0])
        terminal.press("q")
        self.assertEqual(terminal.wait(), 0)

    def test_it_ends_with_its_terminal(self):
        """Where SIGHUP is ignored only the terminal itself can say so."""
        for command, shows in (("true", "exited with status 0"), ("sleep 60", "l leave it running")):
            terminal = Terminal(["env", "--ignore-signal=HUP", WICK, "top", "--", "sh", "-c",
                                 f"echo $$ > pid; {command}"], environment(), cwd=self.dir)
            self.addCleanup(terminal.close)
            if command != "true":
                terminal.until(lambda lines: "its output: " in lines[1])
                terminal.press("q")
            terminal.until(lambda lines: shows in "\n".join(lines))
            terminal.hang_up()
            self.assertEqual(terminal.wait(), 0)
        os.kill(int(text_of(self.path("pid"))), signal.SIGTERM)  # it runs on

    def test_a_terminal_that_only_writes_on_is_refused(self):
        terminal = self.start("--", "true", TERM="dumb")
        self.assertEqual(terminal.wait(), 2)
        self.assertIn("cannot draw on this terminal", "\n".join(terminal.screen.text()))

    def test_ctrl_c_is_the_program_s(self):
        terminal = self.watch()
        terminal.press("\x03")
        self.assertEqual(terminal.wait(), 0)
        self.assertIn("'split' killed by SIGINT", "\n".join(terminal.screen.text()))


class Text(Case):
    def test_without_a_terminal_it_says_what_to_do(self):
        done = self.wick("top", "--", "true")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(done.stderr, b"wick top: standard output is not a terminal, "
                                      b"try: wick top --once, which prints text\n")

    def test_once_prints_text(self):
        out = self.path("out")
        # 500 samples: the greatest share has a deviation of 2 points by chance.
        done = self.wick("top", "--once", "-F", "249", "-d", "60s", "--cmd-output", out, "--", target("split"), "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.decode().splitlines()
        shares = {name: float(row_of(lines, name)[2][:-1]) for name in ("burn_seventy", "burn_twenty", "burn_ten")}
        truth = [float(word) for word in text_of(out).split()[:3]]
        for name, percent in zip(shares, truth):
            self.assertAlmostEqual(100 * shares[name] / sum(shares.values()), percent, delta=12)
        self.assertIn("exited with status 0", lines[0])

    def test_wall_counts_what_is_waited(self):
        done = self.wick("top", "--once", "-e", "wall", "--", "sleep", "1.5")
        slept = re.search(r"([\d.]+)s +[\d.]+s +\S*nanosleep\S* ", done.stdout.decode())
        self.assertGreater(float(slept.group(1)), 1.2, done.stdout)

    def test_bad_options(self):
        for options, message in ((("-e", "alloc"), "-e: 'alloc' is not one of: cpu, wall"),
                                 (("--sort", "x"), "--sort: 'x' is not one of: self, total, self-sum, total-sum"),
                                 (("--show", "x"), "--show: 'x' is not one of: functions, threads"),
                                 (("-p", "1", "--", "true"), "'true' starts a program, -p and --comm attach to running ones, try: one of them"),
                                 ((), "no command given, try: wick top -- ./program, or -p PID")):
            done = self.wick("top", *options)
            self.assertEqual((done.returncode, done.stderr.decode()), (2, f"wick top: {message}\n"))
        self.assertEqual(self.wick("top", "--once", "--", "/nowhere/x").returncode, 127)
        gone = self.wick("top", "--once", "-p", "4194304")
        self.assertEqual((gone.returncode, gone.stdout), (127, b""))
        self.assertRegex(gone.stderr.decode(), r"^wick top: [^\n]+\n$")


class TopPage(Case):
    """wick top --page: a recording that goes on, served."""

    def test_a_running_program_is_served_until_ctrl_c_and_nothing_is_left(self):
        own = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        top = self.start(WICK, "top", "--page", "-F", 499, "--", target("split"), 60, stderr=subprocess.DEVNULL,
                         env={**own, "TMPDIR": self.dir}, start_new_session=True)
        address = urllib.parse.urlsplit(top.stdout.readline().decode().strip())
        headers = {"Authorization": "Bearer " + urllib.parse.parse_qs(address.query)["token"][0]}

        def get(path):
            connection = http.client.HTTPConnection(address.netloc, timeout=20)
            with contextlib.closing(connection):
                connection.request("GET", path, headers=headers)
                answer = connection.getresponse()
                return answer.read() if answer.status == 200 else b""

        def pack():
            files = json.loads(get("/api/list") or b"{}").get("recordings", [])
            return gzip_or_plain(get("/api/pack?file=" + urllib.parse.quote(files[0]["file"]))) if files else b""

        wait_for(lambda: b"burn_seventy" in pack())
        os.killpg(top.pid, signal.SIGINT)
        self.assertEqual(top.wait(20), 0)
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith("wick-top")], [])

    def test_words_of_the_terminal_are_refused(self):
        done = self.wick("top", "--page", "--once", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--page is not, try", done.stderr)


def gzip_or_plain(content):
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


if __name__ == "__main__":
    unittest.main()
