"""Each wrong input gives one clear line and the right exit status."""
import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import string
import subprocess
import time
import unittest

from procfs import state, tasks
from recorded import PYTHON, WICK, Case, need, read, target, text_of, wait_for


TABLE = pathlib.Path(__file__).with_name("wrong_inputs.txt")
ROWS_A_VERB = 20


def wrong_inputs():
    """(verb, status, what is typed, what names the mistake, what says what to do) of the table."""
    verbs = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            verbs = line[1:-1].split() or [""]
        elif line and not line.startswith("#"):
            status, typed, mistake, advice = [word.strip() for word in line.split(" |", 3)]
            for verb in verbs:
                yield verb, int(status), typed, mistake, advice


class WrongInputs(Case):
    """The table: one line each, what was wrong and what to do, the right status, and nothing else done."""

    def make_subjects(self):
        """Files and processes, by the $words of the table."""
        run = self.wick("record", "-q", "-o", "good.perf", "--", target("busy"), "0.3")
        self.assertEqual(run.returncode, 0, run.stderr)
        for name, content in (("empty", b""), ("binary", bytes(range(256)) * 9), ("text", b"hello\nworld\n"),
                              ("perfdata", b"PERFILE2" + bytes(500)), ("taken.perf", b"precious\n"), ("drawn.svg", b"<svg/>\n"),
                              ("core", b"\x7fELF" + bytes(100)), ("secret.perf", b"x\n"), ("tool", b"#!/bin/sh\n")):
            pathlib.Path(self.path(name)).write_bytes(content)
        os.chmod(self.path("tool"), 0o755)
        os.chmod(self.path("secret.perf"), 0)
        os.mkdir(self.path("folder"))
        os.mkdir(self.path("secretdir"), 0)
        ended = self.start("true")
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        threads = self.start(PYTHON, "-c", "import threading, time; threading.Thread(target=time.sleep, args=[100]).start()")
        thread = wait_for(lambda: [tid for tid in tasks(threads.pid) if tid != threads.pid])[0]
        # One recording that answers: of others, which may be of another wick, nothing is said then.
        self.start(WICK, "record", "-q", "-o", os.path.join(self.cache, "x.perf"), "--", "sleep", "100",
                   env={**os.environ, "XDG_RUNTIME_DIR": self.dir})
        wait_for(lambda: os.path.isdir(self.path("wick")) and os.listdir(self.path("wick")))
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        files = {name: name for name in ("folder", "secretdir", "empty", "binary", "text", "perfdata", "core", "tool")}
        return {**files, "good": "good.perf", "missing": "missing.perf", "nodir": "nosuchdir", "taken": "taken.perf",
                "secret": "secret.perf", "svg": "drawn.svg", "dead": "4194304", "thread": thread, "threads": threads.pid,
                "zombie": ended.pid, "pid": self.start("sleep", "100").pid, "other": 1, "self": "$$",
                "busy": taken.getsockname()[1]}

    def type(self, verb, words):
        """Through a shell, which gives wick its own number where $$ stands."""
        line = f"exec {shlex.join([WICK, verb] if verb else [WICK])} {words}"
        return subprocess.run(["sh", "-c", line], capture_output=True, check=False, cwd=self.dir, stdin=subprocess.DEVNULL,
                              timeout=60, env={**os.environ, "HOME": self.dir, "XDG_RUNTIME_DIR": self.dir, "COLUMNS": "80"})

    def everything(self):
        """What there is, and as of when."""
        return {entry.name: (entry.stat().st_size, entry.stat().st_mtime_ns) for entry in os.scandir(self.dir)
                if entry.name not in ("wick", ".cache")}

    def test_each_verb_has_enough_of_them(self):
        verbs = re.findall(r"^  ([a-z]+)  ", self.wick("help").stdout.decode().split("\n\nOptions:")[0], re.M)
        self.assertIn("record", verbs)
        rows = collections.Counter(row[0] for row in wrong_inputs())
        self.assertEqual({verb: rows[verb] for verb in ["", *verbs] if rows[verb] < ROWS_A_VERB}, {})

    def test_one_line_says_what_and_what_to_do(self):
        subjects = self.make_subjects()
        before = self.everything()
        for verb, status, typed, *words in wrong_inputs():
            if os.geteuid() == 0 and status == 4:
                continue  # root may read, and attach to, everything
            typed, *words = (string.Template(text).substitute(subjects) for text in (typed, *words))
            with self.subTest(line=f"wick {verb} {typed}"):
                run = self.type(verb, typed)
                text = run.stderr.decode()
                self.assertEqual(run.returncode, status, text)
                self.assertRegex(text, rf"\Awick{' ' * bool(verb)}{verb}: [^\n]+\n\Z")
                for word in words:
                    self.assertIn(word, text)
                self.assertEqual(run.stdout, b"")
                now, before = before, self.everything()
                self.assertEqual(before, now)


