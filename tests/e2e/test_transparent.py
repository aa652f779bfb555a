"""Under wick everything runs to the same end: same bytes, same status."""
import concurrent.futures
import ctypes
import os
import shutil
import signal
import subprocess
import time
import unittest

from procfs import cpu_ns, state
from recorded import LONG, PYTHON, WICK, Case, child_of, read, target, wait_for

PTRACE_SEIZE = 0x4206
WALL = 0x40000000  # of waitpid()

# (name, command, uses a quarter of a second of CPU or more).  What they print does not change from run
# to run.  {dir} is a directory of the test's own, {targets} the target programs.
COMMANDS = [
    ("true", ["true"], False),
    ("false", ["false"], False),
    ("exit status", ["sh", "-c", "exit 42"], False),
    ("not found inside", ["sh", "-c", "no-such-command-here; echo $?"], False),
    ("pipes", ["sh", "-c", "seq 1 200000 | sort -r | uniq -c | tail -3"], False),
    ("bash", ["bash", "-c", "for i in {1..100000}; do ((s+=i*i)); done; echo $s"], True),
    ("dash", ["dash", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo $i"], True),
    ("subshells", ["bash", "-c", "for i in {1..60}; do x=$(echo $i | tr 1 2); echo -n $x; done"],
     False),
    ("job control", ["bash", "-c", "sleep 0.1 & wait $!; echo $?; kill -l PROF"], False),
    ("trap", ["bash", "-c", "trap 'echo got' USR1; kill -USR1 $$; trap"], False),
    ("env", ["env"], False),
    ("ulimit", ["bash", "-c", "ulimit -a"], False),
    ("open descriptors", ["sh", "-c", "ls /proc/self/fd"], False),
    ("stderr", ["sh", "-c", "echo out; echo err >&2; exit 3"], False),
    ("awk", ["awk", "BEGIN { for (i = 0; i < 3600000; i++) s += i % 7; print s }"], True),
    ("perl", ["perl", "-e", "$s += $_ % 11 for 1..7000000; print \"$s\\n\""], True),
    ("perl fork", ["perl", "-e", "for (1..8) { if (!fork) { exit $_ } } "
                   "while (wait > 0) { $s += $? >> 8 } print \"$s\\n\""], False),
    ("python", [PYTHON, "-c", "print(sum(i * i for i in range(5000000)))"], True),
    ("python threads", [PYTHON, "-c", "import threading\nr = []\ndef f(): r.append(sum(range("
                        "4000000)))\nt = [threading.Thread(target=f) for _ in range(4)]\n"
                        "[x.start() for x in t]; [x.join() for x in t]; print(r)"], False),
    ("python multiprocessing",
     [PYTHON, "-c", "import multiprocessing as m\nif __name__ == '__main__':\n"
      " with m.Pool(3) as p: print(sum(p.map(pow, range(0), range(0))) + sum(p.map(abs, range(999"
      "))))"], False),
    ("python spawned workers", [PYTHON, "{dir}/spawned.py"], True),
    ("python subprocess", [PYTHON, "-c", "import subprocess as s; print(s.run(['sh', '-c', "
                           "'echo $0 $PATH; exit 5'], env={'PATH': '/bin'}))"], False),
    ("python traceback", [PYTHON, "-c", "raise ValueError('as expected')"], False),
    ("node", ["node", "-e", "let s = 0; for (let i = 0; i < 2e8; i++) s += i % 3; "
              "console.log(s)"], True),
    ("node workers", ["node", "-e",
                      "const {Worker, isMainThread, parentPort} = require('worker_threads');"
                      "let n = 0, s = 0; for (let i = 0; i < 3; i++) { const w = new Worker("
                      "'let s = 0; for (let i = 0; i < 4e7; i++) s += i % 5; "
                      "require(\"worker_threads\").parentPort.postMessage(s)', {eval: true}); "
                      "w.on('message', (m) => { s += m; if (++n == 3) console.log(s) }) }"], True),
    ("java", ["java", "-Xmx256m", "{dir}/Sum.java"], True),
    ("gcc", ["gcc", "-O2", "-Wall", "-c", "{dir}/big.c", "-o", "{dir}/big.o"], True),
    ("gcc error", ["gcc", "-c", "{dir}/wrong.c", "-o", "{dir}/wrong.o"], False),
    ("git", ["sh", "-c", "cd {dir}/repo && git log --stat && git gc -q --aggressive && git fsck"],
     False),
    ("man", ["sh", "-c", "man -P cat man 2>&1 | md5sum"], False),
    ("tbl under seccomp", ["sh", "-c", "zcat -f /usr/share/man/man1/tbl.1.gz | man -P cat -l - "
                           "| md5sum"], False),
    ("xz", ["sh", "-c", "for i in 1 2; do xz -T2 -6 -c {dir}/data; done | md5sum"], True),
    ("gzip", ["sh", "-c", "gzip -9 -c {dir}/data | md5sum"], False),
    ("tar", ["sh", "-c", "cd {dir} && tar cf - data --sort=name --mtime=@0 | md5sum"], False),
    ("timeout", ["timeout", "0.3", "sh", "-c", "while :; do :; done"], False),
    ("timeout by INT", ["timeout", "-s", "INT", "0.3", "sleep", "5"], False),
    ("crash", ["{targets}/ends", "segv", "0.1"], False),
    ("abort", ["{targets}/ends", "abort", "0.1"], False),
    ("killed", ["{targets}/ends", "kill", "0.1"], False),
    ("crash below a shell", ["sh", "-c", "{targets}/ends segv 0.1; echo $?"], False),
    ("address sanitizer", ["{targets}/busy_asan", "0.3"], True),
    ("exceptions", ["{targets}/exceptions", "5000"], True),
    ("many forks", ["{targets}/storm", "fork", "300"], False),
    ("a program with SIGPROF", ["{targets}/own_sigprof", "0.3"], True),
    ("setsid", ["setsid", "-w", "sh", "-c", "echo alone; exit 9"], False),
    ("nice", ["nice", "-n", "5", "sh", "-c", "nice"], False),
    ("closed descriptors", ["bash", "-c", "exec 3>&1 4>&2; exec 3>&- 4>&-; ls -l /proc/self/fd "
                            "| wc -l"], False),
]

SPAWNED = """import multiprocessing as m
def work(n): return sum(i * i for i in range(n))
if __name__ == '__main__':
    m.set_start_method('spawn')
    with m.Pool(2) as p: print(p.map(work, [500000] * 6))
"""
JAVA = """public class Sum { public static void main(String[] a) { long s = 0;
for (long i = 0; i < 100000000L; i++) s += i % 7; System.out.println(s); } }
"""


class Transparent(Case):
    def setUp(self):
        super().setUp()
        self.write("spawned.py", SPAWNED)
        self.write("Sum.java", JAVA)
        self.write("wrong.c", "int main(void) { return undeclared; }\n")
        self.write("big.c", "".join(
            f"int f{i}(int a, int *b) {{ int s = {i}; for (int i = 0; i < a; i++) {{ s += b[i] * "
            f"{i + 3}; if (s % {i + 2} == 1) s ^= b[a - i]; }} return s; }}\n"
            for i in range(50)))
        with open(self.path("data"), "wb") as file:
            for i in range(600):
                file.write(bytes((i * j * j) % 251 for j in range(4096)) * 2)

    def git_repository(self):
        shutil.rmtree(self.path("repo"), ignore_errors=True)
        environment = {**os.environ, "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
                       "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z", "HOME": self.dir}
        script = ("git init -q repo; cd repo; git config user.email a@example.org; "
                  "git config user.name a; for i in 1 2 3 4 5 6; do seq $i 20000 > f$i; "
                  "git add .; git commit -qm $i; done")
        subprocess.run(["sh", "-c", script], cwd=self.dir, env=environment, check=True)

    def run_one(self, command, *prefix):
        if "/repo" in " ".join(command):
            self.git_repository()
        environment = {**os.environ, "HOME": self.dir, "LC_ALL": "C.UTF-8"}
        return subprocess.run([*prefix, *command], cwd=self.dir, env=environment, timeout=120,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)

    def run_both(self, number):
        """A command without wick and under it, and its samples; None: it is not installed."""
        command = [word.replace("{dir}", self.dir).replace("{targets}", target(""))
                   .replace("//", "/") for word in COMMANDS[number][1]]
        if not shutil.which(command[0]):
            return None
        path = self.path(f"out{number}.perf")
        bare = self.run_one(command)
        under = self.run_one(command, WICK, "record", "-q", "-o", path, "--")
        return bare, under, read(path)

    def test_thirty_commands_behave_as_without_wick(self):
        ran, sampled = 0, 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(self.run_both, range(len(COMMANDS))))
        for (name, _, busy), result in zip(COMMANDS, results):
            if not result:
                print(f"skipped: {name} is not installed")
                continue
            bare, under, samples = result
            with self.subTest(command=name):
                ran += 1
                expected = bare.returncode
                if expected < 0:
                    expected = 128 - expected
                self.assertEqual(under.returncode, expected, under.stderr)
                self.assertEqual(under.stdout, bare.stdout)
                self.assertEqual(under.stderr, bare.stderr)
                if busy:
                    self.assertGreater(len(samples), 10)
                    sampled += 1
        print(f"{ran} commands byte-identical, {sampled} of them long and sampled")
        self.assertGreaterEqual(ran, 30)
        self.assertGreaterEqual(sampled, 10)

    def test_signals_that_are_ignored_stay_so(self):
        """Where SIGCHLD is, no process is told of the end of a child: wick sees CMD's all the same."""
        command = ["sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status; exit 5"]
        for number, ignored in enumerate(("CHLD", "CHLD,PIPE", "HUP,INT,QUIT,TERM,XFSZ")):
            with self.subTest(ignored):
                env = ("env", f"--ignore-signal={ignored}")
                bare = self.run_one(command, *env)
                under = self.run_one(command, *env, WICK, "record", "-q", "-o", self.path(f"ignored{number}.perf"), "--")
                self.assertEqual((under.returncode, under.stdout, under.stderr), (5, bare.stdout, b""))

    def test_an_end_that_a_tracer_keeps_to_itself(self):
        """The tracer of CMD is told of its end, and its parent only after that: wick sleeps until then."""
        recorder = self.start(WICK, "record", "-q", "-o", self.path("traced.perf"), "--", "sleep", "60")
        pid = child_of(recorder.pid)
        self.assertEqual(ctypes.CDLL(None).ptrace(PTRACE_SEIZE, pid, None, None), 0)
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: state(pid) == "Z")
        time.sleep(0.2)  # what is to be named is
        before = cpu_ns(recorder.pid)
        time.sleep(1)
        self.assertLess(cpu_ns(recorder.pid) - before, 150e6)
        self.assertEqual(os.waitpid(pid, WALL), (pid, signal.SIGKILL))
        self.assertEqual(recorder.wait(20), 128 + signal.SIGKILL)


