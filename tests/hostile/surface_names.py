"""Mangled names that stand for 2^60 steps of a demangler, beside names that are what they should be."""
import os
import signal
import subprocess

from hostile import Case, Input
from procfs import own_cpu_s
from recorded import WICK, end, wait_for

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DEPTH = 60
INNOCENT = "_ZN8innocent4workEi"
SHOWN = "innocent::work"


def substitution(nth):
    """S_, S0_, ... SZ_, S10_, ..."""
    text = ""
    while nth > 0:
        high, digit = divmod(nth - 1, 36)
        text = DIGITS[digit] + text
        nth = high + 1 if high else 0
    return f"S{text}_"


def packs(nth):
    """A pack that is none, sought in A<A<A<int, int>, the same>, the same>."""
    twice = "".join("E" + substitution(DEPTH + i + 1) for i in range(DEPTH - 1))
    return f"_Z5f{nth:04}IDp" + "1AI" * DEPTH + "ii" + twice + "EEvv"


def backtracking(nth):
    """A conversion's type, whose arguments are read and read anew."""
    return f"_ZN5a{nth:04}cv" + "T_I" * DEPTH + "i" + "E" * DEPTH + "Ev"


def lifetimes(nth):
    """Rust: 2^64 lifetimes of a type that is not shown."""
    return f"_RNvMINvC1a1bFGzzzzzzzzz_EuEl5f{nth:04}"


def words(nth):
    """The same, behind a word that is not ASCII, for which memory is taken."""
    return f"_RNvMINvC1au4b_9bFGzzzzzzzzz_EuEl5f{nth:04}"


def printing(nth):
    """A name of 2^60 characters."""
    return f"_Z5f{nth:04}I1AI1BE" + "".join(f"S{DIGITS[i]}_IS{DIGITS[i + 1]}_S{DIGITS[i + 1]}_E"
                                           for i in range(33)) + "EvT_"


FAMILIES = (packs, backtracking, lifetimes, words, printing)


def assemble(folder, text, name, *options):
    path = os.path.join(folder, name)
    source = path + ".c"
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["cc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                    "-o", path, source, *options], check=True)
    return path


def chain(names, seconds, folder, *options):
    """A program of functions of these names, each of which calls the next; the last one's loop is innocent."""
    with open(os.path.join(folder, "innocent.c"), "w", encoding="utf-8") as file:
        file.write(f'void work(void) __asm__("{INNOCENT}");\n'
                   "void work(void) { for (volatile int i = 0; i < 3000000; i++) ; }\n")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", os.path.join(folder, "libinnocent.so"),
                    os.path.join(folder, "innocent.c")], check=True)
    text = ("#include <signal.h>\n#include <unistd.h>\nstatic volatile sig_atomic_t over;\n"
            "static void end(int number) { over = number; }\n"
            f'void work(void) __asm__("{INNOCENT}");\n')
    text += "".join(f'void f{i}(void) __asm__("{name}");\n' for i, name in enumerate(names))
    for i in range(len(names)):
        call = f"f{i + 1}()" if i + 1 < len(names) else "work()"
        text += f'__attribute__((noinline)) void f{i}(void) {{ {call}; __asm__ volatile (""); }}\n'
    # A system call in the loop is where a thread would be held.
    text += f"int main(void) {{ signal(SIGALRM, end); alarm({seconds}); while (!over) f0(); return 0; }}\n"
    return assemble(folder, text, "target", *options, os.path.join(folder, "libinnocent.so"),
                    "-Wl,-rpath," + folder)


def judge_text(text, ended=True):
    if SHOWN not in text:
        return f"the innocent name is not shown: ...{text[-300:]!r}"
    if ended and "# wick-end" not in text:
        return "the file has no end"
    return None


def judge_recording(result):
    text = result.text("out.perf")
    if '"mangled_names":0' in text or "took too much time or memory to demangle" not in result.stderr:
        return judge_text(text) or "what is shown mangled is not told"
    return judge_text(text)


