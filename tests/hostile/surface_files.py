"""Files that a target names, beside it or in it: debug files, jitdumps, maps, packed sections."""
import os
import shutil
import struct
import subprocess
import zlib

from hostile import MEGABYTE, Case, Input
from recorded import TARGETS, WICK, end

RECORDS_S = 4.0  # then SIGINT
SEES_S = 2.0  # where all is there from the beginning, and looked at once
MOST_BYTES = 700 * MEGABYTE  # of wick: names have 512 MB, whatever the input's size would allow
GIANT = 8 << 40
GROWS_TO = 4 * MEGABYTE  # at least, until wick is told to end
SHF_COMPRESSED = 1 << 11
ELFCOMPRESS_ZLIB = 1


def record(folder, argv, input_bytes, stop_s=RECORDS_S, undo=lambda: None, unnamed=()):
    """Attach to what ARGV starts, once it has printed a line; it ends with SIGINT."""
    with open(os.path.join(folder, "target"), "w+b") as out:
        # It ends in undo(). pylint: disable-next=consider-using-with
        target = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=out, cwd=folder)
    target.stdout.readline()

    def clean_up():
        end(target)
        for path in [f"/tmp/perf-{target.pid}.map", *unnamed]:
            if os.path.isdir(path):
                os.rmdir(path)
            elif os.path.lexists(path):
                os.unlink(path)
        undo()
    size = input_bytes(target.pid) if callable(input_bytes) else input_bytes
    return Input([WICK, "record", "-F", "250", "-o", "out.perf", "-p", str(target.pid)], size, stop_s,
                 {"XDG_CACHE_HOME": folder}, undo=clean_up)


def names_innocent(result):
    """What is in an unchanged file has its name, nearly always."""
    samples = result.text("out.perf").split("\n\n")
    leaves = [text.split("\n\t")[1] for text in samples if "\n\t" in text]
    half = sum("innocent_work" in leaf for leaf in leaves)
    if result.most_bytes > MOST_BYTES:
        return f"memory over {MOST_BYTES // MEGABYTE} MB"
    return None if leaves and half >= len(leaves) / 4 else f"innocent_work in {half} of {len(leaves)} samples"


def made_code(name, mode, count, judge=names_innocent):
    def make(folder):
        def input_bytes(pid):
            path = f"/tmp/perf-{pid}.map" if mode.startswith("map") else f"{folder}/jit-{pid}.dump"
            return max(os.path.getsize(path), GROWS_TO if "grow" in mode else 0)
        return record(folder, [os.path.join(TARGETS, "made_code"), folder, mode, str(count)], input_bytes)
    return Case("files", name, make, judge)


def run(*argv):
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def stripped(folder):
    """A program without debugging information, symbols or build-id, but for what is added."""
    path = os.path.join(folder, "program")
    shutil.copy(os.path.join(TARGETS, "made_code"), path)
    run("objcopy", "--strip-all", "--remove-section=.note.gnu.build-id", path)
    return path


def debuglink(name, make_debug_file):
    """The .gnu_debuglink of the program names program.debug, which is MAKE_DEBUG_FILE's."""
    def make(folder):
        path, debug = stripped(folder), os.path.join(folder, "program.debug")
        with open(debug, "wb") as file:
            file.write(b"x")
        run("objcopy", f"--add-gnu-debuglink={debug}", path)
        os.unlink(debug)
        make_debug_file(debug)
        return record(folder, [path, folder, "none", "0"], os.path.getsize(path), SEES_S)
    return Case("files", name, make)


def sparse_giant(path):
    with open(path, "wb") as file:
        file.write(b"\x7fELF")
        file.truncate(GIANT)


def section_headers(data):
    """(name, where its header is) of the sections of an ELF file of 64 bits."""
    at, = struct.unpack_from("<Q", data, 40)
    n_headers, names = struct.unpack_from("<HH", data, 60)
    strings, = struct.unpack_from("<Q", data, at + names * 64 + 24)
    for i in range(n_headers):
        name, = struct.unpack_from("<I", data, at + i * 64)
        start = strings + name
        yield bytes(data[start:data.index(b"\0", start)]).decode(), at + i * 64


