"""The programs that wick consists of: what each links, and how they find one another."""
import os
import shutil
import subprocess
import unittest

from recorded import Case, WICK

FOLDER = os.path.dirname(os.path.abspath(WICK))
C = {"libc.so.6", "libm.so.6"}
TEXT = C | {"libz.so.1", "libzstd.so.1", "libpcre2-8.so.0"}
SYMBOLS = {"libelf.so.1", "libdw.so.1", "liblzma.so.5"}


class Programs(Case):
    def needed(self, program):
        done = subprocess.run(["readelf", "-d", os.path.join(FOLDER, program)], capture_output=True, check=True)
        libraries = {line.split("[")[1].rstrip("]") for line in done.stdout.decode().splitlines() if "(NEEDED)" in line}
        return {library for library in libraries if not library.startswith("ld-")}

    def test_each_links_what_its_commands_need_and_no_more(self):
        self.assertEqual(self.needed("wick"), TEXT | SYMBOLS)
        self.assertEqual(self.needed("wick-view"), TEXT | SYMBOLS | {"libjansson.so.4"})
        self.assertEqual(self.needed("wick-top"), TEXT | SYMBOLS | {"libncursesw.so.6", "libtinfo.so.6"})

    def test_a_command_goes_to_the_program_that_has_it_from_any_of_them(self):
        for command in ("record", "report", "top"):
            texts = {subprocess.run([os.path.join(FOLDER, program), *words], capture_output=True, check=True).stdout
                     for program in ("wick", "wick-view", "wick-top")
                     for words in ((command, "--help"), ("help", command))}
            self.assertEqual(len(texts), 1, texts)
            self.assertIn(f"Usage: wick {command} ".encode(), texts.pop())

    def test_a_program_that_is_not_installed_is_told(self):
        alone = shutil.copy(WICK, self.path("wick"))
        done = subprocess.run([alone, "report", "x.perf"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 127)
        self.assertEqual(done.stderr.decode(), f"wick: cannot run '{self.dir}/wick-view': No such file or directory, "
                                               "try: installing wick whole\n")
        done = subprocess.run([alone, "completion", "bash"], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (127, b""))


if __name__ == "__main__":
    unittest.main()
