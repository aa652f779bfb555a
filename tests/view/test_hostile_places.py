#!/usr/bin/env python3
"""test_hostile_places.py - recordings that are pipes or devices, that change while they are read,
that blow up, and damaged indexes: an error or a picture, in time and memory"""
import gzip
import json
import os
import random
import re
import subprocess
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "e2e"))
import ended  # pylint: disable=wrong-import-position
from recorded import LONG, WICK, Case  # pylint: disable=wrong-import-position

SAMPLE = os.path.join(HERE, "samples", "gzip.perf")
MAX_SECONDS = 60
MAX_RSS_BYTES = 768 << 20


class Places(Case):
    def setUp(self):
        super().setUp()
        with open(SAMPLE, "rb") as file:
            self.sample = file.read()

    def wick(self, *words, statuses=(0,), data=b""):  # pylint: disable=arguments-differ
        """What wick prints; it ends by itself, in time, in memory, with one of STATUSES."""
        done = ended.run([WICK, *words], MAX_SECONDS, data, MAX_SECONDS,
                         env={**os.environ, "XDG_CACHE_HOME": self.path("cache"), "BROWSER": "true"})
        said, error = done.stdout.decode(), done.stderr.decode()
        self.assertLess(done.wall_s, MAX_SECONDS, "it waits")
        self.assertIn(done.status, statuses, error)
        if "WICK_SANITIZED" not in os.environ:
            self.assertLess(done.most_bytes, MAX_RSS_BYTES)
        self.assertNotIn("Sanitizer", error)
        self.assertNotIn("runtime error", error)
        return said, error

    def report(self, *words, **more):
        return self.wick("report", "--json", *words, **more)

    def samples(self, *words, **more):
        return json.loads(self.report(*words, **more)[0])["samples"]

    def test_a_pipe_is_read_once(self):
        whole = self.samples(SAMPLE)
        os.mkfifo(self.path("pipe"))

        def write(data):
            with open(self.path("pipe"), "wb") as pipe:
                try:
                    pipe.write(data)
                except BrokenPipeError:
                    pass

        for data in (self.sample, gzip.compress(self.sample)) * 3:
            writer = threading.Thread(target=write, args=(data,), daemon=True)
            writer.start()
            self.assertEqual(self.samples(self.path("pipe")), whole)
            writer.join()

    def test_a_pipe_in_a_directory_is_not_waited_for(self):
        self.write("a.perf", self.sample)
        os.mkfifo(self.path("b.perf"))
        os.symlink("/dev/zero", self.path("c.perf"))
        os.symlink("nowhere", self.path("d.perf"))
        os.mkdir(self.path("e.perf"))
        self.write("f.perf", b"")
        self.write("g.perf", b"\x1f\x8b" + bytes(100))
        whole = self.samples(SAMPLE)
        said, error = self.report(self.dir)
        self.assertEqual(json.loads(said)["samples"], whole)
        self.assertIn("2 of 3 files gave no sample", error)
        self.assertEqual(self.samples(self.dir, "--prefix", "a"), whole)
        self.report(self.dir, "--prefix", "b", statuses=(2, 8))
        self.report(self.dir, "--prefix", "../", statuses=(2, 8))

    def test_devices_are_no_recordings(self):
        for device in ("/dev/null", "/dev/zero", "/proc/self/mem", "/proc/self/maps", "/dev"):
            _, error = self.report(device, statuses=(2, 8))
            self.assertTrue(error.strip(), device)

    def test_a_line_without_an_end_is_not_read_for_ever(self):
        for words in (("info", "/dev/zero"), ("symbolize", "-o", self.path("x.perf"), "/dev/zero")):
            _, error = self.wick(*words, statuses=(8,))
            self.assertIn("a line of more than 1024 MiB", error)

    def test_what_cannot_be_written_is_said(self):
        for name in ("x.svg", "x.html", "x.pb.gz", "x.perf", "x.json"):
            os.symlink("/dev/full", self.path(name))
            verb = "view" if name == "x.html" else \
                "convert" if name in ("x.pb.gz", "x.perf") else "flamegraph"
            _, error = self.wick(verb, SAMPLE, "-o", self.path(name), statuses=(8,))
            self.assertIn("is a link: wick does not write to it", error)
            self.assertTrue(os.path.islink(self.path(name)))

    def test_files_that_grow_and_shrink_while_they_are_read(self):
        path = self.write("a.perf", self.sample)
        big = self.sample * (24_000_000 // len(self.sample))
        rng = random.Random(1)
        ended = threading.Event()

        def change():
            while not ended.is_set():
                with open(path, "r+b") as file:
                    file.truncate(rng.choice((0, 1, len(big) // 3, len(big) - 7)))
                    if rng.random() < 0.5:
                        file.seek(0, 2)
                        file.write(big[:rng.randrange(len(big))])
                with open(path, "wb") as file:
                    file.write(big)

        changer = threading.Thread(target=change)
        changer.start()
        try:
            for number in range(40 if LONG else 6):
                words = ((), ("--no-index",))[number % 2]
                self.report(path, *words, statuses=(0, 2, 8))
        finally:
            ended.set()
            changer.join()

    def test_few_bytes_that_become_many(self):
        million = 1_000_000
        sample = b"t 1/1 [0] 1.5: 1 c: \n\t1 f (x)\n\n"
        for filling in (b"\0", b"\n", sample, b"a", b"a;b 1\n", b";", b"# ")[:None if LONG else 3]:
            block = gzip.compress(filling * (million // len(filling)), 1)
            path = self.write("a.perf.gz", gzip.compress(self.sample, 1) + block * (
                1500 if LONG and filling == b"\0" else 60))
            _, error = self.report(path, statuses=(0, 2, 8))
            self.assertNotIn("killed", error)
        packed = subprocess.run(["zstd", "-qc1", "--ultra", "--long=31"], input=self.sample * 100,
                                stdout=subprocess.PIPE, check=True).stdout
        self.report(self.write("w.perf.zst", packed), statuses=(0, 2, 8))

    def test_an_index_that_somebody_damaged(self):
        path = self.write("a.perf", self.sample * (5_000_000 // len(self.sample)))
        os.utime(path, (1, 1))
        whole = self.samples(path)
        folder = os.path.join(self.path("cache"), "wick", "index")
        rng = random.Random(2)
        for number in range(300 if LONG else 25):
            (name,) = os.listdir(folder)
            index = os.path.join(folder, name)
            with open(index, "rb") as file:
                data = bytearray(file.read())
            kind = number % 4
            if kind == 0:
                data = data[:rng.randrange(len(data))]
            elif kind == 1:
                for _ in range(20):
                    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            elif kind == 2:
                data[rng.randrange(200)] = 255
            else:
                data = data + data
            os.unlink(index)
            with open(index, "wb") as file:
                file.write(data)
            self.assertEqual(self.samples(path), whole)

    def test_a_terminal_gets_colours_and_nothing_else(self):
        evil = self.sample.replace(b"gzip ", b"\x1b]0;w1ck\x07\xc2\x9b31m\xe2\x80\xaegzip ") \
            .replace(b"+0x", b"\x1b[2J\x9b5m\x7f+0x")
        path = self.write("m\x1b]0;w1ck\x07\n.perf", evil + b"a bad line\x1b[2J\n")
        for words in (["heatmap"], ["heatmap", "--by", "thread"], ["report"], ["flamegraph"],
                      ["diff", path], ["report", "--function", "."],
                      ["report", "--group", "comm,host"], ["report", "--only", "\x1b[2J("],
                      ["report", "--group", "\x1b[2J"], ["diff", "--fail-if", "\x1b[2J", path],
                      ["report", "--metric", "\x1b[2J"], ["report", "--time", "\x1b[2J"],
                      ["report", "--elide", "@\x1b[2J"], ["report", "--\x1b[2J"], ["info"]):
            with self.subTest(words=words):
                _, shown = ended.on_terminal([WICK, *words, path], streams=("stdout", "stderr"),
                                             env={**os.environ, "TERM": "xterm-256color"})
                rest = re.sub(rb"\x1b\[[0-9;]*m|\r\x1b\[K", b"", shown).decode()
                self.assertEqual([char for char in rest if (ord(char) < 32 and char not in "\r\n\t")
                                  or 0x7f <= ord(char) < 0xa0], [])


if __name__ == "__main__":
    unittest.main()
