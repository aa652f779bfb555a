"""Inlined calls, lines, and names that come later: here, and where the program is not."""
import os
import re
import shutil
import subprocess
import unittest

from recorded import Case, need, read, target, text_of

SOURCE = """
#include <stdlib.h>
static inline __attribute__((always_inline)) unsigned inner(unsigned x)
{
	for (int i = 0; i < 300; i++)
		x = (x * 1664525u + 1013904223u) ^ (x >> 7);
	return x;
}
static inline __attribute__((always_inline)) unsigned middle(unsigned x) { return inner(x) + 1; }
__attribute__((noinline)) unsigned outer(unsigned x) { return middle(x) ^ 3; }
int main(int argc, char **argv)
{
	unsigned x = 1;
	int n = atoi(argv[argc - 1]);
	for (int i = 0; i < n; i++)
		x = outer(x);
	return x == 1;
}
"""
CHAIN = ["inner", "middle", "outer"]
ROUNDS = 1500000


def lines_of(path):
    """The "# l" words of every sample, and its frame lines."""
    words, frames = None, None
    for line in text_of(path).split("\n"):
        if line.startswith("# l "):
            words = line.split(" ")[2:]
        elif line.startswith("\t"):
            frames = (frames or 0) + 1
        elif line == "" and frames:
            yield words, frames
            words, frames = None, None


