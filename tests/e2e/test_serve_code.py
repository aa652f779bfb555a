"""serve: what the lines and instructions of a function cost, and which files are read for it."""
import json
import os
import shutil
import subprocess
import unittest
import urllib.parse

from recorded import WICK, read
from test_serve import Served

BURN = """static inline unsigned mix(unsigned x)
{
	for (int i = 0; i < 100; i++)
		%s
	return x;
}

__attribute__((noinline)) unsigned work(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += mix(i);
	return sum;
}

int main(void)
{
	unsigned sum = 0;
	for (int i = 0; i < 200; i++)
		sum += work(10000 + (sum & 1));
	return sum == 1;
}
"""
BURN_CXX = """namespace {
struct Burner {
	__attribute__((noipa)) unsigned operator()(unsigned x) {
		for (int i = 0; i < 100; i++) x = x * 1664525u + (x >> 7) % 13u; // HOT
		return x;
	}
	template <typename T> __attribute__((noipa)) T twice(T x) {
		for (int i = 0; i < 200; i++) x += (*this)(unsigned(x)); // CALLER
		return x;
	}
};
}

int main()
{
	Burner burner;
	long sum = 0;
	for (int i = 0; i < 10000; i++) sum += burner.twice<long>(sum);
	return sum == 1;
}
"""


class Code(Served):
    def burn(self, line="x = x * 1664525u + (x >> 7) % 13u;", first=""):
        return self.record("burn.c", first + BURN % line)

    def record(self, name, text, compiler="cc"):
        """A recording burn.perf of a program, the source file that it was built from, and the program."""
        os.makedirs(self.path("src"), exist_ok=True)
        source, program = self.write("src/" + name, text), self.path("burn")
        subprocess.run([compiler, "-g", "-O1", "-o", program, source], check=True)
        subprocess.run([WICK, "record", "-F", "499", "-o", os.path.join(self.folder, "burn.perf"),
                        "--", program], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return source, program

    def code(self, function, more="", status=200):
        code, _, body = self.get(f"/api/code?file=burn.perf&function={function}{more}")
        self.assertEqual(code, status, body)
        return json.loads(body)

    def test_the_line_that_burns_the_cpu_is_the_hottest(self):
        source, program = self.burn()
        self.serve("--source", self.path("src"))
        for function in ("work", "mix"):
            code = self.code(function)
            self.assertEqual((code["file"], code["module"], code["no_source"], code["is_checked"]),
                             (source, program, "", True))
            dearest = max(code["lines"], key=lambda row: row[2])
            self.assertIn("1664525u" if function == "mix" else "mix(i)", dearest[3])
            self.assertGreater(dearest[2], 0.5 * code["total"])
            self.assertEqual(sum(row[2] for row in code["lines"]) + code["elsewhere"], code["total"])
            if shutil.which("objdump"):
                self.assertEqual(sum(row[2] for row in code["instructions"] if row), code["total"])
                self.assertEqual(code["function"], "work")
        # It calls nothing; but a tick may come while a signal returns to it, and then it is not the innermost.
        samples = [sample for sample in read(os.path.join(self.folder, "burn.perf"))
                   if "mix" in (frame.symbol for frame in sample.frames)]
        n_innermost = sum(sample.frames[0].symbol == "mix" for sample in samples)
        self.assertLessEqual(len(samples) - n_innermost, 2)
        code = self.code("mix")
        self.assertAlmostEqual(code["self"] / code["total"], n_innermost / len(samples), places=6)
        self.assertLess(self.code("work")["self"], 0.5 * self.code("work")["total"])
        whole = self.code("mix")["total"]
        self.assertLess(self.code("mix", "&time=0-0.05s")["total"], whole)
        self.assertEqual(self.code("mix", "&thread=nothing", status=404)["error"],
                         "No sample of this recording has it.")

    def test_functions_of_cxx_are_found_by_their_names(self):
        self.record("burn.cc", BURN_CXX, "c++")
        self.serve("--source", self.path("src"))
        for function, text in (("{anonymous}::Burner::operator()", "HOT"),
                               ("{anonymous}::Burner::twice<long>", "CALLER")):
            code = self.code(urllib.parse.quote(function))
            self.assertIn(text, max(code["lines"], key=lambda row: row[2])[3], code)
            self.assertEqual(code["elsewhere"], 0)

    def test_a_long_function_is_shown_in_parts(self):
        hot = "for (int i = 0; i < 3000; i++) x = x * 1664525u + (x >> 7) % 13u; /* HOT */"
        cold = "".join(f"x = x * {i}u + (x >> 3);\n" for i in range(3, 1600, 2))
        self.record("long.c", "__attribute__((noipa)) unsigned work(unsigned x)\n{\n" + cold + hot + "\n" +
                    cold + "return x;\n}\nint main(void) { unsigned x = 0;\n"
                    "for (int i = 0; i < 20000; i++) x += work(x + i); return x == 1; }\n")
        self.serve("--source", self.path("src"))
        code = self.code("work")
        for kind in ("lines", "instructions") if shutil.which("objdump") else ("lines",):
            rows = [row for row in code[kind] if row]
            self.assertLess(len(rows), 500)
            self.assertGreater(sum(row[2] for row in rows), 0.8 * code["total"])
        self.assertIn("HOT", max((row for row in code["lines"] if row), key=lambda row: row[2])[3])
        self.assertIn(None, code["lines"] + code["instructions"])

    def test_a_program_that_was_built_again_has_no_source(self):
        self.burn()
        source, program = self.path("src") + "/burn.c", self.path("burn")
        with open(source, "a") as file:
            file.write("int more;\n")
        subprocess.run(["cc", "-g", "-O2", "-o", program, source], check=True)
        self.serve("--source", self.path("src"))
        self.assertIn("another build", self.code("work", status=404)["error"])

    def test_source_is_only_read_below_its_folders(self):
        self.burn(line="x = x * 1664525u; /* SECRET */")
        os.makedirs(self.path("other"))
        os.symlink(self.path("src"), self.path("other/src"))
        self.serve("--source", self.path("other"))
        code = self.code("work")
        self.assertIn("may not be read", code["no_source"])
        self.assertNotIn("SECRET", json.dumps(code))

    def test_debugging_information_names_no_other_files(self):
        """A forged program says that its source is a secret: only files named like sources are shown."""
        os.mkdir(self.path("src"))
        secret = self.write("src/shadow", "root:SECRET\n" * 40)
        self.burn(first=f'# 1 "{secret}"\n')
        self.serve("--source", self.path("src"))
        code = self.code("work")
        self.assertEqual(code["file"], secret)
        self.assertIn("may not be read", code["no_source"])
        self.assertNotIn("SECRET", json.dumps(code))

    def test_a_request_names_no_file_of_rules(self):
        self.burn()
        self.serve()
        rules = self.write("rules.ini", "[a]\nframe = SECRET(\n")
        self.assertIn("@wrappers", self.code("work", "&elide=@" + rules, status=400)["error"])
        self.code("work", "&elide=@wrappers")


if __name__ == "__main__":
    unittest.main()
