"""wick completion: what shells offer, asked of the shells themselves."""
import os
import re
import subprocess
import unittest

from recorded import WICK, Case, need
from vt_screen import Terminal

# What is typed, and some of what is offered for the last word, and none of what is not.
CASES = (
    (("wick", "re"), {"record", "report"}, {"top"}),
    (("wick", "record", "--fr"), {"--freq"}, {"--rotate"}),
    (("wick", "record", "--compress", ""), {"gz", "zst", "none"}, {"--freq"}),
    (("wick", "top", "--sort", "t"), {"total", "total-sum"}, {"self"}),
    (("wick", "help", "sym"), {"symbols", "symbolize"}, {"record"}),
    (("wick", "symbols", ""), {"list", "add", "strip", "clear"}, set()),
    (("wick", "completion", ""), {"bash", "zsh", "fish"}, set()),
    (("wick", "record", "--", "setpri"), {"setpriv"}, {"--freq"}),
    (("wick", "record", "setpri"), {"setpriv"}, {"--freq"}),
    (("wick", "stack", "-p", ""), {str(os.getpid())}, set()),
)

BASH = """
compopt() { :; }
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _wick
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completion(Case):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "PATH": f"{os.path.dirname(os.path.abspath(WICK))}:{os.environ['PATH']}",
                            "HOME": self.dir, "XDG_CONFIG_HOME": self.dir, "XDG_DATA_HOME": self.dir,
                            "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}

    def script(self, shell, name):
        done = self.wick("completion", shell)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.write(name, done.stdout)
        return self.path(name)

    def run_shell(self, *words):
        done = subprocess.run(words, capture_output=True, check=False, env=self.environment, timeout=60,
                              stdin=subprocess.DEVNULL, cwd=self.dir)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode().splitlines()

    def check(self, offers):
        for typed, expected, others in CASES:
            offered = set(offers(typed))
            self.assertLessEqual(expected, offered, typed)
            self.assertFalse(others & offered, typed)

    def test_bash(self):
        script = self.script("bash", "wick")
        self.check(lambda typed: self.run_shell("bash", "-c", BASH, "bash", script, *typed))
        offered = self.run_shell("bash", "-c", BASH, "bash", script, "wick", "record", "--compress", "=", "g")
        self.assertEqual(offered, ["gz"])

    def test_fish(self):
        need("fish")
        script = self.script("fish", "wick.fish")
        self.check(lambda typed: [line.split("\t")[0] for line in self.run_shell(
            "fish", "--no-config", "-c", f"source {script}; complete -C '{' '.join(typed)}'")])

    def test_zsh(self):
        need("zsh")
        self.run_shell("zsh", "-n", self.script("zsh", "_wick"))
        terminal = Terminal(["zsh", "-f", "-i"], self.environment, lines=60, columns=120, cwd=self.dir)
        self.addCleanup(terminal.close)
        terminal.press("PS1='%# '; LISTMAX=1000; fpath=($PWD $fpath); autoload -U compinit; compinit -u -D\n"
                       "zstyle ':completion:*' verbose no; unsetopt auto_menu; clear; echo re''ady\n")
        terminal.until(lambda lines: "ready" in lines)
        for typed, expected, others in CASES[:6]:
            terminal.press("\x15clear; echo re''ady\n")
            terminal.until(lambda lines: "ready" in lines[:2])
            terminal.press(" ".join(typed) + "\t\t")
            offered = lambda lines: set(re.findall(r"[\w-]+", "\n".join(lines[1:])))
            lines = terminal.until(lambda lines: expected <= offered(lines))
            self.assertFalse(others & offered(lines), typed)
        terminal.press("\x15exit\n")
        terminal.wait()

    def test_every_option_of_every_command_is_in_every_script(self):
        texts = {shell: self.wick("completion", shell).stdout.decode() for shell in ("bash", "zsh", "fish")}
        commands = re.findall(r"(?m)^  ([a-z]+)  ", self.wick("help").stdout.decode().split("\n\n")[2])
        self.assertIn("record", commands)
        for command in commands:
            options = re.findall(r"(?m)^ +(?:-\w, )?--([a-z-]+)", self.wick("help", command).stdout.decode())
            parts = {"bash": re.search(rf"(?ms)^\t{command}\)\n(.*?)^\t\t;;", texts["bash"]).group(1),
                     "zsh": re.search(rf"(?ms)^\t{command}\)\n(.*?)^\t\t;;", texts["zsh"]).group(1),
                     "fish": "\n".join(line for line in texts["fish"].splitlines()
                                       if f"_from {command}'" in line)}
            for option in options:
                self.assertRegex(parts["bash"], rf"--{option}\b")
                self.assertRegex(parts["zsh"], rf"--{option}[=\[}}]")
                self.assertRegex(parts["fish"], rf"-l {option} ")

    def test_every_word_that_is_offered_is_taken(self):
        script, n = self.wick("completion", "bash").stdout.decode(), 0
        for command, part in re.findall(r"(?ms)^\t(\w+)\)\n(.*?)^\t\t;;", script):
            for option, words in re.findall(r'(--[a-z-]+)\) _wick_words "([^"]*)"', part):
                for word in words.split():
                    done = self.wick(command, f"{option}={word}")
                    self.assertNotIn(f"'{word}'", done.stderr.decode())
                    n += 1
        self.assertGreater(n, 30)

    def test_what_is_no_shell(self):
        for arguments, message in ((("tcsh",), "'tcsh' is not a supported shell: bash, zsh or fish"),
                                   ((), "give one shell, try: wick completion bash")):
            done = self.wick("completion", *arguments)
            self.assertEqual((done.returncode, done.stderr.decode()), (2, f"wick completion: {message}\n"))


if __name__ == "__main__":
    unittest.main()