class Names(Case):
    def setUp(self):
        super().setUp()
        need("gcc", "objcopy")
        self.source, self.program = self.write("chain.c", SOURCE), self.path("chain")
        subprocess.run(["gcc", "-O2", "-g", "-Wl,--build-id", self.source, "-o", self.program],
                       check=True)

    def chains(self, samples):
        """Of how many of the samples the innermost frames are the chain."""
        return sum([frame.symbol for frame in sample.frames[:3]] == CHAIN for sample in samples)

    def check_chain(self, samples):
        self.assertGreater(len(samples), 20)
        self.assertGreater(self.chains(samples), 0.9 * len(samples))

    def test_inlined_calls_with_their_lines(self):
        run = self.record(self.program, ROUNDS, options=("--srcline",))
        self.check_chain(run.samples)
        for sample in run.samples:
            self.assertTrue(all(frame.module == "inlined" for frame in sample.frames[:2])
                            or sample.frames[0].symbol != "inner")
        places = list(lines_of(run.paths[0]))
        self.assertEqual(len(places), len(run.samples))
        inner = 0
        for words, frames in places:
            self.assertEqual(len(words), frames)
            inner += bool(re.fullmatch(r".*/chain\.c:[5-7]", words[0]))
        self.assertGreater(inner, 0.9 * len(places))

    def test_no_inline(self):
        run = self.record(self.program, ROUNDS, options=("--no-inline",))
        self.assertGreater(run.share("outer"), 90)
        self.assertFalse(any(f.module == "inlined" for s in run.samples for f in s.frames))

    def test_the_second_recording_takes_them_from_the_cache(self):
        for _ in range(2):
            self.check_chain(self.record(self.program, ROUNDS).samples)
        kept = [name for _, _, files in os.walk(self.cache) for name in files]
        self.assertTrue(any(name.endswith(".symbols") for name in kept), kept)

    def symbolize(self, path, *options):
        out = path + ".named"
        process = self.wick("symbolize", *options, "-o", out, path)
        self.assertEqual(process.returncode, 0, process.stderr)
        return out, process.stderr.decode()

    def record_without(self):
        run = self.record(self.program, ROUNDS, options=("--no-symbols",))
        names = {frame.symbol for sample in run.samples for frame in sample.frames}
        self.assertTrue(all(name.startswith("[") for name in names), names)
        return run.paths[0]

    def test_names_come_later(self):
        path = self.record_without()
        out, _ = self.symbolize(path, "--srcline")
        self.check_chain(read(out))
        for words, frames in lines_of(out):
            self.assertEqual(len(words), frames)
        end = text_of(out).split("# wick-end")[1]
        self.assertRegex(end, r'"path":"[^"]*/chain","build_id":"[0-9a-f]+","names":"debug"')

    def test_releases_of_memory_get_names_too(self):
        run = self.record(target("allocs"), "3", "20000", "threads",
                          options=("--no-symbols", "-e", "alloc=16K"))
        releases = [sample for sample in run.samples if sample.weight == 0]
        self.assertGreater(len(releases), 500)
        out, _ = self.symbolize(run.paths[0], "--srcline")
        named = read(out)
        self.assertEqual(len(named), len(run.samples))
        given = [sample for sample in named if sample.weight == 0]
        self.assertEqual([sample.time_ns for sample in given], [sample.time_ns for sample in releases])
        self.assertGreater(sum("give_back" in [frame.symbol for frame in sample.frames]
                               for sample in given), len(given) / 2)
        text = text_of(out)
        self.assertEqual(len(re.findall(r"^# l .*\n# f allocs ", text, re.M)), len(given))
        self.assertNotRegex(text, r"\n# f\t|\n\t.*give_back")

    def test_where_a_long_text_is_written_in_parts(self):
        """Parts of 1 MiB: each of a sample's lines is where one of them ends."""
        path = self.record_without()
        head, middle, rest = text_of(path).partition("# s ")
        whole = (head + middle + rest).split("\n\n")
        named = text_of(self.symbolize(path, "--srcline")[0])
        ends = [len(head)]
        for line in (middle + rest).split("\n\n", maxsplit=1)[0].split("\n"):
            ends.append(ends[-1] + len(line) + 1)
        self.assertGreater(len(whole), 20)
        for end in ends[1:-1]:
            padding = (1 << 20) - end + 10
            lines = "#" + "x" * (padding % 1000 + 998) + "\n" + ("#" + "x" * 998 + "\n") * (padding // 1000 - 1)
            self.assertEqual(len(lines), padding)
            padded = self.write("padded.perf", lines + head + middle + rest)
            said = text_of(self.symbolize(padded, "--srcline", "--force")[0])
            self.assertTrue(said == lines + named, f"another text, {end} bytes from a part's end")

    def test_on_another_machine_a_debug_file_is_enough(self):
        path = self.record_without()
        store = self.path("store")
        os.mkdir(store)
        subprocess.run(["objcopy", "--only-keep-debug", self.program,
                        os.path.join(store, "anything")], check=True)
        os.unlink(self.program)
        out, said = self.symbolize(path)
        self.assertEqual(self.chains(read(out)), 0)
        self.assertIn("not read", said)
        os.unlink(out)
        out, _ = self.symbolize(path, "--symbol-dir", store)
        self.check_chain(read(out))

    def test_another_build_in_its_place_is_refused(self):
        path = self.record_without()
        subprocess.run(["gcc", "-O1", "-g", "-Wl,--build-id", "-DOTHER", self.source, "-o",
                        self.program + ".new"], check=True)
        shutil.move(self.program + ".new", self.program)
        out, said = self.symbolize(path)
        self.assertEqual(self.chains(read(out)), 0)
        self.assertIn("is not the one that ran", said)

    def test_what_is_missing_is_said(self):
        stripped = self.path("stripped")
        subprocess.run(["objcopy", "--strip-all", self.program, stripped], check=True)
        run = self.record(stripped, ROUNDS)
        self.assertRegex(run.summary, r"symbols .*lack .*/stripped; try: building it with -g")
        starts = {s.frames[0].symbol for s in run.samples if s.frames[0].module == stripped}
        self.assertTrue(all(re.fullmatch(r"\[stripped@0x[0-9a-f]+\]", name) for name in starts),
                        starts)
        self.assertLess(len(starts), 4)
        info = self.wick("info", run.paths[0]).stdout.decode()
        self.assertRegex(info, r"/stripped +\(\w+, build-id [0-9a-f]+\)\n +missing: .*-g")


if __name__ == "__main__":
    unittest.main()
