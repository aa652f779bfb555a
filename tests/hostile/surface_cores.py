"""Core files: what somebody was sent to look into."""
import os
import struct

from hostile import MEGABYTE, WICK, Case, Input

PT_LOAD, PT_NOTE = 1, 4
NT_PRSTATUS, NT_AUXV, NT_FILE = 1, 6, 0x46494C45
STACK = 0x7F0000000000
CODE = 0x400000
TERABYTE = 1 << 40


def note(kind, body):
    return struct.pack("<III", 5, len(body), kind) + b"CORE\0\0\0\0" + body + bytes(-len(body) % 4)


def thread(tid, sp=STACK, pc=CODE + 0x100):
    """NT_PRSTATUS of x86-64: pr_pid at 32, the registers from 112 on."""
    body = bytearray(336)
    struct.pack_into("<I", body, 32, tid)
    struct.pack_into("<Q", body, 112 + 4 * 8, sp)  # rbp
    struct.pack_into("<Q", body, 112 + 16 * 8, pc)
    struct.pack_into("<Q", body, 112 + 19 * 8, sp)
    return note(NT_PRSTATUS, bytes(body))


def files(entries, count=None):
    """NT_FILE: (start, end, page offset, name) of each mapping."""
    head = struct.pack("<QQ", len(entries) if count is None else count, 4096)
    return note(NT_FILE, head + b"".join(struct.pack("<QQQ", *entry[:3]) for entry in entries)
                + b"".join(entry[3].encode() + b"\0" for entry in entries))


def core(notes, loads, memory=b"", n_headers=None, note_bytes=None):
    """A core file: NOTES, then MEMORY; LOADS are (address, bytes in memory, offset into MEMORY, bytes in the file)."""
    start = 64 + 56 * (1 + len(loads))
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1 + len(loads) if n_headers is None else n_headers, 64, 0, 0)
    headers = struct.pack("<IIQQQQQQ", PT_NOTE, 4, start, 0, 0, len(notes) if note_bytes is None else note_bytes, 0, 4)
    for address, n_bytes, offset, n_file in loads:
        headers += struct.pack("<IIQQQQQQ", PT_LOAD, 6, start + len(notes) + offset, address, 0, n_file, n_bytes, 4096)
    return head + headers + notes + memory


def frames(n_bytes):
    """Frame pointers that lead on to the end of the memory, each with a return address."""
    return b"".join(struct.pack("<QQ", STACK + at + 16, CODE + 0x200) for at in range(0, n_bytes, 16))


def on_stack(notes, memory):
    return core(notes, [(STACK, len(memory), 0, len(memory))], memory)


def one_line_or_stacks(result):
    """A file that lies gets one message or wrong stacks of itself; nothing else."""
    if result.status not in (0, 2, 8):
        return f"status {result.status}"
    return None if result.status == 0 or result.stderr.count("\n") == 1 else f"said {result.stderr[:200]!r}"


def refused(result):
    return None if result.status in (2, 8) and result.stderr.count("\n") == 1 else f"said {result.stderr[:200]!r}"


def core_case(name, make_bytes, judge=one_line_or_stacks, sparse_bytes=0, beside=lambda folder: None):
    def make(folder):
        path = os.path.join(folder, "core")
        beside(folder)
        with open(path, "wb") as file:
            file.write(make_bytes(folder))
        size = os.path.getsize(path)
        if sparse_bytes:
            os.truncate(path, sparse_bytes)
        return Input([WICK, "stack", path], size, environment={"XDG_CACHE_HOME": folder})
    return Case("cores", name, make, judge)


def fifo_case(name, make_path):
    def make(folder):
        return Input([WICK, "stack", make_path(folder)], environment={"XDG_CACHE_HOME": folder})
    return Case("cores", name, make, refused)


def fifo(folder, name="pipe"):
    path = os.path.join(folder, name)
    os.mkfifo(path)
    return path


def sparse_elf(folder):
    """A program of 8 TB that says that its code is all of it."""
    path = os.path.join(folder, "program")
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, CODE, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    head += struct.pack("<IIQQQQQQ", PT_LOAD, 5, 0, CODE, 0, 4 * TERABYTE, 4 * TERABYTE, 4096)
    head += struct.pack("<IIQQQQQQ", 0x6474E550, 4, 4096, CODE + 4096, 0, TERABYTE, TERABYTE, 4)
    with open(path, "wb") as file:
        file.write(head)
        file.seek(4096)
        file.write(b"\1\x1b\3\x3b" + struct.pack("<iI", 16, 0x7FFFFFFF))
        file.truncate(8 * TERABYTE)
    return path


def threads(n, **how):
    return b"".join(thread(1 + i, **how) for i in range(n))


def in_file(path):
    return files([(CODE, CODE + 0x10000, 0, path)])


WHOLE = 8192
CASES = [
    core_case("cut in its notes", lambda folder: on_stack(threads(40), frames(WHOLE))[:4000]),
    core_case("cut in its headers", lambda folder: on_stack(threads(4), frames(WHOLE))[:100], refused),
    core_case("1 MB of threads, each with the deepest stack",
              lambda folder: on_stack(threads(2600), frames(64 * 1024))),
    core_case("1 MB of stack without frames, 300 threads",
              lambda folder: on_stack(threads(300, pc=CODE), struct.pack("<Q", CODE + 0x300) * (MEGABYTE // 10))),
    core_case("1 MB of headers that overlap, 100 threads",
              lambda folder: core(threads(100), [(STACK + i, WHOLE, 0, WHOLE) for i in range(17000)], frames(WHOLE))),
    core_case("65,535 headers that are not there",
              lambda folder: core(threads(4), [(STACK, WHOLE, 0, WHOLE)], frames(WHOLE), n_headers=0xFFFE)),
    core_case("8 TB of notes, sparse",
              lambda folder: core(threads(4), [(STACK, WHOLE, 0, WHOLE)], frames(WHOLE), note_bytes=4 * TERABYTE),
              sparse_bytes=8 * TERABYTE),
    core_case("8 TB of memory, sparse, 100 threads",
              lambda folder: core(threads(100, sp=STACK + WHOLE), [(STACK, 4 * TERABYTE, 0, 4 * TERABYTE)], frames(WHOLE)),
              sparse_bytes=8 * TERABYTE),
    core_case("1 MB of empty notes",
              lambda folder: on_stack(threads(2) + struct.pack("<III", 0, 0, 0) * (MEGABYTE // 12), frames(WHOLE))),
    core_case("2^60 mapped files", lambda folder: on_stack(threads(2) + files([(CODE, CODE + 4096, 0, "/x")], 1 << 60),
                                                            frames(WHOLE))),
    core_case("1 MB of mapped files at one address", lambda folder: on_stack(
        threads(100) + files([(CODE, CODE + 0x10000, i, "/x") for i in range(38000)]), frames(WHOLE))),
    core_case("2,000 mapped files that are a pipe", lambda folder: on_stack(
        threads(4) + files([(CODE + i * 4096, CODE + (i + 1) * 4096, 0, folder + "/pipe") for i in range(2000)]),
        frames(WHOLE)), beside=fifo),
    core_case("a program of 8 TB, sparse", lambda folder: on_stack(
        threads(100) + in_file(sparse_elf(folder)), frames(WHOLE))),
    core_case("a program that is /dev/zero", lambda folder: on_stack(threads(4) + in_file("/dev/zero"), frames(WHOLE))),
    fifo_case("a pipe for a core", fifo),
    fifo_case("/dev/zero for a core", lambda folder: "/dev/zero"),
]