class BadInput(Case):
    def check_refused(self, status, *arguments, words=()):
        run = self.wick(*arguments)
        text = run.stderr.decode()
        self.assertEqual(run.returncode, status, text)
        self.assertEqual(len(text.strip().splitlines()), 1, text)
        self.assertTrue(text.startswith("wick"), text)
        for word in words:
            self.assertIn(word, text)
        self.assertEqual([name for name in os.listdir(self.dir) if name.endswith(".perf")], [])

    def test_a_missing_command_and_a_path_that_may_not_be_searched(self):
        closed = self.path("closed")
        os.mkdir(closed, 0)
        run = self.wick("record", "--", "no-such-command", env={**os.environ, "PATH": f"{closed}:/bin"})
        self.assertEqual(run.returncode, 127, run.stderr)
        with open(self.path("text"), "w", encoding="ascii"):
            os.chmod(self.path("text"), 0o644)
        run = self.wick("record", "--", "text", env={**os.environ, "PATH": f"{self.dir}:/bin"})
        self.assertEqual(run.returncode, 126, run.stderr)
        self.assertIn(b"chmod +x " + self.path("text").encode(), run.stderr)

    def test_a_script_with_a_bad_interpreter(self):
        path = self.write("script", "#!/no/such/interpreter\n", 0o755)
        self.check_refused(126, "record", "--", path, words=("/no/such/interpreter",))

    def test_options_that_contradict_each_other(self):
        for options in (("-p", "1", "-a", "--top", "2"), ("-e", "page-faults", "--engine", "ptrace", "-p", "1"),
                        ("-e", "alloc", "--live", "--top", "2", "--", "true")):
            with self.subTest(options=options):
                self.check_refused(2, "record", *options)
                self.assertNotIn(b"Invalid argument", self.wick("record", *options).stderr)

    def test_words_of_other_profilers_are_taken_or_answered(self):
        os.mkdir(self.path("bin"))
        sleeper = self.path("bin/wick-sleeper")
        shutil.copy("/bin/sleep", sleeper)
        process = self.start(sleeper, 60)
        wait_for(lambda: state(process.pid) == "S")
        for status, arguments, words in (
                (127, ("record", process.pid), f"try: -p {process.pid}"),
                (127, ("record", "wick-sleeper"), "try: --comm wick-sleeper"),
                (127, ("top", "--once", process.pid), f"try: -p {process.pid}"),
                (2, ("script",), "try: wick info"), (2, ("stat",), "try: wick info"),
                (2, ("record", "-t", "x", "-d", "1s"), "-t: 'x' is not a running thread"),
                (2, ("record", "-t", f"{process.pid},", "-d", "1s"), "is not a running thread"),
                (2, ("record", "-F", "most", "--", "true"), "-F: 'most' is not a rate"),
                (2, ("record", "-r", "0", "--", "true"), "-F: a rate of 0 is out of range")):
            with self.subTest(arguments=arguments):
                self.check_refused(status, *arguments, words=(words,))
        dumped = self.wick("dump", "-p", process.pid)
        self.assertEqual(dumped.returncode, 0, dumped.stderr)
        self.assertIn(b"wick-sleeper", dumped.stdout)
        for i, (options, hz) in enumerate(((("-g", "-r", "49"), 49), (("--call-graph", "dwarf", "--rate=51"), 51),
                                           (("-F", "max"), 10000))):
            path = self.path(f"{i}.perf")
            run = self.wick("record", "-q", *options, "-o", path, "--", target("busy"), "0.3")
            self.assertEqual(run.returncode, 0, run.stderr)
            info = json.loads(self.wick("info", "--json", "-i", path).stdout)
            self.assertEqual(info["hz"], hz)

    def test_without_a_file_the_newest_here_is_meant(self):
        env = {**os.environ, "HOME": self.dir}
        folder = self.path("here")
        os.mkdir(folder)
        for verb in ("report", "info", "flamegraph", "view", "symbolize", "convert"):
            run = self.wick(verb, cwd=folder, env=env)
            self.assertEqual(run.returncode, 2, (verb, run.stderr))
            self.assertIn(b"no file given", run.stderr)
        for i, name in enumerate(("b.perf", "a.perf", "c.perf")):
            path = os.path.join(folder, name)
            os.rename(self.recorded(), path)
            os.utime(path, (1000 + (i == 1) * 100,) * 2)
        for arguments in (("report",), ("info",), ("flamegraph",), ("heatmap",), ("view", "--no-open"),
                          ("convert", "-o", "x.folded"), ("symbolize",)):
            run = self.wick(*arguments, cwd=folder, env=env)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn(b"'a.perf' is the newest recording here", run.stderr)
            for name in ("x.folded", "a.named.perf", "a.perf.html"):
                if os.path.exists(os.path.join(folder, name)):
                    os.unlink(os.path.join(folder, name))
        with subprocess.Popen(["cat", os.path.join(folder, "b.perf")], stdout=subprocess.PIPE) as piped:
            run = self.wick("report", cwd=folder, env=env, stdin=piped.stdout)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn(b"- for standard input", run.stderr)

    def test_one_thread_of_several(self):
        program = self.start(target("crowd"), "4", "3", "1.0")
        wait_for(lambda: len(tasks(program.pid)) > 4)
        tids = [tid for tid in tasks(program.pid) if tid != program.pid]
        path = self.path("one.perf")
        run = self.wick("record", "-F", "499", "-t", tids[1], "-d", "1s", "-o", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual({sample.tid for sample in read(path)}, {tids[1]})
        self.assertRegex(run.stderr.decode(), "kept .* of their time, by --tid")

    def test_nothing_to_see_is_said(self):
        run = self.wick("record", "-e", "lock", "-o", self.path("l.perf"), "--", target("busy"), "0.1")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, b"locks +no thread waited 10 us or more for one, try: -e lock=1us")

    @unittest.skipUnless(os.geteuid() == 0, "a namespace of processes needs root")
    def test_a_machine_with_nothing_to_do_is_said(self):
        need("unshare")
        done = subprocess.run(["unshare", "--pid", "--mount", "--fork", "--mount-proc", WICK, "record", "-a", "-d", "2s",
                               "-o", self.path("quiet.perf")], capture_output=True, check=False, cwd=self.dir)
        self.assertRegex(done.stderr.decode(), "no process was busy enough to attach to, try: a longer -d")

    def every_output(self, recording):
        """Verb -> (arguments, the file that they write)"""
        of = {"convert": "x.folded", "view": "x.html", "flamegraph": "x.svg", "heatmap": "x.csv",
              "report": "x.md", "symbolize": "x.named"}
        verbs = {verb: ([verb, *(["--no-open"] if verb == "view" else []), "-o", self.path(name),
                         recording], self.path(name)) for verb, name in of.items()}
        verbs["diff"] = (["diff", recording, recording, "-o", self.path("x.json")], self.path("x.json"))
        for name in ("x.text", "x.0001.text", "x.picture.svg"):
            rotated = ["--rotate", "10s"] if "0001" in name else []
            verbs[name] = (["record", "-q", *rotated, "-o", self.path(name.replace(".0001", "")), "--",
                            target("busy"), "0.2"], self.path(name))
        return verbs

    def recorded(self):
        path = self.path("seed.perf")
        run = self.wick("record", "-q", "-o", path, "--", target("busy"), "0.3")
        self.assertEqual(run.returncode, 0, run.stderr)
        return path

    def test_no_command_writes_over_a_file(self):
        for verb, (arguments, path) in self.every_output(self.recorded()).items():
            with self.subTest(verb=verb):
                self.write(path, "precious\n", 0o644)
                run = self.wick(*arguments)
                text = run.stderr.decode()
                self.assertEqual(run.returncode, 8, text)
                self.assertEqual(len(text.splitlines()), 1, text)
                self.assertRegex(text, f"{path}.*File exists.*--force")
                self.assertEqual(text_of(path), "precious\n")
                run = self.wick(arguments[0], "--force", *arguments[1:])
                self.assertEqual(run.returncode, 0, run.stderr)
                with open(path, "rb") as file:
                    self.assertNotIn(b"precious", file.read())
                self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
                for name in ("x.picture.perf", "x.picture.svg"):
                    if verb == name and os.path.exists(self.path(name)):
                        os.unlink(self.path(name))

    def test_nothing_is_written_to_a_pipe_a_link_or_a_device(self):
        """A pipe would have wick wait for a reader; a link leads where another user likes."""
        outputs = self.every_output(self.recorded())
        os.mkfifo(self.path("x.top"))
        os.symlink(self.path("other"), self.path("link.top"))
        for name in ("x.top", "link.top"):
            run = self.wick("top", "--once", "--cmd-output", self.path(name), "--", "true")
            self.assertEqual(run.returncode, 8, run.stderr)
        self.write("other", "precious\n")
        for verb, (arguments, path) in outputs.items():
            for make in (os.mkfifo, *(lambda path, to=to: os.symlink(to, path)
                                      for to in (self.path("other"), "nowhere", "/dev/null"))):
                make(path)
                for force in ([], ["--force"]):
                    with self.subTest(verb=verb, force=force):
                        run = self.wick(arguments[0], *force, *arguments[1:])
                        self.assertEqual(run.returncode, 8, run.stderr)
                        self.assertIn(b"wick does not write to it", run.stderr)
                os.unlink(path)
        self.assertEqual(text_of(self.path("other")), "precious\n")
        self.assertFalse(os.path.lexists(self.path("nowhere")))

    def test_what_is_made_of_a_recording_is_as_private_as_it(self):
        recording = self.recorded()
        for umask in (0o022, 0o077):
            for mode in (0o600, 0o640, 0o644, 0o400):
                os.chmod(recording, mode)
                for verb, (arguments, path) in self.every_output(recording).items():
                    if arguments[0] == "record" and mode != 0o600:
                        continue
                    with self.subTest(verb=verb, umask=oct(umask), mode=oct(mode)):
                        run = self.wick(arguments[0], "-f", *arguments[1:], umask=umask)
                        self.assertEqual(run.returncode, 0, run.stderr)
                        self.assertEqual(oct(os.stat(path).st_mode & 0o777),
                                         oct(mode & ~umask | 0o600))
        os.chmod(recording, 0o644)
        with open(recording, "rb") as file:
            run = self.wick("report", "-", "-o", self.path("piped.md"), stdin=file)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(os.stat(self.path("piped.md")).st_mode & 0o777, 0o600)

    def test_what_wick_keeps_for_itself_is_private(self):
        """The index, the names, compressed segments and the file of what is allocated, at umask 0."""
        cache = self.path("cache")
        env = {**os.environ, "XDG_CACHE_HOME": cache}
        run = self.wick("record", "-q", "-e", "alloc", "--live", "--rotate", "10s", "--compress", "gz",
                        "-o", self.path("kept.perf"), "--", PYTHON, "-c", "x = [bytes(9999) for _ in range(9999)]",
                        env=env, umask=0)
        self.assertEqual(run.returncode, 0, run.stderr)
        names = sorted(os.listdir(self.dir))
        big = self.path("big.perf")
        with open(big, "w", encoding="ascii") as file:
            os.fchmod(file.fileno(), 0o600)
            for i in range(200000):
                file.write(f"app 7/7 [000] {i // 100}.{i % 100:02d}0001: 1 cpu-clock: \n\t1000 f+0x1 (/bin/app)\n\n")
        self.assertEqual(self.wick("report", big, env=env, umask=0).returncode, 0)
        found = [os.path.join(folder, name) for folder, _, files in os.walk(cache) for name in files]
        found += [self.path(name) for name in names if name != "cache"]
        self.assertTrue([name for name in found if name.endswith(".gz")], found)
        self.assertTrue([name for name in found if "live" in name], found)
        self.assertTrue([name for name in found if name.startswith(cache)], found)
        for name in found:
            self.assertEqual(os.stat(name).st_mode & 0o077, 0, name)

    def test_a_picture_that_is_asked_for_is_drawn_at_the_end(self):
        for name, holds in (("one.%p.svg", "<svg"), ("two.html", "<html")):
            run = self.wick("record", "-o", self.path(name), "--", target("busy"), "0.3")
            self.assertEqual(run.returncode, 0, run.stderr)
            beside = [self.path(path) for path in os.listdir(self.dir) if path.startswith(name[:4])]
            self.assertEqual(len(beside), 2, beside)
            picture = next(path for path in beside if path.endswith(name[-4:]))
            self.assertIn(os.path.basename(picture), run.stderr.decode())
            self.assertIn(holds, text_of(picture))
            self.assertTrue(read(next(path for path in beside if path.endswith(".perf"))))
        self.check_refused_beside("--rotate", "10s")

    def check_refused_beside(self, *options):
        run = self.wick("record", *options, "-o", self.path("three.svg"), "--", target("busy"), "0.1")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn(b"wick flamegraph", run.stderr)

    def test_a_file_that_cannot_be_made_detaches_processes(self):
        """Its name is known once wick is attached: nothing waits for the end of it."""
        program = self.start(target("busy"), 30)
        began = time.monotonic()
        for _ in range(2):  # the first has let it go
            self.check_refused(8, "record", "-p", str(program.pid), "-d", "25s", "-o",
                               self.path("none-%p/x.perf"), words=("without being recorded",))
        self.assertLess(time.monotonic() - began, 20)
        self.assertIsNone(program.poll())

    def test_the_doctor_sees_a_bad_interpreter(self):
        path = self.write("script", "#!/no/such/interpreter\n", 0o755)
        run = self.wick("doctor", "--", path)
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn(b"FIX   program     '/no/such/interpreter'", run.stdout)

    def test_the_doctor_says_how_a_process_would_be_recorded(self):
        program, static = self.start(target("busy"), 30), self.start(target("split_static"), 30)
        for pid, words in ((program.pid, f"wick record -p {program.pid} can attach to it; the sampling signal is SIG"),
                           (static.pid, "engine ptrace samples it")):
            run = self.wick("doctor", str(pid))
            self.assertIn(words, run.stdout.decode())
        program.kill()
        os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
        run = self.wick("doctor", str(program.pid))
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stdout.decode(), rf"FIX +process +process {program.pid} .*zombie")

    def test_the_doctor_says_what_a_filter_could_do(self):
        load = "import ctypes, time; ctypes.CDLL('libseccomp.so.2')"
        if subprocess.run([PYTHON, "-c", load], capture_output=True, check=False).returncode:
            self.skipTest("libseccomp is not installed")
        for words, can_filter in ((load, True), ("import time", False)):
            program = self.start(PYTHON, "-c", words + "; print(flush=True); time.sleep(30)")
            program.stdout.readline()
            said = self.wick("doctor", str(program.pid)).stdout.decode()
            self.assertEqual("it uses libseccomp" in said, can_filter, said)

    def test_the_doctor_takes_one_process(self):
        self.check_refused(2, "doctor", str(os.getpid()), "1", words=("one process",))

    def test_closed_descriptors(self):
        for close in ("2>&-", "1>&-", "0<&-", "0<&- 1>&- 2>&-"):
            path = self.path("closed.perf")
            script = f"'{WICK}' record -o {path} -- {target('ends')} exit 0.3 {close}"
            run = subprocess.run(["sh", "-c", script], cwd=self.dir, capture_output=True,
                                 check=False)
            self.assertEqual(run.returncode, 7, run.stderr)
            self.assertGreater(len(read(path)), 5)
            os.unlink(path)

    def test_a_full_stderr_hurts_nobody(self):
        path = self.path("full.perf")
        script = f"'{WICK}' record -v -o {path} -- {target('ends')} exit 0.3 2>/dev/full"
        run = subprocess.run(["sh", "-c", script], cwd=self.dir, capture_output=True, check=False)
        self.assertEqual(run.returncode, 7)
        read(path)

    def test_files_that_are_no_recordings(self):
        for content in (b"", b"\x00" * 100, b"hello\n", b"# ========\n", os.urandom(5000)):
            path = self.write("strange", content)
            run = self.wick("info", path)
            self.assertNotEqual(run.returncode, 0)
            self.assertEqual(len(run.stderr.decode().strip().splitlines()), 1, run.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount a small disk")
    def test_a_full_disk(self):
        disk = self.path("disk")
        os.mkdir(disk)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=1777", "none", disk],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("may not mount")
        try:
            path = os.path.join(disk, "x.perf")
            # What CMD said of itself goes first.
            for status, command in ((7, (target("ends"), "exit", "2")), (8, (target("busy"), "2"))):
                run = self.wick("record", "-F", "249", "--flush", "100ms", "-o", path, "--", *command)
                text = run.stderr.decode()
                self.assertEqual(run.returncode, status, text)
                self.assertIn("No space left", text)
                self.assertEqual(text.count("No space left"), 1, "one clear message")
                self.assertIn("dropped", text)
                self.assertGreater(len(read(path)), 50)
                os.unlink(path)
        finally:
            subprocess.run(["umount", disk], check=True)


if __name__ == "__main__":
    unittest.main()