def judge_printed(result):
    return judge_text(result.text("out.perf"))


def record_case(title, names, seconds, *options, program=()):
    def make(folder):
        path = chain(names, seconds, folder, *program)
        return Input([WICK, "record", "--no-cache", "-o", "out.perf", *options, "--", path],
                     os.path.getsize(path))
    return Case("names", title, make, judge_recording)


def beside(names, *argv, stop_s=None, stop=signal.SIGINT):
    """ARGV, with the pid of a program that runs behind it."""
    def make(folder):
        path = chain(names, 60, folder)
        target = subprocess.Popen([path])  # pylint: disable=consider-using-with

        wait_for(lambda: own_cpu_s(target.pid) > 0.1)  # it is in its loop by then
        return Input([WICK, *argv, "-p", str(target.pid)], os.path.getsize(path), stop_s, stop=stop,
                     undo=lambda: end(target))
    return make


def shows_in_print(result):
    if "too much time or memory to demangle" not in result.stderr:
        return judge_text(result.stdout, ended=False) or "what is shown mangled is not told"
    return judge_text(result.stdout, ended=False)


def symbolize(folder):
    path = chain([backtracking(i) for i in range(100)], 1, folder)
    subprocess.run([WICK, "record", "-q", "--no-symbols", "-o", "raw.perf", "--", path], cwd=folder, check=True)
    return Input([WICK, "symbolize", "--no-cache", "-o", "out.perf", "raw.perf"], os.path.getsize(path))


CODE = "0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3"  # mov %edi, %ecx; 1: dec %ecx; jne 1b; ret


def jit(names):
    """Code of a perf map, one function a name; a line of the innocent one is in it as well, called as often."""
    def make(folder):
        path = assemble(folder, f"""#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static const char *const names[] = {{{", ".join(f'"{name}"' for name in names)}}};
static const unsigned char loop[] = {{{CODE}}};
int main(void)
{{
	enum {{ N = {len(names)} }};
	char *code = mmap(NULL, 64 * N, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char map[64];
	struct timespec t;
	FILE *file;

	snprintf(map, sizeof(map), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(map, "w");
	for (int i = 0; i < N; i++) {{
		memcpy(code + 64 * i, loop, sizeof(loop));
		fprintf(file, "%lx 40 %s\\n", (long)(code + 64 * i), names[i]);
	}}
	fclose(file);
	do {{
		for (int i = 0; i < N; i++)
			((void (*)(int))(code + 64 * i))(10000000);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	}} while (t.tv_sec < 3);
	unlink(map);
	return 0;
}}
""", "target")
        return Input([WICK, "record", "-o", "out.perf", "--", path], 1 << 20)
    return make


def judge_jit(result):
    text = result.text("out.perf")
    if "# wick-end" not in text:
        return "the file has no end"
    return None if "_RNvM" in text or "_ZN5a" in text else "its names are gone"


MIXED = [family(i) for i in range(8) for family in FAMILIES]

CASES = [record_case(f"a program of names of {family.__name__}", [family(i) for i in range(100)], 2)
         for family in FAMILIES]
CASES += [
    record_case("the same with parameters", MIXED, 2, "--full-names"),
    record_case("the same in debugging information", MIXED, 2, program=("-g",)),
    *(Case("names", f"the same, attached, {stop.name} after 1.5 s",
           beside(MIXED, "record", "--no-cache", "-o", "out.perf", stop_s=1.5, stop=stop), judge_recording)
      for stop in (signal.SIGINT, signal.SIGTERM)),
    Case("names", "a perf map of them", jit(MIXED + [INNOCENT]), judge_jit),
    Case("names", "wick stack of them", beside(MIXED, "stack"), shows_in_print),
    Case("names", "wick top of them", beside(MIXED, "top", "--once", "-d", "2s"), shows_in_print),
    Case("names", "wick symbolize of them", symbolize, judge_printed),
]
