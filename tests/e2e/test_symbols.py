"""Stacks of real programs end where programs begin, and their leaves have names."""
import functools
import os
import re
import subprocess
import unittest

from recorded import LONG, PYTHON, Case, need

ROOTS = {"_start", "clone", "clone3", "__clone", "__clone3"}


def rooted_at_the_start(sample):
    """The entry point of a stripped program has no name, but only it calls __libc_start_main."""
    frames = sample.frames
    return frames[-1].symbol in ROOTS or (
        len(frames) > 1 and frames[-2].symbol.startswith("__libc_start_main"))


@functools.lru_cache(None)
def has_symbols(module):
    """Whether a module has .symtab, in the file or in a debug file of its build-id."""
    headers = subprocess.run(["readelf", "-SnW", module], capture_output=True, text=True,
                             check=False).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", headers)
    debug = "/usr/lib/debug/.build-id/{}/{}.debug"
    return ".symtab" in headers or bool(build_id) and os.path.exists(
        debug.format(build_id.group(1)[:2], build_id.group(1)[2:]))


def forget_perf_map(pid):
    """node leaves its map behind: a later process of this pid and another user could not write."""
    try:
        os.unlink(f"/tmp/perf-{pid}.map")
    except OSError:
        pass


HZ = 199 if LONG else 499  # as many samples, in less CPU


class Symbols(Case):
    def check_program(self, name, command, rooted=99, unknown=2, comms=None):
        run = self.record(*command, hz=HZ, options=("--max-overhead", "off"))
        for pid in {sample.pid for sample in run.samples}:
            self.addCleanup(forget_perf_map, pid)
        keep = [s for s in run.samples if comms is None or s.comm in comms]
        self.assertGreater(len(keep), 100, run.summary)
        roots = sum(map(rooted_at_the_start, keep))
        named = [s for s in keep if has_symbols(s.frames[0].module)]
        leaves = sum(s.frames[0].symbol.startswith("[") for s in named)
        jit = sum(any("perf-" in f.module or f.module == "[anon]" for f in s.frames)
                  for s in keep)
        print(f"{name}: {100 * roots / len(keep):.2f} % of {len(keep)} stacks rooted, "
              f"{leaves} unknown leaves of {len(named)} where symbols exist, "
              f"{jit} with JIT frames")
        self.assertGreaterEqual(100 * roots / len(keep), rooted)
        self.assertLessEqual(leaves, unknown / 100 * len(named))
        return run

    def test_python(self):
        need(PYTHON)
        self.check_program("python3", [PYTHON, "-c", f"import re, json\nfor i in range({45 if LONG else 16}): "
                                       "d = json.dumps(list(range(60000))); json.loads(d); "
                                       "re.sub('[0-9]', 'x', d)"])

    def test_perl(self):
        self.check_program("perl", ["perl", "-e", "for (1..1500000) { $h{$_ % 977} .= sprintf("
                                    "'%d', $_) =~ s/1/2/r } print scalar(keys %h)"])

    def test_xz(self):
        need("xz")
        data = self.path("data")
        with open(data, "wb") as file:
            for i in range(20 if LONG else 8):
                file.write(os.urandom(1 << 18) + b"wick" * (1 << 17) + bytes([i]) * (1 << 18))
        self.check_program("xz", ["xz", "-T2", "-5", "--block-size=4MiB", "-k", data])

    def test_cc1(self):
        need("gcc")
        with open(self.path("big.c"), "w", encoding="ascii") as file:
            for i in range(1200 if LONG else 200):
                file.write(f"int f{i}(int a, int *b) {{ int s = {i}; for (int i = 0; i < a; i++) "
                           f"{{ s += b[i] * {i + 3}; if (s % {i + 2} == 1) s ^= b[a - i]; }} "
                           "return s; }\n")
        self.check_program("cc1", ["gcc", "-O2", "-c", self.path("big.c"), "-o", "/dev/null"],
                           comms={"cc1"})

    def test_git(self):
        need("git")
        commits = "1 2 3 4 5 6 7 8" if LONG else "1 2 3"
        script = ("git init -q repo; cd repo; git config user.email a@example.org; git config "
                  f"user.name a; for i in {commits}; do seq $i 9 1000000 | sort -R "
                  "--random-source=/bin/sh > f$i; git add .; git commit -qm $i; done; "
                  "git gc -q --aggressive; git log -p > log")
        self.check_program("git", ["sh", "-c", f"cd {self.dir}; HOME={self.dir}; {script}"],
                           comms={"git"})

    def test_redis(self):
        need("redis-server", "redis-benchmark")
        port = str(20000 + os.getpid() % 20000)
        script = (f"redis-server --port {port} --save '' --bind 127.0.0.1 >/dev/null & p=$!; "
                  f"sleep 0.5; redis-benchmark -p {port} -n {150000 if LONG else 12000} -P 16 -q >/dev/null; "
                  "kill $p; wait $p")
        self.check_program("redis-server", ["sh", "-c", script],
                           comms={"redis-server"})

    def test_node(self):
        need("node")
        self.check_program("node", ["node", "--perf-basic-prof", "-e",
                                    "let m = new Map(); for (let i = 0; i < 2e6; i++) { "
                                    "m.set('k' + i % 9999, JSON.stringify([i, i])) } "
                                    "console.log(m.size)"])

    def test_ffmpeg(self):
        need("ffmpeg")
        self.check_program("ffmpeg x264", ["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i",
                                           "testsrc2=size=640x360:rate=25", "-t", "4", "-c:v",
                                           "libx264", "-f", "null", "-"], rooted=90)


if __name__ == "__main__":
    unittest.main()