def add_section(path, name, content, flags=0):
    piece = path + name
    with open(piece, "wb") as file:
        file.write(content)
    run("objcopy", f"--add-section={name}={piece}", path)
    os.unlink(piece)
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        for section, at in section_headers(data):
            if section == name:
                struct.pack_into("<Q", data, at + 8, flags)
        file.seek(0)
        file.write(data)


def zeros_packed(n_bytes):
    packer = zlib.compressobj(9)
    parts = [packer.compress(bytes(MEGABYTE)) for _ in range(n_bytes // MEGABYTE)]
    return b"".join(parts) + packer.flush()


def inflate_bomb(name, n_bytes, padding):
    """.debug_info of N_BYTES, packed; PADDING behind it makes the ratio a plausible one."""
    def make(folder):
        path = stripped(folder)
        head = struct.pack("<IIQQ", ELFCOMPRESS_ZLIB, 0, n_bytes, 1)
        for section, size in ((".debug_abbrev", MEGABYTE), (".debug_info", n_bytes)):
            packed = head[:8] + struct.pack("<QQ", size, 1) + zeros_packed(size)
            add_section(path, section, packed + (bytes(padding) if size == n_bytes else b""), SHF_COMPRESSED)
        run("fallocate", "--dig-holes", path)
        return record(folder, [path, folder, "none", "0"], os.stat(path).st_blocks * 512)
    return Case("files", name, make)


def lzma_bomb(name, n_symbols):
    """.gnu_debugdata: an ELF file of that many symbols, all alike."""
    def make(folder):
        path, inner = stripped(folder), os.path.join(folder, "inner")
        shutil.copy(os.path.join(TARGETS, "made_code"), inner)
        with open(inner, "r+b") as file:
            data = bytearray(file.read())
            headers = dict(section_headers(data))
            text_index = list(headers).index(".text")
            text_at, = struct.unpack_from("<Q", data, headers[".text"] + 16)
            strings_at, = struct.unpack_from("<Q", data, headers[".strtab"] + 24)
            name_at = data.index(b"innocent_work\0", strings_at) - strings_at
            symbol = struct.pack("<IBBHQQ", name_at, 0x12, 0, text_index, text_at, 1)
            struct.pack_into("<QQ", data, headers[".symtab"] + 24, len(data), 24 * n_symbols)
            file.seek(0)
            file.write(data)
            for _ in range(0, n_symbols, 1024):
                file.write(symbol * 1024)
        run("xz", "--format=xz", "--check=crc32", "-1", inner)
        with open(inner + ".xz", "rb") as file:
            add_section(path, ".gnu_debugdata", file.read())
        os.unlink(inner + ".xz")
        return record(folder, [path, folder, "none", "0"], os.path.getsize(path))
    return Case("files", name, make)


def odd_map(name, make_file):
    """Instead of the map of a target with code that it made there is something else."""
    def make(folder):
        given = record(folder, [os.path.join(TARGETS, "made_code"), folder, "none", "0"], 0, SEES_S)
        make_file(f"/tmp/perf-{given.argv[-1]}.map")
        return given
    return Case("files", name, make, names_innocent)


CASES = [
    debuglink("a debuglink to 8 TB of holes", sparse_giant),
    debuglink("a debuglink to a FIFO", os.mkfifo),
    debuglink("a debuglink to a directory", os.mkdir),
    made_code("a jitdump of 900,000 functions in a few pages", "dump", 900000),
    made_code("a jitdump that grows for ever", "dump-grow", 1000),
    made_code("a perf map of 7 million lines", "map", 7000000),
    made_code("a perf map that grows for ever", "map-grow", 1000),
    inflate_bomb("1.5 GB of zeros in .debug_info, padded by holes", 1536 * MEGABYTE, 24 * MEGABYTE),
    lzma_bomb("2.7 million symbols in .gnu_debugdata", 2700 * 1024),
    odd_map("a FIFO for a perf map", os.mkfifo),
    odd_map("a directory for a perf map", os.mkdir),
]