ROUNDS = 1000 if LONG else 400


class Storms(Case):
    """Programs that are hard on an agent end as they do without it, at 999 Hz; --long: at 99 too."""

    def check_same(self, *command, samples=0, shell=None):
        words = ["sh", "-c", shell] if shell else [str(word) for word in command]
        bare = subprocess.run(words, cwd=self.dir, capture_output=True, check=False)
        for hz in (99, 999) if LONG else (999,):
            with self.subTest(command=words, hz=hz):
                run = self.record(*words, hz=hz, options=("-q",))
                self.assertEqual((run.status, run.stdout, run.stderr),
                                 (bare.returncode, bare.stdout, bare.stderr))
                self.assertGreaterEqual(len(run.samples), samples)

    def test_fork_storm(self):
        self.check_same(target("storm"), "fork", ROUNDS, samples=10)

    def test_vfork_storm(self):
        self.check_same(target("storm"), "vfork", ROUNDS)

    def test_spawn_storm(self):
        self.check_same(target("storm"), "spawn", ROUNDS)

    def test_exec_storm(self):
        self.check_same(target("storm"), "exec", ROUNDS)

    def test_threads_are_cancelled_while_a_command_runs(self):
        self.check_same(target("storm"), "cancel", 5)

    def test_2000_threads(self):
        self.check_same(target("storm"), "threads", 2000, samples=50)

    def test_malloc_storm(self):
        self.check_same(target("storm"), "malloc", 3000000, samples=50)

    def test_exceptions(self):
        self.check_same(target("exceptions"), 150000 if LONG else 15000, samples=50)

    def test_libraries_that_come_and_go(self):
        script = (f"{target('plugins')} 1.5 {target('libplugin_a.so')} {target('libplugin_b.so')}"
                  " 1 | cut -c1-1")
        self.check_same(shell=script, samples=50)

    def test_address_sanitizer(self):
        self.check_same(target("busy_asan"), 0.3, samples=30)

    def test_limits(self):
        for limit in ("-v 400000", "-f 8", "-n 64", "-f 0", "-n 10", "-v 60000"):
            self.check_same(shell=f"ulimit {limit}; exec {target('busy')} 0.2")

    def test_seccomp(self):
        if not shutil.which("man") or not os.path.exists("/usr/share/man/man1/tbl.1.gz"):
            self.skipTest("needs man-db and the manual page of tbl")
        self.check_same(shell="man -P cat tbl | md5sum")

    @unittest.skipUnless(LONG, "./check --long")
    def test_300_rounds_of_exec_at_a_high_rate(self):
        for _ in range(300):
            run = self.record("sh", "-c", "exec sh -c 'exec true'", hz=9999, options=("-q",))
            self.assertEqual(run.status, 0)


if __name__ == "__main__":
    unittest.main()
